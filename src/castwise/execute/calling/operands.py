"""Operands: tensors, Python numbers, NumPy arrays and arrays of the tensors' backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import (
    Backend,
    TakesConstants,
    backend_named,
    backend_of,
    two_backends,
)
from castwise.execute.backends import DEFAULT as DEFAULT_BACKEND
from castwise.execute.kinds import Kind
from castwise.execute.numbers import TracedNumber
from castwise.execute.tensor import Tensor, made_constant
from castwise.rules.catalog import dialect_named
from castwise.rules.default import DEFAULT, chosen_here
from castwise.rules.dialect import Dialect
from castwise.vocab.describing import describe
from castwise.vocab.dtypes import DType
from castwise.vocab.live import check_dense
from castwise.vocab.operands import UNDEFINED, Operand, array_operand

_NUMBERS = (bool, int, float, complex)


class NoOperandError(UsageError):
    """Raised for anything that is not a tensor, number, array or list."""

    def __init__(self, thing: Any) -> None:
        super().__init__(
            f"an op takes tensors, numbers and arrays, not a {type(thing).__name__}: convert it "
            "to a tensor, cw.asarray(x)."
        )


def described(operand: Any, dialect: Dialect, *, sees_values: bool) -> Operand:
    """An operand as the engine sees it, with the value of a 0-d tensor if a rule may need it.

    It is weak only in a dialect that has weak arrays.

    Raises NoOperandError for anything that is not an operand, and UsageError for a ragged list and
    for a masked, sparse, quantised or nested array.
    """
    if operand is None:
        return UNDEFINED
    if not isinstance(operand, Tensor):
        seen = _described_alone(operand)
    else:
        kind, seen = operand._kind, operand._kind.operand
        if sees_values and kind.is_zero_d and kind.backend.is_concrete(operand._array):
            seen = array_operand(kind.dtype, (), value=operand.item(), is_weak=kind.is_weak)
    return replace(seen, is_weak=False) if seen.is_weak and not dialect.has_weak_arrays else seen


def _described_alone(operand: Any) -> Operand:
    """A number or array as the engine sees it; text is not an operand here, even as notation."""
    if type(operand) in (list, tuple):
        return describe(operand)
    check_dense(operand)
    try:
        if isinstance(operand, DType) or not isinstance(operand, str):
            return describe(operand)
    except UsageError:
        pass
    raise NoOperandError(operand)


def raw(operand: Any, backend: Backend, seen: Operand, entering: DType | None = None) -> Any:
    """The array or number that the backend computes with. A NumPy array of a dtype that the backend
    lacks is converted to the dtype that the op needs."""
    if isinstance(operand, Tensor):
        is_own = operand._kind.backend is backend
        return operand._array if is_own else made_constant(operand, backend)
    if type(operand) in _NUMBERS or type(operand) is TracedNumber:
        return operand
    if backend.owns(operand) and not getattr(operand, "weak_type", False):
        return operand
    if isinstance(operand, _NUMBERS) and not hasattr(operand, "dtype"):  # such as an IntEnum
        return describe(operand).value
    is_held = seen.dtype in backend.dtypes
    return backend.make(operand, None if is_held else entering, copy=None, device=None)


def common_backend(operands: Sequence[Any], seen: Sequence[Operand]) -> Backend:
    """The common backend of an op's tensors and arrays; NumPy arrays mix with any.

    Raises UsageError if there are two.
    """
    found: dict[str, Backend] = {}
    for operand, description in zip(operands, seen, strict=True):
        is_tensor = isinstance(operand, Tensor)
        backend = operand._kind.backend if is_tensor else _foreign(operand, description)
        if backend:
            found[backend.name] = backend
    taking = _taking_constants(found.values()) if len(found) > 1 else None
    if len(found) > 1 and taking is None:
        raise two_backends(*list(found)[:2])
    return taking or next(iter(found.values()), None) or backend_named(DEFAULT_BACKEND)


def _taking_constants(found: Iterable[Backend]) -> Backend | None:
    return next((backend for backend in found if isinstance(backend, TakesConstants)), None)


def _foreign(operand: Any, seen: Operand) -> Backend | None:
    """The backend of a raw array; None for a NumPy array, which every dialect has a role for."""
    if operand is None or type(operand) in _NUMBERS or seen.is_numpy:
        return None
    return backend_of(operand)


def common_dialect(kinds: Sequence[Kind], home: str = DEFAULT) -> Dialect:
    """The common dialect of tensors: their own, the context's, or that of their home.

    Raises UsageError if two of them have different ones.
    """
    own = list(dict.fromkeys(kind.dialect for kind in kinds if kind.dialect))
    if len(own) > 1:
        raise UsageError(
            f"tensors of the dialects {own[0].name} and {own[1].name} do not mix: choose one, "
            f"x.under({own[0].name!r})."
        )
    if own:
        return own[0]
    return chosen_here() or dialect_named(common_home(kinds, home))


def common_home(kinds: Sequence[Kind], home: str = DEFAULT) -> str:
    """Where the tensors come from: a namespace with its own dialect comes first."""
    return next((h for h in (home, *[kind.home for kind in kinds]) if h != DEFAULT), DEFAULT)
