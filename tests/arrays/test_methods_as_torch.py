"""The methods of tensors under torch's dialect give what torch's tensors give, on both backends."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from method_calls import DTYPES, IN_BOTH, IN_TORCH, OTHERS, VALUES, calls, check_the_same
from single_ops import objection, outcome, written

import castwise as cw
from loops import each

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")
# castwise takes differences of booleans as `-` does, which torch refuses; torch's diff is xor then.
OTHERWISE = {("bool", "x.diff()"), ("bool", "x.diff(n=2, dim=1)")}


def names(dtype: str, backend: str | None) -> dict[str, Any]:
    wanted = getattr(torch, dtype)
    x, y = torch.tensor(VALUES).to(wanted), torch.tensor(OTHERS).to(wanted)
    made = {"x": x, "y": y, "v": x[0].clone(), "b": x != 0, "i": torch.tensor([0, 2])}
    if backend:
        made = {
            name: cw.asarray(array, dialect="torch", backend=backend)
            for name, array in made.items()
        }
    return {**made, "float32": torch.float32}


CALLS = [*itertools.product(DTYPES, calls(IN_BOTH) + calls(IN_TORCH))]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@each(("dtype", "call"), [case for case in CALLS if case not in OTHERWISE])
def test_a_call_gives_what_it_gives_in_torch(dtype: str, call: str, backend: str) -> None:
    try:
        expected = eval(call, names(dtype, None))
    except (TypeError, ValueError, RuntimeError) as error:
        # castwise also computes what torch only lacks a kernel for.
        if not isinstance(error, NotImplementedError) and "on CPU" not in str(error):
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                eval(call, names(dtype, backend))
        return
    check_the_same(eval(call, names(dtype, backend)), expected)


PICKED = """
f.masked_fill(m, 1.5) | i.masked_fill(m, 1.5) | u.masked_fill(m, 300) | u.masked_fill(m, -1)
i.masked_fill(m, 1j) | f.masked_fill(m, 1e39) | b.masked_fill(m, 300) | c.masked_fill(m, 1j)
f.masked_fill(i, 1) | f.masked_fill(wide > 0, 1) | f[0].masked_fill(m, 7) | f.masked_fill([True], 1)
f.masked_fill_(wide > 0, 1) | f.masked_fill_(m, 0) | f.masked_fill(m, i) | f.masked_fill(m, i[0])
u.masked_fill(m, i[0] * 300) | f.narrow(0, 1, 2) | f.narrow(0, -1, 1) | f.narrow(0, 2, 2)
f.narrow(1, 0, 1) | f.narrow(0, 0, -1) | f[0].narrow(0, 0, 1)
f.narrow(0, 5, 0) | f.narrow(0, 3, 0)
wide.narrow(1, 1, 2) | f.gather(0, i - 1) | f.gather(0, i) | f.gather(0, -i) | f.gather(0, f)
f.gather(0, u - 1) | f.gather(1, i) | f[0].gather(0, i[0] - 1)
f.gather(0, i[0]) | f.gather(0, wide)
wide.gather(1, i[None] - 1) | wide.gather(0, i[:, None] - 1) | wide.gather(0, i[None] * 0) | f.H
f[0].H | wide.H | wide[None].H | f.mH | c[None].H | c[None].mH | f[0].mH | c[None].adjoint()
f.adjoint() | f.copy_(1) | f.copy_(i[:1]) | f.copy_(i[:2]) | i.copy_(f * 1.7) | f.copy_(c)
f[0].copy_(f) | f.copy_([1, 2, 3]) | f.topk(2) | f.topk(4)
f.topk(1, largest=False) | f[0].topk(1)
f.topk(0) | c.topk(1) | f.topk(1, 5) | f.topk(-1) | f[0].topk(2) | wide.topk(1, 0, False)
u.zero_()
"""


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_what_is_picked_and_replaced_is_torchs(backend: str) -> None:
    arrays = {
        "i": torch.tensor([1, 2, 3]), "m": torch.tensor([True, False, True]),
        "u": torch.tensor([1, 2, 3], dtype=torch.uint8), "f": torch.tensor([1.0, 2.0, 3.0]),
        "b": torch.tensor([True, True, False]), "c": torch.tensor([1 + 1j, 2.0, 3.0]),
        "wide": torch.tensor([[3.0, 0.0, 5.0], [1.0, 4.0, 2.0]]),
    }  # fmt: skip
    for call in written(PICKED):
        theirs = {name: array.clone() for name, array in arrays.items()}
        mine = {
            name: cw.asarray(array.numpy().copy(), dialect="torch", backend=backend)
            for name, array in arrays.items()
        }
        expected = outcome(lambda names=theirs, call=call: eval(call, names))
        found = outcome(lambda names=mine, call=call: eval(call, names))
        assert not objection(found, expected), call


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rounding_to_decimals_gives_torchs_bits_compiled_too(dtype: str) -> None:
    values = torch.linspace(-70, 300, 2001).to(getattr(torch, dtype))
    x = cw.asarray(values, dialect="torch")
    for decimals in (1, 2, -1):

        def fn(x: Any, decimals: int = decimals) -> Any:
            return x.round(decimals=decimals)

        for way in (fn, cw.compile(fn), cw.trace(fn, x, dialect="torch")):
            assert torch.equal(way(x).array, values.round(decimals=decimals))
