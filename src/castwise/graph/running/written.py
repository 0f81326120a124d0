"""The steps of a plan, written out as one Python function: a loop over them would cost more than
the calls that it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.graph.program import Node
from castwise.graph.running.nodes import in_node_dtype, row_of


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call of a function on values, by their numbers, which gives a new value."""

    function: Function
    inputs: tuple[int, ...]
    output: int
    node: Node | None = None  # whose dtype the result gets; None: it has no dtype, or the right one
    takes_sizes: bool = False  # the symbolic sizes come before the values


def written(
    arguments: Sequence[int],
    steps: Sequence[Step],
    outputs: Sequence[int],
    constants: Mapping[int, Any],
    backend: Backend,
) -> Callable[..., tuple[Any, ...]]:
    """A function of symbolic sizes and arguments that runs all steps and returns the outputs.

    Each value is dropped as soon as no step needs it.
    """
    names: dict[str, Any] = {f"v{n}": value for n, value in constants.items()}
    lines = [f"def run({', '.join(['sizes', *[f'v{n}' for n in arguments]])}):"]
    last = _last_uses(steps, {*outputs, *arguments, *constants})
    for place, step in enumerate(steps):
        call = f"f{place}"
        names[call] = _ensured(call, step, names, backend) if step.node else step.function
        given = ["sizes"] * step.takes_sizes + [f"v{n}" for n in step.inputs]
        lines.append(f" v{step.output} = {call}({', '.join(given)})")
        if last[place] and place < len(steps) - 1:
            lines.append(f" del {', '.join([f'v{n}' for n in last[place]])}")
    lines.append(f" return ({''.join([f'v{n}, ' for n in outputs])})")
    exec("\n".join(lines), names)
    run: Callable[..., tuple[Any, ...]] = names["run"]
    return run


def _last_uses(steps: Sequence[Step], kept: set[int]) -> list[list[int]]:
    """For each step the values that no later step needs."""
    found: list[list[int]] = []
    needed = set(kept)
    for step in reversed(steps):
        found.append(sorted({*step.inputs, step.output} - needed))
        needed.update(step.inputs)
    return found[::-1]


def _ensured(name: str, step: Step, names: dict[str, Any], backend: Backend) -> Function:
    """A function whose result has the dtype of its node. After a result that had it anyway, the
    function itself takes its place, except for scalars, which a library may return as numbers."""
    function, node = step.function, step.node
    assert node is not None  # otherwise there is nothing to ensure
    is_alike = bool(node.shape) and (node.compute is None or not row_of(node).compute)

    def ensured(*given: Any) -> Any:
        found = function(*given)
        array = in_node_dtype(found, node, backend)
        if array is found and is_alike:
            names[name] = function
        return array

    return ensured
