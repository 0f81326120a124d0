"""PyTorch, as the auditor meets it."""

from __future__ import annotations

import sys
from typing import Any

from castwise.auditing.hook import Hook


def _dialect() -> str:
    default = str(sys.modules["torch"].get_default_dtype()).rpartition(".")[2]
    return "torch" if default == "float32" else f"torch:default_float={default}"


def _values(tensor: Any) -> list[float]:
    """Its numbers; of complex ones the real parts."""
    flat = tensor.detach().cpu().flatten()
    return (flat.real if flat.is_complex() else flat).double().tolist()  # type: ignore[no-any-return]


def _watch_inside() -> None:
    from castwise.auditing.hooks.inside.torch import watch

    watch()


HOOK = Hook(
    framework="torch",
    dialect=_dialect,
    arrays="Tensor Parameter",
    values=_values,
    owner="_base",
    casts="to type float double half bfloat16 int long short char byte bool cfloat cdouble chalf "
    "type_as as_tensor tensor numpy from_numpy asarray set_default_dtype",
    makes="zeros ones empty full zeros_like ones_like empty_like full_like arange linspace "
    "logspace eye rand randn randint rand_like randn_like randint_like normal randperm load "
    "new_zeros new_ones new_full new_empty new_tensor Tensor",
    keeps="reshape view transpose permute contiguous clone detach squeeze unsqueeze flatten expand "
    "expand_as repeat tile roll flip sort argsort topk gather index_select masked_select take "
    "narrow select chunk split unbind item tolist numel size dim backward zero_ fill_ copy_ "
    "requires_grad_ cpu cuda t diagonal diag tril triu movedim swapaxes broadcast_to unfold "
    "normal_ uniform_ manual_seed save isclose equal is_floating_point is_complex",
    compilers="torch.compile torch.jit.script torch.jit.trace torch.jit.script_method",
    operands={"input": 0, "other": 1, "exponent": 1, "min": 1, "max": 2, "tensors": 0,
              "target": 1, "condition": 0},
    makes_temporaries=True,
    files="load",
    names="torch",
    alias="torch",
    cast=".to({0})",
    makes_without_dtype="load Tensor",
    casts_inside="_to_copy",
    watch_inside=_watch_inside,
)  # fmt: skip
