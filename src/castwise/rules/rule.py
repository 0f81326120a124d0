"""What a dialect says about some ops: a rule, made of small parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

# The parts of a rule, one small record per step of the engine.
#
# A field left None keeps the value of an earlier rule.


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


# `np.add(a, b)`, `a + b`, `a += b`, `a.add_(b)` and `np.add(a, b, out=c)`. A rule for "inplace"
# also applies to `a += b`, unless that is `a = a + b`: then a rule for "operator" does.
FORMS = ("function", "operator", "augmented", "inplace", "out", "dtype")


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """What a dialect does for some ops; a field left None keeps the value of an earlier rule.

    A dialect lists rules from the general ("*", every op) to the particular. A field given by
    none means: scalars as arrays, the common dtype, no check of values, any output.
    """

    computes: str | None = None  # kinds or dtypes the op computes in
    otherwise: str | None = None  # a compute dtype outside those: "refused" or "no kernel"
    scalars: str | None = None  # one of SCALARS
    converts: str | None = None  # "bool -> int64": after the join, before computing
    integers_become_float: bool | None = None
    accumulates: bool | None = None
    result: str | None = None
    result_of: str | None = None  # "uint8 -> uint8": exceptions to `result`, by compute dtype
    composes: tuple[Composed, ...] | None = None  # the first that fits
    borrows: str | None = None  # the dialect that decides instead
    because: str | None = None  # the reason that messages give
    accepts: Accepts = field(default=Accepts())
    numbers: Numbers = field(default=Numbers())
    arrays: Arrays = field(default=Arrays())
    joins: Joins = field(default=Joins())
    numpy: NumPyOperands = field(default=NumPyOperands())
    range: Range = field(default=Range())
    exponent: Exponent = field(default=Exponent())
    weakness: Weakness = field(default=Weakness())
    writes: Writes = field(default=Writes())
    arguments: Arguments = field(default=Arguments())

    def __repr__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        shown = [
            f"{name}={given[name]!r}" for name in given if given[name] != getattr(_EMPTY, name)
        ]
        return f"Rule({', '.join(shown)})"


_EMPTY = Rule()
# The fields of a rule that are parts, which are combined field by field.
PARTS = tuple([f.name for f in fields(Rule) if is_dataclass(getattr(_EMPTY, f.name))])


def combined(*rules: Rule) -> Rule:
    """One rule of several: for each field, the last rule that gives it decides.

    >>> combined(Rule(scalars="weak"), Rule(scalars="tiers", result="bool"))
    Rule(scalars='tiers', result='bool')
    """
    return Rule(**{name: _last_given(name, [getattr(r, name) for r in rules]) for name in _NAMES})


def _last_given(name: str, values: list[Any]) -> Any:
    """A field's value in the last rule that gives it; parts are combined field by field."""
    empty = getattr(_EMPTY, name)
    given = [value for value in values if value is not empty]
    if name not in PARTS or len(given) < 2:
        return given[-1] if given else empty
    return replace(given[0], **{k: v for part in given[1:] for k, v in _given(part).items()})


def given_fields(rule: Rule) -> dict[str, Any]:
    """The fields a rule gives, those of its parts by names such as `accepts.refuses`."""
    given: dict[str, Any] = {}
    for name in _NAMES:
        value = getattr(rule, name)
        if name in PARTS:
            given.update({f"{name}.{key}": part for key, part in _given(value).items()})
        elif value is not None:
            given[name] = value
    return given


def rule_of(given: dict[str, Any]) -> Rule:
    """The rule that gives these fields, by the names of given_fields."""
    top: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        part, _, own = name.rpartition(".")
        (parts.setdefault(part, {}) if part else top)[own] = value
    for part, values in parts.items():
        top[part] = replace(getattr(_EMPTY, part), **values)
    return Rule(**top)


def without(rule: Rule, *names: str) -> Rule:
    """A rule without some fields, by the names of given_fields."""
    return rule_of({name: value for name, value in given_fields(rule).items() if name not in names})


def _given(part: Any) -> dict[str, Any]:
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


_NAMES = tuple([f.name for f in fields(Rule)])

# The words a dialect's data chooses from, each with an explanation for people.

# When `x += y` is `x = x + y`: the name is bound to a new array, and the old one does not change.
REBINDS = {
    "always": "`x += y` is `x = x + y`",
    "with NumPy arrays": "`x += y` writes into x; with a NumPy array it is `x = x + y`",
}
# The range that a Python number should be in.
LIMITS = {
    "dtype": "the compute dtype",
    "magnitude": "the compute dtype, floats too (an unsigned dtype takes negatives down to -max),",
    "array dtype": "the array's own dtype, an integer of less than 64 bits, or else beyond int64",
    "common dtype": "the common dtype, floats too, even where the op computes in another,",
    "default int": "the dtype of a Python int",
    "dtype or default int": "both the compute dtype and the dtype of a Python int",
    "int64": "int64, whatever the dtype,",
    "64 bits": "both int64 and uint64",
    "none": "",
}
# What happens to a number beyond its limit.
BEYOND = {
    "wraps": "it wraps silently",
    "raises": "it is refused",
    "compares": "it is compared exactly",
    "raises if no value is left": "it is refused if it is a bound that leaves no value: a lower one"
    " above the range, or an upper one below it",
}
MISSING = ("refused", "no kernel")  # what becomes of a dtype that an op does not compute in
# Whether and how a result may be written into an operand (in place) or into out=.
OUTPUTS = {
    "category": "the kind may not go down: complex > float > int > bool",
    "same kind": "only a safe cast, or a narrowing one within the kind",
    "safe": "the result must reach the destination's dtype",
    "safe within kind": "the result must reach the destination's dtype and be of its kind",
    "no complex to real": "complex numbers stay complex",
    "same dtype": "the result must already have the destination's dtype",
    "rebinds": "nothing is written: the name is bound to the result, whatever its dtype",
    "becomes": "the array itself becomes the result, whatever its dtype",
    "any": "any destination is accepted",
}
# What dtype= does to an op that takes it.
DTYPE_ARGUMENTS = {
    "casts first": "the operands are cast to it before the op sees them",
    "computes": "the op accepts the same operands as without it, and computes in it",
    "result": "a loop that returns it is chosen, and the operands are cast to its compute dtype",
}
# The words of casting=, each with the rule of OUTPUTS it means.
CASTINGS = {
    "no": "same dtype",
    "equiv": "same dtype",
    "safe": "safe",
    "same_kind": "same kind",
    "unsafe": "any",
}
# What where= may be.
MASKS = {
    "bool": "a mask is an array of bool, or True or False",
    "bool arrays": "a mask is an array of bool; a Python number counts as true or false",
}
# What becomes of initial=, once the dtype of the computation is known.
STARTS = {
    "must fit": "it is converted to that dtype, which must hold it; complex numbers stay complex",
    "wraps": "it is converted to that dtype, in which integers of 64 bits wrap; complex numbers"
    " stay complex",
    "cast": "it is cast to that dtype; a Python int must fit the dtype of Python ints",
}
# How the operands' dtypes become the one an op computes in.
JOINS = {
    "common dtype": "the first dtype that all operands reach, then converted as the op needs",
    "first loop": "the first of the op's own dtypes that all operands reach",
    "common dtype or first loop": "the common dtype, or the first loop where there is none",
    "first operand": "the first operand's dtype",
    "integer power": "the base's dtype where the exponent is one integer, else the common dtype",
    "exponent apart": "the first of the op's own dtypes that the first operand reaches; the last"
    " operand is an integer and does not count",
    "highest kind": "the first of the op's own dtypes of the operands' highest kind",
    "float for integers": "the common dtype, or the default float where arrays promote to integers",
    "by category": "the dtype of the highest category, which numbers and NumPy arrays get too",
    "one dtype": "one dtype for all; with a Python float any array becomes float64",
}
# What the others may be where the first operand decides.
OTHERS = {
    "any": "whatever the others are",
    "same kind": "and the others are of its kind",
    "mixing": "where the others may be cast to it",
    "any with an integer": "which the others must have too; an integer accepts any others",
}
# Where the first operand does not decide.
UNLESS = {
    "complex": "where one is complex, the common dtype",
    "a number": "with a Python number, the common dtype",
    "floats with an integer": "where it is an integer with floats, the default float",
}
# Whether arrays may be weakly typed, and what they count as when combined.
WEAK_ARRAYS = {
    "none": "arrays are never weakly typed",
    "keep their width": "arrays may be weakly typed, and keep their width when combined",
    "by kind": "arrays may be weakly typed, and count as their kind's own dtype when combined",
}
# How Python scalars and 0-d arrays count when mixed with arrays.
SCALARS = {
    "tiers": "arrays decide before 0-d arrays, and these before Python scalars; a lower tier counts"
    " only where its kind is higher",
    "kinds first": "the highest kind decides, and within it arrays before 0-d arrays; a Python"
    " number counts only where its kind is higher, as a 0-d array",
    "arrays alone": "the arrays decide, or the 0-d arrays where there are none; a Python number of"
    " a higher kind replaces what they give",
    "by category": "Python numbers and NumPy arrays get the dtype of the highest category, then"
    " count as arrays",
    "weak": "a Python number takes the arrays' dtype; one of a higher kind changes only the kind",
    "within kind": "a Python number takes the arrays' dtype; one of a higher kind is refused,"
    " except complex with floats",
    "fits arrays": "a Python scalar, even a bool, takes the arrays' dtype and may not change it,"
    " except an int with bool arrays",
    "by value": "scalars and 0-d arrays count as the smallest dtype that holds their value",
    "as nodes": "weakly typed operands, including Python numbers, have their own nodes",
    "as arrays": "a Python number counts as an array of its own dtype",
    "converted": "the arrays decide, and Python numbers are converted to their dtype; without"
    " arrays the first number decides",
    "0-d mixes": "a 0-d array is as strong as an array, and any kinds mix with it; a Python number"
    " takes the arrays' dtype",
    "0-d adapts": "a 0-d array takes the dtype of an array of its kind, and mixes with any other"
    " kind; a Python number takes the arrays' dtype",
    "0-d adapts to complex": "a 0-d array takes the dtype of an array of its kind, or of a Python"
    " complex, and mixes with any other kind",
    "singles mix": "any kinds mix with a 0-d array or a Python scalar, which count by their dtypes",
    "last adapts": "by tiers, except that a Python number at the end takes the others' dtype",
}
# What Python numbers count as before the policy for scalars sees them.
NUMBERS = {
    "numbers": "Python numbers count as such",
    "0-d arrays": "Python numbers count as 0-d arrays of their dtype",
    "values": "Python numbers count by their value: they take the arrays' dtype if it holds them,"
    " else the smallest dtype of their kind that does",
}
# What lists of Python numbers are, nested or not.
LISTS = {
    "refused": "are refused",
    "left to Python": "are left to Python, where no array equals a list",
    "as arrays": "become arrays of the dtype that Python's numbers have on their own",
    "bools as arrays": "become arrays if they hold bools, and are refused otherwise",
    "cast": "are cast to the dtype of the other array or number; alone they become arrays",
    "cast for the function": "are cast to the dtype of the other array, even complex numbers,"
    " and passed to the function",
    "as numbers": "take the dtype of the other array, each number as it would alone; without"
    " one they become arrays",
    "as weak numbers": "take the dtype of the other array; without one they become weakly typed"
    " arrays, whose ints must fit the dtype of a Python int",
}
# Which operands of an op may be Python scalars.
PLACES = {
    "any": "everywhere",
    "first": "in front only",
    "last": "at the end only",
    "none": "nowhere",
}
STRONG = {"any": "one of the operands", "first": "the first operand"}
# Casts that a varied dialect refuses, whatever its rules allow.
GUARDS = {
    "no implicit cast": "every implicit cast is refused",
    "no lossy cast": "an implicit cast that may change a value is refused",
    "no promotion to 64 bits": "a promotion that ends in 64 bits is refused",
}
# What a NumPy array does in another framework's op.
NUMPY_ARRAYS = {
    "native": "it is an array of the framework itself",
    "as arrays": "it counts as an array of the framework",
    "adapts": "it is cast to the dtype of the framework's array",
    "as scalars": "it takes its dtype together with the Python scalars",
    "refused": "it is refused",
}


ASSIGNS_BY_PLACES = {
    "cast": "the values are cast to the array's dtype",
    "same dtype": "the values must have the array's dtype; numbers are cast, and single values"
    " assigned through a mask",
    "always same dtype": "arrays must have the array's dtype, whatever the index; numbers are cast,"
    " and weak arrays of no higher kind",
}
ASSIGNS_WHOLE = {
    "cast": "the value is cast to the array's dtype",
    "takes the value's dtype": "the array takes the value's dtype; a number counts as in an op"
    " with the array",
}


def join_text(by: str, others: str, unless: str) -> str:
    """How a rule joins dtypes, in words.

    >>> join_text("first operand", "any", "complex")
    "the first operand's dtype, whatever the others are; where one is complex, the common dtype"
    """
    kept = f"{JOINS[by]}, {OTHERS[others or 'any']}" if by == "first operand" else JOINS[by]
    return f"{kept}; {UNLESS[unless]}" if unless else kept
