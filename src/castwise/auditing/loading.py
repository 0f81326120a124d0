"""Rewrites the user's modules when they are imported."""

from __future__ import annotations

import builtins
import functools
import importlib.abc
import importlib.machinery
import os
import runpy
import site
import sys
from collections.abc import Collection, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from castwise.auditing import process, scopes
from castwise.auditing.calls import rewritten_files
from castwise.auditing.compile import (
    Entry,
    MainScript,
    Sites,
    UnobservedFunctions,
    compiled,
    read_main,
    write_main,
)
from castwise.auditing.log import DIGESTS, FILES, INCLUDED, LOG, SITES, UNOBSERVED
from castwise.auditing.patches import (
    DEEP_PATCHES,
    PATCHES,
    RECORDING_PATCHES,
    apply_when_imported,
    originals,
)
from castwise.auditing.records import Site, Unobserved
from castwise.auditing.rewriting import BEGIN, first_mark, full_path
from castwise.auditing.source import edited, source_digest

_OWN = str(Path(__file__).parents[1]) + os.sep


def audited_code(source: bytes, path: str) -> CodeType:
    """The code of a module with its observers; registers the sites of their marks."""
    code, sites, unobserved = rewritten(source, path)
    register(path, source, sites, unobserved)
    return code


def rewritten(
    source: bytes, path: str, *, is_main: bool = False, checks: bool | None = None
) -> Entry:
    """A module's code, its sites and its unobserved functions, with the changes that are tried.
    `checks` defaults to the setting of the process.

    Raises SyntaxError, or ValueError, as compiling the source would.
    """
    checks = _checks if checks is None else checks
    return compiled(edited(source, full_path(path)), path, is_main=is_main, checks=checks)


def register(
    path: str,
    source: bytes,
    sites: Sites,
    unobserved: UnobservedFunctions,
    *,
    is_main: bool = False,
) -> None:
    """Registers the sites of a file's marks, and all its functions as observed."""
    full = full_path(path)
    register_sites(path, sites)
    DIGESTS[full] = source_digest(source)
    originals.keep_source(path, edited(source, full), is_main=is_main, checks=_checks)
    UNOBSERVED[full] = [Unobserved(*fields) for fields in unobserved]
    rewritten_files.add(path)
    if _checks:
        CHECKED.add(path)


def register_sites(path: str, sites: Sites) -> None:
    """Registers the sites of the marks in some code of a file."""
    SITES.update({mark: Site(*fields) for mark, fields in sites.items()})
    full = full_path(path)
    FILES[first_mark(full)] = full


CHECKED: set[str] = set()  # files whose operations can be judged before they run
_checks = False


class Finder(importlib.abc.MetaPathFinder):
    """Finds what the other finders find, and gives the user's modules an auditing loader."""

    def __init__(self, include: Collection[str] = (), *, only_included: bool = False) -> None:
        self._include = frozenset(include)
        self._only_included = only_included

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = sys.meta_path.index(self)  # the finders before this one found nothing
        for finder in sys.meta_path[own + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._audit(spec)
                return spec
        return None

    def _audit(self, spec: ModuleSpec) -> None:
        process.notice(spec)
        if type(spec.loader) is SourceFileLoader and spec.origin:
            top = spec.name.partition(".")[0]
            is_own = not self._only_included and is_users_own(spec.origin)
            is_included = top in self._include
            if (is_included or is_own) and _give_code(spec.loader, spec.name, spec.origin):
                INCLUDED.update({top} if is_included else ())


def _give_code(loader: SourceFileLoader, name: str, path: str) -> bool:
    """Gives a loader the rewritten code, and returns whether there is any. It is compiled before
    the loader runs, so that a module that cannot be compiled fails as usual."""
    code = _audited_file(path, name)
    if code is not None:
        loader.get_code = lambda fullname: code  # type: ignore[method-assign]
    return code is not None


def _audited_file(path: str, name: str) -> CodeType | None:
    """The code of a file with its observers; None if it runs unchanged."""
    try:
        return audited_code(Path(path).read_bytes(), path)
    except Exception as error:
        _not_rewritten(path, name, error)
        return None


def _not_rewritten(path: str, name: str, error: Exception) -> None:
    """Records that a file runs unchanged, because the rewriter or Python could not read it."""
    UNOBSERVED[path] = [Unobserved(1, name, f"not rewritten: {error}")]


def is_users_own(path: str) -> bool:
    """Whether a file belongs to the user: not to Python, an installed package or castwise."""
    # The path and its link target: Debian links its sitecustomize from /etc.
    places = (*_installed(), _OWN)
    named = (os.path.abspath(path), os.path.realpath(path))
    return not path.startswith("<") and not any(name.startswith(places) for name in named)


@functools.cache
def _installed() -> tuple[str, ...]:
    library = os.path.dirname(os.__file__)  # sysconfig may not be ready while site runs
    found = {library, *getattr(site, "getsitepackages", list)(), site.getusersitepackages()}
    return tuple(os.path.realpath(place) + os.sep for place in found if place)


def start(
    include: Collection[str] = (),
    *,
    is_deep: bool = False,
    checks: bool = False,
    only_included: bool = False,
) -> Finder:
    """Audits every user module that is imported from now on, or only those of the included
    packages; if deep, also operations inside the libraries of frameworks that support it. With
    `checks` operations can be judged before they run."""
    global _checks
    _checks = checks
    scopes.record()
    LOG.is_deep = is_deep
    finder = Finder(include, only_included=only_included)
    _watch_imports(finder)
    apply_when_imported(RECORDING_PATCHES | (DEEP_PATCHES if is_deep else {}))
    if not only_included:
        _audit_scripts()
        originals.file_auditors.append(_audit_file)
    return finder


def prepare() -> None:
    """Makes sure that functions rewritten one by one find their observers, and that their readers
    find the original code."""
    scopes.prepare()
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        _watch_imports(Finder(only_included=True))


def _watch_imports(finder: Finder) -> None:
    apply_when_imported(PATCHES)
    _installed()  # now: it imports modules itself, which must not happen in the middle of an import
    sys.meta_path.insert(0, finder)


def _audit_file(path: str) -> None:
    """Audits a file whose functions come from another process."""
    if is_users_own(path):
        audited_code(Path(path).read_bytes(), path)


def _audit_scripts() -> None:
    """Audits scripts run by runpy, which uses no finder: multiprocessing's children run the main
    script this way."""
    name = "_get_code_from_file"
    plain = getattr(runpy, name)

    def audited(*arguments: Any) -> object:
        path = os.fspath(arguments[-1])
        result = plain(*arguments)
        code = _audited_file(path, path) if is_users_own(path) else None
        if code is None:
            return result
        return (code, *result[1:]) if isinstance(result, tuple) else code

    setattr(runpy, name, audited)


# Observes a script that Python runs itself.
#
# No import hook sees the script of `python script.py`. It is compiled with its observers to a file,
# and the process becomes `python that_file.pyc` with the same arguments: so the program's own frame
# is the lowest one, and Python itself ends it as usual, with its status, signal or traceback.


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
        if os.path.abspath(path) == asked_for or is_users_own(path):
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
        code, sites, unobserved = rewritten(source, path, is_main=True)
    except Exception as error:  # if the script itself is wrong, Python reports it
        _not_rewritten(path, os.path.basename(path), error)
        return
    meant = MainScript(path, source, sys.argv, sys.orig_argv, sites, unobserved)
    file = write_main(directory / f"main-{os.getpid()}.pyc", code, meant)
    os.execv(sys.executable, [sys.orig_argv[0], *options, file, *sys.argv[1:]])


def _stand_in_for_the_script(compiled: Path) -> None:
    """Gives the process of a compiled script the script's name wherever the program can look."""
    meant = read_main(compiled)
    path = meant.path
    register(path, meant.source, meant.sites, meant.unobserved, is_main=True)
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
        files = (f"{top}.py", os.path.join(top, "__init__.py"))
        if any(os.path.isfile(os.path.join(place, file)) for file in files):
            for name in [n for n in names if n.partition(".")[0] == top]:
                sys.modules.pop(name, None)
