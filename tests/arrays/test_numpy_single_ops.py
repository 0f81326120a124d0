"""Single ops under NumPy's dialect, on NumPy's arrays, give the bits and the errors of NumPy."""

from __future__ import annotations

import itertools

import numpy as np
from single_ops import COUNT, SEED, Case, arrays, cases, objection, outcome, ran, written

import castwise as cw
from loops import each

UNARY = """
absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conjugate cos cosh deg2rad degrees
exp exp2 expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative
positive rad2deg radians reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc spacing
"""
BINARY = """
add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide fmax
fmin fmod greater greater_equal heaviside hypot ldexp left_shift less less_equal logaddexp
logaddexp2 logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal power
remainder right_shift subtract true_divide gcd lcm
"""
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >="
NUMBERS = ("2", "-1", "0", "1.5", "300", "True", "1j", "np.float32(1.5)", "np.int64(7)", "1e5")
REDUCTIONS = "sum prod mean std var max min any all argmax argmin"
AXES = ("", "axis=0", "axis=-1", "keepdims=True", "axis=1", "axis=(0, 1)", "axis=None")
TYPED = "sum prod mean std var cumsum cumprod"
DTYPES_GIVEN = "uint8 int8 float16 float32 float64 int64 complex64 bool"
OF_UFUNCS = "add multiply maximum minimum logical_and logical_or subtract bitwise_or divide"
OTHERS = """
x.cumsum() | x.cumsum(0) | x.cumprod() | x.cumprod(1) | np.cumsum(x, 0) | np.cumprod(x)
x.std(ddof=1) | x.var(ddof=1) | np.std(x, ddof=1) | np.var(x, axis=0, ddof=1)
np.std(x, correction=1) | x.round() | x.round(1) | np.round(x, 1) | np.round(x) | np.round(x, -1)
np.around(x, 2) | x.round(-2) | np.linalg.norm(x) | np.linalg.norm(x, axis=0)
np.linalg.norm(x, axis=-1, keepdims=True) | np.linalg.norm(x, 1) | np.linalg.norm(x, np.inf, axis=0)
np.linalg.norm(x, ord=3, axis=0) | np.isclose(x, y) | np.isclose(x, -1) | np.isclose(x, 1.5)
np.isclose(x, 300) | np.isclose(-1, x) | np.allclose(x, y) | np.allclose(x, x)
np.isclose(x, y, rtol=0.1, atol=2) | np.isclose(x, y, equal_nan=True)
np.allclose(x, y, equal_nan=True) | np.diff(x) | np.diff(x, axis=0) | np.diff(x, n=2)
np.diff(x, prepend=y) | np.diff(x, prepend=1) | x.clip(0, 1) | x.clip(-1, 300) | np.clip(x, y, z)
x.clip(0.5, 2) | x.clip(max=1) | np.clip(x, 1, None) | x.clip(y, None) | np.clip(x, 1e6, 300)
np.median(x) | np.median(x, axis=0) | np.median(x, keepdims=True) | np.average(x) | np.ptp(x)
np.nan_to_num(x) | np.nan_to_num(x, nan=1.0) | np.nansum(x) | np.nanmax(x) | np.dot(x, y) | x.dot(y)
np.matmul(x, y) | x @ y | np.inner(x, y) | np.outer(x, y) | np.vdot(x, y) | np.kron(x, y)
np.tensordot(x, y, axes=0) | np.einsum('...,...->...', x, y) | np.einsum('i,i->i', x, y)
np.vecdot(x, y) | np.cross(x, y) | np.trace(x) | x.trace() | np.where(x, y, z)
np.where(x > 1, y, z) | np.where(x, y, 300) | np.where(x, 1.5, y) | np.concatenate([x, y])
np.stack([x, y]) | np.concatenate([x, y], axis=1) | np.concatenate([x, y], axis=None)
np.vstack([x, y]) | np.hstack([x, y]) | np.stack([x, y], axis=-1)
np.concatenate([x, y], dtype='float32') | np.concatenate([x, y], dtype='int8', casting='unsafe')
np.sum(x, initial=5) | np.sum(x, where=x > 1) | np.max(x, initial=3) | np.min(x, axis=0, initial=3)
np.mean(x, where=x > 1) | np.prod(x, initial=2) | np.any(x, where=x > 1)
np.max(x, axis=0, where=x > 1, initial=0) | x.sum(where=x > 1, axis=0)
np.add(x, y, where=x > 1, out=z) | np.add(x, y, out=z) | np.multiply(x, 2, out=z) | np.sum(x, out=z)
np.sum(x, axis=0, out=z) | np.mean(x, axis=0, out=z) | x.sum(axis=0, out=z) | np.sqrt(x, out=z)
np.add(x, y, casting='unsafe', out=z) | np.clip(x, 0, 1, out=z) | np.sqrt(x, dtype='float32')
np.exp(x, casting='unsafe', dtype='float16') | np.add(x, y, dtype='int8') | np.round(x, 1, out=z)
np.matmul(x, y, out=z) | x.astype('uint8') | x.astype('float16') | x.astype('int64', casting='safe')
x.astype('float32', casting='same_kind') | x.astype('bool') | x.astype('complex64')
x.astype('float32', copy=False) | x.astype(np.int16) | x.astype('int8', casting='equiv')
np.astype(x, 'int32') | np.sign(x) | np.angle(x) | np.angle(x, deg=True) | np.real(x) | np.imag(x)
x.real | x.imag | x.conj() | np.conj(x) | np.fix(x) | np.abs(x) | abs(x) | -x | +x | ~x | np.sinc(x)
np.i0(x) | np.unwrap(x) | divmod(x, y) | np.divmod(x, y) | divmod(x, 2) | np.modf(x) | np.frexp(x)
round(x) | round(x, 1) | np.positive(x) | np.sort(x) | np.sort(x, axis=0) | np.argsort(x)
np.unique(x) | np.unique_values(x) | np.searchsorted(np.sort(x), y) | np.nonzero(x) | x.nonzero()
np.count_nonzero(x) | np.count_nonzero(x, axis=0) | np.flatnonzero(x) | np.argwhere(x)
np.isin(x, y) | np.array_equal(x, y) | np.take(x, 0) | np.take(x, [0, -1], axis=0) | x.take([0, 1])
np.bincount(x) | x[0] | x[-1] | x[5] | x[..., 0] | x[:, 1] | x[1:] | x[::-1] | x[None] | x[x > 1]
x[[0, 0]] | x[0, 0] | x[0, 0, 0, 0] | x[1.5] | x['a'] | x[y] | x[[True, False]] | x.reshape(3, 2)
x.reshape(-1) | x.reshape(7) | x.reshape(-1, -1) | x.ravel() | x.flatten() | x.T | x.mT
x.transpose() | x.transpose(1, 0) | x.transpose(0, 0) | x.swapaxes(0, 1) | np.moveaxis(x, 0, -1)
np.expand_dims(x, 0) | np.expand_dims(x, 9) | np.squeeze(x) | x.squeeze(0) | np.squeeze(x, axis=1)
np.broadcast_to(x, (2, 2, 3)) | np.tile(x, 2) | np.tile(x, (2, 1)) | np.repeat(x, 2)
x.repeat(2, axis=0) | np.roll(x, 1) | np.roll(x, 1, axis=0) | np.flip(x) | np.flip(x, 0)
np.rot90(x) | np.split(x, 2) | np.array_split(x, 2) | np.tril(x) | np.triu(x, 1) | np.diag(x)
np.diagonal(x) | np.pad(x, 1) | np.atleast_2d(x) | np.permute_dims(x, (1, 0))
np.matrix_transpose(x) | np.unstack(x) | x.item() | x.tolist() | float(x) | int(x) | bool(x)
complex(x) | len(x) | x.size | x.ndim | x.shape | x.nbytes | x.itemsize | x.item(0) | x.item(9)
list(x) | x.__index__() | np.result_type(x, y) | np.result_type(x, 'float32')
np.can_cast(x.dtype, 'int8') | np.promote_types(x.dtype, y.dtype) | np.iscomplexobj(x)
np.isrealobj(x) | np.zeros_like(x) | np.ones_like(x) | np.full_like(x, 2) | np.empty_like(x).shape
np.zeros_like(x, dtype='int8') | np.full_like(x, 300) | np.copy(x) | x.copy() | np.shape(x)
np.size(x) | np.ndim(x) | np.nanmean(x) | np.nanstd(x) | np.cov(x) | np.corrcoef(x)
np.percentile(x, 50) | np.quantile(x, 0.5) | np.histogram(x) | np.interp(x, y, z)
np.convolve(x, y) | np.gradient(x) | np.trapezoid(x) | np.cumulative_sum(x, axis=0)
np.cumulative_prod(x, axis=0) | np.isneginf(x) | np.isposinf(x) | np.ediff1d(x) | np.polyval(x, y)
np.logspace(0, 1, 3) + x | np.meshgrid(x, y) | np.select([x > 1], [y]) | np.choose(x, [y, z])
np.put_along_axis(x, y, z, 0) | np.take_along_axis(x, y, 0) | np.insert(x, 0, y) | np.append(x, y)
np.delete(x, 0) | np.extract(x > 1, x) | np.ravel(x) | np.swapaxes(x, 0, 1) | np.fabs(x)
np.nanmin(x) | np.nanprod(x) | np.nancumsum(x) | np.column_stack([x, y]) | np.dstack([x, y])
np.block([x, y]) | np.apply_along_axis(np.sum, 0, x) | np.linalg.det(x) | np.linalg.inv(x)
np.linalg.matrix_norm(x) | np.linalg.vector_norm(x) | np.linalg.matrix_power(x, 2) | x.sum(5)
x.sum(axis=(0, 0)) | x.sum(axis=1.5) | x.mean(axis=9) | x.max(axis=3) | x.argmax(axis=7)
x.cumsum(9) | np.sum(x, axis=9) | np.concatenate([x, y], axis=9) | np.stack([x, y], axis=9)
x.swapaxes(0, 9) | x.squeeze(9) | np.sort(x, axis=9) | np.flip(x, 9) | np.moveaxis(x, 9, 0)
np.roll(x, 1, 9) | x.sum(bogus=1) | x.reshape('a') | x + 'a' | x + [1, 2] | x + [1, 2, 3, 4, 5]
np.add(x) | np.add(x, y, z, 1, 2, 3) | np.sum() | x.sum('a') | x.astype('nope')
x.mean(dtype='nope') | np.add(x, 'a') | np.matmul(x, 2) | x @ 2 | np.exp('a', x) | x.take(99)
x.take([99], axis=0) | np.take(x, 99, axis=0) | x.reshape(2.5) | x.transpose(5, 6)
x.diagonal(axis1=9) | x.repeat(-1) | np.clip(x) | x.clip() | np.where(x, y)
np.linalg.norm(x, axis=9) | np.median(x, axis=9) | np.std(x, axis=9) | np.cumsum(x, axis=9)
np.argsort(x, axis=9) | np.expand_dims(x, (0, 0)) | np.broadcast_to(x, (7, 7)) | x[:, :, :, :, :, 0]
x[99] | x[0, 99] | x[[99]] | x[[True] * 9] | np.split(x, 5) | np.linalg.inv(x + 0) | np.cross(x, y)
np.tensordot(x, y, axes=9) | np.tensordot(x, y) | np.kron(x, y) | x += y; x | x -= y; x | x *= y; x
x /= y; x | x //= y; x | x **= y; x | x %= y; x | x &= y; x | x += 1; x | x /= 2; x | x *= 1.5; x
x += 300; x | x -= 1j; x | m = x.max(); m /= 2; m | m = x.sum(); m += 1.5; m | m = x[0]; m /= 2; m
m = x.max(); m -= y; m | m = x.mean(); m //= 2; m | x[0] = 300; x | x[0] = y[0]; x | x[:] = y; x
x[...] = 1.5; x | x[0] = 1j; x | x[x > 1] = 0; x | x[9] = 1; x | x[0] = [1, 2, 3, 4]; x
x[()] = 2; x | x.fill(3); x | x.fill(300); x | x.sort(); x | x[0] = -1; x | x[0] = 2.5; x
x[x > 1] = np.inf; x | x['a'] = 1; x
"""


def calls() -> list[str]:
    """Calls of x, y and z: the last statement is the result."""
    found = [f"np.{f}(x)" for f in UNARY.split()]
    found += [f"np.{f}(x, y)" for f in BINARY.split()]
    for op in OPERATORS.split():
        found += [f"x {op} y", *[f"x {op} {n}" for n in NUMBERS]]
        found += [f"({n}) {op} x" for n in NUMBERS]
    for f, option in itertools.product(REDUCTIONS.split(), AXES):
        found += [f"x.{f}({option})", f"np.{f}(x, {option})"]
    for f, dtype in itertools.product(TYPED.split(), DTYPES_GIVEN.split()):
        found += [f"x.{f}(dtype='{dtype}')", f"np.{f}(x, dtype='{dtype}')"]
        found += [f"np.{f}(x, axis=0, dtype='{dtype}')"]
    for f in OF_UFUNCS.split():
        found += [f"np.{f}.{way}" for way in (
            "reduce(x)", "reduce(x, axis=None)", "reduce(x, axis=-1, keepdims=True)",
            "reduce(x, dtype='float32')", "outer(x, y)", "accumulate(x)",
        )]  # fmt: skip
        found += [f"np.{f}(x, y, dtype='float64')"]
        found += [f"np.{f}(x, y, dtype='float32', casting='unsafe')"]
    return found + written(OTHERS)


DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip


# What castwise does otherwise, and why.
KNOWN = {
    "x ** -1": "NumPy takes reciprocals of complex numbers, and the operator is the function here",
    "np.clip(x, 1e6, 300)": "NumPy drops an int that the dtype of the array does not hold",
    "np.clip(x)": "NumPy refuses booleans without a bound",
    "x.clip()": "the same",
    "np.vecdot(x, y)": "castwise's vecdot takes 0-d arrays",
    "x[0] = y[0]; x": "NumPy converts a scalar of its own as Python does, which refuses infinities",
}


def difference(case: Case) -> str:
    """How castwise differs from NumPy; "" if it does not."""
    if case.call in KNOWN:
        return ""
    mine, theirs = arrays(case), arrays(case)
    tensors = [cw.asarray(array, dialect="numpy") for array in mine]
    expected = outcome(lambda: ran(case.call, {"np": np}, theirs))
    found = outcome(lambda: ran(case.call, {"np": np}, tensors))
    return objection(found, expected)


@each("case", cases(calls(), DTYPES, COUNT, SEED))
def test_a_single_op_gives_what_it_gives_in_numpy(case: Case) -> None:
    assert not difference(case)
