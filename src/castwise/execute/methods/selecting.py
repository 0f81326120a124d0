"""Methods that search, sort and pick elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from castwise.errors import UsageError
from castwise.execute import handed
from castwise.execute.kinds import Kind
from castwise.execute.methods.spelling import (
    Axes,
    Operand,
    axis_of,
    given,
    place,
    reduced,
    rules_of,
)

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class ValuesAndIndices(NamedTuple):
    """Some elements of a tensor, and where they were along a dimension."""

    values: Tensor
    indices: Tensor


class Selecting:
    """The methods of a tensor that search, sort and pick elements."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...
        def astype(self, dtype: object) -> Tensor: ...
        def reshape(self, *shape: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    def max(
        self, axis: Axes | Tensor = None, keepdims: bool = False, *,
        initial: Operand | None = None, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Any:  # fmt: skip
        """The largest element; along one dimension also the indices, if the dialect's framework
        gives them: a pair `(values, indices)`. `amax` gives the values in all dialects.

        With a tensor it is `maximum`.
        """
        options = reduced(None if hasattr(axis, "_kind") else axis, keepdims, dim, keepdim)
        return self._extreme("max", axis, options, given(initial=initial, where=where))

    def min(
        self, axis: Axes | Tensor = None, keepdims: bool = False, *,
        initial: Operand | None = None, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Any:  # fmt: skip
        """The smallest element; along one dimension also the indices, if the dialect's framework
        gives them: a pair `(values, indices)`. `amin` gives the values in all dialects.

        With a tensor it is `minimum`.
        """
        options = reduced(None if hasattr(axis, "_kind") else axis, keepdims, dim, keepdim)
        return self._extreme("min", axis, options, given(initial=initial, where=where))

    def _extreme(self, op: str, other: Any, options: dict[str, Any], limits: dict[str, Any]) -> Any:
        if hasattr(other, "_kind"):
            return handed.calls.op(f"{op}imum", self, other)
        values = handed.calls.op(op, self, **options, **limits)
        if options["axis"] is None or rules_of(self).extremes == "values":
            return values
        if not isinstance(options["axis"], int):
            raise UsageError(
                f"{op} gives indices in {self._kind.current_dialect.name}, so it takes one "
                f"dimension: write a{op} for several."
            )
        # A framework may have these indices for booleans and yet no argmax of them.
        counted = self if self._kind.dtype.kind != "bool" else self.astype("uint8")
        return ValuesAndIndices(values, handed.calls.op(f"arg{op}", counted, **options))

    def median(
        self, axis: int | None = None, keepdims: bool = False, *,
        dim: int | None = None, keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The middle element, or the mean of the middle two.

        Raises UsageError along a dimension if the dialect's framework also gives indices.
        """
        options = reduced(axis, keepdims, dim, keepdim)
        if options["axis"] is not None and rules_of(self).extremes != "values":
            raise UsageError(
                f"median along a dimension gives indices in {self._kind.current_dialect.name}, "
                "which castwise does not: for the values, write cw.apply('median', x, axis=0)."
            )
        return handed.calls.op("median", self, **options)

    def sort(
        self, axis: int | None = None, descending: bool = False, *,
        stable: bool = True, dim: int | None = None,
    ) -> Any:  # fmt: skip
        """The elements, sorted along a dimension, as in the dialect's framework: a new tensor, the
        pair `(values, indices)`, or None, and the tensor itself is sorted.
        """
        options = {"axis": axis_of(axis, dim, -1), "descending": descending, "stable": stable}
        rule = rules_of(self).sort
        values = handed.calls.function("sort", self, **options)
        if rule == "values and indices":
            return ValuesAndIndices(values, handed.calls.function("argsort", self, **options))
        if rule == "values":
            return values
        self[...] = values
        return None

    def argsort(
        self, axis: int | None = None, descending: bool = False, *,
        stable: bool = True, dim: int | None = None,
    ) -> Tensor:  # fmt: skip
        """The indices that sort the elements along a dimension."""
        return handed.calls.function(
            "argsort", self, axis=axis_of(axis, dim, -1), descending=descending, stable=stable
        )

    def nonzero(self, *, as_tuple: bool | None = None) -> Any:
        """The indices of all nonzero elements, as in the dialect's framework: an array per
        dimension, or one array with a row per element. `as_tuple` chooses.
        """
        is_split = rules_of(self).nonzero == "by dimension" if as_tuple is None else as_tuple
        found: Any = handed.calls.function("nonzero", self)
        return found if is_split else handed.calls.function("stack", list(found), axis=1)

    def take(self, indices: Any, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The slices at some indices of a dimension, or of all elements in one."""
        along = axis_of(axis, dim)
        source = self.reshape((-1,)) if along is None else self
        along = place(along or 0, len(source.shape))
        places = handed.calls.tensor_like(indices, self)
        found = handed.calls.function("take", source, places.reshape((-1,)), axis=along)
        return found.reshape((*source.shape[:along], *places.shape, *source.shape[along + 1 :]))

    def index_select(self, dim: int, index: Any) -> Tensor:
        """The slices at some indices of a dimension."""
        return self.take(index, dim)

    def take_along_dim(self, indices: Tensor, dim: int = -1) -> Tensor:
        """The elements at the indices in another tensor, one per element of it."""
        return handed.calls.function("take_along_axis", self, indices, axis=dim)

    def where(self, condition: Any, other: Operand) -> Tensor:
        """The elements where a condition holds, and those of the other operand elsewhere."""
        return handed.calls.op("where", condition, self, other)

    def searchsorted(
        self, v: Any, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
    ) -> Tensor:
        """The positions where elements would be inserted into this sorted tensor."""
        sought = handed.calls.tensor_like(v, self) if isinstance(v, list) else v
        return handed.calls.function("searchsorted", self, sought, side=side, sorter=sorter)
