"""Asks a framework, and asks it through a transformation: which answers differ?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from castwise.conformance.grid import PLAIN, GridQuestion, Scope, questions
from castwise.conformance.recorder import NoKernelError, Recorder, ask, find_recorder
from castwise.conformance.through.transformation import Function, Spread, Transformation, is_array
from castwise.errors import CastwiseError
from castwise.vocab.cell_words import NO_KERNEL, REFUSED

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


def scope_through(scope: Scope) -> Scope:
    """The questions that are asked through a transformation: arrays, 0-d arrays and Python numbers
    of each kind. It does not see lists, NumPy's arrays and destinations, but what becomes of
    them."""
    forms = {op: tuple(f for f in has if "=" not in f) for op, has in scope.forms.items()}
    return scope._replace(
        forms={op: has for op, has in forms.items() if op not in _ASKS_NO_ARRAYS},
        literals=PLAIN,
        scalars=(),
        foreign=(),
        rare=(),
        by_value=False,
    )


_ASKS_NO_ARRAYS = ("result_type", "promote_types", "can_cast")  # they return no array


def questions_through(
    recorder: Recorder, ops: Iterable[str] | None = None, most: int | None = None
) -> list[GridQuestion]:
    """The questions to ask; of each op and form at most so many."""
    asked = questions(scope_through(recorder.scope), ops)
    return sampled((q for q in asked if not _has_lists(q)), most)


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


def _has_lists(question: GridQuestion) -> bool:
    return any(operand.startswith("[") for operand in question.operands)


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
            results = self._run(asked)
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
            dtype = self._recorder.dtype_of(result)
            if dtype is None:
                error = f"The result is of type {_type_name(result)}."
                return Through(question, plain, FAILED, error)
            return Through(question, plain, dtype)
        named = {DECLARED: result.declared, **result.parts}
        dtypes = {where: self._recorder.dtype_of(part) or FAILED for where, part in named.items()}
        others = [dtype for dtype in dtypes.values() if dtype != dtypes[DECLARED]]
        if not others:
            return Through(question, plain, dtypes[DECLARED])
        return Through(question, plain, others[0], dtypes=tuple(dtypes.items()))

    def _failed(self, question: GridQuestion, plain: str, error: Exception) -> Through:
        """The answer that an error amounts to, with what it says."""
        said = error.__cause__ if isinstance(error, NoKernelError) else error
        return Through(question, plain, self._told(error), _line(said or error))

    def _run(self, asked: Sequence[GridQuestion]) -> Sequence[Any]:
        """The results of a transformed function that makes all the calls."""
        function, arrays = self._function(asked)
        return tuple(self._transformation.run(function, arrays))

    def _function(self, asked: Sequence[GridQuestion]) -> tuple[Function, list[Any]]:
        """A function of the framework's arrays that makes all the calls, and its arrays."""
        arrays = [self._make(name) for name in _array_places(asked)]
        if not self._transformation.is_apart:
            return _calling(self._recorder, self._make, asked), arrays
        mode = self._recorder.dialect.partition(":")[2]
        return functools.partial(called_apart, self._recorder.name, mode, tuple(asked)), arrays

    def _told(self, error: Exception) -> str:
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


def called_apart(
    framework: str, mode: str, asked: Sequence[GridQuestion], *arrays: Any
) -> list[Any]:
    """Makes the calls in another process than the one that asks, under the same settings."""
    recorder = _recorder_here(framework, mode)
    with recorder.session():
        results: list[Any] = _calling(recorder, recorder.make, asked)(*arrays)
        return results


_recorder_here = functools.cache(find_recorder)


def _calling(
    recorder: Recorder, make: Callable[[str], Any], asked: Sequence[GridQuestion]
) -> Function:
    """A function of the framework's arrays that makes all the calls. Numbers are constants in it,
    as they are in programs."""
    places = _array_places(asked)
    numbers = {name for q in asked for name in q.operands if name not in places}
    constants = {name: make(name) for name in numbers}
    calls = [
        (q.op, q.form, [(places.get(name), constants.get(name)) for name in q.operands])
        for q in asked
    ]
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
