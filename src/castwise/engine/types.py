"""The dtype questions every framework has functions for: result_type, promote_types, can_cast."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import CACHE_SIZE, answer
from castwise.engine.decision import Question
from castwise.engine.output import can_become
from castwise.engine.plan import plan_of, reach_of
from castwise.errors import UsageError
from castwise.frameworks.catalog import chosen_dialect, to_dialect
from castwise.frameworks.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.live import describe, is_plain_array, to_dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op

_RESULT_TYPE = op("result_type")
_PROMOTE_TYPES = op("promote_types")
_known: dict[object, DType] = {}


def result_type(*operands: Any, dialect: str | Dialect | None = None) -> DType:
    """The dtype the framework's own result_type answers.

    >>> result_type("int8[3]", "uint8[3]", dialect="numpy")
    int16

    Raises PromotionError where the dialect has no answer.
    """
    chosen = chosen_dialect.get() if dialect is None else dialect
    if len(operands) != 2:
        return _asked(operands, to_dialect(chosen))
    # Two live arrays: one lookup by all that can matter of them, before anything is described.
    a, b = operands
    try:
        return _known[chosen, type(a), a.dtype, a.ndim, type(b), b.dtype, b.ndim]
    except (AttributeError, KeyError, TypeError):
        result = _asked(operands, to_dialect(chosen))
    if is_plain_array(a) and is_plain_array(b) and _ignores_values(to_dialect(chosen), a, b):
        if len(_known) >= CACHE_SIZE:
            _known.clear()
        _known[chosen, type(a), a.dtype, a.ndim, type(b), b.dtype, b.ndim] = result
    return result


def _asked(operands: tuple[Any, ...], dialect: Dialect) -> DType:
    described = tuple([describe(operand) for operand in operands])
    return answer(Question(_RESULT_TYPE, described, dialect)).result


def _ignores_values(dialect: Dialect, *arrays: Any) -> bool:
    """Whether the answer is the same whatever the arrays hold."""
    is_by_value = plan_of(_RESULT_TYPE, dialect, "function").scalars == "by value"
    return not is_by_value or all(array.ndim > 0 for array in arrays)


def promote_types(*dtypes: Any, dialect: str | Dialect | None = None) -> DType:
    """The common dtype of some dtypes, roles aside.

    >>> promote_types("int8", "uint8")
    int16

    Raises PromotionError where the dialect has none.
    """
    arrays = tuple([array_operand(to_dtype(d)) for d in dtypes])
    return answer(Question(_PROMOTE_TYPES, arrays, to_dialect(dialect))).result


def can_cast(source: object, target: object, *, dialect: str | Dialect | None = None) -> bool:
    """Whether the framework's own can_cast lets one dtype become another.

    >>> can_cast("float32", "int32", dialect="torch"), can_cast("int64", "uint8", dialect="torch")
    (False, True)
    """
    spoken = to_dialect(dialect)
    ends = (to_dtype(source), to_dtype(target))
    for end in ends:
        if end not in reach_of(spoken).bits:
            raise UsageError(f"{spoken.name} has no dtype {end}.")
    return can_become(reach_of(spoken), spoken.casts, *ends)
