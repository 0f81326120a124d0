"""torch's arrays: how they are made, cast, written and read."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import array_api_compat.torch as standard
import torch

from castwise.errors import UsageError
from castwise.execute.backend import backend_named, lacking
from castwise.execute.backends.torch.functions import function_in
from castwise.execute.backends.torch.mixed import ONE_PASS, mixed_function
from castwise.execute.backends.torch.unsigned import unsigned_function
from castwise.execute.backends.torch.writing import writer
from castwise.execute.steps.steps import Steps, Writer
from castwise.execute.values.adapting import adapted
from castwise.kernels.layouts import Place
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar

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


class Torch:
    """The backend."""

    name = "torch"
    speaks = "torch"
    namespace = standard
    plain = torch.Tensor
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
        """Whether something is a torch tensor."""
        return isinstance(thing, torch.Tensor)

    def is_concrete(self, array: Any) -> bool:
        """Whether it has values. Meta tensors, the tensors of torch's tracers and the wrappers of
        torch.func have none."""
        is_alone = not torch._C._functorch.is_functorch_wrapped_tensor(array)
        return is_alone and array.device.type != "meta" and type(array).__name__ not in _TRACED

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array."""
        return self._dtypes.get(array.dtype) or to_dtype(array.dtype)

    def native(self, dtype: DType) -> Any:
        """torch's own dtype object."""
        found = self._native.get(dtype)
        if found is None:
            raise lacking(dtype, self)
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
        numpy = backend_named("numpy")
        is_array = numpy.owns(data)
        wanted = dtype if dtype in numpy.dtypes and not is_array else None
        array = numpy.make(data, wanted, copy=None, device=None)
        held = numpy.dtype_of(array)
        if held not in self.dtypes:
            if dtype is None:
                raise lacking(held, self)
            held = dtype
            array = numpy.cast(array, held)
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
        native = self._native.get(dtype)
        if native is None:
            raise lacking(dtype, self)
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
            with torch.inference_mode(
                False
            ):  # it may be combined with tensors that record gradients later
                return self.number(value, dtype)
        native = self.native(dtype)
        if isinstance(value, complex) and dtype.kind in ("int", "float"):
            value = value.real
        if dtype.kind == "int":
            return _integer(value, dtype).view(native)
        if dtype.kind == "float":
            value = _as_float(value)
        return torch.tensor(value, dtype=native, device="cpu")

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """torch's function; for large unsigned integers, one that computes on signed ones."""
        if dtype.name in ("uint32", "uint64"):
            return unsigned_function(op, self.native(dtype))
        return function_in(op, dtype)

    def whole(self, steps: Steps) -> Callable[..., Any] | None:
        """Casts and computation in one call, if torch's own promotion equals the decision."""
        return mixed_function(steps, self)

    def into(self, steps: Steps, run: Callable[..., Any], has_kernel: bool) -> Writer | None:
        """torch's own out=, for ops whose bits do not depend on it."""
        return writer(steps, self)

    def moved(self, array: Any, device: str) -> Any:
        """The array on another device."""
        return array.to(device, non_blocking=True)

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        """Whether each element can be written as soon as it is computed."""
        is_plain = not target.requires_grad and not target.is_inference()
        is_plain = is_plain and (0 not in target.stride() or target.numel() < 2)
        return is_plain and all(_is_same_or_apart(target, array) for array in arrays)

    def wrote(self, target: Any) -> None:
        """Counts the write, as torch itself does for gradients that were recorded before."""
        torch.autograd.graph.increment_version(target)

    def halves_doubles_once(self, device: str) -> bool:
        """Whether torch rounds float64 to float16 once, which depends on how it was built."""
        return _halves_doubles_once(device)

    def is_as_fast(self, steps: Steps) -> bool:
        """Whether torch computes an op in one pass, in vectors and on all threads: if nothing is
        cast, and it is not about small floats or bools."""
        held = steps.compute
        is_wide = held.kind == "int" or (held.kind == "float" and held.bits >= 32)
        is_cast = any(entry and not entry.is_number for entry in steps.entries)
        is_one = is_wide and not is_cast and steps.op in ONE_PASS
        function = self.function(steps.op, held) if is_one else None
        if function is None:
            return False
        return adapted(function, self, steps.op, held, steps.values) is function

    def by_size(
        self, small: Callable[..., Any], large: Callable[..., Any], least: int
    ) -> Callable[..., Any]:
        """A function of two tensors that looks at their sizes first."""
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
        """The address of the first element."""
        return array.data_ptr()  # type: ignore[no-any-return]

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        """A function that makes new tensors, in the order of the first one that has the shape."""
        native, device = self.native(dtype), _device(like)
        place = next((n for n, array in enumerate(like) if array.shape == shape), None)
        if place is None or like[place].is_contiguous():
            return lambda arrays: torch.empty(shape, dtype=native, device=device)
        return lambda arrays: torch.empty_like(arrays[place], dtype=native, requires_grad=False)

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
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
        numpy, bits = backend_named("numpy"), self._as_bits.get(array.dtype)
        if bits is None:
            return array.numpy(force=True)
        held = self._dtypes[array.dtype]
        if held not in numpy.dtypes:
            return array.type(torch.complex64).numpy(
                force=True
            )  # older versions of ml_dtypes lack complex32
        return array.detach().resolve_conj().view(bits).numpy(force=True).view(numpy.native(held))

    def requires_gradient(self, array: Any) -> bool:
        """Whether a gradient reaches an array."""
        return bool(array.requires_grad)

    def require_gradient(self, array: Any, required: bool) -> None:
        """Marks an array, in place."""
        array.requires_grad_(required)

    def go_back(self, array: Any, gradient: Any) -> None:
        """torch's own backward."""
        array.backward(gradient)

    def gradient_of(self, array: Any) -> Any:
        """The accumulated gradient of a leaf array, or of one that retains it."""
        return array.grad if array.is_leaf or array.retains_grad else None

    def detached(self, array: Any) -> Any:
        """An array of the same memory that no gradient reaches."""
        return array.detach()


@functools.cache
def _halves_doubles_once(device: str) -> bool:
    number = 1 + 2.0**-11 + 2.0**-40  # rounded to float32 first, it is a tie
    halves = torch.full((64,), number, dtype=torch.float64, device=device).to(torch.float16)
    return bool((halves > 1).all())


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


def _device(arrays: Sequence[Any]) -> Any:
    """The device of arrays; a 0-d one on the CPU computes with those on any."""
    return next((array.device for array in arrays if array.ndim), arrays[0].device)


def _places(key: Any) -> Any:
    """An index whose masks are replaced by the positions they select."""
    if not isinstance(key, tuple):
        key = (key,)
    found: list[Any] = []
    for part in key:
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
    low = value & ((1 << dtype.bits) - 1)
    signed = low - (1 << dtype.bits) if low >> (dtype.bits - 1) else low
    return torch.tensor(signed, dtype=native, device="cpu")


def _as_float(value: Any) -> float:
    """A number as float64; infinity if it is out of range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
