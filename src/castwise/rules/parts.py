"""The parts of a rule, one small record per step of the engine.

A field left None keeps the value of an earlier rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Composed:
    """An op that is composed of others, for the operands it names (all, where it names none)."""

    # "sub(exp(x), *(y, x))", where the operands are x y z: a name is a function, a symbol is an
    # operator, "mul_" works in place. "cast(x, int32)" and "array(x)" are not ops; the latter gives
    # a 0-d operand dimensions.
    program: str
    kinds: str = ""  # kinds or dtypes of the first operand; "foreign" for an only_absorbed one
    roles: str = ""  # roles of the first operand, by the names of Role
    exponents: tuple[float, ...] = ()  # values of the last operand, a scalar or 0-d
    exponent_kinds: str = ""
    exponent_roles: str = ""
    rank: int | None = None  # the number of dimensions that all operands have
    count: int | None = None  # how many operands there are
    second_kinds: str = ""  # kinds or dtypes of the second operand of three


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a Python number may become, where the framework converts it to the chosen dtype before
    the op. No number becomes a dtype of a lower kind."""

    bools: str = "bool int float complex"  # the dtypes a bool becomes
    wide_ints: str = ""  # the dtypes that accept an int beyond int64; others wrap ints within it
    every_int_fits: str = ""  # an int beyond this dtype is refused, whatever its target dtype
    # A NumPy scalar, and all that is converted for a weak array, needs a common dtype as well.
    joins_too: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """What the condition of an op may be; a value that is not zero is true."""

    arrays: str = "bool int float complex"  # the dtypes of the framework's own arrays
    numbers: str = "bool int float complex"  # the kinds of Python numbers
    numpy: str = "bool int float complex"  # the dtypes of NumPy's arrays and scalars
    otherwise: str = "refused"  # what becomes of other arrays; or "no kernel"


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an op refuses, before or after its operands are joined."""

    refuses: str | None = None  # operands of these kinds or dtypes
    refuses_arrays: str | None = None  # the same, but a Python scalar of that kind is accepted
    refuses_compute: str | None = None  # compute dtypes that are reached, then refused
    refuses_last: str | None = None  # kinds or dtypes of the last operand
    refuses_zero_d: bool | None = None
    one_inexact_of_last: int | None = None  # this many last operands may not all be integers
    needs_rank: int | None = None  # some operand must have at least this many dimensions
    same_dtype: bool | None = None
    # "float16 -> float32": with same_dtype, all others may also have this dtype, if the first
    # operand has that one.
    wider_others: str | None = None
    compared: int | None = None  # how many first operands same_dtype applies to; all by default
    condition: Condition | None = None  # everything is accepted, where none is given
    index: str | None = None  # the kinds or dtypes an index may have; integers by default


@dataclass(frozen=True, slots=True)
class Numbers:
    """What Python numbers, and lists of them, are to an op."""

    places: str | None = None  # which operands they may be: one of PLACES
    refuses: str | None = None  # numbers of these kinds
    refused_with: str | None = None  # no number is accepted with these array kinds or dtypes
    last_is_number: bool | None = None  # the last operand must be a number
    adapts: str | None = None  # kinds of numbers cast to the array's dtype; others are refused
    count_as: str | None = None  # one of NUMBERS
    dtypes: Mapping[str, str] | None = None  # kind -> dtype, where it is not the dialect's `python`
    # The same for numbers with arrays of some dtypes: array dtype -> kind -> dtype.
    dtypes_by_array: Mapping[str, Mapping[str, str]] | None = None
    conversion: Conversion | None = None
    lists: str | None = None  # one of LISTS; refused by default
    list_places: str | None = None  # which operands lists may be: one of PLACES


@dataclass(frozen=True, slots=True)
class Joins:
    """How the operands' dtypes become the one that the op computes in."""

    by: str | None = None  # one of JOINS
    # For "first operand": what the others may be, one of OTHERS; any by default.
    others: str | None = None
    unless: str | None = None  # for "first operand": where it does not decide, one of UNLESS
    # For "by category": the dialect whose join gives numbers and NumPy operands their dtype.
    typed_by: str | None = None
    reaches: str | None = None  # its own edges, instead of the dialect's
    pairs: str | None = None  # "uint64 + int8 -> float64": pairs that do not join by the edges
    mixes: str | None = None  # "float -> float": the casts that unequal arrays may need


@dataclass(frozen=True, slots=True)
class Arrays:
    """What arrays count as before they are joined."""

    promotes: bool | None = None  # False: each operand keeps its dtype
    lowest_promoted: bool | None = None  # False: an op that promotes ignores its lowest dtypes
    zero_d_as_arrays: bool | None = None
    makes_arrays: str | None = None  # "first" or "all": operands made arrays before they are joined
    floats_lift: bool | None = None  # with a Python float, integers become floats before the join
    keeps_width: str | None = None  # kinds whose operands are never computed in fewer bits
    is_truncated: bool | None = None  # False: dtypes are not truncated
    keeps_dtypes: bool | None = None  # a bare dtype is not truncated, though arrays are


@dataclass(frozen=True, slots=True)
class NumPyOperands:
    """What NumPy arrays and scalars do in another framework's op."""

    arrays: str | None = None  # one of NUMPY_ARRAYS
    arrays_left: str | None = None  # the same for one on the left, if different
    decider: str | None = None  # the dialect that decides with a NumPy array on the right
    left_decider: str | None = None  # the same for any NumPy operand on the left
    # "complex64 -> float": the Python number one counts as, "array" where it is cast to the array's
    # dtype, or "refused".
    scalars: str | None = None
    scalars_left: str | None = None  # the same for one on the left, if different
    reads: str | None = None  # "uint16 -> bfloat16": the dtype that a NumPy array counts as
    refuses: str | None = None  # arrays of these dtypes cannot be mixed with NumPy arrays
    sees: str | None = None  # "bfloat16 -> float32": what the deciding dialect sees arrays as
    result: str | None = None  # "bool -> uint8": what its result becomes


@dataclass(frozen=True, slots=True)
class Range:
    """What becomes of a Python number that is out of range."""

    limit: str | None = None  # one of LIMITS: the range it should be in
    beyond: str | None = None  # one of BEYOND: what happens outside of it
    looks_at: str | None = None  # compute dtypes for which numbers are checked; all by default


@dataclass(frozen=True, slots=True)
class Exponent:
    """What the last operand of a power may be."""

    fits: str | None = None  # only the exponent's value is checked; it must fit this dtype too
    # "raises": an integer to a negative integer power raises; "number raises": only if the exponent
    # is a Python number, not a 0-d array; "raises on either side": a negative Python int as the
    # base raises too; "elements raise": it raises if there are any elements.
    negative: str | None = None
    # A single integer exponent may be any number, and its base then wraps within 64 bits.
    is_free: bool | None = None


@dataclass(frozen=True, slots=True)
class Weakness:
    """Whether the result of weakly typed operands is strong."""

    makes_strong: bool | None = None
    arrays_make_strong: str | None = None  # where the operand that STRONG names has dimensions
    converted_is_strong: bool | None = None  # what `converts` or lifts gives


@dataclass(frozen=True, slots=True)
class Writes:
    """What may be written in place, by `x += y` or into out=."""

    into: str | None = None  # one of OUTPUTS
    rebinds: str | None = None  # one of REBINDS; by default `x += y` works in place
    also: str | None = None  # "complex -> bfloat16": also allowed
    never: str | None = None  # the same, never allowed


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call may pass by name; an op does not take an argument whose field is not set."""

    dtype: str | None = None  # one of DTYPE_ARGUMENTS
    casting: str | None = None  # how operands are cast to dtype=: one of OUTPUTS; any by default
    takes_casting: bool | None = None  # casting= replaces `casting` and Writes.into
    typed_castings: str | None = None  # words of casting= for which Python numbers have a dtype
    finds_foreign: bool | None = None  # dtype= finds a loop of only_absorbed dtypes for any operand
    where: str | None = None  # one of MASKS
    initial: str | None = None  # one of STARTS
    rounded_as: str | None = None  # "floor -> floor_divide": the op that rounding_mode= turns it to
    # The kinds of numbers they may be, "fits" where the dtype must hold them, "positive" where
    # they must be positive.
    value: str | None = None
    delta: str | None = None
