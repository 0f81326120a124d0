"""The dialects by name, gathered from the files of this folder, and the one that is the default."""

from __future__ import annotations

import copyreg
import functools
import importlib
import os
import pkgutil
import warnings
from collections.abc import Callable, Collection
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from dataclasses import fields
from pathlib import Path
from typing import Any

from castwise import frameworks as folder
from castwise.errors import UsageError, did_you_mean
from castwise.frameworks.checks import check
from castwise.frameworks.dialect import Dialect
from castwise.frameworks.sharing import shared
from castwise.frameworks.variations import parse_options

_NOT_DIALECTS = (
    "catalog", "checks", "dialect", "implicit_promotion", "own", "policies", "recorded", "records",
    "sharing", "value_rules", "variations",
)  # fmt: skip
DEFAULT = "numpy"
STANDARD = "array-api"  # what castwise.array_api speaks outside of `use`
VARIABLE = "CASTWISE_DIALECT"  # the environment variable that names the default of a process
# What `use` chose; None outside every block.
chosen_dialect: ContextVar[Dialect | None] = ContextVar("castwise dialect", default=None)
# What `set_default` or the environment chose, once somebody asked: one entry, or none yet.
of_process: list[Dialect | None] = []
_forgetting: list[Callable[[], None]] = []


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
        chosen = chosen_here() or DEFAULT
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


def definition(dialect: Dialect) -> str | dict[str, Any]:
    """What a dialect is found by later: its name, or for one's own all that it says."""
    from castwise.frameworks import own

    said = own.definition_of(dialect)
    try:
        is_known = own.definition_of(dialect_named(dialect.name)) == said
    except UsageError:
        is_known = False
    return dialect.name if is_known else said


def defined(said: str | dict[str, Any]) -> Dialect:
    """The dialect of a definition.

    Raises UsageError for an unknown name, or naming what is wrong in it.
    """
    from castwise.frameworks import own

    return dialect_named(said) if isinstance(said, str) else own.dialect_of(said, dialect_named)


@functools.lru_cache(maxsize=512)
def _checked(dialect: Dialect) -> Dialect:
    """The dialect itself, once it is known to be well formed."""
    check(dialect)
    return dialect


def _pickled(dialect: Dialect) -> tuple[Callable[..., Dialect], tuple[Any, ...]]:
    """A dialect by its name where the catalogue has it, in full where only this process does: one
    from a file travels with its definition."""
    if _is_in_catalogue(dialect):
        return dialect_named, (dialect.name,)
    return _restored, ({f.name: getattr(dialect, f.name) for f in fields(Dialect)},)


def _restored(given: dict[str, Any]) -> Dialect:
    """The dialect that was pickled; the one that is here already, if it is the same."""
    return shared(Dialect(**given))


def _is_in_catalogue(dialect: Dialect) -> bool:
    try:
        is_known = bool(_of_framework(dialect.framework))  # or its name could be that of a file
        return is_known and dialect_named(dialect.name) is dialect
    except UsageError:
        return False


copyreg.pickle(Dialect, _pickled)  # it is for the catalogue to say what a name means


@functools.lru_cache(maxsize=1)
def dialects() -> tuple[str, ...]:
    """The names of all dialects."""
    frameworks = dict.fromkeys(d.framework for file in _files() for d in _in_file(file))
    return tuple(d.name for framework in frameworks for d in _of_framework(framework))


class use(ContextDecorator):  # noqa: N801 -- written like the function it reads as
    """Makes a dialect the default within the block, for this thread or asyncio task alone.

    >>> with use("torch"):
    ...     current().name
    'torch'

    It also decorates a function. `set_default` is for the whole process.
    """

    def __init__(self, dialect: str | Dialect) -> None:
        self._dialect = to_dialect(dialect)
        self._tokens: list[Token[Dialect | None]] = []
        self._is_used = False

    def __enter__(self) -> Dialect:
        self._is_used = True
        self._tokens.append(chosen_dialect.set(self._dialect))
        return self._dialect

    def __exit__(self, *error: object) -> None:
        chosen_dialect.reset(self._tokens.pop())

    def _recreate_cm(self) -> use:  # what ContextDecorator asks for, once for each call
        self._is_used = True
        return use(self._dialect)

    def __del__(self) -> None:
        if not getattr(self, "_is_used", True):
            name = self._dialect.name
            warnings.warn(
                f"cw.use({name!r}) alone does nothing: write `with cw.use({name!r}):`, or "
                f"cw.set_default({name!r}) for the whole process.",
                UserWarning,
                stacklevel=2,
            )


def set_default(dialect: str | Dialect | None) -> None:
    """Makes a dialect the default of the process, in every thread; None: the default it had first.

    `use` goes before it, and so does a tensor's own dialect. The environment variable
    CASTWISE_DIALECT sets the first default; without it that is `numpy`.

    >>> set_default("tensorflow:safe")
    >>> current().name
    'tensorflow:safe'
    >>> set_default(None)

    Raises UsageError for an unknown name.
    """
    of_process[:] = [] if dialect is None else [to_dialect(dialect)]
    for forget in _forgetting:
        forget()


def when_default_changes(forget: Callable[[], None]) -> None:
    """Has something called that forgets what was known under the old default."""
    _forgetting.append(forget)


def chosen_here() -> Dialect | None:
    """The dialect that `use`, `set_default` or the environment chose; None where none did."""
    chosen = chosen_dialect.get()
    if chosen is not None:
        return chosen
    if not of_process:
        of_process.append(_from_environment())
    return of_process[0]


def _from_environment() -> Dialect | None:
    name = os.environ.get(VARIABLE)
    try:
        return to_dialect(name) if name else None
    except UsageError as error:
        raise UsageError(f"the environment variable {VARIABLE}: {error}") from None


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
            found[f"{dialect.version}:{dialect.mode}"] = shared(dialect)
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
