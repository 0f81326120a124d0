"""What an error of OneFlow means: only its text tells the kinds apart."""

from __future__ import annotations

import re

from castwise.conformance.calls import RefusalError
from castwise.conformance.recorder import NoKernelError
from castwise.vocab.cell_words import OUT_OF_RANGE, REFUSED

_MISSING_KERNEL = "Cannot find the kernel matching"
_OUTPUT = re.compile(r"DataType_Name of (?:out|y|z|output_tensor)_0: k(\w+)")
_DTYPES = {"Float": "float32", "Double": "float64"}  # the others differ in case only
# Shapes that do not fit together, and a bound of clamp that is not a number. An op that refuses
# arrays of too few dimensions does so whatever their shapes: that is a refusal.
_NOT_ABOUT_DTYPES = re.compile(
    "origin shape|same shape|same number of elements|must be scalar, not|unsupported operand"
)


def is_missing_kernel(error: RuntimeError) -> bool:
    """Whether OneFlow looked for a kernel of some step and found none for its dtypes."""
    return _MISSING_KERNEL in str(error)


def dtype_lacking_kernel(error: RuntimeError) -> str | None:
    """The dtype that the step without a kernel would have given, be it a cast or the op itself."""
    found = _OUTPUT.search(str(error))
    return _DTYPES.get(found[1], found[1].lower()) if found else None


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    if isinstance(error, NoKernelError):
        return error.answer
    # A function that has met an int beyond int64 goes on with the OverflowError set.
    if isinstance(error, (OverflowError, SystemError)):
        return OUT_OF_RANGE
    if isinstance(error, (RuntimeError, TypeError, RefusalError)):
        return None if _NOT_ABOUT_DTYPES.search(str(error)) else REFUSED
    return None
