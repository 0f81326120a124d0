"""What an error of TensorFlow means: its type says little, its text the rest."""

from __future__ import annotations

import re

from castwise.vocab.cell_words import NO_KERNEL, OUT_OF_RANGE, REFUSED

_NO_KERNEL = re.compile(r"Could not find device for node|No OpKernel was registered")
_KERNEL_DTYPE = re.compile(r"\b(?:T|dtype)=DT_(\w+)")
_OUT_OF_RANGE = re.compile(
    "out-of-range integer|out of range for a double|returned a result with an exception set"
)
_REFUSAL = re.compile(
    "was expected to be a|"  # the second operand is not of the first one's dtype
    "is not in the list of allowed values|"  # the op is not declared for the dtype, on any device
    "Tensor conversion requested dtype|must be a floating point tensor|"
    "Expected scan axis"  # a 0-d tensor has no axis to accumulate along
)
_NOT_ABOUT_DTYPES = re.compile("ndims|dimensions|rank|shape")
_SPELLINGS = {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}


class NotAskedError(Exception):
    """The question makes no sense here."""


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    text = str(error)
    if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
        return OUT_OF_RANGE
    if _NO_KERNEL.search(text):
        found = _KERNEL_DTYPE.search(text)
        return f"{NO_KERNEL}:{_dtype(found[1])}" if found else NO_KERNEL
    if _REFUSAL.search(text):
        return REFUSED
    is_refusal = isinstance(error, TypeError) and not _NOT_ABOUT_DTYPES.search(text)
    return REFUSED if is_refusal else None


def _dtype(spelled: str) -> str:
    return _SPELLINGS.get(spelled, spelled.lower())
