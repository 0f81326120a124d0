"""A call that is said to cast as an op does: asked of the framework itself."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.auditing.hooks import find_hook

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
DIALECT = "numpy@1" if np.__version__.startswith("1.") else "numpy"
ONE = {"sin", "mean", "std", "sum", "max"}
HOOK = find_hook("numpy")
assert HOOK is not None
CASES = [(op, name) for op, names in HOOK.calls.like.items() for name in names.split()]
# What a function takes besides its array, and how it takes several arrays.
LISTS = {"vstack", "hstack", "dstack", "column_stack", "row_stack", "block"}
PERCENT = {"percentile", "quantile", "nanpercentile", "nanquantile"}


def answer(op: str, name: str, dtypes: tuple[str, ...]) -> str | None:
    """The dtype the framework gives, or None if it refuses."""
    arrays = [np.ones((2, 2), dtype) for dtype in dtypes]
    function = getattr(np, name)
    arguments: list[Any] = [arrays] if name in LISTS else arrays
    if name in PERCENT:
        arguments.append(0.5)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(np.asarray(function(*arguments)).dtype)
    except TypeError:
        return None


def expected(op: str, dtypes: tuple[str, ...]) -> str | None:
    try:
        return str(cw.resolve(op, *[f"{d}[2,2]" for d in dtypes], dialect=DIALECT).result)
    except cw.PromotionError:
        return None


@pytest.mark.parametrize(("op", "name"), CASES, ids=lambda case: case)
def test_it_casts_as_the_op_does(op: str, name: str) -> None:
    if not hasattr(np, name):
        pytest.skip(f"this version has no {name}")
    arity = 1 if op in {*ONE, "median"} else 2
    for dtypes in itertools.product(DTYPES, repeat=arity):
        answered = answer(op, name, dtypes)
        if answered is not None:  # the auditor sees only what has run
            assert answered == expected(op, dtypes), dtypes
