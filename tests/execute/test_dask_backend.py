"""What Dask's arrays ask beyond the contract: laziness, chunks, graphs that travel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.vocab.ops import OPS, Op

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

COMPUTING = [row for row in OPS.values() if row.family != "questions"]
PAIRS = (
    ("int8", "uint8"), ("bfloat16", "int8"), ("float16", "float16"), ("float32", "int64"),
    ("bool", "bool"), ("complex64", "float32"), ("float64", "float64"),
)  # fmt: skip
CHUNKS = ((6, 8), (4, 3), ((1, 5), (2, 2, 4)), (1, 8))


@pytest.fixture(autouse=True)
def threads() -> Any:
    with dask.config.set(scheduler="threads"):
        yield


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Small numbers that every dtype holds exactly."""
    drawn = np.random.default_rng(seed).integers(0, 3, shape)
    return cw.asarray(drawn, dtype=dtype).numpy()  # type: ignore[no-any-return]


def chunked(array: Any, chunks: Any, dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(da.from_array(array, chunks=chunks), dialect=dialect)


def arrays_for(row: Op, pair: tuple[str, str]) -> list[np.ndarray[Any, Any]]:
    count = max(row.arity[0], min(row.arity[1], 2))
    dtypes = [pair[n % 2] for n in range(count)]
    if row.is_condition_first:
        dtypes[0] = "bool"
    square = row.family == "products"
    shapes = [(6, 8) if n == 0 or not square else (8, 6) for n in range(count)]
    return [numbers(d, s, n) for n, (d, s) in enumerate(zip(dtypes, shapes, strict=True))]


@pytest.mark.parametrize("row", COMPUTING, ids=lambda row: row.name)
def test_the_lazy_dtype_is_the_computed_one_in_any_chunks(row: Op) -> None:
    tried = 0
    for pair in PAIRS:
        arrays = arrays_for(row, pair)
        options = {"axis": 1} if row.name in ("cumsum", "cumprod") else {}
        try:
            expected = cw.apply(
                row.name, *[cw.asarray(a, dialect="torch") for a in arrays], **options
            )
        except (cw.PromotionError, TypeError):  # refused, or nothing computes it
            continue
        tried += 1
        for chunks in CHUNKS:
            got = cw.apply(
                row.name, *[chunked(a, transposed(chunks, a)) for a in arrays], **options
            )
            assert got.dtype is expected.dtype, (pair, chunks)
            assert got.shape == expected.shape, (pair, chunks)
            computed = got.array.compute()
            assert computed.dtype == got.array.dtype == expected.array.dtype, (pair, chunks)
            assert_near(computed, expected, f"{pair} in {chunks}")
    assert tried


def transposed(chunks: tuple[Any, Any], array: Any) -> Any:
    return chunks if array.shape == (6, 8) else chunks[::-1]


def assert_near(computed: Any, expected: cw.Tensor, case: str) -> None:
    bits = expected.dtype.mantissa_bits if expected.dtype.kind in ("float", "complex") else 60
    np.testing.assert_allclose(
        computed.astype("complex128"), expected.numpy().astype("complex128"),
        rtol=2.0 ** (3 - bits), atol=2.0 ** (3 - bits), err_msg=case,
    )  # fmt: skip
