"""What the Array API standard, Python and libraries expect of an array object, except operators and
indexing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from castwise.errors import UsageError
from castwise.execute import handed
from castwise.execute.kinds import Kind

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor

VERSION = "2025.12"
# Earlier versions too: code written for them finds all their functions.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)


class ArrayObject:
    """The attributes and conversions of an array object, on a backend's array."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @classmethod
        def _of(cls, array: Any, kind: Kind) -> Tensor: ...
        def item(self, *index: int) -> Any: ...
        def swapaxes(self, axis0: int, axis1: int) -> Tensor: ...
        def permute(self, *dims: Any) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The functions of the standard on tensors; one namespace for all its versions.

        Raises UsageError for an unknown version.
        """
        if api_version is not None and api_version not in VERSIONS:
            raise UsageError(
                f"castwise follows the standard up to version {VERSION}, not "
                f"{str(api_version)[:40]!r}: leave out api_version, or use one of "
                f"{', '.join(VERSIONS)}."
            )
        # Imported by name, because the namespace is built on tensors.
        return importlib.import_module("castwise.array_api")

    @property
    def T(self) -> Tensor:  # noqa: N802 -- the standard's name
        """The transpose of a matrix; what it is of another tensor, the dialect says.

        Raises ValueError if its framework has none.
        """
        shape, rule = tuple(self._array.shape), self._kind.current_dialect.values.methods.transposed
        if len(shape) == 2:
            return self.mT
        if rule == "refused":
            raise ValueError(
                f"T transposes a matrix, not a tensor of shape {shape}: use mT for a stack of "
                "matrices, or permute."
            )
        if rule == "first two" and shape:
            return self.swapaxes(1, 0)
        return self.permute(*range(len(shape))[::-1])

    @property
    def mT(self) -> Tensor:  # noqa: N802 -- the standard's name
        """The transpose of each matrix in the last two dimensions."""
        if len(self._array.shape) < 2:
            raise ValueError(
                f"mT needs at least two dimensions, not the shape {tuple(self._array.shape)}."
            )
        return self._of(self._kind.backend.namespace.matrix_transpose(self._array), self._kind)

    @property
    def device(self) -> Any:
        """The device that holds the values."""
        from array_api_compat import device  # importing castwise imports nothing else

        return device(self._array)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The same values on another device of the backend."""
        from array_api_compat import to_device

        return self._of(to_device(self._array, device, stream=stream), self._kind)

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        asked = {name: value for name, value in given.items() if value is not None}
        return self._array.__dlpack__(**asked)  # older backends accept fewer of them

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def _number(self) -> Any:
        """The one element of a 0-d tensor."""
        if self._array.shape:
            raise TypeError(
                f"only a 0-d tensor converts to a Python number, not one of shape "
                f"{tuple(self._array.shape)}: take an element, x[0], or reduce it."
            )
        return self.item()

    def __bool__(self) -> bool:
        return bool(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        dtype, shape = self._kind.dtype, tuple(self._array.shape)
        if dtype.kind != "int" or shape:
            raise TypeError(f"only a 0-d integer tensor can be an index, not {dtype}{list(shape)}.")
        return int(self.item())

    def __trunc__(self) -> Tensor:
        raise TypeError(
            "math.trunc(x) takes Python numbers: write cw.apply('trunc', x), or int(x)."
        )

    def __round__(self, ndigits: int | None = None) -> Tensor:
        return handed.calls.round(self, ndigits)  # type: ignore[no-any-return]

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return handed.calls.divmod(self, other)  # type: ignore[no-any-return]

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return handed.calls.divmod(other, self)  # type: ignore[no-any-return]

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Any, options: Any
    ) -> Any:
        return handed.calls.library_function(function, arguments, options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return handed.calls.library_ufunc(ufunc, method, inputs, options)

    def __format__(self, spec: str) -> str:
        if spec and self._array.shape:
            raise TypeError(
                f"{spec!r} formats one number, not a tensor of shape {tuple(self._array.shape)}: "
                "format its elements, or print it with np.printoptions."
            )
        return format(self.item(), spec) if spec else str(self)

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("a 0-d tensor has no length.")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        return (self[place] for place in range(len(self)))
