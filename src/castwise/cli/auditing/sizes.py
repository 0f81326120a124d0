"""Amounts of memory as a person writes them."""

from __future__ import annotations

import re

import click

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?))?b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def size_of(text: str) -> int:
    """Bytes.

    >>> size_of("1000"), size_of("10kB"), size_of("1.5 MB"), size_of("1MiB")
    (1000, 10000, 1500000, 1048576)

    Raises ValueError if it is no size.
    """
    read = _SIZE.fullmatch(text.strip())
    if read is None:
        raise ValueError(text)
    number, unit, is_binary = read.groups(default="")
    return int(float(number) * (1024 if is_binary else 1000) ** _POWERS[unit.lower()])


class Size(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.3
    """The type of an option that takes an amount of memory."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return size_of(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a size: write 1000, 10kB, 1MB or 1MiB.", param, ctx)
