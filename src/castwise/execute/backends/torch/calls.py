"""torch's functions on castwise tensors: torch.relu(t) runs under the dialect of t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import resolve_name

from castwise.execute.backends.torch.compiled import constant, let_call
from castwise.execute.calling.library import called, not_called, parameters
from castwise.execute.calling.ops import apply_operator
from castwise.execute.tensor import Tensor
from castwise.vocab.ops import OPS

# With a dimension or a second tensor, these are different functions.
_OF_ONE = frozenset({"torch.max", "torch.min", "torch.median"})
# The methods of torch's tensors that operators call -> their ops.
_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip


def register() -> None:
    """Lets torch's functions accept tensors."""
    Tensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[attr-defined]
    let_call(_by_name)


def _torch_function(
    cls: type[Tensor],
    function: Callable[..., Any],
    types: Any,
    arguments: tuple[Any, ...] = (),
    options: dict[str, Any] | None = None,
) -> Any:
    is_compiled = torch.compiler.is_compiling()
    return _by_name(_name(function), arguments, options or {}, is_compiled=is_compiled)


@constant
def _name(function: Callable[..., Any]) -> str:
    """The name by which a function is looked up."""
    name = resolve_name(function) or str(function)
    _functions[name] = function
    return name


_functions: dict[str, Callable[..., Any]] = {}


def _by_name(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], *, is_compiled: bool
) -> Any:
    function = _functions[name]
    options = _given(function, options)
    # Operators call methods too: if refused here, torch leaves them to the tensor.
    is_method = name.startswith("torch.Tensor.")
    if is_method and is_compiled:  # torch's compiler does not leave them to the tensor
        return _operated(name, arguments)
    if is_method or (name in _OF_ONE and (len(arguments) > 1 or options)):
        raise not_called(f"{name}{'' if is_method else ' with more than one argument'}")
    return called(name, function, arguments, options)


def _operated(name: str, arguments: tuple[Any, ...]) -> Any:
    """The result of an operator, by the method that torch's compiler uses for it."""
    tail = name.rpartition(".")[2].strip("_")
    if tail not in _OPERATORS and tail[1:] in _OPERATORS:
        tail, arguments = tail[1:], arguments[::-1]
    row = OPS.get(_OPERATORS.get(tail, tail))
    if row is None or not row.symbol or len(arguments) != 2:
        raise not_called(name)
    return apply_operator(row.name, *arguments)


def _given(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options without those that torch itself filled in."""
    known = parameters(function)
    return {
        name: value
        for name, value in options.items()
        if name not in known or value is not known[name].default
    }
