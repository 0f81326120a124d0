"""`cw.apply`: an op on tensors as a new tensor, in place or into out=, or an explicit
conversion."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

from castwise.arrays import fast_path
from castwise.arrays.backend import Backend, TracesAlone, two_backends
from castwise.arrays.calls import (
    CallArguments,
    NoOperandError,
    arranged,
    asked,
    check_devices,
    common_backend,
    common_dialect,
    common_home,
    has_lists,
    raw_operands,
    without_lists,
)
from castwise.arrays.data import array_and_kind
from castwise.arrays.fast_path import context, forget_all, remember, watchers
from castwise.arrays.functions import LIKE, Function, function_for
from castwise.arrays.fusing import fused_op
from castwise.arrays.kinds import Kind, TensorData, fitted, interned, refusal
from castwise.arrays.steps import (
    CastsInside,
    RunsWhole,
    Writer,
    WritesInto,
    able,
    op_steps,
    under_rules,
)
from castwise.catalog import DEFAULT
from castwise.engine.ask import (
    answer,
    asked_form,
    asked_op,
    check_augmented,
    dialect_chosen,
    find_op,
    function_framework,
)
from castwise.engine.decision import Decision, Question
from castwise.engine.lists import is_left_to_python
from castwise.engine.plan import looks_at_values
from castwise.engine.writes import as_computed, rebinds, takes_result
from castwise.errors import ArgumentError, PromotionError, ShapeError, UsageError, is_raw
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, dtypes_named
from castwise.vocab.operands import value_class
from castwise.vocab.ops import EXTENSIONS

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor

# An op that is ready to run: the casts of its operands, one computation, its result's cast.


class PreparedWithNumber(NamedTuple):
    """How an op with a known number is computed: `run` takes the other operand, a raw array."""

    run: Function
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
        promoted = decision.as_promoted()
        for needed in (promoted.compute, decision.result):
            backend.native(needed)  # raises if the backend lacks it
        self.decision, self.kind, self.backend = decision, kind, backend
        computed = replace(promoted, question=as_computed(decision.question))
        self._steps = under_rules(op_steps(promoted, computes), computed)
        self.is_elementwise = self._steps.is_elementwise
        self.entering = tuple([entry and entry.dtype for entry in self._steps.entries])
        inside: CastsInside | None = able(backend, CastsInside)
        casting = inside.casting(self._steps) if inside and not self._steps.kernel else None
        if casting:
            self._function, self._entry_casts = casting
        else:
            self._function = self._steps.quieted(self._steps.function(backend), backend)
            self._entry_casts = self._steps.entry_casts(backend)
        at_once: RunsWhole | None = able(backend, RunsWhole)
        whole = at_once.whole(self._steps) if at_once and not self._steps.kernel else None
        if self._steps.defaults:
            self._function = functools.partial(self._function, **self._steps.defaults)
            whole = whole and functools.partial(whole, **self._steps.defaults)
        self._fused = fused_op(self._steps, decision, backend) if self.is_elementwise else None
        self._is_direct = False
        self._traced_alone = backend if isinstance(backend, TracesAlone) else None
        self.plain: Function = whole or self._carefully
        self.run: Function = self._by_size(self.plain)
        self._writer: Writer | None = None  # made when first needed

    def compute(self, *operands: Any, **options: Any) -> Any:
        """Casts and computes; returns what the function returns, one array or several."""
        given = [c(o) if c else o for c, o in zip(self._entry_casts, operands, strict=True)]
        return self._function(*given, **options)

    def writes(self, target: Any, operands: Sequence[Any]) -> bool:
        """Whether it has computed straight into a raw array. If not, it has changed nothing."""
        if self._fused is not None and self._fused.writes(target, operands):
            return True
        if self._writer is None:
            is_plain = self.is_elementwise and not self._steps.kernel
            into: WritesInto | None = able(self.backend, WritesInto) if is_plain else None
            found = into and into.into(self._steps, self._run, self._fused is not None)
            self._writer = found or (lambda target, operands: False)
        return self._writer(target, operands)

    def _run(self, *operands: Any) -> Any:
        """The current way to compute, which changes once it is known to be right."""
        return self.run(*operands)

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
        return plain if self._fused is None else self._fused.unless_small(plain)

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

    def _directly(self) -> Function:
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


def check_kernel(decision: Decision) -> None:
    """Raises PromotionError if the framework itself promotes and then has no kernel.

    If castwise can compute the op in the dtype, it does, because a framework's kernels differ from
    device to device.
    """
    question = decision.question
    compute = decision.as_promoted().compute
    if not decision.has_kernel and compute not in dtypes_named(question.op.computes):
        raise PromotionError(
            f"{question} fails to run in {question.dialect.name}: {' '.join(decision.notes)} "
            "Cast the operands to a dtype that it computes in."
        )


# where= and initial= on backends whose own functions do not take them.
#
# A reduction with a mask runs over all elements, with a neutral element in place of each masked
# one. The initial value is combined with the result.

_MASKING = frozenset({"where", "initial"})
# reduction -> the op that combines two results, and its neutral element
_TOGETHER: dict[str, tuple[str, int | None]] = {
    "sum": ("add", 0), "prod": ("mul", 1), "any": ("logical_or", 0), "all": ("logical_and", 1),
    "max": ("maximum", None), "min": ("minimum", None),
}  # fmt: skip


@runtime_checkable
class TakesMasks(Protocol):
    """A backend some of whose own functions take where= and initial=."""

    def takes_mask(self, op: str) -> bool:
        """Whether its function for an op does."""


def _run_masked(prepared: Prepared, given: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The raw result of a plan whose options have where= or initial=.

    Raises UsageError if the backend cannot support them.
    """
    backend, name = prepared.backend, prepared.decision.question.op.name
    if isinstance(backend, TakesMasks) and backend.takes_mask(name):
        return prepared.plain(*given, **options)
    if name not in _TOGETHER:
        raise _not_masked(prepared, name)
    mask, initial = options.get("where"), options.get("initial")
    others = {key: value for key, value in options.items() if key not in _MASKING}
    together, nothing = _TOGETHER[name]
    array = given[0]
    if mask is not None:
        fill = nothing if initial is None or nothing is not None else initial
        if fill is None:
            raise UsageError(f"{name} with where= needs initial=, in case no element is selected.")
        held = backend.dtype_of(array)
        array = chosen(backend, mask, array, _number(backend, fill, held))
    result = prepared.plain(array, **others)
    if initial is None:
        return result
    held = prepared.decision.result
    return function_for(backend, together, held)(result, _number(backend, initial, held))


def chosen(backend: Backend, mask: Any, array: Any, other: Any) -> Any:
    """An array with the elements of another of the same dtype where a mask is false."""
    if not backend.owns(mask):
        mask = backend.make(mask, None, copy=None, device=getattr(array, "device", None))
    return function_for(backend, "where", backend.dtype_of(array))(mask, array, other)


def _number(backend: Backend, value: Any, dtype: DType) -> Any:
    if backend.owns(value):
        return backend.cast(value, dtype)
    return backend.number(value.item() if hasattr(value, "item") else value, dtype)


def _not_masked(prepared: Prepared, name: str) -> UsageError:
    if prepared.is_elementwise:
        return UsageError(
            f"{name} with where= leaves the other elements undefined, and the backend"
            f" {prepared.backend.name} cannot do that. Give out=, or select afterwards:"
            f" cw.apply('where', mask, cw.apply({name!r}, ...), other)."
        )
    return UsageError(
        f"the backend {prepared.backend.name} has no {name} with where=. Select the elements"
        f" first: cw.apply({name!r}, x[mask])."
    )


# Runs an op on tensors, numbers and NumPy arrays: decided once per signature, then computed.

_MOST_KNOWN = 1 << 14
_known: dict[tuple[object, ...], Prepared] = {}
_NUMBERS = frozenset({bool, int, float, complex})
# Products that do not take numbers.
_OF_VECTORS = {"matmul": "matrix product", "cross": "cross product"}


def apply_op(
    name: str, *operands: Any, form: str = "function", home: str = DEFAULT, **options: Any
) -> Tensor:
    """The result of an op on operands with a tensor among them, as a new tensor; topk gives two."""
    like = operands[0] if isinstance(operands[0], TensorData) else _first_tensor(operands)
    array, kind = computed(name, operands, form, home, options)
    if type(kind) is tuple:
        return cast("Tensor", tuple(map(like._of, array, kind)))
    return like._of(array, kind)


def apply_several(
    name: str, *operands: Any, home: str = DEFAULT, **options: Any
) -> tuple[Tensor, ...]:
    """The results of `computed_several` on operands with a tensor among them, as new tensors."""
    like = _first_tensor(operands)
    return tuple([like._of(*found) for found in computed_several(name, operands, home, options)])


def _first_tensor(operands: Sequence[Any]) -> TensorData:
    return next(operand for operand in operands if isinstance(operand, TensorData))


def computed(
    name: str, operands: tuple[Any, ...], form: str, home: str, options: dict[str, Any]
) -> tuple[Any, Any]:
    """The array that an op gives, and its kind; a tuple of each where it gives several."""
    key = None
    if len(operands) == 2 and not options:
        first, second = operands
        if type(first) is type(second) and isinstance(first, TensorData):
            key = (name, form, home, context(), first._kind, second._kind)
            known = fast_path.known.get(key)
            if known is not None:
                try:
                    return known.run(first._array, second._array), known.kind
                except Exception as error:
                    if not is_raw(error):
                        raise
                    raise refusal(error, name, operands, first.backend) from error
    call = arranged(name, operands, options, home, form)
    prepared = prepare(name, call.operands, form, home=home, alpha=call.alpha, named=call.named)
    if prepared.decision.question.op.name in EXTENSIONS:
        found = computed_several(name, operands, home, options)
        arrays, kinds = zip(*found, strict=True)
        return (arrays, kinds) if len(found) > 1 else found[0]
    if prepared.decision.question.op.shapes.gives_pair:
        return _values_and_places(prepared, call)
    array = run(prepared, call.operands, call.options)
    if key:
        _remember_pair(key, prepared)
    is_known = prepared.is_elementwise and not options
    if is_known:
        return array, prepared.kind
    return array, _kind_of_result(prepared.kind, prepared.decision.question, array.shape)


def computed_several(
    name: str, operands: tuple[Any, ...], home: str, options: dict[str, Any]
) -> list[tuple[Any, Kind]]:
    """The results of a function with several results, or with a result dtype of its own.

    Each is an array and its kind. The operands are cast as decided, and the results keep the dtypes
    that the function returns.
    """
    operands = without_lists(name, operands, "function", home)
    prepared = prepare(name, operands, "function", home=home)
    given = _given(prepared, operands)
    try:
        found = prepared.compute(*given, **options)
    except Exception as error:
        if not is_raw(error):
            raise
        raise refusal(error, name, operands, prepared.backend.name) from error
    arrays = found if isinstance(found, tuple) else (found,)
    for watcher in watchers():
        watcher.note(prepared.decision, given, arrays[0])
    return [fitted(array, prepared.kind) for array in arrays]


def _values_and_places(prepared: Prepared, call: CallArguments) -> tuple[Any, Any]:
    """Two arrays, the values and their places, and the kinds of both."""
    given = _given(prepared, call.operands)
    try:
        values, places = prepared.compute(*given, **call.options)
    except Exception as error:
        if not is_raw(error):
            raise
        raise _refusal(error, prepared, call.operands) from error
    index = dtype(prepared.decision.question.dialect.becomes.index)
    if index is not prepared.backend.dtype_of(places) and index in prepared.backend.dtypes:
        places = prepared.backend.cast(places, index)
    for watcher in watchers():
        watcher.note(prepared.decision, given, values)
    strong = prepared.kind.with_(is_weak=False)
    (values, kind), (places, strong) = fitted(values, prepared.kind), fitted(places, strong)
    return (values, places), (kind, strong)


def apply_operator(name: str, first: Any, second: Any) -> Any:
    """The result of a binary operator, one of whose operands is a tensor; its computation is cached
    for the next operands of these kinds."""
    like = first if isinstance(first, TensorData) else second
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
    prepared = _prepare_for(question, name, (first, second))
    array = run(prepared, (first, second), {})
    if isinstance(first, TensorData) and isinstance(second, TensorData):
        _remember_pair((name, context(), first._kind, second._kind), prepared)
    elif prepared.is_elementwise and isinstance(first, TensorData) and type(second) in _NUMBERS:
        remember((name, context(), first._kind, value_class(second)), prepared)
    elif prepared.is_elementwise and type(first) in _NUMBERS and isinstance(second, TensorData):
        remember((name, context(), value_class(first), second._kind), prepared)
    kind = prepared.kind
    return like._of(
        array, kind if prepared.is_elementwise else _kind_of_result(kind, question, array.shape)
    )


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
    return _prepare_for(asked(name, operands, form, home=home, **given), name, operands, home)


def _prepare_for(
    question: Question, name: str, operands: tuple[Any, ...], home: str = DEFAULT
) -> Prepared:
    """How the op of a question is computed on its operands."""
    kinds = [o._kind for o in operands if isinstance(o, TensorData)]
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
    decision = answer(question)
    have_no_dimensions = [o.is_scalar or o.rank == 0 for o in question.operands]
    product = _OF_VECTORS.get(question.op.name)
    if product and any(have_no_dimensions):  # backends differ in how they treat it
        has_number = any([o.is_scalar for o in question.operands])
        raise (ArgumentError if has_number else ShapeError)(
            f"{question} is not a {product}: each operand needs a dimension. Multiply with *."
        )
    is_bounded = name == "clamp" and question.dialect.values.clamping.bound_shapes != "broadcast"
    is_zero_d = have_no_dimensions[0] if is_bounded else all(have_no_dimensions)
    own = next((kind.dialect for kind in kinds if kind.dialect), None)
    home = common_home(kinds, home)
    kind = interned(Kind(backend, decision.result, is_zero_d, decision.is_weak, own, home))
    kind = _kind_of_result(kind, question, ()) if is_zero_d else kind
    return Prepared(decision, kind, backend, name if name in LIKE else question.op.name)


def _kind_of_result(kind: Kind, question: Question, shape: Any) -> Kind:
    """The kind of a result: a scalar where the dialect has scalars, except of ops named there."""
    gives_arrays = question.op.name in question.dialect.values.memory.gives_arrays.split()
    return kind.shaped(shape) if gives_arrays else kind.of_result(shape)


def run(
    prepared: Prepared, operands: Sequence[Any], options: dict[str, Any], into: Any = None
) -> Any:
    """The raw result of an op; it notifies watchers. `into` is a raw array of the result's dtype
    that takes it: if it can be computed there, without another array, that array is returned."""
    given = _given(prepared, operands)
    check_devices(prepared.decision.question.op, given)
    try:
        # A watcher looks at the operands afterwards.
        if into is not None and not options and not watchers() and prepared.writes(into, given):
            return into
        if not options:
            array = prepared.run(*given)
        elif _MASKING.isdisjoint(options):
            array = prepared.plain(*given, **options)
        else:
            array = _run_masked(prepared, given, options)
    except Exception as error:
        if not is_raw(error):
            raise
        raise _refusal(error, prepared, operands) from error
    for watcher in watchers():
        watcher.note(prepared.decision, given, array)
    return array


def _refusal(error: Exception, prepared: Prepared, operands: Sequence[Any]) -> Exception:
    return refusal(error, prepared.decision.question.op.name, operands, prepared.backend.name)


def _given(prepared: Prepared, operands: Sequence[Any]) -> list[Any]:
    """The operands that are not None, in the form that the backend computes with."""
    seen = prepared.decision.question.operands
    return raw_operands(operands, seen, prepared.backend, prepared.entering)


# `x += y` and in-place ops: the dtype is kept, changed or refused as the framework does it.


def update(name: str, target: TensorData, *others: Any, **options: Any) -> Any:
    """The target itself, with the result of an op written into it: `target.add_(other)`.

    Raises PromotionError if the dialect refuses, or would change a dtype that must stay the same.
    Raises UsageError if the shape would change.
    """
    if fast_path.running:
        fast_path.writing(target, *others)
    call = arranged(name, (target, *others), options, form="operator", inplace=True)
    prepared = prepare(
        name, call.operands, "operator", inplace=True, alpha=call.alpha, named=call.named
    )
    return _stored(prepared, target, call.operands, call.options)


def augment(name: str, target: TensorData, other: Any) -> Any:
    """The value of the name after `target += other`: a new tensor if the dialect rebinds the name,
    otherwise the target itself with the result in it. A variable is always written to.

    Raises what `update` raises.
    """
    if target._keeps_dtype:
        return update(name, target, other)
    if target._kind.is_scalar and target._kind.has_scalars:
        return apply_operator(name, target, other)
    operands = without_lists(name, (target, other), "augmented")
    question = asked(name, operands, "augmented")
    if rebinds(question):
        return target._of(*computed(name, operands, "augmented", DEFAULT, {}))
    if fast_path.running:
        fast_path.writing(target, other)
    return _stored(_prepare_for(question, name, operands), target, operands, {})


def _stored(
    prepared: Prepared, target: TensorData, operands: tuple[Any, ...], options: dict[str, Any]
) -> TensorData:
    """The target with the result of an op, which is written into its array, or becomes its new
    array if the dialect allows another dtype or shape."""
    question, result = prepared.decision.question, prepared.decision.result
    if target._keeps_dtype and result is not target.dtype:
        raise would_change(str(question), target, result)
    if result is not target.dtype and any(other is target for other in operands[1:]):
        _check_itself(question, target)
    values = run(prepared, operands, options, target._array if result is target.dtype else None)
    is_fitting = tuple(values.shape) == target.shape
    if not is_fitting and (target._keeps_dtype or not _takes_shape(question)):
        raise ShapeError(
            f"{question.op.name} in place gives the shape {tuple(values.shape)}, but the tensor "
            f"has {target.shape}: use the op out of place, or reshape."
        )
    if not is_fitting or result is not target.dtype:
        target._array, target._kind = values, prepared.kind.shaped(values.shape)
        return target
    if values is not target._array:
        target._array = prepared.backend.write(target._array, ..., values)
    if prepared.kind.is_weak is not target._kind.is_weak:
        target._kind = target._kind.with_(is_weak=prepared.kind.is_weak)
    return target


def _takes_shape(question: Question) -> bool:
    return takes_result(question) and question.dialect.values.memory.retyped_shapes == "taken"


def _check_itself(question: Question, target: TensorData) -> None:
    """Raises PromotionError if an array that changes dtype in place is its own operand, and the
    dialect changes it before it is read."""
    is_retyped = question.op.name in question.dialect.values.memory.retyped_first.split()
    if is_retyped and 0 not in target.shape:
        raise PromotionError(
            f"{question} is refused in {question.dialect.name} if the array is its own operand, "
            "because its dtype changes before it is read: use the op out of place."
        )


def fills(given: tuple[int, ...], held: tuple[int, ...]) -> bool:
    """Whether values of a shape broadcast to the shape of an array, which keeps its own."""
    pairs = zip(reversed(given), reversed(held), strict=False)
    return len(given) <= len(held) and all(n in (1, wanted) for n, wanted in pairs)


def would_change(what: str, target: TensorData, joined: object) -> PromotionError:
    """The error for a write that would change the dtype of a variable."""
    return PromotionError(
        f"{what} is refused in {target.dialect.name}: it would make the {target.dtype} "
        f"variable {joined}, and a variable keeps its dtype. Cast the value: "
        f"x.astype({str(target.dtype)!r})."
    )


Make: TypeAlias = "Callable[[Any, Kind], Tensor]"  # makes a tensor of an array and its kind
_NO_ARRAYS = (TensorData, bool, int, float, complex, list, tuple)  # they choose no dialect


def apply_in_any_form(
    make: Make, name: Any, operands: tuple[Any, ...], *, form: str | None = None,
    inplace: bool = False, out: Any = None, home: str = DEFAULT, **options: Any,
) -> Any:  # fmt: skip
    """The result of `cw.apply`; `make` makes new tensors."""
    if home == DEFAULT:
        home = _home(name, operands)
    said = asked_op(name, len(operands))
    name, inplace = said.name, inplace or said.inplace
    convert = _CONVERSIONS.get(name.rpartition(".")[2])
    if convert is not None:
        if out is not None:
            raise UsageError(f"{name} does not accept out=.")
        return convert(make, *arranged(name, operands, options, home).operands, inplace=inplace)
    kinds = [operand._kind for operand in operands if isinstance(operand, TensorData)]
    is_named = any([given is not None for given in (out, *options.values())])
    form = form_applied(name, form or said.form, common_dialect(kinds, home), is_named)
    if form == "augmented":
        return _augmented(make, name, operands, home, inplace=inplace, out=out, **options)
    if inplace:
        if out is not None:
            raise UsageError("give either inplace or out=, not both.")
        target, *others = operands
        if not isinstance(target, TensorData):
            raise UsageError(f"{name} in place needs a tensor: convert x first, cw.asarray(x).")
        return update(name, target, *others, **options)
    if out is not None:
        return _into(make, out, name, operands, form, home, options)
    return _result(make, name, operands, form, home, options)


def form_applied(name: str, form: str | None, dialect: Dialect, is_named: bool) -> str:
    """The form of an op in `cw.apply`, where one may be said."""
    return asked_form(find_op(LIKE.get(name, name), dialect), form, is_named=is_named)


def _result(
    make: Make, name: str, operands: tuple[Any, ...], form: str, home: str, options: dict[str, Any]
) -> Any:
    """The result of an op as a new tensor; none of its operands need be one."""
    if any([isinstance(operand, TensorData) for operand in operands]):
        return apply_op(name, *operands, form=form, home=home, **options)
    array, kind = computed(name, operands, form, home, options)
    return tuple(map(make, array, kind)) if type(kind) is tuple else make(array, kind)


def _home(name: Any, operands: tuple[Any, ...]) -> str:
    """The dialect of raw arrays among the operands, or of a framework's own function."""
    arrays = [operand for operand in operands if not isinstance(operand, _NO_ARRAYS)]
    if not arrays and isinstance(name, str):
        return DEFAULT
    return dialect_chosen(None, arrays, function_framework(name)).dialect.name


def _augmented(make: Make, name: str, operands: tuple[Any, ...], home: str, **given: Any) -> Any:
    """The result of `x += y`: x itself, or a new tensor."""
    kinds = [operand._kind for operand in operands if isinstance(operand, TensorData)]
    check_augmented(find_op(name, common_dialect(kinds, home)), len(operands), given)
    target, other = operands
    if isinstance(target, TensorData):
        return augment(name, target, other)
    if not rebinds(asked(name, operands, "augmented", home=home)):
        raise UsageError(f"{name} in place needs a tensor: convert x first, cw.asarray(x).")
    return _result(make, name, operands, "augmented", home, {})


def _cast(make: Make, x: Any, dtype: object, *, inplace: bool) -> Any:
    if inplace:
        raise UsageError("a cast in place would change the dtype: write x = x.astype(dtype).")
    return make(*array_and_kind(x)).astype(dtype)


def _fill(make: Make, x: Any, value: Any, *, inplace: bool) -> Any:
    is_target = inplace and isinstance(x, TensorData)
    target = x if is_target else make(*array_and_kind(x, copy=True))
    return target.fill_(value)


_CONVERSIONS: dict[str, Function] = {"cast": _cast, "fill": _fill}


def _into(
    make: Make, out: Any, name: str, operands: tuple[Any, ...], form: str, home: str,
    options: dict[str, Any],
) -> Any:  # fmt: skip
    """The result as a tensor, written into the given tensor or array."""
    if isinstance(out, TensorData):
        fast_path.writing(out, *operands)
    call = arranged(name, operands, options, home, form)
    kinds = [o._kind for o in (*call.operands, out) if isinstance(o, TensorData)]
    dialect = common_dialect(kinds, home)
    is_tensor = isinstance(out, TensorData)
    target: Any = out if is_tensor else make(*array_and_kind(out, dialect=dialect))
    prepared = prepare(
        name, call.operands, form, out=target.dtype, alpha=call.alpha, named=call.named, home=home
    )
    if prepared.backend is not target._kind.backend:
        raise two_backends(prepared.backend.name, target.backend)
    if prepared.decision.result is not target.dtype:
        raise UsageError(
            f"{prepared.decision.question} gives {prepared.decision.result}, but "
            f"{target.dialect.name} has no out=. Leave it out."
        )
    values = _values_into(prepared, call, target)
    is_resized = _is_resized(tuple(values.shape), target, prepared)
    if is_resized and any(operand is out for operand in call.operands):
        _check_not_read(tuple(values.shape), target, prepared)
    if values is target._array:
        written = values
    elif is_resized and target is out:  # what is computed in another dtype is cast here
        is_own = prepared.backend.dtype_of(values) is target.dtype
        written = values if is_own else prepared.backend.cast(values, target.dtype)
    else:
        array = _resized(out, values.shape, prepared.backend) if is_resized else target._array
        written = prepared.backend.write(array, ..., values)
    if target is not out and written is not out:
        raise UsageError(
            f"an array of {target.backend} cannot be written to: pass a tensor, out=cw.asarray(x)."
        )
    target._array, target._kind = written, target._kind.shaped(written.shape)
    return target


def _values_into(prepared: Prepared, call: CallArguments, target: TensorData) -> Any:
    """The values to write into a tensor: where a mask is false, its old values."""
    options = dict(call.options)
    mask = options.pop("where", None) if prepared.is_elementwise else None
    values = run(prepared, call.operands, options, target._array if mask is None else None)
    return values if mask is None else chosen(prepared.backend, mask, values, target._array)


@runtime_checkable
class Resizes(Protocol):
    """A backend whose arrays can be resized in place."""

    def resize(self, array: Any, shape: tuple[int, ...]) -> Any:
        """The array itself, resized to a shape."""


def _is_resized(shape: tuple[int, ...], target: TensorData, prepared: Prepared) -> bool:
    """Whether out= is resized for a result of a shape.

    Raises UsageError if the result does not fit and the dialect does not resize.
    """
    if shape == target.shape:
        return False
    if prepared.decision.question.dialect.values.memory.out_shapes != "resized":
        # The result of a reduction is not broadcast to a larger out=.
        is_reduced = prepared.decision.question.op.family == "reductions"
        if not is_reduced and fills(shape, target.shape):
            return False
        raise ShapeError(
            f"a result of shape {shape} does not fit into out= of shape {target.shape}: give out= "
            "the result's shape."
        )
    if target.size:
        warnings.warn(
            f"out= has the shape {target.shape} and is resized to {shape}: give it that shape, or "
            "no elements.",
            UserWarning,
            stacklevel=4,
        )
    return True


def _check_not_read(shape: tuple[int, ...], target: TensorData, prepared: Prepared) -> None:
    """Raises ShapeError where out= is read, element by element, while it is written."""
    if prepared.decision.question.op.keeps_shape:
        raise ShapeError(
            f"out= of shape {target.shape} is an operand too, and cannot be resized to {shape}: "
            "give another tensor as out=."
        )


def _resized(array: Any, shape: Any, backend: Backend) -> Any:
    if isinstance(backend, Resizes):
        return backend.resize(array, tuple(shape))
    raise UsageError(
        f"an array of {backend.name} cannot be resized to {tuple(shape)}: give it that shape, or "
        "pass a tensor, out=cw.asarray(x)."
    )
