"""What an op is applied to: a dtype in a role, with its value where a rule may look at it."""

from __future__ import annotations

import bisect
import enum
import functools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from castwise.errors import UsageError
from castwise.vocab.dtypes import KINDS, DType

Scalar: TypeAlias = "bool | int | float | complex"


class Role(enum.Enum):
    """What an operand is; frameworks treat the same dtype differently by role."""

    ARRAY = "array"
    ZERO_D = "0-d array"
    SCALAR = "Python scalar"
    NUMPY_ARRAY = "NumPy array"
    NUMPY_ZERO_D = "NumPy 0-d array"
    NUMPY_SCALAR = "NumPy scalar"
    LIST = "list"  # of Python numbers, nested or not
    UNDEFINED = "undefined operand"  # None in the place of one: torch's undefined tensor

    @property
    def native(self) -> Role:
        """The role of the same object in its own framework."""
        return _NATIVE.get(self, self)


_NUMPY_ROLES = frozenset({Role.NUMPY_ARRAY, Role.NUMPY_ZERO_D, Role.NUMPY_SCALAR})
_NATIVE = {Role.NUMPY_ARRAY: Role.ARRAY, Role.NUMPY_ZERO_D: Role.ZERO_D}
_SCALAR_KINDS: dict[type, str] = {
    bool: "bool", int: "int", float: "float", complex: "complex", type(None): "undefined",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """A dtype in a role. A Python scalar has a value and no dtype; an array may have both; a list
    has items and no dtype.

    >>> from castwise.vocab.notation import parse_operand
    >>> parse_operand("int32[2,3]").role.value
    'array'
    >>> str(parse_operand("np.float64(1.5)"))
    'np.float64(1.5)'
    """

    dtype: DType | None
    role: Role
    value: Scalar | None = None
    shape: tuple[int | str, ...] | None = None  # None: a bare dtype, an array of unknown shape
    is_weak: bool = False
    items: tuple[Scalar, ...] = ()  # of a list, flat
    kind: str = field(init=False, repr=False)  # compared: True and 1 are equal, but not the same
    is_scalar: bool = field(init=False, compare=False, repr=False)
    is_numpy: bool = field(init=False, compare=False, repr=False)
    is_zero_d: bool = field(init=False, compare=False, repr=False)
    key: Hashable = field(init=False, compare=False, repr=False)  # all that a rule depends on

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "kind", self.dtype.kind if self.dtype else self._python_kind())
        put(self, "is_scalar", self.role is Role.SCALAR)
        put(self, "is_numpy", self.role in _NUMPY_ROLES)
        put(self, "is_zero_d", self.role in (Role.ZERO_D, Role.NUMPY_ZERO_D))
        value = None if self.value is None else value_class(self.value)
        # The role's text, not the role: enums hash slowly.
        key = (self.dtype, self.role.value, self.is_weak, value)
        if self.role is Role.LIST:
            key = (*key, frozenset(map(value_class, self.items)))  # type: ignore[assignment]
        put(self, "key", key)

    def _python_kind(self) -> str:
        """The kind of a Python number, or the highest among those of a list."""
        if self.role is not Role.LIST:
            return _SCALAR_KINDS[type(self.value)]
        found = {_SCALAR_KINDS[type(item)] for item in self.items}
        return next((kind for kind in reversed(KINDS) if kind in found), "float")

    @property
    def rank(self) -> float:
        """How many dimensions it has; more than any rule needs where the shape is unknown."""
        return math.inf if self.shape is None and self.dtype else len(self.shape or ())

    @property
    def is_empty(self) -> bool:
        """Whether it is known to have no elements."""
        return self.shape is not None and 0 in self.shape

    def __str__(self) -> str:
        if self.role is Role.LIST:
            return _list_text(self.items, self.shape or ())
        if self.dtype is None:
            return scalar_text(self.value)  # None where it is undefined
        prefix = "np." if self.is_numpy else ""
        if self.role is Role.NUMPY_SCALAR:
            return f"np.{self.dtype}({scalar_text(self.value)})"
        weak = "*" if self.is_weak else ""
        value = "" if self.value is None else f"={scalar_text(self.value)}"
        dims = "" if self.shape is None else f"[{','.join(map(str, self.shape))}]"
        return f"{prefix}{self.dtype}{weak}{value}{dims}"


UNDEFINED = Operand(None, Role.UNDEFINED)


def scalar_operand(value: Scalar) -> Operand:
    """A Python scalar. Subclasses such as an IntEnum count as their number."""
    for exact in (bool, int, float, complex):
        if isinstance(value, exact):
            return Operand(None, Role.SCALAR, exact(value))  # type: ignore[arg-type]
    raise UsageError(f"{type(value).__name__} is not a Python number.")


def list_operand(values: Sequence[object]) -> Operand:
    """A list of Python numbers, or of lists of equal shape.

    >>> str(list_operand([[1, 2.5], [3, True]]))
    '[[1, 2.5], [3, True]]'

    Raises UsageError where its rows differ in length, or where it holds anything else.
    """
    shape, items = _flat(values)
    return Operand(None, Role.LIST, shape=shape, items=items)


MOST_NESTED = 64  # lists in lists: as many dimensions as NumPy has


def _flat(values: Sequence[object], depth: int = 1) -> tuple[tuple[int, ...], tuple[Scalar, ...]]:
    """The shape of nested lists, and their numbers one after another."""
    if depth > MOST_NESTED:
        raise UsageError(f"a list is nested no deeper than {MOST_NESTED} times.")
    nested = [isinstance(value, (list, tuple)) for value in values]
    if not any(nested):
        return (len(values),), tuple([_plain_number(value) for value in values])
    rows = [_flat(row, depth + 1) for row in values if isinstance(row, (list, tuple))]
    if not all(nested) or len({shape for shape, _ in rows}) > 1:
        raise UsageError("the rows of a list must have the same length: this one is ragged.")
    return (len(values), *rows[0][0]), tuple([item for _, items in rows for item in items])


def _plain_number(value: object) -> Scalar:
    if type(value) in (bool, int, float, complex):
        return value  # type: ignore[return-value]
    raise UsageError(
        f"a list that is an operand holds Python numbers, not a {type(value).__name__}: make an"
        " array of it first."
    )


def array_operand(
    dtype: DType,
    shape: tuple[int | str, ...] | None = None,
    *,
    value: Scalar | None = None,
    is_weak: bool = False,
    is_numpy: bool = False,
) -> Operand:
    """An array or, where the shape is (), a 0-d array."""
    zero_d = shape == ()
    if is_numpy:
        role = Role.NUMPY_ZERO_D if zero_d else Role.NUMPY_ARRAY
    else:
        role = Role.ZERO_D if zero_d else Role.ARRAY
    held = None if value is None else held_value(dtype, value)
    return Operand(dtype, role, held, shape, is_weak)


@functools.lru_cache(maxsize=4096)
def plain_array(operand: Operand) -> Operand:
    """A NumPy array as an array of the dialect's own framework; anything else as it is."""
    own = _NATIVE.get(operand.role)
    return replace(operand, role=own) if own else operand


def numpy_scalar_operand(dtype: DType, value: Scalar) -> Operand:
    """A NumPy scalar such as np.float32(1.5)."""
    return Operand(dtype, Role.NUMPY_SCALAR, held_value(dtype, value), ())


def held_value(dtype: DType, value: Scalar) -> Scalar:
    """The value as the dtype holds it.

    >>> from castwise.vocab.dtypes import dtype
    >>> held_value(dtype("float16"), 70000)
    inf

    Raises UsageError where the dtype has no such value.
    """
    try:
        if dtype.kind == "complex":
            z = complex(value)
            return complex(_rounded(dtype.part, z.real), _rounded(dtype.part, z.imag))
        if isinstance(value, complex):
            raise ValueError
        if dtype.kind == "float":
            return _rounded(dtype, float(value))
        if value != int(value) or not dtype.min <= int(value) <= dtype.max:
            raise ValueError
        return bool(value) if dtype.kind == "bool" else int(value)
    except (ValueError, OverflowError):
        raise UsageError(f"{scalar_text(value)} is not a value of {dtype}.") from None


def _rounded(dtype: DType, value: float) -> float:
    """The value of a float format nearest to a number, ties to even."""
    if dtype.name == "float64" or math.isnan(value):
        return value
    if dtype.specials == "fnu" and value <= 0:  # only powers of two, from the smallest up
        return math.nan if value < 0 else float(dtype.smallest)
    if math.isinf(value):
        return _overflowed(dtype, value)
    lowest = -dtype.bias if dtype.specials == "fnu" else 1 - dtype.bias
    exponent = max(math.frexp(value)[1] - 1, lowest)
    step = 2.0 ** (exponent - dtype.mantissa_bits)
    rounded = math.copysign(round(value / step) * step, value)
    return rounded if abs(rounded) <= dtype.max else _overflowed(dtype, value)


def _overflowed(dtype: DType, value: float) -> float:
    """What a number beyond a format's range becomes."""
    if dtype.specials == "finite":
        return math.copysign(dtype.max, value)
    return math.copysign(math.inf, value) if dtype.has_inf else math.nan


# Between two neighbours of these, every rule of every dialect treats all values alike: the limits
# of the integer and float dtypes, and the constants NumPy 1 compares floats with.
_LIMITS = sorted(
    {2.0**bits for bits in (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128)}
    | {6.0, 7.5, 28.0, 15.5, 240.0, 30.0, 448.0, 57344.0, 65000.0, 65504.0, 65520.0}
    | {3.3895313892515355e38, 3.4e38, 3.4028234663852886e38, 1.7976931348623157e308}
)
# The same limits on both sides of zero, and beyond all of them what only a Python int reaches.
VALUE_BOUNDS = sorted({0.0, math.inf, -math.inf, *_LIMITS, *[-limit for limit in _LIMITS]})
# Exponents with their own rules.
EXACT_VALUES = {-1: -1, 0: -2, 0.5: -3, 1: -4, 2: -5, 3: -7, -0.5: -8, -2: -9}
NAN_CLASS = -6


def value_class(value: Scalar) -> Hashable:
    """What rules can tell of a value: two values of one class get the same decision.

    >>> value_class(300) == value_class(301), value_class(127) == value_class(128)
    (True, False)
    """
    if isinstance(value, complex):
        return complex, real_class(value.real), real_class(value.imag)
    return type(value), real_class(value)


def real_class(value: float) -> int:
    """Which of the exact values it is, which of the limits, or which two limits it is between."""
    if (exact := EXACT_VALUES.get(value)) is not None:
        return exact
    if value != value:
        return NAN_CLASS
    place = bisect.bisect_left(VALUE_BOUNDS, value)
    return 2 * place + (VALUE_BOUNDS[place] == value if place < len(VALUE_BOUNDS) else False)


_MOST_ITEMS = 20  # that are written out


def _list_text(items: Sequence[Scalar], shape: tuple[int | str, ...]) -> str:
    """A list as Python writes it; a long one is cut short."""
    if len(items) > _MOST_ITEMS:
        return f"[{', '.join(map(scalar_text, items[:3]))}, ... {len(items)} numbers]"
    count = shape[0]
    assert isinstance(count, int)  # the shape of a list is known
    if len(shape) == 1:
        return f"[{', '.join(map(scalar_text, items))}]"
    size = len(items) // count if count else 0
    rows = [_list_text(items[i * size : (i + 1) * size], shape[1:]) for i in range(count)]
    return f"[{', '.join(rows)}]"


def scalar_text(value: Scalar | None) -> str:
    """A scalar as it is written in the notation.

    >>> scalar_text(2j), scalar_text(1 - 2j), scalar_text(float("inf"))
    ('2j', '1-2j', 'inf')
    """
    if isinstance(value, int) and value.bit_length() > 14000:
        return f"{'-' * (value < 0)}2**{value.bit_length() - 1}"  # Python prints no longer ones
    return repr(value).strip("()")


# How operands differ from each other, and what a dialect does with them, in shared phrases.

_ROLES = tuple(Role)  # in the order they are listed
_IN_WORDS = (Role.ARRAY, Role.ZERO_D, Role.SCALAR)
_WORDS = {
    Role.ARRAY: "{} array",
    Role.ZERO_D: "0-d {}",
    Role.SCALAR: "Python {}",
    Role.NUMPY_SCALAR: "{} scalar",
}


def in_listed_order(operands: Iterable[Operand]) -> list[Operand]:
    """Arrays first, then 0-d arrays and scalars; low kinds first."""
    return sorted(operands, key=lambda o: (_ROLES.index(o.role), KINDS.index(o.kind)))


def mix_text(operands: Sequence[Operand]) -> str:
    """The kinds and roles of operands.

    >>> from castwise.vocab.notation import parse_operand
    >>> mix_text([parse_operand("int32[3]"), parse_operand("1.5")])
    'int array with Python float'
    """
    kinds = [f"{'weak ' if o.is_weak else ''}{o.kind}" for o in operands]
    if all(o.role is Role.ARRAY for o in operands):
        return f"{' with '.join(dict.fromkeys(kinds))} arrays"
    return " with ".join(
        [_role_text(o.role, kind) for o, kind in zip(operands, kinds, strict=True)]
    )


def _role_text(role: Role, kind: str) -> str:
    words = _WORDS[role.native].format(kind)
    return words if role in _IN_WORDS else f"{role.value.partition(' ')[0]} {words}"


def treatment(operands: Sequence[Operand], result: DType, written: DType | None = None) -> str:
    """What a dialect does with operands, in the order they are listed, to get its result;
    `written` is the dtype of what is written in place. A verb that ends in "to" or is "makes"
    wants a dtype.

    >>> from castwise.vocab.dtypes import dtype
    >>> from castwise.vocab.notation import parse_operand
    >>> treatment([parse_operand("int32[3]"), parse_operand("float16[3]")], dtype("float16"))
    'keeps the float'
    """
    if written is not None:
        return "keeps the dtype" if result is written else "takes the result's dtype"
    highest = max(operands, key=lambda o: KINDS.index(o.kind)).kind
    rivals = [o.dtype for o in operands if o.kind == highest and o.dtype]
    if result.kind != highest or not rivals:
        return "makes"
    if result in rivals:
        return _kept(result, operands)
    return "widens to" if result.bits > max(d.bits for d in rivals) else "turns to"


def _kept(result: DType, operands: Sequence[Operand]) -> str:
    """What a result is that one of the operands, of the highest kind, had before."""
    owner = next(o for o in operands if o.dtype is result)
    other = next((o for o in operands if o.dtype not in (None, result)), None)
    if other is None or other.dtype is None:
        return "keeps the dtype"
    if other.role is not owner.role:
        return f"takes the {owner.role.value}'s dtype"
    if other.kind != owner.kind:
        return f"keeps the {owner.kind}"
    return f"takes the {'wider' if result.bits > other.dtype.bits else 'other'} one"
