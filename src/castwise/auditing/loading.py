"""Rewrites the user's own modules as they are imported, and keeps the rewritten code on disk."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import marshal
import os
import runpy
import site
import sys
import sysconfig
import tempfile
import types
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

from castwise import __version__
from castwise.auditing import observe
from castwise.auditing.callees import observed_file
from castwise.auditing.hook import compilers
from castwise.auditing.log import FILES, SITES, UNOBSERVED
from castwise.auditing.rewrite import rewrite
from castwise.auditing.sites import Site, Unobserved, first_mark

_OWN = str(Path(__file__).parents[1]) + os.sep


def audited_code(source: bytes, path: str) -> types.CodeType:
    """The code of a module with its observers, from the cache where it was rewritten before."""
    source = _edited(source, EDITS.get(path, ()))
    kept = _cache_file(source, path)
    entry = _read_cache(kept)
    if entry is None:
        new = rewrite(source, path, compilers())
        code = compile(new.tree, path, "exec", dont_inherit=True)
        entry = (code, _plain(new.sites), [tuple(found) for found in new.unobserved])
        _write_cache(kept, entry)
    code, sites, unobserved = entry
    SITES.update({mark: Site(*fields) for mark, fields in sites.items()})
    FILES[first_mark(path)] = path
    UNOBSERVED[path] = [Unobserved(*fields) for fields in unobserved]
    observed_file(path)
    return code


# path -> changes to try in memory: first line and column, last ones, new text; all from 1
EDITS: dict[str, list[tuple[int, int, int, int, str]]] = {}


def _edited(source: bytes, edits: Sequence[tuple[int, int, int, int, str]]) -> bytes:
    """A source with some pieces replaced, the last first so that places stay true."""
    lines = source.splitlines(keepends=True)
    for line, column, end_line, end_column, text in sorted(edits, reverse=True):
        tail = lines[end_line - 1][end_column - 1 :]
        lines[line - 1 : end_line] = [lines[line - 1][: column - 1] + text.encode() + tail]
    return b"".join(lines)


def _plain(sites: dict[int, Site]) -> dict[int, tuple[Any, ...]]:
    return {mark: tuple(site) for mark, site in sites.items()}


_Entry = tuple[types.CodeType, dict[int, tuple[Any, ...]], list[tuple[Any, ...]]]


def _cache_file(source: bytes, path: str) -> Path:
    """Where a module's rewritten code is kept: by all that it depends on."""
    versions = f"{sys.version} {__version__} {sys.flags.optimize}"
    parts = (source, path.encode("utf-8", "surrogatepass"), versions.encode(), _rewriter_digest())
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "castwise", "rewritten", key[:2], f"{key}.bin")


def _rewriter_digest() -> bytes:
    """So that work on the rewriter itself is never hidden by what it wrote before."""
    global _digest
    if not _digest:
        files = [Path(__file__).parent / name for name in ("rewrite.py", "sites.py")]
        _digest = hashlib.sha256(b"".join(f.read_bytes() for f in files)).digest()
    return _digest


_digest = b""


def _read_cache(kept: Path) -> _Entry | None:
    try:
        return marshal.loads(kept.read_bytes())  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _write_cache(kept: Path, entry: _Entry) -> None:
    """Writes beside and renames, so that two processes never see half a file."""
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(marshal.dumps(entry))
        os.replace(beside, kept)


class _Loader(SourceFileLoader):
    """A source loader whose code is the rewritten one."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return audited_code(self.get_data(path), path)


class Finder(importlib.abc.MetaPathFinder):
    """Finds what the other finders find, and gives the user's own modules an auditing loader."""

    def __init__(self, include: Collection[str] = ()) -> None:
        self._include = frozenset(include)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._audit(spec)
                return spec
        return None

    def _audit(self, spec: ModuleSpec) -> None:
        if type(spec.loader) is SourceFileLoader and spec.origin:
            top = spec.name.partition(".")[0]
            if top in self._include or is_users_own(spec.origin):
                spec.loader = _Loader(spec.name, spec.origin)


def is_users_own(path: str) -> bool:
    """Whether a file belongs to neither Python, an installed package nor castwise."""
    full = os.path.realpath(path)
    return not full.startswith((*_installed(), _OWN)) and not path.startswith("<")


def _installed() -> tuple[str, ...]:
    global _places
    if not _places:
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        found = {sysconfig.get_path(name) for name in names}
        found |= {*getattr(site, "getsitepackages", list)(), site.getusersitepackages()}
        _places = tuple(os.path.realpath(place) + os.sep for place in found if place)
    return _places


_places: tuple[str, ...] = ()


def start(include: Collection[str] = ()) -> Finder:
    """Audits every module of the user's that is imported from now on."""
    observe.install()
    finder = Finder(include)
    sys.meta_path.insert(0, finder)
    _audit_scripts()
    return finder


def _audit_scripts() -> None:
    """runpy reads a script without any finder: multiprocessing's children run the main one so."""
    name = "_get_code_from_file"
    plain = getattr(runpy, name)

    def audited(*arguments: str) -> object:
        path = arguments[-1]
        result = plain(*arguments)
        if not is_users_own(path):
            return result
        code = audited_code(Path(path).read_bytes(), os.path.abspath(path))
        return (code, *result[1:]) if isinstance(result, tuple) else code

    setattr(runpy, name, audited)
