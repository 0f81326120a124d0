"""Dtypes that castwise does not support, why, and what to do with an array of them."""

from __future__ import annotations

import re

from castwise.errors import UsageError

_WIDE = "its width depends on the machine, and no other framework has it"
# The names a dtype goes by, in full and as NumPy's codes -> why, and the way out.
_OUT_OF_SCOPE = {
    r"longdouble|float96|float128": (_WIDE, "Cast it: x.astype('float64')."),
    r"clongdouble|complex192|complex256": (_WIDE, "Cast it: x.astype('complex128')."),
    r"object_?|O": (
        "it holds Python objects, which decide for themselves",
        "Make an array of numbers of it: x.astype('float64').",
    ),
    r"(datetime64|timedelta64|[mM]8)(\[\w*\])?": (
        "it has a unit, and promotes by that",
        "Take its count of units: x.astype('int64').",
    ),
    r"(str|bytes)_?\d*|[SU]\d*": (
        "it holds text, which is not promoted",
        "Convert it to numbers: x.astype('float64').",
    ),
    r"void\d*|V\d*|\[\(.*": (
        "it is a structure of several dtypes",
        "Take one field: x['name'].",
    ),
}
_NAMES = {re.compile(names): facts for names, facts in _OUT_OF_SCOPE.items()}


def out_of_scope(name: str) -> UsageError | None:
    """The error for a dtype that is not supported on purpose; None for any other name.

    >>> str(out_of_scope("datetime64[D]"))[:51]
    "dtype 'datetime64[D]' is out of scope: it has a uni"
    """
    for names, (why, fix) in _NAMES.items():
        if names.fullmatch(name.lstrip("<>|=")):
            return UsageError(f"dtype {name[:64]!r} is out of scope: {why}. {fix}")
    return None
