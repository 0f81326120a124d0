"""Dtypes that castwise does not cover: an error says what, why and what to do, everywhere."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.errors import UsageError

NAMES = {
    "longdouble": "x.astype('float64')",
    "float128": "x.astype('float64')",
    "clongdouble": "x.astype('complex128')",
    "object": "x.astype('float64')",
    "datetime64": "x.astype('int64')",
    "timedelta64": "x.astype('int64')",
    "M8[ns]": "x.astype('int64')",
    "str": "x.astype('float64')",
    "bytes": "x.astype('float64')",
    "<U3": "x.astype('float64')",
    "void": "x['name']",
}
ARRAYS = [
    np.ones(2, np.longdouble),
    np.ones(2, np.clongdouble),
    np.array([1, 2], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([1], dtype="timedelta64[s]"),
    np.array(["a"]),
    np.array([b"a"]),
    np.zeros(2, dtype=[("x", "i4"), ("y", "f8")]),
]


@pytest.mark.parametrize(("name", "way"), NAMES.items())
def test_a_name_is_told_to_be_out_of_scope(name: str, way: str) -> None:
    with pytest.raises(UsageError, match=rf"is out of scope: .*{re.escape(way)}"):
        cw.dtype(name)


@pytest.mark.parametrize("name", ["longdouble", "object", "datetime64"])
def test_so_is_an_operand_in_notation(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name!r} is out of scope"):
        cw.resolve("add", f"{name}[3]", 1, dialect="numpy")


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_so_are_live_arrays_and_dtypes(array: Any) -> None:
    for ask in (
        lambda: cw.dtype(array.dtype),
        lambda: cw.asarray(array),
        lambda: cw.resolve("add", array, 1, dialect="numpy"),
        lambda: cw.result_type(array.dtype, "int8", dialect="numpy"),
    ):
        with pytest.raises(UsageError, match="is out of scope"):
            ask()


@pytest.mark.parametrize("kind", [object, str, bytes, np.longdouble, np.datetime64, np.str_])
def test_so_are_types(kind: type) -> None:
    with pytest.raises(UsageError, match="is out of scope"):
        cw.dtype(kind)


@pytest.mark.parametrize("scalar", [np.longdouble(1), np.datetime64("2020")])
def test_so_are_scalars(scalar: Any) -> None:
    with pytest.raises(UsageError, match="is out of scope"):
        cw.resolve("add", scalar, 1, dialect="numpy")


def test_a_misspelling_is_still_told_so() -> None:
    with pytest.raises(UsageError, match="Did you mean 'float32'"):
        cw.dtype("flaot32")
