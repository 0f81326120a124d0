"""Methods that cast, with the names that they have in the dialect's framework."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from castwise.execute.methods.absent import NoMethod
from castwise.execute.methods.conversions import on_device
from castwise.execute.methods.spelling import dtype_in
from castwise.rules.catalog import dialect_named, dialects

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor

_Method = TypeVar("_Method", bound=Callable[..., Any])
_INSTEAD = {"to": "x.astype(dtype), or x.to_device(device)", "type_as": "x.astype(y.dtype)"}


class _OfSomeDialects(NoMethod):
    """A method of the tensors whose dialect's framework has one of this name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__name__)
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._function.__name__ = name
        self._function.__qualname__ = f"{owner.__name__}.{name}"

    def is_method_of(self, tensor: Any) -> bool:
        return self._name in tensor._kind.current_dialect.naming.dtypes_of_casts

    def __get__(self, tensor: Any, owner: type) -> Any:
        if tensor is None:
            return self._function
        if self.is_method_of(tensor):
            return MethodType(self._function, tensor)
        raise AttributeError(
            f"a {owner.__name__} has no attribute {self._name!r} in "
            f"{tensor._kind.current_dialect.name}: write {_instead(self._name)}."
        )


def _instead(name: str) -> str:
    """What to write for a method that casts in another dialect."""
    known = (dialect_named(other).naming.dtypes_of_casts.get(name) for other in dialects())
    dtype = next(filter(None, known), None)
    return f"x.astype({dtype!r})" if dtype else _INSTEAD[name]


def _of_some_dialects(function: _Method) -> _Method:
    return cast(_Method, _OfSomeDialects(function))


def _casting(name: str) -> Callable[[Any], Tensor]:
    """The method that casts to the dtype that the dialect's framework means by its name."""

    def method(self: Any) -> Tensor:
        dtype = self._kind.current_dialect.naming.dtypes_of_casts[name]
        return self.astype(dtype, copy=False)  # type: ignore[no-any-return]

    method.__doc__ = f"A cast to {name}, in dialects whose framework has this method."
    return _of_some_dialects(method)


@_of_some_dialects
def _to(
    self: Any, *wanted: Any, dtype: object = None, device: Any = None, copy: bool = False
) -> Tensor:
    """The values in another dtype, on another device, or both, as those of another tensor; in
    dialects whose framework has this method."""
    for thing in wanted:
        if hasattr(thing, "_kind"):
            dtype, device = thing.dtype, thing.device
        elif (found := dtype_in(thing)) is not None:
            dtype = found
        else:
            device = thing
    held: Tensor = self.astype(self.dtype if dtype is None else dtype, copy=copy)
    return held if device is None else on_device(held, device)


@_of_some_dialects
def _type_as(self: Any, other: Tensor) -> Tensor:
    """The values in the dtype of another tensor, in dialects whose framework has this method."""
    return self.astype(other.dtype, copy=False)  # type: ignore[no-any-return]


class Casts:
    """The methods of a tensor that cast, with the names of the dialect's framework."""

    __slots__ = ()

    bool = _casting("bool")
    byte = _casting("byte")
    char = _casting("char")
    short = _casting("short")
    int = _casting("int")
    long = _casting("long")
    half = _casting("half")
    bfloat16 = _casting("bfloat16")
    float = _casting("float")
    double = _casting("double")
    chalf = _casting("chalf")
    cfloat = _casting("cfloat")
    cdouble = _casting("cdouble")
    to = _to
    type_as = _type_as
