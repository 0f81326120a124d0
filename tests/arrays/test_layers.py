"""Layers on every backend: their values, and what is said of shapes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp
from castwise.vocab.ops import LAYERS
from layer_calls import layer_calls

BACKENDS = ("numpy", "torch", "jax", "dask")
X = np.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 5.0]], "float32")


def on(backend: str, array: Any) -> Any:
    """A tensor on a backend, which may not be installed, with torch's rules if it has int64."""
    if backend != "numpy":
        pytest.importorskip(backend)
    rules = "jax" if backend == "jax" else "torch"
    return cw.asarray(array, dialect=rules, backend=backend)


def test_every_layer_is_called() -> None:
    assert {*LAYERS} == {call.op for call in layer_calls()} | {"topk"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_values_are_those_of_the_definition(backend: str) -> None:
    for op, operands, options, expected in layer_calls():
        found = cw.apply(op, *[on(backend, x) for x in operands], **options)
        assert found.shape == np.shape(expected), op
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5, err_msg=op)
        is_counted = op == "one_hot" and backend != "jax"
        assert found.dtype.name == ("int64" if is_counted else "float32"), op


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_topk_gives_values_and_places(backend: str) -> None:
    values, places = cw.apply("topk", on(backend, X), 2)
    assert (values.tolist(), places.tolist()) == ([[3, 2], [5, 5]], [[0, 2], [1, 2]])
    assert values.dtype.name == "float32"
    found = xp.topk(on(backend, X), 1, axis=0)
    assert (found.values.tolist(), found.indices.tolist()) == ([[3, 5, 5]], [[0, 1, 1]])
    with cw.use("jax"):
        assert xp.topk(cw.asarray(X), 1).indices.dtype.name == "int32"


TORCHS = {  # the calls that torch writes in another way
    "einsum": lambda torch, x, *others, equation: torch.einsum(equation, x, *others),
    "layer_norm": lambda torch, x, *others, **_: torch.nn.functional.layer_norm(
        x, x.shape[-1:], *others
    ),
    "pad": lambda torch, x, **_: torch.nn.functional.pad(x, (2, 0, 0, 1), value=7),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_values_are_torchs(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    for op, operands, options, _ in layer_calls():
        arrays = [torch.from_numpy(np.asarray(x)) for x in operands]
        arrays = [x.to(getattr(torch, dtype)) if x.is_floating_point() else x for x in arrays]
        function = TORCHS.get(op)
        expected = (function(torch, *arrays, **options) if function else
                    getattr(torch.nn.functional, op)(*arrays, **options))  # fmt: skip
        found = cw.apply(op, *[cw.asarray(x, dialect="torch") for x in arrays], **options)
        assert found.dtype.name == str(expected.dtype).removeprefix("torch."), op
        near = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}[dtype]
        got = found.array.to(torch.float64)
        assert torch.allclose(got, expected.to(torch.float64), rtol=near, atol=near), op


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_torchs_losses_with_options_give_what_they_give_in_torch(backend: str) -> None:
    torch = pytest.importorskip("torch")
    loss, chooser = torch.nn.functional.cross_entropy, torch.Generator().manual_seed(0)
    scores = torch.randn(6, 5, generator=chooser)
    classes, shares = torch.tensor([1, 0, -100, 4, 4, 2]), scores.flip(1).softmax(1)

    def tensor(array: Any) -> Any:
        return cw.asarray(array.numpy(), dialect="torch", backend=backend)

    for options in (
        {}, {"ignore_index": 4}, {"label_smoothing": 0.1}, {"reduction": "sum"},
        {"reduction": "none", "label_smoothing": 0.5}, {"ignore_index": 2, "label_smoothing": 1.0},
        {"ignore_index": 4, "reduction": "sum"}, {"ignore_index": -5, "reduction": "none"},
    ):  # fmt: skip
        given = classes if options.get("ignore_index", -100) == -100 else classes.abs() % 5
        expected = loss(scores, given, **options)
        found = loss(tensor(scores), tensor(given), **options)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6, err_msg=str(options))
    found = loss(tensor(scores), tensor(shares), label_smoothing=0.2)
    assert found.item() == pytest.approx(loss(scores, shares, label_smoothing=0.2).item())
    for target, options in ((classes, {"label_smoothing": 2.0}), (shares, {"ignore_index": 1})):
        with pytest.raises(RuntimeError):
            loss(scores, target, **options)
        with pytest.raises(cw.CastwiseError, match=str(next(iter(options)))):
            loss(tensor(scores), tensor(target), **options)


def test_a_mask_of_attention_is_torchs_or_refused() -> None:
    torch = pytest.importorskip("torch")
    attention = torch.nn.functional.scaled_dot_product_attention
    query = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    for mask in (torch.eye(4) > 0, torch.eye(4) * -3):
        expected = attention(query, query, query, attn_mask=mask)
        own, other = (
            [cw.asarray(x.numpy(), dialect="torch", backend=backend) for x in (query, mask)]
            for backend in ("torch", "numpy")
        )
        found = attention(own[0], own[0], own[0], attn_mask=own[1])
        assert found.numpy().tobytes() == expected.numpy().tobytes()
        with pytest.raises(cw.CastwiseError, match="attn_mask"):
            attention(other[0], other[0], other[0], attn_mask=other[1])
    with pytest.raises(cw.CastwiseError, match="attn_mask"):
        cw.apply("scaled_dot_product_attention", *own[:1] * 3, attn_mask=own[1])


def test_the_typed_functions_do_the_same() -> None:
    with cw.use("torch"):
        for op, operands, options, expected in layer_calls():
            arrays = [xp.asarray(x) for x in operands]
            rest = dict(options)
            first = [rest.pop("equation")] if op == "einsum" else []
            found = getattr(xp, op)(*first, *arrays, **rest)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5, err_msg=op)


def test_what_stands_among_the_operands_is_no_operand() -> None:
    x, y = cw.asarray(X), cw.asarray(X.T)
    assert cw.apply("einsum", "ij,jk->ik", x, y).shape == (2, 2)
    assert cw.apply("np.einsum", "ij,jk->ik", x, y).shape == (2, 2)
    assert np.einsum("ij,jk->ik", x, y).dtype.name == "float32"
    assert cw.apply("layer_norm", x, (3,), y[:, 0]).shape == (2, 3)
    assert cw.apply("pad", x, [(1, 1), (0, 0)]).shape == (4, 3)
    with pytest.raises(cw.PromotionError, match="einsum takes no Python numbers"):
        cw.resolve("einsum", "float32[3]", 2)
    asked = cw.resolve("einsum", "ij,jk->ik", "float16[2,3]", "float32[3,4]", dialect="numpy")
    assert str(asked.question) == "einsum(float16[2,3], float32[3,4])"
    assert asked.result.name == "float32"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("einsum", X, X), "einsum needs equation="),
        (("topk", X), "topk needs k="),
        (("topk", X, 4), "topk of 3 elements cannot give 4"),
        (("pad", X, (1, 2, 3)), "a pair for each of 2 dimensions"),
        (("conv1d", X, X), "conv1d takes an array and a kernel of 3 dimensions"),
        (("conv2d", X[None, None], np.ones((1, 2, 1, 1), "float32")), "channels of a group"),
        (("conv2d", X[None, None], np.ones((1, 1, 3, 3), "float32")), "does not fit into"),
        (("layer_norm", X, (4,)), "is over its last dimensions"),
        (("layer_norm", X, None, X[0]), "needs a weight too"),
        (("cross_entropy", X, np.asarray([1, 2, 0])), r"takes a target of shape \(2,\)"),
        (("scaled_dot_product_attention", X, X[0], X), "attention takes queries"),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_what_does_not_fit_is_an_error_that_says_so(call: tuple[Any, ...], said: str) -> None:
    op, *operands = call
    given = [cw.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    with pytest.raises(cw.UsageError, match=said):
        cw.apply(op, *given)
