"""The plan of a program on a backend: all that can be done before there are arrays, done once.

A plan is a list of steps, each of which calls a ready function on values, by their numbers.
"""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from castwise.execute.backend import Backend, TracesAlone
from castwise.execute.functions.lookup import Function
from castwise.execute.fusing.program import FusedProgram
from castwise.execute.kinds import Kind, interned
from castwise.execute.numbers import TracedNumber
from castwise.execute.regions import RunsRegions
from castwise.graph.program import CAST, CONSTANT, Node, Program
from castwise.graph.recording.backend import rules_of_nodes
from castwise.graph.running.kernel_regions import fused_region, is_fused
from castwise.graph.running.nodes import (
    computation,
    in_node_dtype,
    needs_sizes,
    row_of,
    whole_with_casts,
)
from castwise.graph.running.number_steps import (
    Numbers,
    arithmetic,
    checker,
    number_maker,
    operand_maker,
    with_parts,
)
from castwise.graph.running.regions import Region, in_stages
from castwise.graph.running.whole_regions import FEWEST, is_taken, whole_region
from castwise.graph.running.with_kernels import has_large, kernel_step, unless_alarmed
from castwise.graph.running.written import Step, Written


@dataclass(frozen=True, slots=True)
class Plan:
    """A program that is ready to run on a backend.

    `run` takes the symbolic sizes by name, the arrays of `inputs`, and the number arguments. It
    returns the arrays of the outputs, and then those of the written state.
    """

    inputs: tuple[Node, ...]
    kinds: tuple[Kind, ...]  # of the outputs
    run: Callable[..., tuple[Any, ...]]
    written: Written | None  # None: it is not one function


def plan_of(
    program: Program,
    backend: Backend,
    arrays: Sequence[Any],
    numbers: Numbers | None = None,
) -> Plan:
    """The plan of a program, made once for each backend."""
    is_traced = isinstance(backend, TracesAlone) and any(
        type(a) is not backend.plain for a in arrays
    )
    is_large = not is_traced and has_large(backend, arrays)
    key = (backend, is_traced, is_large, numbers is None)
    found: Plan | None = program.plans.get(key)
    if found is None:
        planning = functools.partial(
            _Planning, program, backend, numbers or Numbers(0, {}), keeps=not is_traced
        )
        found = planning(fuses=False).plan()
        if is_large:
            fused = planning(fuses=True)
            run = unless_alarmed(fused.plan().run, found.run, fused.programs)
            found = replace(found, run=run, written=None)
        program.plans[key] = found
    return found


class _Planning:
    """Makes a plan, node by node."""

    def __init__(
        self,
        program: Program,
        backend: Backend,
        numbers: Numbers,
        *,
        keeps: bool,
        fuses: bool,
    ) -> None:
        self._program, self._backend, self._fuses = program, backend, fuses
        self.programs: list[FusedProgram] = []  # that kernels compute
        self._count, self._numbers = numbers.count, numbers.nodes
        self._keeps = keeps  # constants are made once
        self._rules = rules_of_nodes(program.dialect)
        self._slots: dict[object, int] = {}  # of nodes, calls with several results, and numbers
        self._steps: list[Step] = []
        self._constants: dict[int, Any] = {}
        self._sharing: set[Node] = set()  # may share the memory of a constant
        self._as_arrays = _needed_as_arrays(program)
        self._folded: dict[Node, tuple[Function, tuple[Node, ...]]] = {}

    def plan(self) -> Plan:
        """The whole plan."""
        program = self._program
        before = [s.before for s in program.state if s.before not in program.inputs]
        inputs = (*program.inputs, *before)
        arguments = [self._slot(node) for node in inputs]
        arguments += [self._slot(("argument", place)) for place in range(self._count)]
        parts = self._parts()
        left_out = set() if self._has_regions else self._fold_casts()
        for part in parts:
            if isinstance(part, Region):
                self._add_region(part)
            elif part not in self._slots and part not in left_out:
                self._add_node(part)
        kinds = tuple([self._kind(node) for node in program.outputs])
        after = [s.after for s in program.state if s.is_written]
        outputs = [self._owned(node) for node in (*program.outputs, *after)]
        written = Written(arguments, self._steps, outputs, self._constants, self._backend)
        return Plan(inputs, kinds, written.of_sizes(), written)

    @property
    def _has_regions(self) -> bool:
        return self._fuses or isinstance(self._backend, RunsRegions)

    def _parts(self) -> Sequence[Node | Region]:
        """The nodes of the program, in regions if the backend or a kernel runs those at once."""
        backend, numbers = self._backend, self._numbers
        if isinstance(backend, RunsRegions):
            return in_stages(
                self._program, lambda n: n not in numbers and is_taken(n, backend),
                fewest=FEWEST, of_one_shape=False,
            )  # fmt: skip
        if self._fuses:
            return in_stages(
                self._program, lambda n: n not in numbers and is_fused(n, backend),
                of_one_shape=True,
            )  # fmt: skip
        return self._program.nodes

    def _slot(self, thing: object) -> int:
        """The number of a value, new if it has none."""
        return self._slots.setdefault(thing, len(self._slots))

    def _kind(self, node: Node) -> Kind:
        self._backend.native(node.dtype)  # raises if the backend lacks it
        dialect = self._program.dialect
        return interned(Kind(self._backend, node.dtype, not node.shape, node.is_weak, dialect))

    def _fold_casts(self) -> set[Node]:
        """Finds the ops that cast while they compute, as eager ones do; returns the casts that this
        replaces. A cast that anything else needs is computed, and then all take its result."""
        nodes = self._program.nodes
        found = {node: whole for node in nodes if (whole := self._whole(node)) is not None}
        uses = _uses(self._program)
        while True:
            taken = Counter([n for node in found for n in node.inputs])
            kept = [
                node
                for node in found
                if any(_is_cast(n) and taken[n] < uses[n] for n in node.inputs)
            ]
            if not kept:
                break
            for node in kept:
                del found[node]
        for node, whole in found.items():
            inputs = [n.inputs[0] if _is_cast(n) else n for n in node.inputs]
            self._folded[node] = (whole, tuple(inputs))
        return {n for node in found for n in node.inputs if _is_cast(n)}

    def _whole(self, node: Node) -> Function | None:
        """A function of an op that casts while it computes; None if there is nothing to cast."""
        casts = {n: n.inputs[0] for n in node.inputs if _is_cast(n)}
        if node.compute is None or not casts:
            return None
        return whole_with_casts(node, casts, self._backend, self._rules)

    def _add_node(self, node: Node) -> None:
        """Adds the steps of a node, or its value if that is known now."""
        if node in self._numbers:
            function = number_maker(node, self._backend)
            if node not in self._as_arrays:
                function = operand_maker(node, self._backend, keeps=self._keeps)
            self._step(function, [self._number(self._numbers[node])], node)
        elif node.op == CONSTANT:
            self._add_constant(node)
        elif node.part is not None:
            if node.call not in self._slots:
                self._step(self._function(node), self._inputs(node), node.call)
            self._step(itemgetter(node.part), [self._slots[node.call]], node, node=node)
        elif node in self._folded or not self._is_computed_now(node):
            function, inputs = self._folded.get(node) or (self._function(node), node.inputs)
            takes = needs_sizes(node)
            slots = [self._slots[n] for n in inputs]
            self._step(function, slots, node, node=node, takes_sizes=takes)
        shared = [n in self._sharing for n in node.inputs]
        if shared and (all(shared) or (node.compute is None and any(shared))):
            self._sharing.add(node)

    def _add_region(self, region: Region) -> None:
        """Adds the step of a region, and its results."""
        backend = self._backend
        if isinstance(backend, RunsRegions):
            run, inputs = whole_region(region, backend, self._rules, self._numbers)
            self._step(lambda *arrays: run(arrays), [self._slots[n] for n in inputs], region)
        else:
            program = fused_region(region, backend, self._rules, self._numbers)
            self.programs.append(program)
            inputs = region.inputs
            self._step(kernel_step(program), [self._slots[n] for n in inputs], region)
        for n, node in enumerate(region.outputs):
            self._step(itemgetter(n), [self._slots[region]], node)

    def _function(self, node: Node) -> Function:
        return computation(node, self._backend, self._rules)

    def _inputs(self, node: Node) -> list[int]:
        return [self._slots[n] for n in node.inputs]

    def _step(
        self,
        function: Function,
        inputs: list[int],
        output: object,
        *,
        node: Node | None = None,
        takes_sizes: bool = False,
    ) -> None:
        self._steps.append(Step(function, tuple(inputs), self._slot(output), node, takes_sizes))

    def _add_constant(self, node: Node) -> None:
        make = _constant_maker(node, self._backend)
        array = make() if self._keeps else None
        if array is not None and self._backend.is_concrete(array):
            self._keep(node, array)
        else:
            self._step(make, [], node)

    def _keep(self, node: Node, array: Any) -> None:
        self._constants[self._slot(node)] = array
        self._sharing.add(node)

    def _is_computed_now(self, node: Node) -> bool:
        """Whether a number is computed from constants alone, and was computed here."""
        is_of_numbers = node.inputs and not any(n.shape for n in (node, *node.inputs))
        is_op = node.op == CAST or (node.compute is not None and not row_of(node).compute)
        if not is_of_numbers or not is_op or not self._constants.keys() >= {*self._inputs(node)}:
            return False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = self._function(node)(*[self._constants[n] for n in self._inputs(node)])
                array = in_node_dtype(found, node, self._backend)
        except Exception:  # each run raises it, or warns
            return False
        if not self._backend.is_concrete(array):
            return False
        self._keep(node, array)
        return True

    def _number(self, number: TracedNumber) -> int:
        """The value of a number argument, or of arithmetic with them."""
        for part in with_parts(number):
            if part.function is not None and ("number", id(part)) not in self._slots:
                inputs = [self._number_slot(n) for n in part.inputs]
                self._step(arithmetic(part.function), inputs, ("number", id(part)))
        slot = self._number_slot(number)
        if number.function is None:
            return slot
        checked = ("checked number", id(number))
        if checked not in self._slots:
            self._step(checker(number), [slot], checked)
        return self._slots[checked]

    def _number_slot(self, number: Any) -> int:
        if type(number) is not TracedNumber:
            slot = self._slot(object())
            self._constants[slot] = number
            return slot
        if number.function is None:
            return self._slot(("argument", *number.places))
        return self._slots["number", id(number)]

    def _owned(self, node: Node) -> int:
        """The value of an output, which never shares the memory of a constant."""
        if node not in self._sharing:
            return self._slots[node]
        copy = object()
        self._step(_copier(self._backend), [self._slots[node]], copy)
        return self._slots[copy]


def _constant_maker(node: Node, backend: Backend) -> Callable[[], Any]:
    """A function that makes the array of a constant."""
    value = node.value
    if isinstance(value, (bool, int, float, complex)):
        return lambda: in_node_dtype(backend.number(value, node.dtype), node, backend)
    return lambda: in_node_dtype(
        backend.make(value, node.dtype, copy=None, device=None), node, backend
    )


def _copier(backend: Backend) -> Function:
    return lambda array: backend.make(array, None, copy=True, device=None)


def _is_cast(node: Node) -> bool:
    """Whether a node casts anything but a constant, which is cast once."""
    return node.op == CAST and node.inputs[0].op != CONSTANT


def _needed_as_arrays(program: Program) -> set[Node]:
    """The nodes that are not only operands of ops of the engine, which also take numbers."""
    found = {*program.outputs, *[state.after for state in program.state]}
    for node in program.nodes:
        row = None if node.compute is None else row_of(node)
        takes = set(node.positional) if row and row.keeps_shape and not row.compute else set()
        found.update(n for n in node.inputs if n not in takes)
    return found


def _uses(program: Program) -> Counter[Node]:
    """How many nodes, outputs and states take each node."""
    uses = Counter([*program.outputs, *[state.after for state in program.state]])
    for node in program.nodes:
        uses.update(node.inputs)
    return uses
