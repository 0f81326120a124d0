"""CuPy: NumPy's functions on a GPU, with custom kernels where CuPy's results differ."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import array_api_compat.cupy as standard
import cupy
import numpy as np

from castwise.arrays.backend import Backend
from castwise.arrays.backends.numpy import NUMPY, OfNumPysDtypes, extent
from castwise.arrays.functions import Function, standard_name
from castwise.arrays.steps import Steps
from castwise.catalog import dialect_named
from castwise.errors import UsageError
from castwise.kernels.program import Place
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS

_SMALL = 32  # below this many bits functions made of several kernels round in between
# Ops that CuPy lists for these kinds but refuses, or computes without NaN for complex numbers.
_NOT_FOR = {
    "bool": frozenset({"sub", "neg", "positive", "cross"}),
    "complex": frozenset({"atan2", "hypot", "copysign", "nextafter", "fmax", "fmin"}),
}
_BY_RECIPE = frozenset({"median", "isclose", "allclose", "ldexp"})  # like the other backends
_BFLOAT16 = "bfloat16"


class CuPy(OfNumPysDtypes):
    """The backend."""

    name = "cupy"
    speaks = "numpy"
    namespace = standard
    # A GPU converts out-of-range floats as no framework does.
    values = replace(
        dialect_named(speaks).values,
        powers=replace(dialect_named(speaks).values.powers, of_integers="negative truncates"),
        casting=replace(dialect_named(speaks).values.casting, float_to_int="its own"),
        memory=replace(dialect_named(speaks).values.memory, elements="views"),
    )

    def __init__(self) -> None:
        natives = {d: NUMPY.native(d) for d in DTYPES if d in NUMPY.dtypes}
        super().__init__({d: native for d, native in natives.items() if _is_held(native)})

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, cupy.ndarray)

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array of numbers, nested lists, a NumPy array or a CuPy array."""
        if dtype is not None:
            self.native(dtype)  # raises before NumPy would
        is_own = self.owns(data)
        made = data if is_own else self._on_host(data, dtype)
        if device is not None or not is_own:
            with cupy.cuda.Device(device):  # None: the current one
                made = cupy.asarray(made)
        if dtype is not None and self.dtype_of(made) is not dtype:
            made = self.cast(made, dtype)
        if copy is False and made is not data:
            raise ValueError(f"this can only become a CuPy {made.dtype} array by a copy.")
        return made.copy() if copy and made is data else made

    def _on_host(self, data: Any, dtype: DType | None) -> Any:
        """Numbers, lists or a NumPy array as a NumPy array, in a dtype that CuPy has."""
        array = data if NUMPY.owns(data) else NUMPY.make(data, dtype, copy=None, device=None)
        if dtype is not None and NUMPY.dtype_of(array) not in self.dtypes:
            array = NUMPY.cast(array, dtype)
        self.native(NUMPY.dtype_of(array))
        return array

    def cast(self, array: Any, dtype: DType) -> Any:
        """A copy of the array in a dtype; out-of-range values convert as the device does it."""
        native = self.native(dtype)
        if array.dtype.kind == "c" and native.kind != "c":
            array = array != 0 if native.kind == "b" else array.real  # without CuPy's warning
        return array.astype(native)

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A NumPy scalar, which a kernel takes without a separate transfer."""
        self.native(dtype)
        return NUMPY.number(value, dtype)

    def function(self, op: str, dtype: DType) -> Function | None:
        """CuPy's function or a kernel; None if it lacks the dtype or rounds more than once."""
        if op in _MOVES:
            return _MOVES[op]
        if op in LAYERS or op in _BY_RECIPE or op in _NOT_FOR.get(dtype.kind, ()):
            return None
        own = _OWN_KERNELS.get((dtype.kind, op))
        if own is not None:
            is_small = dtype.kind == "float" and dtype.bits < _SMALL and op != "nextafter"
            return None if is_small else own
        found = _NAMED.get(op) or getattr(standard, standard_name(op), None)
        if isinstance(found, cupy.ufunc):
            return found if _has_loop(found, self.native(dtype)) else None
        return found if dtype.bits >= _SMALL else None

    def is_as_fast(self, steps: Steps) -> bool:
        """Whether CuPy computes an op in one pass: if no array is cast, and no float is small."""
        is_cast = any(entry and not entry.is_number for entry in steps.entries)
        return not is_cast and steps.compute.bits >= _SMALL and steps.values == self.values

    def place(self, array: Any) -> Place | None:
        """How the elements lie in memory; None for another device, or another stream than the one
        that all libraries share. A number is still on the host."""
        if type(array) is np.ndarray and not array.shape:
            return Place((), ())
        is_here = type(array) is cupy.ndarray and array.device == cupy.cuda.Device()
        if not is_here or cupy.cuda.get_current_stream().ptr or not _has_torch():
            return None
        return Place(array.shape, array.strides, f"cuda:{array.device.id}")

    def address(self, array: Any) -> int:
        return array.data.ptr  # type: ignore[no-any-return]

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        full = next((array for array in like if array.shape == shape), None)
        is_turned = full is not None and full.flags.f_contiguous and not full.flags.c_contiguous
        native, order = self.native(dtype), "F" if is_turned else "C"
        return lambda arrays: cupy.empty(shape, native, order=order)

    def moved(self, array: Any, device: str) -> Any:
        """A number on the device. As a vector: CuPy fills a 0-d array, and -0.0 becomes 0.0."""
        return cupy.asarray(array.reshape(1)).reshape(())

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        """Whether each element can be written as soon as it is computed: if no array overlaps."""
        own = [array for array in arrays if type(array) is cupy.ndarray and array is not target]
        return 0 not in target.strides and not any(cupy.may_share_memory(target, a) for a in own)

    def halves_doubles_once(self, device: str) -> bool:
        """Whether CuPy rounds float64 to float16 once."""
        number = 1 + 2.0**-11 + 2.0**-40  # rounded to float32 first, it is a tie
        return bool(cupy.full(64, number, np.float64).astype(np.float16).min() > 1)

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """Writes into the array itself."""
        array[key] = values
        return array

    def lies_in_rows(self, array: Any) -> bool:
        return bool(array.flags.c_contiguous)

    def extent(self, array: Any) -> tuple[int, int]:
        return extent(array.data.ptr, array)

    def to_numpy(self, array: Any) -> Any:
        """The values, copied from the device."""
        return cupy.asnumpy(array)


@functools.cache
def _has_torch() -> bool:
    """Whether torch is installed, which Triton launches kernels with."""
    return importlib.util.find_spec("torch") is not None


def backend() -> Backend:
    """The backend; raises UsageError if there is no GPU."""
    if not cupy.cuda.is_available():
        raise UsageError("the backend cupy needs a GPU, and CuPy finds none here.")
    return CuPy()


def _is_held(native: Any) -> bool:
    """Whether CuPy has arrays of a dtype: NumPy's own dtypes, and bfloat16 in new versions."""
    is_bfloat16 = native.name == _BFLOAT16 and f"{native.char * 2}->{native.char}" in cupy.add.types
    return native.isbuiltin == 1 or is_bfloat16


def _has_loop(function: Any, native: Any) -> bool:
    """Whether a ufunc takes arrays of a dtype without casting them, or returns bool."""
    given = native.char * function.nin
    if native.kind != "c" and all(loop.endswith("->?") for loop in function.types):
        return True
    part = np.ones(1, native).real.dtype.char
    return not {f"{given}->{out}" for out in (native.char, part, "?")}.isdisjoint(function.types)


def _where(condition: Any, x: Any, y: Any) -> Any:
    """One or the other; for bfloat16, which CuPy's where lacks, by the bits."""
    if x.dtype.name != _BFLOAT16:
        return cupy.where(condition, x, y)
    return cupy.where(condition, x.view(np.int16), y.view(np.int16)).view(x.dtype)


def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x.copy() if low is None else cupy.maximum(x, low)
    return x if high is None else cupy.minimum(x, high)


def _running(function: Function) -> Function:
    """A cumulative sum or product, for which CuPy needs a dimension."""
    return lambda x, **options: function(cupy.atleast_1d(x), **options)


def _logical(function: Function) -> Function:
    """A function of whether numbers are zero, which CuPy lacks for some dtypes."""
    return lambda *arrays: function(*[array != 0 for array in arrays])


def _nextafter(x: Any, y: Any) -> Any:
    """By the bits: CuPy treats subnormal numbers as zero, and returns NaN next to infinity."""
    bits = np.dtype(f"i{x.dtype.itemsize}")
    infinity = np.asarray(np.inf).astype(x.dtype).view(bits)[()]
    return _next_bits(x.view(bits), y.view(bits), infinity).view(x.dtype)


def _power(x: Any, y: Any) -> Any:
    """In float64; some dialects leave the exponent an integer."""
    return _same_power(x, y) if x.dtype == y.dtype else _mixed_power(*map(cupy.asarray, (x, y)))


_of_one = functools.partial(cupy.ElementwiseKernel, "T x", "T z")
_of_two = functools.partial(cupy.ElementwiseKernel, "T x, T y", "T z")
# Bits as integers in the order of the floats; both zeros are 0.
_next_bits = cupy.ElementwiseKernel("T x, T y, T infinity", "T z", """
    const T sign = T(1) << (8 * sizeof(T) - 1);
    const T a = x < 0 ? -(x & ~sign) : x, b = y < 0 ? -(y & ~sign) : y;
    const T next = a < b ? a + 1 : a - 1;
    const bool is_nan = (x & ~sign) > infinity || (y & ~sign) > infinity;
    z = is_nan ? T(infinity + 1) : a == b ? y : next < 0 ? T(-next | sign) : next;
""")  # fmt: skip
_POWER = "z = pow(static_cast<double>(x), static_cast<double>(y))"
_same_power, _mixed_power = _of_two(_POWER), cupy.ElementwiseKernel("T x, U y", "T z", _POWER)
_is_shift = "static_cast<unsigned long long>(y) < 8 * sizeof(T)"  # neither negative nor too large
# (kind, op) -> the function to use where CuPy's differs, or is less exact.
_OWN_KERNELS: dict[tuple[str, str], Function] = {
    ("int", "fmod"): _of_two("z = y == 0 ? T(0) : T(x % y)"),
    ("int", "bitwise_left_shift"): _of_two(f"z = {_is_shift} ? T(x << y) : T(0)"),
    ("int", "bitwise_right_shift"): _of_two(f"z = {_is_shift} ? T(x >> y) : T(x < 0 ? -1 : 0)"),
    ("int", "reciprocal"): _of_one("""
        const bool has_sign = T(-1) < T(0) && sizeof(T) >= 4;  // of infinity as an integer
        z = x ? T(1 / x) : has_sign ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
    """),
    ("float", "remainder"): _of_two("""
        const T rest = fmod(x, y);
        z = rest == 0 ? copysign(T(0), y) : (y < 0) != (rest < 0) ? rest + y : rest;
    """),
    ("float", "floor_divide"): _of_two("""
        const T rest = fmod(x, y);
        const T quotient = (x - rest) / y - (rest != 0 && (y < 0) != (rest < 0));
        const T whole = floor(quotient);
        z = y == 0 ? x / y : quotient == 0 ? copysign(T(0), x / y)
            : whole + (quotient - whole > T(0.5));
    """),
    ("float", "pow"): _power,
    ("float", "float_power"): _power,
    ("float", "erf"): _of_one("z = erf(x)"),
    ("float", "gelu"): _of_one("z = x / 2 * (1 + erf(x * T(0.7071067811865476)))"),
    ("float", "nextafter"): _nextafter,
    ("float", "angle"): lambda x: cupy.arctan2(x.dtype.type(0), x),  # by the sign; NaN gives NaN
    # By the ratio of the divisor's parts, which may be infinite.
    ("complex", "div"): _of_two("""
        typedef typename T::value_type part;
        const part a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
        const bool is_first = fabs(c) >= fabs(d);
        const part ratio = c == 0 && d == 0 ? 0 : is_first ? d / c : c / d;
        const part size = is_first ? c + d * ratio : c * ratio + d;
        z = is_first ? T((a + b * ratio) / size, (b - a * ratio) / size)
                     : T((a * ratio + b) / size, (b * ratio - a) / size);
    """),
    **{(kind, f"logical_{name}"): _logical(getattr(cupy, f"logical_{name}"))
       for kind in ("int", "float", "complex") for name in ("and", "or", "xor", "not")},
}  # fmt: skip
_MOVES: dict[str, Function] = {"where": _where, "concat": cupy.concatenate, "stack": cupy.stack}
# Functions that the standard's namespace lacks, or has in another form than CuPy.
_NAMED: dict[str, Function] = {
    "clamp": _clamp, "clip_above": cupy.minimum, "sign": cupy.sign, "floor": cupy.floor,
    "ceil": cupy.ceil, "trunc": cupy.trunc, "cumsum": _running(standard.cumulative_sum),
    "cumprod": _running(standard.cumulative_prod),
}  # fmt: skip
