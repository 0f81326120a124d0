"""The words a dialect's data chooses from, each with an explanation for people."""

from __future__ import annotations

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
