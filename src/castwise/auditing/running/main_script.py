"""Observes a script that Python runs itself.

No import hook sees the script of `python script.py`. It is compiled with its observers to a file,
and the process becomes `python that_file.pyc` with the same arguments: so the program's own frame
is the lowest one, and Python itself ends it as usual, with its status, signal or traceback.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Collection
from importlib.machinery import SourceFileLoader
from pathlib import Path

from castwise.auditing.noting.log import UNOBSERVED
from castwise.auditing.records.places import Unobserved
from castwise.auditing.rewriting.rewrite import BEGIN
from castwise.auditing.running import loading
from castwise.auditing.running.main_file import MainScript, read_main, write_main


def observe_main(directory: Path, asked_for: str | None) -> None:
    """Makes sure that the script Python is about to run is observed: the requested one, or another
    user script."""
    given = sys.argv[0] if sys.argv else ""
    if os.path.dirname(given) == str(directory):
        _stand_in_for_the_script(Path(given))
    elif given == "-c":
        if "multiprocessing" not in sys.orig_argv[-len(sys.argv)]:
            _not_observed("the code of python -c")
    elif given in ("", "-"):
        _not_observed("code read from stdin")
    elif given != "-m" and os.path.isfile(given):
        path = os.path.join(os.getcwd(), given)  # made absolute as Python does
        if os.path.abspath(path) == asked_for or loading.is_users_own(path):
            _run_compiled(directory, path)


def _not_observed(what: str) -> None:
    UNOBSERVED[what] = [Unobserved(0, what, "only its imports are observed")]


def _run_compiled(directory: Path, path: str) -> None:
    """Replaces this process with one that runs the compiled script; returns if that is
    impossible."""
    options = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv)]
    is_python = os.path.basename(sys.executable or "").startswith("python")
    if not is_python or sys.orig_argv[len(options) + 1 :] != sys.argv or os.name != "posix":
        _not_observed(path)
        return
    try:
        source = Path(path).read_bytes()
        code, sites, unobserved = loading.rewritten(source, path, is_main=True)
    except Exception as error:  # if the script itself is wrong, Python reports it
        loading.not_rewritten(path, os.path.basename(path), error)
        return
    meant = MainScript(path, source, sys.argv, sys.orig_argv, sites, unobserved)
    file = write_main(directory / f"main-{os.getpid()}.pyc", code, meant)
    os.execv(sys.executable, [sys.orig_argv[0], *options, file, *sys.argv[1:]])


def _stand_in_for_the_script(compiled: Path) -> None:
    """Gives the process of a compiled script the script's name wherever the program can look."""
    meant = read_main(compiled)
    path = meant.path
    loading.register(path, meant.source, meant.sites, meant.unobserved, is_main=True)
    sys.argv[:], sys.orig_argv[:] = meant.argv, meant.orig_argv

    def begin() -> None:
        """Sets what Python sets after site has run; called by the script's first line."""
        compiled.unlink()
        if sys.path and sys.path[0] == os.path.realpath(compiled.parent):
            sys.path[0] = os.path.dirname(os.path.realpath(path))
        main = sys.modules["__main__"]
        main.__file__ = path
        main.__loader__ = SourceFileLoader("__main__", path)
        delattr(builtins, BEGIN)

    setattr(builtins, BEGIN, begin)


def forget_shadowed_modules(names: Collection[str]) -> None:
    """Unloads standard library modules that castwise imported and that the program's own modules,
    first on its path, replace."""
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        return
    is_script = sys.argv and os.path.isfile(sys.argv[0])
    place = os.path.dirname(os.path.realpath(sys.argv[0])) if is_script else os.getcwd()
    for top in {name.partition(".")[0] for name in names} - {"castwise"}:
        if _is_module_in(place, top):
            for name in [n for n in sys.modules if n == top or n.startswith(f"{top}.")]:
                if name in names:
                    del sys.modules[name]


def _is_module_in(place: str, name: str) -> bool:
    files = (f"{name}.py", os.path.join(name, "__init__.py"))
    return any(os.path.isfile(os.path.join(place, file)) for file in files)
