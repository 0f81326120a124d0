"""What a reader of a lattice must know, in words."""

from __future__ import annotations

from castwise.compare.lattice import LatticeData
from castwise.rules.dialect import Dialect
from castwise.rules.rule import Rule
from castwise.vocab.dtypes import dtypes_of

APART = "Joined with nothing else"


def legend(lattice: LatticeData, broken: str = "A broken arrow") -> list[str]:
    """What a reader must know, a sentence each; `broken` is how an arrow looks that ends there."""
    if not lattice.edges:
        return ["No dtype becomes another here: only operands of one dtype meet."]
    dialect = lattice.dialect
    lines = ["Operands meet in the first dtype that all of them reach along the arrows."]
    if any(not edge.goes_on for edge in lattice.edges):
        lines.append(f"{broken} reaches that dtype and nothing beyond it.")
    if any(node.is_weak for node in lattice.nodes):
        lines.append("A star marks where weakly typed operands stand, Python numbers among them.")
    foreign = only_absorbed_text(dialect)
    if foreign:
        lines.append(f"{foreign.replace('two dtypes', 'Two dtypes', 1)}.")
    mixes = dialect.ops.get("*", Rule()).joins.mixes
    if mixes:
        lines.append(f"Unequal dtypes meet only where such casts bring them together: {mixes}.")
    if dialect.joining.keeps_kind:
        lines.append("The result is never of a higher kind than all operands.")
    if lattice.truncated:
        pairs = [f"{asked} is {held}" for asked, held in lattice.truncated.items()]
        lines.append(f"Arrays are narrower here: {', '.join(pairs)}.")
    return lines


def only_absorbed_text(dialect: Dialect) -> str:
    """Which dtypes join only where one operand reaches the other, in words; "" where none."""
    foreign = set(dtypes_of(dialect.joining.only_absorbed))
    inside = [d.name for d in dialect.dtypes if d in foreign]
    outside = [d.name for d in dialect.dtypes if d not in foreign]
    if not inside:
        return ""
    if len(inside) == 1:
        return f"{inside[0]} joins only with what it reaches or what reaches it"
    some = " and ".join(inside) if len(inside) <= len(outside) else "two dtypes"
    but = f", except {' and '.join(outside)}" if outside and some == "two dtypes" else ""
    return f"{some} join only where one reaches the other{but}"
