"""What an error of JAX means."""

from __future__ import annotations

import re

from castwise.vocab.cell_words import OUT_OF_RANGE, REFUSED

_OUT_OF_RANGE = re.compile("Integers cannot be raised to negative powers")
_NOT_ABOUT_DTYPES = re.compile(
    "Cannot broadcast|must have ndim|Zero-dimensional arrays|axis -?[0-9]+ is out of bounds"
)


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    text = str(error)
    if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
        return OUT_OF_RANGE
    # "only supports 16, 32, and 64-bit types" is said of the dtype, on any device.
    if isinstance(error, (TypeError, ValueError, NotImplementedError)):
        return None if _NOT_ABOUT_DTYPES.search(text) else REFUSED
    return None
