"""A dialect: a framework's rules, and how they are varied and combined."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from castwise.rules.dialect_data import DialectData
from castwise.rules.recorded import unrecorded_ops
from castwise.rules.rule import Rule, combined
from castwise.rules.variations import varied
from castwise.showing import Shown, line_of
from castwise.vocab.ops import Op, known_op

_FIRST_CLAUSE = re.compile(r"[:;.](?:\s|$)")
_LAID_OVER = {"augmented": ("inplace", "augmented"), "rebinding": ("operator", "augmented")}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dialect(DialectData, Shown):
    """A framework's rules. Data only: `castwise.engine` reads it, nothing in it decides."""

    def __repr__(self) -> str:
        what = _FIRST_CLAUSE.split(self.about, 1)[0]
        version = f"version {self.version}" if self.version else ""
        return line_of("Dialect", repr(self.name), what, version, f"{len(self.dtypes)} dtypes")

    def vary(self, **changes: Any) -> Dialect:
        """The same dialect with variations or fields changed.

        The variations are cap_float, default_float, default_int, scalars, zero_d, promote_64,
        strict and safe; see docs/reference/variations.md. The fields are those of this record.
        Equal calls give the same object.

        >>> from castwise.rules.catalog import dialect_named
        >>> dialect_named("numpy").vary(cap_float=32).name
        'numpy:cap_float=32'

        Raises UsageError for an unknown name or a value that makes no sense.
        """
        return varied(self, changes)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The ops without recorded cells of its framework, most of which it does not have."""
        lacks = [word for word in self.evidence.lacks.split() if known_op(word)]  # or a dtype
        return (*unrecorded_ops(self.framework), *lacks)


@functools.lru_cache(maxsize=4096)
def rule_for(dialect: Dialect, row: Op, form: str) -> Rule:
    """The rules that apply to an op in a form, or in several at once, combined into one."""
    wanted = {"*", row.name}
    for part in form.split():
        for laid in _LAID_OVER.get(part, (part,)):
            wanted |= {"/".join((name, laid)) for name in ("*", row.name)}
    rules = [rule for names, rule in dialect.ops.items() if not wanted.isdisjoint(names.split())]
    return combined(*rules)
