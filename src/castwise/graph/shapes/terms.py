"""Symbolic sizes as sums of products, read from text and written back: 2*n+1, n-n//2.

Equal sizes have equal texts. Products consist of names and of quotients, which are rounded down.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from castwise.errors import UsageError

# How often each product is in a sum; a number is the empty product.
Terms = Counter[tuple[str, ...]]
Product = tuple[str, ...]

_TOKEN = re.compile(r"\d+|[A-Za-z_]\w*|//|[-+*()]", re.ASCII)


def terms_of(size: int | str) -> Terms:
    """The terms of a size.

    Raises UsageError if it is not a size.
    """
    return Terms({(): size}) if isinstance(size, int) else Terms(_read(str(size)))


def text_of(terms: Mapping[Product, int]) -> int | str:
    """A sum as a size: longer products first, numbers and subtracted terms last."""
    rest = dict(terms)
    number = rest.pop((), 0)
    kept = sorted([(count < 0, -len(names), names) for names, count in rest.items() if count])
    if not kept:
        return number
    parts = [(rest[names], names) for _, _, names in kept] + [(number, ())] * bool(number)
    texts = [
        ("-" if count < 0 else "+") + product_text(abs(count), names) for count, names in parts
    ]
    return "".join(texts).removeprefix("+")


def product_text(count: int, names: Product, *, shows_one: bool = False) -> str:
    """A number times names and quotients, which are in brackets if there are other factors."""
    numbers = [] if count == 1 and names and not shows_one else [str(count)]
    is_alone = len(names) + len(numbers) == 1
    return "*".join([*numbers, *[n if is_alone or not is_quotient(n) else f"({n})" for n in names]])


def times(one: Mapping[Product, int], other: Mapping[Product, int]) -> Terms:
    """The product of two sums."""
    found: Terms = Terms()
    for names, count in one.items():
        for more, factor in other.items():
            found[tuple(sorted((*names, *more)))] += count * factor
    return found


def plus(sums: Iterable[Mapping[Product, int]]) -> Terms:
    """The sum of sums."""
    found: Terms = Terms()
    for terms in sums:
        for names, count in terms.items():
            found[names] += count
    return found


def divided(terms: Mapping[Product, int], divisor: int) -> Terms:
    """A sum divided by a number and rounded down; multiples of it are moved out of the quotient."""
    whole = Terms({names: count // divisor for names, count in terms.items()})
    rest = {names: count % divisor for names, count in terms.items() if count % divisor}
    text = text_of(rest)
    if isinstance(text, int):  # a remainder below the divisor
        return whole
    if list(rest) == [(text,)] and is_quotient(
        text
    ):  # a quotient of a quotient: divide once by both divisors
        size, before = split_quotient(text)
        return plus([whole, divided(terms_of(size), before * divisor)])
    whole[(f"{text}//{divisor}" if text.isidentifier() else f"({text})//{divisor}",)] += 1
    return whole


def is_quotient(factor: str) -> bool:
    """Whether a factor is a quotient, not a name."""
    return "//" in factor


def split_quotient(factor: str) -> tuple[str, int]:
    """The dividend and the divisor of a quotient."""
    size, _, divisor = factor.rpartition("//")
    return size.removeprefix("(").removesuffix(")"), int(divisor)


def known_size(size: int | str, sizes: Mapping[str, int]) -> int:
    """A size as a number, if the sizes of its names are known.

    >>> known_size("2*n+(m+1)//2", {"n": 3, "m": 4})
    8
    """
    if isinstance(size, int):
        return size
    total = 0
    for names, count in terms_of(size).items():
        for factor in names:
            count *= _known_factor(factor, sizes)
        total += count
    return total


def _known_factor(factor: str, sizes: Mapping[str, int]) -> int:
    if not is_quotient(factor):
        return sizes[factor]
    size, divisor = split_quotient(factor)
    return known_size(size, sizes) // divisor


def is_natural(terms: Mapping[Product, int]) -> bool:
    """Whether a sum is provably never negative, for any values of its names.

    It checks multiples of the sum in which quotients are as large as possible.
    """
    for names, count in terms.items():
        factor = next(filter(is_quotient, names), None)
        if count < 0 and factor is not None:
            size, divisor = split_quotient(factor)
            others = list(names)
            others.remove(factor)
            larger = times({tuple(others): count}, terms_of(size))
            rest = {name: n * divisor for name, n in terms.items() if name != names}
            return is_natural(plus([rest, larger]))
    return all(count >= 0 for count in terms.values())


@functools.lru_cache(maxsize=4096)
def _read(text: str) -> Terms:
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or len(tokens) > _MOST_TOKENS:
        raise _unreadable(text)
    reader = _Reader(tokens)
    try:
        found = reader.sum()
    except (IndexError, ValueError):
        raise _unreadable(text) from None
    if reader.tokens:
        raise _unreadable(text)
    return found


_MOST_TOKENS = 1000


def _unreadable(text: str) -> UsageError:
    return UsageError(
        f"cannot read {text[:40]!r} as a size: write numbers and names, joined by +, -, * and // "
        "with a number, such as n//2+1."
    )


class _Reader:
    """Parses a sum, as Python would."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    def _next(self, *wanted: str) -> str:
        """Consumes and returns the next token if it is one of these; otherwise ""."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in wanted else ""

    def sum(self) -> Terms:
        found = self._product()
        while sign := self._next("+", "-"):
            found = plus([found, times({(): -1 if sign == "-" else 1}, self._product())])
        return found

    def _product(self) -> Terms:
        found = self._factor()
        while sign := self._next("*", "//"):
            found = (
                times(found, self._factor()) if sign == "*"
                else divided(found, self._divisor())
            )  # fmt: skip
        return found

    def _divisor(self) -> int:
        divisor = int(self.tokens.pop())
        if divisor < 1:
            raise ValueError
        return divisor

    def _factor(self) -> Terms:
        if self._next("("):
            found = self.sum()
            if not self._next(")"):
                raise ValueError
            return found
        token = self.tokens.pop()
        if token.isdigit():
            return Terms({(): int(token)})
        if not token.isidentifier():
            raise ValueError
        return Terms({(token,): 1})
