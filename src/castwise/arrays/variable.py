"""Variable: a tensor that is assigned to and never changes its dtype."""

from __future__ import annotations

from typing import Any

from castwise.arrays import fast_path
from castwise.arrays.apply import fills, would_change
from castwise.arrays.backend import TakesConstants
from castwise.arrays.calls import NoOperandError, common_backend, common_dialect, described, raw
from castwise.arrays.fast_path import TracedState
from castwise.arrays.kinds import Kind, TensorData
from castwise.arrays.tensor import Tensor, asarray
from castwise.engine.ask import answer
from castwise.engine.decision import Question
from castwise.engine.writes import check_assignment
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import op

_RESULT_TYPE = op("result_type")
_ARRAY, _KIND = TensorData.__dict__["_array"], TensorData.__dict__["_kind"]


class Stateful(Tensor):
    """A tensor that is state of every graph it is traced in. Reads and writes there belong to the
    graph, and other threads and tasks see it unchanged."""

    __slots__ = ()

    @property
    def _array(self) -> Any:
        held = fast_path.held(self)
        return _ARRAY.__get__(self) if held is None else held.array

    @_array.setter
    def _array(self, array: Any) -> None:
        held = fast_path.held(self)
        if held is None:
            _ARRAY.__set__(self, array)
        else:
            held.array = array

    @property
    def _kind(self) -> Kind:
        held = fast_path.held(self)
        return _KIND.__get__(self) if held is None else held.kind

    @_kind.setter
    def _kind(self, kind: Kind) -> None:
        held = fast_path.held(self)
        if held is None:
            _KIND.__set__(self, kind)
        else:
            held.kind = kind


def outside(tensor: Tensor) -> TracedState:
    """The array and kind of a tensor outside of any trace."""
    return TracedState(_ARRAY.__get__(tensor), _KIND.__get__(tensor))


class Variable(Stateful):
    """A tensor whose values can be assigned; its dtype and shape stay fixed (RFC 431's constraint).

    >>> v = Variable([1.0, 2.0], dtype="float32", dialect="tensorflow:all")
    >>> v.assign_add(asarray([1, 2], dtype="int8"))
    Variable([2., 4.], dtype=float32, dialect=tensorflow:all, backend=numpy)
    """

    __slots__ = ()
    _keeps_dtype = True

    def __init__(
        self,
        data: Any,
        *,
        dtype: object = None,
        dialect: str | Dialect | None = None,
        backend: str | None = None,
    ) -> None:
        made = asarray(data, dtype=dtype, dialect=dialect, backend=backend, copy=True)
        _ARRAY.__set__(self, made._array)
        _KIND.__set__(self, made._kind)
        fast_path.made(self)

    def assign(self, value: Any) -> Variable:
        """Assigns new values, which must promote to the variable's dtype.

        Raises PromotionError if they do not, and UsageError if the shape does not fit.
        """
        if value is None or type(value) in (list, tuple):
            raise NoOperandError(value)
        fast_path.writing(self, value)
        dialect = common_dialect([t._kind for t in (self, value) if isinstance(t, Tensor)])
        seen = (
            described(self, dialect, sees_values=False),
            described(value, dialect, sees_values=False),
        )
        joined = answer(Question(_RESULT_TYPE, seen, dialect)).result
        if joined is not self.dtype:
            raise would_change(f"assigning {seen[1]}", self, joined)
        check_assignment(seen[1], self.dtype, dialect)
        backend = common_backend((self, value), seen)
        if seen[1].is_scalar:
            array = backend.number(value, self.dtype)
        else:
            array = raw(value, backend, seen[1])
            _check_shape(tuple(array.shape), self.shape)
            if not isinstance(backend, TakesConstants):  # a graph records that cast itself
                array = backend.cast(array, self.dtype)
        self._array = backend.write(self._array, ..., array)
        return self

    def assign_add(self, value: Any) -> Variable:
        """Adds in place.

        Raises PromotionError if the dialect refuses or the sum has another dtype.
        """
        self.add_(value)
        return self

    def assign_sub(self, value: Any) -> Variable:
        """Subtracts in place.

        Raises PromotionError if the dialect refuses or the difference has another dtype.
        """
        self.sub_(value)
        return self


def stand_in(array: Any, kind: Kind) -> Variable:
    """A variable for the given array itself."""
    variable = object.__new__(Variable)
    _ARRAY.__set__(variable, array)
    _KIND.__set__(variable, kind)
    return variable


def _check_shape(given: tuple[int, ...], held: tuple[int, ...]) -> None:
    """Raises UsageError if values of a shape do not fit a variable of another shape."""
    if not fills(given, held):
        raise UsageError(
            f"values of shape {given} do not fit a variable of shape {held}, which keeps its "
            "shape: reshape them, or make another variable."
        )
