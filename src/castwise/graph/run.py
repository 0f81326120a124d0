"""Runs a program on arrays of any backend, by its plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.arrays import fast_path
from castwise.arrays.backend import Backend, TracesAlone, two_backends
from castwise.arrays.fast_path import watchers
from castwise.arrays.kinds import Kind
from castwise.arrays.tensor import Tensor, asarray
from castwise.arrays.variable import Variable
from castwise.errors import UsageError
from castwise.graph.plan import Numbers, OtherNumbersError, program_plan
from castwise.graph.program import Node, Program, Shape, Slot, State, filled
from castwise.graph.sizes import known_size
from castwise.vocab.operands import Scalar

# The arguments of a program: in order, of one backend, and with the traced types.


def arranged(program: Program, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arrays in the order of the inputs; some may be given by name.

    Raises UsageError for an unknown name, or one that is given twice.
    """
    free = [node.name for node in program.inputs[len(arrays) :]]
    for name in named:
        if name not in free:
            said = ", ".join(free) or "none"
            raise UsageError(f"{program.name} does not take {name} by name here; missing: {said}.")
    return [*arrays, *[named[name] for name in free if name in named]]


def _common_backend(tensors: Sequence[Tensor], backend: str | None) -> Backend:
    """The common backend of all tensors, or the named one if there are none.

    Raises UsageError if there are two.
    """
    holders = {tensor.backend: tensor._kind.backend for tensor in tensors}
    if len(holders) > 1:
        raise two_backends(*list(holders)[:2])
    return next(iter(holders.values()), None) or asarray(0, backend=backend)._kind.backend


def _check_input(node: Node, tensor: Tensor, sizes: dict[str, int]) -> None:
    """Raises UsageError if an array has another dtype or shape than the input."""
    is_alike = tensor.dtype is node.dtype and len(tensor.shape) == len(node.shape)
    for size, wanted in zip(tensor.shape, node.shape, strict=False):
        expected = sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
        is_alike = is_alike and size == expected
    if not is_alike:
        shape = ",".join(map(str, tensor.shape))
        raise UsageError(
            f"{node.name} was traced as {node.type}, but is {tensor.dtype}[{shape}] here: cast or "
            "reshape it, or trace the function for it."
        )


# The state of a running program: the tensors that it reads and writes.


def _live_tensors(program: Program, arguments: Mapping[Node, Any]) -> dict[State, Any]:
    """The tensor of each state, which may be an argument of this run.

    Raises UsageError if an argument cannot be written to, or two states have the same tensor.
    """
    live = {s: arguments[s.before] if s.tensor is None else s.tensor for s in program.state}
    for state, tensor in live.items():
        if state.is_written and state.tensor is None and not isinstance(tensor, Variable):
            raise UsageError(
                f"{program.name} assigns to {state.name}: give it a cw.Variable, not a "
                f"{type(tensor).__name__}."
            )
        if state.is_written and sum(tensor is other for other in live.values()) > 1:
            raise UsageError(
                f"{program.name} assigns to {state.name}, which was also passed under another "
                "name: pass two variables, or run the function itself."
            )
        if state.is_written:
            fast_path.writing(tensor)
    return live


def is_as_traced(program: Program) -> bool:
    """Whether the tensors from outside have the dtypes and shapes they were traced with."""
    return all(
        s.tensor is None
        or (s.tensor.dtype is s.before.dtype and tuple(s.tensor.shape) == s.before.shape)
        for s in program.state
    )


def _put(tensor: Tensor, array: Any, node: Node) -> None:
    """Writes a tensor's value after a run; into its own array if the dtype is unchanged."""
    kind = tensor._kind
    if kind.dtype is node.dtype:
        tensor._array = kind.backend.write(tensor._array, ..., array)
    else:
        tensor._array = array
    if kind.dtype is not node.dtype or kind.is_weak is not node.is_weak:
        tensor._kind = kind.with_(dtype=node.dtype, is_weak=node.is_weak)


def run_program(
    program: Program,
    arrays: Sequence[Any],
    backend: str | None = None,
    *,
    numbers: Sequence[Scalar] = (),
    computed_from: Numbers | None = None,
) -> Any:
    """The program's results for arrays, in the structure that the function returned.

    `computed_from` tells what is computed from `numbers`, its number arguments. Its state is
    written, and watchers are notified, after everything is computed.
    """
    if len(arrays) != len(program.inputs):
        raise UsageError(f"{program.name} takes {len(program.inputs)} arrays, not {len(arrays)}.")
    given = dict(zip(program.inputs, arrays, strict=True))
    live = _live_tensors(program, given)
    tensors = {
        node: asarray(x, dialect=program.dialect, backend=backend) for node, x in given.items()
    }
    tensors.update((s.before, t) for s, t in live.items() if s.before not in tensors)
    holder = _common_backend(list(tensors.values()), backend)
    sizes: dict[str, int] = {}
    for node, tensor in tensors.items():
        _check_input(node, tensor, sizes)
    held = {node: tensor._array for node, tensor in tensors.items()}
    for state in live:
        if state.is_written:  # no result may share memory with state that is written afterwards
            array = holder.make(held[state.before], None, copy=True, device=None)
            held[state.before] = array
    plan = program_plan(program, holder, list(held.values()), computed_from)
    found = plan.run(sizes, *[held[node] for node in plan.inputs], *numbers)
    values = found[len(plan.kinds) :]
    written = {state: tensor for state, tensor in live.items() if state.is_written}
    for (state, tensor), array in zip(written.items(), values, strict=True):
        _put(tensor, array, state.after)
    _notify(program, sizes)
    return returned(program, plan.kinds, found)


def returned(program: Program, kinds: Sequence[Kind], arrays: Sequence[Any]) -> Any:
    """What the function returns: the first arrays as tensors, in its structure."""
    tensors = [Tensor._of(array, kind) for array, kind in zip(arrays, kinds, strict=False)]
    return filled(program.structure, tensors)


def _notify(program: Program, sizes: Mapping[str, int]) -> None:
    """Notifies watchers as if the function ran op by op."""
    observers = watchers()
    for call in program.calls if observers else ():
        operands = [_Shaped(shape, sizes) for shape in call.operands]
        for watcher in observers:
            watcher.note(call.decision, operands, _Shaped(call.result, sizes))


class _Shaped:
    """A placeholder for an array, which only has a shape."""

    def __init__(self, shape: Shape, sizes: Mapping[str, int]) -> None:
        self.shape = tuple([known_size(size, sizes) for size in shape])


# A program that is ready to run again and again on tensors of the same kinds and shapes.

_NO_SIZES: dict[str, int] = {}


class Ready:
    """Runs a program on tensors of the kinds and shapes of the given ones, without checking them
    again, unless it has state or symbolic sizes."""

    def __init__(self, program: Program, tensors: Sequence[Tensor], numbers: Numbers) -> None:
        self.program, self._numbers = program, numbers
        backend = _common_backend(tensors, None)
        self._plan = program_plan(program, backend, [tensor._array for tensor in tensors], numbers)
        self._plain = backend.plain if isinstance(backend, TracesAlone) else None
        pairs = zip(tensors, program.inputs, strict=True)
        is_held = all(tensor.dtype is node.dtype for tensor, node in pairs)
        is_known = all(isinstance(n, int) for node in program.inputs for n in node.shape)
        self._is_checked = bool(program.state) or not is_held or not is_known
        # A function of the arrays and numbers, if they are all that the program needs. It gives
        # NotImplemented for arrays that another plan is for.
        self.direct = None if self._is_checked else self._direct()

    def _direct(self) -> Callable[[Sequence[Any]], Any]:
        kinds, program, run = self._plan.kinds, self.program, self._plan.run
        source = self._plan.source
        if program.structure == Slot(0) and source:
            direct: Callable[[Sequence[Any]], Any] = source.tensor_function(kinds[0])
        else:
            direct = lambda given: returned(program, kinds, run(_NO_SIZES, *given))  # noqa: E731
        plain, count = self._plain, len(program.inputs)
        if plain is None:
            return direct

        def plain_only(given: Sequence[Any]) -> Any:
            is_plain = all([type(array) is plain for array in given[:count]])
            return direct(given) if is_plain else NotImplemented

        return plain_only

    def run(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        """The program's results; it notifies watchers.

        Raises OtherNumbersError if the program is not for these numbers, or not for the state that
        it reads.
        """
        arrays = [tensor._array for tensor in tensors]
        plain = self._plain
        if self._is_checked or (plain and any(type(array) is not plain for array in arrays)):
            return self._checked(tensors, numbers)
        found = self._plan.run(_NO_SIZES, *arrays, *numbers)
        _notify(self.program, _NO_SIZES)
        return returned(self.program, self._plan.kinds, found)

    def _checked(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        if not is_as_traced(self.program):
            raise OtherNumbersError
        return run_program(self.program, tensors, numbers=numbers, computed_from=self._numbers)
