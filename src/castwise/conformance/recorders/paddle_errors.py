"""What an error of PaddlePaddle means: only its text tells the kinds apart."""

from __future__ import annotations

import re

from castwise.conformance.recorder import NoKernelError
from castwise.vocab.cell_words import REFUSED

# A 0-d tensor may have to be expanded first, and lack a kernel for that before anything promotes.
_MISSING_KERNEL = re.compile(
    r"The kernel with key \(CPU, [^,]+, (?P<dtype>\w+)\) of kernel `(?!expand`)|"
    "is not implemented for data type"
)
# Most TypeErrors are promotion's; these are about signatures: no operator fits, or a function is
# given a NumPy operand.
_SIGNATURE = re.compile("unsupported operand type|positional argument|<class 'numpy")
# A NumPy scalar or array of a dtype that does not become a tensor, and the errors of ops that do
# not promote: a kernel of one dtype is handed a tensor of another.
_REFUSAL = re.compile(
    "but got numpy|is expected to be a boolean Tensor|does not match the type of data|"
    "not supported when casting data type|Only supports to align data type|isn't consistent"
)
# A function that wants tensors says so of a NumPy scalar too; of a Python number it may find out
# by asking it for its shape.
_WANTS_TENSOR = re.compile("must be Tensor")
_REFUSES_NUMBER = re.compile(
    "must be Tensor, but got (bool|int|float|complex)\\b|"
    "'(bool|int|float|complex)' object has no attribute '(shape|dtype)'"
)


def is_missing_kernel(error: Exception) -> bool:
    """Whether PaddlePaddle got as far as looking for a kernel, and found none for the dtype."""
    return _MISSING_KERNEL.search(str(error)) is not None


def looked_for(error: Exception) -> str | None:
    """The dtype of the kernel that was not found: the one the operands were promoted to."""
    found = _MISSING_KERNEL.search(str(error))
    return found["dtype"] if found else None


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    if isinstance(error, NoKernelError):
        return error.answer
    text = str(error)
    if _REFUSES_NUMBER.search(text):
        return REFUSED
    if isinstance(error, TypeError):
        return None if _SIGNATURE.search(text) else REFUSED
    return REFUSED if _REFUSAL.search(text) and not _WANTS_TENSOR.search(text) else None
