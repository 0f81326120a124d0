"""What a program of PyTorch is meant to compute in."""

from __future__ import annotations

import pytest
from under_audit import forget_makers

import castwise as cw
from castwise.auditing.origins import Audit

torch = pytest.importorskip("torch")


@cw.audited
def with_default() -> None:
    x = torch.zeros(3)
    x + torch.ones(3, dtype=torch.float32)
    x * torch.arange(3)


@cw.audited
def from_bytes() -> None:
    image = torch.zeros(3, dtype=torch.uint8)
    (image / 255).mean()


@cw.audited
def saves() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: object, y: object) -> object:
            ctx.save_for_backward(x, y)  # type: ignore[attr-defined]
            return x

    Scaled.apply(torch.ones(3), torch.ones(3, dtype=torch.bfloat16))


def audit(program: object) -> Audit:
    forget_makers()
    with cw.audit() as log:
        program()  # type: ignore[operator]
    return log.audit


def test_a_default_that_the_program_set_is_its_target() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        found = audit(with_default)
    finally:
        torch.set_default_dtype(torch.float32)
    assert (found.target.name, found.target.why) == (
        "float64", "the default dtype that the program set")  # fmt: skip
    assert (len(found.findings), len(found.expected_findings)) == (1, 1)
    assert not any(origin.fixes for origin in found.origins)


def test_floats_that_only_findings_make_are_the_program_s_floats() -> None:
    found = audit(from_bytes)
    assert [str(f.operation.question) for f in found.findings] == ["uint8[3] / 255"]
    assert found.target.name == "float32"


def test_what_autograd_keeps_is_not_cast() -> None:
    assert [f.operation.question.op.name for f in audit(saves).findings] == ["apply"]
