"""JAX's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages
from castwise.vocab.spellings import SPELLINGS

# jax.lax casts nothing, as jax.numpy does not in strict mode.
_LAX = "strict"

MESSAGES = Messages(
    "jax",
    (
        Message(
            "Input dtypes ({operands}) have no available implicit dtype promotion path when"
            " jax_numpy_dtype_promotion=strict",
            mode="strict",
            is_in_order=False,
        ),
        Message(
            "Input dtypes ({operands}) have no available implicit dtype promotion path",
            is_in_order=False,
        ),
        Message("{op} requires arguments to have the same dtypes, got {operands}.", mode=_LAX),
        Message("{op} does not accept dtype {computed} at position {any}"),
        Message("{op} does not accept dtype {computed}."),
        Message("{op} does not support complex-valued inputs"),
        Message(
            "Integers cannot be raised to negative powers, got integer_pow({left}[...], {number})",
            op="pow",
        ),
        Message("argument path is y. Got <class 'int'> with value {number}"),
    ),
    dtypes=SPELLINGS["jnp"],
    ops={
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "not": "bitwise_not",
        "shift_left": "bitwise_left_shift",
        "shift_right_arithmetic": "bitwise_right_shift",
        "shift_right_logical": "bitwise_right_shift",
        "rem": "remainder fmod",
        "max": "maximum",
        "min": "minimum",
        "select": "where",
        "select_n": "where",
        "concatenate": "concat",
        "conv_general_dilated": "conv2d conv1d",
        "dot_general": "matmul dot einsum",
        "is_finite": "isfinite",
        "div": "div floor_divide",
        "integer_pow": "pow",
        "clamp": "",  # its bound comes first
    },
    packages="jax jaxlib",
    signs={"TypePromotionError": "jax"},
    runs_on="numpy",
)
