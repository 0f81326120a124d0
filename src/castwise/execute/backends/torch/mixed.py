"""Ops on two dtypes that torch itself promotes to the decided dtype: its kernels cast on the
fly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from castwise.execute.backend import Backend
from castwise.execute.backends.torch.functions import COMPUTED, function_in
from castwise.execute.steps.steps import Steps
from castwise.execute.values.adapting import adapted
from castwise.vocab.dtypes import DType

_COMPARES = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_PROMOTES = _COMPARES | {"add", "sub", "mul", "div", "maximum", "minimum"}
# Ops that torch computes in one pass over memory.
ONE_PASS = _PROMOTES | {
    "abs", "neg", "square", "floor", "ceil", "trunc", "round", "reciprocal", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_not", "where", "relu",
}  # fmt: skip


def mixed_function(steps: Steps, backend: Backend) -> Callable[..., Any] | None:
    """A function that runs all steps of an op at once; None if torch would give another dtype."""
    is_torchs = (
        steps.op in _PROMOTES and steps.compute.kind != "complex"
    )  # castwise orders these itself
    function = function_in(steps.op, steps.compute) if is_torchs else None
    if function is None or not torch_agrees(steps, backend):
        return None
    if adapted(function, backend, steps.op, steps.compute, steps.values) is not function:
        return None  # a value rule differs from torch's
    left, right = steps.entry_casts(backend)

    def run(x: Any, y: Any, **options: Any) -> Any:
        if x.ndim and y.ndim:
            return function(x, y, **options)
        # with an array, torch ignores the dtype of a 0-d one, and the decision may not
        return function(left(x) if left else x, right(y) if right else y, **options)

    return run


def torch_agrees(steps: Steps, backend: Backend) -> bool:
    """Whether two arrays are cast to the dtype that torch computes in, with no other cast."""
    sources = _sources(steps)
    # torch refuses bool operands in sub
    is_known = all(s and s.kind != "bool" and s.name in COMPUTED for s in sources)
    if not is_known or not any(steps.entries):
        return False
    joined = torch.promote_types(*[backend.native(source) for source in sources if source])
    is_result = steps.op in _COMPARES or steps.result is steps.compute
    return is_result and joined is backend.native(steps.compute)


def _sources(steps: Steps) -> list[DType | None]:
    """The dtypes of the arrays; None for a number, or for an operand cast to another dtype."""
    return [
        steps.compute if entry is None
        else entry.source if entry.dtype is steps.compute and not entry.through
        else None
        for entry in steps.entries
    ]  # fmt: skip
