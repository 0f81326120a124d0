"""From the steps of an op to a lowered program: the same code that computes writes its steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from castwise.execute.backend import Backend
from castwise.execute.steps.steps import Steps
from castwise.execute.values.casting import own_values
from castwise.kernels.emitter import Emitter, Traits, emitters_with
from castwise.kernels.ops import LOWERED_OPS
from castwise.kernels.program import COMPARE, Lowered
from castwise.kernels.writing import NotLoweredError, Value, Writer
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType

Sources = Sequence["DType | None"]  # the dtypes of operands; None is a number, which is cast before


# The names under which a dialect's rules compute an op that can be lowered.
_SUBSTITUTES = frozenset({
    "reciprocal_times", "times_reciprocal", "div_of_arrays", "truncated_quotient",
    *[f"{op}_with_wide" for op in ("mul", "div")],
    *[f"{op}_of_mixed_signs" for op in COMPARE],
})  # fmt: skip


def may_be_lowered(steps: Steps) -> bool:
    """Whether an op is one that steps can express, for most dtypes and rules at least."""
    is_known = steps.op in LOWERED_OPS or steps.op in _SUBSTITUTES
    is_real = "complex" not in (steps.compute.kind, steps.result.kind)
    return is_known and is_real and not (steps.kernel or steps.composed)


def lowered(
    steps: Steps, sources: Sources, backend: Backend, traits: Traits
) -> tuple[Lowered, ...]:
    """The programs of an op on a backend's arrays. If one ends with an alarm, the next may not.

    Raises NotLoweredError if no steps can express it with the bits that the backend gives.
    """
    check_values(steps.op, steps.values, backend)
    values, traits = guarded(steps.values, traits)
    steps = replace(steps, values=values)
    return tried(traits, lambda emitter: _written(steps, sources, emitter, traits.notices_errors))


def tried(traits: Traits, write: Callable[[Backend], Lowered]) -> tuple[Lowered, ...]:
    """The different programs that emitters write, the fastest first.

    Raises NotLoweredError if the last one, which can do most, cannot.
    """
    found: list[Lowered] = []
    *others, last = emitters_with(traits)
    for emitter in others:
        with contextlib.suppress(NotLoweredError):
            found.append(write(_as_backend(emitter)))
    found.append(write(_as_backend(last)))
    return tuple(dict.fromkeys(found))


def _as_backend(emitter: Emitter) -> Backend:
    """An emitter as what its rules call: it has those methods of a backend."""
    return cast(Any, emitter)  # type: ignore[no-any-return]


def _written(steps: Steps, sources: Sources, emitter: Backend, notices: bool) -> Lowered:
    writer, given = Writer(), []
    for entry, source, enter in zip(
        steps.entries, sources, steps.entry_casts(emitter), strict=True
    ):  # fmt: skip
        if source is None:
            if entry is None:
                raise NotLoweredError("a number as it is")
            given.append(writer.operand(entry.dtype))
        else:
            value = writer.operand(source)
            given.append(enter(value) if enter else value)
    result = steps.as_result(steps.function(emitter)(*given), emitter)
    return finished(writer, [result], notices=notices)


def check_values(op: str, values: Values | None, backend: Backend) -> None:
    """Raises NotLoweredError for an op whose values depend on shapes, or on a library."""
    if op.startswith("clamp") and values and values.clamping.bound_shapes != "broadcast":
        raise NotLoweredError(op)
    if "sqrt" in op and own_values(backend).powers.square_root != "exact":
        raise NotLoweredError(op)


def guarded(values: Values | None, traits: Traits) -> tuple[Values | None, Traits]:
    """Rules and traits that leave casts of floats beyond an integer's range to the backend, where
    the result depends on the processor."""
    if values is None or values.casting.float_to_int != "wraps":
        return values, traits
    casting = replace(values.casting, float_to_int="saturates", float_to_byte="as others")
    return replace(values, casting=casting), replace(traits, guards_casts=True)


def finished(writer: Writer, results: Sequence[Value], *, notices: bool) -> Lowered:
    """The program with these results."""
    if any(result.is_known for result in results):
        raise NotLoweredError("a known number as a result")
    return writer.finished(results, notices_float_errors=notices)
