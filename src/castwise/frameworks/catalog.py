"""The dialects by name: gathered from the files of this folder, which are imported when needed."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from castwise import frameworks as folder
from castwise.errors import UsageError, did_you_mean
from castwise.frameworks.checks import check
from castwise.frameworks.dialect import Dialect
from castwise.frameworks.variations import parse_options

_NOT_DIALECTS = (
    "catalog", "checks", "dialect", "implicit_promotion", "own", "value_rules", "variations"
)  # fmt: skip
DEFAULT = "numpy"
STANDARD = "array-api"  # what castwise.array_api speaks outside of `use`
# What `use` chose; None outside every block.
chosen_dialect: ContextVar[Dialect | None] = ContextVar("castwise dialect", default=None)


@functools.lru_cache(maxsize=512)
def dialect_named(name: str) -> Dialect:
    """The dialect of a name such as `torch`, `numpy@1` or `torch:default_float=float64`, or of a
    TOML file such as `mine.toml`.

    >>> dialect_named("numpy@2").name
    'numpy'

    Raises UsageError for an unknown name.
    """
    if name.endswith(".toml"):
        return load_dialect(name)
    framework = name.partition("@")[0].partition(":")[0]
    known = _of_framework(framework)
    base, options = _options(name, {d.mode for d in known})
    for found in known:
        versioned = f"{found.framework}@{found.version}" + (f":{found.mode}" if found.mode else "")
        if base in (found.name, versioned):
            return found.vary(**options) if options else found
    raise UsageError(f"unknown dialect {name[:80]!r}.{did_you_mean(base, dialects())}")


def to_dialect(chosen: str | Dialect | None) -> Dialect:
    """The dialect itself, the one of a name, or the current one for None."""
    if chosen is None:
        chosen = chosen_dialect.get() or DEFAULT
    if isinstance(chosen, str):
        return dialect_named(chosen)
    if isinstance(chosen, Dialect):
        return _checked(chosen)
    raise UsageError(f"a dialect is a name or a Dialect, not a {type(chosen).__name__}.")


def load_dialect(path: str | Path) -> Dialect:
    """A dialect of one's own, from a TOML file; see docs/variations.md.

    >>> load_dialect("examples/careful.toml").name
    'careful:cap_float=32:safe=True'

    Raises UsageError that names the file and what is wrong in it.
    """
    from castwise.frameworks import own  # most programs load none

    return own.load_dialect(path, dialect_named)


@functools.lru_cache(maxsize=512)
def _checked(dialect: Dialect) -> Dialect:
    """The dialect itself, once it is known to be well formed."""
    check(dialect)
    return dialect


@functools.lru_cache(maxsize=1)
def dialects() -> tuple[str, ...]:
    """The names of all dialects."""
    frameworks = dict.fromkeys(d.framework for file in _files() for d in _in_file(file))
    return tuple(d.name for framework in frameworks for d in _of_framework(framework))


@contextmanager
def use(dialect: str | Dialect) -> Iterator[Dialect]:
    """Makes a dialect the default within the block, for this thread or asyncio task alone.

    >>> with use("torch"):
    ...     current().name
    'torch'
    """
    chosen = to_dialect(dialect)
    token = chosen_dialect.set(chosen)
    try:
        yield chosen
    finally:
        chosen_dialect.reset(token)


def current() -> Dialect:
    """The default dialect here and now."""
    return to_dialect(None)


def _options(name: str, modes: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The name without its `key=value` parts, and those; a mode may look like one of them."""
    parts = name.split(":")
    own = [part for part in parts if "=" not in part or part in modes]
    options = parse_options(":".join(part for part in parts if part not in own))
    return ":".join(own), options


@functools.lru_cache(maxsize=64)
def _of_framework(framework: str) -> tuple[Dialect, ...]:
    """The dialects of a framework: those of the file of its name, such as array_api.py, and of
    files whose names go on from there, such as paddle_documented.py. The newest version first."""
    stem = framework.replace("-", "_")
    files = [file for file in _files() if file == stem or file.startswith(f"{stem}_")]
    found: dict[str, Dialect] = {}
    for dialect in [d for file in files for d in _in_file(file)]:
        if dialect.framework == framework:
            check(dialect)
            found[f"{dialect.version}:{dialect.mode}"] = dialect
    return tuple(sorted(found.values(), key=lambda d: (not d.is_newest, d.mode)))


def _in_file(file: str) -> list[Dialect]:
    """The dialects a file of this folder names."""
    module = importlib.import_module(f"castwise.frameworks.{file}")
    return [value for value in vars(module).values() if isinstance(value, Dialect)]


@functools.lru_cache(maxsize=1)
def _files() -> tuple[str, ...]:
    """The files of this folder that hold dialects."""
    names = [file.name for file in pkgutil.iter_modules(folder.__path__)]
    return tuple(name for name in names if name not in _NOT_DIALECTS)
