"""Integer ops in ONNX, with results for what ONNX leaves undefined: zero divisors, long shifts."""

from __future__ import annotations

from typing import Any

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import equal, greater, greater_equal, less, not_equal, where
from castwise.graph.onnx.dtypes import element_type, onnx_package
from castwise.graph.onnx.writer import BOOL, INT64, Value, Writer, called, same
from castwise.graph.shapes import arithmetic as shapes
from castwise.vocab.dtypes import dtype


def floor_divide(x: Value, y: Value) -> Value:
    """The quotient rounded down; 0 where the divisor is 0."""
    divisor, is_zero, is_minus = _safe_divisor(y)
    found = x / divisor  # towards zero
    if y.dtype.is_signed:
        found = where(_is_apart(called("Mod", x, divisor), x, divisor), found - 1, found)
        found = found if is_minus is None else where(is_minus, 0 - x, found)
    return found if is_zero is None else where(is_zero, 0, found)


def remainder(x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor; 0 where the divisor is 0."""
    divisor, is_zero, _ = _safe_divisor(y)
    found = called("Mod", x, divisor)  # by 1 instead of -1 it is 0 too
    return found if is_zero is None else where(is_zero, 0, found)


def fmod(x: Value, y: Value) -> Value:
    """The remainder with the sign of the dividend; 0 where the divisor is 0.

    Mod with its attribute fmod is not used: runtimes compute it in floats.
    """
    divisor, is_zero, _ = _safe_divisor(y)
    found = called("Mod", x, divisor)
    if y.dtype.is_signed:
        found = where(_is_apart(found, x, divisor), found - divisor, found)
    return found if is_zero is None else where(is_zero, 0, found)


def _is_apart(rest: Value, x: Value, y: Value) -> Value:
    """Whether there is a remainder, and rounding down differs from rounding towards zero."""
    return not_equal(rest, 0) & called("Xor", less(x, 0), less(y, 0))


def _safe_divisor(y: Value) -> tuple[Value, Value | None, Value | None]:
    """The divisor with 1 in place of 0 and -1, which processors trap on, and where those were."""
    if y.number is not None and y.number not in (0, -1):
        return y, None, None
    is_zero = equal(y, 0)
    if not y.dtype.is_signed:
        return where(is_zero, 1, y), is_zero, None
    is_minus = equal(y, -1)
    return where(is_zero | is_minus, 1, y), is_zero, is_minus


def shift(direction: str, x: Value, y: Value) -> Value:
    """Shifts, also of signed integers; too many bits, or a negative number, leave no bit."""
    held, w = x.dtype, x.writer
    is_right = direction == "RIGHT"
    is_flipped = less(x, 0) if held.is_signed and is_right else None
    kept = x if is_flipped is None else where(is_flipped, called("BitwiseNot", x), x)
    is_short = None
    if y.number is None or not 0 <= y.number < held.bits:
        is_short = less(y, held.bits)
        is_short = is_short & greater_equal(y, 0) if held.is_signed else is_short
        y = where(is_short, y, 0)
    unsigned = dtype(f"uint{held.bits}")
    moved = called("BitShift", w.cast(kept, unsigned), w.cast(y, unsigned), direction=direction)
    found = w.cast(moved, held)
    found = found if is_short is None else where(is_short, found, 0)
    return found if is_flipped is None else where(is_flipped, called("BitwiseNot", found), found)


def power(x: Value, y: Value) -> Value:
    """An integer power that wraps; negative exponents are not defined here."""
    if y.number is not None and y.number >= 0:
        return _known_power(x, int(y.number))
    w: Writer = x.writer
    shape = shapes.broadcast([x.shape, y.shape])
    base = w.add("Expand", x, w.add("Shape", y, dtype=INT64, shape=(y.ndim,)), shape=shape)
    exponent = w.add("Expand", y, w.add("Shape", x, dtype=INT64, shape=(x.ndim,)), shape=shape)
    ones = w.add("Expand", w.constant(1, x.dtype), w.shape_of(shape), shape=shape)
    start = w.constant(True, BOOL)
    carried = [ones, base, exponent]
    names = ["", start.name, *[value.name for value in carried]]
    result = w.add_untyped("Loop", names, x.dtype, shape, body=_squaring_body(w, carried))
    w.nodes[-1].output.extend([w.new_name(), w.new_name()])
    return result


def _known_power(x: Value, exponent: int) -> Value:
    result, square = None, x
    while exponent:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        square = square * square if exponent else square
    if result is not None:
        return result
    shape = x.writer.shape_of(x.shape)
    return x.writer.add("Expand", *same(1, x)[:1], shape, shape=x.shape)


def _squaring_body(outer: Writer, carried: list[Value]) -> Any:
    """One step: multiply the result if the exponent is odd, square the base, halve the exponent."""
    helper = onnx_package().helper
    w = outer.inner()
    given = [Value(w, w.new_name(), value.dtype, value.shape) for value in carried]
    result, base, exponent = given
    is_odd = equal(called("Mod", exponent, 2), 1)
    left = exponent / 2
    made = [xp.any(greater(left, 0)), where(is_odd, result * base, result), base * base, left]
    infos = [helper.make_tensor_value_info(v.name, element_type(v.dtype), None) for v in given]
    counter = helper.make_tensor_value_info(w.new_name(), element_type(INT64), ())
    goes_on = helper.make_tensor_value_info(w.new_name(), element_type(BOOL), ())
    outputs = [
        helper.make_tensor_value_info(
            value.name, element_type(value.dtype), () if value.dtype is BOOL else None
        )
        for value in made
    ]
    return helper.make_graph(w.nodes, "squaring", [counter, goes_on, *infos], outputs)
