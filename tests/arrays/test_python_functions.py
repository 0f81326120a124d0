"""Python's divmod, round and pow on tensors, and empty arrays, compared with the frameworks."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw

Make = Callable[[Any, str], Any]
MADE: dict[str, tuple[str, Make]] = {
    "numpy": ("numpy", lambda v, dtype: np.array(v, dtype)),
    "torch": ("torch", lambda v, dtype: _module("torch").tensor(v, dtype=_of("torch", dtype))),
    "jax": ("jax", lambda v, dtype: _module("jax.numpy").array(v, dtype)),
    "tensorflow": ("tensorflow", lambda v, dtype: _module("tensorflow").constant(v, dtype=dtype)),
    "paddle": ("paddle", lambda v, dtype: _module("paddle").to_tensor(v, dtype=dtype)),
    "mlx": ("mlx", lambda v, dtype: _module("mlx.core").array(v, _of("mlx.core", dtype))),
    "array-api": (
        "array_api_strict",
        lambda v, dtype: _module("array_api_strict").asarray(
            v, dtype=_of("array_api_strict", dtype)
        ),
    ),
}
CALLS: dict[str, Callable[[Make], Any]] = {
    "divmod of integers": lambda make: divmod(make([7, -8], "int32"), make([2, 3], "int32"))[0],
    "divmod of floats": lambda make: divmod(make([7, -8], "float32"), 2)[1],
    "divmod of a number": lambda make: divmod(2, make([7, -8], "float32"))[1],
    "round": lambda make: round(make([1.5, 2.5, -0.7], "float32")),
    "round of float16": lambda make: round(make([1.5, 2.5, -0.7], "float16")),
    "round of one": lambda make: round(make(2.5, "float32")),
    "round of integers": lambda make: round(make([1, 2], "int16")),
    "round of bools": lambda make: round(make([True, False], "bool")),
    "round to digits": lambda make: round(make([1.26, 2.5, 0.049], "float32"), 1),
    "round to digits of float16": lambda make: round(make([1.26, 2.5, 60000], "float16"), 1),
    "round to many digits": lambda make: round(make([1.26, 2.5], "float32"), 50),
    "round by tens": lambda make: round(make([16.0, 25.0, 1234.0], "float32"), -1),
    "round of integers to digits": lambda make: round(make([16, 2], "int32"), 1),
    "round of integers by tens": lambda make: round(make([16, 2], "int32"), -1),
    "nothing to the power -1": lambda make: make([], "int32") ** -1,
    "nothing to a negative power": lambda make: make([], "int32") ** make([-1], "int32"),
    "something to the power -1": lambda make: make([2, 3], "float32") ** -1,
}


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _of(module: str, name: str) -> Any:
    return getattr(_module(module), "bool_" if (module, name) == ("mlx.core", "bool") else name)


def result(call: Callable[[Make], Any], make: Make) -> Any:
    """The dtype and the values; None if it is refused."""
    try:
        found = call(make)
    except Exception:  # each framework has its own errors
        return None
    dtype = cw.dtype(found.dtype) if not isinstance(found, cw.Tensor) else found.dtype
    values = found.tolist() if hasattr(found, "tolist") else np.asarray(found).tolist()
    return dtype, values


@pytest.mark.parametrize("dialect", MADE)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_function_of_python_s_does_what_the_framework_does(
    dialect: str, call: Callable[[Make], Any]
) -> None:
    module, make = MADE[dialect]
    pytest.importorskip(module)
    expected = result(call, make)
    found = result(call, lambda v, dtype: cw.asarray(v, dtype=dtype, dialect=dialect))
    assert found == expected


@pytest.mark.parametrize("dialect", MADE)
def test_pow_takes_no_modulus(dialect: str) -> None:
    with pytest.raises(TypeError, match=r"x\*\*y % z"):
        pow(cw.asarray([7, 8], dtype="int32", dialect=dialect), 2, 3)
    module, make = MADE[dialect]
    pytest.importorskip(module)
    found = result(lambda make: pow(make([7, 8], "int32"), 2, 3), make)
    # Paddle takes the modulus for a name and forgets it.
    assert found == ((cw.dtype("int32"), [49, 64]) if dialect == "paddle" else None)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_an_empty_base_does_not_hide_the_next_one(backend: str) -> None:
    pytest.importorskip(backend)
    empty, full = (
        cw.asarray(np.array(v, "int32"), backend=backend, dialect="numpy") for v in ([], [2, 3])
    )
    for _ in range(3):
        assert (empty**-1).shape == (0,)
        assert cw.apply("pow", empty, -1).dtype.name == "int32"
        with pytest.raises(cw.ScalarRangeError):
            full**-1
    kept = empty
    kept **= -1
    assert kept.shape == (0,)


def test_notation_tells_what_is_empty() -> None:
    assert cw.resolve("pow", "int32[0]", -1, dialect="numpy").result.name == "int32"
    for base in ("int32[3]", "int32", "int32[n]", "int32[]"):
        with pytest.raises(cw.ScalarRangeError):
            cw.resolve("pow", base, -1, dialect="numpy")
    with pytest.raises(cw.ScalarRangeError):
        cw.resolve("pow", "int32[0]", -1, dialect="torch")


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_logsumexp_of_nothing(shape: tuple[int, ...]) -> None:
    arrays = {d: cw.asarray(np.zeros(shape, "float32"), dialect=d) for d in ("mlx", "torch")}
    with pytest.raises(cw.UsageError, match="logsumexp of an array without elements"):
        cw.apply("logsumexp", arrays["mlx"], axis=1 if len(shape) > 1 else 0)
    assert cw.apply("logsumexp", arrays["torch"]).item() == -np.inf


def test_logsumexp_of_nothing_raises_in_mlx() -> None:
    mlx = pytest.importorskip("mlx.core")
    with pytest.raises(ValueError, match="empty"):
        mlx.logsumexp(mlx.zeros((2, 0)), axis=0)


def test_what_is_refused_says_what_to_write() -> None:
    t = cw.asarray([7.0, 8.0], dialect="torch")
    for call, told in (
        (lambda: divmod(t, 2), r"x // y and x % y"),
        (lambda: divmod(2, t), r"x // y and x % y"),
        (lambda: round(t), r"cw\.apply\('round', x\)"),
    ):
        with pytest.raises(TypeError, match=told):
            call()
    assert operator.floordiv(t, 2).tolist() == np.divmod(t, 2)[0].tolist() == [3, 4]
