"""NumPy's and torch's own functions on tensors run under the dialect, or say what to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw

T = cw.asarray([1, 2, 3], dtype="int32", dialect="torch")
HALF = cw.asarray([0.5, 1.5], dtype="float16", dialect="torch")


@pytest.mark.parametrize(
    ("found", "expected", "dtype"),
    [
        (np.add(T, 1.5), [2.5, 3.5, 4.5], "float32"),
        (np.add(T, T), [2, 4, 6], "int32"),
        (np.exp(T * 0), [1, 1, 1], "float32"),
        (np.power(T, 2), [1, 4, 9], "int32"),
        (np.sum(T), 6, "int64"),
        (np.sum(T, 0), 6, "int64"),
        (np.sum(T, axis=0, dtype=None, keepdims=True), [6], "int64"),
        (np.mean(HALF), 1, "float16"),
        (np.std(HALF), np.std([0.5, 1.5], ddof=1).astype("float16"), "float16"),
        (np.std(HALF, ddof=0), 0.5, "float16"),
        (np.where(T > 1, T, 0), [0, 2, 3], "int32"),
        (np.concatenate([T, HALF]), [1, 2, 3, 0.5, 1.5], "float16"),
        (np.stack([T, T], axis=1), [[1, 1], [2, 2], [3, 3]], "int32"),
        (np.linalg.norm(HALF * 0), 0, "float16"),
        (np.clip(T, 2, None), [2, 2, 3], "int32"),
        (np.clip(T, a_min=0, a_max=2), [1, 2, 2], "int32"),
        (np.allclose(T, T), True, "bool"),
        (np.reshape(T, (3, 1)), [[1], [2], [3]], "int32"),
        (np.sort(T, 0), [1, 2, 3], "int32"),
        (np.argsort(T), [0, 1, 2], "int64"),
    ],
)
def test_a_function_of_numpy_runs_under_the_dialect(found: Any, expected: Any, dtype: str) -> None:
    assert isinstance(found, cw.Tensor)
    assert (found.tolist(), found.dtype.name, found.dialect.name) == (expected, dtype, "torch")


def test_a_tensor_without_a_dialect_keeps_following_the_context() -> None:
    square = cw.asarray([[2.0, 0.0], [0.0, 2.0]])
    for found in (np.linalg.det(square), np.flip(square), np.linalg.slogdet(square).logabsdet):
        assert found.dialect.name == "numpy"
        with cw.use("torch"):
            assert found.dialect.name == "torch"


def test_what_a_tensor_knows_of_itself_is_no_array() -> None:
    assert (np.shape(T), np.ndim(T), np.size(T)) == ((3,), 1, 3)


def test_divmod_gives_two_tensors() -> None:
    assert [part.tolist() for part in np.divmod(T, 2)] == [[0, 1, 1], [1, 0, 1]]
    under_numpy = T.under("numpy")
    assert [p.tolist() for p in divmod(np.array([5, 6, 7]), under_numpy)] == [[5, 3, 2], [0, 0, 1]]


def test_a_result_is_written_into_out() -> None:
    tensor, array = cw.asarray([0, 0, 0], dtype="int32", dialect="torch"), np.zeros(3, "int32")
    assert np.add(T, 1, out=tensor) is tensor
    assert np.multiply(T, 2, out=array) is array
    assert (tensor.tolist(), array.tolist()) == ([2, 3, 4], [2, 4, 6])


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.modf(T),
        lambda: np.array_equal(T, T),
        lambda: np.logaddexp.at(T, 0, T),
        lambda: np.linalg.norm(HALF, 1),
    ],
)
def test_what_castwise_has_not_says_what_to_write(call: Any) -> None:
    with pytest.raises(TypeError, match=r"does not run under a dialect: use .*x\.array"):
        call()


def test_the_op_is_named_where_only_an_argument_is_unknown() -> None:
    with pytest.raises(cw.UsageError, match=r"norm with ord=.*cw\.apply\('norm', x\)"):
        np.linalg.norm(HALF, 1)


def test_a_numpy_operand_on_the_left_is_one_of_the_operator() -> None:
    array, scalar = np.array([1, 2, 3]), np.float32(1.5)
    for dialect in ("torch", "numpy", "jax", "paddle"):
        t = T.under(dialect)
        for operand in (array, scalar):
            assert_same(lambda operand=operand, t=t: operand * t, "mul", operand, t)
            assert_same(lambda operand=operand, t=t: operand < t, "lt", operand, t)


def assert_same(run: Any, op: str, *operands: Any) -> None:
    try:
        expected = cw.apply(op, *operands, form="operator")
    except cw.PromotionError:
        with pytest.raises(cw.PromotionError):
            run()
    else:
        found = run()
        assert (found.tolist(), found.dtype) == (expected.tolist(), expected.dtype)


def test_functions_of_numpy_are_traced() -> None:
    graph = cw.trace(lambda x: np.mean(np.exp(x)), "int32[3]", dialect="torch")
    assert "exp" in str(graph)
    assert "mean" in str(graph)


class TestTorch:
    torch: Any = None

    @pytest.fixture(autouse=True)
    def _needs_torch(self) -> None:
        self.torch = pytest.importorskip("torch")

    def test_its_functions_run_under_the_dialect(self) -> None:
        torch = self.torch
        functional = torch.nn.functional
        t = cw.asarray(torch.tensor([-1, 2, 3], dtype=torch.int32), dialect="numpy")
        for found, expected, dtype in (
            (torch.relu(t), [0, 2, 3], "int32"),
            (functional.relu(t), [0, 2, 3], "int32"),
            (torch.add(t, t, alpha=2), [-3, 6, 9], "int32"),
            (torch.add(torch.ones(3), t), [0, 3, 4], "float64"),
            (torch.ones(3) + t, [0, 3, 4], "float64"),
            (torch.ones(3) > t, [True, False, False], "bool"),
            (torch.sum(t, 0), 4, "int64"),
            (torch.sum(t, dim=0, keepdim=True), [4], "int64"),
            (torch.cat([t, t], dim=0), [-1, 2, 3, -1, 2, 3], "int32"),
            (torch.max(t), 3, "int32"),
            (torch.clamp(t, min=2), [2, 2, 3], "int32"),
            (functional.mse_loss(t, t * 1.0), 0, "float64"),
            (functional.softmax(t * 0.0, dim=0), [1 / 3] * 3, "float64"),
            (torch.reshape(t, (3, 1)), [[-1], [2], [3]], "int32"),
        ):
            assert isinstance(found, cw.Tensor)
            assert (found.dtype.name, found.backend) == (dtype, "torch")
            np.testing.assert_allclose(found.numpy(), expected)

    def test_what_castwise_has_not_says_what_to_write(self) -> None:
        torch = self.torch
        t = cw.asarray(torch.ones(3), dialect="numpy")
        for call in (
            lambda: torch.lgamma(t),
            lambda: torch.nn.Linear(3, 2)(t),
            lambda: torch.ones(3).add(t),
        ):
            with pytest.raises(TypeError, match="does not run under a dialect"):
                call()
