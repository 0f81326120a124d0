"""OneFlow's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages
from castwise.vocab.spellings import SPELLINGS

_OF_PROTOCOL = {
    "kFloat": "float32",
    "kDouble": "float64",
    **{
        f"k{name}": name.lower()
        for name in ("Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "Float16", "BFloat16")
    },
}

MESSAGES = Messages(
    "oneflow",
    (
        Message(
            "InferDataType Failed. Expected {left}, but got {right}",
            "RuntimeError: InferDataType Failed. Expected kFloat, but got kDouble",
        ),
    ),
    dtypes={**SPELLINGS["oneflow"], **_OF_PROTOCOL},
    calls=dict.fromkeys(("mm", "bmm", "addmm", "linear"), "matmul"),
    packages="oneflow",
)
