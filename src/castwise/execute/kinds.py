"""All of a tensor that a decision depends on, as one object that is compared by identity."""

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
    dialect: Dialect | None = None  # of its own; None: that of the context
    home: str = DEFAULT  # the dialect's name where neither it nor the context names one

    @property
    def in_force(self) -> Dialect:
        """The dialect it computes under, here and now."""
        return self.dialect or chosen_here() or dialect_named(self.home)

    @property
    def operand(self) -> Operand:
        """What the engine is asked about."""
        shape = () if self.is_zero_d else None
        return array_operand(self.dtype, shape, is_weak=self.is_weak)

    def shaped(self, shape: Any) -> Kind:
        """The kind of an array like this one with another shape."""
        return self if self.is_zero_d == (not shape) else self.with_(is_zero_d=not shape)

    def with_(self, **changes: Any) -> Kind:
        """The kind that differs in some parts."""
        return interned(replace(self, **changes))


_MOST_KINDS = 1 << 14
_kinds: dict[tuple[object, ...], Kind] = {}


def interned(kind: Kind) -> Kind:
    """The one kind with these parts. Where very many were made, as under ever new dialects, they
    begin anew: what is kept by a kind is then looked for once more."""
    if len(_kinds) >= _MOST_KINDS:
        _kinds.clear()
    key = (
        kind.backend, kind.dtype, kind.is_zero_d, kind.is_weak, kind.dialect, kind.home
    )  # fmt: skip
    return _kinds.setdefault(key, kind)


def held_dtype(dtype: DType, dialect: Dialect) -> DType:
    """What an array of a dtype really is in a dialect, which may cut it to fewer bits."""
    return dialect.truncations.get(dtype, dtype)
