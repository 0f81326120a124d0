"""A framework beside itself through a transformation: `castwise verify torch --through NAME`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version

from castwise.compare.verify import recorder_for
from castwise.conformance.grid import GridQuestion
from castwise.conformance.programs.speaker import Framework, find_speaker
from castwise.conformance.recorder import Recorder
from castwise.conformance.through.asking import FAILED, Through, asked_through, is_result
from castwise.conformance.through.reproduction import imports_of, reproduction
from castwise.conformance.through.transformation import (
    Transformation,
    UnsupportedError,
    find_transformation,
)
from castwise.conformance.through.values import ValuesAsked
from castwise.conformance.values.recorder import find_value_recorder
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.cell_words import NO_KERNEL

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
            kind = kind_of(found)
            if kind:
                line = _line(speaker, transformation, found)
                different.append(Difference(found, kind, line))
    return ThroughComparison(
        recorder.name,
        recorder.dialect,
        recorder.versions() | {name: version(name) for name in transformation.packages},
        transformation.name,
        count,
        len(asked) - len(possible),
        tuple(different),
        imports_of(speaker, transformation) if speaker else "",
    )


def kind_of(found: Through) -> str:
    """What differs; nothing where neither gives a result, whatever the reasons.

    >>> from castwise.conformance.grid import GridQuestion
    >>> question = GridQuestion("add", "operator", ("int32[3]", "1.5"))
    >>> kind_of(Through(question, "float32", "float64")), kind_of(Through(question, "!", "fails"))
    ('another dtype', '')
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


def _line(speaker: Framework | None, transformation: Transformation, found: Through) -> str | None:
    if speaker is None:
        return None
    shows_all = bool(found.dtypes)
    return reproduction(speaker, transformation, found.question, shows_all_dtypes=shows_all)


def _speaker(recorder: Recorder) -> Framework | None:
    """What writes calls in a framework's words; None for one that no programs are written in."""
    try:
        return find_speaker(recorder.name, recorder.dialect.partition(":")[2])
    except ValueError:
        return None
