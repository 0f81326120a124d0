"""The errors castwise raises, and the near-miss hint they share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CastwiseError(Exception):
    """Any error castwise raises on purpose."""


class UsageError(CastwiseError, ValueError):
    """A question that makes no sense: an unknown name, a malformed operand, a wrong count."""


class CallError(UsageError, TypeError):
    """A call of a library function that does not accept tensors."""


class PromotionError(CastwiseError, TypeError):
    """The dialect refuses the operation for these dtypes."""

    why = ""  # only the reason, which many operations share


class PromotionWarning(UserWarning):
    """The dialect answers with another dtype than the framework that runs."""


class NearestVersionWarning(UserWarning):
    """A version that is not recorded is asked about, and the nearest recorded one answers."""


class ScalarRangeError(PromotionError, OverflowError):
    """The dialect refuses the operation because of a scalar's value."""


class DivisionByZeroError(CastwiseError, ZeroDivisionError):
    """The dialect refuses to divide integers by a zero in an array."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the closest known names, or nothing.

    >>> did_you_mean("flaot32", ["float32", "int32"])
    " Did you mean 'float32'?"
    """
    close = difflib.get_close_matches(name[:64], list(known), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
