"""Random programs, to be run eagerly and as graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import castwise as cw
from castwise.arrays.backends import backend_named

DIALECTS = (
    "torch", "numpy", "jax:x64", "jax", "paddle", "tensorflow:np-all", "mlx", "oneflow", "keras",
    "array-api", "megengine", "mindspore", "tinygrad", "tensorflow:all",
)  # fmt: skip
# Dialects that truncate no dtype: otherwise the requested dtypes do not show in the graph.
UNCUT = tuple(name for name in DIALECTS if not cw.dialect(name).becomes.truncates)
BINARY = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "maximum", "minimum", "fmax",
    "eq", "lt", "ge", "logical_and", "logical_or", "bitwise_and", "bitwise_xor", "atan2", "hypot",
    "copysign", "pow",
)  # fmt: skip
UNARY = (
    "abs", "neg", "sqrt", "exp", "tanh", "floor", "sign", "square", "logical_not", "bitwise_not",
    "isnan", "real", "sigmoid", "relu",
)  # fmt: skip
REDUCTIONS = ("sum", "prod", "mean", "max", "argmax", "any", "var")
DTYPES = sorted(d.name for d in backend_named("numpy").dtypes if d.bits > 2)
# Common dtypes come up most, or most steps would be refused.
COMMON = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
SHAPES = ((), (1,), (3,), (2, 3), (2, 1))
SCALARS = (True, 0, 1, 2, -1, 7, 0.5, -1.5, 3.0, 1j)


@dataclass(frozen=True)
class Step:
    """One op of a program; operands are values by their number, or Python numbers."""

    op: str
    operands: tuple[Any, ...]
    argument: Any = None


def dtypes() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(COMMON), st.sampled_from(COMMON), st.sampled_from(DTYPES))


def places() -> st.SearchStrategy[tuple[str, int]]:
    return st.tuples(st.just("value"), st.integers(0, 40))


def operands() -> st.SearchStrategy[Any]:
    return st.one_of(places(), places(), st.sampled_from(SCALARS).map(lambda s: ("number", s)))


STEPS = st.one_of(
    st.builds(Step, st.sampled_from(BINARY), st.tuples(places(), operands())),
    st.builds(Step, st.sampled_from(BINARY), st.tuples(operands(), places())),
    st.builds(Step, st.sampled_from(UNARY), st.tuples(places())),
    st.builds(Step, st.sampled_from(REDUCTIONS), st.tuples(places()), st.sampled_from((None, -1))),
    st.builds(Step, st.just("where"), st.tuples(places(), places(), operands())),
    st.builds(Step, st.just("astype"), st.tuples(places()), dtypes()),
)
PROGRAMS = st.integers(1, 30).flatmap(lambda n: st.lists(STEPS, min_size=n, max_size=30))
INPUTS = st.lists(
    st.tuples(dtypes(), st.sampled_from(SHAPES), st.integers(0, 99)),
    min_size=1, max_size=3,
)  # fmt: skip


@dataclass(frozen=True)
class At:
    """A value of a program by its number."""

    n: int


def run(steps: list[Step], values: list[Any], taken: list[Any] | None = None) -> list[Any]:
    """The values of a program; a step that the dialect refuses, or that makes no sense, is left
    out, and so in eager as in the graph. `taken` gathers the others, with their operands."""
    values = list(values)
    for step in steps:
        operands = [At(what % len(values)) if kind == "value" else what
                    for kind, what in step.operands]  # fmt: skip
        given = [values[o.n] if isinstance(o, At) else o for o in operands]
        if not is_in_range(step, given):
            continue
        try:
            values.append(done(step, given))
        except (cw.PromotionError, ValueError):  # shapes that do not broadcast are ValueErrors
            continue
        if taken is not None:
            taken.append((step, operands))
    return values


def is_in_range(step: Step, given: list[Any]) -> bool:
    """Whether no value decides what happens, which a graph cannot know: the power of integers, a
    rule that looks at a 0-d exponent, an integer or a truth value divided by zero."""
    last = given[-1]
    kinds = {o.dtype.kind if isinstance(o, cw.Tensor) else type(o).__name__ for o in given}
    if step.op.startswith("bitwise"):  # of floats, which no backend computes
        return kinds <= {"bool", "int"}
    if step.op == "pow":
        return all(isinstance(o, cw.Tensor) and o.ndim and o.dtype.rank > 1 for o in given)
    if step.op == "div" and isinstance(last, cw.Tensor):
        return last.dtype.kind != "bool"
    if step.op == "floor_divide" and "complex" in kinds:  # which MLX takes, and no backend computes
        return False
    if step.op in ("floor_divide", "remainder", "fmod"):
        of_tensors = {o.dtype.kind for o in given if isinstance(o, cw.Tensor)}
        return of_tensors == {"float"} if isinstance(last, cw.Tensor) else bool(last)
    return step.argument != -1 or given[0].ndim > 0


def done(step: Step, given: list[Any]) -> Any:
    if step.op == "astype":
        return given[0].astype(step.argument)
    if step.op in REDUCTIONS:
        return cw.apply(step.op, *given, axis=step.argument)
    if step.op == "where":
        return cw.apply("where", given[0].astype("bool"), *given[1:])
    return cw.apply(step.op, *given)


def made(dialect: str, dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Small values, zero and negative ones among them, and now and then what is not finite."""
    held = cw.dtype(dtype)
    rng = np.random.default_rng(seed)
    values = rng.integers(-4 if held.is_signed else 0, 5, shape).astype("float64")
    if held.kind == "float" and held.has_inf and seed % 7 == 0:
        values = np.where(rng.random(shape) < 0.2, np.inf, values)
    return cw.asarray(values).under(dialect).astype(dtype)


def assert_same(got: Any, expected: Any) -> None:
    assert got.dtype is expected.dtype
    assert got.shape == expected.shape
    wide = "complex128" if got.dtype.kind in ("float", "complex") else "int64"
    if got.dtype.kind == "int" and not got.dtype.is_signed:
        wide = "uint64"
    np.testing.assert_array_equal(got.numpy().astype(wide), expected.numpy().astype(wide))
