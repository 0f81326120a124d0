"""The hook for PaddlePaddle."""

from __future__ import annotations

from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, Read, Spelling


def _read(tensor: Any) -> Read:
    return tensor.dtype, tuple(tensor.shape), False, None


HOOK = Hook(
    framework="paddle",
    rules="paddle",
    arrays=Arrays(types="Tensor EagerParamBase", read=_read),
    callables=Callables(renamed=r"^_", operands={"x": 0, "y": 1, "input": 0, "condition": 0}),
    calls=Calls(
        casts="cast cast_ astype to float double half bfloat16 int long",
        makes="to_tensor zeros ones empty full zeros_like ones_like empty_like full_like arange "
        "linspace logspace eye rand randn randint uniform normal randperm standard_normal load "
        "create_parameter",
        keeps="reshape reshape_ transpose flatten squeeze unsqueeze expand expand_as broadcast_to "
        "tile roll flip sort argsort topk gather gather_nd index_select masked_select slice split "
        "chunk unbind clone detach numpy item tolist numel backward clear_grad clear_gradient cpu "
        "cuda contiguous concat stack set_value fill_ zero_ is_floating_point is_integer "
        "is_complex",
    ),
    spelling=Spelling(
        names="paddle",
        alias="paddle",
        makes_without_dtype="load uniform normal rand randn randint randperm standard_normal "
        "create_parameter",
        dtype_places={"to_tensor": 1, "zeros": 1, "ones": 1, "empty": 1, "full": 2, "zeros_like": 1,
                      "ones_like": 1, "empty_like": 1, "full_like": 2, "arange": 3, "linspace": 3,
                      "eye": 2},
        takes_dtype_first="astype cast",
    ),
)  # fmt: skip
