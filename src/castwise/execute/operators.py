"""The operators of a tensor, and its in-place methods: each is an op of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from castwise.execute import handed
from castwise.execute.fast_path import Binary, binary
from castwise.vocab.ops import OPS

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor

Unary: TypeAlias = "Callable[[Any], Tensor]"
Method: TypeAlias = "Callable[..., Tensor]"


def reflected(op: str) -> Binary:
    """The operator of an op whose second operand is the tensor."""
    return lambda self, other: handed.calls.operator(op, other, self)


def unary(op: str) -> Unary:
    """The operator of an op with one operand."""
    return lambda self: handed.calls.unary(op, self)


def _power(operator: Binary) -> Method:
    """The operator `x ** y`, which Python also calls for pow(x, y, z)."""

    def power(self: Any, other: Any, modulo: Any = None) -> Tensor:
        if modulo is not None:
            raise TypeError("pow(x, y, z) is for Python's ints: write x**y % z.")
        return operator(self, other)

    return power


def augmented(op: str) -> Binary:
    """The operator `x += y` of an op."""

    def operator(self: Any, other: Any) -> Any:
        return handed.calls.augmented(op, self, other)

    return operator


def in_place(op: str) -> Method:
    """The method of an op that writes its result into the tensor."""

    def method(self: Any, *others: Any, **options: Any) -> Any:
        return handed.calls.in_place(op, self, *others, **options)

    method.__name__ = f"{op}_"
    method.__doc__ = f"`{op}` in place; returns the tensor itself."
    return method


class Operators:
    """The operators of a tensor that give a new one, each in its operator form."""

    __slots__ = ()

    __add__ = binary("add")
    __sub__ = binary("sub")
    __mul__ = binary("mul")
    __truediv__ = binary("div")
    __floordiv__ = binary("floor_divide")
    __mod__ = binary("remainder")
    __pow__ = _power(binary("pow"))
    __matmul__ = binary("matmul")
    __and__ = binary("bitwise_and")
    __or__ = binary("bitwise_or")
    __xor__ = binary("bitwise_xor")
    __lshift__ = binary("bitwise_left_shift")
    __rshift__ = binary("bitwise_right_shift")

    __radd__ = reflected("add")
    __rsub__ = reflected("sub")
    __rmul__ = reflected("mul")
    __rtruediv__ = reflected("div")
    __rfloordiv__ = reflected("floor_divide")
    __rmod__ = reflected("remainder")
    __rpow__ = reflected("pow")
    __rmatmul__ = reflected("matmul")
    __rand__ = reflected("bitwise_and")
    __ror__ = reflected("bitwise_or")
    __rxor__ = reflected("bitwise_xor")
    __rlshift__ = reflected("bitwise_left_shift")
    __rrshift__ = reflected("bitwise_right_shift")

    __eq__ = binary("eq")  # type: ignore[assignment]
    __ne__ = binary("ne")  # type: ignore[assignment]
    __lt__ = binary("lt")
    __le__ = binary("le")
    __gt__ = binary("gt")
    __ge__ = binary("ge")
    __hash__ = None  # type: ignore[assignment]

    __neg__ = unary("neg")
    __pos__ = unary("positive")
    __abs__ = unary("abs")
    __invert__ = unary("bitwise_not")


class InPlace:
    """The augmented operators, and a method for each op whose result may have the shape of its
    first operand. An op that is not listed here gets its method from its row."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, row in OPS.items():
            is_fitting = row.keeps_shape and not row.is_condition_first
            if is_fitting and not hasattr(cls, f"{name}_"):
                setattr(cls, f"{name}_", in_place(name))

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

    add_ = in_place("add")
    sub_ = in_place("sub")
    rsub_ = in_place("rsub")
    mul_ = in_place("mul")
    div_ = in_place("div")
    floor_divide_ = in_place("floor_divide")
    remainder_ = in_place("remainder")
    fmod_ = in_place("fmod")
    real_div_ = in_place("real_div")
    multiply_no_nan_ = in_place("multiply_no_nan")
    floor_div_ = in_place("floor_div")
    truncate_div_ = in_place("truncate_div")
    div_no_nan_ = in_place("div_no_nan")
    pow_ = in_place("pow")
    float_power_ = in_place("float_power")
    addcmul_ = in_place("addcmul")
    addcdiv_ = in_place("addcdiv")

    eq_ = in_place("eq")
    ne_ = in_place("ne")
    lt_ = in_place("lt")
    le_ = in_place("le")
    gt_ = in_place("gt")
    ge_ = in_place("ge")
    isclose_ = in_place("isclose")

    logical_and_ = in_place("logical_and")
    logical_or_ = in_place("logical_or")
    logical_xor_ = in_place("logical_xor")
    logical_not_ = in_place("logical_not")

    bitwise_and_ = in_place("bitwise_and")
    bitwise_or_ = in_place("bitwise_or")
    bitwise_xor_ = in_place("bitwise_xor")
    bitwise_left_shift_ = in_place("bitwise_left_shift")
    bitwise_right_shift_ = in_place("bitwise_right_shift")
    bitwise_not_ = in_place("bitwise_not")

    maximum_ = in_place("maximum")
    minimum_ = in_place("minimum")
    fmax_ = in_place("fmax")
    fmin_ = in_place("fmin")

    atan2_ = in_place("atan2")
    hypot_ = in_place("hypot")
    logaddexp_ = in_place("logaddexp")
    logaddexp2_ = in_place("logaddexp2")
    copysign_ = in_place("copysign")
    nextafter_ = in_place("nextafter")
    ldexp_ = in_place("ldexp")
    heaviside_ = in_place("heaviside")
    xlogy_ = in_place("xlogy")

    clamp_ = in_place("clamp")
    clamp_min_ = in_place("clamp_min")
    clamp_max_ = in_place("clamp_max")
    lerp_ = in_place("lerp")

    abs_ = in_place("abs")
    neg_ = in_place("neg")
    positive_ = in_place("positive")
    square_ = in_place("square")
    conj_ = in_place("conj")
    sign_ = in_place("sign")
    floor_ = in_place("floor")
    ceil_ = in_place("ceil")
    round_ = in_place("round")
    trunc_ = in_place("trunc")
    relu_ = in_place("relu")
    threshold_ = in_place("threshold")
    real_ = in_place("real")
    imag_ = in_place("imag")
    angle_ = in_place("angle")

    exp_ = in_place("exp")
    exp2_ = in_place("exp2")
    expm1_ = in_place("expm1")
    log_ = in_place("log")
    log2_ = in_place("log2")
    log10_ = in_place("log10")
    log1p_ = in_place("log1p")
    sqrt_ = in_place("sqrt")
    rsqrt_ = in_place("rsqrt")
    sin_ = in_place("sin")
    cos_ = in_place("cos")
    tan_ = in_place("tan")
    asin_ = in_place("asin")
    acos_ = in_place("acos")
    atan_ = in_place("atan")
    sinh_ = in_place("sinh")
    cosh_ = in_place("cosh")
    tanh_ = in_place("tanh")
    asinh_ = in_place("asinh")
    acosh_ = in_place("acosh")
    atanh_ = in_place("atanh")
    sigmoid_ = in_place("sigmoid")
    reciprocal_ = in_place("reciprocal")
    cbrt_ = in_place("cbrt")
    erf_ = in_place("erf")
    degrees_ = in_place("degrees")
    radians_ = in_place("radians")
    gelu_ = in_place("gelu")
    silu_ = in_place("silu")
    softmax_ = in_place("softmax")
    log_softmax_ = in_place("log_softmax")

    isnan_ = in_place("isnan")
    isinf_ = in_place("isinf")
    isfinite_ = in_place("isfinite")
    signbit_ = in_place("signbit")

    cumsum_ = in_place("cumsum")
    cumprod_ = in_place("cumprod")

    matmul_ = in_place("matmul")
