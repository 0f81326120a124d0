"""Runs an op on tensors, numbers and NumPy arrays: decided once for a signature, then computed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from castwise.engine.ask import answer, find_op
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.execute.alike import LIKE
from castwise.execute.kinds import Kind, interned
from castwise.execute.operands import (
    common_backend,
    common_dialect,
    common_home,
    described,
    is_operand,
    looks_at_values,
    raw,
)
from castwise.execute.plans import Plan
from castwise.execute.tensor import Tensor, wrapped
from castwise.frameworks.catalog import DEFAULT, chosen_dialect

_MOST_PLANS = 1 << 14
_plans: dict[tuple[object, ...], Plan] = {}
# The plans of operators on two tensors, for the fast path; `_fast` is these or, as long as anyone
# watches, nothing, so that nobody pays for watching who does not.
_by_kinds: dict[tuple[object, ...], Plan] = {}
_NONE: dict[tuple[object, ...], Plan] = {}
_fast = _by_kinds
_context = chosen_dialect.get
_new = object.__new__


class Watcher(Protocol):
    """Whoever is told of each op that runs."""

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """One op: what was decided, the raw operands and the raw result."""


_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("castwise watchers", default=())
_lock = threading.Lock()
_blocks = 0  # how many blocks watch, in all threads


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Tells a watcher of every op of this thread or asyncio task within the block."""
    global _fast, _blocks
    token = _watchers.set((*_watchers.get(), watcher))
    with _lock:
        _blocks += 1
        _fast = _NONE
    try:
        yield
    finally:
        _watchers.reset(token)
        with _lock:
            _blocks -= 1
            _fast = _NONE if _blocks else _by_kinds


def apply(
    name: str, *operands: Any, form: str = "function", home: str = DEFAULT, **options: Any
) -> Tensor:
    """The result of an op under the operands' dialect; `options` go to the backend (axis, ...).

    `home` names the dialect where neither the operands nor `cw.use` do.

    >>> from castwise.execute.tensor import asarray
    >>> apply("fmax", asarray([1, 2]), 1.5)
    Tensor([1.5, 2. ], dtype=float64, dialect=numpy, backend=numpy)

    Raises PromotionError where the dialect refuses, UsageError where the operands do not belong
    together.
    """
    plan = planned(name, operands, form, home=home)
    array = run(plan, operands, options)
    is_known = plan.is_elementwise and not options
    return Tensor._of(array, plan.kind if is_known else plan.kind.shaped(array.shape))


def apply_several(
    name: str, *operands: Any, home: str = DEFAULT, **options: Any
) -> tuple[Tensor, ...]:
    """The results of a function that has several, or one of another dtype than it computes in.

    The operands are cast as decided; the results have the dtypes that come out.
    """
    plan = planned(name, operands, "function", home=home)
    given = [raw(operand, plan.backend) for operand in operands]
    found = plan.compute(*given, **options)
    arrays = found if isinstance(found, tuple) else (found,)
    for watcher in _watchers.get():
        watcher.note(plan.decision, given, arrays[0])
    return tuple([wrapped(array, plan.kind) for array in arrays])


def apply_operator(name: str, first: Any, second: Any) -> Any:
    """The result of a binary operator: the same as apply, and fast for two tensors."""
    if type(first) is Tensor and type(second) is Tensor:
        plan = _fast.get((name, _context(), first._kind, second._kind))
        if plan is not None:
            result = _new(Tensor)
            result._array = plan.run(first._array, second._array)
            result._kind = plan.kind
            return result
    elif not (is_operand(first) and is_operand(second)):
        return NotImplemented
    return apply(name, first, second, form="operator")


def planned(
    name: str,
    operands: tuple[Any, ...],
    form: str,
    *,
    inplace: bool = False,
    home: str = DEFAULT,
) -> Plan:
    """How an op is computed on operands like these."""
    kinds = [o._kind for o in operands if isinstance(o, Tensor)]
    dialect = common_dialect(kinds, home)
    row = find_op(LIKE.get(name, name), dialect)
    sees_values = looks_at_values(dialect, row, form)
    seen = tuple([described(o, sees_values) for o in operands])
    if row.counts_dimensions:
        seen = tuple([replace(d, shape=o.shape) if isinstance(o, Tensor) else d
                      for o, d in zip(operands, seen, strict=True)])  # fmt: skip
    question = Question(row, seen, dialect, form, inplace)
    key = (name, question.key, home, *kinds)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
            _by_kinds.clear()
        plan = _plans[key] = _made(name, question, kinds, operands, home)
    is_pair = len(kinds) == len(operands) == 2
    if is_pair and plan.is_elementwise and form == "operator" and not (inplace or sees_values):
        _by_kinds[(name, _context(), kinds[0], kinds[1])] = plan
    return plan


def _made(
    name: str, question: Question, kinds: list[Kind], operands: tuple[Any, ...], home: str
) -> Plan:
    backend = common_backend(operands)
    decision = _decided(name, question)
    is_zero_d = all(o.is_scalar or o.rank == 0 for o in question.operands)
    own = next((kind.dialect for kind in kinds if kind.dialect), None)
    home = common_home(kinds, home)
    kind = interned(Kind(backend, decision.result, is_zero_d, decision.is_weak, own, home))
    return Plan(decision, kind, backend, name if name in LIKE else question.op.name)


def _decided(name: str, question: Question) -> Decision:
    """The decision; a refusal of a function without an op of its own tells which one it is like."""
    try:
        return answer(question)
    except PromotionError as error:
        if name not in LIKE:
            raise
        raise type(error)(f"{name} is decided as {question.op.name}: {error}") from None


def run(plan: Plan, operands: Sequence[Any], options: dict[str, Any]) -> Any:
    """The raw result of a plan, with watchers told."""
    given = [raw(operand, plan.backend) for operand in operands]
    array = plan.run(*given, **options)
    for watcher in _watchers.get():
        watcher.note(plan.decision, given, array)
    return array
