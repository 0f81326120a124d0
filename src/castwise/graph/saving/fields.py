"""The entries of a saved graph: typed fields, and errors that name the place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.graph.saving.values import from_json, read_dtype
from castwise.vocab.dtypes import DType

# What reading a malformed table raises if no check has found the problem.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_NEEDED = object()


@contextmanager
def telling(place: object) -> Iterator[None]:
    """A block whose errors name their place in the file."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    except RecursionError:
        raise UsageError(f"{place}: its values are nested too deeply.") from None
    except _MALFORMED as error:
        raise UsageError(f"{place} is malformed: {type(error).__name__}: {error}.") from None


class Fields:
    """The fields of an entry, checked for their types."""

    def __init__(self, entry: Any, known: str) -> None:
        if not isinstance(entry, dict):
            raise UsageError(f"an entry must be a table of fields, not {str(entry)[:40]!r}.")
        for key in entry:
            if key not in known.split():
                raise UsageError(
                    f"there is no field {key[:40]!r}.{did_you_mean(key, known.split())}"
                )
        self._entry = entry

    def get(self, name: str, kind: type, default: Any = _NEEDED) -> Any:
        """A field, which is required unless it has a default."""
        value = self._entry.get(name, default)
        if value is _NEEDED:
            raise UsageError(f"the field {name} is missing.")
        is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if value is not default and not is_right:
            raise UsageError(f"{name} must be of type {kind.__name__}, not {str(value)[:40]!r}.")
        return value

    def value(self, name: str) -> Any:
        """A field of any type, as a value."""
        return from_json(self._entry.get(name))

    def dtype(self, name: str) -> DType:
        """A field that names a dtype."""
        return read_dtype(self.get(name, str))

    def dtype_or_none(self, name: str) -> DType | None:
        """A field that may name a dtype."""
        return self.dtype(name) if self._entry.get(name) is not None else None
