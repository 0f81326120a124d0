"""The steps of a reduction that casts its operand, without a cast copy of all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from castwise.execute.backend import Backend
from castwise.execute.backends.numpy.reducing import blocks
from castwise.execute.backends.numpy.reducing.ops import OPS, Reduced
from castwise.execute.functions.lookup import SIGNLESS, Function, function_for, widened_to
from castwise.execute.steps.steps import Steps
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import is_plain_cast
from castwise.vocab.dtypes import DType

_OPTIONS = frozenset({"axis", "keepdims", "correction"})
# Their rules are about arrays that have no elements, which are never reduced in blocks.
_OF_NOTHING = frozenset({"max", "min"})
# The result for integers does not depend on the width in which they are compared.
_OF_ANY_WIDTH = frozenset({"max", "min", "any", "all", "argmax", "argmin", "count_nonzero"})
_EXACT = 16  # bits of integers whose sum float64 holds
_WHOLE = ("bool", "int")


def blockwise(steps: Steps, backend: Backend) -> Callable[..., Any] | None:
    """A function of raw operands and options that runs the steps; None if it would save nothing,
    or if the dialect's rules are not the library's."""
    reduced = _reduced(steps, backend)
    if reduced is None:
        return None
    (enter,) = steps.entry_casts(backend)
    function = steps.quieted(steps.function(backend), backend)
    uncast, in_blocks = _uncast(steps, backend), _in_blocks(steps, backend, reduced)

    def run(x: Any, **options: Any) -> Any:
        least = 0 if uncast and x.ndim else blocks.BLOCK
        if x.size > least and type(x) is np.ndarray and options.keys() <= _OPTIONS:
            found = (uncast or in_blocks)(x, **options)
            if found is not None:
                return steps.as_result(found, backend)
        return steps.as_result(function(enter(x) if enter else x, **options), backend)

    return run


def _uncast(steps: Steps, backend: Backend) -> Function | None:
    """A function on the integers themselves, if the cast changes no bit of the result."""
    compute, wider = steps.compute, widened_to(backend, steps.op, steps.compute)
    is_builtin = backend.native(compute).isbuiltin == 1
    if steps.op not in _OF_ANY_WIDTH or compute.kind not in _WHOLE or not (wider and is_builtin):
        return None
    function = backend.function(steps.op, wider)
    return None if function is None else steps.quieted(function, backend)


def _in_blocks(steps: Steps, backend: Backend, reduced: Reduced) -> Function:
    """A reduction in blocks, which returns None if the library must compute it."""
    in_blocks = steps.quieted(reduced.result, backend)
    if widened_to(backend, steps.op, steps.compute) is None:
        return in_blocks

    def narrowed(x: Any, **options: Any) -> Any:
        found = in_blocks(x, **options)
        is_wide = found is not None and found.dtype == reduced.native
        return backend.cast(np.asarray(found), steps.compute) if is_wide else found

    return narrowed


def _reduced(steps: Steps, backend: Backend) -> Reduced | None:
    """How blocks are cast and reduced."""
    if steps.op not in OPS or steps.composed or len(steps.entries) != 1:
        return None
    (entry,), compute = steps.entries, steps.compute
    wider = widened_to(backend, steps.op, compute)
    source = compute if entry is None else entry.source
    if source is None or compute is SIGNLESS or (entry is None and wider is None):
        return None
    if entry and (entry.through or not is_plain_cast(steps.values, source, entry.dtype)):
        return None
    if not _is_own(steps, backend) or not _is_rounded_alike(steps, wider or compute, source):
        return None
    (enter,) = steps.entry_casts(backend)

    def cast(run: Any) -> Any:
        entered = enter(run) if enter else run
        return backend.cast(entered, wider) if wider else entered

    return Reduced(steps.op, cast, backend.native(wider or compute), source.kind in _WHOLE)


def _is_own(steps: Steps, backend: Backend) -> bool:
    """Whether the library's function follows the dialect's rules for arrays that have elements."""
    op, compute = steps.op, steps.compute
    if op in _OF_NOTHING or (op in ("argmax", "argmin") and compute.kind in _WHOLE):
        return True
    function = function_for(backend, op, compute)
    return adapted(function, backend, op, compute, steps.values) is function


def _is_rounded_alike(steps: Steps, held: DType, source: DType) -> bool:
    """Whether blocks are added as the library adds the whole array. It casts integers to take
    their mean or variance, in pieces of its own."""
    if held.kind not in _WHOLE or steps.op not in ("mean", "var", "std"):
        return True
    return steps.op == "mean" and source.kind in _WHOLE and source.bits <= _EXACT
