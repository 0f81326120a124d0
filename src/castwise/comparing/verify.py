"""A dialect against the framework installed here, question by question: `castwise verify`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from typing import NamedTuple

from castwise.catalog import nearest_named, to_dialect
from castwise.conformance.programs import Framework
from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import Cell, Recorder, cells, dtypes_taken
from castwise.conformance.recorders import (
    find_recorder,
    find_speaker,
    find_transformation,
    find_value_recorder,
    recorded_dialects,
)
from castwise.conformance.transformations import (
    FAILED,
    Through,
    Transformation,
    UnsupportedError,
    ValuesAsked,
    asked_through,
    is_result,
    needed_imports,
    reproduction,
)
from castwise.engine.ask import can_cast
from castwise.engine.decide import decide
from castwise.engine.decision import Refusal
from castwise.engine.recorded import cell_question
from castwise.errors import UsageError, did_you_mean
from castwise.rules.dialect import Dialect
from castwise.rules.values import architecture
from castwise.vocab.dtypes import DTYPES
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED


class Drift(NamedTuple):
    """A cell that the framework answers differently from castwise."""

    cell: Cell
    answer: str  # what castwise says


class UnequalDtypes(NamedTuple):
    """Where the list of a dialect's dtypes is not what its framework takes."""

    missing: tuple[str, ...] = ()  # the framework takes them, and the dialect lacks them
    not_taken: tuple[str, ...] = ()  # the dialect has them, and the framework does not take them


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of asking a framework about everything in its dialect."""

    dialect: Dialect
    framework: str
    versions: dict[str, str]
    compared: int
    listed: int  # answers that differ on purpose, each with a reason in differences.tsv
    drift: tuple[Drift, ...]
    dtypes: UnequalDtypes
    kernels: tuple[Drift, ...] = ()  # the same dtype, which only one of the two runs

    @property
    def agrees(self) -> bool:
        """Whether no answer differs and no dtype is missing; a dialect may know less of kernels."""
        return not self.drift and not self.dtypes.missing


def verify(
    dialect: str | Dialect,
    recorder: Recorder,
    ops: Iterable[str] | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Verification:
    """Asks the installed framework and compares each answer with the engine's, and where all ops
    are asked, the list of its dtypes with the dialect's."""
    chosen = to_dialect(dialect)
    compared, listed, drift, kernels = 0, 0, list[Drift](), list[Drift]()
    for cell in cells(recorder, ops, on_question):
        compared += 1
        said = answer_for(cell, chosen)
        if _agree(cell.answer, said):
            if not run_alike(cell.answer, said):
                kernels.append(Drift(cell, said))
        elif difference_at(chosen.name, cell.op, cell.form, cell.operands):
            listed += 1
        else:
            drift.append(Drift(cell, said))
    dtypes = UnequalDtypes() if ops else unequal_dtypes(chosen, recorder)
    found = compared, listed, tuple(drift), dtypes, tuple(kernels)
    return Verification(chosen, recorder.name, recorder.versions(), *found)


def unequal_dtypes(dialect: Dialect, recorder: Recorder) -> UnequalDtypes:
    """Which dtypes the installed framework takes and the dialect lacks, and the other way round.

    Without a function that tells, nothing is found.
    """
    promoted = dtypes_taken(recorder, [known.name for known in DTYPES])
    if not promoted:
        return UnequalDtypes()
    own = [known.name for known in dialect.dtypes]
    return UnequalDtypes(
        tuple(name for name in promoted if name not in own),
        tuple(name for name in own if name not in promoted),
    )


def recorder_for(dialect: Dialect, ops: Iterable[str] = ()) -> Recorder:
    """The recorder that asks the framework of a dialect, in its mode.

    Raises UsageError where there is none, the framework is not installed, or it lacks an op.
    """
    try:
        recorded = recorded_dialects(dialect.framework)
        is_release = bool(dialect.evidence.layers and dialect.version)
        if dialect.name not in recorded and not is_release:
            raise ValueError(_not_recorded(dialect, recorded))
        recorder = find_recorder(dialect.framework, dialect.mode)
    except ImportError as error:
        raise UsageError(
            f"{dialect.name} cannot be verified: {error.name} is not installed."
            f" Install it first: the dialect is {dialect.evidence.source}."
        ) from None
    except ValueError as error:
        raise UsageError(f"{dialect.name} cannot be verified: {error}") from None
    installed = _release_of(recorder) if is_release else recorder.dialect
    if installed != dialect.name:
        raise UsageError(
            f"{dialect.name} cannot be verified: the {recorder.name} installed here has the dialect"
            f" {installed}."
        )
    known = recorder.scope.forms
    for name in ops:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"{recorder.name} has no recorded op {name!r}.{hint}")
    return recorder


def _release_of(recorder: Recorder) -> str:
    """The dialect of the release that a recorder asks."""
    framework, colon, mode = recorder.dialect.partition(":")
    release = f"{framework.partition('@')[0]}@{recorder.versions()['version']}"
    return nearest_named(f"{release}{colon}{mode}").dialect.name


def _not_recorded(dialect: Dialect, recorded: tuple[str, ...]) -> str:
    """The message for a dialect of a document or a variation, which no framework implements."""
    *others, last = recorded
    instead = f"{', '.join(others)} or {last}" if others else last
    return (
        f"no installed framework implements it. Evidence: {dialect.evidence.source}."
        f" Verify {instead} instead, or compare: castwise diff {dialect.name} {recorded[0]}"
    )


def agrees(cell: Cell, dialect: str | Dialect) -> bool:
    """Whether the engine answers a cell as the framework did.

    >>> agrees(Cell("add", "operator", ("int32[3]", "5.5"), "float32"), "torch")
    True
    """
    return _agree(cell.answer, answer_for(cell, dialect))


def answer_for(cell: Cell, dialect: str | Dialect) -> str:
    """What the engine answers to a cell, in the words of the cells.

    >>> answer_for(Cell("sub", "function", ("bool[3]", "bool[3]"), ""), "numpy")
    '!'
    """
    chosen = to_dialect(dialect)
    if cell.op == "can_cast":
        source, target = (operand.removesuffix("[3]") for operand in cell.operands)
        return "bool" if can_cast(source, target, dialect=chosen) else REFUSED
    try:
        decision = decide(cell_question(cell.op, cell.form, cell.operands, chosen))
    except Refusal as refusal:
        return OUT_OF_RANGE if refusal.by_value else REFUSED
    result = f"{decision.result}{'*' if decision.is_weak else ''}"
    return result if decision.has_kernel else f"{NO_KERNEL}:{result}"


def run_alike(recorded: str, said: str) -> bool:
    """Whether two answers that agree also say the same of the kernel.

    >>> run_alike("no-kernel:uint16", "uint16"), run_alike("!", "!range")
    (False, True)
    """
    return recorded.startswith(NO_KERNEL) == said.startswith(NO_KERNEL)


def _agree(recorded: str, said: str) -> bool:
    """Whether two answers agree: both refusals, or the same dtype, or neither runs.

    A framework without a kernel may not tell the dtype it promoted to.
    """
    if recorded.startswith(REFUSED) or said.startswith(REFUSED):
        return recorded[:1] == said[:1]
    if recorded == NO_KERNEL or (recorded.startswith(NO_KERNEL) and said.startswith(NO_KERNEL)):
        return True
    return recorded.removeprefix(f"{NO_KERNEL}:") == said.removeprefix(f"{NO_KERNEL}:")


# Where castwise deliberately differs from a framework, each with its reason: in cells, and in steps
# of random programs.


class DeliberateDifference(NamedTuple):
    """A set of cells and why castwise answers them otherwise."""

    dialect: re.Pattern[str]
    op: re.Pattern[str]
    form: re.Pattern[str]
    operands: re.Pattern[str]
    recorded: int  # how many recorded cells there are of it
    reason: str


@functools.cache
def differences() -> tuple[DeliberateDifference, ...]:
    """All of them, in the order of the files."""
    found = []
    for *patterns, recorded, reason in listed_lines():
        dialect, op, form, operands = map(re.compile, patterns)
        found.append(DeliberateDifference(dialect, op, form, operands, int(recorded), reason))
    return tuple(found)


def listed_lines(about: str = "") -> Iterator[list[str]]:
    """The fields of each line of the files about cells, or of those about programs or values."""
    folder = resources.files("castwise.conformance").joinpath("listed_differences")
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.partition(".")[2] == f"{about}{'.' * bool(about)}tsv":
            for line in file.read_text("utf-8").splitlines():
                if not line.startswith("#"):
                    yield line.split("\t")


def difference_at(
    dialect: str, op: str, form: str, operands: Sequence[str]
) -> DeliberateDifference | None:
    """The deliberate difference a cell belongs to, if it belongs to one."""
    joined = ";".join(operands)
    for found in differences():
        if (
            found.op.fullmatch(op)
            and found.form.fullmatch(form)
            and found.operands.fullmatch(joined)
            and found.dialect.fullmatch(dialect)
        ):
            return found
    return None


class ListedDifference(NamedTuple):
    """Steps that are expected to differ, and why. All but the reason are regular expressions, which
    match the whole unless it is said otherwise."""

    dialect: str
    backend: str
    op: str
    form: str
    what: str
    operands: str  # without what arrays hold
    error: str  # found anywhere in what the one side raised
    machine: str
    reason: str


class FoundDifference(NamedTuple):
    """What a finding is looked up by."""

    dialect: str
    backend: str
    op: str
    form: str
    what: str
    operands: str
    error: str  # empty where neither side raised


@functools.cache
def listed_differences() -> tuple[ListedDifference, ...]:
    """All of them, in the order of the files."""
    return tuple(ListedDifference(*line) for line in listed_lines("programs"))


def listed_at(found: FoundDifference) -> ListedDifference | None:
    """The listed difference that a finding is, if it is one."""
    return next((listed for listed in listed_differences() if _is_listed_as(listed, found)), None)


def _is_listed_as(listed: ListedDifference, found: FoundDifference) -> bool:
    return (
        all(re.fullmatch(p, text) for p, text in zip(listed[:6], found[:6], strict=True))
        and re.search(listed.error, found.error) is not None
        and re.fullmatch(listed.machine, architecture()) is not None
    )


# A framework beside itself through a transformation: `castwise verify torch --through NAME`.

# What can differ, with what it means, the most surprising first.
KINDS = {
    "declared": "the result declares another dtype than it has",
    "another dtype": "both give a result, of different dtypes",
    "weak type": "the same dtype, weakly typed in only one of them",
    "values": "the same dtype, other bits",
    "taken": "the framework refuses it, and the transformed function takes it",
    "no kernel": "the framework takes it, and what runs the transformed function has no kernel",
    "refused": "the framework takes it, and the transformed function refuses it",
    "fails": "the framework takes it, and the transformation fails for another reason",
    "unsupported": "the framework takes it, and the transformation does not have this op",
    "kernel": "the framework has no kernel, and the transformed function runs",
}
NOT_ABOUT_DTYPES = ("unsupported", "kernel")
_UNSUPPORTED = f"{FAILED}:{UnsupportedError.__name__}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that is answered differently, and a line that shows it."""

    found: Through
    kind: str  # one of KINDS
    line: str | None  # the transformed call, as Python


@dataclass(frozen=True, slots=True)
class ThroughComparison:
    """What differs between a framework and itself through a transformation."""

    framework: str
    dialect: str
    versions: dict[str, str]
    through: str
    asked: int
    left_out: int  # questions that the transformation cannot be asked
    differences: tuple[Difference, ...]
    imports: str  # what the lines of the differences need

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but which ops and kernels there are."""
        return all(one.kind in NOT_ABOUT_DTYPES for one in self.differences)


def transformation_named(framework: str, name: str) -> Transformation:
    """The transformation of a name.

    Raises UsageError for one that is unknown or cannot be imported.
    """
    try:
        return find_transformation(framework, name)
    except (ImportError, ValueError) as error:
        raise UsageError(f"--through {name}: {error}") from None


def prepared(
    dialect: Dialect, through: str, ops: Iterable[str] = ()
) -> tuple[Recorder, Transformation]:
    """What asks the framework of a dialect, and the transformation of a name.

    Raises UsageError where one of them is not there. The transformation is made first: some need
    settings that a framework takes before it makes its first array.
    """
    try:
        transformation = transformation_named(dialect.framework, through)
    except UsageError:
        recorder_for(dialect, ops)  # that the framework is not there says more
        raise
    return recorder_for(dialect, ops), transformation


def recorder_of_values(recorder: Recorder, transformation: Transformation) -> ValuesAsked:
    """What asks a framework for values, where that makes sense.

    Raises UsageError where the transformation computes none, or none of the framework are recorded.
    """
    if not transformation.computes:
        raise UsageError(f"--values: {transformation.name} computes no values to compare.")
    try:
        values = find_value_recorder(recorder.name, recorder.dialect.partition(":")[2])
    except ValueError as error:
        raise UsageError(f"--values: {error}") from None
    return ValuesAsked(values, recorder.dialects)


def compare_through(
    recorder: Recorder,
    transformation: Transformation,
    asked: Sequence[GridQuestion],
    on_question: Callable[[object], object] | None = None,
) -> ThroughComparison:
    """Asks the framework, and the transformed function, and keeps what differs."""
    speaker = _speaker(recorder)
    possible = [question for question in asked if not transformation.leaves_out(question)]
    count, different = 0, list[Difference]()
    # Closed, so that what a transformation started ends here, whatever happens in this loop.
    with closing(asked_through(recorder, transformation, possible, on_question)) as answers:
        for found in answers:
            count += 1
            kind = difference_kind(found)
            if not kind:
                continue
            line = None
            if speaker:
                line = reproduction(
                    speaker, transformation, found.question, shows_all_dtypes=bool(found.dtypes)
                )
            different.append(Difference(found, kind, line))
    return ThroughComparison(
        recorder.name,
        recorder.dialect,
        recorder.versions() | {name: version(name) for name in transformation.packages},
        transformation.name,
        count,
        len(asked) - len(possible),
        tuple(different),
        needed_imports(speaker, transformation) if speaker else "",
    )


def difference_kind(found: Through) -> str:
    """What differs; nothing where neither gives a result, whatever the reasons.

    >>> from castwise.conformance.questions import GridQuestion
    >>> question = GridQuestion("add", "operator", ("int32[3]", "1.5"))
    >>> difference_kind(Through(question, "float32", "float64"))
    'another dtype'
    >>> difference_kind(Through(question, "!", "fails"))
    ''
    """
    plain, answer = found.plain, found.answer
    if found.dtypes:
        return "declared"
    if (not is_result(plain) and not is_result(answer)) or plain == answer:
        return ""
    if is_result(plain) and is_result(answer):
        return _kind_of_results(plain.partition("=")[0], answer.partition("=")[0])
    if is_result(plain):
        if answer == _UNSUPPORTED:
            return "unsupported"
        return _KINDS_OF_ANSWERS.get(answer.partition(":")[0], "refused")
    return "kernel" if plain in (NO_KERNEL, f"{NO_KERNEL}:{answer}") else "taken"


def _kind_of_results(plain: str, answer: str) -> str:
    if plain == answer:
        return "values"
    return "weak type" if plain.rstrip("*") == answer.rstrip("*") else "another dtype"


_KINDS_OF_ANSWERS = {FAILED: "fails", NO_KERNEL: "no kernel"}


def _speaker(recorder: Recorder) -> Framework | None:
    """What writes calls in a framework's words; None for one that no programs are written in."""
    try:
        return find_speaker(recorder.name, recorder.dialect.partition(":")[2])
    except ValueError:
        return None
