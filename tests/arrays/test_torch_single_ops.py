"""Single ops under torch's dialect, on torch's tensors, give the bits and the errors of torch."""

from __future__ import annotations

import itertools

import pytest
from single_ops import COUNT, SEED, Case, arrays, cases, objection, outcome, ran, written

import castwise as cw
from loops import each

torch = pytest.importorskip("torch")

UNARY = """
abs absolute acos acosh angle arccos arcsin arctan asin asinh atan atanh bitwise_not ceil conj cos
cosh deg2rad digamma erf erfc exp exp2 expm1 fix floor frac i0 isfinite isinf isnan isneginf
isposinf isreal lgamma log log10 log1p log2 logical_not logit neg negative positive rad2deg
reciprocal relu round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc
nan_to_num is_complex real
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign div
divide eq float_power floor_divide fmax fmin fmod gcd ge greater gt heaviside hypot lcm ldexp le
less logaddexp logaddexp2 logical_and logical_or logical_xor lt max maximum min minimum mul
multiply ne nextafter not_equal pow remainder rsub sub subtract true_divide xlogy result_type dist
allclose isclose equal outer inner matmul mm dot vdot kron cross tensordot mv bmm ger searchsorted
isin can_cast
"""
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >="
NUMBERS = ("2", "-1", "0", "1.5", "300", "True", "1j", "1e5")
REDUCTIONS = """
sum prod mean std var max min any all argmax argmin amax amin logsumexp median nansum nanmean
count_nonzero norm cumsum cumprod softmax log_softmax aminmax cummax mode nanmedian logcumsumexp
"""
AXES = (
    "",
    "dim=0",
    "dim=-1",
    "dim=0, keepdim=True",
    "dim=1",
    "dim=(0, 1)",
    "0",
    "dim=9",
    "dim='a'",
)
TYPED = "sum prod mean cumsum cumprod nansum softmax log_softmax"
DTYPES_GIVEN = "uint8 int8 float16 bfloat16 float32 float64 int64 complex64 bool"
OTHERS = """
torch.addcmul(x, y, z) | torch.addcmul(x, y, z, value=2) | torch.addcdiv(x, y, z)
torch.addcdiv(x, y, z, value=0.5) | torch.lerp(x, y, 0.5) | torch.lerp(x, y, z) | x.addcdiv(y, z)
torch.add(x, y, alpha=2) | torch.sub(x, y, alpha=0.5) | torch.round(x, decimals=1)
x.round(decimals=-1) | torch.div(x, y, rounding_mode='floor')
torch.div(x, 2, rounding_mode='trunc') | torch.clamp(x, 0, 1) | torch.clamp(x, min=1)
torch.clamp(x, y, z) | x.clamp(-1, 300) | torch.clip(x, max=2.5) | torch.nan_to_num(x, nan=1.0)
torch.einsum('ij,jk->ik', x, y) | torch.topk(x, 1)
torch.topk(x, 2, dim=0) | torch.topk(x, 1, largest=False) | torch.where(x > 1, y, z)
torch.where(x > 1, 1.5, y) | torch.cat([x, y]) | torch.stack([x, y]) | torch.cat([x, y], dim=1)
torch.cat([x, y], 9) | torch.concat([x, y]) | torch.hstack([x, y]) | torch.vstack([x, y])
torch.stack([x, y], dim=-1) | torch.diff(x) | torch.diff(x, dim=0) | x.diff() | torch.sort(x)
torch.sort(x, descending=True) | torch.argsort(x) | x.sort(0) | torch.unique(x)
torch.flip(x, (0,)) | torch.roll(x, 1) | torch.roll(x, 1, 0) | torch.rot90(x) | torch.tril(x)
torch.triu(x, 1) | torch.diag(x) | torch.diagonal(x) | torch.trace(x) | x.trace()
torch.squeeze(x) | torch.squeeze(x, 0) | torch.unsqueeze(x, 0) | torch.unsqueeze(x, 9)
torch.transpose(x, 0, 1) | torch.transpose(x, 0, 0) | torch.movedim(x, 0, -1)
torch.permute(x, (1, 0)) | torch.swapaxes(x, 0, 1) | torch.reshape(x, (-1,)) | torch.flatten(x)
torch.ravel(x) | torch.tile(x, (2,)) | torch.t(x) | torch.repeat_interleave(x, 2)
torch.broadcast_to(x, (2, 2, 3)) | torch.chunk(x, 2) | torch.split(x, 1) | torch.unbind(x)
torch.index_select(x, 0, torch.tensor([0])) | torch.gather(x, 0, y)
torch.take(x, torch.tensor([0])) | torch.nonzero(x) | torch.count_nonzero(x) | torch.bincount(x)
torch.masked_select(x, x > 1) | torch.take_along_dim(x, y, 0) | torch.zeros_like(x)
torch.ones_like(x) | torch.full_like(x, 2) | torch.full_like(x, 300) | torch.empty_like(x).shape
torch.numel(x) | torch.nn.functional.relu(x) | torch.nn.functional.softmax(x, 0)
torch.nn.functional.gelu(x) | torch.nn.functional.silu(x) | torch.nn.functional.mse_loss(x, y)
torch.nn.functional.l1_loss(x, y) | torch.nn.functional.pad(x, (1, 1)) | torch.linalg.norm(x)
torch.linalg.vector_norm(x, 1) | torch.linalg.det(x) | torch.linalg.inv(x) | torch.det(x)
torch.inverse(x) | torch.norm(x, 1) | torch.std(x, correction=0) | torch.var(x, unbiased=False)
torch.var(x, 0, correction=0) | torch.std_mean(x) | torch.var_mean(x) | torch.quantile(x, 0.5)
torch.histc(x) | torch.meshgrid(x, y) | torch.sum(x, out=z) | torch.add(x, y, out=z)
torch.sqrt(x, out=z) | torch.polar(x, y) | torch.complex(x, y) | torch.view_as_real(x)
torch.is_floating_point(x) | x + y | x - y | x * y | x / y | x @ y | -x | +x | ~x | abs(x) | x[0]
x[5] | x[..., 0] | x[:, 1] | x[1:] | x[None] | x[x > 1] | x[[0, 0]] | x[0, 0] | x[1.5] | x['a']
x[0, 0, 0, 0] | x[y] | x[99] | x[[99]] | x.T | x.mT | x.t() | x.transpose(0, 1) | x.transpose(0, 0)
x.transpose(5, 6) | x.permute(1, 0) | x.permute(0, 0) | x.index_select(0, torch.tensor([0]))
x.index_select(5, torch.tensor([0])) | x.index_select(0, torch.tensor([9])) | x.repeat(2)
x.repeat(2, 2) | x.repeat(2, 1, 1, 1) | x.repeat(-1) | x.view(-1) | x.view(3, 2) | x.view(7)
x.reshape(7) | x.reshape(-1, -1) | x.reshape('a') | x.flatten() | x.flatten(5) | x.unsqueeze(9)
x.squeeze(9) | x.squeeze(0) | x.expand(2, 2, 3) | x.expand(-1, 9) | x.expand_as(y) | x.tile(2)
x.repeat_interleave(2, dim=0) | x.split(1) | x.split([1, 9]) | x.chunk(0) | x.chunk(2)
x.unbind() | x.movedim(0, 9) | x.diagonal() | x.flip(0) | x.flip(9) | x.roll(1, 9)
x.take(torch.tensor([99])) | x.swapaxes(0, 9) | x.tril() | x.where(x > 1, y) | x.argsort()
x.sort(dim=9) | x.max(y) | x.min(y) | x.max(0) | x.max(dim=0, keepdim=True) | x.median(0)
x.nonzero() | x.item() | x.tolist() | float(x) | int(x) | bool(x) | complex(x) | len(x) | list(x)
x.shape | x.ndim | x.numel() | x.sum(dim=9) | x.sum(bogus=1) | x.sum('a')
x.cumsum(9) | x.mean(dim=9) | x.softmax(9) | x + 'a' | x + None | x + [1, 2] | torch.add(x)
torch.add(x, 'a') | torch.matmul(x, 2) | x @ 2 | torch.sum() | torch.exp('a')
torch.stack([x, y], 9) | torch.sort(x, 9) | x.to('nope') | x.to(torch.float16) | x.float()
x.half() | x.bool() | x.int() | x.type_as(y) | x.cfloat() | x.long() | x += y; x | x -= y; x
x *= y; x | x /= y; x | x //= y; x | x **= 2; x | x &= y; x | x += 1.5; x | x += 300; x | x /= 2; x
x += 1j; x | x.add_(y); x | x.mul_(2); x | x.div_(y); x | x.sqrt_(); x | x.clamp_(0, 1); x
x.addcmul_(y, z); x | x.lerp_(y, 0.5); x | m = x.max(); m += 1; m | x.pow_(2); x | x[0] = 300; x
x[0] = y[0]; x | x[:] = y; x | x[...] = 1.5; x | x[0] = 1j; x | x[x > 1] = 0; x | x[9] = 1; x
x.fill_(3); x | x.fill_(300); x | x['a'] = 1; x | x[0] = 2.5; x | x[0] = float('inf'); x
x.topk(1) | x.topk(9) | x.topk(1, 9) | x.topk(1, 0, False) | x.narrow(0, 0, 1) | x.narrow(-1, -1, 1)
x.narrow(0, 9, 1) | x.narrow(9, 0, 1) | x.narrow(0, 0, 9) | x.masked_fill(x > 1, 2)
x.masked_fill(x > 1, 1.5) | x.masked_fill(y > 1, 300) | x.masked_fill(y, 1) | x.masked_fill(x, y[0])
x.masked_fill(x > 1, float('inf')) | x.masked_fill_(y > 1, 0); x | x.gather(0, torch.tensor([0]))
x.gather(0, y) | x.gather(-1, torch.tensor([[0, 0], [1, 0]])) | x.zero_(); x | x.copy_(y); x
x.copy_(1); x | x.copy_('a') | x.H | x.mH | x.adjoint()
"""


# castwise's methods have the defaults, the axes and the keepdims of several frameworks.
LENIENT = frozenset({
    "x.logsumexp()", "x.cumsum()", "x.cumprod()", "x.softmax()", "x.log_softmax()",
    "x.prod(dim=(0, 1))", "x.max(dim=(0, 1))", "x.min(dim=(0, 1))",
    "x.count_nonzero(dim=0, keepdim=True)", "x.trace()",
})  # fmt: skip


def calls() -> list[str]:
    """Calls of x, y and z: the last statement is the result."""
    found = [f"torch.{f}(x)" for f in UNARY.split()]
    found += [f"torch.{f}(x, y)" for f in BINARY.split()]
    found += [f"torch.{f}(x, 2)" for f in BINARY.split()[:40] if f != "float_power"]
    for op in OPERATORS.split():
        found += [f"x {op} y", *[f"x {op} {n}" for n in NUMBERS]]
        found += [f"({n}) {op} x" for n in NUMBERS]
    for f, option in itertools.product(REDUCTIONS.split(), AXES):
        found += [f"torch.{f}(x, {option})"]
        found += [f"x.{f}({option})"] if hasattr(cw.Tensor, f) else []
    for f, dtype in itertools.product(TYPED.split(), DTYPES_GIVEN.split()):
        found += [f"torch.{f}(x, dim=0, dtype=torch.{dtype})", f"torch.{f}(x, dtype=torch.{dtype})"]
    return [call for call in found + written(OTHERS) if call not in LENIENT]


DTYPES = (
    "bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "uint16", "uint64",
)  # fmt: skip


# What castwise does otherwise, and why.
KNOWN = {
    "torch.nn.functional.gelu(x)": "torch's kernel of float16 gives inf where float32's gives nan",
}


def difference(case: Case) -> str:
    """How castwise differs from torch; "" if it does not."""
    if case.call in KNOWN:
        return ""
    tensors = [cw.asarray(a, backend="torch", dialect="torch", copy=True) for a in arrays(case)]
    theirs = [tensor.array.clone() for tensor in tensors]
    expected = outcome(lambda: ran(case.call, {"torch": torch}, theirs))
    found = outcome(lambda: ran(case.call, {"torch": torch}, tensors))
    if found.error is None and is_without_kernel(expected.error):
        return ""  # castwise also computes what torch only lacks a kernel for
    # torch looks at the axis before the dtypes, and needs no kernel for no elements.
    is_other = isinstance(expected.error, IndexError) or not theirs[0].numel()
    if isinstance(found.error, cw.PromotionError) and is_other:
        return ""
    return objection(found, expected)


def is_without_kernel(error: BaseException | None) -> bool:
    return isinstance(error, NotImplementedError) or "not implemented for" in str(error)


@each("case", cases(calls(), DTYPES, COUNT, SEED))
def test_a_single_op_gives_what_it_gives_in_torch(case: Case) -> None:
    assert not difference(case)
