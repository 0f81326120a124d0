"""What a dialect says about some ops: a rule, made of small parts.

A field is declared once, here: how it is written, what it means where it is not given, the words to
choose from, and its sentence for a dialect's page. The rest follows from its type: `check` looks at
every field (rules/dialect.py), a plan has what each one means (engine/plan.py), and the step of the
engine that needs it reads it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from castwise.vocab.dtypes import DType

# How fields are written. A rule has the text, a plan has what it means. A type checker knows both:
# a record is made with the one, and what is read from it is the other.

if TYPE_CHECKING:
    Given = TypeVar("Given", contravariant=True)
    Meaning = TypeVar("Meaning", covariant=True)

    class Written(Generic[Given, Meaning]):
        """A field that is given as one type, and means another."""

        def __get__(self, owner: object, kind: object) -> Meaning: ...
        def __set__(self, owner: object, value: Given | None) -> None: ...

    Dtypes = Written[str, frozenset[DType]]  # kinds and dtypes: "bool int float16"
    OneDtype = Written[str, "DType | None"]  # "int64", or none
    Casts = Written[str, dict[DType, DType]]  # "bool int8 -> default_int; uint8 -> uint64"
    Pairs = Written[str, frozenset[tuple[DType, DType]]]  # the same, as pairs
    PairsOrAny = Written[str, "frozenset[tuple[DType, DType]] | None"]  # not given: any pair
    JoinedPairs = Written[str, dict[frozenset[DType], DType]]  # "uint64 + int8 int16 -> float64"
    KindsByDtype = Written[str, dict[DType, str]]  # "bool complex64 -> float; int -> int"
    OpsByWord = Written[str, dict[str, str]]  # "trunc -> remainder; floor -> floor_divide"
    DtypesByKind = Written[Mapping[str, str], dict[str, DType]]  # of Python numbers
    DtypesByArray = Written[Mapping[str, Mapping[str, str]], dict[DType, dict[str, DType]]]
    Edges = Written[str, str]  # as in a dialect's `reaches`
    Text = Written[str, str]
    Word = Written[str, str]  # one of the words that the field chooses from
    Words = Written[str, frozenset[str]]
    Kinds = Written[str, frozenset[str]]  # of Python numbers: "bool int float complex"
    Flag = Written[bool, bool]
    Count = Written[int, int]
else:
    Dtypes = OneDtype = Casts = Pairs = PairsOrAny = JoinedPairs = KindsByDtype = OpsByWord = str
    Edges = Text = Word = Words = Kinds = str
    DtypesByKind = Mapping[str, str]
    DtypesByArray = Mapping[str, Mapping[str, str]]
    Flag, Count = bool, int


def stated(
    sentence: str = "",
    *,
    otherwise: str | None = None,
    words: Mapping[str, str] | None = None,
    default: Any = None,
) -> Any:
    """A field that a rule may give; left None, it keeps the value of an earlier rule.

    `sentence` says on a dialect's page what it does: `{}` is the value, a list of words with "and",
    `{either}` one with "or". `otherwise` says it for an empty value. `words` are those it chooses
    from, each with its meaning. `default` is what counts where no rule gives it.
    """
    declared = {"sentence": sentence, "otherwise": otherwise, "words": words, "default": default}
    return field(default=None, metadata=declared)


def preset(value: Any, words: Mapping[str, str] | None = None) -> Any:
    """A field of a record that a rule gives as a whole: it has a value where it is not given."""
    return field(default=value, metadata={"words": words, "default": value})


# What becomes of a dtype that an op does not compute in.
MISSING = {
    "refused": "other dtypes are refused",
    "no kernel": "an op also promotes to dtypes it does not compute in, and then has no kernel",
}


@dataclass(frozen=True, slots=True)
class Composed:
    """An op that is composed of others, for the operands it names (all, where it names none)."""

    # "sub(exp(x), *(y, x))", where the operands are x y z: a name is a function, a symbol is an
    # operator, "mul_" works in place. Not ops are "cast(x, int32)"; "array(x)", which gives a 0-d
    # operand dimensions; and "count(x)", the number of elements that a reduction goes over.
    program: str
    kinds: str = ""  # kinds or dtypes of the first operand; "foreign" for an only_absorbed one
    roles: str = ""  # roles of the first operand, by the names of Role
    exponents: tuple[float, ...] = ()  # values of the last operand, a scalar or 0-d
    exponent_kinds: str = ""
    exponent_roles: str = ""
    rank: int | None = None  # the number of dimensions that all operands have
    count: int | None = None  # how many operands there are
    second_kinds: str = ""  # kinds or dtypes of the second operand of three


# What an op takes: its operands, its condition, its Python numbers.


@dataclass(frozen=True, slots=True)
class Condition:
    """What the condition of an op may be; a value that is not zero is true."""

    arrays: Dtypes = preset("bool int float complex")  # of the framework's own arrays
    numbers: Kinds = preset("bool int float complex")
    numpy: Dtypes = preset("bool int float complex")  # of NumPy's arrays and scalars
    otherwise: Word = preset("refused", MISSING)  # what becomes of other arrays


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an op refuses, before or after its operands are joined."""

    refuses: Dtypes = stated("refuses {}")
    # A Python scalar of such a kind is accepted.
    refuses_arrays: Dtypes = stated("refuses {} arrays, but not such scalars")
    # Compute dtypes that are reached, then refused.
    refuses_compute: Dtypes = stated("refuses to compute in {}")
    refuses_last: Dtypes = stated("refuses {} as the last operand")
    refuses_zero_d: Flag = stated("refuses 0-d arrays", otherwise="accepts 0-d arrays")
    # This many last operands may not all be integers.
    inexact_among_last: Count = stated("one of its last {} operands must be a float or complex")
    needs_rank: Count = stated("some operand must have {} dimensions or more")
    same_dtype: Flag = stated(
        "all operands must have one dtype", otherwise="operands may differ in dtype"
    )
    # With same_dtype: all others may also have this dtype, if the first operand has that one.
    wider_others: Casts = stated(
        "the others may all have a wider one: {}, from the first operand's"
    )
    # How many first operands same_dtype applies to; all by default.
    compared: Count = stated("only the first {} operands must have one dtype")
    condition: Condition | None = stated(default=Condition())
    index: Dtypes = stated("the index may be {}", default="int")


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
    "any": "everywhere", "first": "in front only", "last": "at the end only", "none": "nowhere",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a Python number may become, where the framework converts it to the chosen dtype before
    the op. No number becomes a dtype of a lower kind."""

    bools: Dtypes = preset("bool int float complex")  # the dtypes a bool becomes
    wide_ints: Dtypes = preset("")  # the dtypes that accept an int beyond int64; others wrap it
    # An int beyond this dtype is refused, whatever its target dtype.
    every_int_fits: OneDtype = preset("")
    # A NumPy scalar, and all that is converted for a weak array, needs a common dtype as well.
    joins_too: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """What Python numbers, and lists of them, are to an op."""

    # Which operands they may be.
    places: Word = stated("Python scalars are accepted {}", words=PLACES, default="any")
    refuses: Kinds = stated("accepts no Python {either}", otherwise="accepts every Python number")
    # Array dtypes with which no number is accepted.
    refused_with: Dtypes = stated("{} arrays accept no Python scalar")
    last_is_number: Flag = stated(
        "the last operand must be a Python scalar", otherwise="any operand may be last"
    )
    adapts: Kinds = stated(
        "a Python {either} takes the array's dtype, other scalars are refused",
        otherwise="every Python number is accepted",
    )
    count_as: Word = stated("{}", words=NUMBERS, default="numbers")
    # Of the kinds that have another dtype than in the dialect's `python`.
    dtypes: DtypesByKind = stated(default={})
    # The same for numbers with arrays of some dtypes.
    dtypes_by_array: DtypesByArray = stated(default={})
    conversion: Conversion | None = stated()
    # What an int passes through that the dtype of the op does not hold, or this one not exactly.
    through: OneDtype = stated("a large Python int passes through {}")
    lists: Word = stated("lists of Python numbers {}", words=LISTS, default="refused")
    list_places: Word = stated("lists are accepted {}", words=PLACES, default="any")


# What arrays are before they are joined, and the join.

MADE_ARRAYS = {"first": "the first", "all": "every"}


@dataclass(frozen=True, slots=True)
class Arrays:
    """What arrays count as before they are joined."""

    promotes: Flag = stated(
        "operands are cast to one dtype", otherwise="no operand is cast to another's dtype"
    )
    lowest_promoted: Flag = stated(
        "lowest dtypes also apply if operands are promoted",
        otherwise="lowest dtypes apply only to ops that promote nothing",
        default=True,
    )
    zero_d_as_arrays: Flag = stated(
        "0-d arrays count as arrays", otherwise="0-d arrays rank below arrays"
    )
    makes_arrays: Word = stated(
        "{} operand is converted to an array on its own, before the dtypes are joined",
        words=MADE_ARRAYS,
    )
    floats_lift: Flag = stated(
        "with a Python float integers become floats first",
        otherwise="a Python float does not turn integers into floats",
    )
    keeps_width: Dtypes = stated("{either} operands are not computed in fewer bits than they have")
    is_truncated: Flag = stated(
        "dtypes are truncated", otherwise="dtypes are not truncated", default=True
    )
    keeps_dtypes: Flag = stated(
        "a dtype on its own is not truncated",
        otherwise="a dtype on its own is truncated as arrays are",
    )


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


@dataclass(frozen=True, slots=True)
class Joins:
    """How the operands' dtypes become the one that the op computes in."""

    by: Word = stated(words=JOINS, default="common dtype")
    # For "first operand": what the others may be, and where it does not decide.
    others: Word = stated("the first operand decides {}", words=OTHERS, default="any")
    unless: Word = stated("{}", otherwise="the first operand always decides", words=UNLESS)
    # For "by category": the dialect whose join gives numbers and NumPy operands their dtype.
    typed_by: Text = stated("{} decides the dtype of operands that are not arrays")
    reaches: Edges = stated("has its own edges: {}")  # instead of the dialect's
    pairs: JoinedPairs = stated("these pairs join differently: {}")  # not by the edges
    # The casts that unequal arrays may need.
    mixes: PairsOrAny = stated("arrays of two dtypes mix only by these casts: {}")


def join_text(by: str, others: str, unless: str) -> str:
    """How a rule joins dtypes, in words.

    >>> join_text("first operand", "any", "complex")
    "the first operand's dtype, whatever the others are; where one is complex, the common dtype"
    """
    kept = f"{JOINS[by]}, {OTHERS[others or 'any']}" if by == "first operand" else JOINS[by]
    return f"{kept}; {UNLESS[unless]}" if unless else kept


# What a NumPy array does in another framework's op.
NUMPY_ARRAYS = {
    "native": "it is an array of the framework itself",
    "as arrays": "it counts as an array of the framework",
    "adapts": "it is cast to the dtype of the framework's array",
    "as scalars": "it takes its dtype together with the Python scalars",
    "refused": "it is refused",
}


@dataclass(frozen=True, slots=True)
class NumPyOperands:
    """What NumPy arrays and scalars do in another framework's op."""

    arrays: Word = stated("a NumPy array: {}", words=NUMPY_ARRAYS, default="refused")
    # The same for one on the left, if different.
    arrays_left: Word = stated("a NumPy array on the left: {}", words=NUMPY_ARRAYS)
    decider: Text = stated("with a NumPy array on the right, {} decides")
    left_decider: Text = stated("with a NumPy array or scalar on the left, {} decides")
    # The Python number that a NumPy scalar counts as, "array" where it is cast to the array's
    # dtype, or "refused".
    scalars: KindsByDtype = stated(
        "NumPy scalars count as Python numbers: {}",
        otherwise="NumPy scalars count as NumPy arrays do",
    )
    # The same for one on the left, if different.
    scalars_left: KindsByDtype = stated("NumPy scalars on the left: {}")
    reads: Casts = stated("NumPy arrays are read as other dtypes: {}")
    refuses: Dtypes = stated("{} arrays do not mix with NumPy arrays")
    sees: Casts = stated("it sees arrays as other dtypes: {}")  # the deciding dialect does
    result: Casts = stated("its result is converted: {}")  # that of the deciding dialect


# What values change: numbers out of range, exponents; and whether a result is weak.

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


@dataclass(frozen=True, slots=True)
class Range:
    """What becomes of a Python number that is out of range."""

    limit: Word = stated(words=LIMITS, default="dtype")  # the range it should be in
    beyond: Word = stated(words=BEYOND, default="wraps")  # what happens outside of it
    # The compute dtypes for which numbers are checked; all by default.
    looks_at: Dtypes = stated("values are checked only for {}")


# When an integer to a negative integer power raises, and whether a negative base does too: for any
# exponent; only for a Python number, not a 0-d array; if there are any elements.
NEGATIVE = {
    "raises": "",
    "number raises": "",
    "raises on either side": ", and so is a negative base",
    "elements raise": "",
}


@dataclass(frozen=True, slots=True)
class Exponent:
    """What the last operand of a power may be."""

    fits: OneDtype = stated("only the exponent's value is checked, and it must also fit {}")
    # The same beside a bool or a Python number.
    fits_with_numbers: OneDtype = stated("with a bool or a Python number it must only fit {}")
    negative: Word = stated(
        "an integer to a negative integer power is refused{}",
        otherwise="an exponent may be negative",
        words=NEGATIVE,
    )
    # A single integer exponent may be any number, and its base then wraps within 64 bits.
    is_free: Flag = stated(
        "a single integer as the exponent may be any number, and its base wraps at 64 bits",
        otherwise="an exponent is a number like any other",
    )


# Where an operand with dimensions makes the result strong.
STRONG = {"any": "one of the operands", "first": "the first operand"}


@dataclass(frozen=True, slots=True)
class Weakness:
    """Whether the result of weakly typed operands is strong."""

    makes_strong: Flag = stated("the result is never weak", otherwise="the result may be weak")
    arrays_make_strong: Word = stated("the result is not weak if {} has dimensions", words=STRONG)
    # What `converts` or lifts gives.
    converted_is_strong: Flag = stated(
        "converted operands are not weak", otherwise="converted operands may be weak"
    )


# What is written, and what a call passes by name.

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
# When `x += y` is `x = x + y`: the name is bound to a new array, and the old one does not change.
REBINDS = {
    "always": "`x += y` is `x = x + y`",
    "with NumPy arrays": "`x += y` writes into x; with a NumPy array it is `x = x + y`",
}


# How what is written into counts for the dtype that the op computes in; by default not at all.
DESTINATIONS = {
    "alone": "computes in the dtype of what it writes into",
    "joined": "computes in the common dtype of its operands and what it writes into",
    "joined if kept": "computes in the common dtype of its operands and what it writes into, except"
    " operands that it computes in another dtype",
}


@dataclass(frozen=True, slots=True)
class Writes:
    """What may be written in place, by `x += y` or into out=."""

    into: Word = stated("what may be written: {}", words=OUTPUTS, default="any")
    rebinds: Word = stated("{}", words=REBINDS)  # by default `x += y` works in place
    counts: Word = stated("{}", words=DESTINATIONS)
    also: Pairs = stated("may also be written: {}")
    never: Pairs = stated("may not be written: {}", otherwise="no exception")


# What dtype= does to an op that takes it.
DTYPE_ARGUMENTS = {
    "casts first": "the operands are cast to it before the op sees them",
    "casts or reads": "the operands are cast to it first, and the op computes in it; but those that"
    " it reads in a wider dtype are not cast: its result is",
    "casts to read": "the operands are cast to what the op computes in for it",
    "computes": "the op accepts the same operands as without it, and computes in it",
    "sums in it": "the op accepts the same operands as without it, casts none, and sums in it",
    "result": "a loop that returns it is chosen, and the operands are cast to its compute dtype",
}
# The words of casting=, each with the rule of OUTPUTS it means.
CASTINGS = {
    "no": "same dtype", "equiv": "same dtype", "safe": "safe", "same_kind": "same kind",
    "unsafe": "any",
}  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call may pass by name; an op does not take an argument whose field is not set."""

    dtype: Word = stated("`dtype=`: {}", otherwise="accepts no `dtype=`", words=DTYPE_ARGUMENTS)
    # How operands are cast to dtype=.
    casting: Word = stated("casts of operands to `dtype=`: {}", words=OUTPUTS, default="any")
    # casting= replaces `casting` and Writes.into.
    takes_casting: Flag = stated("accepts `casting=`", otherwise="accepts no `casting=`")
    typed_castings: Words = stated("with `casting=` {either}, Python numbers have a dtype")
    # dtype= finds a loop of only_absorbed dtypes for any operand.
    finds_foreign: Flag = stated(
        "`dtype=` finds foreign loops for any operands", otherwise="`dtype=` finds no foreign loop"
    )
    where: Word = stated("`where=`: {}", otherwise="accepts no `where=`", words=MASKS)
    initial: Word = stated("`initial=`: {}", otherwise="accepts no `initial=`", words=STARTS)
    # The op that rounding_mode= turns it to.
    rounded_as: OpsByWord = stated("`rounding_mode=` uses the dtypes of another op: {}")
    # The kinds of numbers they may be, "fits" where the dtype must hold them, "positive" where
    # they must be positive.
    value: Words = stated()
    delta: Words = stated()


# Where an op rounds besides at its end.
ROUNDS = {
    "each step": "with `out=` the sum is cast to its dtype, then divided; with `dtype=` std and var"
    " also cast the mean that they subtract",
    "into halves": "the array is cast to `out=` first, if that is float16 or bfloat16; of complex"
    " numbers the variances of the parts are cast to it",
    "elements": "what it gives of each element is cast to the first operand's dtype before the sum",
}

# `np.add(a, b)`, `a + b`, `a += b`, `a.add_(b)` and `np.add(a, b, out=c)`. A rule for "inplace"
# also applies to `a += b`, unless that is `a = a + b`: then a rule for "operator" does.
FORMS = ("function", "operator", "augmented", "inplace", "out", "dtype")


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """What a dialect does for some ops; a field left None keeps the value of an earlier rule.

    A dialect lists rules from the general ("*", every op) to the particular. A field given by
    none means: scalars as arrays, the common dtype, no check of values, any output.
    """

    computes: Dtypes = stated("computes in {}")
    otherwise: Word = stated("{}", words=MISSING, default="refused")
    scalars: Word = stated(words=SCALARS, default="as arrays")
    # After the join, before computing.
    converts: Casts = stated(
        "before computing, {}", otherwise="nothing is converted before computing"
    )
    integers_become_float: Flag = stated(
        "integers become floats", otherwise="integers do not become floats"
    )
    accumulates: Flag = stated(
        "small integers are summed in wide ones", otherwise="sums keep their dtype"
    )
    # What it computes in where that is wider than the dtype that promotion gives; it returns that.
    reads: Casts = stated("computes in a wider dtype: {}", otherwise="computes in its own dtype")
    rounds: Word = stated("{}", otherwise="rounds at its end", words=ROUNDS)
    result: Text = stated()  # one of RESULTS, or a dtype
    result_of: Casts = stated("the result dtype changes: {}")  # exceptions, by compute dtype
    composes: tuple[Composed, ...] = stated(default=())  # the first that fits
    borrows: Text = stated("{} decides")  # the dialect that decides instead
    because: Text = stated()  # the reason that messages give
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
        given = [(name, getattr(self, name), getattr(_EMPTY, name)) for name in _NAMES]
        shown = [f"{name}={value!r}" for name, value, empty in given if value != empty]
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


def without(rule: Rule, *names: str) -> Rule:
    """A rule without some fields, by the names of given_fields."""
    for name in names:
        part, _, own = name.rpartition(".")
        emptied = {own: None}
        rule = replace(rule, **{part: replace(getattr(rule, part), **emptied)} if part else emptied)
    return rule


def _given(part: Any) -> dict[str, Any]:
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


_NAMES = tuple([f.name for f in fields(Rule)])
