"""A graph under another dialect: what would change, and how to keep what it means."""

from __future__ import annotations

from dataclasses import dataclass, replace

from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.execute.alike import LIKE
from castwise.execute.plans import check_kernel
from castwise.graph.pictures.text import node_names
from castwise.graph.program import CAST, CONSTANT, Call, Graph, Node, rebuilt
from castwise.graph.shapes.results import has_own_dtype, result_dtype
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import op

# What becomes of a node.
OUTCOMES = {
    "changes dtype": "the op gives another dtype there",
    "needs a cast": "the op gives the same dtype, but casts other operands on the way",
    "refused": "the op is not defined there",
}


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one op under the other dialect."""

    node: Node
    outcome: str  # one of OUTCOMES
    here: Decision
    there: Decision | None  # None where it is refused
    why: str = ""

    @property
    def op(self) -> str:
        """The name of the op, or of a function that is decided as one."""
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


@dataclass(frozen=True, slots=True, repr=False)
class Redialect:
    """A graph read under another dialect."""

    graph: Graph
    dialect: Dialect
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        names = node_names(self.graph)
        head = f"{self.graph.name}: {self.graph.dialect.name} -> {self.dialect.name}"
        if not self.changes:
            return f"{head}: nothing changes"
        lines = [f"  {names[c.node]} {c.op}: {c.outcome}: {c}" for c in self.changes]
        return "\n".join([f"{head}: {len(self.changes)} of the ops change", *lines])

    __repr__ = __str__


def redialect(graph: Graph, dialect: str | Dialect) -> Redialect:
    """What the program, written without its implicit casts, does under another dialect.

    Each op is asked with the operands it would have there; after a refusal the old dtype goes on.
    A simplified graph answers as the one it was made from does.
    """
    chosen = to_dialect(dialect)
    graph = graph.traced or graph
    there: dict[Node, Operand] = {}
    changes: dict[object, Change] = {}  # one a call, however many results it has
    for node in graph.nodes:
        if node.decision is None:
            there[node] = _carried(node, there)
            continue
        operands = _written_operands(node, there)
        question = replace(node.decision.question, operands=operands, dialect=chosen)
        change, seen = _asked(node, question)
        there[node] = seen
        if change:
            changes.setdefault(node if node.part is None else node.call, change)
    return Redialect(graph, chosen, tuple(changes.values()))


def _carried(node: Node, there: dict[Node, Operand]) -> Operand:
    """What an input, a constant, a layout or a cast is under the other dialect."""
    # An op without a decision is a step of a cast that the program asks for.
    is_moved = node.inputs and node.compute is None and node.dtype is node.inputs[0].dtype
    if is_moved or node.is_implicit:  # an implicit cast is not part of the program
        source = there[node.inputs[0]]
        return replace(source, shape=node.shape) if source.dtype else source
    return array_operand(node.dtype, node.shape, is_weak=node.is_weak)


def _written_operands(node: Node, there: dict[Node, Operand]) -> tuple[Operand, ...]:
    """The operands as the program has them: before implicit casts, numbers as numbers."""
    assert node.decision is not None
    arrays = iter(node.operands)
    return tuple(
        [
            there[next(arrays)] if operand.dtype and not operand.is_numpy else operand
            for operand in node.decision.question.operands
        ]
    )


def _asked(node: Node, question: Question) -> tuple[Change | None, Operand]:
    here = node.decision
    assert here is not None
    old = array_operand(node.dtype, node.shape)
    try:
        there = _decided(question)
    except PromotionError as error:
        return Change(node, "refused", here, None, str(error)), old
    seen = array_operand(_result(node, there), node.shape, is_weak=there.is_weak)
    if there.result is not here.result:
        return Change(node, "changes dtype", here, there), seen
    is_same = there.compute is here.compute and there.casts == here.casts
    return (None if is_same else Change(node, "needs a cast", here, there)), seen


def _result(node: Node, there: Decision) -> DType:
    """The dtype of a node under a decision: some functions have one of their own, such as fft."""
    if has_own_dtype(node.op):
        return result_dtype(node.op, there.compute, node.part)
    return there.result


def _decided(question: Question) -> Decision:
    """The decision; raises PromotionError also where the framework has nothing that runs it."""
    there = answer(question)
    check_kernel(there)
    return there


def preserve(graph: Graph, dialect: str | Dialect) -> Graph:
    """The graph under another dialect, with the explicit casts that keep what it computes.

    Every implicit cast becomes one the program asks for, and a result that the other dialect
    gives another dtype is cast back.

    Raises PromotionError where an op has no equal there, or an array becomes one of another dtype.
    """
    chosen = to_dialect(dialect)
    for node in graph.inputs:
        _check_held(node, chosen)
    rules = [d.values.single_powers for d in (graph.dialect, chosen)]
    takes_roots = rules[0] != rules[1] == "square root"

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.compute is None:
            is_weak = node.is_weak and chosen.has_weak_arrays
            return replace(node, inputs=inputs, cast=None, decision=None, operands=(),
                           is_weak=is_weak)  # fmt: skip
        if takes_roots and node.op == "pow":
            inputs = (inputs[0], _spread(inputs[1], inputs[0]))
        return _kept(node, inputs, chosen)

    kept = replace(rebuilt(graph, remade), dialect=chosen, traced=None)
    return replace(kept, calls=_calls(kept))


def _check_held(node: Node, dialect: Dialect) -> None:
    """Raises PromotionError where a dialect truncates what a graph is given, used or not."""
    held = dialect.mapping(dialect.truncates).get(node.dtype, node.dtype)
    if held is not node.dtype:
        raise PromotionError(
            f"{node.name} is of {node.dtype}, which becomes {held} in {dialect.name}: cast it."
        )


def _calls(graph: Graph) -> tuple[Call, ...]:
    """What a graph asks its dialect, of which every op is part of the program."""
    asked = {
        node if node.part is None else node.call: Call(
            node.decision, tuple([operand.shape for operand in node.operands]), node.shape
        )
        for node in graph.nodes
        if node.decision
    }
    return tuple(asked.values())


def _spread(exponent: Node, base: Node) -> Node:
    """An exponent that may be one half as an array, of which no dialect takes the square root; not
    by a broadcast, which NumPy sees through."""
    is_other = exponent.op == CONSTANT and exponent.value != 0.5
    if exponent.shape or is_other or not base.shape:
        return exponent
    where = Node("eq", (base, base), dtype("bool"), base.shape, compute=base.dtype)
    made = (where, exponent, exponent)
    return Node("where", made, exponent.dtype, base.shape, compute=exponent.dtype)


# Ops whose wider integer result, cut back, is that of the narrower integers: both wrap.
_WRAPPING = frozenset(
    {"add", "sub", "mul", "neg", "square", "sum", "prod", "cumsum", "cumprod", "matmul", "dot",
     "outer", "inner", "vecdot", "cross", "kron", "addcmul", "bitwise_and", "bitwise_or",
     "bitwise_xor", "bitwise_not", "bitwise_left_shift"}
)  # fmt: skip


def _kept(node: Node, inputs: tuple[Node, ...], dialect: Dialect) -> Node:
    """The op under the other dialect, on operands of its compute dtype."""
    node = replace(node, inputs=inputs)
    operands = tuple([array_operand(given.dtype, given.shape) for given in node.positional])
    question = Question(op(LIKE.get(node.op, node.op)), operands, dialect)
    there = _decided(question)
    if not _computes_alike(node, there):
        raise PromotionError(
            f"{question} computes in {there.compute} in {dialect.name}, and in {node.compute} "
            "here: no cast makes them equal. Write it with other ops."
        )
    result = _result(node, there)
    made = replace(
        node, dtype=result, compute=there.compute, decision=there, operands=node.positional,
        is_weak=False,
    )  # fmt: skip
    if result is node.dtype:
        return made
    if not result.holds(node.dtype):
        raise PromotionError(
            f"{question} gives {result} in {dialect.name}, which does not hold {node.dtype}."
        )
    return Node(CAST, (made,), node.dtype, node.shape, origin=node.origin)


def _computes_alike(node: Node, there: Decision) -> bool:
    """Whether an op computes the same values there, but for integers that are cut afterwards."""
    here = node.compute
    assert here is not None  # every op has one
    is_wider = here.kind == there.compute.kind == "int" and there.compute.holds(here)
    return here is there.compute or (is_wider and node.op in _WRAPPING)
