"""Recorded cells, carried out by tensors and the functions of the namespace on NumPy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

import castwise as cw
from castwise import array_api as xp
from castwise.arrays.functions import standard_name
from castwise.arrays.tensor import Tensor
from castwise.conformance.questions import Spec, product_equation, read_operand
from castwise.conformance.recorder import AUGMENTED_OPERATORS, OPERATORS, Cell
from castwise.errors import PromotionError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED

NOT_COMPUTED = "not computed"
_LACKING = re.compile(
    "the backend .* cannot compute|enough dimensions|zero-dimensional|not a matrix product"
    "|to negative integer powers"
)
_JOINING = ("concat", "stack")
# Layers, with what the recorders give them besides their operands.
_LAYERS: dict[str, Callable[..., Any]] = {
    "einsum": lambda *arrays: xp.einsum(product_equation(arrays), *arrays),
    "pad": lambda x: xp.pad(x, 1),
    "one_hot": lambda x: xp.one_hot(x, 3),
    "topk": lambda x: xp.topk(x, 1).values,
}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def executed(cell: Cell, dialect: Dialect) -> str:
    """What carrying a cell out gives, in the words of the cells."""
    operands = [operand(read_operand(notation)) for notation in cell.operands]
    try:
        with cw.use(dialect):
            found = function_of(cell)(*operands)
    except ScalarRangeError:
        return OUT_OF_RANGE
    except PromotionError:
        return REFUSED
    except (UsageError, ValueError) as error:
        if _LACKING.search(str(error)):
            return NOT_COMPUTED
        raise
    if not isinstance(found, Tensor):  # result_type
        return str(found)
    assert str(found.numpy().dtype) == str(found.dtype)
    return f"{found.dtype}{'*' if found.weak_type else ''}"


def function_of(cell: Cell) -> Callable[..., Any]:
    """What a person would call."""
    if cell.form == "operator":
        return OPERATORS[cell.op]
    if cell.form == "augmented":
        return AUGMENTED_OPERATORS[cell.op]
    function = _LAYERS.get(cell.op) or _function_named(cell.op)
    assert function is not None
    if cell.op in _JOINING:
        return lambda *arrays: function(arrays)
    if cell.op == "tensordot":  # the recorders ask about vectors
        return partial(function, axes=1)
    return function


def _function_named(op: str) -> Callable[..., Any] | None:
    found: Callable[..., Any] | None = getattr(xp, standard_name(op), getattr(xp, op, None))
    return found


def can_be_executed(cell: Cell) -> bool:
    """Whether there is such a call on tensors, and NumPy has such arrays."""
    specs = [read_operand(notation) for notation in cell.operands]
    is_held = all(spec.dtype is None or native(spec.dtype) for spec in specs)
    return is_held and _is_call(cell, specs) and not cell.answer.startswith(NO_KERNEL)


def _is_call(cell: Cell, specs: list[Spec]) -> bool:
    has_tensor = any(spec.dtype and not spec.is_numpy for spec in specs)
    has_list = any(isinstance(spec.value, list) for spec in specs)
    if cell.form == "function":
        is_there = _function_named(cell.op) is not None and cell.op != "can_cast"
        is_of_tensor = cell.op != "clamp" or specs[0].dtype is not None
        return is_there and is_of_tensor and (has_tensor or not has_list)
    if cell.form == "augmented":
        ranks = [len(spec.shape) for spec in specs]  # what is written into does not grow
        return cell.op in AUGMENTED_OPERATORS and not specs[0].is_numpy and ranks[0] == max(ranks)
    # Python asks the tensor first, with the operands turned, since NumPy leaves it to the tensor,
    # and so does a list.
    is_turned = cell.op in _COMPARISONS and (specs[0].is_numpy or isinstance(specs[0].value, list))
    return cell.form == "operator" and cell.op in OPERATORS and has_tensor and not is_turned


def native(name: str) -> Any:
    """NumPy's dtype of a name, or None."""
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return None


def operand(spec: Spec) -> Any:
    """A new tensor, a Python number, or an array or a scalar of NumPy's."""
    if spec.dtype is None:
        return spec.value
    array = np.full(spec.shape, spec.value, native(spec.dtype))
    if spec.is_numpy:
        return array[()] if spec.is_scalar else array
    made = xp.asarray(array)
    return Tensor._of(made._array, made._kind.with_(is_weak=True)) if spec.is_weak else made


@contextmanager
def in_silence() -> Iterator[None]:
    """Overflows and their like are not what the cells are about."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
