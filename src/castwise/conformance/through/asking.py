"""Asks a framework, and asks it through a transformation: which answers differ?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from castwise.conformance.grid import PLAIN, GridQuestion, Scope, questions
from castwise.conformance.recorder import NoKernelError, Recorder, ask
from castwise.conformance.through.transformation import Function, Transformation
from castwise.vocab.cell_words import NO_KERNEL, REFUSED

FAILED = "fails"  # an answer: it raises something that is not about dtypes, "fails:CppCompileError"


class Through(NamedTuple):
    """A question, and its answers: the framework's own, and that of the transformed function."""

    question: GridQuestion
    plain: str
    answer: str
    error: str = ""  # the first line of what the transformed function raised


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
) -> Iterator[Through]:
    """Both answers to every question that the framework itself answers."""
    asker = _Asker(recorder, transformation)
    with recorder.session():
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
        self._call: Callable[..., Any] = getattr(recorder, "bare_call", recorder.call)

    def both(self, asked: Sequence[GridQuestion]) -> Iterator[Through]:
        """Both answers to each question. Those of a sort are transformed together: what is refused
        alike, or is about complex numbers, mostly fails alike, and what fails is asked again in
        halves."""
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
        """The answers to questions that are asked in one function. If it raises, each half is
        asked, down to the questions that make it raise."""
        try:
            results = self._run(asked)
            return [
                self._answer(question, plain[question], result)
                for question, result in zip(asked, results, strict=True)
            ]
        except Exception as error:  # whatever a compiler raises is an answer to judge
            if len(asked) == 1:
                return [self._failed(asked[0], plain[asked[0]], error)]
        half = len(asked) // 2
        return [*self._answers(asked[:half], plain), *self._answers(asked[half:], plain)]

    def _answer(self, question: GridQuestion, plain: str, result: Any) -> Through:
        """The answer that a result amounts to; an error may be in its place."""
        if isinstance(result, Exception):
            return self._failed(question, plain, result)
        return Through(question, plain, self._recorder.dtype_of(result) or FAILED)

    def _failed(self, question: GridQuestion, plain: str, error: Exception) -> Through:
        """The answer that an error amounts to, with what it says."""
        said = error.__cause__ if isinstance(error, NoKernelError) else error
        return Through(question, plain, self._told(error), _line(said or error))

    def _run(self, asked: Sequence[GridQuestion]) -> Sequence[Any]:
        """The results of a transformed function that makes all the calls."""
        function, arrays = self._function(asked)
        return tuple(self._transformation.run(function, arrays))

    def _function(self, asked: Sequence[GridQuestion]) -> tuple[Function, list[Any]]:
        """A function of the framework's arrays that makes all the calls, and its arrays. Numbers
        are constants in it, as they are in programs."""
        notations = dict.fromkeys(operand for q in asked for operand in q.operands)
        places = {name: at for at, name in enumerate(filter(_is_array, notations))}
        constants = {name: self._make(name) for name in notations if name not in places}
        calls = [
            (q.op, q.form, [(places.get(name), constants.get(name)) for name in q.operands])
            for q in asked
        ]
        call = self._call

        def function(*arrays: Any) -> list[Any]:
            return [
                call(op, form, [held if at is None else arrays[at] for at, held in given])
                for op, form, given in calls
            ]

        # For a transformation that compiles source text, and so has to write the calls itself.
        described: Any = function
        described.questions, described.places = asked, places
        return function, [self._make(name) for name in places]

    def _told(self, error: Exception) -> str:
        """The answer that an error amounts to: a refusal, or that it fails for another reason.

        Compilers wrap what the framework raised, so that its cause may tell.
        """
        answer = self._recorder.classify(error)
        cause = error.__cause__ or error.__context__
        if answer is None and isinstance(cause, Exception):
            answer = self._recorder.classify(cause)
        return answer or f"{FAILED}:{type(error).__name__}"


def is_result(answer: str) -> bool:
    """Whether an answer is a dtype that something has."""
    return not answer.startswith((REFUSED, NO_KERNEL, FAILED))


def _sort(question: GridQuestion, plain: str) -> tuple[str, bool]:
    """What a question is asked together with: its refusal, and whether numbers are complex."""
    is_complex = any("complex" in operand or "j" in operand for operand in question.operands)
    return "" if is_result(plain) else plain, is_complex


def _is_array(notation: str) -> bool:
    """Whether an operand is an array of the framework."""
    return notation.endswith("]") and not notation.startswith(("np.", "["))


def _batches(asked: Sequence[GridQuestion], size: int) -> Iterator[list[GridQuestion]]:
    left = iter(asked)
    while batch := list(islice(left, size)):
        yield batch


def _line(error: BaseException) -> str:
    """The first line of an error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
