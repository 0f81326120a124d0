"""Runs a program on arrays of any backend, by its plan: all that can be done before there are
arrays, done once.

`run_program` and `Ready` come first. A plan is a list of steps, each of which calls a ready
function on values, by their numbers. It is written out as one Python function.
"""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

from castwise.arrays import fast_path, fusing
from castwise.arrays.backend import (
    Backend,
    RunsRegions,
    SharesMemory,
    TakesConstants,
    TracesAlone,
    two_backends,
)
from castwise.arrays.fast_path import watchers
from castwise.arrays.functions import Function
from castwise.arrays.fusing import FusedProgram
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.tensor import Tensor, asarray
from castwise.arrays.traced_numbers import TracedNumber
from castwise.errors import UsageError, from_library, is_raw
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
from castwise.graph.program import (
    CAST,
    CONSTANT,
    COPY,
    Node,
    Program,
    Slot,
    State,
    filled,
    in_order,
    use_counts,
    viewed_node,
)
from castwise.graph.recording import node_rules
from castwise.graph.sizes import known_size
from castwise.rules.values import Values
from castwise.vocab import ops
from castwise.vocab.operands import Scalar, value_class

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
    """The tensor of each state, which may be an argument of this run."""
    return {s: arguments[s.before] if s.tensor is None else s.tensor for s in program.state}


def _check_memory(program: Program, live: Mapping[State, Any], tensors: Mapping[Node, Any]) -> None:
    """Raises OtherMemoryError if a run would write to other arrays than the function does: if
    two tensors share memory that is written, if arrays lie in memory in another way than the trace
    assumed, or if no views share memory on this backend."""
    written = {state.before for state in live if state.is_written}
    if not written and not program.shares_memory:
        return
    backends = {t._kind.backend for t in tensors.values()}
    if program.shares_memory and not all(
        isinstance(b, (SharesMemory, TakesConstants)) for b in backends
    ):
        raise OtherMemoryError(
            f"{program.name} writes to an array of which it has a view, but the arrays of "
            f"{next(iter(backends)).name} share no memory: copy the view, x[1:].copy()."
        )
    places = {
        node: t._kind.backend.extent(t._array) for node, t in tensors.items()
        if isinstance(t._kind.backend, SharesMemory)
    }  # fmt: skip
    for node, (first, end) in places.items():
        for other, (start, last) in places.items():
            if other in written and other is not node and first < last and start < end:
                raise OtherMemoryError(
                    f"{program.name} assigns to {other.name}, which shares memory with "
                    f"{node.name}: pass copies, or run the function itself."
                )
    for node, t in tensors.items():
        holder = t._kind.backend
        in_rows = not isinstance(holder, SharesMemory) or holder.lies_in_rows(t._array)
        if program.needs_rows and not in_rows:
            raise OtherMemoryError(
                f"{program.name} writes to a reshaped array, which shares the memory of another "
                f"only if all lie in rows, and {node.name} does not: pass a copy of it."
            )


class OtherMemoryError(UsageError):
    """Raised for arrays that a program cannot write to as the function does."""


def is_as_traced(program: Program) -> bool:
    """Whether the tensors from outside have the dtypes and shapes they were traced with."""
    return all(
        s.tensor is None
        or (s.tensor.dtype is s.before.dtype and tuple(s.tensor.shape) == s.before.shape)
        for s in program.state
    )


def _put(tensor: Tensor, array: Any, node: Node) -> None:
    """Writes a tensor's value after a run; into its own array if the dtype and shape are
    unchanged."""
    kind, shape = tensor._kind, tuple(array.shape)
    if kind.dtype is node.dtype and tensor.shape == shape:
        tensor._array = kind.backend.write(tensor._array, ..., array)
    else:
        tensor._array = array
    changed = kind.with_(dtype=node.dtype, is_weak=node.is_weak).shaped(shape)
    if changed is not kind:
        tensor._kind = changed


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
    _check_memory(program, live, tensors)
    # An array that is no tensor is written to as well.
    targets = [
        (s, t if isinstance(t, Tensor) else tensors[s.before])
        for s, t in live.items() if s.is_written
    ]  # fmt: skip
    for _, target in targets:
        fast_path.writing(target)
    held = {node: tensor._array for node, tensor in tensors.items()}
    for state, _ in targets:  # it is written once everything is computed
        array = holder.make(held[state.before], None, copy=True, device=None)
        held[state.before] = array
    plan = program_plan(program, holder, list(held.values()), computed_from)
    try:
        found = plan.run(sizes, *[held[node] for node in plan.inputs], *numbers)
    except Exception:
        if computed_from is None:
            _write_until_error(program, holder, held, sizes, targets)
        raise
    results, values = list(found[: len(plan.kinds)]), found[len(plan.kinds) :]
    for (state, target), array in zip(targets, values, strict=True):
        _put(target, array, state.after)
        _share(program, state, target, results, sizes)
    _notify(program, sizes)
    return returned(program, plan.kinds, results)


def _share(
    program: Program, state: State, tensor: Tensor, results: list[Any], sizes: dict[str, int]
) -> None:
    """Replaces results by views of written state, where the function returns such."""
    rules, after = node_rules(program.dialect), state.after
    made = {after: tensor._array}
    for n, node in enumerate(program.outputs):
        if viewed_node(node, (after,)) is after:
            for step in in_order([node], lambda n: () if n in made else n.inputs):
                if step not in made:
                    made[step] = _node_value(step, made, tensor._kind.backend, rules, sizes)
            results[n] = made[node]


def _node_value(
    node: Node, values: Mapping[Any, Any], backend: Backend, rules: Values, sizes: dict[str, int]
) -> Any:
    """The value of a node, from those of its inputs."""
    given: list[Any] = [values[source] for source in node.inputs]
    if needs_sizes(node):
        given.insert(0, sizes)
    return in_node_dtype(computation(node, backend, rules)(*given), node, backend)


def _write_until_error(
    program: Program, backend: Backend, held: Mapping[Node, Any], sizes: dict[str, int],
    targets: Sequence[tuple[State, Tensor]],
) -> None:  # fmt: skip
    """After an error: writes what the function has written when it raises, and raises as it does.

    The nodes are computed again, in the order of the function.
    """
    nodes = _OneByOne(program, backend, held, sizes)
    place = {state: n for n, state in enumerate(program.state)}
    for check in program.checks:
        try:
            nodes.compute([check.node])
        except Exception:
            reached = [(target, check.state[place[state]]) for state, target in targets]
            nodes.compute([node for _, node in reached])
            for target, node in reached:
                _put(target, nodes.values[node], node)
            raise
    nodes.compute(program.outputs)


class _OneByOne:
    """The values of nodes, computed one by one; what the library refuses is put into words as by an
    eager tensor."""

    def __init__(
        self, program: Program, backend: Backend, held: Mapping[Node, Any], sizes: dict[str, int]
    ) -> None:
        self.values: dict[Any, Any] = dict(held)
        self._backend, self._sizes = backend, sizes
        self._rules = node_rules(program.dialect)

    def compute(self, ends: Iterable[Node]) -> None:
        values = self.values
        for node in in_order(ends, lambda n: () if n in values else n.inputs):
            if node in values:
                continue
            try:
                values[node] = self._computed(node)
            except Exception as error:
                if not is_raw(error):
                    raise
                raise from_library(error, _call_text(node, values), self._backend.name) from error

    def _computed(self, node: Node) -> Any:
        values, backend = self.values, self._backend
        if node.op == CONSTANT:
            return _constant_maker(node, backend)()
        if node.part is None:
            return _node_value(node, values, backend, self._rules, self._sizes)
        if node.call not in values:
            given = [values[source] for source in node.inputs]
            values[node.call] = computation(node, backend, self._rules)(*given)
        return in_node_dtype(values[node.call][node.part], node, backend)


def _call_text(node: Node, values: Mapping[Any, Any]) -> str:
    """A node in the notation of questions, with the shapes that its operands have in a run."""
    operands = node.operands or node.positional
    told = [
        repr(n.value)
        if isinstance(n.value, (bool, int, float, complex))
        else f"{n.dtype}{list(values[n].shape if n in values else n.shape)}"
        for n in operands
    ]
    if node.op in ("getitem", "setitem"):
        return f"this index of {told[0]}"
    name = node.decision.question.op.name if node.decision else node.op
    return f"{name}({', '.join(told)})"


def returned(program: Program, kinds: Sequence[Kind], arrays: Sequence[Any]) -> Any:
    """What the function returns: the first arrays as tensors, in its structure."""
    tensors = [Tensor._of(array, kind) for array, kind in zip(arrays, kinds, strict=False)]
    return filled(program.structure, tensors)


def _notify(program: Program, sizes: Mapping[str, int]) -> None:
    """Notifies watchers as if the function ran op by op, on what only has shapes."""
    observers = watchers()
    for call in program.calls if observers else ():
        *operands, result = [
            SimpleNamespace(shape=tuple([known_size(size, sizes) for size in shape]))
            for shape in (*call.operands, call.result)
        ]
        for watcher in observers:
            watcher.note(call.decision, operands, result)


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
        shares = bool(program.state) or program.shares_memory
        self._is_checked = shares or not is_held or not is_known
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
            if not is_as_traced(self.program):
                raise OtherNumbersError
            return run_program(self.program, tensors, numbers=numbers, computed_from=self._numbers)
        found = self._plan.run(_NO_SIZES, *arrays, *numbers)
        _notify(self.program, _NO_SIZES)
        return returned(self.program, self._plan.kinds, found)


# The plan of a program on a backend.


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
    program: Program, backend: Backend, arrays: Sequence[Any], numbers: Numbers | None = None
) -> Plan:
    """The plan of a program, made once for each backend."""
    is_traced = isinstance(backend, TracesAlone) and any(
        type(a) is not backend.plain for a in arrays
    )
    is_large = not is_traced and _has_large(backend, arrays)
    key = (backend, is_traced, is_large, numbers is None, ops.redeclarations)
    found: Plan | None = program.plans.get(key)
    if found is None:
        given = numbers or Numbers(0, {})
        planner = functools.partial(_Planner, program, backend, given, keeps=not is_traced)
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
        self, program: Program, backend: Backend, numbers: Numbers, *, keeps: bool, fuses: bool
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
        self._copied = _shared_by_outputs(program)  # constants that are new ones in each run
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
        has_regions = self._fuses or isinstance(self._backend, RunsRegions)
        left_out = set() if has_regions else self._fold_casts()
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
            needed = {n for n in taken if _is_cast(n) and taken[n] < uses[n]}
            if not needed:
                break
            found = {n: whole for n, whole in found.items() if needed.isdisjoint(n.inputs)}
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
            function = self._number_maker(node)
            self._step(function, [self._number(self._numbers[node])], node)
        elif node.op == CONSTANT:
            self._add_constant(node)
        elif node.part is not None:
            if node.call not in self._slots:
                self._step(self._function(node), self._taken(node.inputs), node.call)
            self._step(itemgetter(node.part), [self._slots[node.call]], node, node=node)
        elif node in self._folded or not self._is_computed_now(node):
            function, inputs = self._folded.get(node) or (self._function(node), node.inputs)
            takes = needs_sizes(node)
            self._step(function, self._taken(inputs), node, node=node, takes_sizes=takes)
        if _may_share(node, [n in self._sharing for n in node.inputs]):
            self._sharing.add(node)

    def _add_region(self, region: Region) -> None:
        """Adds the step of a region, and its results."""
        backend = self._backend
        if isinstance(backend, RunsRegions):
            run, inputs = whole_region(region, backend, self._rules, self._numbers)
            self._step(lambda *arrays: run(arrays), self._taken(inputs), region)
        else:
            program = fused_region(region, backend, self._rules, self._numbers)
            self.programs.append(program)
            run_kernel = functools.partial(_kernel_results, program)
            self._step(run_kernel, self._taken(region.inputs), region)
        for n, node in enumerate(region.outputs):
            self._step(itemgetter(n), [self._slots[region]], node)

    def _function(self, node: Node) -> Function:
        return computation(node, self._backend, self._rules)

    def _taken(self, inputs: Iterable[Node]) -> list[int]:
        """The numbers of the values that a step takes."""
        return [self._slots[node] for node in inputs]

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
            if node in self._copied:
                self._step(functools.partial(self._copy, array), [], node)
            else:
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
        slots = self._taken(node.inputs)
        if not is_of_numbers or not is_op or not self._constants.keys() >= {*slots}:
            return False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = self._function(node)(*[self._constants[n] for n in slots])
                array = in_node_dtype(found, node, self._backend)
        except Exception:  # each run raises it, or warns
            return False
        if not self._backend.is_concrete(array):
            return False
        self._keep(node, array)
        return True

    def _number_maker(self, node: Node) -> Function:
        """A function of a number that makes the array of a constant, or what takes its place."""
        backend = self._backend
        if node not in self._as_arrays:
            return _operand_maker(node, backend, keeps=self._keeps)
        return lambda value: in_node_dtype(backend.number(value, node.dtype), node, backend)

    def _number(self, number: TracedNumber) -> int:
        """The value of a number argument, or of arithmetic with them."""
        parts = in_order([number], lambda n: [p for p in n.inputs if type(p) is TracedNumber])
        for part in parts:
            if part.function is not None and ("number", id(part)) not in self._slots:
                inputs = [self._number_slot(n) for n in part.inputs]
                computed = functools.partial(_arithmetic, part.function)
                self._step(computed, inputs, ("number", id(part)))
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
        self._step(self._copy, [self._slots[node]], copy)
        return self._slots[copy]

    def _copy(self, array: Any) -> Any:
        return self._backend.make(array, None, copy=True, device=None)


def _constant_maker(node: Node, backend: Backend) -> Callable[[], Any]:
    """A function that makes the array of a constant."""
    value = node.value
    if isinstance(value, (bool, int, float, complex)):
        return lambda: in_node_dtype(backend.number(value, node.dtype), node, backend)
    make = functools.partial(backend.make, value, node.dtype, copy=None, device=None)
    return lambda: in_node_dtype(make(), node, backend)


def _may_share(node: Node, inputs: Sequence[bool]) -> bool:
    """Whether a node may have memory that its inputs have, by which of them have it."""
    is_new = node.op in (CAST, COPY, "setitem")
    return bool(inputs) and not is_new and (all(inputs) or (node.compute is None and inputs[0]))


def _shared_by_outputs(program: Program) -> set[Node]:
    """The constants whose memory more than one output may have. A copy of each of those outputs
    would have memory of its own."""
    constants: dict[Node, frozenset[Node]] = {}
    for node in program.nodes:
        if node.op == CONSTANT:
            constants[node] = frozenset([node])
        elif _may_share(node, [n in constants for n in node.inputs]):
            constants[node] = frozenset().union(*[constants.get(n, ()) for n in node.inputs])
    after = [s.after for s in program.state if s.is_written]
    outputs = (*program.outputs, *after)
    counts = Counter([c for node in outputs for c in constants.get(node, ())])
    return {node for node, count in counts.items() if count > 1}


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


def _arithmetic(function: Function, *numbers: Scalar) -> Any:
    """A function of numbers. Where it raises, so does the function that was traced, perhaps only to
    go on: another trace is needed."""
    try:
        return function(*numbers)
    except Exception as error:
        raise OtherNumbersError from error


def _checker(number: TracedNumber) -> Function:
    """A function that gives a number unchanged, if decisions about it are those of the trace."""
    expected = value_class(number.traced_value)

    def checked(value: Scalar) -> Scalar:
        if value_class(value) != expected:
            raise OtherNumbersError
        return value

    return checked


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


def _kernel_results(program: FusedProgram, *arrays: Any) -> Sequence[Any]:
    """All results of a kernel."""
    found = program.run(arrays, may_compile=True)
    if found is None:
        raise _AlarmedError
    return found


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
