"""`cw.apply`: an op on tensors as a new tensor, in place or into out=, or an explicit
conversion."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from castwise.engine.ask import check_augmented
from castwise.engine.chosen import dialect_chosen
from castwise.engine.op_names import find_op, framework_of_function, spoken
from castwise.engine.steps.forms import rebinds
from castwise.errors import UsageError
from castwise.execute import tracing
from castwise.execute.backend import Backend, two_backends
from castwise.execute.calling.arguments import CallArguments, arranged
from castwise.execute.calling.in_place import augment, fills, update
from castwise.execute.calling.masked import chosen
from castwise.execute.calling.operands import common_dialect
from castwise.execute.calling.ops import apply_op, prepare, run
from castwise.execute.calling.prepared import Prepared
from castwise.execute.calling.questions import asked
from castwise.execute.tensor import Tensor, asarray
from castwise.rules.default import DEFAULT

_NO_ARRAYS = (Tensor, bool, int, float, complex, list, tuple)  # they choose no dialect


def apply(
    name: Any,
    *operands: Any,
    form: str = "function",
    inplace: bool = False,
    out: Any = None,
    home: str = DEFAULT,
    **options: Any,
) -> Tensor:
    """The result of an op under the operands' dialect.

    The op is a name, a symbol such as "+", or a framework's own function such as `np.add`. With
    `inplace` the result is written into the first operand, with `out` into that tensor or array,
    both as the dialect's framework does it. The form "augmented" is `x += y`, which writes into the
    first operand or gives a new tensor. `alpha` is a factor for the second operand of add
    and sub. dtype, casting, rounding_mode and similar options work as in `resolve`. Other `options`
    are passed to the backend (axis, ...). `home` names the dialect to use if neither the operands
    nor `cw.use` do.

    >>> apply("fmax", asarray([1, 2]), 1.5)
    Tensor([1.5, 2. ], dtype=float64, dialect=numpy, backend=numpy)
    >>> total = asarray([0, 0], dtype="float32")
    >>> apply("add", asarray([1, 2], dtype="int8"), 1, out=total) is total
    True

    Raises PromotionError if the dialect refuses, UsageError if the operands cannot be
    combined.
    """
    if home == DEFAULT:
        home = _home(name, operands)
    said = spoken(name, len(operands))
    name, inplace = said.name, inplace or said.inplace
    if said.form and form == "function":
        form = said.form
    convert = _CONVERSIONS.get(name.rpartition(".")[2])
    if convert is not None:
        if out is not None:
            raise UsageError(f"{name} does not accept out=.")
        return convert(*arranged(name, operands, options, home).operands, inplace=inplace)
    if form == "augmented":
        return _augmented(name, operands, home, inplace=inplace, out=out, **options)
    if inplace:
        if out is not None:
            raise UsageError("give either inplace or out=, not both.")
        target, *others = operands
        if not isinstance(target, Tensor):
            raise UsageError(f"{name} in place needs a tensor: convert x first, cw.asarray(x).")
        return update(name, target, *others, **options)
    if out is not None:
        return _into(out, name, operands, form, home, options)
    return apply_op(name, *operands, form=form, home=home, **options)


def _home(name: Any, operands: tuple[Any, ...]) -> str:
    """The dialect of raw arrays among the operands, or of a framework's own function."""
    arrays = [operand for operand in operands if not isinstance(operand, _NO_ARRAYS)]
    if not arrays and isinstance(name, str):
        return DEFAULT
    return dialect_chosen(None, arrays, framework_of_function(name)).dialect.name


def _augmented(name: str, operands: tuple[Any, ...], home: str, **given: Any) -> Tensor:
    """The result of `x += y`: x itself, or a new tensor."""
    kinds = [o._kind for o in operands if isinstance(o, Tensor)]
    check_augmented(find_op(name, common_dialect(kinds, home)), len(operands), given)
    target, other = operands
    if isinstance(target, Tensor):
        return augment(name, target, other)
    if not rebinds(asked(name, operands, "augmented", home=home)):
        raise UsageError(f"{name} in place needs a tensor: convert x first, cw.asarray(x).")
    return apply_op(name, target, other, form="augmented", home=home)


def _cast(x: Any, dtype: object, *, inplace: bool) -> Tensor:
    if inplace:
        raise UsageError("a cast in place would change the dtype: write x = x.astype(dtype).")
    return asarray(x).astype(dtype)


def _fill(x: Any, value: Any, *, inplace: bool) -> Tensor:
    target = x if inplace and isinstance(x, Tensor) else asarray(x, copy=True)
    return target.fill_(value)


_CONVERSIONS: dict[str, Callable[..., Tensor]] = {"cast": _cast, "fill": _fill}


def _into(
    out: Any, name: str, operands: tuple[Any, ...], form: str, home: str, options: dict[str, Any]
) -> Tensor:
    """The result as a tensor, written into the given tensor or array."""
    if isinstance(out, Tensor):
        tracing.writing(out, *operands)
    call = arranged(name, operands, options, home, form)
    kinds = [o._kind for o in (*call.operands, out) if isinstance(o, Tensor)]
    dialect = common_dialect(kinds, home)
    target = out if isinstance(out, Tensor) else asarray(out, dialect=dialect)
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
    values = _computed(prepared, call, target)
    is_resized = _is_resized(tuple(values.shape), target, prepared)
    if values is target._array or (is_resized and target is out):
        written = values
    else:
        array = _resized(out, values.shape, prepared.backend) if is_resized else target._array
        written = prepared.backend.write(array, ..., values)
    if target is not out and written is not out:
        raise UsageError(
            f"an array of {target.backend} cannot be written to: pass a tensor, out=cw.asarray(x)."
        )
    target._array, target._kind = written, target._kind.shaped(written.shape)
    return target


def _computed(prepared: Prepared, call: CallArguments, target: Tensor) -> Any:
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


def _is_resized(shape: tuple[int, ...], target: Tensor, prepared: Prepared) -> bool:
    """Whether out= is resized for a result of a shape.

    Raises UsageError if the result does not fit and the dialect does not resize.
    """
    if shape == target.shape:
        return False
    if prepared.decision.question.dialect.values.memory.out_shapes != "resized":
        if fills(shape, target.shape):
            return False
        raise UsageError(
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


def _resized(array: Any, shape: Any, backend: Backend) -> Any:
    if isinstance(backend, Resizes):
        return backend.resize(array, tuple(shape))
    raise UsageError(
        f"an array of {backend.name} cannot be resized to {tuple(shape)}: give it that shape, or "
        "pass a tensor, out=cw.asarray(x)."
    )
