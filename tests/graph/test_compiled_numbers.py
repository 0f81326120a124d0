"""Number arguments of compiled functions: one trace per class, and what eager gives for each."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw
import cells
from castwise.errors import DivisionByZeroError

NUMBERS: tuple[Any, ...] = (
    0.0, -0.0, 0.1, 0.3, -0.7, 3.25, 3.5, 1e-320, 1e300, -1e300, math.inf, math.nan, 0.5, 2.0,
    0, 1, 3, 5, -3, -5, 100, 101, 200, 300, 301, 70000, 2**40, 2**40 + 1, 2**63, -(2**70), 2**70,
    True, False, 2j, 1.5 - 2j, complex(0.0, -0.0), 0.25 + 0j,
)  # fmt: skip
DIALECTS = (
    "torch", "numpy", "jax", "jax:x64", "numpy@1", "tensorflow", "tensorflow:all", "paddle", "mlx",
    "array-api", "oneflow", "keras", "mindspore", "tinygrad", "megengine",
)  # fmt: skip
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "complex64")


def in_place(x: Any, k: Any) -> Any:
    y = x + x
    y += k
    return y


def by_value(x: Any, k: Any) -> Any:
    return x * k if isinstance(k, complex) or k > 2 else x - k


def caught(x: Any, k: Any) -> Any:
    try:
        return x * (1 / k)
    except ZeroDivisionError:
        return x


FUNCTIONS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, k: x * k,
    lambda x, k: k - x,
    lambda x, k: x / k + x,
    lambda x, k: x + (1 - k),
    lambda x, k: x * (k * 0.5) + -k,
    lambda x, k: x * k**2,
    lambda x, k: x - 2.0**k,
    lambda x, k: x**k,
    lambda x, k: k**x,
    lambda x, k: x // k,
    lambda x, k: x % k,
    lambda x, k: x < k,
    lambda x, k: x & k,
    lambda x, k: cw.apply("maximum", x, abs(k)),
    lambda x, k: cw.apply("where", x < 2, x, k),
    lambda x, k: cw.apply("add", x, x, alpha=k),
    lambda x, k: (x[:2] * k, [x, cw.apply("sum", x, axis=0, keepdims=True) - k]),
    in_place,
    by_value,
    caught,
)


def outcome(function: Any, x: Any, number: Any) -> Any:
    """The results with their bits, or the error with its text."""
    try:
        found = function(x, number)
    except Exception as error:
        return type(error), str(error)
    return bits(found)


def bits(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [bits(part) for part in found]
    if not isinstance(found, cw.Tensor):
        return type(found), repr(found)
    return found.dtype, found.weak_type, found.shape, found.numpy().tobytes()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.filterwarnings("ignore")
def test_compiled_gives_what_eager_gives(dialect: str) -> None:
    rng = random.Random(dialect)
    pairs = [(function, dtype) for function in FUNCTIONS for dtype in DTYPES]
    for function, dtype in pairs if cells.takes_all else rng.sample(pairs, 8):
        x = cw.asarray([0, 1, 3], dialect=dialect).astype(dtype)
        compiled = cw.compile(function)
        for number in rng.sample(NUMBERS, 12):
            with cw.use(dialect), np.errstate(all="ignore"):
                expected = outcome(function, x, number)
                got = outcome(compiled, x, number)
            if expected[0] is not DivisionByZeroError:  # no graph looks at its values
                assert got == expected, (x, number, FUNCTIONS.index(function))


def counted(function: Any, **options: Any) -> tuple[Any, list[int]]:
    """A compiled function, and how often it was traced."""
    traces: list[int] = []

    @functools.wraps(function)
    def traced(*arguments: Any, **keywords: Any) -> Any:
        traces.append(1)
        return function(*arguments, **keywords)

    return cw.compile(traced, **options), traces


X = np.asarray([1.0, 2.0, 3.0], "float32")


def test_numbers_of_one_class_share_a_trace() -> None:
    step, traces = counted(lambda x, lr, beta: x * lr + x * (1 - beta), dialect="torch")
    for n in range(1, 50):
        lr, beta = n / 101, n / 997
        eager = X * np.float32(lr) + X * np.float32(1 - beta)
        assert step(X, lr, beta).tolist() == eager.tolist()
        assert step(X, beta=beta, lr=lr).tolist() == eager.tolist()
    assert len(traces) == len(step.graphs) == 1
    step(X, 3, 0.25)  # an int is not a float
    assert len(traces) == len(step.graphs) == 2


def test_the_class_of_what_is_computed_counts_too() -> None:
    compiled, traces = counted(lambda x, k: x + k * 4)
    small = np.asarray([1], "uint8")
    assert [compiled(small, k).tolist() for k in (40, 50, 55)] == [[161], [201], [221]]
    assert len(traces) == 1
    with pytest.raises(cw.ScalarRangeError, match="280 is out of range"):
        compiled(small, 70)  # of one class with 55, but not four times as large


@pytest.mark.parametrize(
    "reading",
    [
        lambda x, k: x * (2 if k > 1 else 3),
        lambda x, k: x * math.sqrt(k),
        lambda x, k: x * len(range(int(k))),
        lambda x, k: x * {0.3: 5}.get(k, 6),
        lambda x, k: x * len(f"{k:.3f}"),
        lambda x, k: x * round(k, 1),
        lambda x, k: x * np.float32(k),
        lambda x, k: x * (np.ones(3) * k),
        lambda x, k: x * cw.asarray([k, k, k]),
        lambda x, k: cw.apply("add", x, x, alpha=k),
        lambda x, k: cw.apply("layer_norm", x, (3,), eps=k),
        lambda x, k: x * (k.real + k.imag),
        lambda x, k: x * max(k, 0.35),
    ],
)
def test_a_value_that_is_read_is_part_of_the_signature(reading: Any) -> None:
    compiled, traces = counted(reading)
    for k in (0.3, 0.4, 0.3, 0.4):
        eager, got = reading(cw.asarray(X), k), compiled(X, k)
        assert (got.dtype, got.tolist()) == (eager.dtype, eager.tolist())
    assert len(compiled.graphs) == 2
    assert len(traces) == 3  # the first found that the value is read


def test_only_the_numbers_that_are_read_are_part_of_the_signature() -> None:
    compiled, traces = counted(lambda x, axis, k: cw.apply("sum", x, axis=axis) * k)
    for k in (0.3, 0.31, 0.32):
        assert compiled(X, 0, k).tolist() == pytest.approx(6 * k)
    assert len(traces) == 2
    with pytest.raises(cw.PromotionError):
        cw.compile(lambda x, k: x + k, dialect="array-api")(cw.asarray([1, 2], dtype="int8"), 300)


def test_a_refused_number_does_not_count_for_the_next() -> None:
    compiled, traces = counted(lambda x, k: x + k, dialect="numpy")
    small = np.asarray([1, 2], "uint8")
    for _ in range(2):
        with pytest.raises(cw.ScalarRangeError, match="301 is out of range for uint8"):
            compiled(small, 301)
    refused = len(traces)
    assert [compiled(small, k).tolist() for k in (33, 44, 55)] == [[34, 35], [45, 46], [56, 57]]
    assert len(traces) == refused + 1


def test_flags_are_what_they_are() -> None:
    compiled = cw.compile(lambda x, flag: x + 1 if flag is True else x)
    assert compiled(X, True).tolist() == [2, 3, 4]
    assert compiled(X, False).tolist() == [1, 2, 3]


def test_a_number_that_is_kept_is_a_number_afterwards() -> None:
    kept: list[Any] = []

    def keeping(x: Any, k: Any) -> Any:
        kept.append(k)
        return x * k

    cw.compile(keeping)(X, 0.25)
    assert isinstance(kept[0], float)
    assert (kept[0] + 1, type(kept[0] + 1), kept[0] == 0.25) == (1.25, float, True)


def test_state_is_written_with_the_number_of_the_call() -> None:
    weights = cw.Variable([1.0, 2.0], dtype="float32", dialect="torch")
    step, traces = counted(lambda w, lr: w.assign_sub(w * lr), dialect="torch")
    for lr in (0.25, 0.125, 0.3):
        before = weights.numpy().copy()
        step(weights, lr)
        assert weights.tolist() == (before - before * np.float32(lr)).tolist()
    assert len(traces) == 1


def test_graphs_print_and_run_with_the_numbers_of_their_trace() -> None:
    compiled = cw.compile(lambda x, k: x * (k + 1))
    compiled(X, 0.25)
    compiled(X, 0.3)
    (graph,) = compiled.graphs.values()
    assert "mul(x, float32(1.25))" in graph.text()
    assert "float32(1.25)" in graph.traced.text()
    assert graph(X).tolist() == [1.25, 2.5, 3.75]


def test_many_values_that_are_read_keep_few_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.graph.compile._MOST_GRAPHS", 3)
    compiled = cw.compile(lambda x, k: x * math.sqrt(k))
    x = cw.asarray(X)
    for k in range(3, 20):
        assert compiled(x, k).dtype is compiled(x, k=k).dtype is x.dtype
    assert len(compiled.graphs) == 3
    assert sum(len(known.ready) for known in compiled._known.values()) <= 6
