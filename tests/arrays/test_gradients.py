"""Gradients reach every tensor in its own dtype, and are torch's own of the explicit program."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import pytest

import castwise as cw
from castwise.arrays.backends import backend_named, backend_names
from castwise.arrays.operators import RecordsGradients

torch = pytest.importorskip("torch")

FLOATS = ("float16", "bfloat16", "float32", "float64")


def leaf(values: Any, dtype: str, dialect: str = "torch") -> cw.Tensor:
    made = cw.asarray(values, dtype=dtype, backend="torch", dialect=dialect)
    return made.requires_grad_() if made.dtype.kind in ("float", "complex") else made


def raw_leaf(tensor: cw.Tensor) -> Any:
    return tensor.array.detach().clone().requires_grad_()


def ones(tensor: cw.Tensor) -> cw.Tensor:
    return cw.asarray(torch.ones_like(tensor.array), dialect=tensor.dialect)


def gradient(tensor: cw.Tensor) -> cw.Tensor:
    found = tensor.grad
    assert found is not None
    return found


def test_a_mixed_program_has_torchs_gradients() -> None:
    half, single = leaf([1.5, 2.25, -3], "float16"), leaf([0.1, 0.2, 0.3], "float32")
    whole = leaf([1, 2, 3], "int32")
    result = half * single + whole
    result.backward(ones(result))

    x, y = raw_leaf(half), raw_leaf(single)
    expected = x.to(torch.float32) * y + whole.array.to(torch.float32)
    expected.backward(torch.ones(3))
    assert (gradient(half).dtype.name, gradient(single).dtype.name) == ("float16", "float32")
    assert torch.equal(gradient(half).array, x.grad)
    assert torch.equal(gradient(single).array, y.grad)
    assert not whole.requires_grad


@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax", "paddle", "tensorflow:all"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "pow", "maximum", "atan2", "where"])
def test_each_gradient_has_its_inputs_dtype(op: str, dialect: str) -> None:
    tried = 0
    for left, right in itertools.product(FLOATS, repeat=2):
        x, y = leaf([1.5, 2.25, 3], left, dialect), leaf([0.5, 2, 4], right, dialect)
        condition = [x < x.astype(x.dtype) + 1] if op == "where" else []
        try:
            decision = cw.resolve(op, *condition, x, y, dialect=dialect)
        except cw.PromotionError:
            continue
        tried += 1
        result = cw.apply(op, *condition, x, y)
        result.backward(ones(result))
        held = (result.dtype, gradient(x).dtype, gradient(y).dtype)
        assert held == (decision.result, x.dtype, y.dtype)
        for tensor, grad in zip((x, y), _explicit(op, decision, condition, x, y), strict=True):
            assert torch.equal(gradient(tensor).array, grad), (left, right)
    assert tried


def _explicit(op: str, decision: Any, condition: list[Any], *tensors: cw.Tensor) -> list[Any]:
    """torch's gradients of the same op, with the decided casts written out."""
    leaves = [raw_leaf(t) for t in tensors]
    compute = getattr(torch, decision.compute.name)
    cast = [x.to(compute) for x in leaves]
    result = getattr(torch, op)(*[c.array for c in condition], *cast)
    result = result.to(getattr(torch, decision.result.name))
    result.backward(torch.ones_like(result))
    return [x.grad for x in leaves]


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: cw.apply("sum", x * y),
    lambda x, y: cw.apply("mse_loss", x, y.astype(x.dtype)),
    lambda x, y: cw.apply("mean", cw.apply("tanh", x) / (y + 2)),
    lambda x, y: cw.apply("logsumexp", x) + cw.apply("norm", y),
    lambda x, y: cw.apply("sum", cw.apply("concat", x, y)),
    lambda x, y: cw.apply("median", x[0] + y),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scalar_result_needs_no_gradient(program: Callable[..., Any], dtype: str) -> None:
    x, y = leaf([[1, 2, 3], [4, 5, 7]], dtype), leaf([[0.5, 1.5, 2.5]], "float32")
    program(x, y).backward()
    assert (gradient(x).dtype, gradient(y).dtype) == (x.dtype, y.dtype)
    assert (gradient(x).shape, gradient(y).shape) == ((2, 3), (1, 3))
    assert all(torch.isfinite(gradient(t).array).all() for t in (x, y))


def test_what_was_broadcast_gets_the_sum() -> None:
    x, y, number = leaf([[1], [2]], "float16"), leaf([1, 2, 3], "float64"), leaf(2, "float32")
    result = x * y * number
    result.backward(ones(result))
    assert gradient(x).tolist() == [[12], [12]]
    assert gradient(y).tolist() == [6, 6, 6]
    assert (gradient(number).tolist(), gradient(number).dtype.name) == (18, "float32")


def test_gradients_are_gathered_over_several_runs() -> None:
    x = leaf([1, 2], "bfloat16")
    for _ in range(3):
        cw.apply("sum", x * 2).backward()
    assert gradient(x).tolist() == [6, 6]
    assert gradient(x).dialect.name == "torch"


def test_the_gradient_of_complex_numbers_is_complex() -> None:
    z, x = leaf([1 + 1j], "complex64"), leaf([2], "float32")
    cw.apply("sum", cw.apply("abs", z * x)).backward()
    assert (gradient(z).dtype.name, gradient(x).dtype.name) == ("complex64", "float32")


def test_a_leaf_is_not_changed_in_place() -> None:
    x = leaf([1, 2], "float32")
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x += 1
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.mul_(2)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 5


def test_gradients_go_through_what_is_changed_in_place() -> None:
    x, y = leaf([1, 2], "float16"), leaf([3, 5], "float32")
    total = x * 1
    total += y  # in place, so it stays float16
    assert total.dtype.name == "float16"
    total.backward(ones(total))
    assert (gradient(x).tolist(), gradient(y).tolist()) == ([1, 1], [1, 1])
    assert gradient(y).dtype.name == "float32"


def test_whether_a_gradient_is_wanted_is_told_and_changed() -> None:
    x = leaf([1.0], "float32")
    assert x.requires_grad
    assert (x + 1).requires_grad
    assert x.grad is None
    assert (x + 1).grad is None
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        leaf([1], "int32").requires_grad_()


def test_values_are_read_from_what_records_gradients() -> None:
    x = leaf([1.5, 2], "bfloat16")
    assert x.tolist() == [1.5, 2]
    assert repr(x) == "Tensor([1.5, 2], dtype=bfloat16, dialect=torch, backend=torch)"
    assert cw.asarray(x, backend="numpy").tolist() == [1.5, 2]


def test_a_gradient_of_another_dtype_or_backend_is_refused() -> None:
    result = leaf([1, 2], "float16") * 2
    with pytest.raises(cw.UsageError, match=r"float16 tensor on torch.*float32 on torch: cast it"):
        result.backward(cw.asarray([1, 1], dtype="float32", backend="torch"))
    with pytest.raises(cw.UsageError, match="float16 on numpy"):
        result.backward(cw.asarray([1, 1], dtype="float16"))


def test_backends_without_gradients_name_one_that_has_them() -> None:
    without = [n for n in ("numpy", "dask") if n in backend_names()]
    for name in without:
        pytest.importorskip(name)
        assert not isinstance(backend_named(name), RecordsGradients)
        t = cw.asarray([1.0], backend=name)
        assert not t.requires_grad
        for use in (t.requires_grad_, t.backward, lambda t=t: t.grad):
            with pytest.raises(
                cw.UsageError,
                match=rf"the backend {name} records no gradients.*backend='torch'",
            ):
                use()


def test_a_backend_that_differentiates_functions_names_its_own_way() -> None:
    pytest.importorskip("jax")
    with pytest.raises(cw.UsageError, match=r"use jax\.grad on a function of tensors or convert"):
        cw.asarray([1.0], dtype="float32", backend="jax").backward()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("beside", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", [operator.mul, operator.truediv])
def test_the_gradient_of_a_0d_tensor_beside_small_floats_is_torch_s_own(
    op: Any, beside: str, dtype: str
) -> None:
    values, value = [1.7, 2.3, 0.6, 1.1, 2.9], 1.3
    plain = [torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True),
             torch.tensor(value, dtype=getattr(torch, beside), requires_grad=True)]  # fmt: skip
    op(*plain).sum().backward()
    tensors = [cw.asarray(x.detach().clone().requires_grad_(), dialect="torch") for x in plain]
    cw.apply("sum", op(*tensors)).backward()
    for tensor, expected in zip(tensors, plain, strict=True):
        assert tensor.grad is not None
        assert tensor.grad.dtype is tensor.dtype
        assert tensor.grad.tolist() == expected.grad.tolist()


# float8 and complex32 have no kernel of torch's that writes under a mask.
WRITTEN = ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex32")
KEYS = {"slice": slice(0, 2), "mask": [True, True, False], "places": [0, 1]}


def _real(tensor: cw.Tensor) -> cw.Tensor:
    is_complex = tensor.dtype.kind == "complex"
    return cw.apply("real", tensor.astype("complex64")) if is_complex else tensor.astype("float32")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("dtype", WRITTEN)
def test_what_is_written_over_gets_no_gradient_and_what_is_written_does(
    dtype: str, key: Any
) -> None:
    x, v = leaf([1, 2, 4], dtype), leaf([3, 5], dtype)
    written = x.astype(dtype)
    written[torch.tensor(key) if isinstance(key, list) else key] = v
    assert written.tolist() == [3, 5, 4]
    cw.apply("sum", _real(written)).backward()
    assert (gradient(x).tolist(), gradient(v).tolist()) == ([0, 0, 1], [1, 1])


@pytest.mark.parametrize("dtype", WRITTEN)
def test_a_number_written_over_an_element_stops_its_gradient(dtype: str) -> None:
    x = leaf([1, 2], dtype)
    written = x.astype(dtype)
    written[0] = 5
    cw.apply("sum", _real(written)).backward()
    assert gradient(x).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", WRITTEN)
def test_a_leaf_is_not_written_to(dtype: str) -> None:
    x = leaf([1, 2], dtype)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 5
    assert x.tolist() == [1, 2]
    with torch.no_grad():
        x[0] = 5
    assert x.tolist() == [5, 2]


def test_methods_carry_gradients_and_detach_stops_them() -> None:
    x = leaf([1.0, 2.0, 3.0], "float32")
    ((x.clone().reshape(3, 1) * x.detach().reshape(3, 1)).sum()).backward()
    assert gradient(x).tolist() == [1.0, 2.0, 3.0]
    assert not x.detach().requires_grad
