"""What a dialect says about some ops: a rule, and the records of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

# `np.add(a, b)`, `a + b`, `a += b`, `a.add_(b)` and `np.add(a, b, out=c)`. A rule about what is
# written in place holds for `a += b` too, unless that is `a = a + b`: then one about the operator.
FORMS = ("function", "operator", "augmented", "inplace", "out", "dtype")


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


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """What a dialect does for some ops; a field left None keeps what was said before it.

    A dialect lists rules from the general ("*", every op) to the particular. A field given by
    none means: scalars as arrays, the common dtype, no check of values, any output.
    """

    computes: str | None = None  # kinds or dtypes the op computes in
    otherwise: str | None = None  # a compute dtype outside those: "refused" or "no kernel"
    refuses: str | None = None  # operands of these kinds or dtypes are refused
    refuses_arrays: str | None = None  # the same, but a Python scalar of that kind is taken
    refuses_compute: str | None = None  # reached, then refused
    refuses_scalars: str | None = None  # arrays of these kinds or dtypes take no Python scalar
    last_is_scalar: bool | None = None  # the last operand must be a Python scalar
    refuses_last: str | None = None  # the last operand may not be of these kinds or dtypes
    one_inexact_of_last: int | None = None  # so many operands at the end may not all be integers
    refuses_numbers: str | None = None  # Python scalars of these kinds are refused
    takes_scalars: str | None = None  # where Python scalars may stand: one of PLACES
    lists: str | None = None  # what lists of Python numbers are: one of LISTS; refused if not said
    condition: Condition | None = None  # everything, where none is given
    needs_rank: int | None = None  # some operand must have as many dimensions
    because: str | None = None  # the reason a person is told
    scalars: str | None = None  # one of SCALARS
    adapts: str | None = None  # kinds of Python scalars cast to the array's dtype; no others go
    mixes: str | None = None  # "float -> float": the casts that bring unequal arrays together
    beside: Mapping[str, Mapping[str, str]] | None = None  # array dtype -> what scalars count as
    conversion: Conversion | None = None
    makes_arrays: str | None = None  # "first" or "all": made arrays before they meet the others
    zero_d_as_arrays: bool | None = None
    refuses_zero_d: bool | None = None
    numbers_as: str | None = None  # one of NUMBERS
    reaches: str | None = None  # edges of its own, instead of the dialect's
    meets: str | None = None  # "uint64 + int8 -> float64": pairs that meet elsewhere than by edges
    promotes: bool | None = None  # False: each operand keeps its dtype
    lowest_promoted: bool | None = None  # False: an op that promotes lets its lowest dtypes be
    joins: str | None = None  # one of JOINS
    composes: tuple[Composed, ...] | None = None  # the first that fits
    borrows: str | None = None  # the dialect that decides instead
    numpy: str | None = None  # one of NUMPY_ARRAYS
    numpy_left: str | None = None  # the same for one on the left, if otherwise
    numpy_decider: str | None = None  # the dialect that decides with a NumPy array on the right
    numpy_left_decider: str | None = None  # the same for any NumPy operand on the left
    # "complex64 -> float": the Python number one counts as, "array" where it is cast to the array's
    # dtype, or "refused".
    numpy_scalars: str | None = None
    numpy_scalars_left: str | None = None  # the same where it stands on the left, if otherwise
    numpy_reads: str | None = None  # "uint16 -> bfloat16": the dtype a NumPy array is taken to have
    numpy_refuses: str | None = None  # arrays of these dtypes do not meet NumPy arrays
    numpy_sees: str | None = None  # "bfloat16 -> float32": what it takes arrays of a dtype for
    numpy_result: str | None = None  # "bool -> uint8": where NumPy decided
    converts: str | None = None  # "bool -> int64": after the join, before computing
    integers_become_float: bool | None = None
    floats_lift: bool | None = None  # beside a Python float integers become floats before they join
    accumulates: bool | None = None
    same_dtype: bool | None = None
    keeps_width: str | None = None  # kinds of which no operand is computed in fewer bits
    python: Mapping[str, str] | None = None  # where Python numbers count for other dtypes
    compared: int | None = None  # of how many first operands same_dtype is asked; of all by default
    is_truncated: bool | None = None  # False: dtypes count as they are written
    keeps_dtypes: bool | None = None  # a dtype by itself is not truncated, though arrays are
    makes_strong: bool | None = None  # the result is not weak, even of weak operands
    arrays_make_strong: str | None = None  # the same, where that of STRONG has dimensions
    converted_is_strong: bool | None = None  # the same, but only of what `converts` or lifts
    out_of_range: str | None = None  # one of OUT_OF_RANGE
    checks: str | None = None  # compute dtypes for which it looks at scalars; all by default
    exponent_fits: str | None = None  # it looks at the exponent alone, which must fit this too
    # "raises": an integer to a negative integer power; "number raises": to that of a Python number
    # alone, not of a 0-d array; "raises on either side": a negative Python int as the base of one,
    # too; "elements raise": where there are any.
    negative_exponent: str | None = None
    result: str | None = None
    result_of: str | None = None  # "uint8 -> uint8": exceptions to `result`, by compute dtype
    rebinds: str | None = None  # one of REBINDS; `x += y` is as in place, if not said
    output: str | None = None  # one of OUTPUTS
    writes_also: str | None = None  # "complex -> bfloat16": allowed besides `output`
    writes_never: str | None = None
    # What may be given by name; without a word of these the op does not take it.
    takes_dtype: str | None = None  # dtype=: one of DTYPE_ARGUMENTS
    casting: str | None = None  # operands are cast to dtype= by one of OUTPUTS; any by default
    takes_casting: bool | None = None  # casting=, instead of `casting` and `output`
    typed_castings: str | None = None  # words of casting= that see Python numbers by their dtype
    finds_foreign: bool | None = None  # dtype= finds a loop of only_absorbed dtypes for any operand
    takes_where: str | None = None  # where=: one of MASKS
    takes_initial: str | None = None  # initial=: one of STARTS
    rounded_as: str | None = None  # "floor -> floor_divide": the op rounding_mode= makes of it
    # value= and delta=: the kinds of numbers they may be, and "fits" where the dtype must hold
    # them, "positive" where they must be that.
    takes_value: str | None = None
    takes_delta: str | None = None

    def __repr__(self) -> str:
        return (
            f"Rule({', '.join(f'{name}={value!r}' for name, value in given_fields(self).items())})"
        )


def given_fields(rule: Rule) -> dict[str, Any]:
    """The fields a rule gives."""
    values = {name: getattr(rule, name) for name in _RULE_FIELDS}
    return {name: value for name, value in values.items() if value is not None}


_RULE_FIELDS = tuple(f.name for f in fields(Rule))
