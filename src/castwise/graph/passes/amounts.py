"""Amounts of memory that may depend on symbolic sizes."""

from __future__ import annotations

from castwise.graph.program import Node, Program
from castwise.graph.shapes.arithmetic import size_of
from castwise.graph.shapes.terms import Terms, product_text, terms_of


class Amount:
    """A sum of products of names and numbers: 24*n + 96."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def __sub__(self, other: Amount) -> Amount:
        left = Terms(self._terms)
        left.subtract(other._terms)
        return Amount(left)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        parts = [
            product_text(factor, names, shows_one=True)
            for names, factor in sorted(self._terms.items(), reverse=True)
            if factor
        ]
        return " + ".join(parts) or "0"

    __repr__ = __str__


def bytes_of(node: Node) -> Amount:
    """The memory of a node's value."""
    return Amount(terms_of(size_of((node.dtype.itemsize, *node.shape))))


def cast_bytes(program: Program) -> Amount:
    """The bytes that the casts of a program write."""
    total: Terms = Terms()
    for node in program.casts:
        total.update(bytes_of(node)._terms)
    return Amount(total)
