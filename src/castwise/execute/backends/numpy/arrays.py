"""NumPy's arrays and functions: how they are made, cast, written and computed."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from contextvars import Context
from typing import Any, cast

import array_api_compat.numpy as standard
import ml_dtypes
import numpy as np

from castwise.execute.backend import lacking
from castwise.execute.backends.numpy.memory import Memory
from castwise.execute.backends.numpy.reducing.steps import blockwise
from castwise.execute.backends.numpy.ufuncs import (
    casting_run,
    casting_ufunc,
    casting_with_number,
    has_loop,
    is_quiet,
)
from castwise.execute.backends.numpy.writing import writer
from castwise.execute.functions.lookup import standard_name
from castwise.execute.functions.products import vecdot
from castwise.execute.steps.steps import Casting, Steps, Writer
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS

# These move elements and never round, for any dtype.
_MOVES = frozenset({"where", "concat", "stack"})
_NOT_FOR_BOOL = frozenset({"sign", "cross"})
# NumPy itself warns about these if there are no elements, or too few.
_WARNS_ITSELF = frozenset({"mean", "std", "var", "median"})
_PIECE = 1 << 16  # elements read at once, few enough to stay in the processor's cache
_IS_FIRST = np.__version__.startswith("1.")  # it wraps Python ints, and warns about it
_SIGN = (
    standard.sign if _IS_FIRST else np.sign
)  # for complex numbers NumPy 1 gave the sign of the real part
_FAR = 1 << 14  # an exponent beyond which every float is zero or infinite
_SMALL = 32  # below this many bits, functions made of several loops round more than once


class NumPy(Memory):
    """The backend."""

    name = "numpy"
    speaks = "numpy"
    namespace = standard

    def __init__(self) -> None:
        self._native = {d: found for d in DTYPES if (found := _native_dtype(d.name))}
        self.dtypes = frozenset(self._native)

    def owns(self, thing: Any) -> bool:
        """Whether something is a NumPy array."""
        return isinstance(thing, np.ndarray)

    def is_concrete(self, array: Any) -> bool:
        """Always true."""
        return True

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array."""
        return _dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        """NumPy's own dtype object."""
        found = self._native.get(dtype)
        if found is None:
            raise lacking(dtype, self)
        return found

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array of numbers, nested lists or an array."""
        wanted = None if dtype is None else self.native(dtype)
        if _IS_FIRST and dtype is not None and dtype.kind == "int" and not self.owns(data):
            _check_range(data, dtype)
        if copy is None and device is None:
            return np.asarray(data, wanted)
        return standard.asarray(data, dtype=wanted, copy=copy, device=device)

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype; values go out of range silently."""
        native = self.native(dtype)
        if is_quiet(array.dtype, native):
            return array.astype(native)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a dropped imaginary part, which the decision reports
            between = _between(array.dtype, native)
            return (array.astype(between) if between else array).astype(native)

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A NumPy scalar; integers out of range wrap."""
        native = self.native(dtype)
        if isinstance(value, int):
            value = _wrapped(value, dtype) if dtype.kind == "int" else _sized(value)
        if type(value) is float and native.kind == "f" and not _IS_FIRST:  # a dtype of NumPy's own
            return _silent_number(native.type, value)
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(native)[()]

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """NumPy's function; None if it has no loop for the dtype or rounds more than once."""
        found = _functions().get(op)
        if found is None and op not in LAYERS:  # a recipe calls NumPy's
            found = getattr(standard, standard_name(op), None)
        if isinstance(found, np.ufunc):
            return found if has_loop(found, self.native(dtype)) else None
        if dtype.kind == "bool":
            return None if op in _NOT_FOR_BOOL else found
        return None if op not in _MOVES and dtype.bits < _SMALL else found

    def whole(self, steps: Steps) -> Callable[..., Any] | None:
        """A ufunc or a reduction that casts while it computes, without an intermediate array, which
        saves time on large arrays."""
        return blockwise(steps, self) or casting_run(steps, self)

    def unchecked(self, steps: Steps) -> Callable[..., Any] | None:
        """The ufunc of `whole` itself, which gives NumPy scalars for 0-d arrays."""
        found = casting_ufunc(steps, self)
        return found and steps.quieted(found, self)

    def casting(self, steps: Steps) -> Casting | None:
        """A ufunc of an array and a number that casts large arrays while it computes."""
        return casting_with_number(steps, self)

    def into(self, steps: Steps, run: Callable[..., Any], has_kernel: bool) -> Writer | None:
        """A ufunc that writes into an array, or an op that does it block by block."""
        return writer(steps, self, run, has_kernel)

    def quiet(self, function: Callable[..., Any], op: str) -> Callable[..., Any]:
        """A function without NumPy's float warnings, and its warnings about empty means."""
        silent = _silent(function)
        if op not in _WARNS_ITSELF:
            return silent

        def computed(*arrays: Any, **options: Any) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                return silent(*arrays, **options)

        return computed

    def finder_below(self, dtype: DType, limit: float) -> Callable[[Any], bool]:
        """A function that tells by the bits whether any float is nonzero and below a limit.

        Doubling the bits drops the sign. Subtracting one then makes zero the largest of all.
        """
        native = self.native(dtype)
        unsigned = np.dtype(f"u{native.itemsize}")
        end = 2 * int(np.array(limit).astype(native).view(unsigned))
        least, subtract = np.minimum.reduce, np.subtract

        def has_below(array: Any) -> bool:
            bits = np.asarray(array).ravel(order="K").view(unsigned)
            room = np.empty(min(bits.size, _PIECE), unsigned)
            for start in range(0, bits.size, _PIECE):
                piece = bits[start : start + _PIECE]
                doubled = np.add(piece, piece, out=room[: piece.size])
                if least(doubled) < end and least(subtract(doubled, 1, out=doubled)) < end - 1:
                    return True
            return False

        return has_below

    def wrote(self, target: Any) -> None:
        """Nothing: NumPy does not count writes."""

    def takes_mask(self, op: str) -> bool:
        """Whether a function takes where= or initial=: all that can, do."""
        return True

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return array[key]

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """Writes into the array itself, or into a copy if another library lends its memory
        read-only."""
        array = array.copy() if _is_lent(array) else array
        array[key] = values
        return array

    def to_numpy(self, array: Any) -> Any:
        """The array itself."""
        return array


def _is_lent(array: Any) -> bool:
    """Whether an array is in read-only memory that does not belong to NumPy."""
    while isinstance(array, np.ndarray) and not array.flags.writeable:
        array = array.base
    return isinstance(array, memoryview)


def _check_range(data: Any, dtype: DType) -> None:
    """Raises OverflowError for integers that are out of range for a dtype."""
    held = np.asarray(data)
    if held.size and held.dtype.kind in "iu":
        ends = int(held.min()), int(held.max())
        if ends[0] < dtype.min or ends[1] > dtype.max:
            raise OverflowError(f"{ends} are out of range for {dtype}")


def _native_dtype(name: str) -> Any:
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return None


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function under np.errstate(all="ignore").

    NumPy 2 keeps its error state in a context variable. Running in a prepared context costs much
    less than setting the state and resetting it.
    """
    context = _silent_context()
    if context is None:
        return np.errstate(all="ignore")(function)
    run, copy = context.run, context.copy

    def computed(*arrays: Any, **options: Any) -> Any:
        return copy().run(function, *arrays, **options)

    def computed_of_two(x: Any, y: Any, **options: Any) -> Any:
        if options:
            return computed(x, y, **options)
        try:
            return run(function, x, y)
        except RuntimeError:  # another thread is using the context
            return computed(x, y)

    ufunc = function.func if isinstance(function, functools.partial) else function
    return computed_of_two if getattr(ufunc, "nin", 0) == 2 else computed


@functools.cache
def _silent_context() -> Context | None:
    """A context in which NumPy is silent; None for NumPy 1, whose error state is per thread."""
    if _IS_FIRST:
        return None
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def _silent_number(kind: Any, value: float) -> Any:
    """A NumPy scalar, made in the context in which NumPy is silent."""
    context = cast(Context, _silent_context())
    try:
        return context.run(kind, value)
    except RuntimeError:  # another thread is using the context
        return context.copy().run(kind, value)


@functools.cache
def _dtype_of(native: Any) -> DType:
    return to_dtype(native)


@functools.cache
def _between(source: Any, target: Any) -> str | None:
    """The intermediate dtype of a cast that ml_dtypes lacks, or has only inexactly."""
    to, start = to_dtype(target), to_dtype(source)
    if to.name.endswith("complex32") and start.kind == "float":
        return "complex64"
    if start.name.endswith("complex32") and to.kind == "bool":  # it writes 3, say, into a bool
        return "complex64"
    try:
        np.empty(0, source).astype(target)
    except TypeError:
        return "int8" if start.kind == to.kind == "int" else "float32"
    return None


def _wrapped(value: int, dtype: DType) -> int:
    """An integer modulo the width of a dtype."""
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if low > dtype.max else low


def _sized(value: int) -> int | float:
    """An integer that will become a float, as a number that NumPy has a dtype for."""
    if -(1 << 63) <= value < 1 << 64:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """Clips between two bounds; NaN where a bound is NaN, which NumPy 1 ignored."""
    found = np.array(x) if low is None else np.maximum(x, low)
    return found if high is None else np.minimum(found, high)


def _ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    if y.dtype.kind not in "iu":
        return x * np.exp2(y)
    near = np.minimum(y, np.uint64(_FAR)) if y.dtype == np.uint64 else y
    return np.ldexp(x, np.clip(near.astype(np.int64), -_FAR, _FAR).astype(np.int32))


def _count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims))


def _determined(function: Callable[..., Any], x: Any) -> Any:
    """NumPy's result for a matrix, without the false warnings it gives for complex ones on ARM."""
    if x.dtype.kind != "c":
        return function(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return function(x)


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """The ops that NumPy has under another name than castwise and the standard."""
    return {
        "fmod": np.fmod, "float_power": np.float_power, "fmax": np.fmax, "fmin": np.fmin,
        "heaviside": np.heaviside, "dot": np.dot, "bitwise_not": np.invert,
        "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift,
        "pow": np.power, "atan2": np.arctan2, "concat": np.concatenate, "norm": np.linalg.norm,
        "median": np.median, "angle": np.angle, "count_nonzero": _count_nonzero,
        "clamp": _clip, "sign": _SIGN, "ldexp": _ldexp,
        "vecdot": functools.partial(vecdot, standard),
        "linalg.det": functools.partial(_determined, standard.linalg.det),
        "linalg.slogdet": functools.partial(_determined, standard.linalg.slogdet),
    }  # fmt: skip
