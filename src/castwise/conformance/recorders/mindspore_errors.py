"""What an error of MindSpore means: only its text tells the kinds apart."""

from __future__ import annotations

import re

from castwise.conformance.calls import RefusalError
from castwise.conformance.recorder import NoKernelError
from castwise.vocab.cell_words import OUT_OF_RANGE, REFUSED

_NO_KERNEL = re.compile(
    r"Select CPU operator\[|KernelMod Init Failed|Unsupported op \[|unregistered"
    r"|Reduce does not support"
)
# "... but get input[Bool Bool ] and output[Bool ]", "... output[[const vector]{UInt32}]."
_WANTED = re.compile(
    r"Select CPU operator\[(\w+)\].*but get input.*?output\[(?:\[const vector\]\{)?(\w+)", re.DOTALL
)
# The primitives by which an op is called otherwise than by its own name; a function that calls
# several names the dtype of a step.
_PRIMITIVES = {
    "lt": "less",
    "le": "lessequal",
    "gt": "greater",
    "ge": "greaterequal",
    "eq": "equal",
    "ne": "notequal",
    "remainder": "floormod",
    "where": "select",
    "lerp": "lerp",
}
_OUT_OF_RANGE = re.compile(
    "Unable to cast Python instance of type <class 'int'>|returned a result with an exception set"
    "|Cannot construct Tensor because of unsupported data type|Unsupported tensor type!"
    "|that contain unsupported element|int too large to convert"
)
# A condition that is not a tensor, and copysign's first operand where it is a number.
_WANTS_TENSOR = re.compile(
    r"with \"Select\(\)\(condition=(?!Tensor)"
    "|Tensor is expected, but got <class '(bool|int|float|complex)'>"
)
# Some report a complex scalar as a signature, others as a dtype.
_SIGNATURES = re.compile(
    "Failed calling|unsupported operand|must be Tensor|must be a Tensor|[Tt]ensor is expected"
    "|at least one of the inputs|[Aa]t least one of the types|should be a Tensor|must be all tensor"
)
_SHAPES = re.compile(
    "required positional argument|cannot broadcast|non-broadcastable|rank >= 1"
    "|primitive descriptor|must have at least one dimension|inputs dim must contain 3"
    "|dim is out of range"
)


def is_missing_kernel(error: Exception) -> bool:
    """Whether MindSpore got as far as looking for a kernel, and found none for the dtypes."""
    return _NO_KERNEL.search(str(error)) is not None


def is_missing_signature(error: Exception) -> bool:
    """Whether an op takes no such thing as one of its operands, be its dtype what it may."""
    return isinstance(error, AttributeError) or _SIGNATURES.search(str(error)) is not None


def promoted_dtype(error: Exception, op: str) -> str | None:
    """The result dtype the missing kernel was to give, where it is the op's own kernel."""
    found = _WANTED.search(str(error))
    primitive = _PRIMITIVES.get(op, op.replace("_", ""))
    return found[2].lower() if found and found[1].lower() == primitive else None


def classify(error: Exception) -> str | None:
    """The answer an error amounts to, or None where it is not about dtypes or values."""
    text = str(error)
    if isinstance(error, NoKernelError):
        return error.answer
    if isinstance(error, RefusalError) or _WANTS_TENSOR.search(text):
        return REFUSED
    if _OUT_OF_RANGE.search(text):
        return OUT_OF_RANGE
    is_refusal = isinstance(error, (TypeError, ValueError, RuntimeError))
    is_about_dtypes = not (_SIGNATURES.search(text) or _SHAPES.search(text))
    return REFUSED if is_refusal and is_about_dtypes else None
