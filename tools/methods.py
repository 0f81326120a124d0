"""Writes the methods of a tensor that are ops: `python tools/methods.py`.

A new method is one word or line in `TABLES`. The type checker, editors and `help` then see its
signature, and its docstring is that of the function in this namespace.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import castwise.array_api as array_api
import castwise.arrays
from castwise.arrays.functions import standard_name

FILE = Path(castwise.arrays.__file__).with_name("method_rows.py")
_WIDTH = 100


@dataclass(frozen=True)
class Signature:
    """The parameters of a method after self, and what it passes to its op after self."""

    parameters: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


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
        ("other: Tensor", _AXIS, "*", _DIM), ("other", "axis=axis_of(axis, dim, -1)")
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
    "cumulated": Signature((_AXIS, "*", _DTYPE, _DIM), ("axis=axis_of(axis, dim)", _IN_DTYPE)),
    "along": Signature((_AXIS, "*", _DTYPE, _DIM), ("axis=axis_of(axis, dim, -1)", _IN_DTYPE)),
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
from castwise.arrays.spelling import Axes, Number, Operand, axis_of, corrected, given, reduced

if TYPE_CHECKING:
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
               *_doc(op), *call]  # fmt: skip
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


def _doc(op: str) -> list[str]:
    """The docstring of an op's function in this namespace."""
    text = getattr(array_api, standard_name(op)).__doc__.strip()
    lines = textwrap.wrap(f'"""{" ".join(text.split())}"""', _WIDTH - 8)
    return [f"        {line}" for line in lines]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
