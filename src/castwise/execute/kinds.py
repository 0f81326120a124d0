"""Kind: all properties of a tensor that a decision depends on, compared by identity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from castwise.execute.backend import Backend
from castwise.rules.catalog import dialect_named
from castwise.rules.default import DEFAULT, chosen_here
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, array_operand


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """A backend, a dtype, whether it is 0-d or weak, and the dialect it carries."""

    backend: Backend
    dtype: DType
    is_zero_d: bool
    is_weak: bool = False
    dialect: Dialect | None = None  # its own; None: that of the context
    home: str = DEFAULT  # the dialect's name if neither the tensor nor the context has one

    @property
    def current_dialect(self) -> Dialect:
        """The dialect it currently computes under."""
        return self.dialect or chosen_here() or dialect_named(self.home)

    @property
    def operand(self) -> Operand:
        """The operand that the engine sees."""
        shape = () if self.is_zero_d else None
        return array_operand(self.dtype, shape, is_weak=self.is_weak)

    def shaped(self, shape: Any) -> Kind:
        """The kind of an array like this one with another shape."""
        return self if self.is_zero_d == (not shape) else self.with_(is_zero_d=not shape)

    def with_(self, **changes: Any) -> Kind:
        """This kind with some parts changed."""
        return interned(replace(self, **changes))


_MOST_KINDS = 1 << 14
_kinds: dict[tuple[object, ...], Kind] = {}


def interned(kind: Kind) -> Kind:
    """The single object for a kind. The table is cleared when it gets very large, as with many new
    dialects; whatever is cached by kind is then computed again."""
    if len(_kinds) >= _MOST_KINDS:
        _kinds.clear()
    key = (
        kind.backend, kind.dtype, kind.is_zero_d, kind.is_weak, kind.dialect, kind.home
    )  # fmt: skip
    return _kinds.setdefault(key, kind)


def held_dtype(dtype: DType, dialect: Dialect) -> DType:
    """The actual dtype of an array in a dialect, which may truncate it to fewer bits."""
    return dialect.truncations.get(dtype, dtype)
