"""Every function of linalg and fft on every dtype, compared with the NumPy installed here: the
dtype of each result, or that there is none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp

DIALECT = "numpy@1" if np.__version__.startswith("1.") else "numpy"
NAMES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64"
    " complex128"
)
DTYPES = NAMES.split()
SQUARE, VECTOR, CYCLE = np.eye(2), np.ones(3), np.roll(np.eye(3), 1, axis=0)
ORDERS: tuple[Any, ...] = (1, -1, 2, -2, np.inf, "nuc", "fro")


class Call(NamedTuple):
    """A call of a function by its name in both namespaces, and its arguments, given one by one."""

    name: str
    arrays: tuple[Any, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    arguments: tuple[Any, ...] = ()


def matrix_calls() -> Iterator[Call]:
    plain = "cholesky det eigh eigvalsh inv pinv qr slogdet svd svdvals matrix_rank trace diagonal"
    for name in plain.split():
        yield Call(f"linalg.{name}", (SQUARE,))
    # Where all eigenvalues are real NumPy, up to 2.4, returns real numbers, and the standard not.
    yield from (Call(f"linalg.{name}", (CYCLE,)) for name in ("eig", "eigvals"))
    yield from (Call("linalg.matrix_power", (SQUARE,), arguments=(n,)) for n in range(-2, 4))
    yield from (Call("linalg.matrix_norm", (SQUARE,), {"ord": order}) for order in ORDERS)
    yield from (Call("linalg.vector_norm", (VECTOR,), {"ord": order}) for order in (0, 1, 2, 3))
    yield Call("linalg.vector_norm", (SQUARE,), {"axis": 0})
    yield Call("linalg.cholesky", (SQUARE,), {"upper": True})
    yield Call("linalg.pinv", (SQUARE,), {"rtol": 0.1})
    yield Call("linalg.matrix_rank", (SQUARE,), {"rtol": 0.1})
    yield Call("linalg.qr", (SQUARE,), {"mode": "complete"})
    yield Call("linalg.svd", (SQUARE,), {"full_matrices": False})


def transform_calls() -> Iterator[Call]:
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        yield Call(f"fft.{name}", (VECTOR,))
        yield Call(f"fft.{name}", (SQUARE,), {"n": 5})
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        yield Call(f"fft.{name}", (VECTOR,))
        yield Call(f"fft.{name}", (SQUARE,))
    yield from (Call(f"fft.{name}", (SQUARE,)) for name in ("fftshift", "ifftshift"))


def calls_of_two() -> Iterator[Call]:
    for name in ("matmul", "solve", "tensordot"):
        yield Call(f"linalg.{name}", (SQUARE, SQUARE))
    yield from (Call(f"linalg.{name}", (VECTOR, VECTOR)) for name in ("cross", "outer", "vecdot"))


def asked(call: Call, dtypes: tuple[str, ...]) -> tuple[Any, Any]:
    """What NumPy and castwise give: the dtypes of all results, or None for a refusal."""
    arrays = [array.astype(dtype) for array, dtype in zip(call.arrays, dtypes, strict=True)]
    tensors = [cw.asarray(array, dialect=DIALECT) for array in arrays]
    return results(np, call, arrays), results(xp, call, tensors)


def results(namespace: Any, call: Call, arrays: list[Any]) -> tuple[str, ...] | None:
    room, _, name = call.name.partition(".")
    function: Callable[..., Any] = getattr(getattr(namespace, room), name)
    try:
        found = function(*arrays, *call.arguments, **call.options)
    except TypeError:  # a PromotionError is one
        return None
    return tuple([str(x.dtype) for x in (found if isinstance(found, tuple) else (found,))])


QUESTIONS = [
    *((call, (d,)) for call in (*matrix_calls(), *transform_calls()) for d in DTYPES),
    *((call, pair) for call in calls_of_two() for pair in itertools.product(DTYPES, repeat=2)),
]


@pytest.mark.skipif(DIALECT == "numpy@1", reason="NumPy 1 has not all of them; its cells tell")
def test_every_function_gives_the_dtypes_that_numpy_gives() -> None:
    wrong = [
        f"{call.name}({', '.join(dtypes)}) {call.options or ''}: {castwises}, NumPy {numpys}"
        for call, dtypes in QUESTIONS
        for numpys, castwises in [asked(call, dtypes)]
        if numpys != castwises
    ]
    assert wrong == []
    assert len(QUESTIONS) > 1_800


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64", "complex128"])
def test_the_question_gives_the_dtype_of_the_first_result(dtype: str) -> None:
    for call in (*matrix_calls(), *transform_calls()):
        name = call.name
        if name.partition(".")[2] in ("trace", "diagonal", "fftshift", "ifftshift"):
            continue  # made of others, or only moving elements
        if call.arguments and call.arguments[0] < 0:
            continue  # made of the inverse
        try:
            told = str(cw.resolve(name, cw.describe(call.arrays[0].astype(dtype))).result)
        except cw.PromotionError:
            told = None
        numpys, _ = asked(call, (dtype,))
        assert (numpys and numpys[0]) == told, (name, call.options)


def test_an_op_with_several_results_gives_all_of_them_to_apply() -> None:
    x = cw.asarray(np.eye(2, dtype="complex64"))
    assert [str(part.dtype) for part in cw.apply("linalg.eigh", x)] == ["float32", "complex64"]
    assert str(cw.apply("inv", x).dtype) == "complex64"
    assert str(cw.apply(np.fft.rfft, x.real).dtype) == "complex64"


def test_a_function_that_was_not_recorded_says_so() -> None:
    explained = cw.explain("linalg.inv", "float32[2,2]", dialect="mindspore")
    assert "mindspore was not asked about linalg.inv" in str(explained)
