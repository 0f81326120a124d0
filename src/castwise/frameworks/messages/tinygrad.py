"""tinygrad's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages
from castwise.vocab.spellings import SPELLINGS

MESSAGES = Messages(
    "tinygrad",
    (
        Message(
            "shift operands must be int, got [{operands}]",
            op="bitwise_left_shift bitwise_right_shift",
        ),
        Message("assign dtype mismatch {target} != {result}"),
        Message("where cond must be bool, got {left}", op="where"),
        Message("UOp verification failed at ... on Ops.{op} {computed}"),
    ),
    dtypes={**SPELLINGS["tinygrad"], "weakint": "i*", "weakfloat": "f*"},
    ops={"AND": "bitwise_and", "OR": "bitwise_or", "XOR": "bitwise_xor"},
    packages="tinygrad",
)
