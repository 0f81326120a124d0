"""The steps of a decision in words, taken from the decision's own trace."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from castwise.catalog import DEFAULT, is_dialect_name, to_dialect
from castwise.engine.ask import answer, asked_op, find_op, question_about, question_for
from castwise.engine.decide import decision_steps
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError, UsageError
from castwise.rules.dialect import Dialect
from castwise.showing import InNotebooks, repr_line
from castwise.vocab.notation import Expression, parse_expression
from castwise.vocab.operands import (
    UNDEFINED,
    Operand,
    Scalar,
    array_operand,
    numpy_scalar_operand,
    scalar_operand,
    scalar_text,
)
from castwise.vocab.ops import EXTENSIONS, Op, op_of_symbol

# Operators between Python's own numbers, which Python computes before any framework sees them.

_COMPUTED: dict[tuple[str, int], Callable[..., Any]] = {
    ("+", 2): operator.add, ("-", 2): operator.sub, ("*", 2): operator.mul,
    ("/", 2): operator.truediv, ("//", 2): operator.floordiv, ("%", 2): operator.mod,
    ("**", 2): operator.pow, ("@", 2): operator.matmul, ("&", 2): operator.and_,
    ("|", 2): operator.or_, ("^", 2): operator.xor, ("<<", 2): operator.lshift,
    (">>", 2): operator.rshift, ("==", 2): operator.eq, ("!=", 2): operator.ne,
    ("<", 2): operator.lt, ("<=", 2): operator.le, (">", 2): operator.gt, (">=", 2): operator.ge,
    ("-", 1): operator.neg, ("+", 1): operator.pos, ("~", 1): operator.invert,
}  # fmt: skip
_MOST_BITS = 1 << 12  # of a whole number: more than any dtype holds, and quick to compute


def computed(symbol: str, numbers: tuple[Scalar, ...]) -> Scalar:
    """What Python gives for an operator between numbers.

    >>> computed("/", (1, 2))
    0.5

    Raises UsageError where Python raises, or the number would be huge.
    """
    shown = numbers_text(symbol, numbers)
    if symbol in ("**", "<<") and all(isinstance(number, int) for number in numbers):
        base, amount = (int(number.real) for number in numbers)
        bits = base.bit_length() * amount if symbol == "**" else base.bit_length() + amount
        if abs(base) > 1 and bits > _MOST_BITS:
            raise UsageError(f"{shown} is a number of too many digits.")
    try:
        found = _COMPUTED[symbol, len(numbers)](*numbers)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise UsageError(f"Python cannot compute {shown}: {error}.") from None
    if isinstance(found, int) and found.bit_length() > _MOST_BITS:
        raise UsageError(f"{shown} is a number of too many digits.")
    return found  # type: ignore[no-any-return]


def numbers_text(symbol: str, numbers: tuple[Scalar, ...]) -> str:
    """An operator between numbers as text."""
    words = [scalar_text(number)[:40] for number in numbers]
    return f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}{words[0]}"


# The shape that an op's result has as an operand of the next op.
#
# Rules tell 0-d arrays from others, and vectors from matrices. An unknown size is a name, an
# unknown shape None.

Size: TypeAlias = "int | str"
Shape: TypeAlias = "tuple[Size, ...] | None"
_AXIS = ("axis", "dim")
OF_SHAPES = (*_AXIS, "keepdims", "keepdim")  # the arguments that change a shape, and no dtype


def takes_axis(row: Op) -> bool:
    """Whether an op works along an axis."""
    return row.family in ("reductions", "joining") or row.call.along_axis


def _result_shape(row: Op, shapes: Sequence[Shape], options: Mapping[str, Any]) -> Shape:
    """The shape of an op's result.

    Raises UsageError where the shapes do not fit together.
    """
    if row.family == "losses" or row.shapes.gives_one:
        return ()
    if row.family == "conversion":
        return shapes[0]
    if row.family == "reductions" and not row.call.along_axis:
        return _reduced(shapes[0], options)
    if None in shapes or row.name in EXTENSIONS or row.name == "tensordot":
        return None
    known = [shape for shape in shapes if shape is not None]
    if row.family == "products":
        return _product(row.name, *known)
    if row.family == "joining":
        return _joined(row.name, known, _axis(options) or 0)
    return broadcast(known)


def broadcast(shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The shape of elementwise results.

    >>> broadcast([(3,), (2, 1), ()])
    (2, 3)

    Raises UsageError where sizes differ.
    """
    rank = max(map(len, shapes))
    wide = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    sizes: list[Size] = []
    for found in zip(*wide, strict=True):
        different = list(dict.fromkeys(size for size in found if size != 1))
        known = [size for size in different if isinstance(size, int)]
        if len(known) > 1:
            shown = " and ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
            raise UsageError(f"arrays of the shapes {shown} do not broadcast.")
        sizes.append(next(iter([*known, *different]), 1))
    return tuple(sizes)


def _axis(options: Mapping[str, Any]) -> int | None:
    axis = next((options[name] for name in _AXIS if options.get(name) is not None), None)
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
        raise UsageError(f"an axis is a whole number, not {str(axis)[:40]}.")
    return axis


def _reduced(shape: Shape, options: Mapping[str, Any]) -> Shape:
    axis = _axis(options)
    keeps = bool(options.get("keepdims") or options.get("keepdim"))
    if axis is None:
        return shape and (1,) * len(shape) if keeps else ()
    if shape is None:
        return None
    rank = max(len(shape), 1)  # some frameworks let a 0-d array have an axis
    if not -rank <= axis < rank:
        raise UsageError(f"an array of {len(shape)} dimensions has no axis {axis}.")
    place, left = axis % rank, (1,) if keeps and shape else ()
    return (*shape[:place], *left, *shape[place + 1 :])


def _product(name: str, x: tuple[Size, ...], y: tuple[Size, ...]) -> tuple[Size, ...]:
    if name == "outer":
        return _size(x), _size(y)
    if name in ("kron", "cross") or not x or not y:
        return broadcast([x, y]) if name == "cross" or not x or not y else _kron(x, y)
    if name == "vecdot":
        return broadcast([x[:-1], y[:-1]])
    if name == "inner":
        return (*x[:-1], *y[:-1])
    stacks = broadcast([x[:-2], y[:-2]])
    return (*stacks, *x[:-1][-1:], *(y[-1:] if len(y) > 1 else ()))


def _size(shape: tuple[Size, ...]) -> Size:
    known = [size for size in shape if isinstance(size, int)]
    return math.prod(known) if len(known) == len(shape) else "n"


def _kron(x: tuple[Size, ...], y: tuple[Size, ...]) -> tuple[Size, ...]:
    rank = max(len(x), len(y))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (x, y))
    return tuple([_size(pair) for pair in zip(left, right, strict=True)])


def _joined(name: str, shapes: list[tuple[Size, ...]], axis: int) -> tuple[Size, ...]:
    first = shapes[0]
    if name == "stack":
        place = axis % (len(first) + 1)
        return (*first[:place], len(shapes), *first[place:])
    if not first:
        return (len(shapes),)
    place = axis % len(first)
    sizes = [shape[place] for shape in shapes if len(shape) == len(first)]
    known = [size for size in sizes if isinstance(size, int)]
    total: Size = sum(known) if len(known) == len(shapes) else "n"
    return (*first[:place], total, *first[place + 1 :])


# The ops of an expression in the order in which they run, each a question of its own.


@dataclass(frozen=True, slots=True)
class Part:
    """One op of an expression."""

    text: str  # the op with its operands: "int8[3] + int16[3]"
    question: Question | None  # None: Python computes it
    result: Operand | None = None  # as an operand of the next; None for the last one


@dataclass(frozen=True, slots=True)
class Taken:
    """An expression taken apart. The last part is the whole, or the one that fails."""

    text: str
    dialect: Dialect
    parts: tuple[Part, ...]
    is_whole: bool = True  # False: an inner op is refused or fails to run

    @property
    def last(self) -> Question:
        question = self.parts[-1].question
        assert question is not None  # Python computes inner parts alone
        return question

    @property
    def is_nested(self) -> bool:
        return len(self.parts) > 1 or not self.is_whole


def taken_apart(text: str, dialect: str | Dialect | None = None) -> Taken:
    """The parts of an expression such as "(int8[3] + 1).mean() * 2".

    Raises UsageError where it makes no sense.
    """
    chosen = to_dialect(dialect)
    parsed = parse_expression(text)
    asking = _Asking(chosen)
    try:
        asking.ask(parsed)
        is_whole = True
    except _FailedInside:
        is_whole = False
    parts = tuple(asking.parts)
    if is_whole and len(parts) == 1 and parts[0].question:
        return single_part(parts[0].question)
    return Taken(" ".join(text.split()), chosen, parts, is_whole)


def single_part(question: Question) -> Taken:
    """A question that was asked as such, as an expression of one part."""
    return Taken(str(question), question.dialect, (Part(str(question), question),))


class _FailedInside(Exception):  # noqa: N818 -- ends the asking, and is no error
    """An inner op is refused or has no kernel, so that there is no operand for the next."""


class _Asking:
    """Asks about the ops of an expression, the inner ones first."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.parts: list[Part] = []

    def ask(self, parsed: Expression) -> None:
        """Asks about a whole expression."""
        question, _ = self._question(parsed)
        self.parts.append(Part(str(question), question))

    def _operand(self, given: Operand | Expression) -> Operand:
        """An operand as it is, or the result of an inner op."""
        if isinstance(given, Operand):
            return given
        if not given.symbol:
            return self._result(*self._question(given))
        operands = tuple(map(self._operand, given.operands))
        if all(operand.is_scalar for operand in operands):
            return self._python_number(given.symbol, operands)
        arrays = [operand for operand in operands if operand.dtype is not None]
        is_numpy_alone = bool(arrays) and all(array.is_numpy for array in arrays)
        dialect = to_dialect(DEFAULT) if is_numpy_alone else self._dialect
        row = op_of_symbol(given.symbol, len(operands))
        return self._result(Question(row, operands, dialect, "operator"), {})

    def _python_number(self, symbol: str, operands: tuple[Operand, ...]) -> Operand:
        numbers = tuple([o.value for o in operands if o.value is not None])
        found = scalar_operand(computed(symbol, numbers))
        self.parts.append(Part(numbers_text(symbol, numbers), None, found))
        return found

    def _question(self, given: Expression) -> tuple[Question, dict[str, Any]]:
        """The question of an op, and what its shape depends on."""
        operands = tuple(map(self._operand, given.operands))
        named: dict[str, Any] = {
            name: value if isinstance(value, str) else self._operand(value)
            for name, value in given.named
        }
        options: dict[str, Any] = {}
        if given.op:
            row = find_op(asked_op(given.op).name, self._dialect)
            if takes_axis(row):
                options = {name: named.pop(name).value for name in OF_SHAPES if name in named}
                if row.arity == (1, 1) and len(operands) == 2 and operands[1].is_scalar:
                    options, operands = {"axis": operands[1].value, **options}, operands[:1]
        if given.is_method and operands[0].dtype is None:
            raise UsageError(f"{operands[0]} is no array, and has no method {given.op}.")
        is_numpy_method = given.is_method and operands[0].is_numpy
        dialect = to_dialect(DEFAULT) if is_numpy_method else self._dialect
        return question_for(given, operands, named, dialect), options

    def _result(self, question: Question, options: dict[str, Any]) -> Operand:
        """What an inner op gives, as an operand."""
        if question.op.family == "questions":
            raise UsageError(f"{question.op.name} gives a dtype, and no array for another op.")
        try:
            decision = answer(question)
        except PromotionError:
            decision = None
        if decision is None or not decision.has_kernel:
            self.parts.append(Part(str(question), question))
            raise _FailedInside
        found = _as_operand(decision, self._dialect, options)
        self.parts.append(Part(str(question), question, found))
        return found


def _as_operand(decision: Decision, dialect: Dialect, options: dict[str, Any]) -> Operand:
    """The result of an op as an operand of the next. Its values are not known."""
    question = decision.question
    given = [() if o.is_scalar else o.shape for o in question.operands if o is not UNDEFINED]
    shape = given[0] if question.inplace else _result_shape(question.op, given, options)
    is_numpy = dialect.framework != DEFAULT and question.dialect is not dialect
    if is_numpy and shape == ():
        return numpy_scalar_operand(decision.result, 1)
    return array_operand(decision.result, shape, is_weak=decision.is_weak, is_numpy=is_numpy)


class Explained(str, InNotebooks):
    """The text of an explanation, which a notebook shows as HTML."""

    __slots__ = ("taken",)

    taken: Taken

    def __new__(cls, taken: Taken) -> Explained:
        made = super().__new__(cls, _text(taken))
        made.taken = taken
        return made

    def __reduce__(self) -> tuple[type[Explained], tuple[Taken]]:
        return Explained, (self.taken,)

    def __repr__(self) -> str:
        head, *steps = [line.strip() for line in self.splitlines()]
        ending = next((step for step in steps if step.startswith("Refused: ")), steps[-1])
        return repr_line("Explained", f"{head}: {ending} print() shows the steps")


def explain(name: Any, *operands: Any, **parts: Any) -> Explained:
    """How a decision comes about, step by step; a refusal is explained the same way.

    Takes what resolve takes, or one expression such as "int32[3] + 5", which may be nested. The
    dialect of an expression may also stand before or after it, without a name. Print the result.

    >>> print(explain("int32[3] / int32[3]", dialect="torch"))
    int32[3] / int32[3] in torch
      int32[3] is an array of int32.
      int32[3] is an array of int32.
      div does not compute in int32, which becomes float32.
      Cast: int32 -> float32 is exact up to 2**24.
      Cast: int32 -> float32 is exact up to 2**24.
      The result is float32.
    """
    if len(operands) == 1 and "dialect" not in parts:
        name, operands, parts = _with_dialect(name, operands[0], parts)
    if operands or not isinstance(name, str):
        return Explained(single_part(question_about(name, *operands, **parts)))
    return Explained(taken_apart(name, **parts))


def _with_dialect(
    name: Any, other: Any, parts: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The arguments of explain, of which one may be the dialect of an expression."""
    for text, dialect in ((name, other), (other, name)):
        if isinstance(text, str) and (isinstance(dialect, Dialect) or is_dialect_name(dialect)):
            return text, (), {**parts, "dialect": dialect}
    return name, (other,), parts


def _headline(taken: Taken) -> str:
    """The whole expression and its dialect; what is promoted and then fails to run says so."""
    asked = f"{taken.text} in {taken.dialect.name}"
    if _is_without_kernel(taken.last):
        return f"{asked} fails to run{failing_part(taken)}"
    return asked if taken.is_whole else f"{asked} is refused{failing_part(taken)}"


def failing_part(taken: Taken) -> str:
    """In which part an expression of several fails."""
    return f" in part {len(taken.parts)}" if taken.is_nested else ""


def _is_without_kernel(question: Question) -> bool:
    """Whether an op is promoted, and its framework has no kernel to run it."""
    try:
        return not answer(question).has_kernel
    except PromotionError:
        return False


def part_head(number: int, part: Part, dialect: Dialect) -> str:
    """The line above the steps of a part: its number, what it is, and what it gives."""
    elsewhere = part.question and part.question.dialect is not dialect
    where = f" in {part.question.dialect.name}" if part.question and elsewhere else ""
    gives = f" is {part.result}" if part.result else ""
    fails = " fails to run" if part.question and _is_without_kernel(part.question) else ""
    return f"Part {number}: {part.text}{where}{fails or gives}"


def part_steps(part: Part) -> list[str]:
    """The steps of a part, one sentence each."""
    if part.question is None:
        return [f"Python computes it, and gets {part.result}."]
    steps = decision_steps(part.question)
    if part.result and part.result.value is not None:
        steps.append(f"Its value is not known: it is taken as {part.result}.")
    return steps


def _text(taken: Taken) -> str:
    lines = [_headline(taken)]
    if not taken.is_nested:
        return "\n  ".join([*lines, *part_steps(taken.parts[0])])
    for number, part in enumerate(taken.parts, 1):
        lines.append(f"  {part_head(number, part, taken.dialect)}")
        lines += [f"    {step}" for step in part_steps(part)]
    return "\n".join(lines)
