"""Reading of the operand notation the grid writes.

The engine has a fuller parser; this one is apart on purpose, so that a recording
depends on nothing of what it will be used to judge.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

Scalar = bool | int | float | complex

_ARRAY = re.compile(r"(np\.)?(\w+?)(\*)?(?:=(.+))?\[(3(?:,3)*)?\]")
_DTYPE = re.compile(r"bool|[a-z]+\d\w*")
_NUMPY_SCALAR = re.compile(r"np\.(\w+)\((.+)\)")


class Spec(NamedTuple):
    """What to build for one piece of notation."""

    dtype: str | None  # None: a Python scalar, or a list of them
    shape: tuple[int, ...]
    value: Any  # held by every element; or a list of numbers
    is_numpy: bool = False
    is_scalar: bool = False
    is_weak: bool = False
    is_array: bool = True  # False: a bare dtype


def words(text: str) -> tuple[str, ...]:
    """The words of a text: how the long lists of names are written."""
    return tuple(text.split())


def read_operand(notation: str) -> Spec:
    """The operand a piece of notation names; an array that shows no value holds ones.

    >>> read_operand("np.int64=300[]")[:4]
    ('int64', (), 300, True)
    """
    array = _ARRAY.fullmatch(notation)
    if array:
        prefix, dtype, weak, value, size = array.groups()
        shape = tuple(int(length) for length in size.split(",")) if size else ()
        held = read_literal(value or "1")
        return Spec(dtype, shape, held, is_numpy=bool(prefix), is_weak=bool(weak))
    if _DTYPE.fullmatch(notation):
        return Spec(notation, (), 1, is_array=False)
    scalar = _NUMPY_SCALAR.fullmatch(notation)
    if scalar:
        return Spec(scalar[1], (), read_literal(scalar[2]), is_numpy=True, is_scalar=True)
    held = ast.literal_eval(notation) if notation.startswith("[") else read_literal(notation)
    return Spec(None, (), held, is_scalar=True)


def foreign_operand(spec: Spec) -> Any:
    """A Python scalar, or an array or scalar of NumPy's: what no other framework makes itself."""
    import numpy as np

    if spec.dtype is None:
        return spec.value
    array: Any = np.full(spec.shape, spec.value, spec.dtype)
    return array[()] if spec.is_scalar else array


def read_literal(text: str) -> Scalar:
    """The Python number a literal names.

    >>> read_literal("1e39j")
    1e+39j
    """
    if text in ("True", "False"):
        return text == "True"
    if text.endswith("j"):
        return complex(text)
    try:
        return int(text)
    except ValueError:
        return float(text)
