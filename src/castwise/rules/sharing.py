"""Dialects with the same content are one object, however often and wherever they are made."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import fields
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from castwise.rules.dialect_data import DialectData

_FIELDS = tuple(f.name for f in fields(DialectData))
_known: WeakValueDictionary[bytes, Any] = WeakValueDictionary()
AnyDialect = TypeVar("AnyDialect", bound=DialectData)
_lock = threading.Lock()  # of two threads that make the same dialect, both get the same object


def shared(dialect: AnyDialect) -> AnyDialect:
    """The one dialect with this content: the first that was made, as long as it is referenced.

    Decisions are cached by the dialect's identity, and tensors can be mixed if they have the same
    one.
    """
    with _lock:
        found: AnyDialect = _known.setdefault(_digest(dialect), dialect)
        return found


def _digest(dialect: DialectData) -> bytes:
    """A hash of the content, which would take too much memory as text."""
    content = repr([getattr(dialect, name) for name in _FIELDS])
    return hashlib.sha256(content.encode(errors="surrogatepass")).digest()
