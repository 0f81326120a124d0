"""The words for what a framework computes, each with what it means for a person."""

from __future__ import annotations

# The quotient `//` of integers by zero.
QUOTIENT_BY_ZERO = {
    "raises": "it raises",
    "zero": "it is 0",
    "minus one or two": "it is -1 of 0 and -2 of any other; of unsigned ones the greatest number",
    "saturates": "it is the greatest or the least number, of 0 it is 0",
}
# The remainders of integers by zero.
REMAINDER_BY_ZERO = {
    "raises": "it raises",
    "zero": "it is 0",
    "dividend": "it is the dividend",
}
# Which way `//` and `%` round.
DIVISION = {
    "floors": "the quotient is rounded down, the remainder has the divisor's sign",
    "truncates": "the quotient is rounded to zero, the remainder has the dividend's sign",
}
# How `//` of floats is computed.
FLOAT_QUOTIENT = {
    "exact": "from the exact remainder: 1 // 0.1 is 9, inf // 2 is nan",
    "rounded": "the rounded quotient is rounded down: 1 // 0.1 is 10, inf // 2 is inf",
}
# Integers to the power of integers; beyond their range all but the last wrap.
INTEGER_POWERS = {
    "negative raises": "an array of exponents with a negative one raises",
    "negative truncates": "a negative power is rounded to zero; 0 to a negative power is 0",
    "negative is zero": "a negative power is 0, even of 1",
    "six bits": "the six low bits of the exponent count, of negative ones too",
    "in float64": "computed in float64 and cast to the integer",
}
# A Python number as the exponent of float32.
EXPONENTS = {
    "rounded": "it is rounded to float32",
    "kept": "it is kept: the power is computed in float64, then rounded",
}
# Floats to the power of one exponent, a number or a 0-d array.
SINGLE_POWERS = {
    "as arrays": "as to the power of an array of exponents: -inf to the power 0.5 is inf",
    "square root": "0.5 is the square root, of -inf NaN; of float16 by the operator alone",
    "square root by operator": "`** 0.5` is the square root",
    "short cuts": "a number 0.5, -0.5, -1, 2, 3 or -2 is a square root, a product or the inverse of"
    " one, except for float16",
}
# How the square root of float32 and float64 is rounded.
SQUARE_ROOT = {
    "exact": "to the nearest number",
    "library": "as the library it was built with rounds it: on a CPU a unit in the last place off"
    " at times",
}
# Shifts by fewer than no bits, or by as many as there are or more.
SHIFTS = {
    "shifted out": "every bit is shifted out, whether the count is negative or too large",
    "modulo width": "the count is taken modulo the width, which is 32 for smaller ones",
    "clamped": "the count is brought into the range from 0 to the width less one",
}
# Floats that an integer dtype has no room for, in a cast.
FLOAT_TO_INT = {
    "wraps": "as the processor at hand converts, and as the loop does that the element falls to: on"
    " x86-64 and on ARM mostly as the next two lines say",
    "wraps as x86-64": "beyond int32 (int64 for 64 bits) it is the least number of that, and the"
    " low bits of what this gives are kept",
    "wraps as ARM": "the nearest int32 (int64 from float64), of which the low bits are kept; for 64"
    " bits, and for uint32 from smaller floats, the nearest number; NaN is 0",
    "saturates": "the greatest or the least number; NaN is 0",
}
# The same for uint8.
FLOAT_TO_BYTE = {
    "as others": "as to other integers",
    "low bits of int64": "through int64, of which the low bits are kept, whatever the loop",
}
# Floats below the least normal one.
SUBNORMALS = {
    "kept": "they count as they are",
    "flushed": "arithmetic, comparisons and casts to and from float64 take them for zero, and give"
    " zero instead of them",
}
# Comparisons of a signed with an unsigned integer.
MIXED_SIGNS = {
    "exact": "integers are compared as the numbers they are",
    "common dtype": "integers are compared in the dtype they join in, rounded if that is a float",
}
# What `x /= y` divides by.
DIVISOR_IN_PLACE = {
    "common": "y in the dtype that x and y compute in",
    "cast": "y cast to the dtype of x, integers too: int32 /= 0.5 divides by 0",
}
# Casts of complex numbers to bool.
TRUTH = {
    "not zero": "all but zero are true",
    "implied real part": "they are true where their real part is; all but zero by an explicit cast",
    "real part": "they are true where their real part is",
}
MEDIAN = {
    "mean": "of an even number it is the mean of the middle two",
    "lower": "of an even number it is the lower of the middle two",
}
GELU = {
    "erf": "by the error function",
    "tanh": "by the approximation with tanh",
}
SIGN_OF_NAN = {"nan": "it is NaN", "zero": "it is 0"}
HALVES = {"even": "to the even neighbour", "away": "away from zero"}
# clamp between a lower bound and a smaller upper one.
CROSSED_BOUNDS = {
    "upper": "the upper bound",
    "lower": "the lower bound",
    "raises": "it raises, and where one of the bounds is NaN",
}
# The bounds of clamp beside the array they bound.
BOUND_SHAPES = {
    "broadcast": "all three are broadcast",
    "first": "all three are broadcast, and it raises where that is not the array's own shape",
    "one": "a bound has one element; in place, and of int32 and int64, the first of many counts",
}
# A Python int as the lower bound of integers, where the upper one has another dtype.
LOWER_BOUND = {
    "joined": "it enters in the dtype that all are joined in",
    "first": "it meets the integers first, and wraps in their dtype",
}
# Floats that overflow, and results that no number is: 1 / 0, inf - inf, the mean of nothing.
FLOAT_ERRORS = {
    "warns": "infinity or NaN with a warning, or what `np.errstate` asks for",
    "silent": "infinity or NaN, and nothing is said",
}
# What becomes of out= where the result has another shape.
OUT_SHAPES = {
    "kept": "it keeps its shape, to which the result is broadcast if it can be",
    "resized": "it takes the result's shape, with a warning where it had elements",
}
# What x[i] = value broadcasts into its place.
ASSIGNED_SHAPES = {
    "broadcast": "the value as it is; into one element, a 0-d one",
    "leading ones dropped": "the value without the dimensions of length 1 in front: an array of"
    " shape (1,) is written into one element",
}
# x + alpha * y of floats.
SCALED_SUMS = {
    "each step": "the product is rounded, then the sum",
    "float32 once": "that of float32 is rounded once; smaller floats are rounded after each step",
}
# One element of an array, x[0].
ELEMENTS = {
    "copies": "it is an array or a scalar of its own",
    "views": "it is a view: what is written into x shows in it, and the other way round",
}
# Some of an array, x[1:].
SLICES = {
    "views": "a view: what is written into x shows in it, and the other way round",
    "copies": "an array of its own",
}
# An array that is assigned to a part of itself, x[::2] = x[:1].
OVERLAPS = {
    "allowed": "it is read before anything is written",
    "refused": "it is refused",
}
# An op in place, where the array takes another dtype and the result has another shape.
RETYPED_SHAPES = {
    "taken": "the array takes the shape too",
    "kept": "it is refused",
}
# cumsum and cumprod of a 0-d array.
CUMULATED_NUMBER = {"one element": "they have one element", "0-d": "they are 0-d"}
# The same of more dimensions, where no axis is given.
CUMULATED_AXIS = {
    "refused": "it is refused",
    "flattened": "of all elements, in one dimension",
    "first": "along the first axis",
}
MEDIAN_OF_NONE = {"nan": "it is NaN, of integers 0", "raises": "it raises"}
LOGSUMEXP_OF_NONE = {"minus infinity": "it is -inf", "raises": "it raises"}
# Python's divmod(x, y).
DIVMOD = {
    "quotient and remainder": "it is `x // y` and `x % y`",
    "refused": "it is no function of arrays",
}
# Python's round(x) and round(x, digits).
ROUND = {
    "refused": "it is no function of arrays",
    "integers": "it gives integers of the default width; with digits the dtype stays",
    "same dtype": "the dtype stays, with digits and without",
}
# max and min of no elements.
EXTREMES_OF_NONE = {
    "raises": "they raise",
    "limits": "the least and the greatest number there is",
}
# argmax and argmin of floats with NaN among them.
PLACE_OF_NAN = {
    "taken": "the place of the first NaN",
    "passed over": "NaN is passed over",
}
# Integers of 64 bits, where their mean is an integer.
INTEGER_MEANS = {
    "in floats": "in float64, which has room for 53 bits",
    "in integers": "their sum, which may wrap, over their number, without its fraction",
}
# std and var of integers.
INTEGER_VARIANCE = {
    "in floats": "the integers are made floats, if the result is one",
    "in integers": "from the mean without its fraction, in integers; std is the root of that",
}
# angle of real numbers.
REAL_ANGLES = {
    "sign": "pi where the sign is set, of -0.0 too; of NaN it is NaN",
    "below zero or NaN": "pi below zero, 0 of -0.0; of NaN it is NaN",
    "below zero": "pi below zero, else 0, of NaN too",
}
# xlogy of 0 and NaN.
ZERO_LOG_OF_NAN = {"nan": "it is NaN", "zero": "it is 0, as beside any other number"}
# The imaginary part of logaddexp and logaddexp2 of complex numbers.
SUMMED_ANGLES = {
    "as computed": "as the sum has it",
    "wrapped": "brought between -pi and pi, or these over log(2)",
}
# What float8_e8m0fnu, which holds powers of two alone, makes of negative numbers and zero.
SIGNLESS = {
    "nan": "they are NaN",
    "magnitude": "the sign is dropped, and zero is the least number",
}
STEP_OF_NAN = {"nan": "it is NaN", "zero": "it is 0"}
# x[None] = value.
NEW_AXES = {
    "broadcast": "the value is broadcast to x with an axis in front",
    "passed over": "as x[...] = value, and a value with more dimensions than x is refused",
    "copied": "a copy is written into, and x stays as it was",
}
# x[...] = value of a 0-d array.
ASSIGNED_0D = {
    "written": "it is written",
    "refused": "it is refused, except for a Python number that is assigned to float32",
}
# What "wraps" comes to where castwise converts instead of the processor.
WRAPS_ON = {"x86_64": "wraps as x86-64", "aarch64": "wraps as ARM"}
