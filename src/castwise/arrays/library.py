"""A library's own functions on tensors. They run under the tensors' dialect, as castwise's op or
function of that name, or raise an error that says what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Sequence
from operator import attrgetter
from typing import Any

from castwise.arrays.apply import apply_in_any_form, apply_operator, quotient_and_remainder
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.kinds import TensorData
from castwise.catalog.dialects import DEFAULT, dialect_named
from castwise.engine.ask import find_op
from castwise.errors import CallError, UsageError
from castwise.vocab.ops import Op

# An option's name in other libraries -> its name here.
_RENAMED = {
    "dim": "axis", "keepdim": "keepdims", "ddof": "correction", "a_min": "min", "a_max": "max"
}  # fmt: skip
_OPTIONS = frozenset({
    "axis", "keepdims", "correction", "reduction", "delta", "log_input", "rtol", "atol",
    "equal_nan", "out",
})  # fmt: skip
_NOT_APPLIED = ("questions", "conversion")  # families of ops that compute nothing
_ATTRIBUTES = ("shape", "ndim", "size")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def called(name: str, function: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a library's function, such as numpy.mean, for tensors.

    Raises CallError if castwise has no such function, or does not know one of its arguments.
    """
    tail = name.partition(".")[2]
    if tail in _ATTRIBUTES and len(arguments) == 1 and not options:
        return getattr(arguments[0], tail)
    named = {_RENAMED.get(option, option): value for option, value in options.items()}
    row, places = _op(name), list(parameters(function))
    if row is None:
        return _moved(tail, name, places, arguments, named)
    return _applied(row, name, places, arguments, named)


def _applied(
    row: Op, name: str, places: list[str], arguments: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of an op, or the tensor that it was written into."""
    is_joining = row.family == "joining"
    most = 1 if is_joining else row.arity[1]
    operands = arguments[0] if is_joining and arguments else arguments[:most]
    call = row.call
    known = {*_OPTIONS, *call.operands, *call.parameters, *(["alpha"] * call.takes_alpha)}
    options = _known(named | _by_name(name, places, arguments, most), known, name, row)
    make = _first_tensor([*arguments, *options.values()])._of
    result = apply_in_any_form(make, row.name, tuple(operands), **options)
    out = options.get("out")
    return result if out is None else out


def _moved(
    tail: str, name: str, places: list[str], arguments: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of a function of the standard's namespace, under the dialect of its tensors."""
    first = _first_tensor(arguments)
    try:
        function = attrgetter(tail)(first.__array_namespace__())
    except AttributeError:
        raise not_called(name) from None
    if not inspect.isfunction(function):
        raise not_called(name)
    known = inspect.signature(function).parameters
    most = sum(parameter.kind in _BY_PLACE for parameter in known.values())
    options = _known(named | _by_name(name, places, arguments, most), known, name)
    given = [_under_current_dialect(argument) for argument in arguments[:most]]
    return _with_dialect(function(*given, **options), first)


def _op(name: str) -> Op | None:
    """The op for a library's function, by its full name."""
    try:
        row = find_op(name, dialect_named(DEFAULT))
    except UsageError:
        return None
    return None if row.family in _NOT_APPLIED else row


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function; empty if it has no signature."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _by_name(name: str, places: list[str], arguments: Sequence[Any], most: int) -> dict[str, Any]:
    """The arguments after the operands, by name; without a signature, it must be an axis."""
    surplus = arguments[most:]
    names = places[most:] or ["axis"]
    if len(surplus) > len(names):
        raise not_called(f"{name} with {len(arguments)} arguments")
    pairs = zip(names, surplus, strict=False)
    return {_RENAMED.get(option, option): value for option, value in pairs}


def _known(
    options: dict[str, Any], known: Container[str], name: str, row: Op | None = None
) -> dict[str, Any]:
    """The options, which castwise must know; an unknown option that is None is ignored."""
    given = {n: value for n, value in options.items() if value is not None or n in known}
    unknown = [option for option in given if option not in known]
    if unknown:
        raise not_called(f"{name} with {unknown[0]}=", row)
    return given


def not_called(what: str, row: Op | None = None) -> CallError:
    """The error for a call that cannot run under a dialect."""
    own = f"cw.apply({row.name!r}, x)" if row else "cw.apply(op, x) or castwise.array_api"
    return CallError(
        f"{what} does not run under a dialect: use castwise's own functions, {own}, or leave the "
        "dialect with x.array."
    )


def _first_tensor(arguments: Sequence[Any]) -> Any:
    """The first tensor among arguments, which may be lists of tensors."""
    for argument in arguments:
        parts = argument if isinstance(argument, (list, tuple)) else (argument,)
        for part in parts:
            if isinstance(part, TensorData):
                return part
    return None


def _under_current_dialect(argument: Any) -> Any:
    """An argument whose tensors carry their current dialect, for a namespace with its own
    dialect."""
    if isinstance(argument, (list, tuple)):
        return [_under_current_dialect(part) for part in argument]
    is_tensor: bool = isinstance(argument, TensorData)
    return argument.under(argument.dialect) if is_tensor else argument


def _with_dialect(found: Any, first: TensorData) -> Any:
    """Results whose tensors all have the dialect and home of another tensor."""
    if isinstance(found, (list, tuple)):
        parts = [_with_dialect(part, first) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    if not isinstance(found, TensorData):
        return found
    like = first._kind
    return first._of(found._array, found._kind.with_(dialect=like.dialect, home=like.home))


def array_function(function: Callable[..., Any], arguments: Any, options: Any) -> Any:
    """The result of a function of the default backend for tensors."""
    return called(f"{function.__module__}.{function.__name__}", function, arguments, options)


def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a ufunc, which NumPy also calls for operators with a NumPy array on the
    left."""
    name = f"{DEFAULT_BACKEND}.{ufunc.__name__}"
    if method != "__call__":
        raise not_called(f"{name}.{method}")
    if ufunc.__name__ == "divmod" and not options:
        return quotient_and_remainder(*inputs)
    row = _op(name)
    is_operator = len(inputs) == 2 and row is not None and row.symbol and not options
    if (
        is_operator
        and row
        and hasattr(inputs[0], "dtype")
        and not isinstance(inputs[0], TensorData)
    ):
        return apply_operator(row.name, _as_compared(row, inputs[0]), inputs[1])
    if "out" in options:
        (options["out"],) = options["out"]
    return called(name, None, inputs, options)


def _as_compared(row: Op, array: Any) -> Any:
    """An operand; in comparisons NumPy passes a NumPy scalar as a 0-d array."""
    return array[()] if row.name in _COMPARISONS and not array.shape else array
