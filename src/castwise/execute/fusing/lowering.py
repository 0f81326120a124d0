"""From the steps of an op to a lowered program: the same code that computes writes its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from castwise.execute.backend import Backend
from castwise.execute.steps.steps import Steps
from castwise.execute.values.casting import own_values
from castwise.kernels.emitter import Emitter, Traits, emitter_with
from castwise.kernels.program import Lowered
from castwise.kernels.writing import NotLoweredError, Value, Writer
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType


def lowered(
    steps: Steps, sources: Sequence[DType | None], backend: Backend, traits: Traits
) -> tuple[Lowered, ...]:
    """The programs of an op on arrays of these dtypes; None is a number, which is cast before. If
    the first ends with an alarm, the next may not.

    Raises NotLoweredError for what no steps can express with the same bits.
    """
    check_values(steps.op, steps.values, backend)
    if steps.kernel or steps.composed or "_scaled" in steps.op:  # these take options
        raise NotLoweredError(steps.op)
    steps, traits = _guarded(steps, traits)
    emitters = [emitter_with(traits, is_hopeful=is_hopeful) for is_hopeful in (True, False)]
    programs = [_written(steps, sources, emitter) for emitter in emitters]
    return tuple(dict.fromkeys(programs))


def _written(steps: Steps, sources: Sequence[DType | None], emitter: Emitter) -> Lowered:
    writer, given = Writer(), []
    for entry, source, cast in zip(
        steps.entries, sources, steps.entry_casts(emitter), strict=True
    ):  # fmt: skip
        if source is None:
            if entry is None:
                raise NotLoweredError("a number as it is")
            given.append(writer.operand(entry.dtype))
        else:
            value = writer.operand(source)
            given.append(cast(value) if cast else value)
    result = steps.as_result(steps.function(emitter)(*given), emitter)
    return finished(writer, [result], emitter)


def check_values(op: str, values: Values | None, backend: Backend) -> None:
    """Raises NotLoweredError for an op whose values depend on shapes or on a library."""
    if op.startswith("clamp") and values and values.clamping.bound_shapes != "broadcast":
        raise NotLoweredError(op)
    if "sqrt" in op and own_values(backend).powers.square_root != "exact":
        raise NotLoweredError(op)


def _guarded(steps: Steps, traits: Traits) -> tuple[Steps, Traits]:
    """The steps with casts that leave floats beyond an integer's range to the backend, whose
    result depends on the processor."""
    values = steps.values
    if values is None or values.casting.float_to_int != "wraps":
        return steps, traits
    casting = replace(values.casting, float_to_int="saturates", float_to_byte="as others")
    guarded = replace(steps, values=replace(values, casting=casting))
    return guarded, replace(traits, guards_casts=True)


def finished(writer: Writer, results: Sequence[Value], emitter: Emitter) -> Lowered:
    """The program with these results."""
    if any(result.is_known for result in results):
        raise NotLoweredError("a known number as a result")
    return writer.finished(results, notices_float_errors=emitter.traits.notices_errors)
