"""The plan of a program on a backend: all that can be done before there are arrays, done once.

A plan is a list of steps, each of which calls a ready function on values, by their numbers. It is
written out as one Python function.
"""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from castwise.arrays import fusing
from castwise.arrays.backend import Backend, RunsRegions, TracesAlone
from castwise.arrays.calls import TracedNumber
from castwise.arrays.functions import Function
from castwise.arrays.fusing import FusedProgram
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.tensor import Tensor
from castwise.graph.nodes import (
    FEWEST,
    Region,
    computation,
    fused_region,
    in_node_dtype,
    in_stages,
    is_fused,
    is_taken,
    needs_sizes,
    op_row,
    whole_region,
    whole_with_casts,
)
from castwise.graph.program import CAST, CONSTANT, Node, Program, in_order, use_counts
from castwise.graph.recording import node_rules
from castwise.vocab.operands import Scalar, value_class


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The number arguments of a program: how many, and which constants are computed from them."""

    count: int
    nodes: Mapping[Node, TracedNumber]


class OtherNumbersError(Exception):
    """Raised by a plan for numbers that need another trace."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A program that is ready to run on a backend.

    `run` takes the symbolic sizes by name, the arrays of `inputs`, and the number arguments. It
    returns the arrays of the outputs, and then those of the written state.
    """

    inputs: tuple[Node, ...]
    kinds: tuple[Kind, ...]  # of the outputs
    run: Callable[..., tuple[Any, ...]]
    source: _Source | None  # None: it is not one function


def program_plan(
    program: Program,
    backend: Backend,
    arrays: Sequence[Any],
    numbers: Numbers | None = None,
) -> Plan:
    """The plan of a program, made once for each backend."""
    is_traced = isinstance(backend, TracesAlone) and any(
        type(a) is not backend.plain for a in arrays
    )
    is_large = not is_traced and _has_large(backend, arrays)
    key = (backend, is_traced, is_large, numbers is None)
    found: Plan | None = program.plans.get(key)
    if found is None:
        planner = functools.partial(
            _Planner, program, backend, numbers or Numbers(0, {}), keeps=not is_traced
        )
        found = planner(fuses=False).plan()
        if is_large:
            fused = planner(fuses=True)
            run = _unless_alarmed(fused.plan().run, found.run, fused.programs)
            found = replace(found, run=run, source=None)
        program.plans[key] = found
    return found


class _Planner:
    """Makes a plan, node by node.

    Values have numbers: those of nodes, of calls with several results, and of number arguments.
    """

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
        self._rules = node_rules(program.dialect)
        self._slots: dict[object, int] = {}  # of nodes, calls with several results, and numbers
        self._steps: list[_Step] = []
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
        source = _Source(arguments, self._steps, outputs, self._constants, self._backend)
        return Plan(inputs, kinds, source.function(), source)

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
        uses = use_counts(self._program)
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
            function = _number_maker(node, self._backend)
            if node not in self._as_arrays:
                function = _operand_maker(node, self._backend, keeps=self._keeps)
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
            self._step(_kernel_step(program), [self._slots[n] for n in inputs], region)
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
        self._steps.append(_Step(function, tuple(inputs), self._slot(output), node, takes_sizes))

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
        is_op = node.op == CAST or (node.compute is not None and not op_row(node).compute)
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
        for part in _with_parts(number):
            if part.function is not None and ("number", id(part)) not in self._slots:
                inputs = [self._number_slot(n) for n in part.inputs]
                self._step(_arithmetic(part.function), inputs, ("number", id(part)))
        slot = self._number_slot(number)
        if number.function is None:
            return slot
        checked = ("checked number", id(number))
        if checked not in self._slots:
            self._step(_checker(number), [slot], checked)
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
        backend = self._backend
        self._step(
            lambda array: backend.make(array, None, copy=True, device=None),
            [self._slots[node]],
            copy,
        )
        return self._slots[copy]


def _constant_maker(node: Node, backend: Backend) -> Callable[[], Any]:
    """A function that makes the array of a constant."""
    value = node.value
    if isinstance(value, (bool, int, float, complex)):
        return lambda: in_node_dtype(backend.number(value, node.dtype), node, backend)
    return lambda: in_node_dtype(
        backend.make(value, node.dtype, copy=None, device=None), node, backend
    )


def _is_cast(node: Node) -> bool:
    """Whether a node casts anything but a constant, which is cast once."""
    return node.op == CAST and node.inputs[0].op != CONSTANT


def _needed_as_arrays(program: Program) -> set[Node]:
    """The nodes that are not only operands of ops of the engine, which also take numbers."""
    found = set(program.results)
    for node in program.nodes:
        row = None if node.compute is None else op_row(node)
        takes = set(node.positional) if row and row.keeps_shape and not row.compute else set()
        found.update(n for n in node.inputs if n not in takes)
    return found


# Number arguments: arithmetic with them, their classes, and their arrays.


def _with_parts(number: TracedNumber) -> list[TracedNumber]:
    """A number and all that it is computed from, each after its own parts."""
    return in_order([number], lambda n: [part for part in n.inputs if type(part) is TracedNumber])


def _arithmetic(function: Function) -> Function:
    """A function of numbers. Where it raises, so does the function that was traced, perhaps only to
    go on: another trace is needed."""

    def computed(*numbers: Scalar) -> Any:
        try:
            return function(*numbers)
        except Exception as error:
            raise OtherNumbersError from error

    return computed


def _checker(number: TracedNumber) -> Function:
    """A function that gives a number unchanged, if decisions about it are those of the trace."""
    expected = value_class(number.traced_value)

    def checked(value: Scalar) -> Scalar:
        if value_class(value) != expected:
            raise OtherNumbersError
        return value

    return checked


def _number_maker(node: Node, backend: Backend) -> Function:
    """A function that makes the array of a constant from its number."""
    return lambda value: in_node_dtype(backend.number(value, node.dtype), node, backend)


def _operand_maker(node: Node, backend: Backend, *, keeps: bool) -> Function:
    """A function that makes what the backend computes with from a number, for a constant that is
    nothing but an operand. With `keeps` it makes it once while the same number comes."""
    make, target = backend.number, node.dtype
    if not keeps:
        return lambda value: make(value, target)
    last: tuple[Any, Any] = (object(), None)

    def made(value: Scalar) -> Any:
        nonlocal last
        number, kept = last
        is_same = type(number) is float is type(value) and number == value != 0  # not -0.0 for 0.0
        if not is_same and number is not value:
            kept = make(value, target)
            last = (value, kept)
        return kept

    return made


# The steps of a plan, written out as one Python function: a loop over them would cost more than
# the calls that it makes.


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A call of a function on values, by their numbers, which gives a new value."""

    function: Function
    inputs: tuple[int, ...]
    output: int
    node: Node | None = None  # whose dtype the result gets; None: it has no dtype, or the right one
    takes_sizes: bool = False  # the symbolic sizes come before the values


class _Source:
    """The steps of a plan as Python source, and what it calls.

    Each value is dropped as soon as no step needs it.
    """

    def __init__(
        self,
        arguments: Sequence[int],
        steps: Sequence[_Step],
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

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """A function of the symbolic sizes and the arguments, which returns the outputs."""
        return self._function(f"sizes, {self._arguments}", [], [f"return ({self._outputs})"])

    def tensor_function(self, kind: Kind) -> Callable[[Sequence[Any]], Tensor]:
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


def _last_uses(steps: Sequence[_Step], kept: set[int]) -> list[list[int]]:
    """For each step the values that no later step needs."""
    found: list[list[int]] = []
    needed = set(kept)
    for step in reversed(steps):
        found.append(sorted({*step.inputs, step.output} - needed))
        needed.update(step.inputs)
    return found[::-1]


def _ensured(name: str, step: _Step, names: dict[str, Any], backend: Backend) -> Function:
    """A function whose result has the dtype of its node. After a result that had it anyway, the
    function itself takes its place, except for scalars, which a library may return as numbers."""
    function, node = step.function, step.node
    assert node is not None  # otherwise there is nothing to ensure
    is_alike = bool(node.shape) and (node.compute is None or not op_row(node).compute)

    def ensured(*given: Any) -> Any:
        found = function(*given)
        array = in_node_dtype(found, node, backend)
        if array is found and is_alike:
            names[name] = function
        return array

    return ensured


# Kernels, whose results do not count after an alarm.

_Run = Callable[..., "tuple[Any, ...]"]
_MOST_ALARMS = 8  # in a row, after which a plan no longer tries


class _AlarmedError(Exception):
    """Raised by a step whose kernel could not compute it."""


def _has_large(backend: Backend, arrays: Sequence[Any]) -> bool:
    """Whether any array is large enough for a kernel."""
    holder = fusing.backend_memory(backend)
    if holder is None or not fusing.are_there():
        return False
    least = fusing.least_size()
    return any(holder.size_of(array) >= least for array in arrays)


def _kernel_step(program: FusedProgram) -> Callable[..., Sequence[Any]]:
    """A function of arrays that gives all results of a kernel."""

    def computed(*arrays: Any) -> Sequence[Any]:
        found = program.run(arrays, may_compile=True)
        if found is None:
            raise _AlarmedError
        return found

    return computed


def _unless_alarmed(fused: _Run, plain: _Run, programs: Sequence[FusedProgram]) -> _Run:
    """A plan with kernels that starts again without them after an alarm. Nothing was written yet:
    a program writes its state at its end."""
    if not programs:
        return plain
    alarms = 0

    def run(*given: Any) -> tuple[Any, ...]:
        nonlocal alarms
        if alarms >= _MOST_ALARMS:
            return plain(*given)
        try:
            found = fused(*given)
        except _AlarmedError:
            alarms += 1
            return plain(*given)
        alarms = 0
        return found

    return run
