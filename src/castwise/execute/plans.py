"""From a decision to what a backend runs: casts first, one computation, the result's cast last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.engine.decision import Decision
from castwise.errors import PromotionError
from castwise.execute.backend import Backend, lacking
from castwise.execute.functions import Function, function_for
from castwise.execute.kinds import Kind
from castwise.vocab.dtypes import DType, dtypes_of

Take = Callable[[Any], Any]
# Families whose results have the shape of their operands, broadcast: 0-d where all of these are.
_NOT_ELEMENTWISE = frozenset({"reductions", "products", "joining", "losses"})


class Plan:
    """How one signature is computed. `run` is what to call with raw arrays and numbers.

    After a first run that gave an array of the right dtype, an elementwise op on arrays runs
    without looking at its results again.
    """

    __slots__ = ("_function", "_takes", "backend", "decision", "is_elementwise", "kind", "run")

    def __init__(self, decision: Decision, kind: Kind, backend: Backend) -> None:
        row = decision.question.op
        _check_kernel(decision)
        for needed in (decision.compute, decision.result):
            if needed not in backend.dtypes:
                raise lacking(needed, backend)
        self.decision, self.kind, self.backend = decision, kind, backend
        self.is_elementwise = row.family not in _NOT_ELEMENTWISE and row.name != "allclose"
        self._function = function_for(backend, row.name, decision.compute)
        if row.family == "joining":
            self._function = _joined(self._function)
        self._takes = [_take(decision, n, backend) for n in range(len(decision.casts))]
        self.run: Callable[..., Any] = self._carefully

    def _carefully(self, *operands: Any, **options: Any) -> Any:
        """Casts, computes, and sees to the result's type and dtype."""
        taken = [t(o) if t else o for t, o in zip(self._takes, operands, strict=True)]
        computed = self._function(*taken, **options)
        backend = self.backend
        is_array = backend.owns(computed)
        array = computed if is_array else backend.make(computed, None, copy=None, device=None)
        if backend.dtype_of(array) is not self.decision.result:
            return backend.cast(array, self.decision.result)
        if is_array and self.is_elementwise and not self.kind.is_zero_d:
            self.run = self._directly()  # which answers so for every array of these dtypes
        return array

    def _directly(self) -> Callable[..., Any]:
        """The computation without a look at its result."""
        function, takes = self._function, self._takes
        if not any(takes):
            return function
        if len(takes) != 2:
            return lambda *operands, **options: function(
                *[t(o) if t else o for t, o in zip(takes, operands, strict=True)], **options
            )
        left, right = takes
        if left is None:
            return lambda x, y, **options: function(x, right(y), **options)  # type: ignore[misc]
        if right is None:
            return lambda x, y, **options: function(left(x), y, **options)
        return lambda x, y, **options: function(left(x), right(y), **options)


def _check_kernel(decision: Decision) -> None:
    """Raises PromotionError where the framework itself promotes and then has nothing to run.

    Dtypes that the op could be computed in are computed: a framework's kernels differ from device
    to device.
    """
    question = decision.question
    if not decision.has_kernel and decision.compute not in dtypes_of(question.op.computes):
        raise PromotionError(
            f"{question} is not defined in {question.dialect.name}: {' '.join(decision.notes)} "
            "Cast the operands to what it computes in."
        )


def _joined(function: Function) -> Function:
    """A function that takes its operands in one list, as concat and stack do."""
    return lambda *arrays, **options: function(arrays, **options)


def _take(decision: Decision, place: int, backend: Backend) -> Take | None:
    """What happens to an operand before the op; None where it is taken as it is."""
    operand, cast = decision.question.operands[place], decision.casts[place]
    if operand.is_scalar:
        target = cast.target if cast else decision.compute
        return lambda value: backend.number(value, target)
    goal = cast.target if cast else _truncated(decision, operand.dtype)
    return None if goal is None else lambda array: backend.cast(array, goal)


def _truncated(decision: Decision, held: DType | None) -> DType | None:
    """The dtype that the dialect takes arrays of a dtype for, where that is another."""
    dialect = decision.question.dialect
    return dialect.mapping(dialect.truncates).get(held) if held else None
