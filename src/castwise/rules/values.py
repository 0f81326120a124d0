"""What a framework computes where arithmetic leaves a choice, as data.

Most of what ops compute is the same everywhere. A record lists the rest: each field is a word, with
the words to choose from beside it. The defaults are mostly NumPy's.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def choice(default: str, title: str, words: Mapping[str, str]) -> Any:
    """A field that chooses a word: what it is about, and the words with what they mean."""
    return field(default=default, metadata={"title": title, "words": words})


@dataclass(frozen=True, slots=True)
class Dividing:
    """How numbers are divided."""

    quotient_by_zero: str = choice("zero", "The quotient `//` of integers by zero", {
        "raises": "it raises",
        "zero": "it is 0",
        "minus one or two": "-1 for 0 and -2 for anything else; the largest number if unsigned",
        "saturates": "the largest or the smallest number; 0 for 0",
    })  # fmt: skip
    remainder_by_zero: str = choice("zero", "The remainder of integers by zero", {
        "raises": "it raises", "zero": "it is 0", "dividend": "it is the dividend",
    })  # fmt: skip
    rounds: str = choice("floors", "Which way `//` and `%` round", {
        "floors": "the quotient rounds down, the remainder has the divisor's sign",
        "truncates": "the quotient rounds towards zero, the remainder has the dividend's sign",
    })  # fmt: skip
    float_quotient: str = choice("exact", "`//` of floats", {
        "exact": "computed from the exact remainder: 1 // 0.1 is 9, inf // 2 is nan",
        "rounded": "the rounded quotient, rounded down: 1 // 0.1 is 10, inf // 2 is inf",
    })  # fmt: skip
    divisor_in_place: str = choice("common", "What in-place division divides by", {
        "common": "y in the dtype that x and y compute in",
        "cast": "y cast to the dtype of x, also if that is an integer: int32 /= 0.5 divides by 0",
    })  # fmt: skip
    # Ops or op/form in which a number / an array is the number times the array's reciprocal.
    reciprocal_first: str = ""
    # The same for an array / a number or a 0-d array: the array times the other's reciprocal.
    reciprocal_second: str = ""


@dataclass(frozen=True, slots=True)
class Powers:
    """What powers and roots are."""

    of_integers: str = choice("negative raises", "Integers to the power of an array of integers", {
        "negative raises": "any negative exponent in the array raises",
        "negative truncates": "a negative power rounds towards zero; 0 to a negative power is 0",
        "negative is zero": "a negative power is 0, even of 1",
        "six bits": "only the six low bits of the exponent count, also if it is negative",
        "in float64": "computed in float64 and cast to the integer",
    })  # fmt: skip
    exponents: str = choice("rounded", "A Python number as the exponent of `float32`", {
        "rounded": "it is rounded to float32",
        "kept": "it is not rounded: the power is computed in float64, then rounded",
    })  # fmt: skip
    by_one_exponent: str = choice("as arrays", "Floats to the power of one exponent", {
        "as arrays": "same as with an array of exponents: -inf to the power 0.5 is inf",
        "square root": "0.5 is the square root, NaN for -inf; for float16 only with the operator",
        "square root by operator": "`** 0.5` is the square root",
        "short cuts": "the numbers 0.5, -0.5, -1, 2, 3 and -2 are a square root, a product or"
        " the inverse of one, except for float16",
    })  # fmt: skip
    by_whole_number: str = choice("as others", "Floats to the power of a Python int", {
        "as others": "same as with other numbers",
        "products": "a product of squares, each rounded; for a negative int its inverse",
    })  # fmt: skip
    square_root: str = choice("exact", "The square root of float32 and float64", {
        "exact": "rounded to the nearest number",
        "library": "rounded by the library it was built with: on a CPU sometimes one unit in"
        " the last place off",
    })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Casting:
    """What a cast does with values that the other dtype cannot represent."""

    float_to_int: str = choice("wraps", "Floats out of range, cast to an integer", {
        "wraps": "depends on the processor, and on the loop that handles the element: on"
        " x86-64 and on ARM mostly as in the next two lines",
        "wraps as x86-64": "beyond int32 (int64 for 64 bits) the smallest number of that dtype,"
        " of which the low bits are kept",
        "wraps as ARM": "the low bits of the nearest int32 (int64 from float64); for 64"
        " bits, and for uint32 from smaller floats, the nearest number; NaN is 0",
        "saturates": "the largest or the smallest number; NaN is 0",
    })  # fmt: skip
    float_to_byte: str = choice("as others", "The same, cast to `uint8`", {
        "as others": "same as for other integers",
        "low bits of int64": "the low bits of the int64, whatever the loop",
    })  # fmt: skip
    truth: str = choice("not zero", "Casts of complex numbers to bool", {
        "not zero": "everything except zero is true",
        "implied real part": "true if the real part is not zero; an explicit cast also looks at"
        " the imaginary part",
        "real part": "true if the real part is not zero",
    })  # fmt: skip
    subnormals: str = choice("kept", "Subnormal floats", {
        "kept": "kept",
        "flushed": "flushed to zero by arithmetic, comparisons and casts to and from float64,"
        " as inputs and as results",
    })  # fmt: skip
    signless: str = choice("nan", "Negative numbers and zero, cast to float8_e8m0fnu", {
        "nan": "they are NaN",
        "magnitude": "the sign is dropped, and zero becomes the smallest number",
    })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How other elementwise ops compute."""

    shifts: str = choice("shifted out", "Shifts by a negative count, or by the width or more", {
        "shifted out": "all bits are shifted out, whether the count is negative or too large",
        "modulo width": "the count is taken modulo the width; widths below 32 count as 32",
        "clamped": "the count is clamped between 0 and the width minus one",
    })  # fmt: skip
    mixed_signs: str = choice("exact", "Comparisons of a signed with an unsigned integer", {
        "exact": "compared by their exact values",
        "common dtype": "compared in their common dtype, rounded if that is a float",
    })  # fmt: skip
    scaled_sums: str = choice("each step", "`add` and `sub` of floats with `alpha`", {
        "each step": "the product is rounded, then the sum",
        "float32 once": "float32 is rounded once; smaller floats are rounded after each step",
    })  # fmt: skip
    halves: str = choice(
        "even", "round of halves", {"even": "to the even neighbour", "away": "away from zero"}
    )
    gelu: str = choice(
        "erf", "gelu", {"erf": "with the error function", "tanh": "with the tanh approximation"}
    )
    real_angles: str = choice("sign", "angle of real numbers", {
        "sign": "pi if the sign bit is set, also for -0.0; NaN for NaN",
        "below zero or NaN": "pi below zero, 0 for -0.0; NaN for NaN",
        "below zero": "pi below zero, else 0, also for NaN",
    })  # fmt: skip
    summed_angles: str = choice("as computed", "The imaginary part of logaddexp and logaddexp2", {
        "as computed": "that of the sum",
        "wrapped": "wrapped to between -pi and pi, divided by log(2) for logaddexp2",
    })  # fmt: skip
    sign_of_nan: str = choice("nan", "The sign of NaN", {"nan": "it is NaN", "zero": "it is 0"})
    step_of_nan: str = choice("nan", "heaviside of NaN", {"nan": "it is NaN", "zero": "it is 0"})
    zero_log_of_nan: str = choice(
        "nan", "xlogy of 0 and NaN", {"nan": "it is NaN", "zero": "0, as with any other number"}
    )
    float_errors: str = choice("warns", "Floats that overflow or are undefined", {
        "warns": "infinity or NaN with a warning, or what `np.errstate` sets",
        "silent": "infinity or NaN without a warning",
    })  # fmt: skip
    # Ops in which a Python number or a 0-d array mixed with small floats is not rounded to them.
    wide_scalars: str = ""
    wide_zero_d: str = choice("as numbers", "A 0-d array in such an op", {
        "as numbers": "it is not rounded either", "rounded": "it is rounded, as other arrays are",
    })  # fmt: skip
    # The same for Python numbers alone.
    wide_numbers: str = ""
    # Ops that are computed by the steps of their composition, each rounded to its own dtype.
    stepwise: str = ""


@dataclass(frozen=True, slots=True)
class Clamping:
    """How clamp handles its bounds."""

    crossed_bounds: str = choice("upper", "clamp if the lower bound is above the upper bound", {
        "upper": "the upper bound",
        "lower": "the lower bound",
        "raises": "it raises, and also if one of the bounds is NaN",
    })  # fmt: skip
    bound_shapes: str = choice("broadcast", "clamp if its bounds are arrays", {
        "broadcast": "all three are broadcast",
        "first": "all three are broadcast, and it raises if that changes the array's shape",
        "one": "a bound has one element; in place, and for int32 and int64, the first of"
        " several counts",
    })  # fmt: skip
    lower_bound: str = choice(
        "joined",
        "clamp of integers with a Python int as the lower bound and another dtype as the upper",
        {
            "joined": "it is converted to the dtype common to all three",
            "first": "it is first converted to the integers' dtype, where it wraps",
        },
    )


@dataclass(frozen=True, slots=True)
class Reducing:
    """What reductions and cumulative ops give."""

    correction: int = 0  # std and var divide by the count less this
    median: str = choice("mean", "The median", {
        "mean": "the mean of the two middle elements, if their number is even",
        "lower": "the lower of the two middle elements, if their number is even",
    })  # fmt: skip
    integer_means: str = choice(
        "in floats",
        "The mean of 64-bit integers, if the result is an integer",
        {
            "in floats": "computed in float64, which holds 53 bits",
            "in integers": "their sum, which may wrap, divided by their number, without the"
            " fraction",
        },
    )
    integer_variance: str = choice("in floats", "std and var of integers", {
        "in floats": "computed on floats, if the result is a float",
        "in integers": "computed in integers, from the mean without its fraction; std is the"
        " root of var",
    })  # fmt: skip
    place_of_nan: str = choice("taken", "argmax and argmin of floats that include NaN", {
        "taken": "the index of the first NaN", "passed over": "NaN is skipped",
    })  # fmt: skip
    extremes_of_none: str = choice("raises", "max and min of no elements", {
        "raises": "they raise",
        "limits": "the dtype's smallest number for max, its largest for min",
    })  # fmt: skip
    median_of_none: str = choice("nan", "The median of no elements", {
        "nan": "NaN, or what NaN is cast to for integers", "raises": "it raises",
    })  # fmt: skip
    logsumexp_of_none: str = choice("minus infinity", "logsumexp of no elements", {
        "minus infinity": "it is -inf", "raises": "it raises",
    })  # fmt: skip
    cumulated_number: str = choice("one element", "cumsum and cumprod of a 0-d array", {
        "one element": "they have one element", "0-d": "they are 0-d",
    })  # fmt: skip
    cumulated_axis: str = choice(
        "refused",
        "cumsum and cumprod of several dimensions, without an axis",
        {
            "refused": "it is refused",
            "flattened": "over all elements, as one dimension",
            "first": "along the first axis",
        },
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """What is a view, and how writes to arrays work."""

    elements: str = choice("copies", "One element of an array, `x[0]`", {
        "copies": "a copy",
        "scalars": "a scalar, as are all results without dimensions: `x[0] += 1` writes to x, and"
        " `y += 1` binds y to a new one",
        "views": "a view: writes to x show in it, and writes to it show in x",
    })  # fmt: skip
    # Ops whose results without dimensions are arrays where others give scalars.
    gives_arrays: str = ""
    slices: str = choice("views", "A slice of an array, `x[1:]`", {
        "views": "a view: writes to x show in it, and writes to it show in x", "copies": "a copy",
    })  # fmt: skip
    # Ops whose result shares the memory of their operand: writes to one show in both.
    shares_memory: str = ""
    out_shapes: str = choice("kept", "`out=` with another shape than the result", {
        "kept": "it keeps its shape; the result is broadcast to it if possible",
        "resized": "it takes the result's shape, with a warning if it had elements",
    })  # fmt: skip
    assigned_shapes: str = choice("broadcast", "The shape of a value that `x[i] = value` assigns", {
        "broadcast": "the value's own shape; a single element takes a 0-d value",
        "leading ones dropped": "the value's shape without leading dimensions of length 1: an"
        " array of shape (1,) can be assigned to a single element",
    })  # fmt: skip
    assigned: str = choice("written", "`x[i] = value`", {
        "written": "it is written",
        "by at": "it is refused, because arrays never change: `x.at[i].set(value)` gives a new one",
    })  # fmt: skip
    assigned_0d: str = choice("written", "`x[...] = value` of a 0-d array", {
        "written": "it is written",
        "refused": "refused, except for a Python number assigned to float32",
    })  # fmt: skip
    new_axes: str = choice("broadcast", "`x[None] = value`", {
        "broadcast": "the value is broadcast to x with a leading axis",
        "passed over": "same as x[...] = value; a value with more dimensions than x is refused",
        "copied": "it writes to a copy, and x does not change",
    })  # fmt: skip
    overlaps: str = choice("allowed", "An array assigned to a part of itself", {
        "allowed": "everything is read before anything is written", "refused": "it is refused",
    })  # fmt: skip
    retyped_shapes: str = choice("taken", "An in-place op that changes the dtype and the shape", {
        "taken": "the array takes the shape too", "kept": "it is refused",
    })  # fmt: skip
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

    divmod: str = choice("quotient and remainder", "Python's divmod of arrays", {
        "quotient and remainder": "it is `x // y` and `x % y`",
        "refused": "not defined for arrays",
    })  # fmt: skip
    round: str = choice("refused", "Python's round of an array", {
        "refused": "not defined for arrays",
        "integers": "integers of the default width; with digits the dtype stays",
        "same dtype": "the dtype stays, with or without digits",
    })  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArrayMethods:
    """What the methods of arrays give where frameworks use one name for different things. If a
    framework has no such method, this is what castwise's tensors give under it."""

    extremes: str = choice("values", "`x.max(0)`, `x.min(0)` and `x.median(0)`", {
        "values": "the values", "values and indices": "a pair: the values and their indices",
    })  # fmt: skip
    sort: str = choice("values", "`x.sort()`", {
        "values": "a sorted array",
        "in place": "nothing: the array itself is sorted",
        "values and indices": "a pair: the sorted values and their indices",
    })  # fmt: skip
    transpose: str = choice("permutes", "The numbers in `x.transpose(0, 1)`", {
        "permutes": "the new order of all dimensions", "swaps": "the two dimensions to swap",
    })  # fmt: skip
    transposed: str = choice("refused", "`x.T`, if x is not a matrix", {
        "refused": "it raises",
        "reversed": "the array with its dimensions in reverse order",
        "first two": "the array with its first two dimensions swapped",
    })  # fmt: skip
    axes_of_0d: str = choice("none", "The axis 0 of an array without dimensions", {
        "none": "there is none", "one": "it counts as the only axis, also as -1",
    })  # fmt: skip
    repeat: str = choice("elements", "`x.repeat(2)`", {
        "elements": "each element", "whole": "the whole array, along each dimension",
    })  # fmt: skip
    split: str = choice("parts", "The number in `x.split(2)`", {
        "parts": "how many parts there are, all of one length",
        "lengths": "the length of each part",
    })  # fmt: skip
    squeeze: str = choice("refused", "`x.squeeze(0)`, if that dimension is longer than 1", {
        "refused": "it raises", "kept": "it keeps the dimension",
    })  # fmt: skip
    flatten: str = choice("copied", "The memory of `x.flatten()`", {
        "copied": "it is a copy", "shared": "it shares the memory, if it can",
    })  # fmt: skip
    nonzero: str = choice("by dimension", "`x.nonzero()`", {
        "by dimension": "one array of indices per dimension",
        "by element": "one array with a row of indices per element",
    })  # fmt: skip


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


_CHOOSING = {
    f"{part.name}.{own.name}": own.metadata
    for part in fields(Values)
    for own in fields(getattr(Values(), part.name))
    if own.metadata
}
# By the names of the fields: the words that each chooses from, and what it is about.
CHOICES: Mapping[str, Mapping[str, str]] = {name: own["words"] for name, own in _CHOOSING.items()}
TITLES: Mapping[str, str] = {name: own["title"] for name, own in _CHOOSING.items()}

# What "wraps" means where castwise converts instead of the processor.
WRAPS_ON = {"x86_64": "wraps as x86-64", "aarch64": "wraps as ARM"}

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}  # what Windows and macOS call them


def architecture() -> str:
    """The processor's, on which the results of casts and some functions depend: `x86_64`,
    `aarch64`, or what the system calls another one."""
    machine = platform.machine().lower()
    return _ARCHITECTURES.get(machine, machine)
