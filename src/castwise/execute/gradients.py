"""Gradients of tensors, on the backends that record what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from castwise.errors import UsageError
from castwise.execute.backend import Backend, backend_named, backend_names
from castwise.execute.kinds import Kind

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


@runtime_checkable
class RecordsGradients(Protocol):
    """A backend that records what it computes, and differentiates it afterwards."""

    def requires_gradient(self, array: Any) -> bool:
        """Whether a gradient reaches an array."""

    def require_gradient(self, array: Any, required: bool) -> None:
        """Marks an array, in place, as one whose gradient is needed."""

    def go_back(self, array: Any, gradient: Any) -> None:
        """Adds to the gradients of all arrays that one was computed from; `gradient` may be
        None."""

    def gradient_of(self, array: Any) -> Any:
        """The accumulated gradient of an array, or None."""

    def detached(self, array: Any) -> Any:
        """An array of the same memory that no gradient reaches."""


@runtime_checkable
class DifferentiatesFunctions(Protocol):
    """A backend that differentiates functions instead of recorded computations."""

    differentiates_with: str  # the library's own function that does


class Gradients:
    """The part of a tensor that deals with gradients. A gradient has its tensor's dtype."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @classmethod
        def _of(cls, array: Any, kind: Kind) -> Tensor: ...

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient reaches it."""
        backend = self._kind.backend
        return isinstance(backend, RecordsGradients) and backend.requires_gradient(self._array)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Marks the tensor as one whose gradient is needed, and returns it.

        Raises UsageError if the backend records no gradients.
        """
        recording(self._kind.backend).require_gradient(self._array, requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` accumulated in the tensor.

        Raises UsageError if the backend records no gradients.
        """
        found = recording(self._kind.backend).gradient_of(self._array)
        return None if found is None else self._of(found, self._kind.with_(is_weak=False))

    def detach(self) -> Tensor:
        """The same values, which no gradient goes through."""
        backend, array = self._kind.backend, self._array
        if isinstance(backend, RecordsGradients):
            array = backend.detached(array)
        return self._of(array, self._kind)

    def backward(self, gradient: Tensor | None = None) -> None:
        """Adds to the gradient of every tensor it was computed from.

        `gradient` is the gradient of this tensor, in its dtype; a tensor of one element needs none.

        Raises UsageError if the backend records no gradients or the dtypes differ.
        """
        backend = recording(self._kind.backend)
        if gradient is None:
            return backend.go_back(self._array, None)
        kind = gradient._kind
        if kind.backend is not self._kind.backend or kind.dtype is not self._kind.dtype:
            raise UsageError(
                f"the gradient of a {self._kind.dtype} tensor on {self._kind.backend.name} must be "
                f"the same, not {kind.dtype} on {kind.backend.name}: cast it, "
                f"x.astype({str(self._kind.dtype)!r})."
            )
        return backend.go_back(self._array, gradient._array)


def recording(backend: Backend) -> RecordsGradients:
    """The backend, as one that records gradients.

    Raises UsageError if it does not; the error names those that do.
    """
    if isinstance(backend, RecordsGradients):
        return backend
    ways = [f"convert the tensor, cw.asarray(x, backend={name!r})"
            for name in backend_names() if _records(name)]  # fmt: skip
    if isinstance(backend, DifferentiatesFunctions):
        ways.insert(0, f"use {backend.differentiates_with} on a function of tensors")
    way_out = " or ".join(ways) or "no installed one does"
    raise UsageError(f"the backend {backend.name} records no gradients: {way_out}.")


def _records(name: str) -> bool:
    try:
        return isinstance(backend_named(name), RecordsGradients)
    except UsageError:  # not installed
        return False
