"""What a call gives by name is computed as the dialect's framework computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp

ARRAY = np.array([1, -2, 3], dtype="int8")


@pytest.mark.parametrize(
    ("op", "operands", "named"),
    [
        ("add", (ARRAY, 1.5), {"dtype": "float32"}),
        ("add", (ARRAY, 1.7), {"dtype": "int8", "casting": "unsafe"}),
        ("divide", (ARRAY, ARRAY), {"dtype": "float16"}),
        ("sum", (ARRAY,), {"dtype": "int8"}),
        ("sum", (ARRAY,), {"dtype": "float16", "initial": 2.5}),
        ("max", (ARRAY,), {"initial": 100}),
        ("sum", (ARRAY,), {"where": np.array([True, False, True])}),
        ("mean", (ARRAY,), {"dtype": "int32"}),
        ("cumsum", (ARRAY,), {"dtype": "uint8"}),
        ("std", (ARRAY,), {"dtype": "float32"}),
    ],
)
def test_on_numpy_as_numpy(op: str, operands: tuple[Any, ...], named: dict[str, Any]) -> None:
    expected = getattr(np, op)(*operands, **named)
    tensors = [cw.asarray(o) if isinstance(o, np.ndarray) else o for o in operands]
    found = cw.apply(f"np.{op}", *tensors, **named).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_a_cast_that_casting_forbids_is_refused_as_numpy_does() -> None:
    with pytest.raises(cw.PromotionError, match="casting='unsafe'"):
        cw.apply("add", cw.asarray(ARRAY), 1.5, dtype="int8")
    with pytest.raises(TypeError):
        np.add(ARRAY, 1.5, dtype="int8")


@pytest.mark.parametrize("mode", ["trunc", "floor"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64"])
def test_rounded_quotients_as_torch(mode: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = np.linspace(-100, 100, 81).astype(dtype)
    y = np.where(x == 0, 1, np.linspace(-7, 9, 81)).astype(dtype)
    y[y == 0] = 3
    expected = torch.div(torch.tensor(x), torch.tensor(y), rounding_mode=mode).numpy()
    first, second = (cw.asarray(array, dialect="torch") for array in (x, y))
    found = cw.apply("div", first, second, rounding_mode=mode).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_integers_are_rounded_towards_zero_or_down() -> None:
    t = cw.asarray(np.array([-7, 7], dtype="int32"), dialect="torch")
    assert cw.apply("div", t, 2, rounding_mode="trunc").numpy().tolist() == [-3, 3]
    assert cw.apply("div", t, 2, rounding_mode="floor").numpy().tolist() == [-4, 3]


def test_a_number_by_which_products_are_multiplied() -> None:
    t = cw.asarray(np.array([1, 2], dtype="int32"), dialect="torch")
    assert cw.apply("addcmul", t, t, t, value=2.5).numpy().tolist() == [3, 10]
    assert cw.apply("addcmul", t, t, t).numpy().tolist() == [2, 6]


def test_value_of_addcdiv() -> None:
    t = cw.asarray([1.0, 2.0], dtype="float32", dialect="torch")
    assert cw.apply("addcdiv", t, t, 2 * t, value=3).numpy().tolist() == [2.5, 3.5]
    assert xp.addcdiv(t, t, 2 * t, value=3).numpy().tolist() == [2.5, 3.5]
    assert xp.addcdiv(t, t, 2 * t).numpy().tolist() == [1.5, 2.5]
    assert xp.addcmul(t, t, t, value=2).numpy().tolist() == [3.0, 10.0]
    with pytest.raises(cw.ScalarRangeError, match=r"value=1e\+39 is out of range"):
        cw.apply("addcdiv", t.astype("float16"), t.astype("float16"), t, value=1e39)
    graph = cw.trace(lambda x: cw.apply("addcdiv", x, x, x, value=2), "float32[2]", dialect="torch")
    assert np.asarray(graph(np.asarray([1, 2], "float32"))).tolist() == [3.0, 4.0]


def test_a_graph_has_the_cast_that_dtype_asks_for() -> None:
    graph = cw.trace(lambda x: cw.apply("sum", x, dtype="float16"), "int8[3]", dialect="torch")
    assert [node.op for node in graph.nodes] == ["input", "cast", "sum"]
    assert graph.outputs[0].dtype.name == "float16"
    assert graph(np.array([1, 2, 3], dtype="int8")).numpy() == np.float16(6)


def test_a_result_is_written_into_out_under_casting() -> None:
    out = cw.asarray(np.zeros(2, "int8"))
    x = cw.asarray(np.array([1.5, 2.5]))
    with pytest.raises(cw.PromotionError):
        cw.apply("add", x, x, out=out)
    cw.apply("add", x, x, out=out, casting="unsafe")
    assert out.numpy().tolist() == [3, 5]
