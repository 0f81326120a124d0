"""MLX's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

MESSAGES = Messages(
    "mlx",
    (
        Message("[{op}] Only inexact types are supported but {left} and {right} were provided"),
        Message(
            "[{op}] Only allowed on integer or boolean types but got types {left} and {right}."
        ),
        Message("Floating point types not allowed with bitwise {op}."),
        Message("Floating point types not allowed with {op} shift."),
        Message("[{op}] Complex type not supported"),
        Message("[{op}] Not supported for {computed}"),
        Message("[conv] Invalid input array with type {left}", op="conv2d conv1d"),
        Message("[bitwise_invert] Bitwise inverse only allowed on integer types", op="bitwise_not"),
    ),
    ops={
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "inversion": "bitwise_not",
        "left": "bitwise_left_shift",
        "right": "bitwise_right_shift",
    },
    calls={"addmm": "matmul"},
    packages="mlx",
)
