"""Ufuncs that cast their operands while they compute, piece by piece, without cast copies."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from castwise.execute.backend import Backend
from castwise.execute.steps.steps import Casting, EntryCast, Steps
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import is_plain_cast
from castwise.vocab.live import to_dtype

_LARGE = 1 << 14  # elements; fewer are cast faster than piece by piece


def own_ufunc(steps: Steps, backend: Backend) -> Any:
    """The ufunc that computes an op and gives its result's dtype; None if there is none, or if a
    value rule differs from NumPy's."""
    function = backend.function(steps.op, steps.compute)
    if not isinstance(function, np.ufunc):
        return None
    if adapted(function, backend, steps.op, steps.compute, steps.values) is not function:
        return None
    is_result = output(function, backend.native(steps.compute)) == backend.native(steps.result)
    return function if is_result else None


def casting_ufunc(steps: Steps, backend: Backend) -> Callable[..., Any] | None:
    """A ufunc that casts its arrays while it computes; None if there is none, if it would differ
    from the dialect, or if nothing is cast."""
    native = backend.native(steps.compute)
    if not any(steps.entries) or native.isbuiltin != 1 or not casts_quietly(steps, backend):
        return None  # NumPy 1 does not find every loop for dtypes that are not its own
    function = own_ufunc(steps, backend)
    return None if function is None else casting(function, native)


def casting(function: Any, native: Any) -> Callable[..., Any]:
    """A ufunc that computes in a dtype, whatever dtypes its operands have."""
    dtypes = [native] * function.nin + [None] * function.nout
    return functools.partial(function, signature=tuple(dtypes), casting="unsafe")


def casting_run(steps: Steps, backend: Backend) -> Callable[..., Any] | None:
    """A function of arrays that casts them while it computes."""
    if any(entry and entry.is_number for entry in steps.entries):
        return None
    cast = casting_ufunc(steps, backend)
    if cast is None:
        return None
    call = steps.quieted(cast, backend)

    def run(*arrays: Any, **options: Any) -> Any:
        found = call(*arrays, **options)
        return found if type(found) is np.ndarray else steps.as_result(found, backend)

    return run


def casting_with_number(steps: Steps, backend: Backend) -> Casting | None:
    """The function and the casts of an op with an array and a number, if the array is cast: a large
    one while it computes."""
    is_number = [bool(entry and entry.is_number) for entry in steps.entries]
    if sorted(is_number) != [False, True] or steps.entries[is_number.index(False)] is None:
        return None
    function = casting_ufunc(steps, backend)
    if function is None:
        return None
    place, native = is_number.index(False), backend.native(steps.compute)
    on_cast = steps.quieted(backend.function(steps.op, steps.compute), backend)  # type: ignore[arg-type]
    on_uncast = steps.quieted(function, backend)

    def computed(*operands: Any, **options: Any) -> Any:
        is_cast = operands[place].dtype is native
        return (on_cast if is_cast else on_uncast)(*operands, **options)

    casts = steps.entry_casts(backend)
    casts[place] = _unless_large(casts[place])
    return computed, casts


def _unless_large(cast: EntryCast | None) -> EntryCast:
    assert cast is not None
    return lambda x: x if x.size > _LARGE else cast(x)


def casts_quietly(steps: Steps, backend: Backend) -> bool:
    """Whether no cast of an array may warn or differ from NumPy's in the dialect."""
    return all(
        not e.through
        and is_plain_cast(steps.values, e.source, e.dtype)
        and is_quiet(backend.native(e.source), backend.native(e.dtype))
        for e in steps.entries
        if e and e.source
    )


@functools.cache
def is_quiet(source: Any, target: Any) -> bool:
    """Whether a cast can neither overflow nor drop anything, so that NumPy does not warn."""
    is_to_wide = source.kind in "biu" and target.kind in "iuf" and target.name != "float16"
    # NumPy's own "safe" treats all small floats and integers of ml_dtypes as the same.
    is_safe = np.can_cast(source, target, "safe")
    return is_to_wide or bool(is_safe and to_dtype(target).keeps_range(to_dtype(source)))


@functools.cache
def output(function: Any, native: Any) -> Any:
    """The dtype that a ufunc returns for arrays of a dtype; None if it does not take them."""
    try:
        return function(*[np.ones(1, native)] * function.nin).dtype
    except TypeError:
        return None


def has_loop(function: Any, native: Any) -> bool:
    """Whether a ufunc takes arrays of a dtype without casting them."""
    found = output(function, native)
    of_its_own = (native, np.dtype(bool), np.ones(1, native).real.dtype)
    return found is not None and found in of_its_own  # None equals float64 to NumPy
