"""What decisions tell, replayed by value in the framework installed here: `castwise verify
--values`.

A decision is a claim about values: each operand is cast by hand as it is told, the same op runs on
those, and the bits are compared with what the op gives of the operands as they are.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from cmath import isfinite
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple

from castwise.catalog import dialect_named, to_dialect
from castwise.comparing.evaluating import Asked, wrong_element, wrong_total
from castwise.comparing.verify import difference_at, listed_lines, recorder_for
from castwise.conformance.apart import Lost, done_apart
from castwise.conformance.programs import Framework, array_text, number_text
from castwise.conformance.questions import NUMPY_DTYPES, REDUCTIONS, SCANS, GridQuestion
from castwise.conformance.recorder import ValueRecorder
from castwise.conformance.recorders import find_speaker, find_transformation, find_value_recorder
from castwise.conformance.replays import (
    Case,
    Given,
    cases_of,
    cast_by_hand,
    cast_here,
    live,
    number_as,
    replayed_questions,
)
from castwise.conformance.transformations import ValuesThrough, call_text, is_spelled, sampled
from castwise.conformance.values import Held
from castwise.engine.decide import Term, decide, parse_program
from castwise.engine.decision import Decision, Refusal
from castwise.engine.recorded import cell_question
from castwise.errors import CastwiseError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import EXACT, dtype
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED, given_by_name, parse_scalar
from castwise.vocab.ops import SYMBOLS, op_of_symbol

# What can differ, with what it means.
KINDS = {
    "values": "the casts that are told give other bits than the op does",
    "compute": "the op does not compute in the dtype that is told",
    "number": "a Python number is not read in the dtype that is told",
    "dtype": "the result has another dtype",
    "refusal": "one of the two refuses it",
}


class Finding(NamedTuple):
    """A case in which a decision does not tell what the framework does."""

    kind: str  # one of KINDS
    question: GridQuestion
    case: Case
    given: str  # what the framework computes, or its error
    told: str  # what comes of the casts by hand, or of the evaluator
    casts: tuple[str, ...] = ()  # by operand: what it is cast to, "" where it is not cast
    compute: str = ""
    result: str = ""
    program: str = ""


class Judged(NamedTuple):
    """What was found about one question."""

    question: GridQuestion
    is_replayed: bool = False
    is_evaluated: bool = False
    finding: Finding | None = None
    shown: int = 0  # operands without a cast that are shown to be read as told
    not_shown: tuple[str, ...] = ()  # those that no value shows it of
    is_lost: bool = False  # the framework ended its process, in this call or that by hand


class Ran(NamedTuple):
    """What a call gave: what its result holds, or an error; neither where nothing can be told."""

    held: Held | None = None
    error: str = ""  # a refusal as recorders write it, or "?" and the error

    @property
    def is_result(self) -> bool:
        return self.held is not None

    def __str__(self) -> str:
        return str(self.held) if self.held else self.error


class Judge:
    """Replays questions in one framework."""

    def __init__(self, dialect: str | Dialect, recorder: ValueRecorder, seed: int = 0) -> None:
        self._dialect, self._recorder, self._seed = to_dialect(dialect), recorder, seed
        self._known: dict[object, Decision | Refusal] = {}

    def judged(self, question: GridQuestion) -> Judged:
        """What all cases of a question show: the first that differs, and what none shows."""
        is_replayed = is_evaluated = False
        read: dict[str, bool] = {}
        replays = []
        for case in cases_of(question, self._seed).cases:
            replay = _Replay(self._recorder, self._decided, question, case)
            finding = replay.finding()
            if replay.is_refused:
                return Judged(question)
            is_replayed = is_replayed or replay.is_replayed
            is_evaluated = is_evaluated or replay.is_evaluated
            if finding is not None:
                found = self._smallest(finding)
                return Judged(question, True, is_evaluated, found)
            replays.append(replay)
            for what, is_shown in replay.read_as_told():
                read[what] = read.get(what, False) or is_shown
        computed = [(replay, each) for replay in replays if (each := replay.asked())]
        wrong = wrong_total([asked for _, asked in computed]) if computed else None
        if wrong and wrong[1]:
            return Judged(question, True, True, computed[wrong[0]][0].wrong_compute(wrong[1]))
        is_evaluated = is_evaluated or wrong is not None
        not_shown = tuple(what for what, is_shown in read.items() if not is_shown)
        return Judged(
            question, is_replayed, is_evaluated, None, len(read) - len(not_shown), not_shown
        )

    def _decided(self, question: GridQuestion, case: Case) -> Decision | Refusal | None:
        """What castwise answers; None where it makes no sense to ask."""
        try:
            asked = cell_question(*question[:2], tuple(map(str, case)), self._dialect)
            key = asked.key
            if key not in self._known:
                if len(self._known) > _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = decide(asked)
            return self._known[key]
        except Refusal as refusal:
            self._known[key] = refusal
            return refusal
        except CastwiseError:
            return None

    def _smallest(self, finding: Finding) -> Finding:
        """The same difference in one element, where one is enough."""
        lengths = {given.held.shape for given in finding.case if given.held.shape}
        is_shaped = "out" in given_by_name(finding.question.form)  # what is written into has three
        if is_shaped or len(lengths) != 1 or len(next(iter(lengths))) != 1:
            return finding
        ((count,),) = lengths
        for place in range(count):
            case = tuple(_element(given, place) for given in finding.case)
            replay = _Replay(self._recorder, self._decided, finding.question, case)
            found = replay.finding()
            if found is not None and found.kind == finding.kind:
                return found
        return finding


def _element(given: Given, place: int) -> Given:
    held = given.held
    if not held.shape:
        return given
    return given._replace(held=Held(held.dtype, (1,), (held.values[place],)))


_MOST_KNOWN = 5000  # decisions, most of which are asked for a few times in a row
Decide = Callable[[GridQuestion, Case], Decision | Refusal | None]


class _Replay:
    """One case of a question."""

    def __init__(
        self, recorder: ValueRecorder, decide: Decide, question: GridQuestion, case: Case
    ) -> None:
        self._recorder, self._decide = recorder, decide
        self._question, self._case = question, case
        self.is_replayed = self.is_evaluated = False
        self.is_refused = False  # by both, for the dtypes
        self._decision: Decision | None = None
        self._direct = Ran()
        # What out= writes is cast by hand: the function gives what is cast.
        is_out = list(given_by_name(question.form)) == ["out"]
        self._form = "function" if is_out else question.form
        if question.form == "augmented" and (case[0].is_scalar or case[0].is_number):
            self._form = "operator"  # the name is bound to a new array

    def finding(self) -> Finding | None:
        """In what the framework differs from what is told, if it does."""
        self._direct = direct = self._run(self._question.form, self._live())
        if not direct.is_result and direct.error[:1] in ("", "?"):
            return None
        decided = self._decide(self._question, self._case)
        if decided is None:
            return None
        if isinstance(decided, Refusal):
            if not direct.is_result:
                self.is_refused = not decided.by_value and direct.error == REFUSED
                return None
            told = OUT_OF_RANGE if decided.by_value else REFUSED
            return Finding("refusal", self._question, self._case, str(direct), told)
        if not decided.has_kernel:
            return None
        self._decision = decided
        self.is_replayed = True
        by_hand = self._by_hand()
        if not direct.is_result:
            return None if not by_hand.is_result else self._found("refusal", by_hand)
        assert direct.held is not None
        if str(direct.held.dtype).rstrip("*") != str(decided.result):
            return self._found("dtype", Ran(None, str(decided.result)))
        if not _same(direct, by_hand) and not self._computes_otherwise():
            return self._found("values", by_hand)
        return self._number_finding() or self._compute_finding()

    def _computes_otherwise(self) -> bool:
        """Whether the op computes what is cast by hand in another dtype than what it casts itself.
        Then only the evaluator can tell."""
        decision = self._decision
        assert decision is not None
        case = tuple(
            given._replace(held=given.held._replace(dtype=str(cast.target)))
            if cast and not given.is_number
            else given
            for given, cast in zip(self._case, decision.casts, strict=True)
        )
        if case == self._case or decision.program or not decision.question.named.dtype:
            return False
        by_hand = self._decide(self._question, case)
        return isinstance(by_hand, Decision) and by_hand.compute is not decision.compute

    def read_as_told(self) -> Iterator[tuple[str, bool]]:
        """Each operand that is not cast though its dtype is not the compute dtype, and whether this
        case shows it: a cast would change bits. One that loses nothing never would."""
        decision = self._decision
        if decision is None or not self._direct.is_result or decision.program:
            return
        apart = decision.question.op.apart(decision.question.operands)
        for at, (given, cast) in enumerate(zip(self._case, decision.casts, strict=True)):
            if cast is not None or at == apart:
                continue
            targets = self._read_targets(decision, at)
            if targets:
                kind = f"{given.held.dtype} " if given.held.dtype else ""
                what = f"{at}: {kind}{given.role}, not {'/'.join(targets)}"
                yield what, any(self._is_changed(at, target) for target in targets)

    def _read_targets(self, decision: Decision, at: int) -> list[str]:
        """The dtypes to which an operand is not cast, and to which a cast would lose something."""
        own = self._case[at].held.dtype
        if decision.compute is not EXACT:
            targets = [] if own is None else [str(decision.compute)]
        else:
            others = [given.held.dtype for place, given in enumerate(self._case) if place != at]
            targets = [name for name in dict.fromkeys(others) if name]
        return [each for each in targets if own is None or not dtype(each).holds(dtype(own))]

    def _is_changed(self, at: int, target: str) -> bool:
        operands = self._told_operands()
        operands[at] = self._cast(self._case[at], operands[at], target)
        return not _same(self._direct, self._finished(self._run(self._form, operands)))

    # The parts of a replay.

    def _live(self) -> list[Any]:
        return [live(self._recorder, given) for given in self._case]

    def _run(self, form: str, operands: Sequence[Any]) -> Ran:
        return self._ran(lambda: self._recorder.compute(self._question.op, form, operands))

    def _ran(self, call: Callable[[], Any]) -> Ran:
        try:
            result = call()
            return Ran(None if result is None else self._recorder.held_by(result))
        except Exception as error:  # whatever a framework raises is an answer to judge
            lacks_kernel = getattr(self._recorder, "lacks_kernel", lambda error: False)
            answer = None if lacks_kernel(error) else self._recorder.classify(error)
            is_answer = answer is not None and answer.startswith("!")
            return Ran(None, answer if is_answer and answer else f"?{type(error).__name__}")

    def _by_hand(self) -> Ran:
        """What comes of the casts that are told."""
        assert self._decision is not None
        program = self._decision.program
        if program:
            return self._finished(self._ran(lambda: self._evaluated(program)))
        try:
            operands = self._told_operands()
        except Exception as error:  # a cast that the framework does not have
            return Ran(None, f"?{type(error).__name__}")
        ran = self._finished(self._run(self._form, operands))
        if any(given.is_scalar for given in self._case) and not _same(self._direct, ran):
            # The kernels for numbers and for arrays differ in the last place, or one is missing.
            as_scalars = self._finished(self._run(self._form, self._told_operands(keeps=True)))
            ran = as_scalars if as_scalars.is_result else ran
        if ran.is_result or self._decision.compute is EXACT:
            return ran
        # With a number beside it, an array may count for less than among arrays.
        operands = self._told_operands(numbers_in=str(self._decision.compute))
        return self._finished(self._run(self._form, operands))

    def _told_operands(self, numbers_in: str = "", *, keeps: bool = False) -> list[Any]:
        """The operands, cast as told; numbers that are not cast, in a dtype if one is named. A
        NumPy scalar becomes an array, or stays one where it can."""
        assert self._decision is not None
        operands = []
        for given, cast in zip(self._case, self._decision.casts, strict=True):
            target = str(cast.target) if cast else numbers_in if given.is_number else ""
            held = live(self._recorder, given)
            if keeps and given.is_scalar and target in NUMPY_DTYPES:
                operands.append(held.astype(target))
            else:
                operands.append(self._cast(given, held, target) if target else held)
        return operands

    def _cast(self, given: Given, held: Any, target: str) -> Any:
        return cast_by_hand(self._recorder, given, held, target)

    def _finished(self, ran: Ran) -> Ran:
        """A result cast to the dtype that is told."""
        assert self._decision is not None
        result = str(self._decision.result)
        held = ran.held
        if held is None or str(held.dtype).rstrip("*") == result:
            return ran
        return self._ran(lambda: self._recorder.cast(self._recorder.hold(held), result))

    def _evaluated(self, program: str) -> Any:
        """A program's result, each step of it by the framework."""
        named = dict(zip("xyz", self._told_operands(), strict=False))
        held = self._case[0].held
        count = held.shape[0] if len(held.shape) > 1 else len(held.values)
        named["n"] = number_as(self._recorder, count, "int64")  # how many it averages
        foreign = {
            name: given.held
            for name, given in zip("xyz", self._case, strict=False)
            if given.is_numpy
        }
        return evaluated(self._recorder, parse_program(program), named, foreign)

    def _number_finding(self) -> Finding | None:
        """A number without a cast that is not read in the compute dtype."""
        decision = self._decision
        assert decision is not None
        if decision.compute is EXACT or decision.program:
            return None
        if decision.compute.kind == "complex":  # a complex number of a real one is another sum
            return None
        apart = decision.question.op.apart(decision.question.operands)
        for at, (given, cast) in enumerate(zip(self._case, decision.casts, strict=True)):
            if not given.is_number or cast is not None or at == apart:
                continue
            operands = self._told_operands()
            target = str(decision.compute)
            operands[at] = self._cast(given, None, target)
            ran = self._finished(self._run(self._form, operands))
            if ran.is_result and not _same(_unsigned(self._direct), _unsigned(ran)):
                casts = [str(cast.target) if cast else "" for cast in decision.casts]
                casts[at] = target
                return self._found("number", ran)._replace(casts=tuple(casts))
        return None

    def _compute_finding(self) -> Finding | None:
        """An element that is not what the op gives in the dtype that is told."""
        asked = self.asked()
        wrong = wrong_element(asked) if asked else None
        self.is_evaluated = wrong is not None
        return self.wrong_compute(wrong) if wrong else None

    def asked(self) -> Asked | None:
        """What an evaluator needs to know; None where the framework computed nothing."""
        if self._decision is None or self._direct.held is None or self._decision.program:
            return None
        return Asked(self._decision, self._question.form, self._case, self._direct.held)

    def wrong_compute(self, why: str) -> Finding:
        """The finding that an evaluator made."""
        return self._found("compute", Ran(None, why))

    def _found(self, kind: str, told: Ran) -> Finding:
        decision = self._decision
        assert decision is not None
        casts = tuple(str(cast.target) if cast else "" for cast in decision.casts)
        return Finding(
            kind, self._question, self._case, str(self._direct), str(told), casts,
            str(decision.compute), str(decision.result), decision.program,
        )  # fmt: skip


_SYMBOL_OPS = {symbol for symbol, _ in SYMBOLS}


def evaluated(
    recorder: ValueRecorder,
    term: Term,
    named: Mapping[str, Any],
    foreign: Mapping[str, Held] = MappingProxyType({}),
) -> Any:
    """What a program of a decision computes, with the framework's own ops. The foreign arrays among
    the operands become its own where they are cast."""
    if isinstance(term, str):
        return named[term] if term in named else parse_scalar(term)
    name, arguments = term
    if name == "cast":
        source, target = arguments[0], str(arguments[1])
        if isinstance(source, str) and source in foreign:
            return recorder.hold(cast_here(foreign[source], target))
        found = evaluated(recorder, source, named, foreign)
        is_number = type(found) in _WIDE  # NumPy's float64 is a float too
        return number_as(recorder, found, target) if is_number else recorder.cast(found, target)
    given = [evaluated(recorder, argument, named, foreign) for argument in arguments]
    if name == "count":
        held = recorder.held_by(given[0])
        assert held is not None
        return math.prod(held.shape)
    if name == "array":
        return given[0]
    if name in _SYMBOL_OPS:
        return recorder.compute(op_of_symbol(name, len(given)).name, "operator", given)
    form = "inplace" if name.endswith("_") else "function"
    return recorder.compute(name.rstrip("_"), form, given)


# Whether two results have the same bits.


def _same(one: Ran, other: Ran) -> bool:
    if one.held is None or other.held is None:
        return one.held is other.held
    return same_bits(one.held, other.held)


def _unsigned(ran: Ran) -> Ran:
    """A result without the sign of zeros, in which kernels for numbers and for arrays differ."""
    if ran.held is None or isinstance(ran.held.values[0], bool):
        return ran
    return ran._replace(held=ran.held._replace(values=tuple(v + 0 for v in ran.held.values)))


def same_bits(one: Held, other: Held) -> bool:
    """Whether two arrays hold the same, NaNs of any payload being equal.

    >>> same_bits(Held("float32", (), (0.0,)), Held("float32", (), (-0.0,)))
    False
    """
    if one.shape != other.shape or str(one.dtype).rstrip("*") != str(other.dtype).rstrip("*"):
        return False
    return _bits(one.values) == _bits(other.values)


def _bits(values: Sequence[Any]) -> object:
    if not values or isinstance(values[0], int):  # bools too
        return values
    if isinstance(values[0], complex):
        # Which of the parts of an infinite or undefined number are so is left open.
        known = [value if isfinite(value) else complex(nan, nan) for value in values]
        values = [part for value in known for part in (value.real, value.imag)]
    plain = [value if value == value else nan for value in values]
    return struct.pack(f"{len(plain)}d", *plain)


# A finding as lines of Python, to paste and to report.

_WIDE = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def example_lines(finding: Finding, speaker: Framework | None) -> tuple[str, ...]:
    """The call as it is, and the one with the casts by hand, as expressions; none where nobody
    writes the framework's calls."""
    if speaker is None or not is_spelled(speaker, finding.question):
        return ()
    words = [_word(speaker, given) for given in finding.case]
    plain = _call(speaker, finding.question, words)
    if finding.program or finding.kind in ("compute", "dtype"):
        return (plain,)
    by_hand = [
        _cast_word(speaker, given, word, target) if target else word
        for given, word, target in zip(finding.case, words, finding.casts, strict=False)
    ]
    if not by_hand:
        return (plain,)
    question = finding.question
    if list(given_by_name(question.form)) == ["out"]:
        question = question._replace(form="function")
    told = _call(speaker, question, by_hand)
    return plain, speaker.cast(f"({told})", finding.result)


def _word(speaker: Framework, given: Given) -> str:
    if given.is_number:
        text = number_text(given.held.values[0])
        return f"({text})" if text.startswith("-") else text
    if given.is_scalar:
        return f"np.{given.held.dtype}({number_text(given.held.values[0])})"
    if given.is_numpy:
        return array_text(given.held, "np.zeros", "np.array", repr(given.held.dtype))
    return speaker.array(given.held)


def _cast_word(speaker: Framework, given: Given, word: str, target: str) -> str:
    if given.is_number:
        wide = _WIDE[type(given.held.values[0])]
        return speaker.cast(speaker.array(given.held._replace(dtype=wide)), target)
    if given.is_numpy:
        return f"{word}.astype({target!r})"
    return speaker.cast(word, target)


def _call(speaker: Framework, question: GridQuestion, words: list[str]) -> str:
    """The call, with what is given by name at its end."""
    named = given_by_name(question.form)
    if not named:
        return call_text(speaker, question, words)
    call = call_text(speaker, question._replace(form="function"), words)
    more = [f"{k}={_named_word(speaker, question.op, k, v)}" for k, v in named.items()]
    return f"{call.removesuffix(')')}, {', '.join(more)})"


def _named_word(speaker: Framework, op: str, name: str, value: str) -> str:
    if name == "out":
        is_one = op in REDUCTIONS and op not in SCANS
        return speaker.array(Held(value, () if is_one else (3,), (0,) if is_one else (0, 0, 0)))
    if name == "dtype":  # as an explicit cast names it
        found = re.search(rf"[\"'\w.]*{value}[\"'\w]*", speaker.cast("x", value))
        return found[0] if found else repr(value)
    return repr(value) if name in ("casting", "rounding_mode") else value


# All questions, and the classes of what differs.


@dataclass(frozen=True, slots=True)
class Class:
    """Cells that differ alike."""

    kind: str
    op: str
    form: str
    sorts: tuple[str, ...]  # role and kind of each operand
    count: int
    example: Finding
    reason: str = ""  # where it is a listed difference


@dataclass(frozen=True, slots=True)
class Replay:
    """What replaying a dialect's decisions found."""

    dialect: str
    framework: str
    versions: dict[str, str]
    asked: int
    replayed: int
    evaluated: int
    shown: int
    classes: tuple[Class, ...]  # the largest first
    listed: tuple[Class, ...]
    not_shown: dict[tuple[str, str], int]  # by op, form and operand
    lost: tuple[GridQuestion, ...]  # the framework ended its process
    not_evaluated: tuple[str, ...]  # the ops of which no evaluator knows what they compute

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but what is listed."""
        return not self.classes

    @property
    def differing(self) -> int:
        """How many cells differ."""
        return sum(each.count for each in self.classes)


class Part(NamedTuple):
    """What is replayed; another process makes the same of it."""

    dialect: str
    framework: str
    mode: str = ""
    ops: tuple[str, ...] = ()  # empty: all
    sample: int | None = None
    seed: int = 0

    through: str = ""  # the compiler that makes the calls, where the dialect is that of one

    def recorder(self) -> ValueRecorder:
        """What runs the framework."""
        recorder = find_value_recorder(self.framework, self.mode)
        if not self.through:
            return recorder
        return ValuesThrough(recorder, find_transformation(self.framework, self.through))

    def questions(self) -> list[GridQuestion]:
        """What is asked."""
        recorder = self.recorder()
        every = replayed_questions(recorder.scope, recorder.dtypes, self.ops or None)
        return sampled(every, self.sample)


def replay(
    part: Part,
    asked: Sequence[GridQuestion],
    on_question: Callable[[object], object] | None = None,
) -> Replay:
    """Replays a dialect's decisions, in a process that the framework may end."""

    def judged() -> Iterator[Judged]:
        work = functools.partial(_judging, part, tuple(asked))
        for question, found in zip(asked, done_apart(work, len(asked)), strict=True):
            if on_question is not None:
                on_question(question)
            yield _lost(question) if isinstance(found, Lost) else found

    return summed(to_dialect(part.dialect), part.recorder(), len(asked), judged())


# How a dialect that was recorded of compiled functions says so.
_THROUGH = re.compile(r" through (\S+)$")


def replayed_part(
    dialect: Dialect, ops: Iterable[str] = (), sample: int | None = None, seed: int = 0
) -> tuple[Part, list[GridQuestion]]:
    """What to replay of a dialect, and its questions.

    Raises UsageError where the framework is not installed, or its values are not recorded.
    """
    through = _THROUGH.search(dialect.evidence.source)
    base = dialect_named(dialect.framework) if through else dialect
    asking = recorder_for(base, ops)
    mode = asking.dialect.partition(":")[2]
    name = through[1] if through else ""
    part = Part(dialect.name, asking.name, mode, tuple(ops), sample, seed, name)
    try:
        return part, part.questions()
    except ValueError as error:
        raise UsageError(f"--values: {error}") from None


def speaker_of(part: Part) -> Framework | None:
    """What writes calls in the framework's words; None where no programs are written in it."""
    try:
        return find_speaker(part.framework, part.mode)
    except ValueError:
        return None


@contextmanager
def _judging(part: Part, asked: Sequence[GridQuestion]) -> Iterator[Callable[[int], Judged]]:
    recorder = part.recorder()
    judge = Judge(part.dialect, recorder, part.seed)
    with recorder.session():
        yield lambda place: judge.judged(asked[place])


def _lost(question: GridQuestion) -> Judged:
    return Judged(question, is_lost=True)


def replay_here(
    dialect: str | Dialect,
    recorder: ValueRecorder,
    asked: Sequence[GridQuestion],
    seed: int = 0,
) -> Replay:
    """Replays questions in this process."""
    judge = Judge(dialect, recorder, seed)
    with recorder.session():
        found = [judge.judged(question) for question in asked]
    return summed(to_dialect(dialect), recorder, len(asked), found)


def summed(
    dialect: Dialect, recorder: ValueRecorder, asked: int, judged: Iterable[Judged]
) -> Replay:
    """What all questions show, in classes."""
    replayed = evaluated_count = shown = 0
    found: dict[object, Class] = {}
    not_shown: dict[tuple[str, str], int] = {}
    by_op: dict[str, bool] = {}
    lost = []
    for one in judged:
        replayed += one.is_replayed or one.finding is not None
        evaluated_count += one.is_evaluated
        shown += one.shown
        if one.is_lost:
            lost.append(one.question)
        if one.is_replayed:
            by_op[one.question.op] = by_op.get(one.question.op, False) or one.is_evaluated
        for what in one.not_shown:
            key = (one.question.op, what)
            not_shown[key] = not_shown.get(key, 0) + 1
        if one.finding is not None:
            reason = _reason(dialect, one.finding)
            new = _class_of(one.finding, reason)
            key_of = (new.kind, new.op, new.form, new.sorts, reason)
            before = found.get(key_of)
            found[key_of] = replace(before, count=before.count + 1) if before else new
    ordered = sorted(found.values(), key=lambda each: -each.count)
    return Replay(
        dialect.name, recorder.name, recorder.versions(), asked, replayed, evaluated_count, shown,
        tuple(each for each in ordered if not each.reason),
        tuple(each for each in ordered if each.reason),
        not_shown,
        tuple(lost),
        tuple(op for op, is_evaluated in by_op.items() if not is_evaluated),
    )  # fmt: skip


class ListedReplay(NamedTuple):
    """Cells that are expected to differ, and why. All but the reason are regular expressions that
    match the whole."""

    dialect: str
    kind: str
    op: str
    form: str
    operands: str  # as the grid writes them, joined by ;
    reason: str


@functools.cache
def listed_replays() -> tuple[ListedReplay, ...]:
    """All of them, in the order of the files."""
    return tuple(ListedReplay(*line) for line in listed_lines("values"))


def listed_replay_at(dialect: str, finding: Finding) -> ListedReplay | None:
    """The listed difference that a finding is, if it is one."""
    op, form, operands = finding.question
    found = (dialect, finding.kind, op, form, ";".join(operands))
    for listed in listed_replays():
        if all(re.fullmatch(p, text) for p, text in zip(listed[:5], found, strict=True)):
            return listed
    return None


def _reason(dialect: Dialect, finding: Finding) -> str:
    """Why a finding is expected, among cells of dtypes or those of values; "" if it is not."""
    of_dtypes = finding.kind in ("dtype", "refusal")
    of_cells = difference_at(dialect.name, *finding.question) if of_dtypes else None
    listed = of_cells or listed_replay_at(dialect.name, finding)
    return listed.reason if listed else ""


def _class_of(finding: Finding, reason: str) -> Class:
    question = finding.question
    sorts = tuple(f"{_kind(given)} {given.role}" for given in finding.case)
    form = question.form.partition("=")[0]
    return Class(finding.kind, question.op, form, sorts, 1, finding, reason)


@functools.cache
def _kind_of_dtype(name: str) -> str:
    if name in ("float16", "bfloat16"):
        return "half"
    return name.rstrip("0123456789")


def _kind(given: Given) -> str:
    if given.held.dtype is None:
        return type(given.held.values[0]).__name__
    return _kind_of_dtype(given.held.dtype)
