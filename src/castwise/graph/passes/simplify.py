"""Fewer casts, the same values: a list of rewrite rules, each of which keeps every bit.

No rule moves anything across a cast that may change a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic

from castwise.graph.passes.amounts import Amount, cast_bytes
from castwise.graph.program import CAST, Node, P, Program, rebuilt
from castwise.graph.shapes.arithmetic import size_of
from castwise.showing import html_of, line_of

Rewrite = Callable[[Node, "Uses"], "Node | None"]
Uses = Counter[Node]


def drop_no_op_cast(node: Node, uses: Uses) -> Node | None:
    """A cast to the dtype that a value already has is the value itself."""
    is_same = node.op == CAST and node.inputs[0].dtype is node.dtype
    return node.inputs[0] if is_same and _are_weak_alike(node, node.inputs[0]) else None


def undo_round_trip(node: Node, uses: Uses) -> Node | None:
    """An exact cast followed by the cast back is the value itself."""
    inner = _inner_cast(node)
    if inner is None or inner.inputs[0].dtype is not node.dtype:
        return None
    source = inner.inputs[0]
    is_exact = inner.dtype.holds_all(node.dtype)
    return source if is_exact and _are_weak_alike(node, source) else None


def merge_widening_casts(node: Node, uses: Uses) -> Node | None:
    """Two exact casts in a row are one."""
    inner = _inner_cast(node)
    if inner is None:
        return None
    source = inner.inputs[0]
    are_exact = inner.dtype.holds_all(source.dtype) and node.dtype.holds_all(inner.dtype)
    return replace(node, inputs=(source,)) if are_exact else None


def cast_before_broadcast(node: Node, uses: Uses) -> Node | None:
    """A cast of a broadcast value is cheaper before the broadcast."""
    if node.op != CAST or node.inputs[0].op != "broadcast_to":
        return None
    spread = node.inputs[0]
    source = spread.inputs[0]
    if size_of(source.shape) == size_of(spread.shape) or uses[spread] > 1:
        return None
    cast = replace(node, inputs=(source,), shape=source.shape)
    return replace(spread, inputs=(cast,), dtype=node.dtype, is_weak=node.is_weak)


def index_before_cast(node: Node, uses: Uses) -> Node | None:
    """A part of a cast value is cheaper to cast than the whole."""
    if node.op != "getitem" or node.inputs[0].op != CAST:
        return None
    cast = node.inputs[0]
    source = cast.inputs[0]
    if size_of(node.shape) == size_of(source.shape) or uses[cast] > 1:
        return None
    part = replace(node, inputs=(source, *node.inputs[1:]), dtype=source.dtype)
    return replace(cast, inputs=(part,), shape=node.shape)


def _are_weak_alike(one: Node, other: Node) -> bool:
    """Whether one may replace the other: it must not change whether an output is weak."""
    return one.is_weak == other.is_weak


def _inner_cast(node: Node) -> Node | None:
    """The cast whose result another cast takes."""
    is_pair = node.op == CAST and node.inputs[0].op == CAST
    return node.inputs[0] if is_pair else None


RULES: tuple[Rewrite, ...] = (
    drop_no_op_cast,
    undo_round_trip,
    merge_widening_casts,
    cast_before_broadcast,
    index_before_cast,
)


@dataclass(frozen=True, slots=True, repr=False)
class Simplification(Generic[P]):
    """A simplified program, and what it saved."""

    before: P
    graph: P
    applied: Counter[str]  # how often each rule was applied

    @property
    def casts_saved(self) -> int:
        return len(self.before.casts) - len(self.graph.casts)

    @property
    def bytes_saved(self) -> Amount:
        """The bytes that casts no longer write."""
        return cast_bytes(self.before) - cast_bytes(self.graph)

    @property
    def summary(self) -> str:
        """What it saved, in a line."""
        before, after = len(self.before.casts), len(self.graph.casts)
        return f"{before} casts -> {after}, {self.bytes_saved} bytes of casts saved"

    def __str__(self) -> str:
        rules = [f"  {rule.replace('_', ' ')}: {count}" for rule, count in self.applied.items()]
        return "\n".join([self.summary, *rules])

    def __repr__(self) -> str:
        return line_of("Simplification", f"{self.graph.name}: {self.summary}")

    def _repr_html_(self) -> str:
        return html_of(self)


def simplify(program: P) -> Simplification[P]:
    """The program after applying rules until none applies."""
    applied: Counter[str] = Counter()
    current = _without_decisions(program)
    while True:
        changes = sum(applied.values())
        current = _pass(_shared(current, applied), applied)
        if sum(applied.values()) == changes:
            return Simplification(program, current, applied)


def _without_decisions(program: P) -> P:
    """The program with a link to the traced one instead of its decisions, because an op's original
    operands may be gone once casts are removed."""

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        return replace(node, inputs=inputs, decision=None, operands=())

    return replace(rebuilt(program, remade), traced=program.traced or program)


def _pass(program: P, applied: Counter[str]) -> P:
    """Tries each rule once on each node."""
    uses = _uses(program)

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        current = node if same else replace(node, inputs=inputs)
        for new, old in zip(inputs, node.inputs, strict=True):
            uses[new] = max(uses[new], uses[old])
        uses[current] = uses[node]
        for rule in RULES:
            found = rule(current, uses)
            if found is not None:
                applied[rule.__name__] += 1
                uses[found] += uses[current]
                return found
        return current

    return rebuilt(program, remade)


def _uses(program: Program) -> Uses:
    """How many nodes, outputs and states take each node."""
    uses: Uses = Counter([*program.outputs, *[state.after for state in program.state]])
    for node in program.nodes:
        uses.update(node.inputs)
    return uses


def _shared(program: P, applied: Counter[str]) -> P:
    """Merges casts of the same value to the same dtype."""
    known: dict[tuple[object, ...], Node] = {}

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        current = replace(node, inputs=inputs) if inputs != node.inputs else node
        if node.op != CAST:
            return current
        first = known.setdefault((inputs[0], node.dtype, node.is_weak), current)
        if first is not current:
            applied["share_repeated_casts"] += 1
        return first

    return rebuilt(program, remade)
