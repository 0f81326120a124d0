"""Arrays whose elements are not all there as numbers are refused by name, never read in part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw


def _torch(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(pytest.importorskip("torch"))


def _jax() -> Any:
    pytest.importorskip("jax")
    sparse = pytest.importorskip("jax.experimental.sparse")
    return sparse.BCOO.fromdense(np.eye(3))


ARRAYS: dict[str, tuple[Callable[[], Any], str]] = {
    "masked": (lambda: np.ma.array([1, 2, 3], mask=[0, 1, 0]), r"masked.*x\.filled"),
    "masked constant": (lambda: np.ma.masked, "masked"),
    "sparse_coo": (_torch(lambda t: t.eye(3).to_sparse()), r"sparse_coo.*x\.to_dense\(\)"),
    "sparse_csr": (_torch(lambda t: t.eye(3).to_sparse_csr()), r"sparse_csr.*x\.to_dense\(\)"),
    "quantised": (
        _torch(lambda t: t.quantize_per_tensor(t.ones(3), 0.1, 0, t.qint8)), "quantised.*dequantize"
    ),
    "nested": (
        _torch(lambda t: t.nested.nested_tensor([t.ones(2), t.ones(3)])), "nested.*to_padded_tensor"
    ),
    "BCOO": (_jax, r"sparse.*x\.todense\(\)"),
    "scipy": (
        lambda: pytest.importorskip("scipy.sparse").csr_array(np.eye(3)), r"sparse.*x\.toarray\(\)"
    ),
}  # fmt: skip
USES: dict[str, Callable[[Any], Any]] = {
    "asarray": cw.asarray,
    "resolve": lambda x: cw.resolve("add", x, 1, dialect="numpy"),
    "result_type": lambda x: cw.result_type(x, x),
    "describe": cw.describe,
    "apply": lambda x: cw.apply("add", x, 1),
    "operator": lambda x: cw.asarray([1.0, 2.0, 3.0]) + x,
    "assignment": lambda x: cw.asarray([1.0, 2.0, 3.0]).__setitem__(..., x),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(("make", "told"), ARRAYS.values(), ids=ARRAYS)
def test_it_is_refused_by_name(make: Callable[[], Any], told: str, use: Any) -> None:
    array = make()
    with pytest.raises(cw.UsageError, match=told):
        use(array)
