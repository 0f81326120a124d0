"""Random programs. One seed gives one program, on any machine and whatever frameworks answer.

What a step does to shapes is modelled here, so that most steps make sense; a framework that gives
another shape makes a later step fail, on both sides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from castwise.conformance.grid import (
    BINARY,
    JOINS,
    LOSSES,
    PLAIN,
    REDUCTIONS,
    SCANS,
    TERNARY,
    UNARY,
)
from castwise.conformance.operand import Scalar, read_literal, words
from castwise.conformance.programs.program import (
    ALIAS,
    ASSIGN,
    CAST,
    INDEX,
    KeyPart,
    Operand,
    Program,
    Step,
    made,
)
from castwise.conformance.programs.shapes import Shape, broadcast, indexed, product_of, reduced
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.values.notation import Held, number
from castwise.conformance.values.operands import edges, ordinary

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
        self._bind(
            op,
            (name,),
            reduced(shape, axis if shape else None, keeps=keeps),
            axis=axis,
            keeps_axis=keeps,
        )

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
        shape = product_of(*shapes)
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
        return self._chance.choice(
            [n for n, s in self._shapes.items() if broadcast(s, shape) is not None]
        )

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
        count = 1
        for length in shape:
            count *= length
        return tuple(self._chance.choice(values) for _ in range(count))

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
            keys.append((self._mask(length),))
            if length:
                keys.append((self._places(length),))
        return self._chance.choice(keys)

    def _mask(self, length: int) -> Held:
        return Held("bool", (length,), self._some((True, False), (length,)))

    def _places(self, length: int) -> Held:
        # Each once: which of two values written to one place stays is nobody's promise.
        places = self._chance.sample(range(length), self._chance.randint(1, length))
        return Held("int64", (len(places),), tuple(places))
