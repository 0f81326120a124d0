"""What dialects are asked when they are compared: ops with pairs of operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from castwise.compare.outcome import CONDITION, arranged, default_form
from castwise.engine.decide import decide
from castwise.engine.decision import Question, Refusal
from castwise.rules.dialect import Dialect
from castwise.showing import line_of
from castwise.vocab.dtypes import DType, dtypes_of, weak_nodes_of
from castwise.vocab.mix_words import in_listed_order
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand, Role, array_operand
from castwise.vocab.ops import Op

# Python scalars of each kind, within the range of every dtype and beyond that of some.
SCALARS = tuple(map(parse_operand, ("True", "1", "-1", "300", "1.5", "1e39", "1j")))
REFUSED = "refused"
_WEAK = dtypes_of("int32 int64 float32 float64 complex64 complex128")
_WRITING = ("arithmetic", "bits")  # families whose `x += y` is asked about


class Pair(NamedTuple):
    """An op and the operands it is asked with; a unary op takes the left one."""

    op: Op
    left: Operand
    right: Operand
    is_augmented: bool = False  # `left += right`

    @property
    def operands(self) -> list[Operand]:
        """The operands in the order they are listed: arrays first, low kinds first."""
        operands = [self.left, self.right][: self.op.arity[1]]
        return in_listed_order(operands)

    def question(self, dialect: Dialect) -> Question:
        """The question for a dialect, as an operator where there is one."""
        operands = arranged(self.op, CONDITION, self.left, self.right)
        form = "augmented" if self.is_augmented else default_form(self.op)
        return Question(self.op, operands, dialect, form)

    def __str__(self) -> str:
        operands = ", ".join(map(str, arranged(self.op, CONDITION, self.left, self.right)))
        return f"{self.op.name}{'_' * self.is_augmented}({operands})"

    def __repr__(self) -> str:
        return line_of("Pair", str(self))


def pairs_of(rows: Iterable[Op], dtypes: Iterable[DType], weak: Iterable[DType]) -> Iterator[Pair]:
    """Every pair of arrays, 0-d arrays and scalars, in both orders, and `x += y` of arrays."""
    shapes: tuple[tuple[int, ...], ...] = ((3,), ())
    arrays = [array_operand(d, shape) for shape in shapes for d in dtypes]
    arrays += [array_operand(d, shape, is_weak=True) for shape in shapes for d in weak]
    for row in rows:
        for array in arrays:
            if row.arity[1] == 1:
                yield Pair(row, array, array)
                continue
            yield from (Pair(row, array, other) for other in (*arrays, *SCALARS))
            yield from (Pair(row, scalar, array) for scalar in SCALARS)
            if row.augments and row.family in _WRITING and array.role is Role.ARRAY:
                yield from (Pair(row, array, other, True) for other in (*arrays, *SCALARS))


def weak_dtypes(*dialects: Dialect) -> list[DType]:
    """The dtypes of weak arrays in questions: common ones, if all the dialects have such arrays."""
    return [d for d in _WEAK if all(_has_weak(dialect, d) for dialect in dialects)]


def _has_weak(dialect: Dialect, dtype: DType) -> bool:
    """Whether there are weak arrays of a dtype, and a node for them in the order."""
    if not dialect.has_weak_arrays or dtype not in dialect.dtypes:
        return False
    return not set(weak_nodes_of(dtype)).isdisjoint(dialect.nodes)


class PairAnswer(NamedTuple):
    """What comparing needs to know of a decision or a refusal."""

    result: DType | None  # None: refused
    is_weak: bool = False
    runs: bool = True  # False: it promotes, but has no kernel
    is_by_value: bool = False  # refused because of a scalar's value

    @property
    def text(self) -> str:
        """The result, or "refused": all that is compared."""
        return f"{self.result}{'*' if self.is_weak else ''}" if self.result else REFUSED


class Answers:
    """The answers of a dialect, each decided once."""

    def __init__(self, dialect: Dialect, tells_weak: bool) -> None:
        self.dialect = dialect
        self.truncates = dialect.truncations
        self._tells_weak = tells_weak
        self._known: dict[object, PairAnswer] = {}

    def __getitem__(self, pair: Pair) -> PairAnswer:
        key = pair.op, pair.left.key, pair.right.key, pair.is_augmented
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._asked(pair)
        return found

    def _asked(self, pair: Pair) -> PairAnswer:
        try:
            decision = decide(pair.question(self.dialect))
        except Refusal as refusal:
            return PairAnswer(None, is_by_value=refusal.by_value)
        is_weak = decision.is_weak and self._tells_weak
        return PairAnswer(decision.result, is_weak, decision.has_kernel)
