"""What a recorder is, how its framework's answers become cells, and what recorders share.

A recorder is what knows one framework: the files in `recorders` each have one.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import operator
import platform
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from typing import Any, NamedTuple, Protocol

from castwise.conformance.questions import (
    JOINS,
    OPS,
    SELECTIONS,
    GridQuestion,
    Operands,
    Scope,
    Spec,
    foreign_operand,
    questions,
    read_operand,
)
from castwise.conformance.values import Held
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import NO_KERNEL, REFUSED, given_by_name
from castwise.vocab.ops import LAYERS
from castwise.vocab.ops import OPS as OP_ROWS

Header = dict[str, str]


class NoKernelError(Exception):
    """The dtypes were promoted but this build cannot compute; `dtype` is the result's, if known."""

    def __init__(self, dtype: str | None) -> None:
        super().__init__(dtype)
        self.answer = f"{NO_KERNEL}:{dtype}" if dtype else NO_KERNEL


class LostDeviceError(Exception):
    """A recorder's way to say that no later question of this process would get an answer."""


class Cell(NamedTuple):
    """A question and what the framework answered."""

    op: str
    form: str
    operands: Operands
    answer: str


class NoAnswer(NamedTuple):
    """Why a call told nothing about dtypes: an error of the framework, or of the recorder."""

    error: str  # the kind of the error; "" where the result has no dtype
    text: str


class _Asked(Protocol):
    """A framework that can be asked something."""

    name: str  # the framework
    dialect: str  # what castwise calls the rules that are asked here
    scope: Scope

    def versions(self) -> Header:
        """The versions the answers depend on."""

    def session(self) -> AbstractContextManager[None]:
        """The settings the questions are asked under, undone at its end."""

    def classify(self, error: Exception) -> str | None:
        """The answer an error amounts to, or None where it is not about dtypes or values."""


class Recorder(_Asked, Protocol):
    """A framework that can be asked for dtypes."""

    dialects: tuple[str, ...]  # its rules at each version and in each mode; `dialect` is one

    def make(self, notation: str) -> Any:
        """The live operand a piece of notation names."""

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the framework returns, or None where it is not asked; its errors pass through."""

    def dtype_of(self, result: Any) -> str | None:
        """The dtype of a result, or None where the framework did not answer in its own arrays."""


class ValueRecorder(_Asked, Protocol):
    """A framework that can be asked what it computes.

    A value cell is in a cell file like any other, but its operands and its answer show what they
    hold. A call that a framework refuses for its dtypes gives none: the other cells tell that.
    """

    dtypes: tuple[str, ...]  # of the operands it is asked with

    def hold(self, held: Held) -> Any:
        """The live operand that holds these values."""

    def cast(self, array: Any, dtype: str) -> Any:
        """The array in another dtype, as an explicit cast gives it."""

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the framework returns; its errors pass through."""

    def held_by(self, result: Any) -> Held | None:
        """What a result holds, or None where the framework did not answer in its own arrays."""

    def is_division_by_zero(self, error: Exception) -> bool:
        """Whether an error says that an integer was divided by zero."""


def framework_versions(version: str, *packages: str) -> Header:
    """The versions of a framework, of the packages it is used with, and of Python."""
    others = {name: importlib.metadata.version(name) for name in packages}
    return {"version": version, **others, "python": platform.python_version()}


def ask(
    recorder: Recorder, question: GridQuestion, make: Callable[[str], Any] | None = None
) -> str | None:
    """The framework's answer, or None where the call failed for another reason than dtypes.

    `make` replaces the recorder's own, for example with one that caches what it made.
    """
    found = answer_or_why_not(recorder, question, make or recorder.make)
    return found if isinstance(found, str) else None


def answer_or_why_not(
    recorder: Recorder, question: GridQuestion, make: Callable[[str], Any]
) -> str | NoAnswer | None:
    """The framework's answer, or why there is none; None where the recorder did not ask."""
    try:
        operands = [make(notation) for notation in question.operands]
        result = recorder.call(question.op, question.form, operands)
        if result is None:
            return None
        answer = dtype_of_first(recorder, question.op, result)
        why = "", f"the result is a {type(result).__name__}"
    except Exception as error:  # whatever a framework raises is an answer to judge
        answer = recorder.classify(error)
        why = type(error).__name__, str(error)[:200]
    return NoAnswer(*why) if answer is None else answer


def dtype_of_first(recorder: Recorder, op: str, result: Any) -> str | None:
    """The dtype of a result, or of the first of several.

    Raises ValueError where those of the others are not what the op's row says.
    """
    words = (OP_ROWS[op].result, *OP_ROWS[op].others) if op in OP_ROWS else ()
    if len(words) < 2:
        return recorder.dtype_of(result)
    if not isinstance(result, (tuple, list)):
        return recorder.dtype_of(result)
    names = [recorder.dtype_of(each) for each in result]
    if None in names:
        return None
    given = [dtype(name.removesuffix("*")) for name in names if name]
    compute = given[words.index("same")] if "same" in words else given[0]
    if given != [compute.part if word == "real" else compute for word in words]:
        raise ValueError(f"{op} gives {', '.join(filter(None, names))}: its row says {words}.")
    return names[0]


# What tells whether a dtype is taken: the first that a framework has.
_TELLING = ("promote_types", "result_type", "can_cast", "where")


def dtypes_taken(recorder: Recorder, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some dtypes that the framework has operands of and promotes with themselves.

    Where only an op can tell, one it has no kernel for is a dtype that is stored and no more.
    """
    telling = next((op for op in _TELLING if op in recorder.scope.forms), None)
    if telling is None:
        return ()
    with recorder.session():
        return tuple(name for name in names if _is_taken(recorder, telling, name))


def _is_taken(recorder: Recorder, op: str, name: str) -> bool:
    array = f"{name}[3]"
    operands = ("bool[3]", array, array) if op in SELECTIONS else (array, array)
    answer = ask(recorder, GridQuestion(op, "function", operands))
    is_run = op not in SELECTIONS or not (answer or "").startswith(NO_KERNEL)
    return answer is not None and not answer.startswith(REFUSED) and is_run


def cells(
    recorder: Recorder,
    ops: Iterable[str] | None = None,
    on_question: Callable[[GridQuestion], object] | None = None,
) -> Iterator[Cell]:
    """Asks every question of the grid and yields those that have an answer.

    `on_question` is called before each question, as often as `count` says.
    """
    make = functools.cache(recorder.make)  # an op that writes into an operand is given a copy
    with recorder.session():
        for question in questions(recorder.scope, ops):
            if on_question is not None:
                on_question(question)
            answer = ask(recorder, question, make)
            if answer is not None:
                yield Cell(*question, answer)


def count(recorder: Recorder, ops: Iterable[str] | None = None) -> int:
    """How many questions `cells` will ask."""
    return sum(1 for _ in questions(recorder.scope, ops))


# The calls that look the same in every framework: Python's operators, and questions on dtypes.

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow,
    "matmul": operator.matmul, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift,
    "bitwise_not": operator.invert, "neg": operator.neg, "positive": operator.pos,
}  # fmt: skip

# `a += b` and the others. Where an array has no such method Python takes `a + b`.
AUGMENTED_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
    "floor_divide": operator.ifloordiv, "remainder": operator.imod, "pow": operator.ipow,
    "matmul": operator.imatmul, "bitwise_and": operator.iand, "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor, "bitwise_left_shift": operator.ilshift,
    "bitwise_right_shift": operator.irshift,
}  # fmt: skip


def existing_forms(
    op: str,
    *,
    function: bool = True,
    operators: Container[str] = OPERATORS,
    augmented: Container[str] = AUGMENTED_OPERATORS,
    inplace: bool = False,
) -> tuple[str, ...]:
    """The forms of an op that a framework has, given the ops that are operators there: `a += b` is
    augmented, a method that writes into its array is in place."""
    exists = {
        "function": function, "operator": op in operators, "augmented": op in augmented,
        "inplace": inplace,
    }  # fmt: skip
    return tuple(form for form in exists if exists[form])


class FrameworkRecorder(Recorder):
    """What the recorders of frameworks share: how operands are made and ops are called."""

    found: Mapping[str, FoundFunction]  # by op; of a framework that programs run in
    _functions: Mapping[str, Callable[..., Any]]  # the same, called with its operands

    def _dialect_in(self, mode: str) -> str:
        """The dialect in a mode. Raises ValueError where it is not recorded."""
        dialect = f"{self.name}:{mode}" if mode else self.name
        if dialect not in self.dialects:
            known = ", ".join(self.dialects)
            raise ValueError(f"{self.name} is recorded as {known}; not {mode!r}.")
        return dialect

    @contextmanager
    def session(self) -> Iterator[None]:
        """No settings, and no warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def make(self, notation: str) -> Any:
        spec = read_operand(notation)
        if spec.dtype is None or spec.is_numpy:
            return foreign_operand(spec)
        return self._own(spec.dtype, spec)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "operator":
            return OPERATORS[op](*operands)
        if form == "augmented":
            return self._assigned(op, *operands)
        named = {name: self._named(op, name, text) for name, text in given_by_name(form).items()}
        return self._functions[op](*operands, **named)

    def _assigned(self, op: str, first: Any, second: Any) -> Any:
        """What the name is bound to after `a += b`. An array `a` is copied first, since more is
        asked about it."""
        import numpy as np

        if isinstance(first, np.ndarray):
            first = first.copy()
        elif not isinstance(first, (int, float, complex, np.generic)):
            first = self._copied(first)
        return AUGMENTED_OPERATORS[op](first, second)

    def _own(self, dtype: str, spec: Spec) -> Any:
        """An array of the framework, or where it is asked about bare dtypes, one of them."""
        raise NotImplementedError

    def _copied(self, array: Any) -> Any:
        """An array that may be written into: itself, where nothing can change it."""
        return array

    def _named(self, op: str, name: str, text: str) -> Any:
        """The value of a text in a form: a dtype, an array to write to, a mask, a number."""
        raise NotImplementedError


class RefusalError(TypeError):
    """A framework's plain no, where it answers a question instead of raising."""


def refusing(question: Callable[..., bool], yes: Any) -> Callable[..., Any]:
    """A yes-or-no function as the cells see it: `yes`, or a refusal."""

    def call(*operands: Any) -> Any:
        if not question(*operands):
            raise RefusalError
        return yes

    return call


def dtype_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of dtypes, called with arrays that have them."""
    return lambda *arrays: function(*(array.dtype for array in arrays))


def sequence_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a sequence of arrays, called with the arrays."""
    return lambda *arrays, **named: function(arrays, **named)


# Which function of a framework computes each op.
#
# The `aliases` in a framework's data file list its names for the ops; a recorder says in which
# of the framework's modules to look, and what it calls otherwise.

Rooms = Mapping[str, Any]  # modules, or a class with methods, by the name a program has for them


class FoundFunction(NamedTuple):
    """A function, and how a program writes it."""

    path: str  # such as jax.nn.relu
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def found_functions(
    rooms: Rooms, aliases: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> dict[str, FoundFunction]:
    """The function of each op that a framework has, in the first room that has one by castwise's
    name of the op or by an alias. `instead` names the path of another. A layer must be named
    there, since no two frameworks call it alike.

    >>> import math, operator
    >>> rooms = {"math": math, "operator": operator}
    >>> found = found_functions(rooms, {"neg": "minus", "abs": "absolute fabs"}, {"exp": "math.e"})
    >>> [found[op].path for op in ("pow", "neg", "abs", "exp")]
    ['math.pow', 'operator.neg', 'math.fabs', 'math.e']

    An op of which the framework has the name for another op is not found by it.

    >>> "sqrt" in found_functions(rooms, {"pow": "power sqrt"})
    False
    """
    framework_names = {name for names in aliases.values() for name in names.split()}
    found = {}
    for op in OPS:
        path = (instead or {}).get(op)
        if path is None and op not in framework_names and op not in LAYERS:
            path = _path(rooms, aliases, op)
        if path and (function := _at(rooms, path)) is not None:
            found[op] = FoundFunction(path, function)
    return found


def called_with_operands(found: Mapping[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    """The functions as they are called: with the operands, those too that take a sequence."""
    return {
        op: sequence_function(each.function) if op in JOINS else each.function
        for op, each in found.items()
    }


def _path(rooms: Rooms, aliases: Mapping[str, str], op: str) -> str | None:
    names = (op, *aliases.get(op, "").split())
    paths = (f"{room}.{name}" for room in rooms for name in names)
    return next((path for path in paths if _at(rooms, path) is not None), None)


def _at(rooms: Rooms, path: str) -> Any:
    """What a path leads to; None where an older version does not have it."""
    room, _, name = path.rpartition(".")
    if room in rooms:
        return getattr(rooms[room], name, None)
    root, *parts = path.split(".")
    return reduce(lambda found, part: getattr(found, part, None), parts, rooms[root])
