"""What an error of MegEngine means: only its text tells the kinds apart."""

from __future__ import annotations

import re

from castwise.vocab.cell_words import NO_KERNEL, OUT_OF_RANGE, REFUSED

# Raised where the op runs, once its result's dtype is known.
_MISSING_KERNEL = re.compile("bad dtype|Unsupported input dtype|Impossible: internal error")
_OUT_OF_RANGE = re.compile("OverflowError")
_REFUSAL = re.compile(
    "unsupport mode|different signedness|unsupported (op|elemwise|numpy dtype)|no dtype avaliable|"
    "requires (2|a) bool tensor|not 'complex'|A.dtype == B.dtype|no fallback implementation|"
    "must be a tensor|expects tensor|has no attribute '(dtype|ndim)'|unless input is a vector|"
    "deduce_dtype|mask must be bool"
)


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    # An error of the interpreter is reported by another one.
    text = f"{error} {error.__cause__ or error.__context__ or ''}"
    if _OUT_OF_RANGE.search(text):
        return OUT_OF_RANGE
    if _MISSING_KERNEL.search(text):
        return NO_KERNEL
    return REFUSED if _REFUSAL.search(text) else None
