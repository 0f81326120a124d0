"""Writes what is one call of an op: functions of the namespace and methods of a tensor.

    python tools/methods.py

Each function and method is one word or line in the tables here, with the docstring that both share.
The type checker, editors and `help` then see its signature. What has a signature of its own is
written out in `array_api/functions.py`, `beyond.py` or `arrays/methods.py`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import castwise.array_api as array_api
import castwise.arrays
from castwise.arrays.functions import standard_name

FILE = Path(castwise.arrays.__file__).with_name("method_rows.py")
FUNCTIONS_FILE = Path(array_api.__file__).with_name("elementwise.py")
_WIDTH = 100


@dataclass(frozen=True)
class Signature:
    """The parameters of a method after self, and what it passes to its op after self."""

    parameters: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


# The functions of the namespace by their form: op -> docstring. Their names are the standard's.
_X, _REDUCED_TO = ("x: Tensor", "/", "*"), "keepdims: bool = False"
FUNCTION_SIGNATURES = {
    "one": Signature(("x: Tensor", "/"), ("x",)),
    "two": Signature(("x1: Operand", "x2: Operand", "/"), ("x1", "x2")),
    "reduced": Signature(
        (*_X, "axis: Axes = None", _REDUCED_TO), ("x", "axis=axis", "keepdims=keepdims")
    ),
    "along one axis": Signature(
        (*_X, "axis: int | None = None", _REDUCED_TO), ("x", "axis=axis", "keepdims=keepdims")
    ),
}
FUNCTIONS = {
    "one": {
        "abs": "The absolute value of each element.",
        "acos": "The inverse cosine of each element.",
        "acosh": "The inverse hyperbolic cosine of each element.",
        "angle": "The angle of each complex number; pi for a negative real one.",
        "asin": "The inverse sine of each element.",
        "asinh": "The inverse hyperbolic sine of each element.",
        "atan": "The inverse tangent of each element.",
        "atanh": "The inverse hyperbolic tangent of each element.",
        "bitwise_not": "Each element with its bits inverted.",
        "cbrt": "The cube root of each element.",
        "ceil": "The next integer up, in the same dtype.",
        "conj": "The complex conjugate of each element.",
        "cos": "The cosine of each element.",
        "cosh": "The hyperbolic cosine of each element.",
        "degrees": "Each angle, given in radians, in degrees.",
        "erf": "The error function of each element.",
        "exp": "e to the power of each element.",
        "exp2": "2 to the power of each element.",
        "expm1": "e to the power of each element, minus 1, exact near 0.",
        "floor": "The next integer down, in the same dtype.",
        "gelu": "Each element times the probability that a normal variable is below it.",
        "imag": "The imaginary part of each element.",
        "isfinite": "Whether each element is neither infinite nor NaN.",
        "isinf": "Whether each element is infinite.",
        "isnan": "Whether each element is NaN.",
        "log": "The natural logarithm of each element.",
        "log10": "The logarithm to base 10 of each element.",
        "log1p": "The logarithm of 1 plus each element, exact near 0.",
        "log2": "The logarithm to base 2 of each element.",
        "logical_not": "Whether each element is false.",
        "neg": "Each element with its sign flipped.",
        "positive": "Each element unchanged.",
        "radians": "Each angle, given in degrees, in radians.",
        "real": "The real part of each element.",
        "reciprocal": "1 divided by each element.",
        "relu": "Each element, or 0 where it is negative.",
        "round": "The nearest integer, ties to even, in the same dtype.",
        "rsqrt": "1 divided by the square root of each element.",
        "sigmoid": "1 / (1 + exp(-x)).",
        "sign": "-1, 0 or 1; for complex numbers the number divided by its magnitude.",
        "signbit": "Whether the sign bit of each element is set, including that of -0.",
        "silu": "Each element times its sigmoid.",
        "sin": "The sine of each element.",
        "sinh": "The hyperbolic sine of each element.",
        "sqrt": "The square root of each element.",
        "square": "The square of each element.",
        "tan": "The tangent of each element.",
        "tanh": "The hyperbolic tangent of each element.",
        "trunc": "Each element truncated towards zero, in the same dtype.",
    },
    "two": {
        "add": "The sum of two operands.",
        "atan2": "The angle of the points (x2, x1), in all four quadrants.",
        "bitwise_and": "The bits set in both operands.",
        "bitwise_left_shift": "The bits of one operand, shifted left by the other.",
        "bitwise_or": "The bits set in either operand.",
        "bitwise_right_shift": "The bits of one operand, shifted right by the other.",
        "bitwise_xor": "The bits set in exactly one of two operands.",
        "clamp_max": "Each element, no larger than the bound.",
        "clamp_min": "Each element, no smaller than the bound.",
        "copysign": "The magnitude of one operand with the sign of the other.",
        "div": "The quotient of two operands.",
        "div_no_nan": "The quotient of two operands; 0 where the divisor is 0.",
        "dot": "The sum of products over the last dimension of one and the one before last of"
        " the other.",
        "eq": "Whether two operands are equal.",
        "float_power": "One operand to the power of the other, in float64 or complex128.",
        "floor_div": "The quotient of two operands, rounded down.",
        "floor_divide": "The quotient of two operands, rounded down.",
        "fmax": "The larger of two operands; if one is NaN, the other.",
        "fmin": "The smaller of two operands; if one is NaN, the other.",
        "fmod": "The remainder of a division, with the sign of the dividend.",
        "ge": "Whether one operand is greater than the other or equal to it.",
        "gt": "Whether one operand is greater than the other.",
        "heaviside": "0 below zero, 1 above, and the second operand at zero.",
        "hypot": "The length of the hypotenuse of a right triangle with these legs.",
        "inner": "The sum of products over the last dimension of both.",
        "kron": "Each element of the first operand times the whole of the second, laid out as"
        " blocks.",
        "ldexp": "The first operand times 2 to the power of the second.",
        "le": "Whether one operand is less than the other or equal to it.",
        "logaddexp": "The logarithm of the sum of exponentials.",
        "logaddexp2": "The logarithm to base 2 of the sum of powers of 2.",
        "logical_and": "Whether both operands are true.",
        "logical_or": "Whether either operand is true.",
        "logical_xor": "Whether exactly one of two operands is true.",
        "lt": "Whether one operand is less than the other.",
        "maximum": "The larger of two operands; NaN if one is NaN.",
        "minimum": "The smaller of two operands; NaN if one is NaN.",
        "mul": "The product of two operands.",
        "multiply_no_nan": "The product of two operands; 0 where the second is 0, for any first"
        " operand.",
        "ne": "Whether two operands differ.",
        "nextafter": "The next number of the dtype after one operand, towards the other.",
        "outer": "All products of an element of one with an element of the other, for any shapes.",
        "pow": "One operand to the power of the other.",
        "real_div": "The quotient of two operands, in their own dtype.",
        "remainder": "The remainder of a division, with the sign of the divisor.",
        "rsub": "The second operand minus the first.",
        "sub": "The difference of two operands.",
        "truncate_div": "The quotient of two operands, truncated towards zero.",
        "xlogy": "The first operand times the logarithm of the second; 0 where the first is 0.",
    },
    "reduced": {
        "all": "Whether all elements are true.",
        "any": "Whether at least one element is true.",
        "count_nonzero": "How many elements are not zero.",
        "logsumexp": "The logarithm of the sum of exponentials.",
        "max": "The largest element.",
        "mean": "The mean of the elements.",
        "min": "The smallest element.",
    },
    "along one axis": {
        "argmax": "The index of the largest element.",
        "argmin": "The index of the smallest element.",
        "median": "The middle element, or the mean of the middle two.",
    },
}

# The methods by their form.
_AXIS, _DIM = "axis: int | None = None", "dim: int | None = None"
_AXES, _DIMS = "axis: Axes = None", "dim: Axes = None"
_KEEPS, _KEEP = "keepdims: bool = False", "keepdim: bool | None = None"
_DTYPE, _WHERE = "dtype: object = None", "where: Tensor | None = None"
_INITIAL = "initial: Operand | None = None"
_REDUCED = "**reduced(axis, keepdims, dim, keepdim)"
_IN_DTYPE = "**given(dtype=dtype)"
SIGNATURES = {
    "one": Signature(),
    "two": Signature(("other: Operand",), ("other",)),
    "scaled": Signature(
        ("other: Operand", "*", "alpha: Number | None = None"), ("other", "**given(alpha=alpha)")
    ),
    "divided": Signature(
        ("other: Operand", "*", "rounding_mode: str | None = None"),
        ("other", "**given(rounding_mode=rounding_mode)"),
    ),
    "between": Signature(("end: Operand", "weight: Operand"), ("end", "weight")),
    "three": Signature(
        ("tensor1: Operand", "tensor2: Operand", "*", "value: Number | None = None"),
        ("tensor1", "tensor2", "**given(value=value)"),
    ),
    "close": Signature(
        ("other: Operand", "rtol: float = 1e-05", "atol: float = 1e-08", "equal_nan: bool = False"),
        ("other", "rtol=rtol", "atol=atol", "equal_nan=equal_nan"),
    ),
    "crossed": Signature(
        ("other: Tensor", _AXIS, "*", _DIM), ("other", "axis=axis_or_dim(axis, dim, -1)")
    ),
    "bounded": Signature(
        ("min: Operand | None = None", "max: Operand | None = None"), ("min", "max")
    ),
    "thresholds": Signature(
        ("threshold: float = 0", "value: float = 0"), ("threshold=threshold", "value=value")
    ),
    "reduced": Signature((_AXES, _KEEPS, "*", _DIMS, _KEEP), (_REDUCED,)),
    "tested": Signature(
        (_AXES, _KEEPS, "*", _WHERE, _DIMS, _KEEP), (_REDUCED, "**given(where=where)")
    ),
    "bounding": Signature(
        (_AXES, _KEEPS, "*", _INITIAL, _WHERE, _DIMS, _KEEP),
        (_REDUCED, "**given(initial=initial, where=where)"),
    ),
    "averaged": Signature(
        (_AXES, _KEEPS, "*", _DTYPE, _WHERE, _DIMS, _KEEP),
        (_REDUCED, "**given(dtype=dtype, where=where)"),
    ),
    "accumulated": Signature(
        (_AXES, _KEEPS, "*", _DTYPE, _INITIAL, _WHERE, _DIMS, _KEEP),
        (_REDUCED, "**given(dtype=dtype, initial=initial, where=where)"),
    ),
    "deviating": Signature(
        (
            _AXES, "*", "correction: float | None = None", "ddof: float | None = None",
            "unbiased: bool | None = None", _KEEPS, _DIMS, _KEEP,
        ),
        (_REDUCED, "**corrected(correction, ddof, unbiased)"),
    ),
    "cumulated": Signature((_AXIS, "*", _DTYPE, _DIM), ("axis=axis_or_dim(axis, dim)", _IN_DTYPE)),
    "along": Signature((_AXIS, "*", _DTYPE, _DIM), ("axis=axis_or_dim(axis, dim, -1)", _IN_DTYPE)),
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """The methods of a class: for each signature, the names of ops; `op=name` for another name."""

    about: str
    signatures: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)  # method -> its other names


TABLES = {
    "unary": Table(
        "Methods with no other operand.",
        {
            "one": "abs acos acosh angle asin asinh atan atanh bitwise_not cbrt ceil cos cosh"
            " degrees erf exp exp2 expm1 floor gelu isfinite isinf isnan log log10 log1p log2"
            " logical_not neg positive radians reciprocal relu rsqrt sigmoid sign signbit sin sinh"
            " sqrt square tan tanh trunc",
            "bounded": "clamp",
            "thresholds": "threshold",
            "along": "softmax log_softmax",
            "cumulated": "cumsum cumprod",
        },
        {
            "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
            "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh", "clamp": "clip",
            "cumprod": "cumulative_prod", "cumsum": "cumulative_sum",
            "degrees": "rad2deg", "neg": "negative", "radians": "deg2rad", "trunc": "fix",
        },
    ),
    "pairs": Table(
        "Methods with other operands.",
        {
            "scaled": "add sub",
            "divided": "div",
            "two": "atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
            " clamp_max clamp_min copysign dot eq float_power floor_divide fmax fmin fmod ge gt"
            " heaviside hypot inner kron ldexp le logaddexp logaddexp2 logical_and logical_or"
            " logical_xor lt matmul maximum minimum mul ne nextafter outer pow remainder vecdot"
            " xlogy",
            "crossed": "cross",
            "between": "lerp",
            "three": "addcdiv addcmul",
            "close": "allclose isclose",
        },
        {
            "atan2": "arctan2", "div": "divide true_divide", "ge": "greater_equal",
            "gt": "greater", "le": "less_equal", "lt": "less", "mul": "multiply",
            "ne": "not_equal", "outer": "ger", "sub": "subtract",
        },
    ),
    "reductions": Table(
        "Methods that reduce a tensor along dimensions.",
        {
            "accumulated": "sum prod",
            "averaged": "mean",
            "deviating": "std var",
            "tested": "all any",
            "bounding": "max=amax min=amin",
            "reduced": "argmax argmin count_nonzero logsumexp",
        },
    ),
}  # fmt: skip


def text() -> str:
    """The file."""
    classes = [
        f'\n\nclass {name.title()}:\n    """{table.about}"""\n\n    __slots__ = ()\n'
        + "\n".join(line for rows in _methods(table) for line in rows)
        for name, table in TABLES.items()
    ]
    return _HEAD + "\n".join(classes) + "\n"


_HEAD = """\
\"\"\"Methods that are ops. Written by tools/methods.py.\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING

from castwise.arrays.apply import apply_op
from castwise.arrays.spelling import Axes, Number, Operand, axis_or_dim, corrected, given, reduced

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor
"""


def functions_text() -> str:
    """The file of the functions."""
    rows = sorted(
        (standard_name(op), op, FUNCTION_SIGNATURES[form])
        for form, docs in FUNCTIONS.items() for op in docs
    )  # fmt: skip
    ordered = sorted([name for name, *_ in rows], key=_with_numbers_by_size)
    names = textwrap.fill(", ".join(f'"{name}"' for name in ordered) + ",", _WIDTH - 4)
    lines = ["__all__ = [", textwrap.indent(names, "    "), "]  # fmt: skip"]
    for name, op, form in rows:
        head = _laid_out(f"def {name}", form.parameters, " -> Tensor:")
        call = _laid_out("    return op", (f'"{op}"', *form.passes), "")
        lines += ["", "", *head, *_doc(op, "    "), *call]
    return _FUNCTIONS_HEAD + "\n".join(lines) + "\n"


def _with_numbers_by_size(name: str) -> list[Any]:
    """What a name is sorted by in `__all__`: log2 comes before log10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


_FUNCTIONS_HEAD = """\
\"\"\"Functions that are ops and take one or two operands, or reduce one: those of the standard, and
some beyond it. Written by tools/methods.py.\"\"\"

from __future__ import annotations

from castwise.array_api.calls import Axes, Operand, op
from castwise.arrays.tensor import Tensor

"""


def _methods(table: Table) -> Iterator[list[str]]:
    """The lines of each method, sorted by name."""
    found = []
    for signature, words in table.signatures.items():
        for word in words.split():
            op, _, own = word.partition("=")
            found.append((own or op, op, SIGNATURES[signature]))
    for method, op, form in sorted(found, key=lambda row: row[0]):
        call = _laid_out("        return apply_op", (f'"{op}"', "self", *form.passes), "")
        yield ["", *_laid_out(f"    def {method}", ("self", *form.parameters), " -> Tensor:"),
               *_doc(op, " " * 8), *call]  # fmt: skip
        for other in table.also.get(method, "").split():
            yield ["", f"    {other} = {method}"]


def _laid_out(head: str, arguments: tuple[str, ...], tail: str) -> list[str]:
    """A call or a signature, laid out as the formatter does."""
    given, indent = ", ".join(arguments), " " * (len(head) - len(head.lstrip()))
    if len(f"{head}({given}){tail}") <= _WIDTH:
        return [f"{head}({given}){tail}"]
    is_short = len(given) + len(indent) + 4 <= _WIDTH
    inner = [given] if is_short else [f"{argument}," for argument in arguments]
    return [f"{head}(", *[f"{indent}    {line}" for line in inner], f"{indent}){tail}"]


def _doc(op: str, indent: str) -> list[str]:
    """The docstring of an op's function."""
    docs = [docs[op] for docs in FUNCTIONS.values() if op in docs]
    text = docs[0] if docs else getattr(array_api, standard_name(op)).__doc__
    lines = textwrap.wrap(f'"""{" ".join(text.split())}"""', _WIDTH - len(indent))
    return [f"{indent}{line}" for line in lines]


if __name__ == "__main__":
    FUNCTIONS_FILE.write_text(functions_text(), encoding="utf-8")
    FILE.write_text(text(), encoding="utf-8")
