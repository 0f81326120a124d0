"""Variable: a tensor that is assigned to and never changes its dtype."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import answer
from castwise.engine.decision import Question
from castwise.errors import PromotionError, UsageError
from castwise.execute.apply import planned, run
from castwise.execute.operands import common_backend, described, raw
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

        Raises PromotionError where they do not.
        """
        dialect = self._kind.in_force
        seen = (self._kind.operand, described(value, sees_values=False))
        joined = answer(Question(_RESULT_TYPE, seen, dialect)).result
        if joined is not self.dtype:
            raise _would_change(f"assigning {seen[1]}", self, joined)
        backend = common_backend((self, value))
        if seen[1].is_scalar:
            array = backend.number(value, self.dtype)
        else:
            array = backend.cast(raw(value, backend), self.dtype)
        self._array = backend.write(self._array, ..., array)
        return self

    def assign_add(self, value: Any) -> Variable:
        """Adds in place.

        Raises PromotionError where the dialect refuses or the sum has another dtype.
        """
        return self._update("add", value)

    def assign_sub(self, value: Any) -> Variable:
        """Subtracts in place.

        Raises PromotionError where the dialect refuses or the difference has another dtype.
        """
        return self._update("sub", value)

    def _update(self, name: str, value: Any) -> Variable:
        plan = planned(name, (self, value), "function", inplace=True)
        if plan.decision.result is not self.dtype:
            raise _would_change(str(plan.decision.question), self, plan.decision.result)
        values = run(plan, (self, value), {})
        if tuple(values.shape) != self.shape:
            raise UsageError(
                f"{name} gives the shape {tuple(values.shape)}, the variable has {self.shape}: "
                "a variable keeps its shape."
            )
        self._array = plan.backend.write(self._array, ..., values)
        return self

    def __iadd__(self, value: Any) -> Variable:
        return self.assign_add(value)

    def __isub__(self, value: Any) -> Variable:
        return self.assign_sub(value)


def _would_change(what: str, variable: Variable, joined: object) -> PromotionError:
    return PromotionError(
        f"{what} is refused in {variable.dialect.name}: it would make the {variable.dtype} "
        f"variable {joined}, and a variable keeps its dtype. Cast the value: "
        f"x.astype({str(variable.dtype)!r})."
    )
