"""A program read under another dialect: what would change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic

from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.execute.calling.prepared import check_kernel
from castwise.execute.functions.alike import LIKE
from castwise.graph.node_names import node_names
from castwise.graph.program import CAST, Node, P
from castwise.graph.shapes.results import has_own_dtype, result_dtype
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.showing import html_of, line_of
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, array_operand

# How a node can change.
OUTCOMES = {
    "changes dtype": "the op gives another dtype there",
    "needs a cast": "the op gives the same dtype, but casts other operands on the way",
    "refused": "the op is not defined there",
}


@dataclass(frozen=True, slots=True, repr=False)
class OpChange:
    """How one op changes under the other dialect."""

    node: Node
    outcome: str  # one of OUTCOMES
    here: Decision
    there: Decision | None  # None if it is refused
    why: str = ""

    @property
    def op(self) -> str:
        """The name of the op, or of a function that is decided like one."""
        node = self.node.inputs[0] if self.node.op == CAST else self.node
        return node.op if node.op in LIKE else self.here.question.op.name

    def __str__(self) -> str:
        where = f"{self.node.origin}: " if self.node.origin else ""
        if self.op in LIKE:
            where = f"{where}{self.op} is decided as {LIKE[self.op]}: "
        if self.there is None:
            return f"{where}{self.why}"
        if self.outcome == "changes dtype":
            said = f"gives {self.there.result}, not {self.here.result}"
        else:
            said = f"computes in {self.there.compute}, not {self.here.compute}"
        return f"{where}{self.there.question} {said}"

    def __repr__(self) -> str:
        return line_of("OpChange", f"{self.op} {self.outcome}: {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Redialect(Generic[P]):
    """A program read under another dialect."""

    graph: P
    dialect: Dialect
    changes: tuple[OpChange, ...]

    @property
    def summary(self) -> str:
        """How much changes, in a line."""
        count = f"{len(self.changes)} of the ops change" if self.changes else "nothing changes"
        return f"{self.graph.name}: {self.graph.dialect.name} -> {self.dialect.name}: {count}"

    @property
    def lines(self) -> list[str]:
        """What changes, a line each."""
        names = node_names(self.graph)
        return [f"{names[c.node]} {c.op}: {c.outcome}: {c}" for c in self.changes]

    def __str__(self) -> str:
        return "\n".join([self.summary, *[f"  {line}" for line in self.lines]])

    def __repr__(self) -> str:
        return line_of("Redialect", self.summary)

    def _repr_html_(self) -> str:
        return html_of(self)


def redialect(program: P, dialect: str | Dialect) -> Redialect[P]:
    """What the program, without its implicit casts, does under another dialect.

    Each op is asked about with the operands it would have there. After a refusal, the old dtype is
    used for the next ops.
    """
    chosen = to_dialect(dialect)
    there: dict[Node, Operand] = {}
    changes: dict[object, OpChange] = {}  # one per call, however many results it has
    for node in program.nodes:
        if node.decision is None:
            there[node] = _carried(node, there)
            continue
        operands = _written_operands(node, there)
        question = replace(node.decision.question, operands=operands, dialect=chosen)
        change, seen = _asked(node, question)
        there[node] = seen
        if change:
            changes.setdefault(node if node.part is None else node.call, change)
    return Redialect(program, chosen, tuple(changes.values()))


def _carried(node: Node, there: dict[Node, Operand]) -> Operand:
    """An input, a constant, a layout or a cast as an operand under the other dialect."""
    # An op without a decision is a step of an explicit cast.
    is_moved = node.inputs and node.compute is None and node.dtype is node.inputs[0].dtype
    # An implicit cast is not part of the program. An explicit one is, also to the dtype that the
    # array has here: there, the array may be weak, or have another dtype.
    if node.is_implicit or (is_moved and node.op != CAST):
        source = there[node.inputs[0]]
        return replace(source, shape=node.shape) if source.dtype else source
    return array_operand(node.dtype, node.shape, is_weak=node.is_weak)


def _written_operands(node: Node, there: dict[Node, Operand]) -> tuple[Operand, ...]:
    """The operands as the program wrote them: before implicit casts, numbers as numbers."""
    assert node.decision is not None
    arrays = iter(node.operands)
    return tuple(
        [
            there[next(arrays)] if operand.dtype and not operand.is_numpy else operand
            for operand in node.decision.question.operands
        ]
    )


def _asked(node: Node, question: Question) -> tuple[OpChange | None, Operand]:
    here = node.decision
    assert here is not None
    old = array_operand(node.dtype, node.shape)
    try:
        there = decided(question)
    except PromotionError as error:
        return OpChange(node, "refused", here, None, str(error)), old
    seen = array_operand(result_under(node, there), node.shape, is_weak=there.is_weak)
    if there.result is not here.result:
        return OpChange(node, "changes dtype", here, there), seen
    is_same = there.compute is here.compute and there.casts == here.casts
    return (None if is_same else OpChange(node, "needs a cast", here, there)), seen


def result_under(node: Node, there: Decision) -> DType:
    """The dtype of a node under a decision: some functions have their own, such as fft."""
    if has_own_dtype(node.op):
        return result_dtype(node.op, there.compute, node.part)
    return there.result


def decided(question: Question) -> Decision:
    """The decision; raises PromotionError also if the framework has no kernel for it."""
    there = answer(question)
    check_kernel(there)
    return there
