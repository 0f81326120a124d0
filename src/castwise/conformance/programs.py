"""Random programs. One seed gives one program, on any machine and whatever frameworks answer.

What a step does to shapes is modelled here, so that most steps make sense; a framework that gives
another shape makes a later step fail, on both sides.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from types import CodeType, EllipsisType
from typing import Any, NamedTuple, Protocol, TypeVar

from castwise.conformance.questions import (
    BINARY,
    JOINS,
    LOSSES,
    PLAIN,
    REDUCTIONS,
    SCANS,
    TERNARY,
    UNARY,
    Scalar,
    read_literal,
    words,
)
from castwise.conformance.recorder import AUGMENTED_OPERATORS, FrameworkRecorder, Header
from castwise.conformance.values import Held, edges, number, numpy_held, ordinary
from castwise.vocab.notation import NO_KERNEL
from castwise.vocab.ops import OPS

# What a program is: steps on named arrays, written down without a word of any framework.

# The steps that are not ops of the vocabulary.
MAKE, ALIAS, INDEX, ASSIGN, CAST = "make", "alias", "index", "assign", "cast"

Operand = str | Held  # a name, or the number or array itself
KeyPart = int | slice | EllipsisType | None | Held


class Step(NamedTuple):
    """One line of a program.

    >>> Step("c", "add", "operator", ("a", "b")).names
    ('a', 'b')
    """

    name: str  # what the result is bound to, or the array that is written into
    op: str
    form: str = "function"  # function, operator, augmented, inplace or assigned
    operands: tuple[Operand, ...] = ()
    key: tuple[KeyPart, ...] = ()  # of an index or an assignment
    axis: int | None = None
    keeps_axis: bool = False
    dtype: str = ""  # of a cast
    instead: Held | None = None  # what the name holds where the framework gives nothing

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its operands."""
        return tuple(operand for operand in self.operands if isinstance(operand, str))

    @property
    def is_writing(self) -> bool:
        """Whether it may change an array that has other names too."""
        return self.form in ("augmented", "inplace", "assigned")


Program = tuple[Step, ...]


def made(name: str, held: Held) -> Step:
    """The step that makes an array."""
    return Step(name, MAKE, operands=(held,), instead=held)


def signature(step: Step) -> str:
    """The operands without what arrays hold, as cells have them.

    >>> signature(Step("b", "add", operands=(Held("int8", (2,), (1, 2)), Held(None, (), (300,)))))
    'int8[2];300'
    """
    return ";".join(map(_described, step.operands))


def _described(operand: Operand) -> str:
    if isinstance(operand, str) or operand.dtype is None:
        return str(operand)
    return f"{operand.dtype}[{','.join(map(str, operand.shape))}]"


# What steps do to shapes, as far as all frameworks agree.

Shape = tuple[int, ...]


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that arrays broadcast to, None where they do not.

    >>> broadcast((2, 1), (3,)), broadcast((2,), (3,))
    ((2, 3), None)
    """
    rank = max(map(len, shapes))
    filled = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    lengths = [{length for length in column if length != 1} for column in zip(*filled, strict=True)]
    if any(len(some) > 1 for some in lengths):
        return None
    return tuple(min(some, default=1) for some in lengths)


def reduced(shape: Shape, axis: int | None, *, keeps: bool) -> Shape:
    """The shape of a reduction along an axis, or of all.

    >>> reduced((2, 3), -1, keeps=True)
    (2, 1)
    """
    if axis is None:
        return ()
    place = axis % len(shape)
    return (*shape[:place], *([1] if keeps else []), *shape[place + 1 :])


def product_shape(first: Shape, second: Shape) -> Shape | None:
    """The shape of `first @ second`, None where there is none.

    >>> product_shape((2, 3), (3,))
    (2,)
    """
    if not first or not second or first[-1] != second[-2:][0]:
        return None
    if len(first) > 2 or len(second) > 2:
        return None
    return (*first[:-1], *second[1:])


def indexed(shape: Shape, key: Sequence[KeyPart]) -> Shape:
    """The shape of what a key picks: of slices, `...` with a slice, None, or one other part.

    >>> indexed((4, 3), (slice(1, None),)), indexed((4, 3), (..., slice(None, 2)))
    ((3, 3), (4, 2))
    """
    part = key[-1] if key else ...
    if part is ...:
        return shape
    if part is None:
        return (1, *shape)
    if isinstance(part, int):
        return shape[1:]
    if isinstance(part, Held):
        count = sum(map(bool, part.values)) if part.dtype == "bool" else len(part.values)
        return (count, *shape[1:])
    if key[0] is ...:
        return (*shape[:-1], len(range(shape[-1])[part]))
    return (len(range(shape[0])[part]), *shape[1:])


# Steps as Python source. What is run is what is shown, so that a finding can be pasted.

_SYMBOLS = {(op.name, op.arity[0]): op.symbol for op in OPS.values() if op.symbol}


class Language(Protocol):
    """How a framework writes what frameworks write differently."""

    def array(self, held: Held) -> str:
        """An array that holds these values."""

    def cast(self, array: str, dtype: str) -> str:
        """An array in another dtype, asked for."""

    def called(self, step: Step, operands: Sequence[str]) -> str:
        """A call of an op, as a function or, in place, as a method."""


def statement(language: Language, step: Step) -> str:
    """A step as a line of Python."""
    value = expression(language, step)
    if step.op == ASSIGN:
        return f"{step.name}[{_key(language, step.key)}] = {value}"
    if step.form == "augmented":
        return f"{step.name} {_SYMBOLS[step.op, 2]}= {value}"
    return value if step.form == "inplace" else f"{step.name} = {value}"


def expression(language: Language, step: Step) -> str:
    """The right-hand side of a step, or all of it where it is a method in place."""
    given = [_operand(language, operand) for operand in step.operands]
    if step.op in (MAKE, ALIAS, ASSIGN) or step.form == "augmented":
        return given[-1]
    if step.op == INDEX:
        return f"{given[0]}[{_key(language, step.key)}]"
    if step.op == CAST:
        return language.cast(given[0], step.dtype)
    if step.form == "operator":
        symbol = _SYMBOLS[step.op, len(given)]
        return f"{symbol}{given[0]}" if len(given) == 1 else f"{given[0]} {symbol} {given[1]}"
    return language.called(step, given)


def _operand(language: Language, operand: Operand) -> str:
    if isinstance(operand, str):
        return operand
    if operand.dtype is None:
        text = number_text(operand.values[0])
        return f"({text})" if text.startswith("-") else text  # -1 ** x is -(1 ** x)
    return language.array(operand)


def _key(language: Language, key: Sequence[KeyPart]) -> str:
    return ", ".join(_key_part(language, part) for part in key) or "()"


def _key_part(language: Language, part: KeyPart) -> str:
    if isinstance(part, Held):
        return language.array(part)
    if isinstance(part, slice):
        ends = [("" if end is None else str(end)) for end in (part.start, part.stop)]
        step = f":{part.step}" if part.step is not None else ""
        return f"{':'.join(ends)}{step}"
    return "..." if part is ... else repr(part)


def number_text(value: Scalar) -> str:
    """A number as Python reads it back, where nan and inf have a name.

    >>> number_text(complex(-0.0, 1.0)), number_text(1 + 2j), number_text(-0.0)
    ('complex(-0.0, 1.0)', '(1+2j)', '-0.0')
    """
    if not isinstance(value, complex):
        return repr(value)
    parts = (value.real, value.imag)
    is_plain = all(math.isfinite(p) and math.copysign(1, p) > 0 for p in parts)
    return repr(value) if is_plain else f"complex({value.real!r}, {value.imag!r})"


def numbers_text(held: Held) -> str | None:
    """What an array holds as nested lists; None where lists cannot tell its shape.

    >>> numbers_text(Held("int8", (2, 2), (1, 2, 3, 4)))
    '[[1, 2], [3, 4]]'
    """
    if 0 in held.shape[:-1]:
        return None
    texts, outer = [number_text(value) for value in held.values], held.shape
    if outer[-1:] == (0,):
        texts, outer = ["[]"] * math.prod(outer[:-1]), outer[:-1]
    for length in reversed(outer):
        rows = [texts[place : place + length] for place in range(0, len(texts), length)]
        texts = [f"[{', '.join(row)}]" for row in rows]
    return texts[0]


def array_text(held: Held, zeros: str, array: str, dtype: str) -> str:
    """The call that makes an array of nested lists, or of zeros where lists cannot tell its shape.

    >>> array_text(Held("int8", (2,), (1, 2)), "np.zeros", "np.array", "'int8'")
    "np.array([1, 2], 'int8')"
    """
    values = numbers_text(held)
    return f"{zeros}({held.shape}, {dtype})" if values is None else f"{array}({values}, {dtype})"


class AxisWords(NamedTuple):
    """What a framework calls the arguments of a reduction."""

    axis: str = "axis"
    keeps: str = "keepdims"


def arguments(step: Step, operands: Sequence[str], axis_words: AxisWords, *more: str) -> str:
    """The text between the parentheses of a call."""
    given = [*operands, *more]
    if step.axis is not None:
        given.append(f"{axis_words.axis}={step.axis}")
    if step.keeps_axis:
        given.append(f"{axis_words.keeps}=True")
    return ", ".join(given)


def in_list(step: Step, operands: Sequence[str]) -> Sequence[str]:
    """The operands, as one list where the op takes them so."""
    return [f"[{', '.join(operands)}]"] if step.op in JOINS else operands


# One side of a comparison: something that runs steps, and tells what came of them.


class Menu(NamedTuple):
    """What programs may be made of, for a framework."""

    dtypes: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]  # by op; an op the framework lacks is not there
    literals: tuple[str, ...]  # Python numbers, out of range too
    along_axes: Sequence[str]  # the reductions that take an axis
    need_axes: Sequence[str]  # the ops that take nothing else
    has_axis_of_0d: bool = False  # 0-d arrays take the axis -1 too
    has_assignment: bool = True
    has_array_keys: bool = True  # masks, and arrays of places
    is_left_out: Callable[[Step], bool] | None = None  # a step that would end the process


class Raised(NamedTuple):
    """An error, and whether it does not answer the question."""

    error: Exception
    is_no_answer: bool = False

    def __str__(self) -> str:
        first = str(self.error).strip().partition("\n")[0]
        return f"{type(self.error).__name__}: {first}" if first else type(self.error).__name__


class Speaker(Language, Protocol):
    """A framework, or castwise in its place, that runs steps."""

    prelude: str  # the imports the source needs

    def session(self) -> AbstractContextManager[None]:
        """The settings the steps run under, undone at its end."""

    def bound(self, result: Any) -> Any:
        """What a name is bound to where a step gave this."""

    def read(self, array: Any) -> Held | None:
        """What an array holds, a weak one's dtype with a star; None of anything else."""

    def is_no_answer(self, error: Exception) -> bool:
        """Whether an error refuses nothing: a kernel is missing, or a call is written otherwise."""


class Framework(Speaker, Protocol):
    """A framework's own speaker."""

    name: str
    dialect: str
    menu: Menu

    def weak_array(self, held: Held) -> str:
        """An array that castwise reads as a weak one, because it cannot make one itself."""

    def versions(self) -> dict[str, str]:
        """The versions the answers depend on."""


class Side:
    """The names of a program and what they are bound to, on one side."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self._names: dict[str, Any] = dict(_imported(speaker.prelude))

    def run(self, step: Step) -> Held | Raised | None:
        """What a step's name holds afterwards, or what it raised; None where it is no array."""
        try:
            exec(_compiled(statement(self.speaker, step)), self._names)
            self._names[step.name] = self.speaker.bound(self._names[step.name])
            return self.read(step.name)
        except Exception as error:  # whatever is raised is an answer to judge
            return Raised(error, self.speaker.is_no_answer(error))

    def has(self, name: str) -> bool:
        """Whether a name is bound."""
        return name in self._names

    def read(self, name: str) -> Held | None:
        """What a name holds."""
        return self.speaker.read(self._names[name])


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> CodeType:
    return compile(source, "<step>", "exec")


@functools.cache
def _imported(prelude: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(prelude, names)
    return names


_STEPS = 14
_NAMES = "abcdefghijklmnopqrstuvwxyz"
_NUMBERS = (*PLAIN, *words("0 2 3 -1 0.5 -2.5"))
_PRODUCTS = words("matmul dot")
_NOT_STEPS = words("result_type where dot")
_BINARY = tuple(op for op in BINARY if op not in _NOT_STEPS)
Chosen = TypeVar("Chosen")


def program(menu: Menu, seed: int, place: int) -> Program:
    """The program of a seed at a place in the sequence."""
    return _Writer(menu, random.Random(f"{seed}/{place}")).written()


class _Writer:
    """A program as it is being written, and the shape each name should have."""

    def __init__(self, menu: Menu, chance: random.Random) -> None:
        self._menu, self._chance = menu, chance
        self._steps: list[Step] = []
        self._shapes: dict[str, Shape] = {}
        self._dtypes = chance.sample(menu.dtypes, chance.randint(1, min(4, len(menu.dtypes))))
        wide, long = chance.choice((1, 2, 3, 3, 4, 5, 9, 0)), chance.choice((1, 2, 2, 3))
        self._common: tuple[Shape, ...] = ((), (wide,), (wide,), (long, wide), (long, 1))
        writes = {self._assignment: 7} if menu.has_assignment else {}
        self._ways: dict[Callable[[], None], int] = {
            self._binary: 30, self._unary: 14, self._reduction: 12, self._ternary: 6,
            self._selection: 4, self._join: 4, self._product: 5, self._loss: 2, self._cast: 7,
            self._index: 9, self._augmented: 8, self._inplace: 8, self._alias: 2, self._make: 5,
            **writes,
        }  # fmt: skip

    def written(self) -> Program:
        for _ in range(3):
            self._make()
        ways, weights = list(self._ways), list(self._ways.values())
        while len(self._steps) < _STEPS:
            self._chance.choices(ways, weights)[0]()
        return tuple(self._steps)

    def _make(self) -> None:
        name, shape = self._new_name(), self._chance.choice(self._common)
        self._steps.append(made(name, self._held(shape)))
        self._shapes[name] = shape

    def _binary(self) -> None:
        op = self._op_of(_BINARY, "function", "operator")
        if op is None:
            return
        first = self._name()
        second = self._partner(first)
        operands = (first, second) if self._chance.random() < 0.7 else (second, first)
        shape = broadcast(*[self._shapes.get(str(o), ()) for o in operands])
        self._bind(op, operands, () if shape is None else shape)

    def _unary(self) -> None:
        op, name = self._op_of(UNARY, "function", "operator"), self._name()
        if op is not None:
            self._bind(op, (name,), self._shapes[name], axis=self._needed_axis(op, name))

    def _reduction(self) -> None:
        op, name = self._op_of(REDUCTIONS, "function"), self._name()
        if op is None:
            return
        shape = self._shapes[name]
        axis = self._needed_axis(op, name)
        if axis is None and op in self._menu.along_axes and shape and self._chance.random() < 0.6:
            axis = self._chance.randrange(-len(shape), len(shape))
        if op in SCANS:
            self._bind(op, (name,), shape, axis=axis)
            return
        keeps = axis is not None and op in self._menu.along_axes and self._chance.random() < 0.3
        result = reduced(shape, axis if shape else None, keeps=keeps)
        self._bind(op, (name,), result, axis=axis, keeps_axis=keeps)

    def _ternary(self) -> None:
        op, first = self._op_of(TERNARY, "function"), self._name()
        if op is not None:
            second, third = self._partner(first), self._partner(first)
            shapes = [self._shapes.get(str(o), ()) for o in (first, second, third)]
            self._bind(op, (first, second, third), broadcast(*shapes) or ())

    def _selection(self) -> None:
        """`where`; its condition is a separate array, since only bools are accepted everywhere."""
        first = self._name()
        second = self._partner(first)
        shape = broadcast(self._shapes[first], self._shapes.get(str(second), ())) or ()
        condition = Held("bool", shape, self._some((True, False), shape))
        sides = (first, second) if self._chance.random() < 0.7 else (second, first)
        if self._op_of(("where",), "function"):
            self._bind("where", (condition, *sides), shape)

    def _join(self) -> None:
        op, first = self._op_of(JOINS, "function"), self._name()
        shape = self._shapes[first]
        if op is None or not shape:
            return
        second = self._chance.choice([n for n, s in self._shapes.items() if s == shape])
        doubled = (2 * shape[0], *shape[1:]) if op == "concat" else (2, *shape)
        self._bind(op, (first, second), doubled)

    def _product(self) -> None:
        op = self._op_of(_PRODUCTS, "function", "operator")
        first, second = self._name(), self._name()
        shapes = (self._shapes[first], self._shapes[second])
        shape = product_shape(*shapes)
        is_dot = all(len(s) == 1 for s in shapes)  # frameworks disagree about any other
        if op is not None and shape is not None and (op != "dot" or is_dot):
            self._bind(op, (first, second), shape)

    def _loss(self) -> None:
        op, first = self._op_of(LOSSES, "function"), self._name()
        alike = [n for n, s in self._shapes.items() if s == self._shapes[first]]
        if op is not None:
            self._bind(op, (first, self._chance.choice(alike)), ())

    def _cast(self) -> None:
        name = self._name()
        dtype = self._chance.choice((*self._dtypes, self._chance.choice(self._menu.dtypes)))
        self._bind(CAST, (name,), self._shapes[name], dtype=dtype)

    def _index(self) -> None:
        name = self._name()
        key = self._key(self._shapes[name])
        self._bind(INDEX, (name,), indexed(self._shapes[name], key), key=key)

    def _assignment(self) -> None:
        name = self._name()
        key = self._key(self._shapes[name])
        value = self._fitting(indexed(self._shapes[name], key), but=name)
        self._write(Step(name, ASSIGN, "assigned", (name, value), key=key))

    def _augmented(self) -> None:
        self._writing("augmented", _BINARY)

    def _inplace(self) -> None:
        self._writing("inplace", (*_BINARY, *UNARY))

    def _writing(self, form: str, ops: Sequence[str]) -> None:
        op, name = self._op_of(ops, form), self._name()
        if op is None:
            return
        others = () if op in UNARY else (self._fitting(self._shapes[name]),)
        axis = self._needed_axis(op, name)
        self._write(Step(name, op, form, (name, *others), axis=axis))

    def _write(self, step: Step) -> None:
        is_left_out = self._menu.is_left_out
        if is_left_out is None or not is_left_out(step):
            self._steps.append(step)

    def _alias(self) -> None:
        name = self._name()
        self._bind(ALIAS, (name,), self._shapes[name])

    def _bind(self, op: str, operands: tuple[Operand, ...], shape: Shape, **more: object) -> None:
        """A step whose result gets its own name."""
        form = "function"
        if op in self._menu.forms:
            own = [f for f in self._menu.forms[op] if f in ("function", "operator")]
            has_array = any(isinstance(operand, str) for operand in operands)
            form = self._chance.choice(own) if has_array else "function"
        name = self._new_name()
        step = Step(name, op, form, operands, instead=self._held(shape))
        self._steps.append(step._replace(**more))  # type: ignore[arg-type]
        self._shapes[name] = shape

    def _op_of(self, ops: Sequence[str], *forms: str) -> str | None:
        """An op of some that the framework has in one of the forms, if it has any."""
        has = self._menu.forms
        own = [op for op in ops if any(form in has.get(op, ()) for form in forms)]
        return self._chance.choice(own) if own else None

    def _needed_axis(self, op: str, name: str) -> int | None:
        has_axis = self._shapes[name] or self._menu.has_axis_of_0d
        return -1 if op in self._menu.need_axes and has_axis else None

    def _name(self) -> str:
        return self._chance.choice(list(self._shapes))

    def _new_name(self) -> str:
        return _NAMES[len(self._shapes)]

    def _partner(self, name: str) -> Operand:
        """A number, or a name of a shape that goes with a name's."""
        if self._chance.random() < 0.35:
            return self._number()
        shape = self._shapes[name]
        fitting = [n for n, s in self._shapes.items() if broadcast(s, shape) is not None]
        return self._chance.choice(fitting)

    def _fitting(self, shape: Shape, but: str = "") -> Operand:
        """A number, or another name that can be written into a shape; seldom one that cannot."""
        if self._chance.random() < 0.35:
            return self._number()
        names = [name for name in self._shapes if name != but]
        fitting = [name for name in names if broadcast(self._shapes[name], shape) == shape]
        is_odd = not fitting or self._chance.random() < 0.03
        return self._name() if is_odd else self._chance.choice(fitting)

    def _number(self) -> Held:
        texts = _NUMBERS if self._chance.random() < 0.75 else self._menu.literals
        return number(read_literal(self._chance.choice(texts)))

    def _held(self, shape: Shape) -> Held:
        dtype = self._chance.choice(self._dtypes)
        values = edges(dtype) if self._chance.random() < 0.25 else ordinary(dtype)
        return Held(dtype, shape, self._some(values, shape))

    def _some(self, values: Sequence[Scalar], shape: Shape) -> tuple[Scalar, ...]:
        return tuple(self._chance.choice(values) for _ in range(math.prod(shape)))

    def _key(self, shape: Shape) -> tuple[KeyPart, ...]:
        if not shape:
            return self._chance.choice(((...,), (), (None,)))
        length = shape[0]
        keys: list[tuple[KeyPart, ...]] = [
            (slice(1, None),), (slice(None, None, 2),), (..., slice(None, 2)), (...,), (None,),
        ]  # fmt: skip
        if length:
            keys.append((self._chance.randrange(-length, length),))
        if self._menu.has_array_keys:
            keys.append((Held("bool", (length,), self._some((True, False), (length,))),))
            if length:
                keys.append((self._places(length),))
        return self._chance.choice(keys)

    def _places(self, length: int) -> Held:
        # Each once: which of two values written to one place stays is nobody's promise.
        places = self._chance.sample(range(length), self._chance.randint(1, length))
        return Held("int64", (len(places),), tuple(places))


# What speakers share: a recorder knows its framework's settings, versions and errors.

Forms = Mapping[str, tuple[str, ...]]


class RecordedSpeaker:
    """A speaker whose framework a recorder can ask."""

    prelude = ""
    axis_words = AxisWords()
    more_arguments: Mapping[str, tuple[str, ...]] = {}  # that an op takes after its operands

    def __init__(self, recorder: FrameworkRecorder) -> None:
        self._recorder = recorder
        self._found = recorder.found
        self.name = recorder.name
        self.dialect = recorder.dialect

    def versions(self) -> Header:
        """The versions the answers depend on."""
        return self._recorder.versions()

    def session(self) -> AbstractContextManager[None]:
        """The recorder's settings."""
        return self._recorder.session()

    def bound(self, result: Any) -> Any:
        """The result itself."""
        return result

    def weak_array(self, held: Held) -> str:
        """The framework's own array."""
        return self.array(held)

    def array(self, held: Held) -> str:
        """An array that holds these values."""
        raise NotImplementedError

    def called(self, step: Step, operands: Sequence[str]) -> str:
        """A call of the framework's function, or of its method in place."""
        found, more = self._found[step.op], self.more_arguments.get(step.op, ())
        if step.form == "inplace":
            given = arguments(step, operands[1:], self.axis_words, *more)
            return f"{operands[0]}.{found.name}_({given})"
        return f"{found.path}({arguments(step, in_list(step, operands), self.axis_words, *more)})"

    def read(self, array: Any) -> Held | None:
        """What NumPy reads of an array of the framework."""
        dtype = self._recorder.dtype_of(array)
        return numpy_held(array)._replace(dtype=dtype) if dtype else None

    def is_no_answer(self, error: Exception) -> bool:
        """Whether the recorder takes an error for a missing kernel, or for a wrong signature."""
        answer = self._recorder.classify(error)
        if answer is None:
            return isinstance(error, TypeError)
        return answer.startswith(NO_KERNEL)


def program_forms(forms: Forms, *others: str, without: Container[str] = ()) -> Forms:
    """The forms of each op that programs use: as a function, an operator, `a += b`, and others that
    are named."""
    kept = ("function", "operator", *others)
    return {
        op: (*[f for f in own if f in kept], *(["augmented"] if op in AUGMENTED_OPERATORS else []))
        for op, own in forms.items()
        if op not in without
    }
