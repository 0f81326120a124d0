"""Functions of the Array API standard on values of an ONNX graph, as nodes of it.

castwise's recipes are written for such a namespace, so they run on this one and produce ONNX.
Numbers combined with a value become constants of its dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from castwise.graph import shapes
from castwise.graph.onnx.runtimes import LackingError
from castwise.graph.onnx.writer import BOOL, INT64, Value, Writer, called, same
from castwise.graph.program import Shape
from castwise.graph.recording import is_standard
from castwise.vocab.dtypes import STANDARD_KINDS, DType


def _function(op: str, **more: Any) -> Callable[..., Value]:
    return functools.partial(called, op, **more)


add, subtract, multiply, divide = map(_function, ("Add", "Sub", "Mul", "Div"))
maximum, minimum, pow = map(_function, ("Max", "Min", "Pow"))
exp, log, sqrt, floor, tanh = map(_function, ("Exp", "Log", "Sqrt", "Floor", "Tanh"))
equal, less, less_equal = (_function(op, dtype=BOOL) for op in ("Equal", "Less", "LessOrEqual"))
greater = _function("Greater", dtype=BOOL)
greater_equal = _function("GreaterOrEqual", dtype=BOOL)
logical_and, logical_or, logical_not = map(_function, ("And", "Or", "Not"))
isnan = _function("IsNaN", dtype=BOOL)


def abs(x: Value) -> Value:
    return called("Abs", x)


def not_equal(x: Any, y: Any) -> Value:
    return logical_not(equal(x, y))


def isfinite(x: Value) -> Value:
    return less(abs(x), float("inf"))


def where(condition: Value, x: Any, y: Any) -> Value:
    """One of two, by a condition."""
    first, second = same(x, y)
    return condition.writer.one_op("Where", condition, first, second, main=1)


def full_like(x: Value, value: Any) -> Value:
    """A number for all elements, which broadcasts."""
    return x.writer.constant(value, x.dtype)


zeros_like, ones_like = (functools.partial(full_like, value=number) for number in (0, 1))
_RUNNING = {"ReduceSum": "CumSum", "ReduceProd": "CumProd"}


def reduced(op: str, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """A reduction over some or all dimensions."""
    axes = shapes.places(axis, x.ndim)
    if not axes:  # ONNX treats no axes as all axes
        return x
    w = x.writer
    shape = shapes.reduced(x.shape, axes, keepdims)
    if op in _RUNNING and x.dtype.kind == "int" and not w.takes(op, x.dtype):
        wide = x if w.takes(_RUNNING[op], x.dtype) else w.cast(x, INT64)
        return w.cast(_last_running(_RUNNING[op], wide, axes, shape), x.dtype)
    return w.one_op(op, x, w.integers(axes), shape=shape, keepdims=int(keepdims))


def _last_running(op: str, x: Value, axes: tuple[int, ...], shape: Shape) -> Value:
    """A sum or product of integers, as the last of the cumulative ones."""
    w = x.writer
    for place in axes:
        one = (*x.shape[:place], 1, *x.shape[place + 1 :])
        initial = w.filled(int(op == "CumProd"), x.dtype, one)
        longer = w.one_op(
            "Concat", initial, x, shape=(*one[:place], "", *one[place + 1 :]), axis=place
        )
        running = w.one_op(op, longer, w.constant(place, INT64), shape=longer.shape)
        x = w.one_op("Gather", running, w.integers([-1]), shape=one, axis=place)
    return reshape(x, shape)


def _extreme(op: str, x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The largest or smallest element, or NaN if there is one, where runtimes differ."""
    found = reduced(op, x, axis, keepdims)
    if x.dtype.kind != "float" or found is x:
        return found
    return where(any(isnan(x), axis=axis, keepdims=keepdims), float("nan"), found)


sum, mean = (functools.partial(reduced, op) for op in ("ReduceSum", "ReduceMean"))
max, min = (functools.partial(_extreme, op) for op in ("ReduceMax", "ReduceMin"))


def any(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """Whether any element is true; false without elements."""
    return greater(count(x, axis=axis, keepdims=keepdims), 0)


def all(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """Whether none is false."""
    return equal(count(logical_not(x), axis=axis, keepdims=keepdims), 0)


def count(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """How many are true, as int64."""
    w, axes = x.writer, shapes.places(axis, x.ndim)
    ones = w.cast(x, INT64)
    if not axes:
        return ones
    shape = shapes.reduced(x.shape, axes, keepdims)
    # Without `sum`, because no count is large enough for a runtime to get wrong.
    return w.add_untyped("ReduceSum", [ones.name, w.integers(axes).name], INT64, shape,
                         keepdims=int(keepdims))  # fmt: skip


def is_negative(x: Value) -> Value:
    """Whether the sign is negative; zero has a sign too."""
    return logical_or(less(x, 0), less(divide(1, x), 0))


def isdtype(held: DType, kind: str | tuple[str, ...]) -> bool:
    """Whether a dtype is of a kind, or of one of some kinds, of the standard."""
    kinds = (kind,) if isinstance(kind, str) else kind
    return True in [STANDARD_KINDS[name](held) for name in kinds]  # `any` is the ONNX function here


def reshape(x: Value, shape: Any) -> Value:
    """The elements in another shape, which may have symbolic sizes."""
    w: Writer = x.writer
    return w.one_op("Reshape", x, w.sizes(shape), shape=tuple(shape), allowzero=1)


def __getattr__(name: str) -> Any:
    if not is_standard(name):
        raise AttributeError(name)
    raise LackingError(f"castwise cannot write {name} in ONNX")
