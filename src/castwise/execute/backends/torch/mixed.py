"""Ops on two dtypes that torch itself brings to the decided one: its kernels cast as they go."""

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


def mixed_function(steps: Steps, backend: Backend) -> Callable[..., Any] | None:
    """What runs the steps of an op at once; None where torch would come to another dtype."""
    is_torchs = steps.op in _PROMOTES and steps.compute.kind != "complex"  # whose order is written
    function = function_in(steps.op, steps.compute) if is_torchs else None
    if function is None or not _torch_agrees(steps, backend):
        return None
    if adapted(function, backend, steps.op, steps.compute, steps.values) is not function:
        return None  # a rule about values is not torch's
    left, right = steps.entry_casts(backend)

    def run(x: Any, y: Any, **options: Any) -> Any:
        if x.ndim and y.ndim:
            return function(x, y, **options)
        # beside an array torch lets a 0-d one give way, which the decision may not
        return function(left(x) if left else x, right(y) if right else y, **options)

    return run


def _torch_agrees(steps: Steps, backend: Backend) -> bool:
    """Whether two arrays are cast to the dtype that torch computes in, and nothing else is."""
    sources = _sources(steps)
    # torch refuses a bool among the operands of sub
    is_known = all(s and s.kind != "bool" and s.name in COMPUTED for s in sources)
    if not is_known or not any(steps.entries):
        return False
    joined = torch.promote_types(*[backend.native(source) for source in sources if source])
    is_result = steps.op in _COMPARES or steps.result is steps.compute
    return is_result and joined is backend.native(steps.compute)


def _sources(steps: Steps) -> list[DType | None]:
    """The dtypes of the arrays; None for a number, or what is cast to another dtype."""
    return [
        steps.compute if entry is None
        else entry.source if entry.dtype is steps.compute and not entry.through
        else None
        for entry in steps.entries
    ]  # fmt: skip
