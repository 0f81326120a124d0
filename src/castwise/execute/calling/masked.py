"""where= and initial= on backends whose own functions do not take them.

A reduction with a mask runs over all elements, with a neutral element in place of each masked one.
The initial value is combined with the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from castwise.errors import UsageError
from castwise.execute.backend import Backend
from castwise.execute.calling.prepared import Prepared
from castwise.execute.functions.lookup import function_for
from castwise.vocab.dtypes import DType

MASKING = frozenset({"where", "initial"})
# reduction -> the op that combines two results, and its neutral element
_TOGETHER: dict[str, tuple[str, int | None]] = {
    "sum": ("add", 0),
    "prod": ("mul", 1),
    "any": ("logical_or", 0),
    "all": ("logical_and", 1),
    "max": ("maximum", None),
    "min": ("minimum", None),
}


@runtime_checkable
class TakesMasks(Protocol):
    """A backend some of whose own functions take where= and initial=."""

    def takes_mask(self, op: str) -> bool:
        """Whether its function for an op does."""


def run_masked(prepared: Prepared, given: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The raw result of a plan whose options have where= or initial=.

    Raises UsageError if the backend cannot support them.
    """
    backend, name = prepared.backend, prepared.decision.question.op.name
    if isinstance(backend, TakesMasks) and backend.takes_mask(name):
        return prepared.plain(*given, **options)
    if name not in _TOGETHER:
        raise _not_masked(prepared, name)
    mask, initial = options.get("where"), options.get("initial")
    others = {key: value for key, value in options.items() if key not in MASKING}
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
