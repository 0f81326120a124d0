"""x.at[i].set(value) and its like, in the dialects whose framework has arrays that never change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw

CALLS = (
    "x.at[0].set(7)", "x.at[1:].add(2)", "x.at[0].add(1.5)", "x.at[0].multiply(3)",
    "x.at[1].max(2)", "x.at[...].min(1)", "x.at[0, 1].subtract(1)", "x.at[1].divide(2)",
    "x.at[0].power(2)", "x.at[0].set(1.75)", "x.at[1].get()",
)  # fmt: skip
VALUES = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_it_gives_what_it_gives_in_jax(call: str, dtype: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    expected = eval(call, {"x": jnp.array(VALUES, dtype)})
    for backend in ("jax", "numpy"):
        x = cw.asarray(np.array(VALUES, dtype), dialect="jax", backend=backend)
        if backend == "numpy" and call.endswith("divide(2)") and dtype != "float32":
            continue  # a scatter divides otherwise than x /= 2
        found = eval(call, {"x": x})
        assert (found.tolist(), found.dtype) == (expected.tolist(), str(expected.dtype))
        assert x.tolist() == VALUES


def test_the_tensor_itself_stays_as_it_was() -> None:
    x = cw.asarray([1.0, 2.0], dialect="jax")
    found = x.at[0].set(5)
    assert (found.tolist(), x.tolist()) == ([5.0, 2.0], [1.0, 2.0])


def test_an_element_cannot_be_written_to_in_jax() -> None:
    x = cw.asarray([1.0, 2.0], dialect="jax")
    for kind in (TypeError, cw.UsageError):
        with pytest.raises(kind, match=r"x\.at\[i\]\.set\(value\)"):
            x[0] = 3
    variable = cw.Variable([1.0, 2.0], dialect="jax")
    variable[0] = 3
    assert variable.tolist() == [3.0, 2.0]


def test_elsewhere_there_is_none() -> None:
    x: Any = cw.asarray([1.0, 2.0], dialect="torch")
    with pytest.raises(AttributeError, match=r"no attribute 'at' in torch: write x\[i\] = value"):
        x.at[0].set(1)


def test_indices_that_may_meet_are_left_to_the_library() -> None:
    indices = np.array([0, 0])
    x = cw.asarray([1.0, 2.0], dialect="jax")
    with pytest.raises(cw.UsageError, match="meets in one element"):
        x.at[indices].add(1)
    pytest.importorskip("jax")
    own = cw.asarray(np.ones(2, "float32"), dialect="jax", backend="jax")
    assert own.at[indices].add(1).tolist() == [3.0, 1.0]
