"""x[key] = value: the shapes and dtypes that each framework takes, and what the array becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.errors import PromotionError, UsageError

KEYS = {
    "place": 0,
    "slice": slice(0, 2),
    "whole": ...,
    "mask": np.array([True, False, True]),
    "places": np.array([0, 1]),
}
VALUES = [
    np.array(7, "int32"),
    np.array([7], "int32"),
    np.array([7, 8], "int32"),
    np.array([7.0], "float32"),
    np.array([[7.0, 8.0]], "float32"),
    np.array(7.0, "float64"),
    1.5,
]


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_assignment_is_as_in_torch(backend: str, key: Any, value: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip(backend)
    if backend == "jax" and dtype == "int64":
        pytest.skip("JAX has it with x64 on alone")
    expected = torch.zeros(3, dtype=getattr(torch, dtype))
    t = cw.asarray(np.zeros(3, dtype), backend=backend, dialect="torch")
    place = torch.from_numpy(key) if isinstance(key, np.ndarray) else key
    is_array = isinstance(value, np.ndarray)
    held = (
        value.astype("float32")
        if is_array and backend == "jax" and value.dtype == "float64"
        else value
    )
    given = cw.asarray(held, backend=backend, dialect="torch") if is_array else value
    try:
        expected[place] = torch.from_numpy(held) if is_array else value
    except RuntimeError:
        with pytest.raises((cw.PromotionError, ValueError, RuntimeError)):
            t[key] = given
    else:
        t[key] = given
        assert (t.tolist(), t.dtype.name) == (expected.tolist(), dtype)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_an_array_takes_a_part_of_itself(backend: str) -> None:
    pytest.importorskip(backend)
    x = cw.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="float32", dialect="torch", backend=backend)
    x[...] = x[1]
    assert x.tolist() == [[3.0, 4.0], [3.0, 4.0]]
    x[...] = x[0, 1]
    assert x.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_torch_says_why_another_dtype_is_not_written_at_places() -> None:
    t = cw.asarray(np.zeros(3, "float32"), dialect="torch")
    with pytest.raises(cw.PromotionError, match=r"must have the dtype.*x\.astype\('float32'\)"):
        t[np.array([0, 1])] = cw.asarray(np.array([7, 8], "int32"))


def test_one_element_of_an_array_is_no_place_for_a_vector_in_jax_and_numpy() -> None:
    vector = cw.asarray(np.array([7.0], "float32"))
    told = "only a number or a 0-d array can be assigned to one element"
    t = cw.asarray(np.zeros(3, "float32"))
    with pytest.raises(ValueError, match=told):
        t[0] = vector
    with pytest.raises(ValueError, match=told):
        t.under("jax").at[0].set(vector)


MLX = [
    ("bool", 3, "int32"), ("bool", True, "bool"), ("int8", 3, "int8"), ("int8", 1.5, "float32"),
    ("uint32", 1j, "complex64"), ("float16", 1.5, "float16"), ("float16", 3, "float16"),
    ("complex64", 1.5, "float32"), ("complex64", 3, "complex64"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "number", "expected"), MLX)
def test_in_mlx_the_whole_array_takes_the_dtype_of_what_is_assigned(
    dtype: str, number: Any, expected: str
) -> None:
    for key in (..., None):
        t = cw.asarray(np.zeros(2, dtype), dialect="mlx")
        t[key] = number
        assert (t.tolist(), t.dtype.name) == ([number] * 2, expected)
    part = cw.asarray(np.zeros(2, dtype), dialect="mlx")
    part[:] = True
    assert part.dtype.name == dtype


def test_in_mlx_an_array_gives_its_dtype_too() -> None:
    t = cw.asarray(np.zeros(2, "float32"), dialect="mlx")
    t[...] = cw.asarray(np.array([7], "int32"))
    assert (t.tolist(), t.dtype.name) == ([7, 7], "int32")


@pytest.mark.parametrize(("dtype", "number", "expected"), MLX)
def test_so_it_is_in_mlx_itself(dtype: str, number: Any, expected: str) -> None:
    mx = pytest.importorskip("mlx.core")
    x = mx.zeros(2, dtype=getattr(mx, "bool_" if dtype == "bool" else dtype))
    x[...] = number
    assert str(x.dtype).rpartition(".")[2] == expected


def test_a_variable_keeps_its_dtype_in_mlx_too() -> None:
    v = cw.Variable(np.zeros(2, "int32"), dialect="mlx")
    v[...] = 1.5
    assert (v.tolist(), v.dtype.name) == ([1, 1], "int32")


def test_an_array_that_its_owner_made_read_only_is_not_written_to() -> None:
    fixed = np.zeros(3, "float32")
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cw.asarray(fixed)[0] = 1


def test_what_numpy_reads_of_jax_is_written_to() -> None:
    jnp = pytest.importorskip("jax.numpy")
    array = jnp.zeros(3)
    for key in (0, slice(0, 1), ...):
        t = cw.asarray(np.asarray(array))[0:3]
        t[key] = 1
        assert t.tolist()[0] == 1
    assert array.tolist() == [0, 0, 0]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32"])
@pytest.mark.parametrize("number", [-1.5 + 0j, 3 - 0j, 300 + 0j, 1 + 2j, complex(1e39, 0)])
def test_torch_takes_a_complex_number_that_is_real(backend: str, dtype: str, number: Any) -> None:
    torch = pytest.importorskip("torch")

    def written(x: Any, way: str) -> Any:
        try:
            x.fill_(number) if way == "fill" else x.__setitem__(0, number)
        except (RuntimeError, cw.CastwiseError):
            return "refused"
        return x.tolist()

    for way in ("element", "fill"):
        own = written(torch.zeros(2, dtype=getattr(torch, dtype)), way)
        x = cw.asarray([0, 0], dtype=dtype, backend=backend, dialect="torch")
        assert written(x, way) == own


def test_elsewhere_no_complex_number_is_written_among_real_ones() -> None:
    for dialect in ("numpy", "mlx"):
        with pytest.raises(cw.PromotionError):
            cw.asarray([1, 2], dtype="int32", dialect=dialect)[0] = 1 + 0j
    with pytest.raises(cw.PromotionError):
        cw.asarray([1, 2], dtype="int32", dialect="jax").at[0].set(1 + 0j)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_new_axis_in_front_of_what_is_assigned_to(backend: str) -> None:
    pytest.importorskip(backend)

    def assigned(dialect: str, value: Any) -> list[float]:
        x = cw.asarray([1.0, 2.0], dtype="float32", dialect=dialect, backend=backend)
        x[None] = cw.asarray(value, dtype="float32", dialect=dialect, backend=backend)
        return list(x.tolist())

    assert assigned("numpy", [[3.0, 4.0]]) == [3.0, 4.0]
    assert assigned("mlx", [3.0]) == [3.0, 3.0]
    with pytest.raises(UsageError, match="None in the index adds no axis"):
        assigned("mlx", [[3.0, 4.0]])
    assert assigned("tinygrad", [[3.0, 4.0]]) == [1.0, 2.0]  # a copy is written into
    with pytest.raises((ValueError, RuntimeError)):  # each library words it
        assigned("tinygrad", [3.0, 4.0, 5.0])


def test_an_empty_index_keeps_the_dtype_of_an_array_in_mlx() -> None:
    byte = cw.asarray(3, dtype="uint8", dialect="mlx")
    x, single = (cw.asarray(v, dtype="float32", dialect="mlx") for v in ([1.0, 2.0], 1.0))
    x[()] = byte
    single[()] = byte
    assert (x.dtype.name, x.tolist()) == ("float32", [3.0, 3.0])
    assert (single.dtype.name, single.tolist()) == ("uint8", 3)


def test_tinygrad_assigns_arrays_of_one_dtype_alone() -> None:
    x = cw.asarray([1, 2], dtype="int8", dialect="tinygrad")
    with pytest.raises(PromotionError, match="must have the dtype"):
        x[0] = cw.asarray(1, dtype="int32", dialect="tinygrad")
    x[0] = 300
    x[1] = 2.5
    assert x.tolist() == [44, 2]
    truth = cw.asarray([True], dtype="bool", dialect="tinygrad")
    with pytest.raises(PromotionError, match="must have the dtype"):
        x[:1] = truth + 1.5
    x[:1] = truth + 1  # which is weak, and an integer too
    assert (x.dtype.name, x.tolist()) == ("int8", [2, 2])
