"""What a framework computes where arithmetic leaves a choice, as data.

Most of what ops compute is the same everywhere. A record lists the rest: each field is a word from
value_words.py. The defaults are mostly NumPy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The words for what a framework computes, each with an explanation for people.

# The quotient `//` of integers by zero.
QUOTIENT_BY_ZERO = {
    "raises": "it raises",
    "zero": "it is 0",
    "minus one or two": "-1 for 0 and -2 for anything else; the largest number if unsigned",
    "saturates": "the largest or the smallest number; 0 for 0",
}
# The remainders of integers by zero.
REMAINDER_BY_ZERO = {
    "raises": "it raises",
    "zero": "it is 0",
    "dividend": "it is the dividend",
}
# Which way `//` and `%` round.
DIVISION = {
    "floors": "the quotient rounds down, the remainder has the divisor's sign",
    "truncates": "the quotient rounds towards zero, the remainder has the dividend's sign",
}
# How `//` of floats is computed.
FLOAT_QUOTIENT = {
    "exact": "computed from the exact remainder: 1 // 0.1 is 9, inf // 2 is nan",
    "rounded": "the rounded quotient, rounded down: 1 // 0.1 is 10, inf // 2 is inf",
}
# Integers to the power of integers; beyond their range all except the last wrap.
INTEGER_POWERS = {
    "negative raises": "any negative exponent in the array raises",
    "negative truncates": "a negative power rounds towards zero; 0 to a negative power is 0",
    "negative is zero": "a negative power is 0, even of 1",
    "six bits": "only the six low bits of the exponent count, also if it is negative",
    "in float64": "computed in float64 and cast to the integer",
}
# A Python number as the exponent of float32.
EXPONENTS = {
    "rounded": "it is rounded to float32",
    "kept": "it is not rounded: the power is computed in float64, then rounded",
}
# Floats to the power of one exponent, a number or a 0-d array.
SINGLE_POWERS = {
    "as arrays": "same as with an array of exponents: -inf to the power 0.5 is inf",
    "square root": "0.5 is the square root, NaN for -inf; for float16 only with the operator",
    "square root by operator": "`** 0.5` is the square root",
    "short cuts": "the numbers 0.5, -0.5, -1, 2, 3 and -2 are a square root, a product or the"
    " inverse of one, except for float16",
}
# How the square root of float32 and float64 is rounded.
SQUARE_ROOT = {
    "exact": "rounded to the nearest number",
    "library": "rounded by the library it was built with: on a CPU sometimes one unit in the"
    " last place off",
}
# Shifts by a negative count, or by the width or more.
SHIFTS = {
    "shifted out": "all bits are shifted out, whether the count is negative or too large",
    "modulo width": "the count is taken modulo the width; widths below 32 count as 32",
    "clamped": "the count is clamped between 0 and the width minus one",
}
# Floats that are out of range for an integer dtype, in a cast.
FLOAT_TO_INT = {
    "wraps": "depends on the processor, and on the loop that handles the element: on"
    " x86-64 and on ARM mostly as in the next two lines",
    "wraps as x86-64": "beyond int32 (int64 for 64 bits) the smallest number of that dtype,"
    " of which the low bits are kept",
    "wraps as ARM": "the low bits of the nearest int32 (int64 from float64); for 64"
    " bits, and for uint32 from smaller floats, the nearest number; NaN is 0",
    "saturates": "the largest or the smallest number; NaN is 0",
}
# The same for uint8.
FLOAT_TO_BYTE = {
    "as others": "same as for other integers",
    "low bits of int64": "the low bits of the int64, whatever the loop",
}
# Subnormal floats.
SUBNORMALS = {
    "kept": "kept",
    "flushed": "flushed to zero by arithmetic, comparisons and casts to and from float64, as inputs"
    " and as results",
}
# Comparisons of a signed with an unsigned integer.
MIXED_SIGNS = {
    "exact": "compared by their exact values",
    "common dtype": "compared in their common dtype, rounded if that is a float",
}
# What `x /= y` divides by.
DIVISOR_IN_PLACE = {
    "common": "y in the dtype that x and y compute in",
    "cast": "y cast to the dtype of x, also if that is an integer: int32 /= 0.5 divides by 0",
}
# Casts of complex numbers to bool.
TRUTH = {
    "not zero": "everything except zero is true",
    "implied real part": "true if the real part is not zero; an explicit cast also looks at"
    " the imaginary part",
    "real part": "true if the real part is not zero",
}
MEDIAN = {
    "mean": "the mean of the two middle elements, if their number is even",
    "lower": "the lower of the two middle elements, if their number is even",
}
GELU = {
    "erf": "with the error function",
    "tanh": "with the tanh approximation",
}
SIGN_OF_NAN = {"nan": "it is NaN", "zero": "it is 0"}
HALVES = {"even": "to the even neighbour", "away": "away from zero"}
# clamp between a lower bound and a smaller upper one.
CROSSED_BOUNDS = {
    "upper": "the upper bound",
    "lower": "the lower bound",
    "raises": "it raises, and also if one of the bounds is NaN",
}
# The shapes of clamp's bounds.
BOUND_SHAPES = {
    "broadcast": "all three are broadcast",
    "first": "all three are broadcast, and it raises if that changes the array's shape",
    "one": "a bound has one element; in place, and for int32 and int64, the first of several"
    " counts",
}
# A Python int as the lower bound of integers, where the upper one has another dtype.
LOWER_BOUND = {
    "joined": "it is converted to the dtype common to all three",
    "first": "it is first converted to the integers' dtype, where it wraps",
}
# Floats that overflow, and undefined results: 1 / 0, inf - inf, the mean of nothing.
FLOAT_ERRORS = {
    "warns": "infinity or NaN with a warning, or what `np.errstate` sets",
    "silent": "infinity or NaN without a warning",
}
# What becomes of out= where the result has another shape.
OUT_SHAPES = {
    "kept": "it keeps its shape; the result is broadcast to it if possible",
    "resized": "it takes the result's shape, with a warning if it had elements",
}
# The shape of the value that x[i] = value broadcasts.
ASSIGNED_SHAPES = {
    "broadcast": "the value's own shape; a single element takes a 0-d value",
    "leading ones dropped": "the value's shape without leading dimensions of length 1: an array of"
    " shape (1,) can be assigned to a single element",
}
# x + alpha * y of floats.
SCALED_SUMS = {
    "each step": "the product is rounded, then the sum",
    "float32 once": "float32 is rounded once; smaller floats are rounded after each step",
}
# One element of an array, x[0].
ELEMENTS = {
    "copies": "a copy: an array or a scalar",
    "views": "a view: writes to x show in it, and writes to it show in x",
}
# Part of an array, x[1:].
SLICES = {
    "views": "a view: writes to x show in it, and writes to it show in x",
    "copies": "a copy",
}
# An array that is assigned to a part of itself, x[::2] = x[:1].
OVERLAPS = {
    "allowed": "everything is read before anything is written",
    "refused": "it is refused",
}
# An op in place, where the array takes another dtype and the result has another shape.
RETYPED_SHAPES = {
    "taken": "the array takes the shape too",
    "kept": "it is refused",
}
# cumsum and cumprod of a 0-d array.
CUMULATED_NUMBER = {"one element": "they have one element", "0-d": "they are 0-d"}
# The same for more dimensions, where no axis is given.
CUMULATED_AXIS = {
    "refused": "it is refused",
    "flattened": "over all elements, as one dimension",
    "first": "along the first axis",
}
MEDIAN_OF_NONE = {"nan": "NaN, or what NaN is cast to for integers", "raises": "it raises"}
LOGSUMEXP_OF_NONE = {"minus infinity": "it is -inf", "raises": "it raises"}
# Python's divmod(x, y).
DIVMOD = {
    "quotient and remainder": "it is `x // y` and `x % y`",
    "refused": "not defined for arrays",
}
# Python's round(x) and round(x, digits).
ROUND = {
    "refused": "not defined for arrays",
    "integers": "integers of the default width; with digits the dtype stays",
    "same dtype": "the dtype stays, with or without digits",
}
# max and min of no elements.
EXTREMES_OF_NONE = {
    "raises": "they raise",
    "limits": "the dtype's smallest number for max, its largest for min",
}
# argmax and argmin of floats with NaN among them.
PLACE_OF_NAN = {
    "taken": "the index of the first NaN",
    "passed over": "NaN is skipped",
}
# Integers of 64 bits, where their mean is an integer.
INTEGER_MEANS = {
    "in floats": "computed in float64, which holds 53 bits",
    "in integers": "their sum, which may wrap, divided by their number, without the fraction",
}
# std and var of integers.
INTEGER_VARIANCE = {
    "in floats": "computed on floats, if the result is a float",
    "in integers": "computed in integers, from the mean without its fraction; std is the root"
    " of var",
}
# angle of real numbers.
REAL_ANGLES = {
    "sign": "pi if the sign bit is set, also for -0.0; NaN for NaN",
    "below zero or NaN": "pi below zero, 0 for -0.0; NaN for NaN",
    "below zero": "pi below zero, else 0, also for NaN",
}
# xlogy of 0 and NaN.
ZERO_LOG_OF_NAN = {"nan": "it is NaN", "zero": "0, as with any other number"}
# The imaginary part of logaddexp and logaddexp2 of complex numbers.
SUMMED_ANGLES = {
    "as computed": "that of the sum",
    "wrapped": "wrapped to between -pi and pi, divided by log(2) for logaddexp2",
}
# What negative numbers and zero become in float8_e8m0fnu, which holds only powers of two.
SIGNLESS = {
    "nan": "they are NaN",
    "magnitude": "the sign is dropped, and zero becomes the smallest number",
}
STEP_OF_NAN = {"nan": "it is NaN", "zero": "it is 0"}
# x[None] = value.
NEW_AXES = {
    "broadcast": "the value is broadcast to x with a leading axis",
    "passed over": "same as x[...] = value; a value with more dimensions than x is refused",
    "copied": "it writes to a copy, and x does not change",
}
# x[...] = value of a 0-d array.
ASSIGNED_0D = {
    "written": "it is written",
    "refused": "refused, except for a Python number assigned to float32",
}
# What "wraps" means where castwise converts instead of the processor.
WRAPS_ON = {"x86_64": "wraps as x86-64", "aarch64": "wraps as ARM"}
# What max, min and median of an array give along one dimension.
EXTREMES = {
    "values": "the values",
    "values and indices": "a pair: the values and their indices",
}
# What an array's method sort gives.
SORT = {
    "values": "a sorted array",
    "in place": "nothing: the array itself is sorted",
    "values and indices": "a pair: the sorted values and their indices",
}
# What two numbers mean to an array's method transpose.
TRANSPOSE = {
    "permutes": "the new order of all dimensions",
    "swaps": "the two dimensions to swap",
}
# What an array's attribute T is if the array is not a matrix.
TRANSPOSED = {
    "refused": "it raises",
    "reversed": "the array with its dimensions in reverse order",
    "first two": "the array with its first two dimensions swapped",
}
# What an array's method repeat repeats.
REPEAT = {
    "elements": "each element",
    "whole": "the whole array, along each dimension",
}
# What a number means to an array's method split.
SPLIT = {
    "parts": "how many parts there are, all of one length",
    "lengths": "the length of each part",
}
# What an array's method squeeze does with a dimension that is longer than 1.
SQUEEZE = {
    "refused": "it raises",
    "kept": "it keeps the dimension",
}
# Whether the array of an array's method flatten has its own memory.
FLATTEN = {
    "copied": "it is a copy",
    "shared": "it shares the memory, if it can",
}
# What an array's method nonzero gives.
NONZERO = {
    "by dimension": "one array of indices per dimension",
    "by element": "one array with a row of indices per element",
}


@dataclass(frozen=True, slots=True)
class Dividing:
    """How numbers are divided."""

    quotient_by_zero: str = "zero"
    remainder_by_zero: str = "zero"
    rounds: str = "floors"
    float_quotient: str = "exact"
    divisor_in_place: str = "common"
    # Ops or op/form in which a number / an array is the number times the array's reciprocal.
    reciprocal_first: str = ""
    # The same for an array / a number or a 0-d array: the array times the other's reciprocal.
    reciprocal_second: str = ""


@dataclass(frozen=True, slots=True)
class Powers:
    """What powers and roots are."""

    of_integers: str = "negative raises"
    exponents: str = "rounded"
    by_one_exponent: str = "as arrays"
    square_root: str = "exact"


@dataclass(frozen=True, slots=True)
class Casting:
    """What a cast does with values that the other dtype cannot represent."""

    float_to_int: str = "wraps"
    float_to_byte: str = "as others"
    truth: str = "not zero"
    subnormals: str = "kept"
    signless: str = "nan"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How other elementwise ops compute."""

    shifts: str = "shifted out"
    mixed_signs: str = "exact"
    scaled_sums: str = "each step"
    halves: str = "even"
    gelu: str = "erf"
    real_angles: str = "sign"
    summed_angles: str = "as computed"
    sign_of_nan: str = "nan"
    step_of_nan: str = "nan"
    zero_log_of_nan: str = "nan"
    float_errors: str = "warns"
    # Ops in which a Python number or a 0-d array mixed with small floats is not rounded to them.
    wide_scalars: str = ""
    # Ops that are computed by the steps of their composition, each rounded to its own dtype.
    stepwise: str = ""


@dataclass(frozen=True, slots=True)
class Clamping:
    """How clamp handles its bounds."""

    crossed_bounds: str = "upper"
    bound_shapes: str = "broadcast"
    lower_bound: str = "joined"


@dataclass(frozen=True, slots=True)
class Reducing:
    """What reductions and cumulative ops give."""

    correction: int = 0  # std and var divide by the count less this
    median: str = "mean"
    integer_means: str = "in floats"
    integer_variance: str = "in floats"
    place_of_nan: str = "taken"
    extremes_of_none: str = "raises"
    median_of_none: str = "nan"
    logsumexp_of_none: str = "minus infinity"
    cumulated_number: str = "one element"
    cumulated_axis: str = "refused"


@dataclass(frozen=True, slots=True)
class Memory:
    """What is a view, and how writes to arrays work."""

    elements: str = "copies"
    slices: str = "views"
    # Ops whose result shares the memory of their operand: writes to one show in both.
    shares_memory: str = ""
    out_shapes: str = "kept"
    assigned_shapes: str = "broadcast"
    assigned_0d: str = "written"
    new_axes: str = "broadcast"
    overlaps: str = "allowed"
    retyped_shapes: str = "taken"
    # Ops that change an array's dtype in place before they read their operands, so the array may
    # not be one of them.
    retyped_first: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """The ops that are refused for some shapes."""

    # Ops that are refused for 0-d arrays.
    dimension: str = ""
    # Ops that are refused for arrays without elements.
    elements: str = ""
    # Ops that take only arrays of one dimension.
    vectors: str = ""


@dataclass(frozen=True, slots=True)
class PythonFunctions:
    """What Python's own functions do with arrays."""

    divmod: str = "quotient and remainder"
    round: str = "refused"


@dataclass(frozen=True, slots=True)
class ArrayMethods:
    """What the methods of arrays give where frameworks use one name for different things. If a
    framework has no such method, this is what castwise's tensors give under it."""

    extremes: str = "values"
    sort: str = "values"
    transpose: str = "permutes"
    transposed: str = "refused"
    repeat: str = "elements"
    split: str = "parts"
    squeeze: str = "refused"
    flatten: str = "copied"
    nonzero: str = "by dimension"


@dataclass(frozen=True, slots=True)
class Values:
    """What a framework computes where arithmetic leaves a choice."""

    dividing: Dividing = field(default=Dividing())
    powers: Powers = field(default=Powers())
    casting: Casting = field(default=Casting())
    arithmetic: Arithmetic = field(default=Arithmetic())
    clamping: Clamping = field(default=Clamping())
    reducing: Reducing = field(default=Reducing())
    memory: Memory = field(default=Memory())
    needs: Needs = field(default=Needs())
    functions: PythonFunctions = field(default=PythonFunctions())
    methods: ArrayMethods = field(default=ArrayMethods())


# The words that each field chooses from.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "dividing.quotient_by_zero": QUOTIENT_BY_ZERO,
    "dividing.remainder_by_zero": REMAINDER_BY_ZERO,
    "dividing.rounds": DIVISION,
    "dividing.float_quotient": FLOAT_QUOTIENT,
    "powers.of_integers": INTEGER_POWERS,
    "powers.exponents": EXPONENTS,
    "powers.by_one_exponent": SINGLE_POWERS,
    "powers.square_root": SQUARE_ROOT,
    "arithmetic.shifts": SHIFTS,
    "casting.float_to_int": FLOAT_TO_INT,
    "casting.float_to_byte": FLOAT_TO_BYTE,
    "casting.subnormals": SUBNORMALS,
    "arithmetic.mixed_signs": MIXED_SIGNS,
    "dividing.divisor_in_place": DIVISOR_IN_PLACE,
    "casting.truth": TRUTH,
    "reducing.median": MEDIAN,
    "arithmetic.gelu": GELU,
    "arithmetic.sign_of_nan": SIGN_OF_NAN,
    "arithmetic.halves": HALVES,
    "clamping.crossed_bounds": CROSSED_BOUNDS,
    "clamping.bound_shapes": BOUND_SHAPES,
    "clamping.lower_bound": LOWER_BOUND,
    "arithmetic.float_errors": FLOAT_ERRORS,
    "memory.out_shapes": OUT_SHAPES,
    "memory.assigned_shapes": ASSIGNED_SHAPES,
    "arithmetic.scaled_sums": SCALED_SUMS,
    "memory.elements": ELEMENTS,
    "memory.slices": SLICES,
    "memory.overlaps": OVERLAPS,
    "memory.retyped_shapes": RETYPED_SHAPES,
    "reducing.cumulated_number": CUMULATED_NUMBER,
    "reducing.cumulated_axis": CUMULATED_AXIS,
    "reducing.median_of_none": MEDIAN_OF_NONE,
    "reducing.logsumexp_of_none": LOGSUMEXP_OF_NONE,
    "functions.divmod": DIVMOD,
    "functions.round": ROUND,
    "reducing.extremes_of_none": EXTREMES_OF_NONE,
    "reducing.place_of_nan": PLACE_OF_NAN,
    "reducing.integer_means": INTEGER_MEANS,
    "reducing.integer_variance": INTEGER_VARIANCE,
    "arithmetic.real_angles": REAL_ANGLES,
    "arithmetic.step_of_nan": STEP_OF_NAN,
    "arithmetic.zero_log_of_nan": ZERO_LOG_OF_NAN,
    "arithmetic.summed_angles": SUMMED_ANGLES,
    "casting.signless": SIGNLESS,
    "memory.assigned_0d": ASSIGNED_0D,
    "memory.new_axes": NEW_AXES,
    "methods.extremes": EXTREMES,
    "methods.sort": SORT,
    "methods.transpose": TRANSPOSE,
    "methods.transposed": TRANSPOSED,
    "methods.repeat": REPEAT,
    "methods.split": SPLIT,
    "methods.squeeze": SQUEEZE,
    "methods.flatten": FLATTEN,
    "methods.nonzero": NONZERO,
}
