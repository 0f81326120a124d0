"""The policy of weak nodes: weakly typed operands have their own nodes in the order."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import number_dtypes, own_dtype
from castwise.engine.steps.weakness import is_weakly_typed
from castwise.vocab.dtypes import DType, weak_nodes_of
from castwise.vocab.operands import Operand


def as_nodes(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand's node reaches: weakly typed operands, including Python numbers, have their
    own nodes (JAX's lattice)."""
    counts = number_dtypes(plan, [o.dtype for o in operands]) or {}
    nodes = [_node(plan, o, counts) for o in operands]
    # Where all are weak, the node of a whole kind would forget their widths.
    keeps_width = plan.dialect.joining.weak_arrays != "by kind" or len(nodes) == 1
    if keeps_width and all(n.is_weak for n in nodes) and any(n.bits == 0 for n in nodes):
        dtypes = [o.dtype or plan.python[o.kind] for o in operands]
        nodes = dtypes if plan.reach.common(plan.reach.masks[d] for d in dtypes) else nodes
    if say:
        for operand, node in zip(operands, nodes, strict=True):
            if node.is_weak:
                say(f"{operand} is weak: it counts as {node}, below the {node.kind} dtypes.")
    if plan.joins.folds and len(nodes) > 2:
        nodes = [functools.reduce(lambda a, b: _joined(plan, a, b), nodes)]
    return [plan.reach.masks[node] for node in nodes]


def _joined(plan: Plan, a: DType, b: DType) -> DType:
    """The node of the array that two nodes promote to. It may be weak if both are weak, or if the
    dialect has weak arrays."""
    node = join(plan, (a, b))
    is_strong = not (a.is_weak and b.is_weak) and not plan.dialect.has_weak_arrays
    return plan.python[node.kind] if is_strong and node.is_weak else node


def _node(plan: Plan, operand: Operand, counts: Mapping[str, DType]) -> DType:
    """An operand's node: its own dtype, or the weak node of its dtype or kind. For a Python scalar
    that counts as some dtype with these arrays, it is that dtype."""
    if operand.is_scalar and operand.kind in counts:
        return counts[operand.kind]
    if not is_weakly_typed(operand):
        return own_dtype(plan, operand)
    nodes = weak_nodes_of(operand.dtype or plan.python[operand.kind])
    return next(node for node in nodes if node in plan.reach.bits)
