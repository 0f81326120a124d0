"""The policies of weak scalars: a Python number takes the arrays' dtype, its kind permitting."""

from __future__ import annotations

import functools

from castwise.engine.decision import Refusal
from castwise.engine.joining import check_mix, complex_of, join, own_dtype
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.values import is_beyond
from castwise.engine.way_out import way_out
from castwise.vocab.dtypes import KINDS, DType, weak_nodes_of
from castwise.vocab.operands import Operand


def weak(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand reaches: a Python number what the arrays do, or, of a higher kind, the
    dtype of that kind (NEP 50). A Python bool is an ordinary bool."""
    scalars = [o for o in operands if o.is_scalar and o.kind != "bool"]
    strong = [own_dtype(plan, o) for o in operands if not o.is_scalar or o.kind == "bool"]
    check_mix(plan, [o.dtype for o in operands if o.dtype])
    entered = list(strong)
    if scalars:
        common = join(plan, strong) if strong else None
        adopted = _adopted(plan, max(scalars, key=lambda o: KINDS.index(o.kind)), common)
        entered.append(adopted)
        if say:
            for scalar in scalars:
                say(_adoption_text(scalar, common, adopted))
    return [plan.reach.masks[d] for d in entered]


def within_kind(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As weak, but a scalar may not be of a higher kind than the arrays (the Array API standard);
    only a complex scalar with floating-point arrays may."""
    arrays = [o for o in operands if not o.is_scalar]
    if not arrays:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [own_dtype(plan, o) for o in arrays])
    for operand in operands:
        if operand.is_scalar and not fits_kind(operand.kind, common.kind):
            raise Refusal(
                f"a Python {operand.kind} does not go with {common}",
                "Make it an array of the dtype you want.",
            )
    return weak(plan, operands, say)


def fits_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As weak, but a scalar may not change the arrays' dtype; only an int beside bool arrays does
    (RFC 431's SAFE and NONE). A Python bool is a scalar like the others, and fits any dtype."""
    scalars = [o for o in operands if o.is_scalar or o.is_weak]
    strong = [own_dtype(plan, o) for o in operands if not (o.is_scalar or o.is_weak)]
    if not scalars or not strong:
        return weak(plan, operands, say)
    common = join(plan, strong)
    highest = max(scalars, key=lambda o: KINDS.index(o.kind))
    adopted = _adopted(plan, highest, common)
    if adopted is not common and highest.kind != "int":
        raise Refusal(
            f"a Python {highest.kind} does not fit into {common}",
            _way_out(plan, common, scalars),
        )
    if say:
        for scalar in scalars:
            say(_adoption_text(scalar, common, adopted))
    return [plan.reach.masks[adopted]]


def _way_out(plan: Plan, common: DType, scalars: list[Operand]) -> str:
    """What to cast the arrays to, so that the scalars fit."""
    rank = max([KINDS.index(o.kind) for o in scalars])
    roomy = [d for d in plan.dialect.dtypes if not any(is_beyond(o.value, d) for o in scalars)]
    return way_out([common], roomy, rank)


def as_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand's own dtype reaches: a Python scalar is as strong as an array."""
    dtypes = [own_dtype(plan, o) for o in operands]
    check_mix(plan, dtypes)
    return [plan.reach.masks[d] for d in dtypes]


def as_nodes(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand's node reaches: weakly typed operands, Python numbers among them, stand on
    nodes of their own (JAX's lattice)."""
    counts = next(
        (plan.numbers.beside[o.dtype] for o in operands if o.dtype in plan.numbers.beside), {}
    )
    nodes = [_node(plan, o, counts) for o in operands]
    # Where all are weak, the node of a whole kind would forget their widths.
    keeps_width = plan.dialect.keeps_weak_width or len(nodes) == 1
    if keeps_width and all(n.is_weak for n in nodes) and any(n.bits == 0 for n in nodes):
        dtypes = [o.dtype or plan.python[o.kind] for o in operands]
        nodes = dtypes if plan.reach.common(plan.reach.masks[d] for d in dtypes) else nodes
    if say:
        for operand, node in zip(operands, nodes, strict=True):
            if node.is_weak:
                say(f"{operand} is weak: it stands at {node}, below the {node.kind} dtypes.")
    if plan.dialect.folds and len(nodes) > 2:
        nodes = [functools.reduce(lambda a, b: _met(plan, a, b), nodes)]
    return [plan.reach.masks[node] for node in nodes]


def _met(plan: Plan, a: DType, b: DType) -> DType:
    """Where two nodes meet, as the array that comes of it stands there; of two weak ones, weak, as
    any may be where there are weak arrays."""
    node = join(plan, (a, b))
    is_strong = not (a.is_weak and b.is_weak) and not plan.dialect.has_weak_arrays
    return plan.python[node.kind] if is_strong and node.is_weak else node


def is_weakly_typed(operand: Operand) -> bool:
    """Whether an operand is a weak array or a Python number; a Python bool is as strong as any."""
    return operand.is_weak or (operand.is_scalar and operand.kind != "bool")


def _node(plan: Plan, operand: Operand, counts: dict[str, DType]) -> DType:
    """The node an operand stands on: its own dtype, or the weak node of its dtype or kind; a Python
    scalar that counts as some dtype beside the arrays stands there."""
    if operand.is_scalar and operand.kind in counts:
        return counts[operand.kind]
    if not is_weakly_typed(operand):
        return own_dtype(plan, operand)
    nodes = weak_nodes_of(operand.dtype or plan.python[operand.kind])
    return next(node for node in nodes if node in plan.reach.bits)


def fits_kind(scalar: str, array: str) -> bool:
    """Whether a scalar's kind is within an array's, as the Array API standard has it."""
    if "bool" in (scalar, array):
        return scalar == array
    return KINDS.index(scalar) <= KINDS.index(array) or (scalar, array) == ("complex", "float")


def _adopted(plan: Plan, scalar: Operand, common: DType | None) -> DType:
    """The dtype a weak scalar takes beside the common dtype of the strong operands."""
    kind = scalar.kind
    if common is None:
        return plan.python[kind]
    counts = plan.numbers.beside.get(common)
    if counts and kind in counts:
        # An int beyond the Python int's own dtype counts as nothing the array could join.
        if kind == "int" and own_dtype(plan, scalar) is not plan.python["int"]:
            raise Refusal(
                f"{scalar} has no common dtype with {common}", "Write it as a float.", by_value=True
            )
        return counts[kind]
    if common.rank >= KINDS.index(kind):
        return common
    return complex_of(plan, common) if common.kind == "float" else plan.python[kind]


def _adoption_text(scalar: Operand, common: DType | None, adopted: DType) -> str:
    if common is None:
        return f"{scalar} stands with no array, so it is {adopted}."
    if adopted is common:
        return f"{scalar} is weak: it takes the arrays' {common}."
    if common.rank >= KINDS.index(scalar.kind):
        return f"Beside {common} {scalar} counts as {adopted}."
    return f"{scalar} is of a higher kind than {common}: it counts as {adopted}."
