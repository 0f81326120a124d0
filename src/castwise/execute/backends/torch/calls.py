"""torch's functions on castwise tensors: torch.relu(t) runs under the dialect of t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.overrides import resolve_name

from castwise.execute.library_calls import called, not_called, parameters
from castwise.execute.tensor import Tensor

# With a dimension, or a second tensor, these are other functions than without.
_OF_ONE = frozenset({"torch.max", "torch.min", "torch.median"})


def register() -> None:
    """Tells torch that tensors take its functions."""
    Tensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[attr-defined]


def _torch_function(
    cls: type[Tensor],
    function: Callable[..., Any],
    types: Any,
    arguments: tuple[Any, ...] = (),
    options: dict[str, Any] | None = None,
) -> Any:
    name, options = resolve_name(function) or str(function), _given(function, options or {})
    # A method is called by operators too: refused here, torch leaves them to the tensor.
    is_method = name.startswith("torch.Tensor.")
    if is_method or (name in _OF_ONE and (len(arguments) > 1 or options)):
        raise not_called(f"{name}{'' if is_method else ' with more than one argument'}")
    return called(name, function, arguments, options)


def _given(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options without those that torch itself filled in."""
    known = parameters(function)
    return {
        name: value
        for name, value in options.items()
        if name not in known or value is not known[name].default
    }
