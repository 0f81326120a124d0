"""The dialects by name, collected from the files in the frameworks folder."""

from __future__ import annotations

import copyreg
import functools
import importlib
import pkgutil
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.rules.checks import check
from castwise.rules.dialect import Dialect
from castwise.rules.sharing import shared
from castwise.rules.variations import parse_options

FOLDER = "castwise.frameworks"


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


def load_dialect(path: str | Path) -> Dialect:
    """A custom dialect, from a TOML file; see docs/variations.md.

    >>> load_dialect("examples/careful.toml").name
    'careful:cap_float=32:safe=True'

    Raises UsageError that names the file and what is wrong in it.
    """
    from castwise.rules import custom  # most programs load none

    return custom.load_dialect(path, dialect_named)


def definition(dialect: Dialect) -> str | dict[str, Any]:
    """What a dialect can be restored from: its name, or the whole content of a custom one."""
    from castwise.rules import custom

    content = custom.definition_of(dialect)
    try:
        is_known = custom.definition_of(dialect_named(dialect.name)) == content
    except UsageError:
        is_known = False
    return dialect.name if is_known else content


def defined(given: str | dict[str, Any]) -> Dialect:
    """The dialect of a definition.

    Raises UsageError for an unknown name, or naming what is wrong in it.
    """
    from castwise.rules import custom

    if isinstance(given, str):
        return dialect_named(given)
    return custom.dialect_of(given, dialect_named)


@functools.lru_cache(maxsize=512)
def checked(dialect: Dialect) -> Dialect:
    """The dialect itself, after a check that it is well formed.

    Raises UsageError where it is not.
    """
    check(dialect)
    return dialect


def _pickled(dialect: Dialect) -> tuple[Callable[..., Dialect], tuple[Any, ...]]:
    """How to pickle a dialect: by name where the catalogue has it, else with all its fields, such
    as one from a file."""
    if _is_in_catalogue(dialect):
        return dialect_named, (dialect.name,)
    return _restored, ({f.name: getattr(dialect, f.name) for f in fields(Dialect)},)


def _restored(given: dict[str, Any]) -> Dialect:
    """The dialect that was pickled, or the equal one that this process already has."""
    return shared(Dialect(**given))


def _is_in_catalogue(dialect: Dialect) -> bool:
    try:
        is_known = bool(_of_framework(dialect.framework))  # or its name could be that of a file
        return is_known and dialect_named(dialect.name) is dialect
    except UsageError:
        return False


copyreg.pickle(Dialect, _pickled)  # here, because only the catalogue knows what a name means


@functools.lru_cache(maxsize=1)
def dialects() -> tuple[str, ...]:
    """The names of all dialects."""
    frameworks = dict.fromkeys(d.framework for file in _files() for d in _in_file(file))
    return tuple(d.name for framework in frameworks for d in _of_framework(framework))


def _options(name: str, modes: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The name without its options, and the options; a mode may look like an option."""
    parts = name.split(":")
    own = [part for part in parts if "=" not in part or part in modes]
    options = parse_options(":".join(part for part in parts if part not in own))
    return ":".join(own), options


@functools.lru_cache(maxsize=64)
def _of_framework(framework: str) -> tuple[Dialect, ...]:
    """The dialects of a framework: those of the file with its name, such as array_api.py, and of
    files whose names start with it, such as paddle_documented.py. The newest version is first."""
    stem = framework.replace("-", "_")
    files = [file for file in _files() if file == stem or file.startswith(f"{stem}_")]
    found: dict[str, Dialect] = {}
    for dialect in [d for file in files for d in _in_file(file)]:
        if dialect.framework == framework:
            check(dialect)
            found[f"{dialect.version}:{dialect.mode}"] = shared(dialect)
    return tuple(sorted(found.values(), key=lambda d: (not d.naming.is_newest, d.mode)))


def _in_file(file: str) -> list[Dialect]:
    """The dialects that a file of the folder defines."""
    module = importlib.import_module(f"{FOLDER}.{file}")
    return [value for value in vars(module).values() if isinstance(value, Dialect)]


@functools.lru_cache(maxsize=1)
def _files() -> tuple[str, ...]:
    """The files of the folder. It is listed, not imported: the rules name no framework."""
    folder = importlib.import_module(FOLDER)
    return tuple([file.name for file in pkgutil.iter_modules(folder.__path__)])
