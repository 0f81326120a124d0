"""The operand for anything a user may pass: a live array, a number, a list, notation."""

from __future__ import annotations

from typing import Any

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import read_live, to_dtype
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand, array_operand, list_operand, scalar_operand
from castwise.vocab.spellings import is_live_dtype


def describe(thing: Any) -> Operand:
    """The operand a live object is: an array of any framework, a scalar, a list of numbers,
    notation or an Operand.

    >>> describe(5.5).role.value
    'Python scalar'

    Raises UsageError for anything else, a ragged list or a set included.
    """
    if isinstance(thing, Operand):
        return thing
    if isinstance(thing, DType):
        return array_operand(thing)
    if isinstance(thing, str):
        return parse_operand(thing)
    kind = type(thing)
    if kind in (bool, int, float, complex):
        return scalar_operand(thing)
    if kind in (list, tuple):
        return list_operand(thing)
    found = read_live(thing)
    if found is not None:
        return found
    if isinstance(thing, (bool, int, float, complex)):
        return scalar_operand(thing)
    article = "an" if kind.__name__[0] in "aeiouAEIOU" else "a"
    raise UsageError(
        f"cannot describe {article} {kind.__name__}. Pass an array, a Python or NumPy scalar, "
        "a list of numbers, or notation such as 'int32[3]'."
    )


def describe_or_dtype(thing: Any) -> Operand:
    """As describe, but a live dtype or a type of NumPy scalars counts as an array of its dtype, as
    it does in NumPy's result_type(np.int8, 200).

    Raises UsageError for anything else.
    """
    return array_operand(to_dtype(thing)) if is_live_dtype(thing) else describe(thing)
