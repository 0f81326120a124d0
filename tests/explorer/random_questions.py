"""Random questions of the kinds that the explorer's page answers."""

from __future__ import annotations

import random

from castwise.comparing.diff import weak_dtypes
from castwise.report.explorer.questions import COMMON_DTYPES, forms_of
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import OPS, Op

_BITS = (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 128, 200)
_FLOATS = (
    0.5,
    1.0,
    2.0,
    1.5,
    448.0,
    65504.0,
    65520.0,
    3.4e38,
    1e39,
    1e308,
    float("inf"),
    1e-7,
    1e16,
)
_NUMPY_ARRAYS = "bool uint8 int32 int64 float16 float32 float64 complex64 complex128"
_NUMPY_SCALARS = "bool int32 int64 float32 float64 complex128"
_WITH_NUMPY = ("arithmetic", "comparison")


class RandomQuestions:
    """Questions as a person types them, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def question(self, dialect: Dialect) -> str:
        # A framework's own name for one op may be castwise's for another: floor_div is such a one.
        aliases = {name for names in dialect.naming.aliases.values() for name in names.split()}
        op = self._chance.choice([op for op in OPS.values() if op.name not in aliases])
        form = self._chance.choice(forms_of(op))
        return _written(op, form, self._operands(op, form, dialect))

    def _operands(self, op: Op, form: str, dialect: Dialect) -> list[str]:
        low, high = op.arity
        count = self._chance.randint(max(low, 1), min(high, 3))
        if op.is_condition_first and self._chance.random() < 0.7:
            return ["bool[n]", *self._pair(op, form, dialect)]
        if count == 1:
            return [self._array(op, dialect)]
        if count == 2:
            return self._pair(op, form, dialect)
        common = [f"{d}[n,n]" for d in COMMON_DTYPES if d in dialect.dtypes]
        numbers = ["3", "21", "1.5", "True", "2j"]
        return [self._chance.choice([*common, *numbers]) for _ in range(count)]

    def _pair(self, op: Op, form: str, dialect: Dialect) -> list[str]:
        kind = self._chance.random()
        usual = f"{self._chance.choice(dialect.dtypes)}[n]"
        if kind < 0.4:
            return [self._array(op, dialect), self._array(op, dialect)]
        pair = [self._array(op, dialect), self._number()]
        if kind > 0.75 and op.family in _WITH_NUMPY and form in ("operator", "function"):
            of_numpy = self._numpy_scalar() if kind < 0.87 else self._numpy_array()
            pair = [usual, of_numpy]
        self._chance.shuffle(pair)
        return pair

    def _array(self, op: Op, dialect: Dialect) -> str:
        weak = weak_dtypes(dialect)
        if weak and self._chance.random() < 0.1:
            return f"{self._chance.choice(weak)}*{self._chance.choice(('[n]', '[]'))}"
        # Whether an array has more dimensions than another is not told by a bare dtype.
        shapes = ["[n]", "[3]", "[3,4]", "[]"] + [""] * (op.index is None)
        return f"{self._chance.choice(dialect.dtypes)}{self._chance.choice(shapes)}"

    def _number(self) -> str:
        kind = self._chance.choice(("bool", "int", "int", "int", "float", "float", "complex"))
        sign = self._chance.choice((1, -1))
        if kind == "bool":
            return self._chance.choice(("True", "False"))
        if kind == "int":
            power = 2 ** self._chance.choice(_BITS)
            near = (
                power,
                power - 1,
                power + 1,
                self._chance.randint(0, power),
                self._chance.randint(0, 9),
            )
            return str(sign * self._chance.choice(near))
        value = self._chance.choice((*_FLOATS, self._chance.uniform(0, 1e5)))
        if kind == "float":
            return repr(sign * value)
        return repr(complex(self._chance.choice((0, 0, 1.5)), value)).strip("()")

    def _numpy_array(self) -> str:
        return f"np.{self._chance.choice(_NUMPY_ARRAYS.split())}[n]"

    def _numpy_scalar(self) -> str:
        name = self._chance.choice(_NUMPY_SCALARS.split())
        if name == "bool":
            return f"np.bool({self._chance.choice(('True', 'False'))})"
        sign = self._chance.choice((1, -1))
        if name.startswith("int"):
            number = self._chance.choice((0, 1, 2, 300, self._chance.randint(0, 2**31 - 1)))
            return f"np.{name}({sign * number})"
        value = self._chance.choice((0.5, 1.0, 0.1, 70000.0, 1e30, self._chance.uniform(0, 10)))
        text = repr(sign * value) if name.startswith("float") else repr(complex(0, value))
        return f"np.{name}({text})"


def _written(op: Op, form: str, operands: list[str]) -> str:
    if form in ("operator", "augmented"):
        if len(operands) == 1:
            return f"{op.symbol}{operands[0]}"
        base = f"({operands[0]})" if operands[0].startswith("-") else operands[0]
        return f"{base} {op.symbol}{'=' if form == 'augmented' else ''} {operands[1]}"
    return f"{op.name}{'_' if form == 'inplace' else ''}({', '.join(operands)})"
