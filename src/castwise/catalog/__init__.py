"""All dialects by name: `torch`, `numpy@1`, `jax:x64`, a TOML file; and the one that applies here.

The rules themselves are data in `castwise.frameworks`, one file per framework. This room stands
above those files, because it looks them up; so it is no part of `castwise.rules`, below them, whose
records they are made of.
"""

from __future__ import annotations

import copyreg
import functools
import gzip
import importlib
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from castwise.errors import NearestVersionWarning, UsageError, did_you_mean
from castwise.rules.dialect import (
    EXAMPLES,
    VARIATIONS,
    Dialect,
    Messages,
    check,
    parse_options,
    shared,
)
from castwise.vocab.live import loaded_name

_FOLDER = "castwise.frameworks"


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


def _frames_of_castwise() -> int:
    """How many frames up the caller of castwise is, so that a warning shows their line."""
    frame, count = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "castwise":
        frame, count = frame.f_back, count + 1
    return count


class Nearest(NamedTuple):
    """The recorded dialect that answers for a version, and a sentence where it is another one."""

    dialect: Dialect
    note: str = ""


@functools.lru_cache(maxsize=512)
def nearest_named(name: str) -> Nearest:
    """The dialect of a name, with a note where it has a version that is not recorded.

    >>> nearest_named("paddle@9").note
    'paddle@9 is not recorded: paddle@3.3 answers, the nearest that is.'

    Raises UsageError for an unknown name.
    """
    if name.endswith(".toml"):
        return Nearest(load_dialect(name))
    known = _framework_dialects(framework_named(name))
    base, options = _options(name, {d.mode for d in known})
    head, _, mode = base.partition(":")
    version = head.partition("@")[2]
    of_mode = [d for d in known if d.mode == mode]
    if not of_mode or head.endswith("@"):
        raise UsageError(f"unknown dialect {name[:80]!r}.{_hint(base, known)}")
    newest = next((d for d in of_mode if d.naming.is_newest), of_mode[0])
    nearest = _nearest_version(of_mode, base, version) if version else Nearest(newest)
    if not options:
        return nearest
    return nearest._replace(dialect=nearest.dialect.vary(**options))


def _options(name: str, modes: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The name without its options, and the options; a mode may look like an option."""
    parts = name.split(":")
    own = [part for part in parts if "=" not in part or part in modes]
    options = parse_options(":".join(part for part in parts if part not in own))
    return ":".join(own), options


def _hint(base: str, known: Sequence[Dialect]) -> str:
    """What to write instead of a name that no dialect has."""
    head, _, mode = base.partition(":")
    if known and mode in VARIATIONS:
        return f" {mode} is an option: write {head}:{mode}={EXAMPLES[mode]}."
    modes = list(dict.fromkeys(d.mode for d in known if d.mode))
    listed = f" {known[0].framework} has the modes {', '.join(modes)}." if modes and mode else ""
    return did_you_mean(base, dialects()) + listed


def is_dialect_name(text: object) -> bool:
    """Whether a text names a dialect, of whatever version and mode, and not an op."""
    if not isinstance(text, str):
        return False
    return text.endswith(".toml") or bool(_framework_dialects(framework_named(text)))


def framework_named(name: str) -> str:
    """The framework that a dialect's name begins with: its own, or another it is known by, such as
    np."""
    written = name.partition("@")[0].partition(":")[0]
    if _framework_dialects(written):
        return written
    return other_names().get(written.lower(), written)


@functools.lru_cache(maxsize=1)
def other_names() -> dict[str, str]:
    """The names of frameworks, and what else they are called -> their own names."""
    known = [d for file in _file_names() for d in _dialects_in_file(file)]
    return {word: d.framework for d in known for word in (d.framework, *d.naming.names.split())}


def dialects() -> tuple[str, ...]:
    """The names of all dialects."""
    return tuple(dialect_abouts())


@functools.lru_cache(maxsize=1)
def dialect_abouts() -> dict[str, str]:
    """The names of all dialects, and what each is. The dialects are not checked yet, which takes
    longer than a shell may need to complete a name."""
    frameworks = dict.fromkeys(
        d.framework for file in _file_names() for d in _dialects_in_file(file)
    )
    return {d.name: d.about for framework in frameworks for d in _dialects_in_files(framework)}


# The files of castwise.frameworks, and the layers of recorded answers over their dialects.


@functools.lru_cache(maxsize=64)
def _framework_dialects(framework: str) -> tuple[Dialect, ...]:
    """The dialects of a framework: those of the file with its name, such as array_api.py, and of
    files whose names begin with it and `_`. The newest version is first."""
    for dialect in _dialects_in_files(framework):
        check(dialect)
    known = tuple(map(shared, _dialects_in_files(framework)))
    return (*known, *_dialects_over_layers(framework, known))


def _dialects_over_layers(framework: str, known: Sequence[Dialect]) -> Iterator[Dialect]:
    """The dialects that layers of recorded answers make of others, such as releases."""
    made = {dialect.name: dialect for dialect in known}
    bottoms = dict(made)
    for layer in layers().values():
        if layer.framework == framework:
            own = _rules_of_layers(framework).get(layer.name, {})
            bottoms[layer.name] = replace(bottoms[layer.below], **own)
            made[layer.name] = laid_over(bottoms[layer.name], layer, made[layer.below])
            yield made[layer.name]


def _rules_of_layers(framework: str) -> dict[str, dict[str, Any]]:
    """The fields of a dialect that are other ones below a layer: its cells tell dtypes alone."""
    module = importlib.import_module(f"{_FOLDER}.{framework.replace('-', '_')}")
    return getattr(module, "BELOW_LAYERS", {})


@functools.lru_cache(maxsize=64)
def _dialects_in_files(framework: str) -> tuple[Dialect, ...]:
    """The dialects of a framework as its files have them."""
    stem = framework.replace("-", "_")
    files = [file for file in _file_names() if file == stem or file.startswith(f"{stem}_")]
    found: dict[str, Dialect] = {}
    for dialect in [d for file in files for d in _dialects_in_file(file)]:
        if dialect.framework == framework:
            found[f"{dialect.version}:{dialect.mode}"] = dialect
    return tuple(sorted(found.values(), key=lambda d: (not d.naming.is_newest, d.mode)))


def _dialects_in_file(file: str) -> list[Dialect]:
    """The dialects that a file of the folder defines."""
    module = importlib.import_module(f"{_FOLDER}.{file}")
    return [value for value in vars(module).values() if isinstance(value, Dialect)]


@functools.lru_cache(maxsize=1)
def _file_names() -> tuple[str, ...]:
    """The files of the folder. It is listed, not imported: the rules name no framework."""
    folder = importlib.import_module(_FOLDER)
    return tuple([file.name for file in pkgutil.iter_modules(folder.__path__)])


@functools.lru_cache(maxsize=1)
def framework_messages() -> tuple[Messages, ...]:
    """What is known of all frameworks' errors."""
    modules = [importlib.import_module(f"{_FOLDER}.{file}") for file in _file_names()]
    return tuple([module.MESSAGES for module in modules if hasattr(module, "MESSAGES")])


# Recorded answers laid over a dialect's rules: of another release, a device or a compiler.
#
# A layer is a file of the cells in which what was recorded differs from the dialect below it. An
# index lists the layers. Nothing here decides: the engine reads the cells.

INDEX = "index.tsv"


class Layer(NamedTuple):
    """What the index says of a layer."""

    name: str  # the dialect that it makes: a release such as @2.8, or a mode
    below: str  # the dialect that it differs from, which may have layers itself
    recorded: str  # the release it was recorded from: "2.8.0"
    cells: int  # in how many cells they differ
    lacks: str  # dtypes and ops that the dialect below has and it has not
    has: str  # dtypes that it has, and neither the dialect below nor the rules
    source: str  # what was recorded, in words

    @property
    def framework(self) -> str:
        return self.name.partition(":")[0].partition("@")[0]

    @property
    def version(self) -> str:
        """The version in the name, "" where it is that of the dialect below."""
        return self.name.partition(":")[0].partition("@")[2]

    @property
    def mode(self) -> str:
        return self.name.partition(":")[2]


class LayerCell(NamedTuple):
    """A question whose answer differs; "" is no answer."""

    op: str
    form: str
    operands: str  # with semicolons between them
    answer: str
    below: str  # the answer of the dialect below


@functools.lru_cache(maxsize=1)
def layers() -> dict[str, Layer]:
    """All layers, by the names of the dialects that they make."""
    return read_index(_folder().joinpath(INDEX).read_text(encoding="utf-8"))


def read_index(text: str) -> dict[str, Layer]:
    """The layers that an index lists, by name."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {
        name: Layer(name, below, recorded, int(cells), lacks, has, source)
        for name, below, recorded, cells, lacks, has, source in rows
    }


@functools.lru_cache(maxsize=8)
def layer_lines(name: str) -> dict[str, list[str]]:
    """The lines of a layer, by op. They are not parsed: there are many, and few are asked for."""
    found: dict[str, list[str]] = {}
    if not layers()[name].cells:
        return found  # it has no file
    text = gzip.decompress(_folder().joinpath(layer_file(name)).read_bytes()).decode()
    for line in text.splitlines():
        found.setdefault(line.partition("\t")[0], []).append(line)
    return found


def layer_file(name: str) -> str:
    """The file of a layer; not every system has files with a colon in their name."""
    return f"{re.sub('[:,=]', '-', name)}.tsv.gz"


def layer_cells(name: str, op: str) -> list[LayerCell]:
    """The cells of an op in a layer."""
    return [LayerCell(*line.split("\t")) for line in layer_lines(name).get(op, ())]


def laid_over(rules: Dialect, layer: Layer, below: Dialect) -> Dialect:
    """The dialect that a layer makes of the one below it; `rules` are those at the bottom."""
    version = layer.version or rules.version
    framework = rules.about.partition(":")[0].partition(" in ")[0].partition(" ")[0]
    title = f"{framework} {layer.version or layer.mode}"
    below_title = below.name if layer.mode else f"{below.framework} {recorded_version(below)}"
    amount = f"{layer.cells:,} recorded answers differ" if layer.cells else "no answer differs"
    evidence = replace(
        rules.evidence,
        source=f"recorded from {layer.source}",
        layers=(layer.name, *below.evidence.layers),
        lacks=" ".join(dict.fromkeys(f"{below.evidence.lacks} {layer.lacks}".split())),
        has=" ".join(f"{below.evidence.has} {layer.has}".split()),
    )
    naming = replace(
        rules.naming, is_newest=not layer.version, recorded=layer.recorded, last="", release=""
    )
    made = rules.vary(
        version=version,
        mode=layer.mode,
        naming=naming,
        evidence=evidence,
        about=f"{title}: {amount} from {below_title}.",
    )
    return shared(made)


@functools.lru_cache(maxsize=256)
def without_layers(dialect: Dialect) -> Dialect:
    """The rules below the layers of a dialect, under its name."""
    evidence = replace(dialect.evidence, layers=(), lacks="", has="")
    return shared(replace(dialect, evidence=evidence))


def recorded_version(dialect: Dialect) -> str:
    """The release that a dialect was recorded from, or its version where none is named."""
    return dialect.naming.recorded or dialect.version


def _folder() -> Any:
    return resources.files("castwise.frameworks").joinpath("layers")


# Versions: which recorded one answers for a version that a user names or has installed.

# A release such as 2.13, 2.13.0+cpu or 2.5.0rc1: what follows the numbers does not count.
_RELEASE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})*)(?:[._-]?(?:a|b|rc|alpha|beta|dev|post)\d*)*(?:\+[\w.-]*)?", re.ASCII
)


def _nearest_version(known: Sequence[Dialect], asked: str, version: str) -> Nearest:
    """The dialect among those of one framework and mode that is recorded from a version, or from
    the nearest one. `asked` is what messages call it: "torch@2.14".

    A release counts by its first two numbers, and by the third where several with the same two are
    recorded. A name of two numbers, such as torch@2.1, may also be that of a dialect from another
    source: it answers for that name alone where a release of these numbers is recorded. Between two
    recorded ones, the one with the same first number is the nearest, then the one with the closer
    second number. An old dialect answers for no release after its last.

    Raises UsageError for text that is no version, or where the dialect has no versions.
    """
    match = _RELEASE.fullmatch(version)
    recorded = {_numbers(recorded_version(d)): d for d in known if d.version or d.naming.recorded}
    recorded |= {_numbers(d.naming.release): d for d in known if d.naming.release}
    names = " or ".join(d.name for d in known)
    if not match:
        raise UsageError(f"{asked[:80]!r} names no version: write numbers, as in {_example(known)}")
    if not recorded:
        raise UsageError(f"{names} is no release of a framework: leave out @{version[:40]}.")
    wanted = _numbers(match[1])
    if wanted in recorded:
        return Nearest(recorded[wanted])
    # Two numbers that a recorded release of three begins with are no release.
    begun = {numbers[:2] for numbers in recorded if len(numbers) > 2}
    recorded = {n: d for n, d in recorded.items() if n not in begun}
    exact = [numbers for numbers in recorded if numbers[: len(wanted[:2])] == wanted[:2]]
    if exact and len(wanted) < 3:  # of 2 alone, the dialect with that name comes first
        return Nearest(recorded[exact[0] if len(wanted) == 1 else max(exact)])
    if exact:
        found = recorded[min(exact, key=lambda numbers: abs(_patch(numbers) - _patch(wanted)))]
        if len(exact) == 1:
            return Nearest(found)
    else:
        answering = [
            numbers for numbers, dialect in recorded.items()
            if not dialect.naming.last or wanted[:2] <= _numbers(dialect.naming.last)
        ]  # fmt: skip
        found = recorded[_closest(wanted, sorted(answering))]
    note = f"{asked} is not recorded: {_release_name(found)} answers, the nearest that is."
    return Nearest(found, note)


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(part) for part in version.split(".")[:3]])


def _patch(numbers: tuple[int, ...]) -> int:
    """The third number of a version."""
    return numbers[2] if len(numbers) > 2 else 0


def _closest(wanted: tuple[int, ...], known: list[tuple[int, ...]]) -> tuple[int, ...]:
    below = [numbers for numbers in known if numbers < wanted][-1:]
    above = [numbers for numbers in known if numbers > wanted][:1]
    return min([*above, *below], key=lambda numbers: _distance(wanted, numbers))


def _distance(wanted: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, int]:
    """By the first number of a version, and then by the second."""
    if wanted[0] != numbers[0]:
        return abs(wanted[0] - numbers[0]), 0
    one, other = (version[1] if len(version) > 1 else 0 for version in (wanted, numbers))
    return 0, abs(one - other)


def _release_name(dialect: Dialect) -> str:
    """The recorded version as a name that can be written: numpy@2, recorded from 2.4."""
    mode = f":{dialect.mode}" if dialect.mode else ""
    named = f"{dialect.framework}@{dialect.version}{mode}" if dialect.version else dialect.name
    recorded = dialect.naming.recorded
    return f"{named} (recorded from {recorded})" if recorded else named


def _example(known: Sequence[Dialect]) -> str:
    versions = [f"{d.framework}@{recorded_version(d)}" for d in known if recorded_version(d)]
    return f"{' or '.join(versions[:3])}." if versions else f"{known[0].name}."


# Custom dialects, and how a dialect is saved and pickled.


def load_dialect(path: str | Path) -> Dialect:
    """A custom dialect, from a TOML file; see docs/how-to/write-a-dialect.md.

    >>> load_dialect("examples/careful.toml").name
    'careful:cap_float=32:safe=True'

    Raises UsageError that names the file and what is wrong in it.
    """
    from castwise.catalog import toml  # most programs load none

    return toml.load_dialect(path, dialect_named)


def dialect_definition(dialect: Dialect) -> str | dict[str, Any]:
    """What a dialect can be restored from: its name, or the whole content of a custom one."""
    from castwise.catalog import toml

    content = toml.dialect_content(dialect)
    try:
        is_known = toml.dialect_content(dialect_named(dialect.name)) == content
    except UsageError:
        is_known = False
    return dialect.name if is_known else content


def defined_dialect(given: str | dict[str, Any]) -> Dialect:
    """The dialect of a definition.

    Raises UsageError for an unknown name, or naming what is wrong in it.
    """
    from castwise.catalog import toml

    if isinstance(given, str):
        return dialect_named(given)
    return toml.dialect_from(given, dialect_named)


def _pickled(dialect: Dialect) -> tuple[Callable[..., Dialect], tuple[Any, ...]]:
    """How to pickle a dialect: by name where the catalogue has it, else with all its fields, such
    as one from a file."""
    if _is_named_dialect(dialect):
        return dialect_named, (dialect.name,)
    return _restored, ({f.name: getattr(dialect, f.name) for f in fields(Dialect)},)


def _restored(given: dict[str, Any]) -> Dialect:
    """The dialect that was pickled, or the equal one that this process already has."""
    return shared(Dialect(**given))


def _is_named_dialect(dialect: Dialect) -> bool:
    try:
        # Of a framework that the catalogue lacks, the name could be that of a file.
        is_known = bool(_framework_dialects(dialect.framework))
        return is_known and dialect_named(dialect.name) is dialect
    except UsageError:
        return False


copyreg.pickle(Dialect, _pickled)  # here, because only the catalogue knows what a name means


# The dialect of a question that names none: what `use`, `set_default` or the environment chose.

DEFAULT = "numpy"
STANDARD = "array-api"  # the dialect of castwise.array_api outside of `use`
VARIABLE = "CASTWISE_DIALECT"  # the environment variable that names the default of a process
# What `use` chose; None outside every block.
chosen_dialect: ContextVar[Dialect | None] = ContextVar("castwise dialect", default=None)
# What `set_default` or the environment chose: one entry, or none before the first use.
process_default: list[Dialect | None] = []
_forgetting: list[Callable[[], None]] = []


def to_dialect(chosen: str | Dialect | None) -> Dialect:
    """The dialect itself, the one of a name, or the current one for None."""
    if chosen is None:
        chosen = chosen_here() or DEFAULT
    if isinstance(chosen, str):
        return dialect_named(chosen)
    if isinstance(chosen, Dialect):
        return checked(chosen)
    raise UsageError(f"a dialect is a name or a Dialect, not a {type(chosen).__name__}.")


@functools.lru_cache(maxsize=512)
def checked(dialect: Dialect) -> Dialect:
    """The dialect itself, after a check that it is well formed.

    Raises UsageError where it is not.
    """
    check(dialect)
    return dialect


class use(ContextDecorator):  # noqa: N801 -- written like the function it reads as
    """Makes a dialect the default within the block, only for this thread or asyncio task.

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

    def _recreate_cm(self) -> use:  # ContextDecorator calls it once for each call
        self._is_used = True
        return use(self._dialect)

    def __del__(self) -> None:
        if not getattr(self, "_is_used", True):
            name = self._dialect.name
            warnings.warn(
                f"cw.use({name!r}) does nothing on its own: write `with cw.use({name!r}):`, or "
                f"cw.set_default({name!r}) for the whole process.",
                UserWarning,
                stacklevel=2,
            )


def set_default(dialect: str | Dialect | None) -> None:
    """Makes a dialect the default of the process, in every thread; None restores the first default.

    `use` takes precedence, and so does a tensor's own dialect. The environment variable
    CASTWISE_DIALECT sets the first default, which is `numpy` without it.

    >>> set_default("tensorflow:safe")
    >>> current().name
    'tensorflow:safe'
    >>> set_default(None)

    Raises UsageError for an unknown name.
    """
    process_default[:] = [] if dialect is None else [to_dialect(dialect)]
    for forget in _forgetting:
        forget()


def when_default_changes(forget: Callable[[], None]) -> None:
    """Registers a function that clears what was cached under the old default."""
    _forgetting.append(forget)


def chosen_here() -> Dialect | None:
    """The dialect that `use`, `set_default` or the environment chose; None where none did."""
    chosen = chosen_dialect.get()
    if chosen is not None:
        return chosen
    if not process_default:
        process_default.append(_environment_dialect())
    return process_default[0]


def _environment_dialect() -> Dialect | None:
    """The dialect that the environment variable names; None where it names none."""
    name = os.environ.get(VARIABLE)
    try:
        return to_dialect(name) if name else None
    except UsageError as error:
        raise UsageError(f"the environment variable {VARIABLE}: {error}") from None


def current() -> Dialect:
    """The current default dialect."""
    return to_dialect(None)


# The dialect that a loaded framework follows.

_OF_GPUS = ("cuda", "gpu")  # what modes that were recorded on a GPU are called


def loaded_dialect(framework: str, *, is_on_gpu: bool = False) -> Nearest:
    """The dialect of a framework's version and mode here, with a note where its version is not
    recorded and the nearest one answers. A framework that is not loaded counts as the newest."""
    name = loaded_name(framework)
    return nearest_on_gpu(name) if is_on_gpu else nearest_recorded(name)


@functools.lru_cache(maxsize=256)
def nearest_on_gpu(name: str) -> Nearest:
    """The same for arrays on a GPU: what was recorded there, if anything was in this mode."""
    on_cpu = nearest_recorded(name)
    framework, _, mode = name.partition(":")
    for device in _OF_GPUS:
        found = layers().get(
            f"{framework.partition('@')[0]}:{','.join(filter(None, (device, mode)))}"
        )
        if found:
            return Nearest(dialect_named(found.name), on_cpu.note)
    return on_cpu


@functools.lru_cache(maxsize=256)
def nearest_recorded(name: str) -> Nearest:
    """The recorded dialect that answers for a version and mode, such as torch@2.13.1+cpu."""
    try:
        return nearest_named(name)
    except UsageError:  # the version is not written in numbers, or the dialect has none
        framework, _, rest = name.partition("@")
        mode = rest.partition(":")[2]
        return nearest_named(f"{framework}:{mode}" if mode else framework)
