"""torch, on any of its devices."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import array_api_compat.torch as standard
import torch

from castwise.arrays.backend import Backend, lacking
from castwise.arrays.backends.numpy import NUMPY, are_apart, as_float
from castwise.arrays.backends.torch_functions import COMPUTED, function_in, own_function_in
from castwise.arrays.functions import Function, function_for
from castwise.arrays.steps import Casting, Steps, Writer
from castwise.arrays.values import adapted
from castwise.errors import UsageError
from castwise.kernels.program import SIGNED, Place, wrapped
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar


def backend() -> Backend:
    """The torch backend."""
    return Torch()


# Ops on two dtypes that torch itself promotes to the decided dtype: its kernels cast on the
# fly.

_COMPARES = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_PROMOTES = _COMPARES | {"add", "sub", "mul", "div", "maximum", "minimum"}
# Ops that torch computes in one pass over memory.
_ONE_PASS = _PROMOTES | {
    "abs", "neg", "square", "floor", "ceil", "trunc", "round", "reciprocal", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_not", "where", "relu",
}  # fmt: skip


def _torch_agrees(steps: Steps, backend: Backend) -> bool:
    """Whether two arrays are cast to the dtype that torch computes in, with no other cast."""
    sources = _sources(steps)
    # torch refuses bool operands in sub
    is_known = all(s and s.kind != "bool" and s.name in COMPUTED for s in sources)
    if not is_known or not any(steps.entries):
        return False
    joined = torch.promote_types(*[backend.native(source) for source in sources if source])
    is_result = steps.op in _COMPARES or steps.result is steps.compute
    return is_result and joined is backend.native(steps.compute)


def _sources(steps: Steps) -> list[DType | None]:
    """The dtypes of the arrays; None for a number, or for an operand cast to another dtype."""
    return [
        steps.compute if entry is None
        else entry.source if entry.dtype is steps.compute and not entry.through
        else None
        for entry in steps.entries
    ]  # fmt: skip


# Ops whose result torch writes straight into a tensor on the CPU.

_LEAST = 1 << 15  # elements; for fewer, memory does not matter
# These round once, to the nearest number, whatever the layout of the tensors, and never raise.
_FUNCTIONS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "neg": torch.neg,
    "abs": torch.abs, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
}  # fmt: skip


def _takes(target: Any, arrays: Sequence[Any], native: Any) -> bool:
    """Whether a target is a plain, large tensor with the dtype and the shape of the result, and no
    tensor has a gradient or shares a part of the target's memory."""
    if type(target) is not torch.Tensor or target.numel() < _LEAST or target.dtype is not native:
        return False
    if torch.compiler.is_compiling() or not target.is_cpu or target.is_neg():
        return False
    if not all(type(a) is torch.Tensor and _is_plain(a) for a in (target, *arrays)):
        return False
    if not are_apart(target.shape, target.stride(), 1):
        return False
    if not all(_is_same_or_elsewhere(target, a) for a in arrays):
        return False
    return _gives_shape(target.shape, [array.shape for array in arrays])


def _gives_shape(shape: Sequence[int], shapes: Sequence[Sequence[int]]) -> bool:
    """Whether shapes broadcast to a shape. torch's own function for it loads half of its tracer."""
    if any(len(one) > len(shape) for one in shapes):
        return False
    full = [(1,) * (len(shape) - len(one)) + tuple(one) for one in shapes]
    sizes = [set(along) for along in zip(*full, strict=True)]
    return all({n} <= some <= {1, n} for n, some in zip(shape, sizes, strict=True))


def _is_plain(array: Any) -> bool:
    return array.is_cpu and not array.requires_grad and array.layout is torch.strided


def _is_same_or_elsewhere(target: Any, array: Any) -> bool:
    """Whether an array is the target itself, or in other memory: torch refuses anything between."""
    one, other = target.untyped_storage(), array.untyped_storage()
    if one.data_ptr() != other.data_ptr():
        return True
    has_same_form = (target.shape, target.stride()) == (array.shape, array.stride())
    return target.data_ptr() == array.data_ptr() and has_same_form and target.dtype is array.dtype


# uint32 and uint64, for which torch has casts and little else, computed on int64.
#
# uint32 is computed on its values. uint64 is computed on its bits: sums and products are the same
# with and without a sign, the order is the same once the highest bit is flipped, and the rest is
# written here.

_INT64 = dtype_named("int64")
_HIGHEST = -(1 << 63)  # only the highest bit
_REST = (1 << 63) - 1  # the others
# Ops that torch itself has for every unsigned dtype.
_OWN = frozenset({
    "where", "concat", "stack", "positive", "conj", "real", "floor", "ceil", "round", "trunc",
    "isnan", "isinf", "isfinite", "signbit", "isclose", "allclose",
})  # fmt: skip
_NOT_NUMBERS = frozenset({"argmax", "argmin", "count_nonzero"})  # they return indices and counts
_ORDERED = frozenset({
    "lt", "le", "gt", "ge", "maximum", "minimum", "fmax", "fmin", "max", "min", "argmax", "argmin",
    "clamp", "clamp_min", "clamp_max",
})  # fmt: skip
_SAME_BITS = frozenset({
    "add", "sub", "rsub", "mul", "neg", "square", "addcmul", "eq", "ne", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_not", "bitwise_left_shift", "matmul", "dot", "outer", "inner", "vecdot", "cross",
    "kron", "sum", "prod", "cumsum", "cumprod", "any", "all", "count_nonzero", "imag",
})  # fmt: skip


# Ops that castwise composes, of functions that torch does not have for these dtypes.
_COMPOSED: dict[str, Function] = {
    "rsub": lambda x, y: torch.sub(y, x), "clamp_min": torch.maximum, "clamp_max": torch.minimum,
}  # fmt: skip
_QUOTIENTS = frozenset({"floor_div", "truncate_div"})  # as any quotient of numbers without a sign


def _unsigned_function(op: str, native: Any) -> Function | None:
    """The function for an op on torch's uint32 or uint64."""
    op = "floor_divide" if op in _QUOTIENTS else op
    plain = _COMPOSED.get(op) or function_in(op, _INT64)
    if op in _OWN:
        return plain
    if native is torch.uint32 or (plain and op in _SAME_BITS):
        return plain and _on_int64(plain, op, native)
    if op in _ORDERED and plain:
        return _on_int64(plain, op, native, is_flipped=True)
    own = _OWN_KERNELS.get(op)
    return own and _on_int64(own, op, native)


def _on_int64(function: Function, op: str, native: Any, *, is_flipped: bool = False) -> Function:
    """A function of int64 for arrays that are converted before and after."""

    def enter(x: Any) -> Any:
        if native is torch.uint32:
            return x.type(torch.int64)
        bits = x.view(torch.int64)
        return bits ^ _HIGHEST if is_flipped else bits

    def computed(*arrays: Any, **options: Any) -> Any:
        result = function(*map(enter, arrays), **options)
        if result.dtype is not torch.int64 or op in _NOT_NUMBERS:
            return result
        if native is torch.uint32:
            return result.type(native)
        return (result ^ _HIGHEST if is_flipped else result).view(native)

    return computed


def _is_below(x: Any, y: Any) -> Any:
    return (x ^ _HIGHEST) < (y ^ _HIGHEST)


def _floor_divide(x: Any, y: Any) -> Any:
    """Half the dividend fits a signed number: its quotient, doubled, is right or one too small."""
    is_large = y < 0  # 2**63 or more fits into any number at most once
    divisor = torch.where(is_large, torch.ones_like(y), y)
    quotient = torch.floor_divide((x >> 1) & _REST, divisor) << 1
    quotient = quotient + ~_is_below(x - quotient * divisor, divisor)
    return torch.where(is_large, (~_is_below(x, y)).type(torch.int64), quotient)


def _remainder(x: Any, y: Any) -> Any:
    return x - _floor_divide(x, y) * y


def _right_shift(x: Any, y: Any) -> Any:
    """Shifts in zeros from the left; torch's shift of signed numbers shifts in the sign."""
    count = torch.where(_is_below(y, torch.full_like(y, 64)), y, torch.full_like(y, 64))
    first = ((x >> 1) & _REST) >> (count - 1)
    return torch.where(count == 0, x, first)


def _pow(x: Any, y: Any) -> Any:
    """The highest bit of the exponent is handled as the square of the power of 2**62."""
    power = torch.pow(x, y & _REST)
    root = torch.pow(x, 1 << 62)
    return torch.where(y < 0, power * root * root, power)


def _threshold(x: Any, *, threshold: float = 0, value: float = 0) -> Any:
    """The numbers above a threshold, which may be no integer, and another value for the rest."""
    limit = min(math.floor(threshold), (1 << 64) - 1)
    if limit < 0:
        return x.clone()
    least, new = (torch.full_like(x, _as_signed(n)) for n in (limit, int(value)))
    return torch.where(_is_below(least, x), x, new)


def _as_signed(number: int) -> int:
    """The int64 with the bits of a uint64."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


_OWN_KERNELS: dict[str, Function] = {
    "floor_divide": _floor_divide, "remainder": _remainder, "fmod": _remainder,
    "bitwise_right_shift": _right_shift, "pow": _pow, "abs": torch.clone, "relu": torch.clone,
    "threshold": _threshold,
    "heaviside": lambda x, y: torch.where(x == 0, y, torch.ones_like(x)),
    "sign": lambda x: (x != 0).type(torch.int64),
}  # fmt: skip

# torch's arrays: how they are made, cast, written and read.

_BYTE = 8  # torch names smaller integers, but cannot compute with them or cast them
_SIGNED = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_NOT_NUMPYS_OWN = ("bfloat16", "complex32")
_METHODS: dict[DType, Callable[[Any], Any]] = {
    dtype_named(name): getattr(torch.Tensor, method)
    for name, method in {
        "bool": "bool", "int8": "char", "int16": "short", "int32": "int", "int64": "long",
        "uint8": "byte", "float16": "half", "bfloat16": "bfloat16", "float32": "float",
        "float64": "double", "complex64": "cfloat", "complex128": "cdouble",
    }.items()
}  # fmt: skip
_TRACED = ("FakeTensor", "FunctionalTensor")  # the tensors of torch's own tracers


@functools.cache
def _halves_doubles_once(device: str) -> bool:
    """Whether torch rounds float64 to float16 once, which depends on how it was built."""
    number = 1 + 2.0**-11 + 2.0**-40  # rounded to float32 first, it is a tie
    halves = torch.full((64,), number, dtype=torch.float64, device=device).to(torch.float16)
    return bool((halves > 1).all())


class Torch:
    """The backend."""

    name = "torch"
    speaks = "torch"
    namespace = standard
    plain = torch.Tensor
    halves_doubles_once = staticmethod(_halves_doubles_once)
    takes_alpha = True
    takes_exponents = True  # its pow has special kernels for them
    # Beyond their range torch gives their limits, or NaN, by what it casts from.
    own_casts = frozenset(map(dtype_named, ("float8_e4m3fn", "float8_e8m0fnu")))

    def __init__(self) -> None:
        found = {d: getattr(torch, d.name, None) for d in DTYPES if d.bits >= _BYTE or d.rank == 0}
        self._native = {d: native for d, native in found.items() if native is not None}
        self._dtypes = {native: d for d, native in self._native.items()}
        self.dtypes = frozenset(self._native)
        with warnings.catch_warnings():
            # The first array warns that few functions accept it; castwise computes in complex64.
            warnings.simplefilter("ignore")
            torch.empty(0, dtype=torch.complex32, device="cpu")
        # dtypes whose elements are moved between torch and NumPy as integers of the same size
        self._as_bits = {
            native: _SIGNED[d.bits]
            for d, native in self._native.items()
            if (d.kind == "float" and d.bits <= _BYTE) or d.name in _NOT_NUMPYS_OWN
        }

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, torch.Tensor)

    def is_concrete(self, array: Any) -> bool:
        """Whether it has values. Meta tensors, the tensors of torch's tracers and the wrappers of
        torch.func have none."""
        is_alone = not torch._C._functorch.is_functorch_wrapped_tensor(array)
        return is_alone and array.device.type != "meta" and type(array).__name__ not in _TRACED

    def dtype_of(self, array: Any) -> DType:
        return self._dtypes.get(array.dtype) or to_dtype(array.dtype)

    def native(self, dtype: DType) -> Any:
        found = self._native.get(dtype)
        if found is None:
            raise lacking(dtype, self.name)
        return found

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array of numbers, nested lists, a NumPy array or a torch tensor."""
        if self.owns(data):
            array, place = data, data.device
        else:
            array, place = self._from_numpy(data, dtype), torch.get_default_device()
        place = place if device is None else torch.device(device)
        target = self.dtype_of(array) if dtype is None else dtype
        made = array if place == array.device else array.to(place)
        if self.dtype_of(made) is not target:
            made = self.cast(made, target)
        is_shared = made is array and (array is data or _shares_memory(array, data))
        if copy is False and not is_shared:
            raise ValueError(
                f"this can only become a torch {target} array on {made.device} by a copy."
            )
        return made.clone() if copy and is_shared else made

    def _from_numpy(self, data: Any, dtype: DType | None) -> Any:
        """A CPU tensor of what NumPy can hold, sharing its memory if possible."""
        is_array = NUMPY.owns(data)
        wanted = dtype if dtype in NUMPY.dtypes and not is_array else None
        array = NUMPY.make(data, wanted, copy=None, device=None)
        held = NUMPY.dtype_of(array)
        if held not in self.dtypes:
            if dtype is None:
                raise lacking(held, self.name)
            held, array = dtype, NUMPY.cast(array, dtype)
        if not array.flags.writeable or min(array.strides, default=0) < 0:
            array = array.copy()
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        native = self.native(held)
        bits = self._as_bits.get(native)
        if bits is None:
            return torch.from_numpy(array)
        return torch.from_numpy(array.view(f"i{array.itemsize}")).view(native)

    def cast(self, array: Any, dtype: DType) -> Any:
        """A copy of the array in a dtype; out-of-range values convert as in torch."""
        native = self.native(dtype)
        if array.dtype is native:
            return array.clone()
        if array.is_complex() and not native.is_complex:
            # an imaginary part counts for bool; otherwise it is dropped, as the decision reports
            return array != 0 if native is torch.bool else array.real.to(native, copy=True)
        return array.type(native)

    def caster(self, source: DType, target: DType) -> Callable[[Any], Any]:
        """torch's own method if it has one, because no Python function is faster."""
        drops_imaginary = source.kind == "complex" and target.kind != "complex"
        method = _METHODS.get(target)
        if method is None or drops_imaginary or source is target:
            return lambda array: self.cast(array, target)
        return method

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A 0-d tensor on the CPU, which computes with tensors on any device."""
        if torch.is_inference_mode_enabled():
            # It may be combined with tensors that record gradients later.
            with torch.inference_mode(False):
                return self.number(value, dtype)
        native = self.native(dtype)
        if isinstance(value, complex) and dtype.kind in ("int", "float"):
            value = value.real
        if dtype.kind == "int":
            return _integer(value, dtype).view(native)
        if dtype.kind == "float":
            value = as_float(value)
        return torch.tensor(value, dtype=native, device="cpu")

    def function(self, op: str, dtype: DType) -> Function | None:
        """torch's function; for large unsigned integers, one that computes on signed ones."""
        if dtype.name in ("uint32", "uint64"):
            return _unsigned_function(op, self.native(dtype))
        return function_in(op, dtype)

    def casting(self, steps: Steps) -> Casting | None:
        """A sum of a Python number and complex numbers: torch takes the array first, because it
        multiplies what it adds by one, which makes NaN of an infinity."""
        first = steps.entries[0] if steps.op == "add" and len(steps.entries) == 2 else None
        if first is None or not first.is_number or steps.compute.kind != "complex":
            return None
        add = adapted(function_for(self, "add", steps.compute), self, "add", steps.compute,
                      steps.values)  # fmt: skip
        return (lambda number, array: add(array, number)), steps.entry_casts(self)

    def itself(self, op: str, compute: DType) -> Function | None:
        """torch's function for 16-bit floats, whatever it rounds on its way."""
        return own_function_in(op, compute)

    def whole(self, steps: Steps) -> Function | None:
        """Casts and computation in one call, if torch's own promotion equals the decision."""
        # Complex numbers are ordered by castwise itself.
        is_torchs = steps.op in _PROMOTES and steps.compute.kind != "complex"
        function = function_in(steps.op, steps.compute) if is_torchs else None
        if function is None or not _torch_agrees(steps, self):
            return None
        if adapted(function, self, steps.op, steps.compute, steps.values) is not function:
            return None  # a value rule differs from torch's
        left, right = steps.entry_casts(self)

        def run(x: Any, y: Any, **options: Any) -> Any:
            if x.ndim and y.ndim:
                return function(x, y, **options)
            # with an array, torch ignores the dtype of a 0-d one, and the decision may not
            return function(left(x) if left else x, right(y) if right else y, **options)

        return run

    def into(self, steps: Steps, run: Function, has_kernel: bool) -> Writer | None:
        """torch's own out=, for ops whose bits do not depend on it."""
        function, compute = _FUNCTIONS.get(steps.op), steps.compute
        if function is None or compute.kind == "complex" or compute.name not in COMPUTED:
            return None
        own = function_in(steps.op, compute)
        if own is None or steps.composed or steps.result is not compute:
            return None
        if adapted(own, self, steps.op, compute, steps.values) is not own:
            return None  # a value rule differs from torch's
        casts, native = steps.entry_casts(self), self.native(compute)
        is_mixed = len(casts) == 2 and _torch_agrees(steps, self)

        def write(target: Any, operands: Sequence[Any]) -> bool:
            arrays = [o for o in operands if isinstance(o, torch.Tensor)]
            if not _takes(target, arrays, native) or not all(map(self.is_concrete, arrays)):
                return False
            if is_mixed and all(array.ndim for array in arrays):
                function(*operands, out=target)
                return True
            entered = [cast(o) if cast else o for cast, o in zip(casts, operands, strict=True)]
            function(*entered, out=target)
            return True

        return write

    def moved(self, array: Any, device: str) -> Any:
        return array.to(device, non_blocking=True)

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        is_plain = not target.requires_grad and not target.is_inference()
        is_plain = is_plain and (0 not in target.stride() or target.numel() < 2)
        return is_plain and all(_is_same_or_apart(target, array) for array in arrays)

    def wrote(self, target: Any) -> None:
        """Counts the write, as torch itself does for gradients that were recorded before."""
        torch.autograd.graph.increment_version(target)

    def is_as_fast(self, steps: Steps) -> bool:
        """Whether torch computes an op in one pass, in vectors and on all threads: if nothing is
        cast, and it is not about small floats or bools."""
        held = steps.compute
        is_wide = held.kind == "int" or (held.kind == "float" and held.bits >= 32)
        is_cast = any(entry and not entry.is_number for entry in steps.entries)
        is_one = is_wide and not is_cast and steps.op in _ONE_PASS
        function = self.function(steps.op, held) if is_one else None
        if function is None:
            return False
        return adapted(function, self, steps.op, held, steps.values) is function

    def by_size(self, small: Function, large: Function, least: int) -> Function:
        size = self.size_of
        return lambda x, y: small(x, y) if size(x) < least > size(y) else large(x, y)

    def size_of(self, array: Any) -> int:
        """How many elements a tensor has; 0 for subclasses, such as those of torch's tracers."""
        return array.numel() if type(array) is torch.Tensor else 0

    def as_array(self, number: Any) -> Any:
        """A number already is a 0-d tensor."""
        return number

    def place(self, array: Any) -> Place | None:
        """How the elements lie in memory. Nothing that torch itself would notice goes past it:
        gradients, other devices and layouts, wrappers, and modes that watch each op."""
        is_plain = (
            type(array) is torch.Tensor
            and array.device.type in ("cpu", "cuda")
            and array.layout is torch.strided
            and not (array.requires_grad and torch.is_grad_enabled())
            and not array.is_neg()
            and not torch._C._len_torch_dispatch_stack()
        )
        if not is_plain or not self.is_concrete(array):
            return None
        if array.device.type == "cuda" and array.device.index != torch.cuda.current_device():
            return None
        size = array.element_size()
        strides = tuple([n * size for n in array.stride()])
        return Place(tuple(array.shape), strides, str(array.device))

    def address(self, array: Any) -> int:
        return array.data_ptr()  # type: ignore[no-any-return]

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        native = self.native(dtype)
        # A 0-d array on the CPU computes with those on any device.
        device = next((array.device for array in like if array.ndim), like[0].device)
        place = next((n for n, array in enumerate(like) if array.shape == shape), None)
        if place is None or like[place].is_contiguous():
            return lambda arrays: torch.empty(shape, dtype=native, device=device)
        return lambda arrays: torch.empty_like(arrays[place], dtype=native, requires_grad=False)

    def read(self, array: Any, key: Any) -> Any:
        return array[key]

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """Writes into the array itself."""
        if key is ...:
            # Expanded first, as in torch's own assignment: copy_ refuses a part of the array.
            return array.copy_(values.expand(array.shape))
        stand_in = self._written_as(array.dtype)
        if stand_in is None:
            array[key] = values
        elif torch.is_grad_enabled() and (array.requires_grad or values.requires_grad):
            array[_places(key)] = values  # integers have no gradient
        else:
            array.view(stand_in)[key] = values.view(stand_in)
        return array

    def lies_in_rows(self, array: Any) -> bool:
        return bool(array.is_contiguous())

    def extent(self, array: Any) -> tuple[int, int]:
        first = array.data_ptr()
        reach = sum([(n - 1) * step for n, step in zip(array.shape, array.stride(), strict=True)])
        return first, first + (reach + 1) * array.element_size() if array.numel() else first

    def resize(self, array: Any, shape: tuple[int, ...]) -> Any:
        """The array itself, resized to a shape.

        Raises UsageError if its memory does not belong to torch.
        """
        try:
            return array.resize_(shape)
        except RuntimeError as error:
            raise UsageError(f"out= cannot be resized to {shape}: {error}.") from None

    def _written_as(self, native: Any) -> Any:
        """The integer dtype that replaces a dtype without a kernel for masked writes."""
        dtype = self._dtypes[native]
        if dtype.name == "bfloat16":
            return None  # only NumPy lacks it
        is_large_unsigned = dtype.kind == "int" and not dtype.is_signed and dtype.bits > _BYTE
        return _SIGNED[dtype.bits] if is_large_unsigned else self._as_bits.get(native)

    def to_numpy(self, array: Any) -> Any:
        """The values, in the same memory if it is on the CPU and NumPy has the dtype."""
        if not self.is_concrete(array):
            raise UsageError("this tensor has a shape and a dtype, but no values to read.")
        bits = self._as_bits.get(array.dtype)
        if bits is None:
            return array.numpy(force=True)
        held = self._dtypes[array.dtype]
        if held not in NUMPY.dtypes:
            # Older versions of ml_dtypes lack complex32.
            return array.type(torch.complex64).numpy(force=True)
        return array.detach().resolve_conj().view(bits).numpy(force=True).view(NUMPY.native(held))

    def requires_gradient(self, array: Any) -> bool:
        return bool(array.requires_grad)

    def require_gradient(self, array: Any, required: bool) -> None:
        """Marks an array, in place."""
        array.requires_grad_(required)

    def go_back(self, array: Any, gradient: Any) -> None:
        """torch's own backward."""
        array.backward(gradient)

    def accumulated_gradient(self, array: Any) -> Any:
        """The accumulated gradient of a leaf array, or of one that retains it."""
        return array.grad if array.is_leaf or array.retains_grad else None

    def detached(self, array: Any) -> Any:
        return array.detach()


def _is_same_or_apart(one: Any, other: Any) -> bool:
    """Whether two tensors are the same elements in the same order, or share no memory."""
    if one.data_ptr() == other.data_ptr() and one.shape == other.shape:
        return bool(one.stride() == other.stride())
    (start, end), (begin, stop) = _extent(one), _extent(other)
    return end <= begin or stop <= start


def _extent(array: Any) -> tuple[int, int]:
    """The addresses between which the elements of a tensor are."""
    steps = zip(array.shape, array.stride(), strict=True)
    last = sum((length - 1) * stride for length, stride in steps) if array.numel() else -1
    return array.data_ptr(), array.data_ptr() + (last + 1) * array.element_size()


def _places(key: Any) -> Any:
    """An index whose masks are replaced by the positions they select."""
    found: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        is_mask = isinstance(part, torch.Tensor) and part.ndim and part.dtype is torch.bool
        found.extend(part.nonzero(as_tuple=True) if is_mask else [part])
    return tuple(found)


def _shares_memory(tensor: Any, data: Any) -> bool:
    """Whether a tensor shares the memory of the data it was made from."""
    interface = getattr(data, "__array_interface__", None)
    return interface is not None and interface["data"][0] == tensor.data_ptr()


def _integer(value: Any, dtype: DType) -> Any:
    """A 0-d tensor of signed integers with the bits of a number, modulo the dtype's width."""
    native = _SIGNED[dtype.bits]
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64, device="cpu").type(native)
    return torch.tensor(wrapped(value, SIGNED[dtype.bits]), dtype=native, device="cpu")
