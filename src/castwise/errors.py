"""The errors castwise raises, and the near-miss hint they share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class CastwiseError(Exception):
    """Any error castwise raises on purpose."""


class UsageError(CastwiseError, ValueError):
    """A question that makes no sense: an unknown name, a malformed operand, a wrong count."""


class ArgumentError(UsageError, TypeError):
    """An argument of a type that a call does not take, or a dtype that there is not."""


class NoNumberError(ArgumentError, RuntimeError):
    """An array that does not convert to one Python number."""


class ShapeError(UsageError, RuntimeError):
    """Shapes, lengths or counts that do not fit."""


class NoKernelError(UsageError, NotImplementedError):
    """An op that a library does not compute in a dtype."""


class AxisError(ShapeError, IndexError):
    """An axis that an array does not have."""


class CallError(ArgumentError):
    """A call of a library function that does not accept tensors."""


class LibraryError(UsageError, RuntimeError):
    """The library that computes refuses a call: shapes that do not fit, or an axis or an index that
    is not there. Each is also of the type of the library's own error."""


# Frameworks refuse dtypes, and what they have no kernel for, with one of these.
class PromotionError(CastwiseError, TypeError, NotImplementedError):
    """The dialect refuses the operation for these dtypes."""

    why = ""  # only the reason, which many operations share


class PromotionWarning(UserWarning):
    """The dialect answers with another dtype than the framework that runs."""


class NearestVersionWarning(UserWarning):
    """A version that is not recorded is asked about, and the nearest recorded one answers."""


class ScalarRangeError(PromotionError, OverflowError, ValueError):
    """The dialect refuses the operation because of a scalar's value."""


class DivisionByZeroError(CastwiseError, ZeroDivisionError, RuntimeError):
    """The dialect refuses to divide integers by a zero in an array."""


# What a library raises for a call that makes no sense.
_PLAIN = (ValueError, TypeError, IndexError, RuntimeError, OverflowError)


def is_raw(error: Exception) -> bool:
    """Whether an error is a library's own, and says nothing about castwise."""
    return isinstance(error, _PLAIN) and not isinstance(error, (CastwiseError, RecursionError))


_LONG = 300  # characters


def from_library(error: Exception, what: str, library: str) -> LibraryError:
    """castwise's error for one of a library; whoever catches the library's own catches it too."""
    kind, told = type(error), " ".join(str(error).split()).rstrip(".")
    if len(told) > _LONG:  # the first line says what; such as a stack follows
        told = str(error).strip().partition("\n")[0].rstrip(".")
    made = _remade(kind, f"{what} is refused by {library}: {told}. Give it arguments that fit.")
    for name in (*vars(error), *getattr(kind, "__slots__", ())):  # such as the axis
        setattr(made, name, getattr(error, name))
    return made


def _remade(kind: type[Exception], message: str) -> LibraryError:
    made: LibraryError = _also(kind).__new__(_also(kind), message)
    Exception.__init__(made, message)
    return made


_made: dict[type[Exception], type[LibraryError]] = {}


def _also(kind: type[Exception]) -> type[LibraryError]:
    """LibraryError, as a subclass of another error."""
    if kind in _made:
        return _made[kind]
    methods: dict[str, Any] = {
        "__str__": Exception.__str__, "__module__": __name__,
        "__reduce__": lambda made: (_remade, (kind, str(made))),
    }  # fmt: skip
    bases = (LibraryError,) if issubclass(LibraryError, kind) else (LibraryError, kind)
    _made[kind] = type(LibraryError.__name__, bases, methods)
    return _made[kind]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the closest known names, or nothing.

    >>> did_you_mean("flaot32", ["float32", "int32"])
    " Did you mean 'float32'?"
    """
    close = difflib.get_close_matches(name[:64], list(known), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
