"""A library's own function on tensors that it holds, under its own dialect, runs itself.

Nothing is decided: what the library does with its own arrays is what its dialect says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.arrays import fast_path
from castwise.arrays.kinds import TensorData, fitted, refusal
from castwise.catalog import loaded_dialect, without_layers
from castwise.errors import UsageError, is_raw


def runs_itself(library: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Whether all tensors among the arguments of a library's function are held by it, and compute
    under its own dialect, in the version and mode that is loaded. While a trace runs, it records
    what is decided, so nothing runs past it."""
    tensors = _tensors([*arguments, *options.values()])
    if fast_path.running or any(
        tensor.backend != library or tensor.dialect.framework != library for tensor in tensors
    ):
        return False
    loaded = loaded_dialect(library).dialect
    return all(t.dialect in (loaded, without_layers(loaded)) for t in tensors)


def run_by_itself(
    name: str, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """What the library's function gives, with tensors for its arrays. A tensor that it returns as
    it was given, such as out=, stays that tensor."""
    tensors = _tensors([*arguments, *options.values()])
    try:
        found = function(*_raw(list(arguments)), **_raw(dict(options)))
    except Exception as error:
        if not is_raw(error):
            raise
        raise refusal(error, name, arguments, tensors[0].backend) from error
    return _as_tensors(found, tensors)


def _tensors(things: Any) -> list[TensorData]:
    """All tensors among things, which may be lists of others."""
    found: list[TensorData] = []
    for thing in things:
        if isinstance(thing, TensorData):
            found.append(thing)
        elif isinstance(thing, (list, tuple)):
            found.extend(_tensors(thing))
    return found


def _raw(thing: Any) -> Any:
    """The same with the arrays of tensors in their place."""
    if isinstance(thing, TensorData):
        return thing._array
    if isinstance(thing, dict):
        return {name: _raw(part) for name, part in thing.items()}
    return type(thing)(map(_raw, thing)) if type(thing) in (list, tuple) else thing


def _as_tensors(found: Any, tensors: list[TensorData]) -> Any:
    """The same with tensors in the place of arrays."""
    if isinstance(found, (list, tuple)):
        parts = [_as_tensors(part, tensors) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    first = tensors[0]
    if not hasattr(found, "dtype") or not hasattr(found, "shape"):
        return found
    given = next((tensor for tensor in tensors if tensor._array is found), None)
    if given is not None:
        return given
    try:
        return first._of(*fitted(found, first._kind))
    except UsageError:  # it has a dtype of the library that is none of castwise's
        return found
