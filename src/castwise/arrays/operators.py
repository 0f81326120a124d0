"""What a tensor has beside its methods: in-place methods, what Python and libraries expect of an
array, and gradients."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Container, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from castwise import above
from castwise.arrays.apply import (
    apply_in_any_form,
    apply_op,
    apply_operator,
    augment,
    update,
)
from castwise.arrays.backend import Backend
from castwise.arrays.backends import DEFAULT_BACKEND, installed_backends
from castwise.arrays.calls import NoOperandError
from castwise.arrays.data import default_dtype
from castwise.arrays.elements import result_dtype
from castwise.arrays.kinds import TensorData, refusal
from castwise.arrays.own_functions import run_by_itself, runs_itself
from castwise.catalog import DEFAULT, dialect_named
from castwise.engine.ask import find_op
from castwise.errors import AxisError, CallError, NoNumberError, UsageError, is_raw
from castwise.vocab.ops import EXTENSIONS, OPS, Op

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor

Method: TypeAlias = "Callable[..., Tensor]"


def augmented(op: str) -> Method:
    """The operator `x += y` of an op."""

    def operator(self: Any, other: Any) -> Any:
        if other is None:
            return NotImplemented
        try:
            return augment(op, self, other)
        except NoOperandError:
            return NotImplemented

    return operator


def in_place(op: str) -> Method:
    """The method of an op that writes its result into the tensor."""

    def method(self: Any, *others: Any, **options: Any) -> Any:
        return update(op, self, *others, **options)

    method.__name__ = f"{op}_"
    method.__doc__ = f"`{op}` in place; returns the tensor itself."
    return method


class InPlace(TensorData):
    """The augmented operators, and a method for each op whose result may have the shape of its
    first operand. Type checkers know those that are listed here."""

    __slots__ = ()

    __iadd__ = augmented("add")
    __isub__ = augmented("sub")
    __imul__ = augmented("mul")
    __itruediv__ = augmented("div")
    __ifloordiv__ = augmented("floor_divide")
    __imod__ = augmented("remainder")
    __ipow__ = augmented("pow")
    __imatmul__ = augmented("matmul")
    __iand__ = augmented("bitwise_and")
    __ior__ = augmented("bitwise_or")
    __ixor__ = augmented("bitwise_xor")
    __ilshift__ = augmented("bitwise_left_shift")
    __irshift__ = augmented("bitwise_right_shift")

    if TYPE_CHECKING:

        def add_(self, *others: Any, **options: Any) -> Tensor: ...

        sub_ = rsub_ = mul_ = div_ = floor_divide_ = remainder_ = fmod_ = real_div_ = add_
        multiply_no_nan_ = floor_div_ = truncate_div_ = div_no_nan_ = pow_ = float_power_ = add_
        addcmul_ = addcdiv_ = eq_ = ne_ = lt_ = le_ = gt_ = ge_ = isclose_ = logical_and_ = add_
        logical_or_ = logical_xor_ = logical_not_ = bitwise_and_ = bitwise_or_ = bitwise_xor_ = add_
        bitwise_left_shift_ = bitwise_right_shift_ = bitwise_not_ = maximum_ = minimum_ = add_
        fmax_ = fmin_ = atan2_ = hypot_ = logaddexp_ = logaddexp2_ = copysign_ = nextafter_ = add_
        ldexp_ = heaviside_ = xlogy_ = clamp_ = clamp_min_ = clamp_max_ = lerp_ = abs_ = neg_ = add_
        positive_ = square_ = conj_ = sign_ = floor_ = ceil_ = round_ = trunc_ = relu_ = add_
        threshold_ = real_ = imag_ = angle_ = exp_ = exp2_ = expm1_ = log_ = log2_ = log10_ = add_
        log1p_ = sqrt_ = rsqrt_ = sin_ = cos_ = tan_ = asin_ = acos_ = atan_ = sinh_ = cosh_ = add_
        tanh_ = asinh_ = acosh_ = atanh_ = sigmoid_ = reciprocal_ = cbrt_ = erf_ = degrees_ = add_
        radians_ = gelu_ = silu_ = softmax_ = log_softmax_ = isnan_ = isinf_ = isfinite_ = add_
        signbit_ = cumsum_ = cumprod_ = matmul_ = add_


_fitting = [name for name, row in OPS.items() if row.keeps_shape and not row.is_condition_first]
for _name in (*_fitting, "cumsum", "cumprod", "matmul"):
    setattr(InPlace, f"{_name}_", in_place(_name))

# A library's own functions on tensors. They run under the tensors' dialect, as castwise's op or
# function of that name, or raise an error that says what to write instead.

# An option's name in other libraries -> its name here.
_RENAMED = {
    "dim": "axis", "keepdim": "keepdims", "ddof": "correction", "a_min": "min", "a_max": "max"
}  # fmt: skip
_OPTIONS = frozenset({
    "axis", "keepdims", "correction", "reduction", "delta", "log_input", "rtol", "atol",
    "equal_nan", "out",
})  # fmt: skip
# With these, a library may take some of its steps in the elements' own dtype.
_INSIDE = frozenset({"dtype", "casting", "where", "initial", "decimals"})
_NOT_APPLIED = ("questions", "conversion")  # families of ops that compute nothing
_ATTRIBUTES = ("shape", "ndim", "size")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def called(name: str, function: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a library's function, such as numpy.mean, for tensors: of castwise's op or
    function of that name; of the library itself where castwise has none, if it can run.

    Raises CallError if neither is there.
    """
    library, _, tail = name.partition(".")
    if tail in _ATTRIBUTES and len(arguments) == 1 and not options:
        return getattr(arguments[0], tail)
    named = {_RENAMED.get(option, option): value for option, value in options.items()}
    row, places = _op(name), list(parameters(function))
    given = {*named, *places[1 : len(arguments)]}
    # Without a signature, only the library knows what the arguments after the operands mean.
    is_unnamed = row is not None and not places and len(arguments) > row.arity[1]
    try:
        if row is not None and not (_INSIDE & given or is_unnamed):
            return _applied(row, name, places, arguments, named)
    except CallError:
        if not _is_its_own(library, function, arguments, options):
            raise
    if _is_its_own(library, function, arguments, options):
        return run_by_itself(name, function, arguments, options)
    if tail == "result_type":
        return result_dtype(arguments, DEFAULT).to(library)
    if tail == "nan_to_num":
        words = places[1:] or ["nan", "posinf", "neginf"]
        numbers = dict(zip(words, arguments[1:], strict=False))
        return _without_nan(arguments[0], **numbers, **options)
    if row is not None:
        return _applied(row, name, places, arguments, named)
    return _moved(tail, name, places, arguments, named)


def _is_its_own(library: str, function: Any, arguments: Sequence[Any], options: Any) -> bool:
    """Whether a library's function runs by itself on tensors."""
    return callable(function) and runs_itself(library, arguments, options)


def _applied(
    row: Op, name: str, places: list[str], arguments: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of an op, or the tensor that it was written into."""
    is_joining = row.family == "joining"
    most = 1 if is_joining else row.arity[1]
    operands = arguments[0] if is_joining and arguments else arguments[:most]
    call = row.call
    places = places or ["x"] * most + list(call.parameters)  # a function without a signature
    known = {*_OPTIONS, *_INSIDE, *call.operands, *call.parameters, *call.takes}
    known |= {"alpha"} if call.takes_alpha else set()
    known -= {"decimals"} if row.name != "round" else set()
    options = _known(named | _by_name(name, places, arguments, most), known, name, row)
    decimals = options.pop("decimals", 0)
    if decimals:
        return rounded(operands[0], decimals)
    make = _first_tensor([*arguments, *options.values()])._of
    result = apply_in_any_form(make, row.name, tuple(operands), form="function", **options)
    out = options.get("out")
    return result if out is None else out


def _moved(
    tail: str, name: str, places: list[str], arguments: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of a function of the standard's namespace, under the dialect of its tensors."""
    first = _first_tensor(arguments)
    try:
        function = attrgetter(tail)(first.__array_namespace__())
    except AttributeError:
        raise not_called(name) from None
    if not inspect.isfunction(function):
        raise not_called(name)
    known = inspect.signature(function).parameters
    most = sum(parameter.kind in _BY_PLACE for parameter in known.values())
    options = _known(named | _by_name(name, places, arguments, most), known, name)
    given = [_under_current_dialect(argument) for argument in arguments[:most]]
    return _with_dialect(function(*given, **options), first)


# What the methods of a ufunc compute, by its op, and the names of their arguments.
_BY_METHOD = {
    "reduce": {"add": "sum", "mul": "prod", "maximum": "max", "minimum": "min",
               "logical_and": "all", "logical_or": "any"},
    "accumulate": {"add": "cumsum", "mul": "cumprod"},
}  # fmt: skip
_OF_METHODS = ["array", "axis", "dtype", "out", "keepdims", "initial", "where"]


def _of_ufunc(
    name: str, ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """The result of a method of a ufunc: np.add.reduce(x) is a sum, np.multiply.outer(x, y) all
    products of two elements.

    Raises CallError for any other, if the library itself cannot run.
    """
    row, whole = _op(name), f"{name}.{method}"
    if runs_itself(name.partition(".")[0], inputs, options):
        return run_by_itself(whole, getattr(ufunc, method), inputs, options)
    if method == "outer" and row is not None and len(inputs) == 2:
        first, second = inputs
        if isinstance(first, TensorData):
            spread: Any = first
            first = spread.reshape((*first.shape, *[1] * getattr(second, "ndim", 0)))
        else:
            key = (..., *([None] * second.ndim))
            first = first[key] if hasattr(first, "ndim") else first
        return called(name, ufunc, (first, second), options)
    op = _BY_METHOD.get(method, {}).get(row.name if row else "")
    if op is None:
        raise not_called(whole)
    axis = {} if len(inputs) > 1 else {"axis": 0}
    return _applied(OPS[op], whole, _OF_METHODS, inputs, axis | options)


def _without_nan(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Tensor:
    """The tensor with numbers in the place of NaN and infinities: the largest, if none is given."""
    dtype = x.dtype
    if dtype.kind == "complex":
        raise not_called("nan_to_num of complex numbers")
    if dtype.kind != "float":
        return x.clone()  # type: ignore[no-any-return]
    for is_found, number in (
        (apply_op("isnan", x), nan),
        (apply_op("eq", x, math.inf), float(dtype.max) if posinf is None else posinf),
        (apply_op("eq", x, -math.inf), float(dtype.min) if neginf is None else neginf),
    ):
        x = apply_op("where", is_found, number, x)
    return x  # type: ignore[no-any-return]


def _op(name: str) -> Op | None:
    """The op for a library's function, by its full name."""
    try:
        row = find_op(name, dialect_named(DEFAULT))
    except UsageError:
        return None
    return None if row.family in _NOT_APPLIED or row.name in EXTENSIONS else row


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function; empty if it has no signature."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _by_name(name: str, places: list[str], arguments: Sequence[Any], most: int) -> dict[str, Any]:
    """The arguments after the operands, by name; without a signature, it must be an axis."""
    surplus = arguments[most:]
    names = places[most:] or ["axis"]
    if len(surplus) > len(names):
        raise not_called(f"{name} with {len(arguments)} arguments")
    pairs = zip(names, surplus, strict=False)
    return {_RENAMED.get(option, option): value for option, value in pairs}


def _known(
    options: dict[str, Any], known: Container[str], name: str, row: Op | None = None
) -> dict[str, Any]:
    """The options, which castwise must know; an unknown option that is None is ignored."""
    given = {n: value for n, value in options.items() if value is not None or n in known}
    unknown = [option for option in given if option not in known]
    if unknown:
        raise not_called(f"{name} with {unknown[0]}=", row)
    return given


def not_called(what: str, row: Op | None = None) -> CallError:
    """The error for a call that cannot run under a dialect."""
    own = f"cw.apply({row.name!r}, x)" if row else "cw.apply(op, x) or castwise.array_api"
    return CallError(
        f"{what} does not run under a dialect: use castwise's own functions, {own}, or leave the "
        "dialect with x.array."
    )


def _first_tensor(arguments: Sequence[Any]) -> Any:
    """The first tensor among arguments, which may be lists of tensors."""
    for argument in arguments:
        parts = argument if isinstance(argument, (list, tuple)) else (argument,)
        for part in parts:
            if isinstance(part, TensorData):
                return part
    return None


def _under_current_dialect(argument: Any) -> Any:
    """An argument whose tensors carry their current dialect, for a namespace with its own
    dialect."""
    if isinstance(argument, (list, tuple)):
        return [_under_current_dialect(part) for part in argument]
    is_tensor: bool = isinstance(argument, TensorData)
    return argument.under(argument.dialect) if is_tensor else argument


def _with_dialect(found: Any, first: TensorData) -> Any:
    """Results whose tensors all have the dialect and home of another tensor."""
    if isinstance(found, (list, tuple)):
        parts = [_with_dialect(part, first) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    if not isinstance(found, TensorData):
        return found
    like = first._kind
    return first._of(found._array, found._kind.with_(dialect=like.dialect, home=like.home))


# Python's divmod and round of tensors, if the dialect's framework has them for its arrays.

_REFUSED = {
    "divmod": "divmod(x, y) does not take arrays in {}: write x // y and x % y.",
    "round": "round(x) does not take arrays in {}: write cw.apply('round', x), or round(x.item()).",
}
_DIGITS = "round(x, digits) does not take {} in {}: cast first, x.astype('float32')."


def _quotient_and_remainder(first: Any, second: Any) -> Any:
    """`x // y` and `x % y` of two operands, at least one of which is a tensor."""
    is_first: bool = isinstance(first, TensorData)
    if is_first:
        quotient, remainder, other = first.__floordiv__, first.__mod__, second
    else:
        quotient, remainder, other = second.__rfloordiv__, second.__rmod__, first
    found = quotient(other)
    return found if found is NotImplemented else (found, remainder(other))


def _divmod(first: Any, second: Any) -> Any:
    """Python's divmod of two operands, at least one of which is a tensor.

    Raises TypeError if the framework's arrays have none.
    """
    _check(first if isinstance(first, TensorData) else second, "divmod")
    return _quotient_and_remainder(first, second)


def _round(x: Any, ndigits: int | None) -> Any:
    """Python's round of a tensor.

    Raises TypeError if the framework's arrays have none.
    """
    _check(x, "round")
    dialect, kind = x.dialect, x.dtype.kind
    gives_integers = dialect.values.functions.round == "integers"
    by_tens = kind == "int" and (ndigits or 0) < 0
    if kind == "bool" or by_tens or (kind == "complex" and ndigits):
        raise TypeError(_DIGITS.format(x.dtype, dialect.name))
    found = _by_factor(x, ndigits) if ndigits else apply_op("round", x)
    return found.astype(default_dtype(0, dialect)) if gives_integers and ndigits is None else found


def rounded(x: Any, decimals: int) -> Any:
    """Each element, rounded to a number of decimals."""
    if not decimals:
        return apply_op("round", x)
    if runs_itself(x.backend, (x,), {}):
        return run_by_itself("round", type(x._array).round, (x,), {"decimals": decimals})
    if x.dtype.kind == "bool" or (x.dtype.kind == "int" and decimals < 0):
        raise TypeError(_DIGITS.format(x.dtype, x.dialect.name))
    return _by_factor(x, decimals)


def _by_factor(x: Any, digits: int) -> Any:
    """Floats rounded to a number of digits, by a factor that small floats cannot hold."""
    if x.dtype.kind == "int" or digits > math.log10(x.dtype.part.max):
        return x.astype(x.dtype)
    wide = x.astype("float32") if x.dtype.kind == "float" and x.dtype.bits < 32 else x
    factor = 10**digits
    scaled = apply_op("round", apply_op("mul", wide, factor))
    return apply_op("div", scaled, factor).astype(x.dtype, copy=False)


def _check(x: Any, function: str) -> None:
    """Raises TypeError if the framework's arrays have no such function."""
    if getattr(x.dialect.values.functions, function) == "refused":
        raise TypeError(_REFUSED[function].format(x.dialect.name))


# What the Array API standard, Python and libraries expect of an array object, except operators and
# indexing.

VERSION = "2025.12"
# Earlier versions too: code written for them finds all their functions.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)


class ArrayObject(TensorData):
    """The attributes and conversions of an array object, on a backend's array."""

    __slots__ = ()

    if TYPE_CHECKING:

        def swapaxes(self, axis0: int, axis1: int) -> Tensor: ...
        def permute(self, *dims: Any) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The functions of the standard on tensors; one namespace for all its versions.

        Raises UsageError for an unknown version.
        """
        if api_version is not None and api_version not in VERSIONS:
            raise UsageError(
                f"castwise follows the standard up to version {VERSION}, not "
                f"{str(api_version)[:40]!r}: leave out api_version, or use one of "
                f"{', '.join(VERSIONS)}."
            )
        return above.array_namespace()

    @property
    def T(self) -> Tensor:  # noqa: N802 -- the standard's name
        """The transpose of a matrix; what it is of another tensor, the dialect says.

        Raises AxisError if its framework has none.
        """
        shape, rule = tuple(self._array.shape), self._kind.current_dialect.values.methods.transposed
        if len(shape) == 2:
            return self.mT
        if rule == "refused":
            raise AxisError(
                f"T transposes a matrix, not a tensor of shape {shape}: use mT for a stack of "
                "matrices, or permute."
            )
        if rule == "first two" and shape:
            return self.swapaxes(1, 0)
        return self.permute(*range(len(shape))[::-1])

    @property
    def mT(self) -> Tensor:  # noqa: N802 -- the standard's name
        """The transpose of each matrix in the last two dimensions."""
        if len(self._array.shape) < 2:
            raise AxisError(
                f"mT needs at least two dimensions, not the shape {tuple(self._array.shape)}."
            )
        return self._of(self._kind.backend.namespace.matrix_transpose(self._array), self._kind)

    @property
    def device(self) -> Any:
        """The device that holds the values."""
        from array_api_compat import device  # importing castwise imports nothing else

        return device(self._array)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The same values on another device of the backend."""
        from array_api_compat import to_device

        try:
            return self._of(to_device(self._array, device, stream=stream), self._kind)
        except Exception as error:
            if not is_raw(error):
                raise
            raise refusal(error, "to_device", (self, device), self.backend) from error

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = self.numpy()
        if dtype is not None and made.dtype != dtype:
            if copy is False:
                raise ValueError(f"{self.dtype} can only become {dtype} by a copy.")
            return made.astype(dtype)
        return made.copy() if copy else made

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __dlpack__(
        self, /, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        asked = {name: value for name, value in given.items() if value is not None}
        return self._array.__dlpack__(**asked)  # older backends accept fewer of them

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def _number(self, kind: type) -> Any:
        """The one element as a Python number; of a tensor that its own framework holds, what it
        converts to there.

        Raises NoNumberError for several elements.
        """
        if not self._array.shape and self._kind.dtype.kind != "complex":
            return kind(self.item())
        if self.size == 1 and runs_itself(self.backend, (self,), {}):
            try:
                return kind(self._array)
            except (TypeError, ValueError, RuntimeError):
                pass  # the error below says what to do
        if self._array.shape:
            raise NoNumberError(
                f"only a 0-d tensor converts to a Python number, not one of shape "
                f"{tuple(self._array.shape)}: take an element, x[0], or reduce it."
            )
        number = self.item()
        if isinstance(number, complex) and kind not in (bool, complex):
            raise NoNumberError(f"{kind.__name__}(x) does not take a complex tensor: use x.real.")
        return kind(number)

    def __bool__(self) -> bool:
        return self._number(bool)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._number(int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._number(float)  # type: ignore[no-any-return]

    def __complex__(self) -> complex:
        return self._number(complex)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        dtype, shape = self._kind.dtype, tuple(self._array.shape)
        if dtype.kind != "int" or shape:
            raise TypeError(f"only a 0-d integer tensor can be an index, not {dtype}{list(shape)}.")
        return int(self.item())

    def __trunc__(self) -> Tensor:
        raise TypeError(
            "math.trunc(x) takes Python numbers: write cw.apply('trunc', x), or int(x)."
        )

    def __round__(self, ndigits: int | None = None) -> Tensor:
        found: Tensor = _round(self, ndigits)
        return found

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return _divmod(self, other)  # type: ignore[no-any-return]

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return _divmod(other, self)  # type: ignore[no-any-return]

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Any, options: Any
    ) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        return called(name, function, arguments, options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # NumPy also calls this for operators with a NumPy array on the left.
        name = f"{DEFAULT_BACKEND}.{ufunc.__name__}"
        if "out" in options:
            (options["out"],) = options["out"]
        if method != "__call__":
            return _of_ufunc(name, ufunc, method, inputs, options)
        if ufunc.__name__ == "divmod" and not options:
            return _quotient_and_remainder(*inputs)
        row = _op(name)
        if len(inputs) == 2 and row is not None and row.symbol and not options:
            first, second = inputs
            if hasattr(first, "dtype") and not isinstance(first, TensorData):
                # In comparisons NumPy passes a NumPy scalar as a 0-d array.
                is_scalar = row.name in _COMPARISONS and not first.shape
                return apply_operator(row.name, first[()] if is_scalar else first, second)
        return called(name, ufunc, inputs, options)

    def __format__(self, spec: str) -> str:
        if spec and self._array.shape:
            raise TypeError(
                f"{spec!r} formats one number, not a tensor of shape {tuple(self._array.shape)}: "
                "format its elements, or print it with np.printoptions."
            )
        return format(self.item(), spec) if spec else str(self)

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("a 0-d tensor has no length.")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        return (self[place] for place in range(len(self)))


# Gradients of tensors, on the backends that record what they compute.


@runtime_checkable
class RecordsGradients(Protocol):
    """A backend that records what it computes, and differentiates it afterwards."""

    def requires_gradient(self, array: Any) -> bool:
        """Whether a gradient reaches an array."""

    def require_gradient(self, array: Any, required: bool) -> None:
        """Marks an array, in place, as one whose gradient is needed."""

    def go_back(self, array: Any, gradient: Any) -> None:
        """Adds to the gradients of all arrays that one was computed from; `gradient` may be
        None."""

    def accumulated_gradient(self, array: Any) -> Any:
        """The accumulated gradient of an array, or None."""

    def detached(self, array: Any) -> Any:
        """An array of the same memory that no gradient reaches."""


@runtime_checkable
class DifferentiatesFunctions(Protocol):
    """A backend that differentiates functions instead of recorded computations."""

    differentiates_with: str  # the library's own function that does


class Gradients(TensorData):
    """The part of a tensor that deals with gradients. A gradient has its tensor's dtype."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient reaches it."""
        backend = self._kind.backend
        return isinstance(backend, RecordsGradients) and backend.requires_gradient(self._array)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Marks the tensor as one whose gradient is needed, and returns it.

        Raises UsageError if the backend records no gradients.
        """
        recording(self._kind.backend).require_gradient(self._array, requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` accumulated in the tensor.

        Raises UsageError if the backend records no gradients.
        """
        found = recording(self._kind.backend).accumulated_gradient(self._array)
        return None if found is None else self._of(found, self._kind.with_(is_weak=False))

    def detach(self) -> Tensor:
        """The same values, which no gradient goes through."""
        backend, array = self._kind.backend, self._array
        if isinstance(backend, RecordsGradients):
            array = backend.detached(array)
        return self._of(array, self._kind)

    def backward(self, gradient: Tensor | None = None) -> None:
        """Adds to the gradient of every tensor it was computed from.

        `gradient` is the gradient of this tensor, in its dtype; a tensor of one element needs none.

        Raises UsageError if the backend records no gradients or the dtypes differ.
        """
        backend = recording(self._kind.backend)
        if gradient is None:
            return backend.go_back(self._array, None)
        kind = gradient._kind
        if kind.backend is not self._kind.backend or kind.dtype is not self._kind.dtype:
            raise UsageError(
                f"the gradient of a {self._kind.dtype} tensor on {self._kind.backend.name} must be "
                f"the same, not {kind.dtype} on {kind.backend.name}: cast it, "
                f"x.astype({str(self._kind.dtype)!r})."
            )
        return backend.go_back(self._array, gradient._array)


def recording(backend: Backend) -> RecordsGradients:
    """The backend, as one that records gradients.

    Raises UsageError if it does not; the error names those that do.
    """
    if isinstance(backend, RecordsGradients):
        return backend
    ways = [f"convert the tensor, cw.asarray(x, backend={other.name!r})"
            for other in installed_backends() if isinstance(other, RecordsGradients)]  # fmt: skip
    if isinstance(backend, DifferentiatesFunctions):
        ways.insert(0, f"use {backend.differentiates_with} on a function of tensors")
    way_out = " or ".join(ways) or "no installed one does"
    raise UsageError(f"the backend {backend.name} records no gradients: {way_out}.")
