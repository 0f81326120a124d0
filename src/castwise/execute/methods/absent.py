"""Methods that a tensor does not have, or only in some dialects: the error says what to write."""

from __future__ import annotations

from typing import Any

from castwise.vocab.ops import OPS


class NoMethod:
    """A placeholder for a method that tensors lack: its error says how to apply the op."""

    def __init__(self, name: str) -> None:
        self._name = name

    def is_method_of(self, tensor: Any) -> bool:
        """Whether a tensor has the method after all."""
        return False

    def __get__(self, tensor: Any, owner: type) -> Any:
        raise AttributeError(
            f"a {owner.__name__} has no attribute {self._name!r}: use "
            f"cw.apply({self._name!r}, x), or a function of castwise.array_api."
        )


class OpsAreNoMethods:
    """A class with a placeholder for each op that is not a method, whose error says how to apply
    it.

    There is one attribute per op, because `__getattr__` would slow down every attribute.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in OPS.keys() - set(dir(cls)):
            setattr(cls, name, NoMethod(name))

    def __dir__(self) -> list[str]:
        absent = {
            name
            for owner in type(self).__mro__
            for name, attribute in vars(owner).items()
            if isinstance(attribute, NoMethod) and not attribute.is_method_of(self)
        }
        return sorted(set(super().__dir__()) - absent)
