"""What an op is called with: tensors, numbers, arrays, lists and options; their common backend and
dialect; and the question that they ask the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from castwise.arrays.backend import Backend, TakesConstants, two_backends
from castwise.arrays.backends import DEFAULT_BACKEND, array_backend, backend_named
from castwise.arrays.casting import cast_under
from castwise.arrays.data import array_and_kind
from castwise.arrays.functions import LIKE
from castwise.arrays.kinds import (
    Kind,
    TensorData,
    fitted,
    made_constant,
    raw_array,
    truncated_dtype,
)
from castwise.arrays.steps import op_steps
from castwise.arrays.traced_numbers import TracedNumber
from castwise.catalog import DEFAULT, chosen_here, dialect_named
from castwise.engine.ask import answer, find_op, named_arguments, to_number
from castwise.engine.decision import NOTHING, Decision, Named, Question
from castwise.engine.lists import as_arrays
from castwise.engine.plan import looks_at_values
from castwise.errors import ArgumentError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import EXACT, DType, dtype
from castwise.vocab.live import check_dense
from castwise.vocab.notation import describe
from castwise.vocab.operands import UNDEFINED, Operand, Role, Scalar, array_operand
from castwise.vocab.ops import Op

# Operands: tensors, Python numbers, NumPy arrays and arrays of the tensors' backend.

_NUMBERS = (bool, int, float, complex)


class NoOperandError(ArgumentError):
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
    if not isinstance(operand, TensorData):
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
        if not isinstance(operand, str):
            return describe(operand)
    except UsageError:
        pass
    raise NoOperandError(operand)


def raw(operand: Any, backend: Backend, seen: Operand, entering: DType | None = None) -> Any:
    """The array or number that the backend computes with. A NumPy array of a dtype that the backend
    lacks is converted to the dtype that the op needs."""
    if isinstance(operand, TensorData):
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


def raw_operands(
    operands: Sequence[Any], seen: Sequence[Operand], backend: Backend, entering: Sequence[Any]
) -> list[Any]:
    """The operands that are not None, in the form that the backend computes with."""
    there = [(operand, d) for operand, d in zip(operands, seen, strict=True) if operand is not None]
    pairs = zip(there, entering, strict=True)
    return [raw(operand, backend, description, dtype) for (operand, description), dtype in pairs]


def common_backend(operands: Sequence[Any], seen: Sequence[Operand]) -> Backend:
    """The common backend of an op's tensors and arrays; NumPy arrays mix with any.

    Raises UsageError if there are two.
    """
    found: dict[str, Backend] = {}
    for operand, description in zip(operands, seen, strict=True):
        is_tensor = isinstance(operand, TensorData)
        backend = operand._kind.backend if is_tensor else _foreign(operand, description)
        if backend:
            found[backend.name] = backend
    taking = None
    if len(found) > 1:
        taking = next((b for b in found.values() if isinstance(b, TakesConstants)), None)
        if taking is None:
            raise two_backends(*list(found)[:2])
    return taking or next(iter(found.values()), None) or backend_named(DEFAULT_BACKEND)


def _foreign(operand: Any, seen: Operand) -> Backend | None:
    """The backend of a raw array; None for a NumPy array, which every dialect has a role for."""
    if operand is None or type(operand) in _NUMBERS or seen.is_numpy:
        return None
    return array_backend(operand)


def common_dialect(kinds: Sequence[Kind], home: str = DEFAULT) -> Dialect:
    """The common dialect of tensors: their own, the context's, or that of their home.

    Raises UsageError if two of them have different ones.
    """
    own = None
    for kind in kinds:  # no set: torch.compile traces this, and hashes no dataclass
        if own and kind.dialect not in (None, own):
            raise UsageError(
                f"tensors of the dialects {own.name} and {kind.dialect.name} do not mix: choose "
                f"one, x.under({own.name!r})."
            )
        own = own or kind.dialect
    if own:
        return own
    return chosen_here() or dialect_named(common_home(kinds, home))


def common_home(kinds: Sequence[Kind], home: str = DEFAULT) -> str:
    """Where the tensors come from: a namespace with its own dialect comes first."""
    return next((h for h in (home, *[kind.home for kind in kinds]) if h != DEFAULT), DEFAULT)


# Lists of numbers mixed with tensors: the tensors that a dialect converts them to.

# The NumPy dtype for the numbers of a list, before they are cast.
_CARRIERS = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
_INT64 = dtype("int64")


def has_lists(operands: Sequence[Any]) -> bool:
    """Whether one of the operands is a list or a tuple."""
    return any([type(operand) in (list, tuple) for operand in operands])


def _made_tensors(question: Question, operands: Sequence[Any], home: str) -> tuple[Any, ...]:
    """The operands of a question, with tensors instead of lists."""
    pairs = zip(operands, question.operands, strict=True)
    others = [(o, seen) for o, seen in pairs if type(o) not in (list, tuple)]
    kinds = [operand._kind for operand, _ in others if isinstance(operand, TensorData)]
    own = next((kind.dialect for kind in kinds if kind.dialect), None)
    backend = common_backend([o for o, _ in others], [seen for _, seen in others])
    # A graph accepts a tensor of another backend as a constant.
    name = DEFAULT_BACKEND if isinstance(backend, TakesConstants) else backend.name
    made = list(operands)
    for place, array in enumerate(as_arrays(question)):
        seen = question.operands[place]
        if seen.role is Role.LIST:
            values, kind = _list_array(seen, array, question.dialect, name)
            made[place] = TensorData(values, kind.with_(dialect=own, home=common_home(kinds, home)))
    return tuple(made)


def _list_array(seen: Operand, array: Operand, dialect: Dialect, backend: str) -> tuple[Any, Kind]:
    """The array for a list on a backend, equal to the one that the engine assumes, and its kind."""
    assert array.dtype is not None  # every array has one
    values, kind = array_and_kind(_carried(seen, array.dtype), dialect=dialect)
    target = truncated_dtype(array.dtype, dialect)
    cast = cast_under(dialect.values, kind.backend, values, target, is_asked=True)
    made, kind = array_and_kind(
        kind.backend.to_numpy(cast), dtype=array.dtype, dialect=dialect, backend=backend
    )
    return made, kind.with_(is_weak=array.is_weak)


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


# The question that an op on tensors, numbers and arrays asks the engine, and its decision.


def asked(
    name: str, operands: tuple[Any, ...], form: str, *, home: str = DEFAULT, inplace: bool = False,
    out: DType | None = None, alpha: Scalar | None = None, named: Named = NOTHING,
) -> Question:  # fmt: skip
    """The question for an op on operands like these."""
    dialect = common_dialect([o._kind for o in operands if isinstance(o, TensorData)], home)
    row = find_op(LIKE.get(name, name), dialect)
    sees_values = looks_at_values(dialect, row, form)
    seen = tuple([
        o.operand if type(o) is TracedNumber else described(o, dialect, sees_values=sees_values)
        for o in operands
    ])  # fmt: skip
    shapes = row.shapes
    if shapes.counts_dimensions or (shapes.counts_elements and any(map(_is_empty, operands))):
        seen = tuple([replace(d, shape=o.shape) if isinstance(o, TensorData) else d
                      for o, d in zip(operands, seen, strict=True)])  # fmt: skip
    return Question(row, seen, dialect, form, inplace, out, alpha, named)


def without_lists(
    name: str, operands: tuple[Any, ...], form: str, home: str = DEFAULT, *, inplace: bool = False
) -> tuple[Any, ...]:
    """The operands, with lists replaced by the tensors that the dialect converts them to.

    Raises PromotionError if the dialect does not accept lists.
    """
    if not has_lists(operands):
        return operands
    question = asked(name, operands, form, home=home, inplace=inplace)
    answer(question)  # raises where lists are refused
    return _made_tensors(question, operands, home)


def _is_empty(operand: Any) -> bool:
    return isinstance(operand, TensorData) and 0 in operand._array.shape


# Options that both the decision and the backend use.
_COMPUTED_WITH = ("where", "initial", "value", "delta")


class CallArguments(NamedTuple):
    """The arguments of an op: operands in order, and options for the backend."""

    operands: tuple[Any, ...]
    options: dict[str, Any]
    named: Named = NOTHING  # options that the decision depends on

    @property
    def alpha(self) -> Scalar | None:
        """The factor of the second operand, which the decision depends on."""
        alpha: Scalar | None = self.options.get("alpha")
        return alpha


def arranged(
    name: str, operands: tuple[Any, ...], options: dict[str, Any], home: str = DEFAULT,
    form: str = "function", *, inplace: bool = False,
) -> CallArguments:  # fmt: skip
    """The operands and options of a call, given by position or by name. A list becomes the tensor
    that the dialect converts it to in this form."""
    kinds = [o._kind for o in operands if isinstance(o, TensorData)]
    row = find_op(LIKE.get(name, name), common_dialect(kinds, home))
    given, others = row.arranged(operands, options)
    if isinstance(others.get("axis"), str):
        raise ArgumentError(f"an axis is a whole number, or several are, not {others['axis']!r}.")
    if row.family != "conversion":
        given = without_lists(name, given, form, home, inplace=inplace)
    if others.get("alpha") is not None:
        others["alpha"] = to_number(others["alpha"])
    left = {key: raw_array(others[key]) for key in _COMPUTED_WITH if others.get(key) is not None}
    named = named_arguments(row, others)
    return CallArguments(given, {**others, **left} if named is not NOTHING else others, named)


# Checks that the arrays of a declared op are on one device.


def check_devices(row: Op, arrays: Sequence[Any]) -> None:
    """Raises UsageError if a declared op that needs one device gets arrays on two.

    castwise's own ops are left to the backend, which knows what it can combine. Numbers have no
    device, and neither do arrays that do not name one.
    """
    if row.family != "declared" or not row.switches.same_device:
        return
    found = dict.fromkeys(str(a.device) for a in arrays if getattr(a, "device", None) is not None)
    if len(found) > 1:
        first, second = list(found)[:2]
        raise UsageError(
            f"{row.name} got arrays on {first} and on {second}: move them to one device, or "
            "declare it with same_device=False."
        )


# Casts the inputs of an op as decided, for kernels that castwise does not call.


def cast_inputs(decision: Decision, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The operands, cast for the op: arrays stay arrays and tensors stay tensors. A Python number
    becomes a 0-d array or tensor, and None stays None.

    Raises UsageError if they are not the operands of the decision.
    """
    question = decision.question
    if len(operands) != len(question.operands):
        raise UsageError(f"{question} has {len(question.operands)} operands, not {len(operands)}.")
    seen = [described(operand, question.dialect, sees_values=False) for operand in operands]
    for given, asked in zip(seen, question.operands, strict=True):
        if given.dtype is not asked.dtype or given.kind != asked.kind:
            raise UsageError(
                f"the decision is about {question}, but {given} is not {asked}: get a decision for "
                "these operands, cw.resolve(...)."
            )
    backend = common_backend(operands, seen)
    steps = op_steps(decision, question.op.name)
    entering = [entry and entry.dtype for entry in steps.entries]
    arrays = raw_operands(operands, seen, backend, entering)
    entered = iter(steps.enter(arrays, backend))
    cast = [None if o is None else _array(next(entered), decision, backend) for o in operands]
    tensor = next((o for o in operands if isinstance(o, TensorData)), None)
    if tensor is None:
        return tuple(cast)
    kind = tensor._kind
    return tuple([None if a is None else tensor._of(*fitted(a, kind)) for a in cast])


def _array(entered: Any, decision: Decision, backend: Any) -> Any:
    """The operand as an array: some backends compute with plain numbers."""
    if backend.owns(entered):
        return entered
    compute = None if decision.compute is EXACT else decision.compute
    return backend.make(entered, compute, copy=None, device=None)
