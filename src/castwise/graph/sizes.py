"""Symbolic sizes such as 2*n+1 and n-n//2: texts for castwise, numbers for the traced function.

Equal sizes have equal texts, because each is read as a sum of products and written back in one
order. Products consist of names and of quotients, which are rounded down.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from castwise.errors import UsageError
from castwise.graph.program import Shape, user_place

# Sums of products.

# How often each product is in a sum; a number is the empty product.
Terms = Counter[tuple[str, ...]]
Product = tuple[str, ...]


def size_terms(size: int | str) -> Terms:
    """The terms of a size.

    Raises UsageError if it is not a size.
    """
    return Terms({(): size}) if isinstance(size, int) else Terms(_read(str(size)))


def terms_text(terms: Mapping[Product, int]) -> int | str:
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
        found.update(terms)
    return found


def divided(terms: Mapping[Product, int], divisor: int) -> Terms:
    """A sum divided by a number and rounded down; multiples of it are moved out of the quotient."""
    whole = Terms({names: count // divisor for names, count in terms.items()})
    rest = {names: count % divisor for names, count in terms.items() if count % divisor}
    text = terms_text(rest)
    if isinstance(text, int):  # a remainder below the divisor
        return whole
    if list(rest) == [(text,)] and is_quotient(text):
        # A quotient of a quotient: divide once by both divisors.
        size, before = split_quotient(text)
        return plus([whole, divided(size_terms(size), before * divisor)])
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
    for names, count in size_terms(size).items():
        for factor in names:
            if is_quotient(factor):
                dividend, divisor = split_quotient(factor)
                count *= known_size(dividend, sizes) // divisor
            else:
                count *= sizes[factor]
        total += count
    return total


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
            larger = times({tuple(others): count}, size_terms(size))
            rest = {name: n * divisor for name, n in terms.items() if name != names}
            return is_natural(plus([rest, larger]))
    return all(count >= 0 for count in terms.values())


# A sum from text.

_MOST_TOKENS = 1000
_TOKEN = re.compile(r"\d+|[A-Za-z_]\w*|//|[-+*()]", re.ASCII)


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
            is_times = sign == "*"
            found = times(found, self._factor()) if is_times else divided(found, self._divisor())
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


# Arithmetic with sizes.


def total(sizes: Sequence[int | str]) -> int | str:
    """The sum of sizes; text if one is symbolic.

    >>> total(["n", 1, "n"]), total([2, 3])
    ('2*n+1', 5)
    """
    return terms_text(plus(map(size_terms, sizes)))


def element_count(shape: Shape) -> int | str:
    """The number of elements; text if a size is symbolic.

    >>> element_count((3, "n", 2)), element_count((3, "n+m"))
    ('6*n', '3*m+3*n')
    """
    return terms_text(functools.reduce(times, map(size_terms, shape), Terms({(): 1})))


def difference(one: int | str, other: int | str) -> int | str | None:
    """A size minus another; None if the difference may be negative.

    >>> difference("n", "n//2"), difference("n", 1)
    ('n-n//2', None)
    """
    left = plus([size_terms(one), times({(): -1}, size_terms(other))])
    return terms_text(left) if is_natural(left) else None


def quotient(size: int | str, divisor: int) -> int | str:
    """A size divided by a number and rounded down.

    >>> quotient("n", 2), quotient("4*n+3", 2)
    ('n//2', '2*n+1')
    """
    return terms_text(divided(size_terms(size), divisor))


def least(one: int | str, other: int | str, name: str) -> int | str:
    """The smaller of two sizes.

    Raises UsageError if it is not known.
    """
    if one == other:
        return one
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    raise UsageError(
        f"the size of {name} depends on which of {one} and {other} is smaller: fix them."
    )


# Symbolic sizes as the traced function sees them: names with arithmetic.


class Size(str):
    """A size that is known only when the graph runs, such as n, 2*n+1 or n//2; never negative."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda: total([self, other]))

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda: element_count((self, other)))

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda: difference(self, other))

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda: difference(other, self))

    def __floordiv__(self, other: Any) -> Any:
        is_divisor = isinstance(other, int) and other > 0
        return _as_size(quotient(self, other)) if is_divisor else self._with(other, lambda: None)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    __radd__, __rmul__ = __add__, __mul__

    def _with(self, other: Any, result: Callable[[], int | str | None]) -> Any:
        """A result with another size. Any other text is left to text itself."""
        if isinstance(other, str) and not isinstance(other, Size):
            return NotImplemented
        found = result() if _is_size(other) else None
        return self._unknown() if found is None else _as_size(found)

    def _unknown(self, *others: Any) -> NoReturn:
        raise UsageError(
            f"{user_place()} needs the size {self}, which is known only when the graph runs: fix "
            "it in the spec, or only add to it, multiply it, divide it by a number with //, or "
            "subtract what can never be larger."
        )

    __int__ = __index__ = __float__ = __len__ = __iter__ = _unknown
    __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __pow__ = __rpow__ = __neg__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown


def _is_size(thing: Any) -> bool:
    is_number = isinstance(thing, int) and not isinstance(thing, bool)
    return (is_number and thing >= 0) or isinstance(thing, Size)


def checked_sizes(shape: Any) -> tuple[int | str, ...]:
    """A shape, or one size, of numbers and sizes.

    Raises UsageError for anything else.
    """
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    for size in given:
        if not _is_size(size):
            raise UsageError(f"{user_place()}: {size!r} is not a size: give a number, 0 or more, "
                             "or one of x.shape.")  # fmt: skip
    return tuple(given)


def as_sizes(shape: Any) -> tuple[int | Size, ...]:
    """A shape with its names as sizes."""
    return tuple([_as_size(size) for size in shape])


def _as_size(size: int | str) -> int | Size:
    return size if isinstance(size, int) else Size(size)
