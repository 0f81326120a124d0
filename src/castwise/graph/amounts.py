"""Amounts of memory that may depend on symbolic sizes."""

from __future__ import annotations

from collections import Counter

from castwise.graph.ir import Graph, Node


class Amount:
    """A sum of products of names and numbers: 24*n + 96."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Counter[str]) -> None:
        self._terms = terms

    def __sub__(self, other: Amount) -> Amount:
        left = Counter(self._terms)
        left.subtract(other._terms)
        return Amount(left)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        parts = [
            f"{factor}*{names}" if names else str(factor)
            for names, factor in sorted(self._terms.items(), reverse=True)
            if factor
        ]
        return " + ".join(parts) or "0"

    __repr__ = __str__


def bytes_of(node: Node) -> Amount:
    """The memory a node's value takes."""
    terms: Counter[str] = Counter({"": node.dtype.itemsize})
    for size in node.shape:
        terms = _times(terms, size)
    return Amount(terms)


def _times(terms: Counter[str], size: int | str) -> Counter[str]:
    """A sum times a size, which may itself be a sum of products."""
    if isinstance(size, int):
        return Counter({names: factor * size for names, factor in terms.items()})
    product: Counter[str] = Counter()
    for part in size.split("+"):
        factors = part.split("*")
        number = 1
        for factor in factors:
            number *= int(factor) if factor.isdigit() else 1
        given = [factor for factor in factors if not factor.isdigit()]
        for names, amount in terms.items():
            joined = "*".join(sorted([*(names.split("*") if names else []), *given]))
            product[joined] += amount * number
    return product


def cast_bytes(graph: Graph) -> Amount:
    """The bytes that the casts of a graph write."""
    total: Counter[str] = Counter()
    for node in graph.casts:
        total.update(bytes_of(node)._terms)
    return Amount(total)
