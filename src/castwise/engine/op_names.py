"""The op that a name means: castwise's own, a dialect's, or a framework's with its prefix."""

from __future__ import annotations

import functools

from castwise.errors import UsageError
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect
from castwise.vocab.live import is_prefix
from castwise.vocab.ops import Op, known_op, op


def find_op(name: str, dialect: Dialect) -> Op:
    """The op of a name: the dialect's, castwise's own, or a framework's with its prefix.

    >>> find_op("np.arctan2", dialect_named("torch")).name
    'atan2'

    Raises UsageError for an unknown name.
    """
    if not isinstance(name, str):
        raise UsageError(f"an op is named by a string, not a {type(name).__name__}.")
    row = known_op(_aliases(dialect).get(name, name))
    if row:
        return row
    prefix, _, tail = name.rpartition(".")
    owner = _dialect_of_prefix(prefix) if prefix else dialect
    alias = _aliases(owner).get(tail) if owner else None
    return op(alias or (tail if owner or is_prefix(prefix) else name))


@functools.lru_cache(maxsize=256)
def _dialect_of_prefix(prefix: str) -> Dialect | None:
    """The dialect whose framework has a prefix, such as np or torch.nn.functional."""
    return next(
        (d for d in map(dialect_named, dialects()) if prefix in d.naming.prefixes.split()), None
    )


@functools.lru_cache(maxsize=256)
def _aliases(dialect: Dialect) -> dict[str, str]:
    return {
        alias: name for name, words in dialect.naming.aliases.items() for alias in words.split()
    }
