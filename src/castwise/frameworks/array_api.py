"""The Python Array API standard, as array-api-strict implements it."""

from __future__ import annotations

from castwise.rules.dialect import (
    Assigns,
    Becomes,
    Dialect,
    Evidence,
    Joining,
    Message,
    Messages,
    Naming,
)
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Condition,
    Exponent,
    Joins,
    NumPyOperands,
    Range,
    Rule,
    Writes,
)
from castwise.rules.values import Memory, Needs, PythonFunctions, Values
from castwise.vocab.ops import EXTENSIONS

_OPS = {
    "*": Rule(
        scalars="within kind",
        writes=Writes(into="same dtype"),
        range=Range(beyond="raises"),
        numpy=NumPyOperands(
            scalars="float64 -> float; complex128 -> complex",  # subclasses of Python's own
        ),
    ),
    "*/operator */inplace": Rule(numpy=NumPyOperands(scalars="")),
    "pow": Rule(exponent=Exponent(negative="elements raise")),
    "bitwise_left_shift/function bitwise_right_shift/function": Rule(
        exponent=Exponent(negative="raises")
    ),
    "clamp": Rule(
        computes="int float",
        joins=Joins("first operand", others="same kind"),
        range=Range(limit="64 bits", beyond="compares"),
    ),
    "add sub mul pow matmul abs square conj real sum prod cumsum cumprod": Rule(
        computes="int float complex"
    ),
    "sum prod cumsum cumprod": Rule(arguments=Arguments(dtype="computes")),
    "div atan2 hypot logaddexp copysign nextafter exp expm1 log log2 log10 log1p sqrt sin cos tan"
    " asin acos atan sinh cosh tanh asinh acosh atanh reciprocal": Rule(
        integers_become_float=False
    ),
    "signbit": Rule(computes="float"),
    "floor_divide remainder max min": Rule(computes="int float"),
    "logical_and logical_or logical_xor logical_not": Rule(computes="bool"),
    "sign round": Rule(computes="int float complex"),
    "floor ceil trunc argmax argmin": Rule(computes="int float"),
    # strict checks only the arrays' dtypes, so real-only ops accept a complex literal.
    "lt le gt ge maximum minimum": Rule(
        computes="int float complex",
        accepts=Accepts(refuses_arrays="complex"),
        because="complex numbers have no order",
    ),
    "isnan isinf isfinite": Rule(computes="int float complex"),
    # The function form passes mixed integers on to NumPy; the operator form does not.
    "matmul/function outer vecdot cross": Rule(accepts=Accepts(refuses="bool"), borrows="numpy"),
    "tensordot": Rule(accepts=Accepts(refuses="bool"), borrows="numpy"),
    " ".join(EXTENSIONS): Rule(integers_become_float=False),
    "linalg.matrix_power": Rule(computes="float complex"),
    "linalg.matrix_rank": Rule(computes="bool int float complex"),
    "fft.fft fft.ifft fft.fftn fft.ifftn fft.irfft fft.irfftn fft.hfft": Rule(computes="complex"),
    "fft.rfft fft.rfftn fft.ihfft": Rule(computes="float"),
    "isin": Rule(computes="int"),
    "outer": Rule(numpy=NumPyOperands(scalars="")),
    "imag": Rule(computes="complex"),
    "where": Rule(accepts=Accepts(condition=Condition(arrays="bool", numbers="", numpy=""))),
    "std var": Rule(computes="float"),
}

ARRAY_API = Dialect(
    framework="array-api",
    about="The Python Array API standard: mixed kinds are refused.",
    order="bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64"
    " complex64 complex128",
    joining=Joining(
        alone="bool",
        refusal="the standard promotes only integers up to int64, and floats with complex numbers",
    ),
    reaches="""
        int8 uint8 -> int16
        uint8 -> uint16
        int16 uint16 -> int32
        uint16 -> uint32
        int32 uint32 -> int64
        uint32 -> uint64
        float32 -> float64 complex64
        float64 complex64 -> complex128
    """,
    python={"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"},
    becomes=Becomes(
        lifts="int -> default_float",
        accumulates="int8 int16 int32 -> int64; uint8 uint16 uint32 -> uint64",
        reads_ints="uint64 float64",
    ),
    casts="safe",
    assigns=Assigns(values="safe", limit="dtype"),
    values=Values(
        memory=Memory(shares_memory="real imag"),
        functions=PythonFunctions(divmod="refused"),
        needs=Needs(vectors="outer"),
    ),
    ops=_OPS,
    naming=Naming(
        names="array_api array-api-strict array_api_strict xp",
        cast="xp.astype({x}, xp.{dtype})",
        recorded="2025.12",
        packages="array-api-strict",
        release="2.6",
        prefixes="xp xp.linalg xp.fft array_api_strict",
        aliases={
            "sub": "subtract",
            "mul": "multiply",
            "div": "divide",
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "bitwise_not": "bitwise_invert",
            "clamp": "clip",
            "neg": "negative",
            "cumsum": "cumulative_sum",
            "cumprod": "cumulative_prod",
            "norm": "vector_norm",
        },
    ),
    evidence=Evidence(
        source="recorded from array-api-strict 2.6, standard 2025.12",
        surprises=(
            "int32[3] + float32[3]",
            "int8[3] + uint8[3]",
            "int8[3] + uint64[3]",
            "int32[3] + 1.5",
            "float32[3] + 1",
            "int32[3] / int32[3]",
            "bool[3] + bool[3]",
            "sum(uint8[3])",
        ),
    ),
)

# The errors of array-api-strict about dtypes.

_SPECIAL_METHODS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip

MESSAGES = Messages(
    "array-api",
    (
        Message(
            "array_api_strict.{left} and array_api_strict.{right} cannot be type promoted together"
        ),
        Message(
            "Cannot perform {op} with dtypes array_api_strict.{left} and array_api_strict.{right}"
        ),
        Message(
            "dtypes are allowed in {op}(...). Got array_api_strict.{left} and"
            " array_api_strict.{right}."
        ),
        Message("dtypes are allowed in {op}; got array_api_strict.{left}."),
        Message("dtypes are allowed in {op}"),
        Message("Python {kind} scalars can only be promoted with floating-point arrays"),
        Message("Python {kind} scalars can only be promoted with bool arrays"),
        Message("Python {kind} scalars cannot be promoted with {left} arrays"),
        Message("Python int scalars must be within the bounds of the dtype for integer arrays"),
    ),
    ops={
        **{f"__{name}__": op for name, op in _SPECIAL_METHODS.items()},
        **{f"__i{name}__": op for name, op in _SPECIAL_METHODS.items()},
        "__invert__": "bitwise_not",
        "__neg__": "neg",
        **{f"__{name}__": name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    },
    packages="array_api_strict",
)
