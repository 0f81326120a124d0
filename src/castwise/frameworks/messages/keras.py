"""Keras's own errors about dtypes; those of the framework that it runs on are its own, too."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

MESSAGES = Messages(
    "keras",
    (
        Message(
            "There is no implicit conversions from float8 dtypes to others. You must cast it"
            " internally. Received: ({operands})"
        ),
    ),
    packages="keras",
    runs_on="tensorflow jax torch numpy",
)
