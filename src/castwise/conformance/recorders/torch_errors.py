"""What an error of PyTorch means: only its text tells the kinds apart."""

from __future__ import annotations

import re

from castwise.conformance.calls import RefusalError
from castwise.conformance.recorder import LostDeviceError, NoKernelError
from castwise.vocab.cell_words import OUT_OF_RANGE, REFUSED

_NO_KERNEL = re.compile(r"\"[\w ]+\" not implemented for '")
_OUT_OF_RANGE = re.compile(
    "value cannot be converted|Integers to negative integer powers|outside the representable range"
)
# Shapes, and a division by a Python int that wrapped to zero.
_NOT_ABOUT_DTYPES = re.compile(
    "shape|at least 1D|1D tensors expected|Expected 1-D argument|same number of dimensions|"
    "equal size|cannot be concatenated|ZeroDivisionError|Padding length"
)
# Most TypeErrors are signatures; these are the operators', or NumPy's where it took over.
# (`array + tensor` ends in Python's attempt to concatenate sequences.)
_REFUSAL = re.compile(
    "unsupported operand type|not supported between|only implemented on|Concatenation operation|"
    "not supported for the input types|unsupported ScalarType|numpy boolean subtract|"
    "not implemented for (complex )?tensors|does not support complex|"  # since 2.15 a TypeError
    r"^where\(\) received an invalid combination of arguments - got \((?!Tensor)"
)


class UntoldError(Exception):
    """What PyTorch says of a mix of dtypes before it has looked at all of them."""


def is_missing_kernel(error: Exception) -> bool:
    """Whether PyTorch got as far as looking for a kernel, and found none for the dtype.

    `maximum not implemented for complex tensors` is not that: it is a check, on any device.
    """
    return _NO_KERNEL.search(str(error)) is not None


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    text = str(error)
    if text.startswith("CUDA error"):  # an assertion in a kernel, after which every call fails
        raise LostDeviceError from error
    if isinstance(error, NoKernelError):
        return error.answer
    if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
        return OUT_OF_RANGE
    if isinstance(error, TypeError):
        return REFUSED if isinstance(error, RefusalError) or _REFUSAL.search(text) else None
    if isinstance(error, RuntimeError) and not _NOT_ABOUT_DTYPES.search(text):
        return REFUSED
    return None
