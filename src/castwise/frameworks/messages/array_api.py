"""The errors of array-api-strict about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

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
