"""NumPy, with the small dtypes of ml_dtypes."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import threading
import warnings
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, Literal, cast

import array_api_compat.numpy as standard
import ml_dtypes
import numpy as np

from castwise.arrays.backend import Backend, lacking
from castwise.arrays.backends.numpy_reductions import blockwise
from castwise.arrays.casting import is_plain_cast
from castwise.arrays.functions import Function, standard_name, vecdot
from castwise.arrays.steps import Casting, Steps, Writer
from castwise.arrays.values import adapted
from castwise.kernels.program import Place, wrapped
from castwise.kernels.resources import fork_safe
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS

# Memory of large results, used again once nothing refers to it.
#
# A new array of several megabytes is new memory from the system, which clears each page when it is
# first written: that takes as long as a fast op itself. So the memory of results that are gone is
# kept for the next ones, up to a limit.

_LEAST_BYTES = 1 << 20  # smaller arrays: malloc itself keeps their memory
MOST_BYTES = 1 << 28  # kept in all
_lock = fork_safe(threading.RLock())  # a collection of garbage may give memory back at any time
_kept: list[Any] = []  # arrays of bytes, the last used at the end


def maker(shape: tuple[int, ...], native: Any, order: Literal["C", "F"]) -> Callable[[object], Any]:
    """A function that makes new arrays, whatever it is given: in memory that was used before, if
    there is any of that size."""
    count = math.prod(shape) * native.itemsize
    if not _LEAST_BYTES <= count <= MOST_BYTES // 2:
        return lambda _: np.empty(shape, native, order)
    lender, array = _type(count), np.ndarray

    def make(_: object) -> Any:
        memory = _taken(count)
        lent = lender.from_buffer(memory)
        lent.memory = memory
        return array(shape, native, lent, 0, None, order)

    return make


def _taken(count: int) -> Any:
    """Bytes that nothing refers to."""
    with _lock:
        for n in range(len(_kept) - 1, -1, -1):
            if _kept[n].size == count:
                return _kept.pop(n)
    return np.empty(count, np.uint8)


@functools.lru_cache(maxsize=64)
def _type(count: int) -> Any:
    """The type of objects that lend that many bytes. NumPy keeps one as long as an array or a view
    needs it; then the memory comes back. (It would keep the memory itself in place of a view or a
    memoryview.)"""
    return type("Lent", (ctypes.c_char * count,), {"__del__": _take_back})


def _take_back(lent: Any, lock: Any = _lock, kept: list[Any] = _kept) -> None:
    with lock:
        kept.append(lent.memory)
        total = sum([memory.size for memory in kept])
        while total > MOST_BYTES:
            total -= kept.pop(0).size


# NumPy's dtypes, for all backends whose arrays have them.


class OfNumPysDtypes:
    """What the backends share whose arrays have NumPy's own dtype objects."""

    name: str
    own_casts: frozenset[DType] = frozenset()
    size_of = staticmethod(operator.attrgetter("size"))
    as_array = staticmethod(np.asarray)

    def __init__(self, native: dict[DType, Any]) -> None:
        self._native, self.dtypes = native, frozenset(native)

    def is_concrete(self, array: Any) -> bool:
        """Always true; reading a value may wait for a device."""
        return True

    def dtype_of(self, array: Any) -> DType:
        return dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        found = self._native.get(dtype)
        if found is None:
            raise lacking(dtype, self.name)
        return found

    def by_size(self, small: Function, large: Function, least: int) -> Function:
        return lambda x, y: small(x, y) if x.size < least > y.size else large(x, y)

    def wrote(self, target: Any) -> None:
        """Nothing: these libraries do not count writes."""

    def read(self, array: Any, key: Any) -> Any:
        return array[key]


def extent(first: int, array: Any) -> tuple[int, int]:
    """The address of the first byte of an array, and that after its last, from the address of its
    first element."""
    if not array.size:
        return first, first
    ends = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    least, most = sum([e for e in ends if e < 0]), sum([e for e in ends if e > 0])
    return first + least, first + most + array.itemsize


@functools.cache
def dtype_of(native: Any) -> DType:
    """The dtype that one of NumPy's stands for."""
    return to_dtype(native)


# Ufuncs that cast their operands while they compute, piece by piece, without cast copies.

_LARGE = 1 << 14  # elements; fewer are cast faster than piece by piece


def _own_ufunc(steps: Steps, backend: Backend) -> Any:
    """The ufunc that computes an op and gives its result's dtype; None if there is none, or if a
    value rule differs from NumPy's."""
    function = backend.function(steps.op, steps.compute)
    if not isinstance(function, np.ufunc):
        return None
    if adapted(function, backend, steps.op, steps.compute, steps.values) is not function:
        return None
    is_result = output(function, backend.native(steps.compute)) == backend.native(steps.result)
    return function if is_result else None


def _casting_ufunc(steps: Steps, backend: Backend) -> Function | None:
    """A ufunc that casts its arrays while it computes; None if there is none, if it would differ
    from the dialect, or if nothing is cast."""
    native = backend.native(steps.compute)
    if not any(steps.entries) or native.isbuiltin != 1 or not _casts_quietly(steps, backend):
        return None  # NumPy 1 does not find every loop for dtypes that are not its own
    function = _own_ufunc(steps, backend)
    return None if function is None else casting(function, native)


def casting(function: Any, native: Any) -> Function:
    """A ufunc that computes in a dtype, whatever dtypes its operands have."""
    dtypes = [native] * function.nin + [None] * function.nout
    return functools.partial(function, signature=tuple(dtypes), casting="unsafe")


def _casting_run(steps: Steps, backend: Backend) -> Function | None:
    """A function of arrays that casts them while it computes."""
    if any(entry and entry.is_number for entry in steps.entries):
        return None
    cast = _casting_ufunc(steps, backend)
    if cast is None:
        return None
    call = steps.quieted(cast, backend)

    def run(*arrays: Any, **options: Any) -> Any:
        found = call(*arrays, **options)
        return found if type(found) is np.ndarray else steps.as_result(found, backend)

    return run


def _casts_quietly(steps: Steps, backend: Backend) -> bool:
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


def _has_loop(function: Any, native: Any) -> bool:
    """Whether a ufunc takes arrays of a dtype without casting them."""
    found = output(function, native)
    of_its_own = (native, np.dtype(bool), np.ones(1, native).real.dtype)
    return found is not None and found in of_its_own  # None equals float64 to NumPy


# Ops whose result is written straight into an array: by a ufunc, or block by block.

_LEAST = 1 << 15  # elements; for fewer, memory does not matter
BLOCK = 1 << 16  # elements that are computed at once where no ufunc can write into the array
_WIDE = 32  # bits of floats that NumPy computes fast
_ALIGNED = 64  # a block is a multiple of this many elements, as vector instructions take them
# These round once, to the nearest number, whatever the layout of the arrays.
_EXACT = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "square", "sqrt", "floor", "ceil", "trunc", "round",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "logical_and", "logical_or",
    "logical_xor", "logical_not", "floor_divide", "remainder", "fmod", "positive",
    "bitwise_left_shift", "bitwise_right_shift",
})  # fmt: skip
_EXACT_IN_COMPLEX = frozenset({"add", "sub", "neg", "positive"})
# These never raise, so that no block is written before an error.
_BY_BLOCKS = frozenset({
    "add", "sub", "mul", "div", "rsub", "neg", "abs", "square", "mul_with_wide", "div_with_wide",
    "times_reciprocal", "reciprocal_times", "div_of_arrays",
})  # fmt: skip


def _by_ufunc(steps: Steps, backend: Backend) -> Writer | None:
    ufunc, native = _own_ufunc(steps, backend), backend.native(steps.compute)
    if ufunc is None or steps.composed or not _casts_quietly(steps, backend):
        return None
    if steps.op == "pow" and steps.compute.kind == "int":
        return None  # a negative exponent raises, when a part is written
    is_cast = any(entry and entry.source for entry in steps.entries)
    if is_cast and native.isbuiltin != 1:
        return None
    call = steps.quieted(casting(ufunc, native) if is_cast else ufunc, backend)
    casts = steps.entry_casts(backend)
    numbers = [e is not None and e.is_number for e in steps.entries]
    is_exact = steps.op in (_EXACT_IN_COMPLEX if steps.compute.kind == "complex" else _EXACT)
    result, is_silent = backend.native(steps.result), _is_silent(steps)

    def write(target: Any, operands: Sequence[Any]) -> bool:
        given = [
            cast(o) if is_number and cast else o
            for cast, is_number, o in zip(casts, numbers, operands, strict=True)
        ]
        if not _takes(target, given, result) or not (is_exact or _are_alike(target, given)):
            return False
        if not is_silent and _may_raise():
            return False
        call(*given, out=target)
        return True

    return write


def _by_blocks(steps: Steps, backend: Backend, run: Function) -> Writer | None:
    is_float = steps.compute.kind == "float" and steps.result is steps.compute
    if steps.op not in _BY_BLOCKS or steps.composed or not (is_float and _is_silent(steps)):
        return None
    result = backend.native(steps.result)

    def write(target: Any, operands: Sequence[Any]) -> bool:
        arrays = [o for o in operands if isinstance(o, np.ndarray)]
        if not _takes(target, operands, result) or not _are_same_or_apart(target, arrays):
            return False
        _in_blocks(run, target, list(operands))
        return True

    return write


def _in_blocks(run: Function, target: Any, operands: list[Any]) -> None:
    """Computes halves of the outermost axis of the target, until they fit a block."""
    if target.size <= BLOCK:
        target[...] = run(*operands)
        return
    lengths = zip(target.shape, target.strides, strict=True)
    sizes = [abs(step) if length > 1 else -1 for length, step in lengths]
    axis = sizes.index(max(sizes))
    half = target.shape[axis] // 2
    half -= half % _ALIGNED if half > _ALIGNED else 0
    for part in (slice(None, half), slice(half, None)):
        key = (slice(None),) * axis + (part,)
        some = [_part(operand, axis - target.ndim, part) for operand in operands]
        _in_blocks(run, target[key], some)


def _part(operand: Any, axis: int, part: slice) -> Any:
    """The elements of an operand for a part of an axis that is counted from the end."""
    if not isinstance(operand, np.ndarray) or operand.ndim < -axis or operand.shape[axis] == 1:
        return operand
    key = (..., part) + (slice(None),) * (-axis - 1)
    return operand[key]


def _is_silent(steps: Steps) -> bool:
    return steps.values is not None and steps.values.arithmetic.float_errors == "silent"


def _takes(target: Any, operands: Sequence[Any], native: Any) -> bool:
    """Whether a target is a plain, large array with the dtype and the shape of the result."""
    if type(target) is not np.ndarray or target.size < _LEAST or target.dtype != native:
        return False
    if not target.flags.writeable or not are_apart(target.shape, target.strides, target.itemsize):
        return False
    if any(isinstance(o, np.ndarray) and type(o) is not np.ndarray for o in operands):
        return False
    try:
        return bool(np.broadcast_shapes(*[np.shape(o) for o in operands]) == target.shape)
    except ValueError:  # the op itself says what is wrong
        return False


def are_apart(shape: Sequence[int], strides: Sequence[int], size: int) -> bool:
    """Whether no two elements of an array share memory, as far as the strides tell. `size` is that
    of an element, in the unit of the strides."""
    lengths = [(abs(step), n) for n, step in zip(shape, strides, strict=True) if n > 1]
    for step, length in sorted(lengths):
        if step < size:
            return False
        size = step * length
    return True


def _are_alike(target: Any, operands: Sequence[Any]) -> bool:
    """Whether all arrays lie in memory as a new result does: functions that do not round to the
    nearest number may give other bits in another layout."""
    arrays = [o for o in operands if isinstance(o, np.ndarray) and o.ndim]
    if not target.flags.c_contiguous or not _are_same_or_apart(target, arrays):
        return False
    return all(a.flags.c_contiguous and a.shape == target.shape for a in arrays)


def _are_same_or_apart(target: Any, arrays: Sequence[Any]) -> bool:
    """Whether each array is the target itself, or in other memory."""
    return all(
        not np.may_share_memory(target, array)
        or (_is_same(target, array) and target.dtype == array.dtype)
        for array in arrays
    )


def _is_same(one: Any, other: Any) -> bool:
    """Whether two arrays are the same elements in the same order."""
    first, second = (x.__array_interface__["data"][0] for x in (one, other))
    return bool(first == second and (one.shape, one.strides) == (other.shape, other.strides))


def _may_raise() -> bool:
    """Whether a float warning would be an error, after the array is written."""
    if any(way not in ("warn", "ignore") for way in np.geterr().values()):
        return True
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if not (message or module or line):  # it decides, before any that follow
                return False
    return False


# NumPy's arrays and functions: how they are made, cast, written and computed.

# These move elements and never round, for any dtype.
_MOVES = frozenset({"where", "concat", "stack"})
_NOT_FOR_BOOL = frozenset({"sign", "cross"})
# NumPy itself warns about these if there are no elements, or too few.
_WARNS_ITSELF = frozenset({"mean", "std", "var", "median"})
_PIECE = 1 << 16  # elements read at once, few enough to stay in the processor's cache
_IS_FIRST = np.__version__.startswith("1.")  # it wraps Python ints, and warns about it
# For complex numbers NumPy 1 gave the sign of the real part.
_SIGN = standard.sign if _IS_FIRST else np.sign
_FAR = 1 << 14  # an exponent beyond which every float is zero or infinite
_SMALL = 32  # below this many bits, functions made of several loops round more than once
_new, _address, _buffer = tuple.__new__, ctypes.addressof, ctypes.c_char.from_buffer


class NumPy(OfNumPysDtypes):
    """The backend."""

    name = "numpy"
    speaks = "numpy"
    namespace = standard

    def __init__(self) -> None:
        super().__init__({d: found for d in DTYPES if (found := _native_dtype(d.name))})

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, np.ndarray)

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
            value = wrapped(value, dtype) if dtype.kind == "int" else _sized(value)
        if type(value) is float and native.kind == "f" and not _IS_FIRST:  # a dtype of NumPy's own
            return _silent_number(native.type, value)
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(native)[()]

    def function(self, op: str, dtype: DType) -> Function | None:
        """NumPy's function; None if it has no loop for the dtype or rounds more than once."""
        found = _functions().get(op)
        if found is None and op not in LAYERS:  # a recipe calls NumPy's
            found = getattr(standard, standard_name(op), None)
        if isinstance(found, np.ufunc):
            return found if _has_loop(found, self.native(dtype)) else None
        if dtype.kind == "bool":
            return None if op in _NOT_FOR_BOOL else found
        return None if op not in _MOVES and dtype.bits < _SMALL else found

    def itself(self, op: str, compute: DType) -> Function | None:
        """NumPy's function for small dtypes, whatever it rounds and overflows on its way; and the
        mean that adds integers in their own dtype, where `function` adds in a wide one."""
        native = self.native(compute)
        if op == "mean" and compute.kind in ("bool", "int"):
            return functools.partial(np.mean, dtype=native)
        if op == "clip_above":
            return lambda x, high: np.clip(x, None, high)
        if op == "clamp":
            return _clip_itself
        if compute.bits >= _SMALL or native.isbuiltin != 1 or op in LAYERS or op == "mean":
            return None
        if compute.kind == "bool" and op in _NOT_FOR_BOOL:
            return None
        found = _functions().get(op) or getattr(standard, standard_name(op), None)
        is_rounded_once = isinstance(found, np.ufunc) or isinstance(getattr(np, op, None), np.ufunc)
        return None if is_rounded_once else found

    def whole(self, steps: Steps) -> Function | None:
        """A ufunc or a reduction that casts while it computes, without an intermediate array, which
        saves time on large arrays."""
        return blockwise(steps, self) or _casting_run(steps, self)

    def unchecked(self, steps: Steps) -> Function | None:
        """The ufunc of `whole` itself, which gives NumPy scalars for 0-d arrays."""
        found = _casting_ufunc(steps, self)
        return found and steps.quieted(found, self)

    def casting(self, steps: Steps) -> Casting | None:
        """The function and the casts of an op with an array and a number, if the array is cast: a
        large one while it computes."""
        is_number = [bool(entry and entry.is_number) for entry in steps.entries]
        if sorted(is_number) != [False, True] or steps.entries[is_number.index(False)] is None:
            return None
        function = _casting_ufunc(steps, self)
        if function is None:
            return None
        place, native = is_number.index(False), self.native(steps.compute)
        on_cast = steps.quieted(self.function(steps.op, steps.compute), self)  # type: ignore[arg-type]
        on_uncast = steps.quieted(function, self)

        def computed(*operands: Any, **options: Any) -> Any:
            is_cast = operands[place].dtype is native
            return (on_cast if is_cast else on_uncast)(*operands, **options)

        casts = steps.entry_casts(self)
        cast = casts[place]
        assert cast is not None  # the array is cast
        casts[place] = lambda x: x if x.size > _LARGE else cast(x)
        return computed, casts

    def into(self, steps: Steps, run: Function, has_kernel: bool) -> Writer | None:
        """A ufunc that writes into an array, or an op that does it block by block."""
        if has_kernel and steps.compute.part.bits < _WIDE:
            return None  # NumPy is slow at small floats: a kernel and a copy are faster
        return _by_ufunc(steps, self) or (None if has_kernel else _by_blocks(steps, self, run))

    def quiet(self, function: Function, op: str) -> Function:
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

    def is_as_fast(self, steps: Steps) -> bool:
        """Never: NumPy computes on one thread."""
        return False

    def place(self, array: Any) -> Place | None:
        """How the elements lie in memory, unless a subclass or another byte order gives them
        another meaning."""
        if type(array) is not np.ndarray or not array.dtype.isnative:
            return None
        return _new(Place, (array.shape, array.strides, "cpu"))  # faster than Place itself

    def address(self, array: Any) -> int:
        """The address of the first element. A buffer tells it fastest, if there may be one: not of
        an array that is read-only, or not contiguous."""
        try:
            return _address(_buffer(array))
        except (TypeError, ValueError, BufferError):
            return array.__array_interface__["data"][0]  # type: ignore[no-any-return]

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        native = self.native(dtype)
        place = next((n for n, array in enumerate(like) if array.shape == shape), None)
        if place is None or like[place].flags.c_contiguous:
            return maker(shape, native, "C")
        if like[place].flags.f_contiguous:
            return maker(shape, native, "F")
        return lambda arrays: np.empty_like(arrays[place], dtype=native)

    def moved(self, array: Any, device: str) -> Any:
        """The array itself: there is one device."""
        return array

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        is_plain = target.flags.writeable and (0 not in target.strides or target.size < 2)
        return is_plain and all(
            not np.may_share_memory(target, array) or _is_same(target, array) for array in arrays
        )

    def halves_doubles_once(self, device: str) -> bool:
        """Always true."""
        return True

    def takes_mask(self, op: str) -> bool:
        """Whether a function takes where= or initial=: all that can, do."""
        return True

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """Writes into the array itself, or into a copy if another library lends its memory
        read-only."""
        array = array.copy() if _is_lent(array) else array
        array[key] = values
        return array

    def lies_in_rows(self, array: Any) -> bool:
        return bool(array.flags.c_contiguous)

    def extent(self, array: Any) -> tuple[int, int]:
        return extent(array.ctypes.data, array)

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


def _silent(function: Function) -> Function:
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


def _sized(value: int) -> int | float:
    """An integer that will become a float, as a number that NumPy has a dtype for."""
    return value if -(1 << 63) <= value < 1 << 64 else as_float(value)


def as_float(value: Any) -> float:
    """A number as float64; infinity if it is out of range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """Clips between two bounds; NaN where a bound is NaN, which NumPy 1 ignored."""
    found = np.array(x) if low is None else np.maximum(x, low)
    return found if high is None else np.minimum(found, high)


def _clip_itself(x: Any, low: Any = None, high: Any = None) -> Any:
    """NumPy's own, which takes either of two equal zeros as it likes."""
    return np.array(x) if low is None is high else np.clip(x, low, high)


def _ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    if y.dtype.kind not in "iu":
        return x * np.exp2(y)
    near = np.minimum(y, np.uint64(_FAR)) if y.dtype == np.uint64 else y
    return np.ldexp(x, np.clip(near.astype(np.int64), -_FAR, _FAR).astype(np.int32))


def _count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims))


def _determined(function: Function, x: Any) -> Any:
    """NumPy's result for a matrix, without the false warnings it gives for complex ones on ARM."""
    if x.dtype.kind != "c":
        return function(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return function(x)


@functools.cache
def _functions() -> dict[str, Function]:
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


NUMPY = NumPy()  # other backends make their arrays with it


def backend() -> Backend:
    """The NumPy backend."""
    return NUMPY
