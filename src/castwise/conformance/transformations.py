"""What is asked of a framework through a transformation, and what answers come of it.

A transformation makes another function of a function: a compiler, an exporter, a tracer, a batcher,
or arrays on several devices. The same calls are made in the framework and in what it makes of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, NamedTuple

from castwise.conformance.programs import Framework, Step, expression
from castwise.conformance.questions import PLAIN, GridQuestion, Scope, questions, read_operand
from castwise.conformance.recorder import (
    AUGMENTED_OPERATORS,
    Header,
    NoKernelError,
    Recorder,
    ValueRecorder,
    ask,
    dtype_of_first,
)
from castwise.conformance.values import (
    CAST,
    FLOATS,
    OPS,
    Held,
    ordinary,
    paired,
    read_held,
    value_questions,
    vector,
)
from castwise.errors import CastwiseError
from castwise.vocab.notation import NO_KERNEL, REFUSED
from castwise.vocab.ops import LAYERS

# What a transformation is.

Function = Callable[..., Any]  # of arrays; it returns one result, or a list of them


class Spread(NamedTuple):
    """A result that is computed later or held in parts: its dtype is said before it is seen.

    Each is something whose dtype the framework tells: an array, or a dtype.
    """

    declared: Any
    parts: Mapping[str, Any]  # by where they are: "rank 1", "computed"


class UnsupportedError(Exception):
    """A transformation has no way to make a call, whatever the dtypes are."""


@dataclass(frozen=True)
class Transformation:
    """What makes another function of a function, and how it is asked."""

    name: str  # as a user names it: torch.compile
    # Transforms a function and calls it with arrays. What it returns for each result of the
    # function is an array, or a Spread. An error in the place of a result is the answer to that
    # question alone; one that is raised is found by asking fewer.
    run: Callable[[Function, Sequence[Any]], Any]
    # How a program writes it, with {f} for a function and {arrays} for what it is called with;
    # nothing where that takes more than a line.
    written: str
    imports: str = ""  # what that program imports besides the framework
    together: int = 64  # how many questions share one transformation
    # The error with which it refuses a function before it compiles anything, found at little cost;
    # what it refuses so is not asked together with other questions.
    declines: Callable[[Function, Sequence[Any]], Exception | None] = lambda function, arrays: None
    # What it needs as long as it is asked, such as other processes.
    session: Callable[[], AbstractContextManager[object]] = nullcontext
    is_apart: bool = False  # it calls its functions in other processes, so that they are pickled
    computes: bool = True  # whether results hold values that can be compared
    leaves_out: Callable[[GridQuestion], bool] = lambda question: False  # what it cannot be asked
    packages: tuple[str, ...] = ()  # besides the framework, on whose versions the answers depend
    # How a program writes the dtypes of a Spread, with {r} for the result.
    dtypes_written: str = "{r}"


def is_array(notation: str) -> bool:
    """Whether an operand is an array of the framework."""
    return notation.endswith("]") and not notation.startswith(("np.", "["))


def has_no_arrays(question: GridQuestion) -> bool:
    """Whether only Python numbers are asked about, which a batcher has nothing to do with."""
    return not any(map(is_array, question.operands))


FAILED = "fails"  # an answer: it raises something that is not about dtypes, "fails:CppCompileError"
DECLARED = "declared"  # where a result says its dtype, beside the parts that have one
# A function that fails is asked again in so many parts. With halves, torch.compile compiled 1,020
# times for 826 answers of bitwise_or, and with eighths 688 times.
_PARTS = 8


class Through(NamedTuple):
    """A question, and its answers: the framework's own, and that of the transformed function."""

    question: GridQuestion
    plain: str
    answer: str
    error: str = ""  # the first line of what the transformed function raised
    # Where a result declares another dtype than a part of it has: all of them, by where they are.
    dtypes: tuple[tuple[str, str], ...] = ()


def _scope_through(scope: Scope) -> Scope:
    """The questions that are asked through a transformation: arrays, 0-d arrays and Python numbers
    of each kind. It does not see lists, NumPy's arrays and destinations, but what becomes of
    them."""
    forms = {op: tuple(f for f in has if "=" not in f) for op, has in scope.forms.items()}
    return scope._replace(
        forms={op: has for op, has in forms.items() if op not in _ASKS_NO_ARRAYS},
        literals=PLAIN, scalars=(), foreign=(), rare=(), by_value=False,
    )  # fmt: skip


_ASKS_NO_ARRAYS = ("result_type", "promote_types", "can_cast")  # they return no array


def questions_through(
    recorder: Recorder, ops: Iterable[str] | None = None, most: int | None = None
) -> list[GridQuestion]:
    """The questions to ask; of each op and form at most so many."""
    asked = questions(_scope_through(recorder.scope), ops)
    without_lists = (q for q in asked if not any(o.startswith("[") for o in q.operands))
    return sampled(without_lists, most)


def sampled(asked: Iterable[GridQuestion], most: int | None = None) -> list[GridQuestion]:
    """Of each op and form at most so many questions, spread evenly; without a number, all."""
    chosen = []
    for _, some in groupby(asked, lambda question: (question.op, question.form)):
        alike = list(some)
        step = max(1, -(-len(alike) // most)) if most else 1
        chosen += alike[::step]
    return chosen


def asked_through(
    recorder: Recorder,
    transformation: Transformation,
    asked: Iterable[GridQuestion],
    on_question: Callable[[object], object] | None = None,
) -> Generator[Through, None, None]:
    """Both answers to every question that the framework itself answers."""
    asker = _Asker(recorder, transformation)
    with recorder.session(), transformation.session():
        for _, of_op in groupby(asked, lambda question: question.op):
            for found in asker.both(list(of_op)):
                if on_question is not None:
                    on_question(found.question)
                yield found


class _Asker:
    """Asks both, and keeps what operands it made."""

    def __init__(self, recorder: Recorder, transformation: Transformation) -> None:
        self._recorder, self._transformation = recorder, transformation
        self._make = functools.cache(recorder.make)

    def both(self, asked: Sequence[GridQuestion]) -> Iterator[Through]:
        """Both answers to each question. Those of a sort are transformed together: what is refused
        alike, or is about complex numbers, mostly fails alike, and what fails is asked again in
        parts."""
        given: dict[GridQuestion, str] = {}
        left: dict[object, list[GridQuestion]] = {}
        for question in asked:
            plain = ask(self._recorder, question, self._make)
            if plain is None:
                continue
            error = self._transformation.declines(*self._function([question]))
            if error is None:
                given[question] = plain
                left.setdefault(_sort(question, plain), []).append(question)
            else:
                yield self._failed(question, plain, error)
        for some in left.values():
            for batch in _batches(some, self._transformation.together):
                yield from self._answers(batch, given)

    def _answers(
        self, asked: Sequence[GridQuestion], plain: dict[GridQuestion, str]
    ) -> list[Through]:
        """The answers to questions that are asked in one function. If it raises, each part of it is
        asked, down to the questions that make it raise."""
        try:
            results = tuple(self._transformation.run(*self._function(asked)))
            return [
                self._answer(question, plain[question], result)
                for question, result in zip(asked, results, strict=True)
            ]
        except CastwiseError:
            raise
        except Exception as error:  # whatever a compiler raises is an answer to judge
            if len(asked) == 1:
                return [self._failed(asked[0], plain[asked[0]], error)]
        parts = _batches(asked, -(-len(asked) // _PARTS))
        return [answer for part in parts for answer in self._answers(part, plain)]

    def _answer(self, question: GridQuestion, plain: str, result: Any) -> Through:
        """The dtype of a result: of a Spread the one it has, where it declares another. An error
        may be in the place of a result."""
        if isinstance(result, Exception):
            return self._failed(question, plain, result)
        if not isinstance(result, Spread):
            dtype = dtype_of_first(self._recorder, question.op, result)
            if dtype is not None:
                return Through(question, plain, dtype)
            error = f"The result is of type {_type_name(result)}."
            return Through(question, plain, FAILED, error)
        named = {DECLARED: result.declared, **result.parts}
        dtypes = {where: self._recorder.dtype_of(part) or FAILED for where, part in named.items()}
        others = [dtype for dtype in dtypes.values() if dtype != dtypes[DECLARED]]
        if not others:
            return Through(question, plain, dtypes[DECLARED])
        return Through(question, plain, others[0], dtypes=tuple(dtypes.items()))

    def _failed(self, question: GridQuestion, plain: str, error: Exception) -> Through:
        """The answer that an error amounts to, with what it says."""
        said = error.__cause__ if isinstance(error, NoKernelError) else error
        return Through(question, plain, self._error_answer(error), _line(said or error))

    def _function(self, asked: Sequence[GridQuestion]) -> tuple[Function, list[Any]]:
        """A function of the framework's arrays that makes all the calls, and its arrays."""
        arrays = [self._make(name) for name in _array_places(asked)]
        if not self._transformation.is_apart:
            return _calling(self._recorder, self._make, asked), arrays
        mode = self._recorder.dialect.partition(":")[2]
        kind = type(self._recorder)
        return functools.partial(_called_apart, kind, mode, tuple(asked)), arrays

    def _error_answer(self, error: Exception) -> str:
        """The answer that an error amounts to: a refusal, or that it fails for another reason.

        Compilers wrap what the framework raised, so that its cause may tell.
        """
        cause = error.__cause__ or error.__context__
        answers = map(self._classified, filter(None, (error, cause)))
        return next(filter(None, answers), None) or f"{FAILED}:{type(error).__name__}"

    def _classified(self, error: BaseException) -> str | None:
        if not isinstance(error, Exception):
            return None
        lacks_kernel = getattr(self._recorder, "lacks_kernel", lambda error: False)
        return NO_KERNEL if lacks_kernel(error) else self._recorder.classify(error)


def _called_apart(
    kind: type[Recorder], mode: str, asked: Sequence[GridQuestion], *arrays: Any
) -> list[Any]:
    """Makes the calls in another process than the one that asks, under the same settings."""
    recorder = _recorder_here(kind, mode)
    with recorder.session():
        results: list[Any] = _calling(recorder, recorder.make, asked)(*arrays)
        return results


@functools.cache
def _recorder_here(kind: Callable[[str], Recorder], mode: str) -> Recorder:
    return kind(mode)


def _calling(
    recorder: Recorder, make: Callable[[str], Any], asked: Sequence[GridQuestion]
) -> Function:
    """A function of the framework's arrays that makes all the calls. Numbers are constants in it,
    as they are in programs."""
    places = _array_places(asked)
    numbers = {name for q in asked for name in q.operands if name not in places}
    constants = {name: make(name) for name in numbers}
    calls = [(q.op, q.form, [(places.get(o), constants.get(o)) for o in q.operands]) for q in asked]
    call: Callable[..., Any] = getattr(recorder, "bare_call", recorder.call)

    def function(*arrays: Any) -> list[Any]:
        return [
            call(op, form, [held if at is None else arrays[at] for at, held in given])
            for op, form, given in calls
        ]

    # For a transformation that compiles source text, and so has to write the calls itself.
    described: Any = function
    described.questions, described.places = asked, places
    return function


def _array_places(asked: Sequence[GridQuestion]) -> dict[str, int]:
    """The arrays that questions ask about, and at which place the function takes each."""
    notations = dict.fromkeys(operand for q in asked for operand in q.operands)
    return {name: at for at, name in enumerate(filter(is_array, notations))}


def is_result(answer: str) -> bool:
    """Whether an answer is a dtype that something has."""
    return not answer.startswith((REFUSED, NO_KERNEL, FAILED))


def _sort(question: GridQuestion, plain: str) -> tuple[str, bool]:
    """What a question is asked together with: its refusal, and whether numbers are complex."""
    is_complex = any("complex" in operand or "j" in operand for operand in question.operands)
    return "" if is_result(plain) else plain, is_complex


def _type_name(result: object) -> str:
    kind = type(result)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _batches(asked: Sequence[GridQuestion], size: int) -> Iterator[list[GridQuestion]]:
    left = iter(asked)
    while batch := list(islice(left, size)):
        yield batch


def _line(error: BaseException) -> str:
    """The first line of an error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


# Questions on values through a transformation: the answers are what results hold, not dtypes only.
#
# A compiler that drops a rounding between two ops changes no dtype. So there are short chains among
# the questions: `add` in the form `then sub` is (x + y) - z.

THEN = "then "  # the form of a chain: the op that takes the result, and the last operand
# Pairs of ops between which a rounding shows.
_CHAINS = (
    ("add", "sub"), ("add", "mul"), ("sub", "add"), ("mul", "add"), ("mul", "sub"), ("mul", "div"),
    ("div", "mul"), ("div", "add"),
)  # fmt: skip
_WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}


class ValuesAsked:
    """A recorder of values as a recorder of answers, each of which shows what a result holds."""

    def __init__(self, recorder: ValueRecorder, dialects: tuple[str, ...] = ()) -> None:
        self._recorder = recorder
        self.name, self.dialect, self.scope = recorder.name, recorder.dialect, recorder.scope
        self.dialects = dialects

    def versions(self) -> Header:
        return self._recorder.versions()

    def session(self) -> AbstractContextManager[None]:
        return self._recorder.session()

    def make(self, notation: str) -> Any:
        return self._recorder.hold(read_held(notation))

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == CAST:
            return self._recorder.cast(operands[0], form.removeprefix("to="))
        if form.startswith(THEN):
            first = self._recorder.compute(op, "function", operands[:2])
            second = [first, *operands[2:]]
            return self._recorder.compute(form.removeprefix(THEN), "function", second)
        return self._recorder.compute(op, form, operands)

    def dtype_of(self, result: Any) -> str | None:
        """What a result holds, in notation."""
        held = self._recorder.held_by(result)
        return None if held is None else str(held)

    def classify(self, error: Exception) -> str | None:
        return self._recorder.classify(error)

    def questions(self, ops: Iterable[str] | None = None) -> Iterator[GridQuestion]:
        """Every question on values, those of an op together, and its chains after them."""
        forms, dtypes = self.scope.forms, self._recorder.dtypes
        for op in OPS if ops is None else [op for op in ops if op in OPS]:
            yield from value_questions(forms, dtypes, [op])
            for first, second in _CHAINS:
                if first == op and second in forms and op in forms:
                    yield from _chained(first, second, dtypes)


class ValuesThrough:
    """A recorder of values whose calls are each made by a transformed function."""

    def __init__(self, recorder: ValueRecorder, transformation: Transformation) -> None:
        self._recorder, self._transformation = recorder, transformation
        self.name, self.dialect = recorder.name, recorder.dialect
        self.dtypes = recorder.dtypes
        self.scope = _scope_through(recorder.scope)
        self.hold, self.cast = recorder.hold, recorder.cast
        self.held_by, self.classify = recorder.held_by, recorder.classify
        self.is_division_by_zero, self.versions = recorder.is_division_by_zero, recorder.versions

    @contextmanager
    def session(self) -> Iterator[None]:
        with self._recorder.session(), self._transformation.session():
            yield

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        places = [at for at, o in enumerate(operands) if not isinstance(o, (int, float, complex))]

        def function(*arrays: Any) -> list[Any]:
            given = dict(zip(places, arrays, strict=True))
            call = [given.get(at, operand) for at, operand in enumerate(operands)]
            return [self._recorder.compute(op, form, call)]

        arrays = [operands[at] for at in places]
        error = self._transformation.declines(function, arrays)
        if error is not None:
            raise error
        (result,) = self._transformation.run(function, arrays)
        if isinstance(result, Exception):
            raise result
        return result


def _chained(first: str, second: str, dtypes: Sequence[str]) -> Iterator[GridQuestion]:
    """Two ops on floats of one dtype; and on a last operand that is wider, to which the rounded
    result of the first op is cast."""
    for dtype in filter(dtypes.__contains__, FLOATS):
        left, right = paired(ordinary(dtype), ordinary(dtype)[::-1])
        operands = [vector(dtype, left), vector(dtype, right)]
        form = f"{THEN}{second}"
        yield GridQuestion(first, form, tuple(map(str, (*operands, operands[1]))))
        wide = _WIDER.get(dtype)
        if wide in dtypes:
            last = Held(wide, operands[1].shape, operands[1].values)
            yield GridQuestion(first, form, tuple(map(str, (*operands, last))))


# A question through a transformation as one line of Python, to paste and to report.

_NAMES = ("x", "y", "z")


def is_spelled(speaker: Framework, question: GridQuestion) -> bool:
    """Whether a question can be written; the calls of layers say more than a question does."""
    if question.op in LAYERS or len(question.operands) > len(_NAMES):
        return False
    return question.form != "inplace" or "inplace" in speaker.menu.forms.get(question.op, ())


def needed_imports(speaker: Framework, transformation: Transformation) -> str:
    """What a program with such lines begins with."""
    return "\n".join(filter(None, ("import operator", speaker.prelude, transformation.imports)))


def reproduction(
    speaker: Framework,
    transformation: Transformation,
    question: GridQuestion,
    *,
    shows_all_dtypes: bool = False,
) -> str | None:
    """The expression whose dtype is in question, or that shows what it declares and what it has;
    None where it has no such form."""
    if not transformation.written or not is_spelled(speaker, question):
        return None
    arrays, words = {}, []
    for name, notation in zip(_NAMES, question.operands, strict=False):
        held = _held(notation)
        if held.dtype is None:
            words.append(str(held))
        else:
            arrays[name] = speaker.array(held)
            words.append(name)
    function = f"lambda {', '.join(arrays)}: {call_text(speaker, question, words)}"
    called = transformation.written.format(f=function, arrays=", ".join(arrays.values()))
    return transformation.dtypes_written.format(r=called) if shows_all_dtypes else called


def call_text(speaker: Framework, question: GridQuestion, words: list[str]) -> str:
    """The call of a question, with a word for each operand."""
    op, form = question.op, question.form
    if op == CAST:
        return speaker.cast(words[0], form.removeprefix("to="))
    if form.startswith(THEN):
        first = call_text(speaker, GridQuestion(op, "function", ()), words[:2])
        second = GridQuestion(form.removeprefix(THEN), "function", ())
        return call_text(speaker, second, [first, *words[2:]])
    if form == "augmented":
        return f"operator.{AUGMENTED_OPERATORS[op].__name__}({', '.join(words)})"
    axis = -1 if op in speaker.menu.need_axes else None
    step = Step("result", op, form, tuple(words), axis=axis)
    return expression(speaker, step)


def _held(notation: str) -> Held:
    """The operand that is asked about: an array that shows no values holds ones."""
    if "=" in notation:
        return read_held(notation)
    spec = read_operand(notation)
    if spec.dtype is None:
        return Held(None, (), (spec.value,))
    count = math.prod(spec.shape)
    return Held(f"{spec.dtype}{'*' * spec.is_weak}", spec.shape, (spec.value,) * count)
