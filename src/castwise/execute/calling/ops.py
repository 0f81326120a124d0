"""Runs an op on tensors, numbers and NumPy arrays: decided once per signature, then computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from castwise.engine.decision import Question
from castwise.engine.plan import looks_at_values
from castwise.engine.steps.lists import is_left_to_python
from castwise.errors import UsageError
from castwise.execute import fast_path
from castwise.execute.calling.arguments import CallArguments, arranged
from castwise.execute.calling.devices import check_devices
from castwise.execute.calling.lists import has_lists
from castwise.execute.calling.masked import MASKING, run_masked
from castwise.execute.calling.operands import (
    NoOperandError,
    common_backend,
    common_home,
    raw,
)
from castwise.execute.calling.prepared import Prepared
from castwise.execute.calling.questions import asked, decided, without_lists
from castwise.execute.fast_path import (
    KnownResult,
    context,
    forget_all,
    remember,
    remember_number,
    watchers,
)
from castwise.execute.functions.alike import LIKE
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor, wrapped
from castwise.rules.default import DEFAULT
from castwise.vocab.dtypes import dtype
from castwise.vocab.operands import value_class

_MOST_KNOWN = 1 << 14
_known: dict[tuple[object, ...], Prepared] = {}
_NUMBERS = frozenset({bool, int, float, complex})
# Products that do not take numbers.
_OF_VECTORS = {"matmul": "matrix product", "cross": "cross product"}
_new = object.__new__


def apply_op(
    name: str, *operands: Any, form: str = "function", home: str = DEFAULT, **options: Any
) -> Tensor:
    """The result of an op as a new tensor; `calling.apply` can also write it into a tensor."""
    key = None
    if len(operands) == 2 and not options and type(operands[0]) is type(operands[1]) is Tensor:
        first, second = operands
        key = (name, form, home, context(), first._kind, second._kind)
        known = fast_path.known.get(key)
        if known is not None:
            return Tensor._of(known.run(first._array, second._array), known.kind)
    call = arranged(name, operands, options, home, form)
    prepared = prepare(name, call.operands, form, home=home, alpha=call.alpha, named=call.named)
    if prepared.decision.question.op.shapes.gives_pair:
        return cast(Tensor, _pair(prepared, call))  # the one op that gives two
    array = run(prepared, call.operands, call.options)
    if key:
        _remember_pair(key, prepared)
    is_known = prepared.is_elementwise and not options
    return Tensor._of(array, prepared.kind if is_known else prepared.kind.shaped(array.shape))


def _pair(prepared: Prepared, call: CallArguments) -> tuple[Tensor, Tensor]:
    """The values and their places, as two tensors."""
    given = _given(prepared, call.operands)
    values, places = prepared.compute(*given, **call.options)
    index = dtype(prepared.decision.question.dialect.becomes.index)
    if index is not prepared.backend.dtype_of(places) and index in prepared.backend.dtypes:
        places = prepared.backend.cast(places, index)
    for watcher in watchers():
        watcher.note(prepared.decision, given, values)
    strong = prepared.kind.with_(is_weak=False)
    return wrapped(values, prepared.kind), wrapped(places, strong)


def apply_several(
    name: str, *operands: Any, home: str = DEFAULT, **options: Any
) -> tuple[Tensor, ...]:
    """The results of a function with several results, or with a result dtype of its own.

    The operands are cast as decided. The results keep the dtypes that the function returns.
    """
    operands = without_lists(name, operands, "function", home)
    prepared = prepare(name, operands, "function", home=home)
    given = _given(prepared, operands)
    found = prepared.compute(*given, **options)
    arrays = found if isinstance(found, tuple) else (found,)
    for watcher in watchers():
        watcher.note(prepared.decision, given, arrays[0])
    return tuple([wrapped(array, prepared.kind) for array in arrays])


def apply_unary(name: str, operand: Tensor) -> Tensor:
    """The result of an operator with one operand."""
    return apply_op(name, operand, form="operator")


def apply_operator(name: str, first: Any, second: Any) -> Any:
    """The result of a binary operator, fast for a tensor and a Python number."""
    key: tuple[object, ...]
    if type(first) is Tensor:
        if type(second) in _NUMBERS:
            # The text tells zeros apart, because 0.0 and -0.0 are equal.
            key = (name, context(), first._kind, type(second), second or str(second))
            known = fast_path.numbers.get(key)
            if known is not None:
                return _made_of(known, first)
            found = fast_path.known.get((name, context(), first._kind, value_class(second)))
            if found is not None:
                return _with_new_number(key, cast(Prepared, found), first, second, 1)
    elif type(second) is Tensor and type(first) in _NUMBERS:
        key = (name, context(), type(first), first or str(first), second._kind)
        known = fast_path.numbers.get(key)
        if known is not None:
            return _made_of(known, second)
        found = fast_path.known.get((name, context(), value_class(first), second._kind))
        if found is not None:
            return _with_new_number(key, cast(Prepared, found), second, first, 0)
    return _apply_unknown_operator(name, first, second)


def _made_of(known: KnownResult, operand: Tensor) -> Tensor:
    """The result of a known computation on one tensor. No trace is notified: while one runs, there
    are no known computations."""
    result = _new(Tensor)
    result._array = known.run(operand._array)
    result._kind = known.kind
    return result


def _with_new_number(
    key: tuple[object, ...], prepared: Prepared, operand: Tensor, number: Any, place: int
) -> Tensor:
    """The result with a number of a known class, for which everything is decided. If it comes for
    the second time, it is cached in the form that the backend takes."""
    if key in fast_path.numbers:
        with_number = prepared.with_number(place, number)
        if with_number is not None:
            remember_number(key, with_number)
            return _made_of(with_number, operand)
    elif number == number and type(number) is not complex:
        remember_number(key, None)
    array = operand._array
    found = prepared.run(array, number) if place else prepared.run(number, array)
    return Tensor._of(found, prepared.kind)


def _apply_unknown_operator(name: str, first: Any, second: Any) -> Any:
    """The result of an operator with a new signature, cached for the next time."""
    if first is None or second is None:
        return NotImplemented
    try:
        question = asked(name, (first, second), "operator")
    except NoOperandError:
        return NotImplemented
    if has_lists((first, second)):
        if is_left_to_python(question):
            return NotImplemented
        first, second = without_lists(name, (first, second), "operator")
        question = asked(name, (first, second), "operator")
    prepared = prepare_for(question, name, (first, second))
    array = run(prepared, (first, second), {})
    if type(first) is type(second) is Tensor:
        _remember_pair((name, context(), first._kind, second._kind), prepared)
    elif prepared.is_elementwise and type(first) is Tensor and type(second) in _NUMBERS:
        remember((name, context(), first._kind, value_class(second)), prepared)
    elif prepared.is_elementwise and type(first) in _NUMBERS and type(second) is Tensor:
        remember((name, context(), value_class(first), second._kind), prepared)
    kind = prepared.kind
    return Tensor._of(array, kind if prepared.is_elementwise else kind.shaped(array.shape))


def _remember_pair(key: tuple[object, ...], prepared: Prepared) -> None:
    """Caches the computation of two tensors, unless it may depend on values."""
    asked_about = prepared.decision.question
    sees_values = looks_at_values(asked_about.dialect, asked_about.op, asked_about.form)
    if prepared.is_elementwise and not sees_values:
        remember(key, prepared)


def prepare(
    name: str, operands: tuple[Any, ...], form: str, *, home: str = DEFAULT, **given: Any
) -> Prepared:
    """How an op is computed on operands like these; `given` are the other parts of the question."""
    return prepare_for(asked(name, operands, form, home=home, **given), name, operands, home)


def prepare_for(
    question: Question, name: str, operands: tuple[Any, ...], home: str = DEFAULT
) -> Prepared:
    """How the op of a question is computed on its operands."""
    kinds = [o._kind for o in operands if isinstance(o, Tensor)]
    key = (name, question.key, home, *kinds)
    prepared = _known.get(key)
    if prepared is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
            forget_all()
        prepared = _known[key] = _prepare_anew(name, question, kinds, operands, home)
    return prepared


def _prepare_anew(
    name: str, question: Question, kinds: list[Kind], operands: tuple[Any, ...], home: str
) -> Prepared:
    """The computation for a new signature."""
    backend = common_backend(operands, question.operands)
    decision = decided(name, question)
    have_no_dimensions = [o.is_scalar or o.rank == 0 for o in question.operands]
    if name in _OF_VECTORS and any(have_no_dimensions):  # backends differ in how they treat it
        raise UsageError(
            f"{question} is not a {_OF_VECTORS[name]}: each operand needs a dimension. Multiply"
            " with *."
        )
    is_bounded = name == "clamp" and question.dialect.values.clamping.bound_shapes != "broadcast"
    is_zero_d = have_no_dimensions[0] if is_bounded else all(have_no_dimensions)
    own = next((kind.dialect for kind in kinds if kind.dialect), None)
    home = common_home(kinds, home)
    kind = interned(Kind(backend, decision.result, is_zero_d, decision.is_weak, own, home))
    return Prepared(decision, kind, backend, name if name in LIKE else question.op.name)


def run(
    prepared: Prepared, operands: Sequence[Any], options: dict[str, Any], into: Any = None
) -> Any:
    """The raw result of an op; it notifies watchers. `into` is a raw array of the result's dtype
    that takes it: if it can be computed there, without another array, that array is returned."""
    given = _given(prepared, operands)
    check_devices(prepared.decision.question.op, given)
    # A watcher looks at the operands afterwards.
    if into is not None and not options and not watchers() and prepared.writes(into, given):
        return into
    if not options:
        array = prepared.run(*given)
    elif MASKING.isdisjoint(options):
        array = prepared.plain(*given, **options)
    else:
        array = run_masked(prepared, given, options)
    for watcher in watchers():
        watcher.note(prepared.decision, given, array)
    return array


def _given(prepared: Prepared, operands: Sequence[Any]) -> list[Any]:
    """The operands that are not None, in the form that the backend computes with."""
    seen = prepared.decision.question.operands
    there = [(operand, d) for operand, d in zip(operands, seen, strict=True) if operand is not None]
    return [
        raw(operand, prepared.backend, description, dtype)
        for (operand, description), dtype in zip(there, prepared.entering, strict=True)
    ]
