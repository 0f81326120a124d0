"""Live torch dtypes and tensors are recognised."""

from __future__ import annotations

import pytest
from expecting import expect

from castwise.errors import UsageError
from castwise.vocab.dtypes import dtype, find_dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

torch = pytest.importorskip("torch")


TORCH_NAMES = {n: d for n, d in vars(torch).items() if isinstance(d, torch.dtype)}
TORCH_KNOWN = {n: d for n, d in TORCH_NAMES.items() if find_dtype(str(d).partition(".")[2])}


def test_at_least_the_18_promoting_dtypes_of_torch_are_known() -> None:
    assert len(set(TORCH_KNOWN.values())) >= 18


@pytest.mark.parametrize(("name", "live"), TORCH_KNOWN.items())
def test_every_name_of_torchs_dtypes(name: str, live: torch.dtype) -> None:
    expected = dtype(str(live).partition(".")[2])
    assert to_dtype(live) is expected
    assert to_dtype(f"torch.{name}") is expected


@pytest.mark.parametrize(
    "live", [d for n, d in TORCH_NAMES.items() if n not in TORCH_KNOWN], ids=str
)
def test_a_torch_dtype_outside_the_vocabulary_is_refused(live: torch.dtype) -> None:
    with pytest.raises(UsageError, match="cannot tell the dtype"):
        to_dtype(live)


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.zeros(3, dtype=torch.int8), "int8[3]"),
        (torch.zeros((2, 3)), "float32[2,3]"),
        (torch.tensor(5), "int64[]"),
        (torch.zeros(3, dtype=torch.bfloat16), "bfloat16[3]"),
        (torch.zeros(3, dtype=torch.float8_e4m3fn), "float8_e4m3fn[3]"),
        (torch.nn.Parameter(torch.ones(2)), "float32[2]"),
        (torch.ones(2).as_subclass(Subclass), "float32[2]"),
        (torch.zeros(3, dtype=torch.float16, device="meta"), "float16[3]"),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_torch_tensors(tensor: torch.Tensor, text: str) -> None:
    operand = describe(tensor)
    expect(operand, text)
    assert operand.value is None


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("live", sorted(set(TORCH_KNOWN.values()), key=str), ids=str)
def test_every_known_torch_dtype_is_described(live: torch.dtype) -> None:
    name = to_dtype(live).name
    expect(describe(torch.empty(3, dtype=live, device="meta")), f"{name}[3]")
    expect(describe(torch.empty((), dtype=live, device="meta")), f"{name}[]")
