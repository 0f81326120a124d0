"""Single ops under JAX's dialect, on JAX's arrays, give the bits, the weak types and the errors of
JAX. JAX's functions take no tensors of castwise: `cw.apply("jnp.add", ...)` stands for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from single_ops import COUNT, SEED, Case, Outcome, arrays, cases, objection, outcome, ran, written

import castwise as cw
from loops import each

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

UNARY = """
abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
bitwise_not bitwise_invert cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 floor
imag invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg radians
real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc
"""
BINARY = """
add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
divide equal float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot
left_shift less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum
multiply nextafter not_equal pow power remainder right_shift subtract true_divide isclose allclose
matmul dot inner outer kron tensordot ldexp
"""
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >="
NUMBERS = ("2", "-1", "0", "1.5", "300", "True", "1j", "1e5")
REDUCTIONS = "sum prod mean std var max min any all argmax argmin cumsum cumprod"
AXES = ("", "axis=0", "axis=-1", "axis=0, keepdims=True", "axis=1", "axis=9", "0")
TYPED = "sum prod mean cumsum cumprod"
DTYPES_GIVEN = "uint8 int8 int32 float16 bfloat16 float32 complex64 bool"
UPDATES = "set add subtract multiply divide power min max"
OTHERS = """
x[0] | x[5] | x[..., 0] | x[:, 1] | x[1:] | x[::-1] | x[None] | x[x > 1] | x[0, 0] | x[1.5] | x['a']
x[0, 0, 0, 0] | x.T | x.mT | x.reshape(-1) | x.reshape(3, 2) | x.reshape(7) | x.reshape(-1, -1)
x.reshape('a') | x.ravel() | x.flatten() | x.transpose() | x.transpose(1, 0) | x.transpose(0, 0)
x.swapaxes(0, 1) | x.swapaxes(0, 9) | x.squeeze() | x.squeeze(0) | x.squeeze(9) | x.astype('uint8')
x.astype('float16') | x.astype('bool') | x.astype('complex64') | x.astype('int8') | x.astype('nope')
x.astype('bfloat16') | x.real | x.imag | x.conj() | x.copy() | x.round() | x.round(1) | x.clip(0, 1)
x.clip(-1, 300) | x.clip(0.5, 2) | x.clip(max=1) | x.clip(y, None) | x.std(ddof=1) | x.var(ddof=1)
x.dot(y) | x @ y | x @ 2 | abs(x) | -x | +x | ~x | x.item() | x.tolist() | float(x) | int(x)
bool(x) | complex(x) | len(x) | x.size | x.ndim | x.shape | x.nbytes | list(x) | x.trace()
x.diagonal() | x.argsort() | x.sort() | x.repeat(2) | x.repeat(2, axis=0) | x.repeat(-1) | x.take(0)
x.nonzero() | divmod(x, y) | divmod(x, 2) | round(x) | round(x, 1) | x.sum(bogus=1) | x.sum('a')
x.mean(where=x > 1) | x.sum(initial=5) | x.max(initial=3) | x.sum(where=x > 1, axis=0)
x + 'a' | x + None | x + [1, 2] | x[0] = 300; x | x[:] = y; x | x += y; x | x -= y; x | x *= y; x
x /= y; x | x //= y; x | x **= 2; x | x &= y; x | x += 1.5; x | x += 300; x | x /= 2; x | x += 1j; x
m = x.max(); m += 1; m | m = x.mean(); m //= 2; m | x.at[0].set(300) | x.at[x > 1].set(0)
x.at[9].set(1) | x.at[0].set(y[0]) | x.at[:].set(y) | x.at[...].add(1.5) | x.at[0].set(1j)
x.at[0].get() | x.at[9].get() | x.at[0].apply(lambda v: v + 1) | x.at['a'].set(1)
x.at[0, 0].set(2) | jnp.where(x > 1, y, z) | jnp.where(x, y, 300) | jnp.where(x, 1.5, y)
jnp.where(x > 1, 1, 2)
jnp.concatenate([x, y]) | jnp.stack([x, y]) | jnp.concatenate([x, y], axis=1)
jnp.stack([x, y], axis=-1) | jnp.concatenate([x, y], axis=9) | jnp.clip(x, y, z) | jnp.clip(x, 0, 1)
jnp.clip(x, 1e6, 300) | jnp.einsum('ij,jk->ik', x, y) | jnp.median(x) | jnp.median(x, axis=0)
jnp.count_nonzero(x) | jnp.count_nonzero(x, axis=0) | jnp.isin(x, y) | jnp.linalg.norm(x)
jnp.isclose(x, y, rtol=0.1, atol=2) | jnp.isclose(x, -1) | jnp.linalg.inv(x) | jnp.linalg.det(x)
jnp.add(x, 'a') | jnp.exp('a') | jnp.cross(x, y) | jnp.vecdot(x, y)
"""


# castwise's methods have the defaults, the axes and the names of several frameworks, so that they
# take more than JAX's.
LENIENT = frozenset({
    f"x.{f}(axis=0, keepdims=True)" for f in ("cumsum", "cumprod")
})  # fmt: skip
_CUMULATED = ("cumsum", "cumprod")  # castwise takes an axis of a 0-d array, as NumPy does


def calls() -> list[str]:
    """Calls of x, y and z: the last statement is the result."""
    found = [f"jnp.{f}(x)" for f in UNARY.split()]
    found += [f"jnp.{f}(x, y)" for f in BINARY.split()]
    for f, number in itertools.product(BINARY.split()[:40], ("2", "1.5", "300", "-1")):
        found += [f"jnp.{f}(x, {number})"]
    for op in OPERATORS.split():
        found += [f"x {op} y", *[f"x {op} {n}" for n in NUMBERS]]
        found += [f"({n}) {op} x" for n in NUMBERS]
    for f, option in itertools.product(REDUCTIONS.split(), AXES):
        found += [f"x.{f}({option})"]
        found += [f"jnp.{f}(x, {option})"] if option != "0" else []  # cw.apply takes it by name
    for f, dtype in itertools.product(TYPED.split(), DTYPES_GIVEN.split()):
        found += [f"x.{f}(dtype='{dtype}')", f"jnp.{f}(x, axis=0, dtype='{dtype}')"]
    for f, value in itertools.product(UPDATES.split(), ("y[0]", "2", "1.5", "True", "300", "1j")):
        found += [f"x.at[0].{f}({value})"]
    return [call for call in found + written(OTHERS) if call not in LENIENT]


DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32",
    "complex64",
)  # fmt: skip


class Functions:
    """JAX's functions by name, as castwise's ops and functions."""

    def __init__(self, prefix: str = "jnp") -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        whole = f"{self._prefix}.{name}"
        return Functions(whole) if name == "linalg" else _applied(whole)


def _applied(name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if isinstance(arguments[0] if arguments else None, list):
            arguments = (*arguments[0], *arguments[1:])
        return cw.apply(name, *arguments, **options)

    return call


_OF_DTYPES = (ValueError, TypeError)

# What castwise does otherwise, and why.
KNOWN = {
    **{
        f"jnp.atan2(x, {number})": "JAX's alias wraps a number first, which its arctan2 does not"
        for number in ("300", "-1")
    },
    "x.at[0].set(1j)": "JAX takes the real part, and warns that it will refuse it",
    "x.transpose(0, 0)": "castwise raises what NumPy raises, a ValueError",
    "x.sum(initial=5)": "JAX's method leaves initial out for an array of one element",
    **{
        f"{call}dtype='{half}')": "JAX reads integers as float32, and rounds the result alone"
        for half in ("float16", "bfloat16")
        for f in ("sum", "prod", "mean")
        for call in (f"x.{f}(", f"jnp.{f}(x, axis=0, ")
    },
}


def difference(case: Case) -> str:
    """How castwise differs from JAX; "" if it does not."""
    if case.call in KNOWN or _is_lenient(case) or _ends_the_process(case):
        return ""
    tensors = [cw.asarray(a, backend="jax", dialect="jax", copy=True) for a in arrays(case)]
    theirs = [tensor.array for tensor in tensors]
    expected = outcome(lambda: ran(case.call, {"jnp": jnp}, theirs))
    found = outcome(lambda: ran(case.call, {"jnp": Functions()}, tensors))
    # JAX raises several types of errors for dtypes, and castwise one.
    if isinstance(found.error, cw.PromotionError) and isinstance(expected.error, _OF_DTYPES):
        return ""
    return objection(found, expected) or weakness_objection(found, expected)


def _is_lenient(case: Case) -> bool:
    return not case.shapes[0] and any(f in case.call for f in _CUMULATED)


def _ends_the_process(case: Case) -> bool:
    """Whether JAX itself divides an integer by zero while it compiles."""
    return "mean(" in case.call and "int" in case.call and 0 in case.shapes[0]


def weakness_objection(found: Outcome, expected: Outcome) -> str:
    """What is wrong with the weak type of a result; that of a bool says nothing."""
    is_bool = str(getattr(expected.value, "dtype", "")) == "bool"
    weak = None if is_bool else getattr(expected.value, "weak_type", None)
    mine = weak if weak is None else getattr(found.value, "weak_type", weak)
    return "" if mine == weak else f"weak_type {mine}, not {weak}"


@each("case", cases(calls(), DTYPES, COUNT // 3, SEED))
def test_a_single_op_gives_what_it_gives_in_jax(case: Case) -> None:
    assert not difference(case)
