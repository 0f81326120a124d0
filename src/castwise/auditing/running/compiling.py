"""Source code with observers, compiled and cached on disk."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import types
from pathlib import Path
from typing import Any, TypeAlias

from castwise import __version__
from castwise.auditing.hook import compilers
from castwise.auditing.rewriting.marks import full_path
from castwise.auditing.rewriting.rewrite import rewrite
from castwise.auditing.running import cache

# Plain tuples, for marshal: the fields of Site by mark, and of Unobserved.
Sites: TypeAlias = "dict[int, tuple[Any, ...]]"
UnobservedFunctions: TypeAlias = "list[tuple[Any, ...]]"
Entry: TypeAlias = "tuple[types.CodeType, Sites, UnobservedFunctions]"


def compiled(source: bytes, path: str, *, is_main: bool, checks: bool) -> Entry:
    """A module's code, its sites and its unobserved functions, from the cache if possible.

    Raises SyntaxError, or ValueError, as compiling the source would.
    """
    kept = _cache_file(source, path, is_main, checks)
    entry: Entry | None = cache.read(kept)
    if entry is None:
        new = rewrite(source, full_path(path), compilers(), is_main=is_main, checks=checks)
        code = compile(new.tree, path, "exec", dont_inherit=True)
        sites = {mark: tuple(site) for mark, site in new.sites.items()}
        entry = (code, sites, [tuple(found) for found in new.unobserved])
        cache.write(kept, entry)
    return entry


def _cache_file(source: bytes, path: str, is_main: bool, checks: bool) -> Path:
    """The cache file of a module's rewritten code, named by everything it depends on."""
    where = f"{path}\0{os.path.abspath(path)}".encode("utf-8", "surrogatepass")
    versions = f"{sys.version} {__version__} {sys.flags.optimize} {is_main} {checks}"
    parts = (source, where, versions.encode(), _rewriter_digest())
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    return cache.directory() / key[:2] / f"{key}.bin"


@functools.cache
def _rewriter_digest() -> bytes:
    """A digest of the rewriter and its known compilers, so that a change to them invalidates the
    cache."""
    names = ("rewrite.py", "builtin_names.py", "writes.py", "items.py", "building.py",
             "expressions.py", "compiled.py", "marks.py", "../records/places.py")  # fmt: skip
    rewriting = Path(__file__).parents[1] / "rewriting"
    texts = [(rewriting / name).read_bytes() for name in names]
    return hashlib.sha256(b"".join([*texts, *sorted(c.encode() for c in compilers())])).digest()
