"""Small programs that mix dtypes, made from parts: constructors, spellings of dtypes, operations,
and chains that two lines feed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple


class Snippet(NamedTuple):
    """The body of a function that returns an array."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Parts(NamedTuple):
    """What the snippets of a framework are made from."""

    head: str  # imports and helpers
    narrow: str  # makes `x`, a matrix of the dtype the program is meant for
    vectors: tuple[str, ...]  # make a vector of a wider dtype
    matrices: tuple[str, ...]
    with_dtype: tuple[str, ...]  # such constructors with a dtype, at the place of {}
    dtypes: tuple[str, ...]
    operations: tuple[str, ...]  # of x and a vector w
    products: tuple[str, ...]  # of x and a matrix W
    chains: tuple[str, ...]  # of x, w and another vector v
    forms: tuple[str, ...]  # whole bodies with a constructor at the place of {}


NUMPY = Parts(
    head="import io\nimport numpy as np\nrng = np.random.default_rng(0)\n",
    narrow="x = np.linspace(1, 2, 20, dtype=np.float32).reshape(4, 5)",
    vectors=(
        "np.zeros(5)",
        "np.ones(5)",
        "np.full(5, 0.5)",
        "np.array([0.5, 1.5, 2.5, 3.5, 4.5])",
        "np.asarray([0.5] * 5)",
        "np.arange(5.0)",
        "np.arange(0.5, 5, 1)",
        "np.linspace(0, 1, 5)",
        "np.logspace(0, 1, 5)",
        "np.geomspace(1, 2, 5)",
        "np.random.default_rng(0).random(5)",
        "np.random.default_rng(0).normal(size=5)",
        "np.random.default_rng(0).integers(1, 9, 5)",
        "np.random.default_rng(0).standard_normal(5)",
        "np.random.RandomState(0).rand(5)",
        "np.random.RandomState(0).uniform(size=5)",
        "np.hanning(5)",
        "np.float64(0.5)",
        "np.array(0.5)",
        "np.sqrt(2.0)",
        "np.exp(np.arange(5))",
        "np.arange(5) / 3",
        "1 / (np.arange(5) + 1)",
        "np.arange(5) * 0.5",
        "np.zeros(5).copy()",
        "np.zeros((5, 2))[:, 0]",
        "np.concatenate([np.zeros(2), np.ones(3)])",
        "np.loadtxt(io.StringIO('1 2 3 4 5'))",
        "np.fromiter((n / 2 for n in range(5)), float)",
        "np.mean(np.arange(20).reshape(4, 5), axis=0)",
        "np.cumsum(np.ones(5))",
        "np.full_like(np.ones(5), 0.5)",
        "np.zeros_like(np.ones(5))",
        "np.eye(5)[2]",
        "np.ones(5)[np.arange(5)]",
        "np.meshgrid(np.arange(5.0), np.arange(2))[0][0]",
        "np.stack([np.ones(5)] * 2).mean(axis=0)",
        "np.where(np.arange(5) > 2, 0.5, 1.5)",
        "np.ones(*[5])",
        "np.ones(**{'shape': 5})",
        "np.zeros(5, order='C')",
        "np.array(\n    [0.5, 1.5,  # a comment\n     2.5, 3.5, 4.5],\n)",
        "(np.zeros(5))",
        "+np.ones(5)",
    ),
    matrices=("np.ones((5, 5))", "np.eye(5)", "np.identity(5)", "np.tri(5)", "np.diag(np.ones(5))"),
    with_dtype=(
        "np.zeros(5, {})",
        "np.zeros(5, dtype={})",
        "np.ones(5, {})",
        "np.full(5, 0.5, {})",
        "np.array([0.5] * 5, {})",
        "np.array([1] * 5, dtype={})",
        "np.asarray([0.5] * 5, {})",
        "np.arange(0, 5, 1, {})",
        "np.arange(5, dtype={})",
        "np.zeros_like(np.arange(5), {})",
        "np.full_like(np.arange(5), 1, {})",
        "np.fromiter(range(5), {})",
        "np.eye(5, 5, 0, {})[1]",
        "np.arange(5).astype({})",
        "np.linspace(0, 1, 5, True, False, {})",
        "np.empty(5, {}) * 0",
        "np.loadtxt(io.StringIO('1 2 3 4 5'), {})",
    ),
    dtypes=("float", "np.float64", "'f8'", "'d'", "'float64'", "D", "np.double", "None"),
    operations=(
        "x + w",
        "w - x",
        "x * w",
        "x / (w + 1)",
        "x ** w",
        "x // (w + 1)",
        "x % (w + 1)",
        "x > w",
        "np.add(x, w)",
        "np.maximum(x, w)",
        "np.where(x > 1, x, w)",
        "np.clip(x, w, w + 1)",
        "np.hypot(x, w)",
        "x.dot(w)",
        "np.dot(x, w)",
        "x @ w",
        "np.concatenate([x[0], np.ravel(w)])",
        "np.stack([x[0], np.broadcast_to(w, 5)])",
        "(x * w).sum(axis=0) + x",
        "abs(x - w).mean()",
        "np.sqrt(x * x + w)",
        "x.copy().__iadd__(w)",
        "-(x + w)",
        "float((x * w).sum())",
    ),
    products=("x @ W", "np.matmul(x, W)", "np.dot(x, W)", "x.dot(W)"),
    chains=(
        "x @ W + w",
        "x * w + v",
        "(x + w) * (x + v)",
        "np.clip(x, w, v + 1)",
        "np.where(x > 1, x * w, x * v)",
        "x * w if v.any() else x",
        "(x - w) / (v + 1) + 1",
        "np.concatenate([x[0], w, v])",
        "x + (w + v)",
    ),
    forms=(
        "def f(a, b={0}):\n    return a * b\nreturn f(x)",
        "y = x\nfor w in [{0}] * 3:\n    y = y + w\nreturn y",
        "total = {0}\nfor row in x:\n    total = total + row\nreturn total",
        "y = x.copy()\ny += {0}\nreturn y",
        "class Layer:\n    w = {0}\n    def __call__(self, a):\n        return a * self.w\n"
        "return Layer()(x)",
        "return [row * w for w in [{0}] for row in x][0]",
        "w = {0}\nreturn (lambda a: a + w)(x)",
        "def scaled(a):\n    return a * {0}\nreturn scaled(x) + scaled(x.astype(np.float64))[0, 0]",
        "w = {0}\ny = w * 2\nreturn x * y + x * w",
        "w = {0}\nif isinstance(w, np.ndarray):\n    w = w.reshape(-1)\nreturn x[:, :1] * w",
        "from numpy import multiply\nw = {0}\nreturn multiply(x, w)",
    ),
)

TORCH = Parts(
    head="import numpy as np\nimport torch\n",
    narrow="x = torch.linspace(1, 2, 20).reshape(4, 5).to(torch.bfloat16)",
    vectors=(
        "torch.zeros(5)", "torch.ones(5)", "torch.full((5,), 0.5)", "torch.tensor([0.5] * 5)",
        "torch.arange(5.0)", "torch.linspace(0, 1, 5)", "torch.eye(5)[1]", "torch.tensor(0.5)",
        "torch.as_tensor([0.5] * 5)", "torch.from_numpy(np.ones(5))", "torch.zeros(5).clone()",
        "torch.arange(5) / 3", "torch.arange(5) * 0.5", "torch.exp(torch.arange(5))",
        "torch.randn(5, generator=torch.Generator().manual_seed(0))",
        "torch.ones(2, 5).mean(dim=0)",
        "torch.cat([torch.zeros(2), torch.ones(3)])", "torch.ones(5)[torch.arange(5)]",
        "torch.zeros_like(torch.ones(5))", "torch.ones(5).view(5)", "torch.Tensor([0.5] * 5)",
    ),
    matrices=("torch.ones(5, 5)", "torch.eye(5)"),
    with_dtype=("torch.zeros(5, dtype={})", "torch.tensor([0.5] * 5, dtype={})",
                "torch.arange(5, dtype={})", "torch.arange(5).to({})", "torch.ones(5).type({})"),
    dtypes=("torch.float64", "torch.float32", "torch.float", "D", "torch.double"),
    operations=(
        "x + w", "w - x", "x * w", "x / (w + 1)", "x > w", "torch.add(x, w)", "torch.maximum(x, w)",
        "torch.where(x > 1, x, w)", "x.mul(w)", "x.add(w, alpha=2)",
        "torch.stack([x[0], w.expand(5)])",
        "torch.cat([x[0], w.reshape(-1)])", "torch.clamp(x, w, w + 1)", "(x * w).sum()",
        "x.float() * w",
        "torch.lerp(x, w.to(x.dtype), 0.5)", "torch.atan2(x, w)", "x.clone().add_(w)",
    ),
    products=("x.float() @ W", "x @ W.to(x.dtype)"),
    chains=("x * w + v", "(x + w) * (x + v)", "torch.where(x > 1, x * w, x * v)", "x + (w + v)"),
    forms=(
        "y = x\nfor w in [{0}] * 3:\n    y = y + w\nreturn y",
        "y = x.clone()\ny += {0}\nreturn y",
        "class Layer(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = {0}\n    def forward(self, a):\n        return a * self.w\n"
        "return Layer()(x)",
        "def scaled(a):\n    return a * {0}\nreturn scaled(x) + scaled(x.float())",
    ),
)  # fmt: skip


def snippets(parts: Parts) -> list[Snippet]:
    """All snippets of a framework."""
    return [Snippet(tuple(body.split("\n"))) for body in _bodies(parts)]


def _bodies(parts: Parts) -> Iterator[str]:
    start = parts.narrow
    spelled = [one.format(d) for one in parts.with_dtype for d in parts.dtypes]
    for number, made in enumerate([*parts.vectors, *spelled]):
        every = parts.operations if made in parts.vectors else parts.operations[number % 3 :: 5]
        for operation in every:
            yield f"{start}\nw = {made}\nreturn {operation}"
    for made, operation in itertools.product(parts.matrices, parts.products):
        yield f"{start}\nW = {made}\nreturn {operation}"
    for chain, first in itertools.product(parts.chains, parts.vectors[:12]):
        matrix = f"W = {parts.matrices[0]}\n"
        for second in parts.vectors[1:4]:
            yield f"{start}\n{matrix}w = {first}\nv = {second}\nreturn {chain}"
    for form, made in itertools.product(parts.forms, [*parts.vectors, *spelled[::7]]):
        yield f"{start}\n{form.format(made)}"
