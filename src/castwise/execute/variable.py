"""Variable: a tensor that is assigned to and never changes its dtype."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import answer
from castwise.engine.assigning import check_assignment
from castwise.engine.decision import Question
from castwise.errors import UsageError
from castwise.execute.inplace import fills, would_change
from castwise.execute.operands import common_backend, common_dialect, described, raw
from castwise.execute.tensor import Tensor, asarray
from castwise.frameworks.dialect import Dialect
from castwise.vocab.ops import op

_RESULT_TYPE = op("result_type")


class Variable(Tensor):
    """A tensor whose values may be assigned; its dtype and shape stay (RFC 431's constraint).

    >>> v = Variable([1.0, 2.0], dtype="float32", dialect="tensorflow:all")
    >>> v.assign_add(asarray([1, 2], dtype="int8"))
    Variable([2., 4.], dtype=float32, dialect=tensorflow:all, backend=numpy)
    """

    __slots__ = ()
    _keeps_dtype = True

    def __init__(
        self,
        data: Any,
        *,
        dtype: object = None,
        dialect: str | Dialect | None = None,
        backend: str | None = None,
    ) -> None:
        made = asarray(data, dtype=dtype, dialect=dialect, backend=backend, copy=True)
        self._array, self._kind = made._array, made._kind

    def assign(self, value: Any) -> Variable:
        """Takes new values, which must promote to the variable's dtype.

        Raises PromotionError where they do not, UsageError where the shape does not fit.
        """
        dialect = common_dialect([t._kind for t in (self, value) if isinstance(t, Tensor)])
        seen = (
            described(self, dialect, sees_values=False),
            described(value, dialect, sees_values=False),
        )
        joined = answer(Question(_RESULT_TYPE, seen, dialect)).result
        if joined is not self.dtype:
            raise would_change(f"assigning {seen[1]}", self, joined)
        check_assignment(seen[1], self.dtype, dialect)
        backend = common_backend((self, value))
        if seen[1].is_scalar:
            array = backend.number(value, self.dtype)
        else:
            array = backend.cast(raw(value, backend), self.dtype)
            _check_shape(tuple(array.shape), self.shape)
        self._array = backend.write(self._array, ..., array)
        return self

    def assign_add(self, value: Any) -> Variable:
        """Adds in place.

        Raises PromotionError where the dialect refuses or the sum has another dtype.
        """
        self.add_(value)
        return self

    def assign_sub(self, value: Any) -> Variable:
        """Subtracts in place.

        Raises PromotionError where the dialect refuses or the difference has another dtype.
        """
        self.sub_(value)
        return self


def _check_shape(given: tuple[int, ...], held: tuple[int, ...]) -> None:
    """Raises UsageError where values of a shape do not fill a variable of another."""
    if not fills(given, held):
        raise UsageError(
            f"values of the shape {given} do not fill a variable of the shape {held}, which keeps "
            "it: reshape them, or make another variable."
        )
