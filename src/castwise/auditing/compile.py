"""Source with observers, compiled: kept on disk, and as the script that a process runs instead of
the user's."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from marshal import dumps, loads
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from castwise.auditing.hooks import compilers
from castwise.auditing.records import Options
from castwise.auditing.rewriting import full_path, rewrite
from castwise.auditing.source import with_edits
from castwise.version import __version__

# Rewritten code on disk, so that a second run of a program starts fast.

_CHOSEN = "CASTWISE_CACHE_DIR"  # the variable with the directory to use instead of the user's
_DIGEST = 32  # bytes
_DAY = 24 * 3600
_KEPT = 60 * _DAY  # an entry that no run has needed for so long is removed


def _read_entry(kept: Path) -> Any:
    """The entry in a file, or None if there is none or it is broken: unmarshalling broken code can
    crash the process."""
    try:
        whole = kept.read_bytes()
    except OSError:
        return None
    body = whole[_DIGEST:]
    if hashlib.sha256(body).digest() != whole[:_DIGEST]:
        return None
    with suppress(OSError):
        if time.time() - kept.stat().st_mtime > _DAY:
            os.utime(kept)
    return loads(body)


def _write_entry(kept: Path, entry: Any) -> None:
    """Writes an entry, unless Python is told to write no code to disk and no directory is chosen.
    It goes to another file that is then renamed, so that no process ever sees half a file."""
    if sys.dont_write_bytecode and not os.environ.get(_CHOSEN):
        return
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.iterdir():
            with suppress(OSError):  # another process may have removed it
                if time.time() - old.stat().st_mtime > _KEPT:
                    old.unlink()
        handle, unfinished = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "wb") as file:
            body = dumps(entry)
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(unfinished, kept)


# Source code with observers, compiled and cached on disk.

# Plain tuples, for marshal: the fields of Site by mark, and of Unobserved.
Sites: TypeAlias = "dict[int, tuple[Any, ...]]"
UnobservedFunctions: TypeAlias = "list[tuple[Any, ...]]"
Entry: TypeAlias = "tuple[CodeType, Sites, UnobservedFunctions]"


def compiled(source: bytes, path: str, *, is_main: bool, checks: bool) -> Entry:
    """A module's code, its sites and its unobserved functions, from the cache if possible.

    Raises SyntaxError, or ValueError, as compiling the source would.
    """
    kept = _cache_file(source, path, is_main, checks)
    entry: Entry | None = _read_entry(kept)
    if entry is None:
        new = rewrite(source, full_path(path), compilers(), is_main=is_main, checks=checks)
        code = compile(new.tree, path, "exec", dont_inherit=True)
        sites = {mark: tuple(site) for mark, site in new.sites.items()}
        entry = (code, sites, [tuple(found) for found in new.unobserved])
        _write_entry(kept, entry)
    return entry


def _cache_file(source: bytes, path: str, is_main: bool, checks: bool) -> Path:
    """The cache file of a module's rewritten code, named by everything it depends on."""
    where = f"{path}\0{os.path.abspath(path)}".encode("utf-8", "surrogatepass")
    versions = f"{sys.version} {__version__} {sys.flags.optimize} {is_main} {checks}"
    parts = (source, where, versions.encode(), _rewriter_digest())
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = os.environ.get(_CHOSEN) or os.path.join(home, "castwise", "rewritten")
    return Path(place, key[:2], f"{key}.bin")


@functools.cache
def _rewriter_digest() -> bytes:
    """A digest of the rewriter and its known compilers, so that a change to them invalidates the
    cache."""
    texts = [Path(__file__).with_name(name).read_bytes() for name in ("rewriting.py", "records.py")]
    return hashlib.sha256(b"".join([*texts, *sorted(c.encode() for c in compilers())])).digest()


# A script with its observers, for a process to run.

_HEADER = importlib.util.MAGIC_NUMBER + bytes(12)  # of a .pyc not checked against its source


class MainScript(NamedTuple):
    """A script with its observers, and the arguments it believes to have."""

    path: str
    source: bytes
    argv: list[str]
    orig_argv: list[str]
    sites: Sites
    unobserved: UnobservedFunctions


def prepared(
    python: Sequence[str], program: Sequence[str], options: Options, folder: Path
) -> list[str]:
    """The command that runs a script with its observers, so that its process need not compile it
    and start again; or the plain command, whose process does that itself.

    A script whose compilation warns or fails is left to its own process: its filters and its
    stderr are the program's.
    """
    plain = [*python, *program]
    if program[0] == "-m":
        return plain
    path = os.path.join(os.getcwd(), program[0])  # made absolute as Python does
    try:
        source = Path(path).read_bytes()
        new = with_edits(source, (options.edits or {}).get(full_path(path), ()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            entry = compiled(new, path, is_main=True, checks=options.checks)
    except Exception:
        return plain
    code, sites, unobserved = entry
    meant = MainScript(path, source, [*program], plain, sites, unobserved)
    return [*python, write_main(folder / "main.pyc", code, meant), *program[1:]]


def write_main(file: Path, code: CodeType, meant: MainScript) -> str:
    """Writes a compiled script for a process to run, and returns its path."""
    file.write_bytes(_HEADER + dumps(code))
    file.with_suffix(".bin").write_bytes(dumps(tuple(meant)))
    return str(file)


def read_main(file: Path) -> MainScript:
    """Reads what write_main wrote, once."""
    details = file.with_suffix(".bin")
    meant = MainScript(*loads(details.read_bytes()))
    details.unlink()
    return meant
