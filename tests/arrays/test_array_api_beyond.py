"""The functions beyond the standard: the engine's dtypes, and the right values."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp
from castwise.array_api import beyond
from castwise.array_api.beyond import functions_from_rows
from castwise.vocab.dtypes import dtypes_named
from castwise.vocab.ops import OPS

X, Y = [1.0, -2.0, 3.0], [0.5, 4.0, -3.0]
VALUES: list[tuple[str, list[Any], dict[str, Any], Any]] = [
    ("fmod", [[5.0, -5.0], [3.0, 3.0]], {}, [2.0, -2.0]),
    ("float_power", [[2.0, 9.0], [3.0, 0.5]], {}, [8.0, 3.0]),
    ("fmax", [[1.0, math.nan], [2.0, 0.0]], {}, [2.0, 0.0]),
    ("fmin", [[1.0, math.nan], [2.0, 0.0]], {}, [1.0, 0.0]),
    ("logaddexp2", [[3.0, 1000.0], [3.0, 1000.0]], {}, [4.0, 1001.0]),
    ("ldexp", [[0.5, -3.0], [3, -1]], {}, [4.0, -1.5]),
    ("exp2", [[3.0, -1.0]], {}, [8.0, 0.5]),
    ("cbrt", [[27.0, -8.0]], {}, [3.0, -2.0]),
    ("degrees", [[math.pi, -math.pi / 2]], {}, [180.0, -90.0]),
    ("radians", [[180.0, -90.0]], {}, [math.pi, -math.pi / 2]),
    ("addcdiv", [X, Y, [2.0, 2.0, 2.0]], {}, [1.25, 0.0, 1.5]),
    ("rsub", [X, Y], {}, [-0.5, 6.0, -6.0]),
    ("clamp_min", [X, Y], {}, [1.0, 4.0, 3.0]),
    ("clamp_max", [X, Y], {}, [0.5, -2.0, -3.0]),
    ("real_div", [X, Y], {}, [2.0, -0.5, -1.0]),
    ("floor_div", [[7.0, -7.0], [2.0, 2.0]], {}, [3.0, -4.0]),
    ("truncate_div", [[7, -7], [2, 2]], {}, [3, -3]),
    ("truncate_div", [[7.0, -7.0], [2.0, 2.0]], {}, [3.0, -3.0]),
    ("div_no_nan", [[1.0, 3.0], [0.0, 2.0]], {}, [0.0, 1.5]),
    ("multiply_no_nan", [[math.nan, 3.0], [0.0, 2.0]], {}, [0.0, 6.0]),
    ("isclose", [X, [1.0, -2.0, 4.0]], {}, [True, True, False]),
    ("heaviside", [[-1.0, 0.0, 2.0], [0.5, 0.5, 0.5]], {}, [0.0, 0.5, 1.0]),
    ("xlogy", [[0.0, 2.0], [0.0, 1.0]], {}, [0.0, 0.0]),
    ("dot", [X, Y], {}, -16.5),
    ("outer", [[1.0, 2.0], [[3.0], [4.0]]], {}, [[3.0, 4.0], [6.0, 8.0]]),
    ("inner", [[[1.0, 2.0], [0.0, 1.0]], [3.0, 4.0]], {}, [11.0, 4.0]),
    ("inner", [[1.0, 2.0], 3.0], {}, [3.0, 6.0]),
    ("cross", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], {}, [0.0, 0.0, 1.0]),
    ("cross", [[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]], {"axis": 0}, [[-3.0], [6.0], [-3.0]]),
    ("kron", [[1.0, 2.0], [[1.0, 10.0]]], {}, [[1.0, 10.0, 2.0, 20.0]]),
    ("lerp", [[0.0, 10.0], [10.0, 20.0], [0.5, 1.0]], {}, [5.0, 20.0]),
    ("addcmul", [X, Y, [2.0, 2.0, 2.0]], {}, [2.0, 6.0, -3.0]),
    ("mse_loss", [X, Y], {"reduction": "sum"}, 0.25 + 36 + 36),
    ("mse_loss", [X, Y], {"reduction": "none"}, [0.25, 36.0, 36.0]),
    ("l1_loss", [X, Y], {}, 12.5 / 3),
    ("huber_loss", [X, Y], {"delta": 2.0, "reduction": "none"}, [0.125, 10.0, 10.0]),
    ("poisson_nll_loss", [[1.0], [2.0]], {}, math.e - 2),
    ("poisson_nll_loss", [[1.0], [2.0]], {"log_input": False}, 1.0),
    ("relu", [X], {}, [1.0, 0.0, 3.0]),
    ("threshold", [X], {"threshold": 2.0, "value": 9.0}, [9.0, 9.0, 3.0]),
    ("rsqrt", [[4.0, 0.25]], {}, [0.5, 2.0]),
    ("sigmoid", [[0.0, -1000.0]], {}, [0.5, 0.0]),
    ("erf", [[0.0, 0.5, -3.0]], {}, [math.erf(v) for v in (0.0, 0.5, -3.0)]),
    ("gelu", [[0.0, 1.0]], {}, [0.0, 0.5 * (1 + math.erf(math.sqrt(0.5)))]),
    ("silu", [[0.0, 2.0, -1000.0]], {}, [0.0, 2 / (1 + math.exp(-2)), 0.0]),
    ("softmax", [[[0.0, 0.0], [1000.0, 0.0]]], {"axis": 1}, [[0.5, 0.5], [1.0, 0.0]]),
    ("log_softmax", [[0.0, 0.0]], {}, [-math.log(2)] * 2),
    ("angle", [[1.0, -1.0]], {}, [0.0, math.pi]),
    ("norm", [[[3.0, 4.0], [0.0, 0.0]]], {"axis": 1}, [5.0, 0.0]),
    ("median", [[1.0, 4.0, 2.0, 8.0]], {}, 3.0),
    ("logsumexp", [[1000.0, 1000.0]], {}, 1000.0 + math.log(2)),
    ("allclose", [X, X], {}, True),
    ("allclose", [X, Y], {"rtol": 0.1}, False),
]  # fmt: skip


def test_every_function_has_a_value_to_give() -> None:
    assert {name for name, *_ in VALUES} == set(beyond.__all__)


@pytest.mark.parametrize(("name", "operands", "options", "expected"), VALUES)
def test_values(name: str, operands: list[Any], options: dict[str, Any], expected: Any) -> None:
    with cw.use("numpy"):
        found = getattr(xp, name)(*[xp.asarray(o) for o in operands], **options)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-12)


def decided(name: str, operands: list[cw.Tensor], dialect: str) -> cw.DType | None:
    seen = [f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in operands]
    try:
        found = cw.resolve(name, *seen, dialect=dialect, form="function")
    except cw.PromotionError:
        return None
    runs = found.has_kernel or found.compute in dtypes_named(OPS[name].computes)
    return found.result if runs else None  # the framework promotes, then has nothing to run


def test_an_op_that_is_written_out_nowhere_has_a_function_of_its_row() -> None:
    known = {*OPS} - {"xlogy", "softmax"}
    made = functions_from_rows(known)
    assert [*made] == ["xlogy", "softmax"]
    assert str(inspect.signature(made["xlogy"])) == "(x1, x2, /, **options)"
    x, y = xp.asarray(X), xp.asarray([0.5, 4.0, 3.0])
    with cw.use("numpy"):
        assert made["xlogy"](x, y).tolist() == xp.xlogy(x, y).tolist()
        found = made["softmax"](xp.asarray([[1.0, 2.0], [3.0, 5.0]]), axis=0)
    assert found.tolist() == xp.softmax(xp.asarray([[1.0, 2.0], [3.0, 5.0]]), axis=0).tolist()
    with pytest.raises(cw.UsageError, match="operand"):
        made["xlogy"](x)


@pytest.mark.parametrize("dialect", ["numpy", "torch", "jax", "tensorflow:all", "oneflow"])
@pytest.mark.parametrize("name", beyond.__all__)
def test_the_dtype_is_the_one_decided(name: str, dialect: str) -> None:
    count = OPS[name].arity[0]
    for first in ("int32", "float16", "float32", "bool"):
        for second in ("float32", "int32", "bfloat16"):
            operands = [xp.ones(3, dtype=d) for d in (first, second, "float32")[:count]]
            expected = decided(name, operands, dialect)
            with cw.use(dialect):
                try:
                    found = getattr(xp, name)(*operands).dtype
                except cw.PromotionError:
                    found = None
            assert found is expected, (first, second)


def test_dot_and_matmul_keep_a_dialect_s_rule_of_one_dtype() -> None:
    x, y = xp.ones(3, dtype="float32"), xp.ones(3, dtype="float64")
    with cw.use("torch"):
        for function in (xp.dot, xp.matmul, xp.vecdot):
            with pytest.raises(cw.PromotionError, match="dtype"):
                function(x, y)
            assert function(x, x).dtype is xp.float32
    with cw.use("numpy"):
        assert xp.dot(x, y).dtype is xp.float64


def test_reductions_have_the_dialect_s_lowest_dtype() -> None:
    x = xp.asarray([200, 100], dtype="uint8")
    sums = {}
    for dialect in ("array-api", "torch", "numpy", "jax", "mlx"):
        with cw.use(dialect):
            sums[dialect] = (str(xp.sum(x).dtype), int(xp.sum(x)))
    assert sums == {
        "array-api": ("uint64", 300),
        "torch": ("int64", 300),
        "numpy": ("uint64", 300),
        "jax": ("uint32", 300),
        "mlx": ("uint32", 300),
    }
