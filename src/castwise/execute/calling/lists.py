"""Lists of numbers mixed with tensors: the tensors that a dialect converts them to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.engine.decision import Question
from castwise.engine.steps.lists import as_arrays
from castwise.execute.backend import TakesConstants
from castwise.execute.backends import DEFAULT as DEFAULT_BACKEND
from castwise.execute.calling.operands import common_backend, common_home
from castwise.execute.tensor import Tensor, asarray
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role

# The NumPy dtype for the numbers of a list, before they are cast.
_CARRIERS = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
_INT64 = dtype("int64")


def has_lists(operands: Sequence[Any]) -> bool:
    """Whether one of the operands is a list or a tuple."""
    return any([type(operand) in (list, tuple) for operand in operands])


def made_tensors(question: Question, operands: Sequence[Any], home: str) -> tuple[Any, ...]:
    """The operands of a question, with tensors instead of lists."""
    pairs = zip(operands, question.operands, strict=True)
    others = [(o, seen) for o, seen in pairs if type(o) not in (list, tuple)]
    kinds = [operand._kind for operand, _ in others if isinstance(operand, Tensor)]
    own = next((kind.dialect for kind in kinds if kind.dialect), None)
    backend = common_backend([o for o, _ in others], [seen for _, seen in others])
    # A graph accepts a tensor of another backend as a constant.
    name = DEFAULT_BACKEND if isinstance(backend, TakesConstants) else backend.name
    made = list(operands)
    for place, array in enumerate(as_arrays(question)):
        seen = question.operands[place]
        if seen.role is Role.LIST:
            tensor = _tensor(seen, array, question.dialect, name)
            kind = tensor._kind.with_(dialect=own, home=common_home(kinds, home))
            made[place] = Tensor._of(tensor._array, kind)
    return tuple(made)


def _tensor(seen: Operand, array: Operand, dialect: Dialect, backend: str) -> Tensor:
    """The tensor for a list on a backend, equal to the array that the engine assumes."""
    assert array.dtype is not None  # every array has one
    values = asarray(_carried(seen, array.dtype), dialect=dialect).astype(array.dtype).numpy()
    made = asarray(values, dtype=array.dtype, dialect=dialect, backend=backend)
    return Tensor._of(made._array, made._kind.with_(is_weak=array.is_weak))


def _carried(seen: Operand, target: DType) -> Any:
    """The numbers of a list as a NumPy array of a dtype that holds them."""
    import numpy as np  # tensors need it; answers from notation do not

    carrier = _CARRIERS[seen.kind]
    if seen.kind == "int" and not _holds(_INT64, seen):
        carrier = target.name if target.kind == "int" and _holds(target, seen) else "float64"
    return np.array(seen.items, dtype=carrier).reshape(tuple(map(int, seen.shape or ())))


def _holds(found: DType, seen: Operand) -> bool:
    """Whether a dtype holds every int of a list."""
    return all([found.min <= item.real <= found.max for item in seen.items])
