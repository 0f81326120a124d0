"""The legend of a lattice, in words."""

from __future__ import annotations

from castwise.compare.lattice import LatticeData
from castwise.rules.dialect import Dialect
from castwise.rules.rule import Rule
from castwise.vocab.dtypes import dtypes_of

APART = "Not promoted with any other dtype"


def legend(lattice: LatticeData, broken: str = "A broken arrow") -> list[str]:
    """The sentences of the legend; `broken` describes an arrow that nothing may follow."""
    if not lattice.edges:
        return ["No dtype promotes to another here: all operands must have the same dtype."]
    dialect = lattice.dialect
    lines = ["Operands promote to the first dtype that all of them reach along the arrows."]
    if any(not edge.goes_on for edge in lattice.edges):
        lines.append(f"{broken} reaches that dtype and nothing beyond it.")
    if any(node.is_weak for node in lattice.nodes):
        lines.append("A star marks the place of weakly typed operands, including Python numbers.")
    foreign = only_absorbed_text(dialect)
    if foreign:
        lines.append(f"{foreign.replace('two dtypes', 'Two dtypes', 1)}.")
    mixes = dialect.ops.get("*", Rule()).joins.mixes
    if mixes:
        lines.append(f"Unequal dtypes are mixed only through these casts: {mixes}.")
    if dialect.joining.keeps_kind:
        lines.append("The result never has a higher kind than the highest of the operands.")
    if lattice.truncated:
        pairs = [f"{asked} is {actual}" for asked, actual in lattice.truncated.items()]
        lines.append(f"Arrays are narrower here: {', '.join(pairs)}.")
    return lines


def only_absorbed_text(dialect: Dialect) -> str:
    """The dtypes that join only if one operand reaches the other, in words; "" if none do."""
    foreign = set(dtypes_of(dialect.joining.only_absorbed))
    inside = [d.name for d in dialect.dtypes if d in foreign]
    outside = [d.name for d in dialect.dtypes if d not in foreign]
    if not inside:
        return ""
    if len(inside) == 1:
        return f"{inside[0]} joins only with dtypes that it reaches or that reach it"
    some = " and ".join(inside) if len(inside) <= len(outside) else "two dtypes"
    but = f", except {' and '.join(outside)}" if outside and some == "two dtypes" else ""
    return f"{some} join only if one reaches the other{but}"
