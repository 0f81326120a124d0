"""The dialects by name, collected from the files in the frameworks folder."""

from __future__ import annotations

import copyreg
import functools
import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from castwise.errors import NearestVersionWarning, UsageError, did_you_mean
from castwise.rules.checks import check
from castwise.rules.dialect import Dialect
from castwise.rules.releases.layers import laid_over, layers
from castwise.rules.releases.nearest import Nearest, nearest_of
from castwise.rules.sharing import shared
from castwise.rules.variations import EXAMPLES, VARIATIONS, parse_options

FOLDER = "castwise.frameworks"


def dialect_named(name: str) -> Dialect:
    """The dialect of a name such as `torch`, `numpy@1` or `torch:default_float=float64`, or of a
    TOML file such as `mine.toml`.

    >>> dialect_named("numpy@2").name
    'numpy'

    Raises UsageError for an unknown name.
    """
    found, note = nearest_named(name)
    if note:
        warnings.warn(note, NearestVersionWarning, stacklevel=_frames_of_castwise())
    return found


@functools.lru_cache(maxsize=512)
def nearest_named(name: str) -> Nearest:
    """The dialect of a name, with a note where it has a version that is not recorded.

    >>> nearest_named("paddle@9").note
    'paddle@9 is not recorded: paddle@3.3 answers, the nearest that is.'

    Raises UsageError for an unknown name.
    """
    if name.endswith(".toml"):
        return Nearest(load_dialect(name))
    written = name.partition("@")[0].partition(":")[0]
    known = _of_framework(framework_named(written))
    base, options = _options(name, {d.mode for d in known})
    head, _, mode = base.partition(":")
    version = head.partition("@")[2]
    of_mode = [d for d in known if d.mode == mode]
    if not of_mode or head.endswith("@"):
        raise UsageError(f"unknown dialect {name[:80]!r}.{_hint(base, known)}")
    newest = next((d for d in of_mode if d.naming.is_newest), of_mode[0])
    nearest = nearest_of(of_mode, base, version) if version else Nearest(newest)
    if not options:
        return nearest
    return nearest._replace(dialect=nearest.dialect.vary(**options))


def framework_named(written: str) -> str:
    """The framework that a name means: its own, or another it is known by, such as np."""
    if _of_framework(written):
        return written
    return other_names().get(written.lower(), written)


def is_dialect_name(text: object) -> bool:
    """Whether a text names a dialect, of whatever version and mode, and not an op."""
    if not isinstance(text, str):
        return False
    written = text.partition("@")[0].partition(":")[0]
    return text.endswith(".toml") or bool(_of_framework(framework_named(written)))


def _frames_of_castwise() -> int:
    """How many frames up the caller of castwise is, so that a warning shows their line."""
    frame, count = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "castwise":
        frame, count = frame.f_back, count + 1
    return count


@functools.lru_cache(maxsize=1)
def other_names() -> dict[str, str]:
    """The names of frameworks, and what else they are called -> their own names."""
    known = [d for file in _files() for d in _in_file(file)]
    return {word: d.framework for d in known for word in (d.framework, *d.naming.names.split())}


def _hint(base: str, known: Sequence[Dialect]) -> str:
    """What to write instead of a name that no dialect has."""
    head, _, mode = base.partition(":")
    if known and mode in VARIATIONS:
        return f" {mode} is an option: write {head}:{mode}={EXAMPLES[mode]}."
    modes = list(dict.fromkeys(d.mode for d in known if d.mode))
    listed = f" {known[0].framework} has the modes {', '.join(modes)}." if modes and mode else ""
    return did_you_mean(base, dialects()) + listed


def load_dialect(path: str | Path) -> Dialect:
    """A custom dialect, from a TOML file; see docs/how-to/write-a-dialect.md.

    >>> load_dialect("examples/careful.toml").name
    'careful:cap_float=32:safe=True'

    Raises UsageError that names the file and what is wrong in it.
    """
    from castwise.rules.files import custom  # most programs load none

    return custom.load_dialect(path, dialect_named)


def definition(dialect: Dialect) -> str | dict[str, Any]:
    """What a dialect can be restored from: its name, or the whole content of a custom one."""
    from castwise.rules.files import custom

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
    from castwise.rules.files import custom

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


def dialects() -> tuple[str, ...]:
    """The names of all dialects."""
    return tuple(abouts())


@functools.lru_cache(maxsize=1)
def abouts() -> dict[str, str]:
    """The names of all dialects, and what each is. The dialects are not checked yet, which takes
    longer than a shell may need to complete a name."""
    frameworks = dict.fromkeys(d.framework for file in _files() for d in _in_file(file))
    return {d.name: d.about for framework in frameworks for d in _listed(framework)}


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
    for dialect in _listed(framework):
        check(dialect)
    known = tuple(map(shared, _listed(framework)))
    return (*known, *_layered(framework, known))


def _layered(framework: str, known: Sequence[Dialect]) -> Iterator[Dialect]:
    """The dialects that layers of recorded answers make of others, such as releases."""
    made = {dialect.name: dialect for dialect in known}
    bottoms = dict(made)
    for layer in layers().values():
        if layer.framework == framework:
            bottoms[layer.name] = bottoms[layer.below]
            made[layer.name] = laid_over(bottoms[layer.below], layer, made[layer.below])
            yield made[layer.name]


@functools.lru_cache(maxsize=64)
def _listed(framework: str) -> tuple[Dialect, ...]:
    """The dialects of a framework as its files have them."""
    stem = framework.replace("-", "_")
    files = [file for file in _files() if file == stem or file.startswith(f"{stem}_")]
    found: dict[str, Dialect] = {}
    for dialect in [d for file in files for d in _in_file(file)]:
        if dialect.framework == framework:
            found[f"{dialect.version}:{dialect.mode}"] = dialect
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
