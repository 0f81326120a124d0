"""The parts of a rule, one small record per step of the engine.

A field left None keeps what an earlier rule said about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Composed:
    """An op that is made of others, for the operands it names (all, where nothing is named)."""

    # "sub(exp(x), *(y, x))", the operands being x y z: a name is a function, a symbol an operator,
    # "mul_" in place; "cast(x, int32)" is no op, nor "array(x)", which gives a 0-d one dimensions.
    program: str
    kinds: str = ""  # kinds or dtypes of the first operand; "foreign" for an only_absorbed one
    roles: str = ""  # roles of the first operand, by the names of Role
    exponents: tuple[float, ...] = ()  # values of the last operand, a scalar or 0-d
    exponent_kinds: str = ""
    exponent_roles: str = ""
    rank: int | None = None  # the dimensions all operands have


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a Python number may become, once the dtype is chosen, where the framework converts it
    to that dtype before the op sees it. No number becomes a dtype of a lower kind."""

    bools: str = "bool int float complex"  # the dtypes a bool becomes
    wide_ints: str = ""  # the dtypes that take an int beyond int64; others wrap those within it
    every_int_fits: str = ""  # an int beyond this dtype is refused whatever it is to become
    # A NumPy scalar, and all that is converted beside a weak array, needs a common dtype as well.
    joins_too: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """What an op with a condition chooses by; a value that is not zero is true."""

    arrays: str = "bool int float complex"  # the dtypes of the framework's own arrays
    numbers: str = "bool int float complex"  # the kinds of Python numbers
    numpy: str = "bool int float complex"  # the dtypes of NumPy's arrays and scalars
    otherwise: str = "refused"  # what becomes of other arrays; or "no kernel"


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an op refuses, before or after its operands come together."""

    refuses: str | None = None  # operands of these kinds or dtypes
    refuses_arrays: str | None = None  # the same, but a Python scalar of that kind is taken
    refuses_compute: str | None = None  # reached, then refused
    refuses_last: str | None = None  # kinds or dtypes of the last operand
    refuses_zero_d: bool | None = None
    one_inexact_of_last: int | None = None  # so many operands at the end may not all be integers
    needs_rank: int | None = None  # some operand must have as many dimensions
    same_dtype: bool | None = None
    compared: int | None = None  # of how many first operands same_dtype is asked; of all by default
    condition: Condition | None = None  # everything, where none is given


@dataclass(frozen=True, slots=True)
class Numbers:
    """What Python numbers, and lists of them, are to an op."""

    places: str | None = None  # where they may stand: one of PLACES
    refuses: str | None = None  # numbers of these kinds
    refused_with: str | None = None  # arrays of these kinds or dtypes take no number
    last_is_number: bool | None = None  # the last operand must be one
    adapts: str | None = None  # kinds of numbers cast to the array's dtype; no others are taken
    count_as: str | None = None  # one of NUMBERS
    dtypes: Mapping[str, str] | None = None  # where they count for other dtypes than the dialect's
    # The same for numbers with arrays of some dtypes: array dtype -> kind -> dtype.
    dtypes_by_array: Mapping[str, Mapping[str, str]] | None = None
    conversion: Conversion | None = None
    lists: str | None = None  # one of LISTS; refused if not said
    list_places: str | None = None  # where lists may stand: one of PLACES


@dataclass(frozen=True, slots=True)
class Joins:
    """How the operands' dtypes become the one that the op computes in."""

    by: str | None = None  # one of JOINS
    others: str | None = (
        None  # by the first operand: what the others may be, one of OTHERS; any by default
    )
    unless: str | None = None  # by the first operand: where it does not decide, one of UNLESS
    typed_by: str | None = None  # by category: the dialect whose join types what is no array
    reaches: str | None = None  # edges of its own, instead of the dialect's
    pairs: str | None = None  # "uint64 + int8 -> float64": pairs that join elsewhere than by edges
    mixes: str | None = None  # "float -> float": the casts that bring unequal arrays together


@dataclass(frozen=True, slots=True)
class Arrays:
    """What arrays count as before they are joined."""

    promotes: bool | None = None  # False: each operand keeps its dtype
    lowest_promoted: bool | None = None  # False: an op that promotes lets its lowest dtypes be
    zero_d_as_arrays: bool | None = None
    makes_arrays: str | None = None  # "first" or "all": made arrays before they meet the others
    floats_lift: bool | None = None  # beside a Python float integers become floats before they join
    keeps_width: str | None = None  # kinds of which no operand is computed in fewer bits
    is_truncated: bool | None = None  # False: dtypes count as they are written
    keeps_dtypes: bool | None = None  # a dtype by itself is not truncated, though arrays are


@dataclass(frozen=True, slots=True)
class NumPyOperands:
    """What NumPy arrays and scalars do in another framework's op."""

    arrays: str | None = None  # one of NUMPY_ARRAYS
    arrays_left: str | None = None  # the same for one on the left, if otherwise
    decider: str | None = None  # the dialect that decides with a NumPy array on the right
    left_decider: str | None = None  # the same for any NumPy operand on the left
    # "complex64 -> float": the Python number one counts as, "array" where it is cast to the array's
    # dtype, or "refused".
    scalars: str | None = None
    scalars_left: str | None = None  # the same where it stands on the left, if otherwise
    reads: str | None = None  # "uint16 -> bfloat16": the dtype a NumPy array is taken to have
    refuses: str | None = None  # arrays of these dtypes do not meet NumPy arrays
    sees: str | None = None  # "bfloat16 -> float32": what it takes arrays of a dtype for
    result: str | None = None  # "bool -> uint8": where NumPy decided


@dataclass(frozen=True, slots=True)
class Range:
    """What becomes of a Python number that is out of range."""

    limit: str | None = None  # one of LIMITS: the range it should be in
    beyond: str | None = None  # one of BEYOND: what happens outside of it
    looks_at: str | None = None  # compute dtypes for which numbers are looked at; all by default


@dataclass(frozen=True, slots=True)
class Exponent:
    """What the last operand of a power may be."""

    fits: str | None = None  # of all values the exponent's alone is looked at; it must fit this too
    # "raises": an integer to a negative integer power; "number raises": to that of a Python number
    # alone, not of a 0-d array; "raises on either side": a negative Python int as the base of one,
    # too; "elements raise": where there are any.
    negative: str | None = None
    # One integer as the exponent is any number, and its base then wraps within 64 bits.
    is_free: bool | None = None


@dataclass(frozen=True, slots=True)
class Weakness:
    """Whether the result of weakly typed operands is strong."""

    makes_strong: bool | None = None
    arrays_make_strong: str | None = None  # where that of STRONG has dimensions
    converted_is_strong: bool | None = None  # what `converts` or lifts gives


@dataclass(frozen=True, slots=True)
class Writes:
    """What may be written in place, by `x += y` or into out=."""

    into: str | None = None  # one of OUTPUTS
    rebinds: str | None = None  # one of REBINDS; `x += y` is as in place, if not said
    also: str | None = None  # "complex -> bfloat16": allowed besides
    never: str | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call may give by name; without a word of these the op does not take it."""

    dtype: str | None = None  # one of DTYPE_ARGUMENTS
    casting: str | None = None  # operands are cast to dtype= by one of OUTPUTS; any by default
    takes_casting: bool | None = None  # casting=, instead of `casting` and Writes.into
    typed_castings: str | None = None  # words of casting= that see Python numbers by their dtype
    finds_foreign: bool | None = None  # dtype= finds a loop of only_absorbed dtypes for any operand
    where: str | None = None  # one of MASKS
    initial: str | None = None  # one of STARTS
    rounded_as: str | None = None  # "floor -> floor_divide": the op rounding_mode= makes of it
    # The kinds of numbers they may be, "fits" where the dtype must hold them, "positive" where
    # they must be that.
    value: str | None = None
    delta: str | None = None
