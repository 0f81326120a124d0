"""PyTorch's recorder: what an old release is not asked, and which dtypes it promotes."""

from __future__ import annotations

import pytest

from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import dtypes_taken
from castwise.conformance.recorders import find_recorder
from castwise.conformance.recorders.torch import is_endless


@pytest.mark.parametrize(
    ("op", "operands", "is_left_out"),
    [
        ("concat", "float8_e5m2[3] int8[3]", True),
        ("stack", "int32[3] float8_e4m3fn[] bool[3]", True),
        ("concat", "float8_e5m2[3] float8_e5m2[]", False),
        ("concat", "float16[3] int8[3]", False),
        ("add", "float8_e5m2[3] int8[3]", False),
    ],
)
def test_what_never_ends_in_2_1_is_not_asked(op: str, operands: str, is_left_out: bool) -> None:
    assert is_endless(GridQuestion(op, "function", tuple(operands.split()))) is is_left_out


def test_a_dtype_without_a_kernel_to_fill_it_is_not_promoted() -> None:
    pytest.importorskip("torch")
    assert dtypes_taken(find_recorder("torch"), ["int4", "uint16"]) == ("uint16",)
