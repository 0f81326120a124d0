"""What a framework computes where arithmetic leaves a choice, as data.

Most of what ops compute is the same everywhere. A record lists the rest: each field is a word from
value_words.py. The defaults are mostly NumPy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from castwise.rules import value_words as words


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
    "dividing.quotient_by_zero": words.QUOTIENT_BY_ZERO,
    "dividing.remainder_by_zero": words.REMAINDER_BY_ZERO,
    "dividing.rounds": words.DIVISION,
    "dividing.float_quotient": words.FLOAT_QUOTIENT,
    "powers.of_integers": words.INTEGER_POWERS,
    "powers.exponents": words.EXPONENTS,
    "powers.by_one_exponent": words.SINGLE_POWERS,
    "powers.square_root": words.SQUARE_ROOT,
    "arithmetic.shifts": words.SHIFTS,
    "casting.float_to_int": words.FLOAT_TO_INT,
    "casting.float_to_byte": words.FLOAT_TO_BYTE,
    "casting.subnormals": words.SUBNORMALS,
    "arithmetic.mixed_signs": words.MIXED_SIGNS,
    "dividing.divisor_in_place": words.DIVISOR_IN_PLACE,
    "casting.truth": words.TRUTH,
    "reducing.median": words.MEDIAN,
    "arithmetic.gelu": words.GELU,
    "arithmetic.sign_of_nan": words.SIGN_OF_NAN,
    "arithmetic.halves": words.HALVES,
    "clamping.crossed_bounds": words.CROSSED_BOUNDS,
    "clamping.bound_shapes": words.BOUND_SHAPES,
    "clamping.lower_bound": words.LOWER_BOUND,
    "arithmetic.float_errors": words.FLOAT_ERRORS,
    "memory.out_shapes": words.OUT_SHAPES,
    "memory.assigned_shapes": words.ASSIGNED_SHAPES,
    "arithmetic.scaled_sums": words.SCALED_SUMS,
    "memory.elements": words.ELEMENTS,
    "memory.slices": words.SLICES,
    "memory.overlaps": words.OVERLAPS,
    "memory.retyped_shapes": words.RETYPED_SHAPES,
    "reducing.cumulated_number": words.CUMULATED_NUMBER,
    "reducing.cumulated_axis": words.CUMULATED_AXIS,
    "reducing.median_of_none": words.MEDIAN_OF_NONE,
    "reducing.logsumexp_of_none": words.LOGSUMEXP_OF_NONE,
    "functions.divmod": words.DIVMOD,
    "functions.round": words.ROUND,
    "reducing.extremes_of_none": words.EXTREMES_OF_NONE,
    "reducing.place_of_nan": words.PLACE_OF_NAN,
    "reducing.integer_means": words.INTEGER_MEANS,
    "reducing.integer_variance": words.INTEGER_VARIANCE,
    "arithmetic.real_angles": words.REAL_ANGLES,
    "arithmetic.step_of_nan": words.STEP_OF_NAN,
    "arithmetic.zero_log_of_nan": words.ZERO_LOG_OF_NAN,
    "arithmetic.summed_angles": words.SUMMED_ANGLES,
    "casting.signless": words.SIGNLESS,
    "memory.assigned_0d": words.ASSIGNED_0D,
    "memory.new_axes": words.NEW_AXES,
    "methods.extremes": words.EXTREMES,
    "methods.sort": words.SORT,
    "methods.transpose": words.TRANSPOSE,
    "methods.transposed": words.TRANSPOSED,
    "methods.repeat": words.REPEAT,
    "methods.split": words.SPLIT,
    "methods.squeeze": words.SQUEEZE,
    "methods.flatten": words.FLATTEN,
    "methods.nonzero": words.NONZERO,
}
