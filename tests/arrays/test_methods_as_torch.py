"""The methods of tensors under torch's dialect give what torch's tensors give, on both backends."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from method_calls import DTYPES, IN_BOTH, IN_TORCH, OTHERS, VALUES, calls, check_the_same

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
