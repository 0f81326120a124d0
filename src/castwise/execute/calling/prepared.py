"""An op that is ready to run: the casts of its operands, one computation, its result's cast."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from castwise.engine.decision import Decision
from castwise.engine.steps.forms import as_computed
from castwise.errors import PromotionError
from castwise.execute.backend import Backend, TracesAlone
from castwise.execute.functions.lookup import Function
from castwise.execute.fusing.op import fused_op
from castwise.execute.kinds import Kind
from castwise.execute.steps.by_values import under_rules
from castwise.execute.steps.steps import (
    Writer,
    casting_inside,
    running_whole,
    steps_of,
    writing_into,
)
from castwise.vocab.dtypes import dtypes_of


class PreparedWithNumber(NamedTuple):
    """How an op with a known number is computed: `run` takes the other operand, a raw array."""

    run: Callable[..., Any]
    kind: Kind


class Prepared:
    """How an op is computed on operands of one signature: `run` takes raw arrays and numbers, and
    `plain` also takes options.

    After a first run with an array of the right dtype as its result, an elementwise op on arrays
    no longer checks its results.
    """

    __slots__ = (
        "_entry_casts", "_function", "_fused", "_is_direct", "_steps", "_traced_alone", "_writer",
        "backend", "decision", "entering", "is_elementwise", "kind", "plain", "run",
    )  # fmt: skip

    def __init__(self, decision: Decision, kind: Kind, backend: Backend, computes: str) -> None:
        check_kernel(decision)
        for needed in (decision.compute, decision.result):
            backend.native(needed)  # raises if the backend lacks it
        self.decision, self.kind, self.backend = decision, kind, backend
        computed = replace(decision, question=as_computed(decision.question))
        self._steps = under_rules(steps_of(decision, computes), computed)
        self.is_elementwise = self._steps.is_elementwise
        self.entering = tuple([entry and entry.dtype for entry in self._steps.entries])
        inside = casting_inside(backend)
        casting = inside.casting(self._steps) if inside and not self._steps.kernel else None
        if casting:
            self._function, self._entry_casts = casting
        else:
            self._function = self._steps.quieted(self._steps.function(backend), backend)
            self._entry_casts = self._steps.entry_casts(backend)
        at_once = running_whole(backend)
        whole = at_once.whole(self._steps) if at_once and not self._steps.kernel else None
        if self._steps.defaults:
            self._function = functools.partial(self._function, **self._steps.defaults)
            whole = whole and functools.partial(whole, **self._steps.defaults)
        self._fused = fused_op(self._steps, decision, backend) if self.is_elementwise else None
        self._is_direct = False
        self._traced_alone = backend if isinstance(backend, TracesAlone) else None
        self.plain: Callable[..., Any] = whole or self._carefully
        self.run: Callable[..., Any] = self._by_size(self.plain)
        self._writer: Writer | None = None  # made when first needed

    def compute(self, *operands: Any, **options: Any) -> Any:
        """Casts and computes; returns what the function returns, one array or several."""
        return self._function(*self._entered(operands), **options)

    def writes(self, target: Any, operands: Sequence[Any]) -> bool:
        """Whether it has computed straight into a raw array. If not, it has changed nothing."""
        if self._fused is not None and self._fused.writes(target, operands):
            return True
        if self._writer is None:
            is_plain = self.is_elementwise and not self._steps.kernel
            able = writing_into(self.backend) if is_plain else None
            found = able and able.into(self._steps, self._run, self._fused is not None)
            self._writer = found or _never
        return self._writer(target, operands)

    def _run(self, *operands: Any) -> Any:
        """The current way to compute, which changes once it is known to be right."""
        return self.run(*operands)

    def _entered(self, operands: Sequence[Any]) -> list[Any]:
        """The operands, cast for the function."""
        return [c(o) if c else o for c, o in zip(self._entry_casts, operands, strict=True)]

    def _carefully(self, *operands: Any, **options: Any) -> Any:
        """Casts, computes, and ensures the result's type and dtype."""
        computed = self.compute(*operands, **options)
        array = self._steps.as_result(computed, self.backend)
        if array is computed and self.is_elementwise and not self.kind.is_zero_d:
            self._is_direct = True
            # The result is the same kind for every array of these dtypes.
            self.plain = self._directly()
            self.run = self._by_size(self.plain)
        return array

    def _by_size(self, plain: Function) -> Function:
        """A computation that leaves large arrays to a kernel, if there is one."""
        if self._fused is None:
            return plain
        return self._fused.unless_small(plain)

    def with_number(self, place: int, number: Any) -> PreparedWithNumber | None:
        """The computation with a number; None while results still need to be checked."""
        if not self._is_direct:
            return None
        function, (left, right) = self._function, self._entry_casts
        known = self._entry_casts[place]
        value = known(number) if known else number
        if self.backend.owns(value) and not self.backend.is_concrete(value):
            return None  # it belongs to the current trace
        if place:
            run = (lambda x: function(left(x), value)) if left else (lambda x: function(x, value))
        else:
            run = (lambda x: function(value, right(x))) if right else (lambda x: function(value, x))
        if self._fused is not None:
            run = self._fused.with_number(run, place, value)
        return PreparedWithNumber(self._unless_traced(run, place, number), self.kind)

    def _unless_traced(self, run: Function, place: int, number: Any) -> Function:
        """A computation with a number, which is created again for traced operands."""
        if self._traced_alone is None:
            return run
        plain, again = self._traced_alone.plain, self._carefully
        if place:
            return lambda x: run(x) if type(x) is plain else again(x, number)
        return lambda x: run(x) if type(x) is plain else again(number, x)

    def _directly(self) -> Callable[..., Any]:
        """The computation without a check of its result."""
        function, entry_casts = self._function, self._entry_casts
        if not any(entry_casts):
            return function
        if len(entry_casts) != 2:
            return lambda *operands, **options: function(
                *[c(o) if c else o for c, o in zip(entry_casts, operands, strict=True)], **options
            )
        left, right = entry_casts
        if left is None:
            return lambda x, y, **options: function(x, right(y), **options)  # type: ignore[misc]
        if right is None:
            return lambda x, y, **options: function(left(x), y, **options)
        return lambda x, y, **options: function(left(x), right(y), **options)


def _never(target: Any, operands: Sequence[Any]) -> bool:
    return False


def check_kernel(decision: Decision) -> None:
    """Raises PromotionError if the framework itself promotes and then has no kernel.

    If castwise can compute the op in the dtype, it does, because a framework's kernels differ from
    device to device.
    """
    question = decision.question
    if not decision.has_kernel and decision.compute not in dtypes_of(question.op.computes):
        raise PromotionError(
            f"{question} is not defined in {question.dialect.name}: {' '.join(decision.notes)} "
            "Cast the operands to a dtype that it computes in."
        )
