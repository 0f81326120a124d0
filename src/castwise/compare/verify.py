"""A dialect against the framework installed here, question by question: `castwise verify`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from castwise.conformance.differences import difference_at
from castwise.conformance.dtype_lists import dtypes_taken
from castwise.conformance.recorder import Cell, Recorder, cells, find_recorder, recorded_dialects
from castwise.engine.decide import decide
from castwise.engine.decision import Refusal
from castwise.engine.recorded.cells import question_of_cell
from castwise.engine.types import can_cast
from castwise.errors import UsageError, did_you_mean
from castwise.rules.catalog import nearest_named
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.cell_words import NO_KERNEL, OUT_OF_RANGE, REFUSED
from castwise.vocab.dtypes import DTYPES


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
    versions = recorder.versions()
    return Verification(
        chosen, recorder.name, versions, compared, listed, tuple(drift), dtypes, tuple(kernels)
    )


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
    for name in ops:
        known = recorder.scope.forms
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
        decision = decide(question_of_cell(cell.op, cell.form, cell.operands, chosen))
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
