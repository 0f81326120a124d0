"""What to cast where operands do not come together: to a dtype that loses nothing, if there is one.

A hint names a dtype that holds every value of the operands, or says what is lost in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from castwise.engine.decision import cast_between, cast_text
from castwise.vocab.dtypes import KINDS, DType


def way_out(given: Sequence[DType], known: Iterable[DType], rank: int = 0) -> str:
    """What to do with arrays of some dtypes, so that they are of one.

    `known` are the dtypes to choose from, `rank` is that of the lowest kind that will do.

    >>> from castwise.vocab.dtypes import dtypes_of
    >>> print(way_out(dtypes_of("int32 float32"), dtypes_of("float")))
    Cast both: x.astype('float64').
    """
    highest = max([rank, *[d.rank for d in given]])
    fitting = [d for d in known if d.rank >= highest] or list(given)
    target = min(fitting, key=lambda d: _cost(d, given))
    every = "both" if len(given) == 2 else "all"
    kept = "one" if len(given) == 2 else "the others"
    which = "the arrays" if len(given) == 1 else kept if target in given else every
    advice = f"Cast {which}: x.astype('{target}')."
    lossy = [cast_between(d, target) for d in given if not target.holds(d)]
    if not lossy:
        return advice
    alone = f"No {KINDS[highest]} dtype here holds {given[0]}"
    none = alone if len(given) == 1 else f"No dtype here holds {every}"
    told = " and ".join(cast_text(cast) for cast in lossy if cast)
    return f"{none}: {told}. {advice}"


def _cost(target: DType, given: Sequence[DType]) -> tuple[int, ...]:
    """What a cast to a dtype costs, the worst first: values, range, digits, then casts and bits."""
    inexact = sum(not target.holds(d) for d in given)
    beyond = sum(not target.keeps_range(d) for d in given)
    digits = -target.mantissa_bits if inexact else 0
    return bool(inexact), beyond, digits, inexact, target.rank, target not in given, target.bits
