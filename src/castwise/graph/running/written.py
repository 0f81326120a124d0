"""The steps of a plan, written out as one Python function: a loop over them would cost more than
the calls that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.kinds import Kind
from castwise.execute.tensor import Tensor
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


class Written:
    """The steps of a plan as Python source, and what it calls.

    Each value is dropped as soon as no step needs it.
    """

    def __init__(
        self,
        arguments: Sequence[int],
        steps: Sequence[Step],
        outputs: Sequence[int],
        constants: Mapping[int, Any],
        backend: Backend,
    ) -> None:
        self._arguments, self._outputs = _listed(arguments), _listed(outputs)
        self._names: dict[str, Any] = {f"v{n}": value for n, value in constants.items()}
        self._lines: list[str] = []
        last = _last_uses(steps, {*outputs, *arguments, *constants})
        for place, (step, done) in enumerate(zip(steps, last, strict=True)):
            call = f"f{place}"
            ensured = step.node and _ensured(call, step, self._names, backend)
            self._names[call] = ensured or step.function
            sizes = "sizes, " if step.takes_sizes else ""
            self._lines.append(f"v{step.output} = {call}({sizes}{_listed(step.inputs)})")
            if done and place < len(steps) - 1:
                self._lines.append(f"del {_listed(done)}")

    def of_sizes(self) -> Callable[..., tuple[Any, ...]]:
        """A function of the symbolic sizes and the arguments, which returns the outputs."""
        return self._function(f"sizes, {self._arguments}", [], [f"return ({self._outputs})"])

    def of_list(self, kind: Kind) -> Callable[[Sequence[Any]], Tensor]:
        """A function of the arguments in a list, for a program without symbolic sizes and with one
        output, which it returns as a tensor. No trace is notified."""
        self._names.update(new=object.__new__, tensor=Tensor, kind=kind, sizes={})
        before = [f"{self._arguments} = given"] if self._arguments else []
        after = ["made = new(tensor)", f"made._array, = {self._outputs}", "made._kind = kind"]
        return self._function("given", before, [*after, "return made"])

    def _function(self, takes: str, before: list[str], after: list[str]) -> Callable[..., Any]:
        lines = [f"def run({takes}):", *before, *self._lines, *after]
        names = self._names
        exec(compile("\n ".join(lines), "<plan of a graph>", "exec"), names)
        found: Callable[..., Any] = names.pop("run")
        return found


def _listed(values: Iterable[int]) -> str:
    """The names of values, with a comma after each."""
    return "".join([f"v{n}, " for n in values])


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
