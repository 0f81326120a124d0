"""Runs a program on arrays of any backend, by its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.execute.fast_path import watchers
from castwise.execute.kinds import Kind
from castwise.execute.tensor import Tensor, asarray
from castwise.graph.program import Program, Shape
from castwise.graph.running.arguments import check_input, common_backend
from castwise.graph.running.number_steps import Numbers
from castwise.graph.running.plan import plan_of
from castwise.graph.running.state import live_tensors, put
from castwise.graph.shapes.terms import known_size
from castwise.graph.structure import filled
from castwise.vocab.operands import Scalar


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
    live = live_tensors(program, given)
    tensors = {
        node: asarray(x, dialect=program.dialect, backend=backend) for node, x in given.items()
    }
    tensors.update((s.before, t) for s, t in live.items() if s.before not in tensors)
    holder = common_backend(list(tensors.values()), backend)
    sizes: dict[str, int] = {}
    for node, tensor in tensors.items():
        check_input(node, tensor, sizes)
    held = {node: tensor._array for node, tensor in tensors.items()}
    for state in live:
        if state.is_written:  # no result may share memory with state that is written afterwards
            array = holder.make(held[state.before], None, copy=True, device=None)
            held[state.before] = array
    plan = plan_of(program, holder, list(held.values()), computed_from)
    found = plan.run(sizes, *[held[node] for node in plan.inputs], *numbers)
    values = found[len(plan.kinds) :]
    written = {state: tensor for state, tensor in live.items() if state.is_written}
    for (state, tensor), array in zip(written.items(), values, strict=True):
        put(tensor, array, state.after)
    notify(program, sizes)
    return returned(program, plan.kinds, found)


def returned(program: Program, kinds: Sequence[Kind], arrays: Sequence[Any]) -> Any:
    """What the function returns: the first arrays as tensors, in its structure."""
    tensors = [Tensor._of(array, kind) for array, kind in zip(arrays, kinds, strict=False)]
    return filled(program.structure, tensors)


def notify(program: Program, sizes: Mapping[str, int]) -> None:
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
