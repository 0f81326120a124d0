"""The dtype questions every framework has functions for: result_type, promote_types, can_cast."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from castwise.engine.ask import CACHE_SIZE, answer, operand_of
from castwise.engine.chosen import dialect_chosen
from castwise.engine.decision import Question
from castwise.engine.plan import plan_of, reach_of
from castwise.engine.steps.writes import can_become
from castwise.errors import PromotionError, UsageError
from castwise.loaded.state import has_modes, mode_of_loaded
from castwise.rules.default import chosen_dialect, to_dialect, when_default_changes
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.live import has_own_dtypes, is_plain_array, to_dtype
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import op

_RESULT_TYPE = op("result_type")
_PROMOTE_TYPES = op("promote_types")
# The answers for two live arrays, by dialect and dtypes. An entry is the answer or, where that
# depends on which arrays are 0-d, a list of four: for neither, the first, the second and both.
# Where several frameworks share the dtype objects, it is a dict of these by the arrays' types.
# Where the arrays chose the dialect, each of these is by their framework's mode, if it has modes.
_known: dict[object, Any] = {}
when_default_changes(_known.clear)
_current = chosen_dialect.get
_NOTHING = object()


class _ByMode(NamedTuple):
    """Answers in the dialect of the arrays, whose framework may change its mode at any time."""

    framework: str
    answers: dict[str, Any]


def result_type(
    a: Any = _NOTHING, b: Any = _NOTHING, *more: Any, dialect: str | Dialect | None = None
) -> DType:
    """The dtype the framework's own result_type answers, for arrays, scalars or notation.

    >>> result_type("int8[3]", "uint8[3]", dialect="numpy")
    int16

    Raises PromotionError where the dialect has no answer.
    """
    try:
        found = _known[_current() if dialect is None else dialect, a.dtype, b.dtype, more]
        if type(found) is dict:
            found = found[type(a), type(b)]
        if type(found) is _ByMode:
            found = found.answers[mode_of_loaded(found.framework)]
        if type(found) is DType:
            return found
        known = found[0] if a.ndim and b.ndim else found[(not a.ndim) + 2 * (not b.ndim)]
        if known is not None:
            return known  # type: ignore[no-any-return]
    except (AttributeError, KeyError, TypeError):
        pass
    operands = tuple([x for x in (a, b, *more) if x is not _NOTHING])
    return _asked(operands, _current() if dialect is None else dialect)


def _asked(operands: tuple[Any, ...], chosen: str | Dialect | None) -> DType:
    """The answer from the engine; that for two live arrays is cached."""
    dialect, because = dialect_chosen(chosen, operands)
    described = tuple([operand_of(operand) for operand in operands])
    result = answer(Question(_RESULT_TYPE, described, dialect, because=because)).result
    if len(operands) == 2 and all(map(is_plain_array, operands)):
        a, b = operands
        if len(_known) >= CACHE_SIZE:
            _known.clear()
        is_by_value = plan_of(_RESULT_TYPE, dialect, "function").scalars == "by value"
        place: dict[Any, Any] = _known
        key: object = (chosen, a.dtype, b.dtype, ())
        if not (has_own_dtypes(a) and has_own_dtypes(b)):
            place, key = _known.setdefault(key, {}), (type(a), type(b))
        if because and has_modes(dialect.framework):
            by_mode = place.setdefault(key, _ByMode(dialect.framework, {}))
            place, key = by_mode.answers, mode_of_loaded(dialect.framework)
        if not is_by_value and _is_same_at_every_rank(described, dialect, result):
            place[key] = result
        elif not is_by_value or (a.ndim and b.ndim):
            place.setdefault(key, [None] * 4)[(not a.ndim) + 2 * (not b.ndim)] = result
    return result


def _is_same_at_every_rank(arrays: tuple[Operand, ...], dialect: Dialect, result: DType) -> bool:
    """Whether the answer stays the same when either array is 0-d."""
    ranked = [
        [array_operand(o.dtype, shape, is_numpy=o.is_numpy) for shape in (None, ())]
        for o in arrays
        if o.dtype
    ]
    try:
        return all(
            answer(Question(_RESULT_TYPE, asked, dialect)).result is result
            for asked in itertools.product(*ranked)
        )
    except PromotionError:
        return False


def promote_types(*dtypes: Any, dialect: str | Dialect | None = None) -> DType:
    """The common dtype of some dtypes, without regard to roles.

    >>> promote_types("int8", "uint8")
    int16

    Raises PromotionError where the dialect has none.
    """
    arrays = tuple([array_operand(to_dtype(d)) for d in dtypes])
    chosen, because = dialect_chosen(dialect, dtypes)
    return answer(Question(_PROMOTE_TYPES, arrays, chosen, because=because)).result


def can_cast(source: object, target: object, *, dialect: str | Dialect | None = None) -> bool:
    """Whether the framework's own can_cast allows a cast from one dtype to another.

    >>> can_cast("float32", "int32", dialect="torch"), can_cast("int64", "uint8", dialect="torch")
    (False, True)
    """
    deciding = dialect_chosen(dialect, (source, target)).dialect
    if deciding.casts_as:
        deciding = to_dialect(deciding.casts_as)
    ends = (to_dtype(source), to_dtype(target))
    for end in ends:
        if end not in reach_of(deciding).bits:
            raise UsageError(f"{deciding.name} has no dtype {end}.")
    return can_become(reach_of(deciding), deciding.casts, *ends)
