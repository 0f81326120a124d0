"""What a node does: the function that computes it, the same one that eager tensors use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from castwise.arrays.backend import Backend, Kind
from castwise.arrays.calls import TracedNumber
from castwise.arrays.functions import LIKE, Function, function_for
from castwise.arrays.steps import Entry, Steps, entry_cast, quieted, running_unchecked
from castwise.arrays.tensor import Tensor
from castwise.arrays.values import adapted
from castwise.errors import UsageError
from castwise.graph.program import CAST, Node, given_numbers, in_order, with_given
from castwise.graph.sizes import Size, known_size
from castwise.rules.values import Values
from castwise.vocab.operands import Scalar, value_class
from castwise.vocab.ops import Op, op


def computation(node: Node, backend: Backend, rules: Values) -> Function:
    """The function of the arrays of a node's inputs; `needs_sizes` tells whether the symbolic sizes
    come before them."""
    if node.op == CAST:
        return entry_cast(Entry(node.dtype, node.inputs[0].dtype), backend, rules)
    sizes_known = not needs_sizes(node)
    numbers = given_numbers(node.options)
    call: Call = functools.partial(_laid_out, node, backend)
    if node.compute is not None:
        call = _op_function(node, backend, rules)
    if not numbers and sizes_known:
        return call({}, node.options)

    def computed(*given: Any) -> Any:
        sizes, arrays = ({}, given) if sizes_known else (given[0], given[1:])
        options = {key: with_given(option, arrays) for key, option in node.options.items()}
        operands = [array for n, array in enumerate(arrays) if n not in numbers]
        return call(sizes, options)(*operands)

    return computed


def needs_sizes(node: Node) -> bool:
    """Whether a node depends on symbolic sizes, which are known only when the program runs."""
    if node.compute is not None and row_of(node).compute:
        return any(isinstance(size, str) for size in node.shape)
    return node.compute is None and _has_sizes(node.options)


def row_of(node: Node) -> Op:
    """The row of a node's op."""
    return op(LIKE.get(node.op, node.op))


def whole_with_casts(
    node: Node, casts: Mapping[Node, Node], backend: Backend, rules: Values
) -> Function | None:
    """A function that casts some inputs of an elementwise op while it computes, if the backend has
    one. `casts` has the value that each of these inputs casts."""
    made, row = running_unchecked(backend), row_of(node)
    is_elementwise = "." not in node.op and row.keeps_shape and row.family != "declared"
    if made is None or not is_elementwise or node.options or node.part is not None:
        return None
    entries = [Entry(n.dtype, casts[n].dtype) if n in casts else None for n in node.inputs]
    assert node.compute is not None  # it is an op
    return made(
        Steps(node.op, node.compute, node.dtype, tuple(entries), is_elementwise, values=rules)
    )


def in_node_dtype(result: Any, node: Node, backend: Backend) -> Any:
    """A result as an array of the node's dtype."""
    if not backend.owns(result):
        result = backend.make(result, None, copy=None, device=None)
    held = backend.dtype_of(result)
    if held.kind == node.dtype.kind == "int" and node.dtype not in backend.dtypes:
        return result  # an index or a count, in the widest integers
    return result if held is node.dtype else backend.cast(result, node.dtype)


Call = Callable[[Mapping[str, int], Mapping[str, Any]], Function]


def _op_function(node: Node, backend: Backend, rules: Values) -> Call:
    """A function of sizes and options that gives the function of an op on arrays."""
    row = row_of(node)
    if row.compute:
        kernel = row.compute

        def declared(sizes: Mapping[str, int], options: Mapping[str, Any]) -> Function:
            return lambda *arrays: _checked(kernel(*arrays, **options), node, sizes)

        return declared
    assert node.compute is not None  # it is an op
    found = function_for(backend, node.op, node.compute)
    found = adapted(found, backend, node.op, node.compute, rules)
    found = quieted(found, backend, node.op, rules)
    if row.family == "joining":
        return lambda sizes, options: lambda *arrays: found(list(arrays), **options)
    return lambda sizes, options: functools.partial(found, **options) if options else found


def _checked(found: Any, node: Node, sizes: Mapping[str, int]) -> Any:
    """The result of a declared op's kernel, if it has the shape that the program expects."""
    expected = tuple([known_size(size, sizes) for size in node.shape])
    if tuple(getattr(found, "shape", ())) != expected:
        raise UsageError(
            f"{node.origin}: the kernel of {node.op} gave another shape than {expected}, which the "
            "graph assumes because the kernel could not be traced: write it with the operators "
            "and the namespace of its arrays, x.__array_namespace__()."
        )
    return found


def _laid_out(
    node: Node, backend: Backend, sizes: Mapping[str, int], given: Mapping[str, Any]
) -> Function:
    """The function of a layout node with its options."""
    options: dict[str, Any] = _with_known(dict(given), sizes)
    if node.op == "getitem":
        return itemgetter(options["key"])
    if node.op == "setitem":
        key = options["key"]

        def written(array: Any, values: Any) -> Any:
            copy = backend.make(array, None, copy=True, device=None)
            return backend.write(copy, key, values)

        return written
    function: Function = attrgetter(node.op)(backend.namespace)
    if node.positional:
        return functools.partial(function, **options)
    # A new array, which is created in its dtype.
    return lambda: function(*options.values(), dtype=backend.native(node.dtype))


def _has_sizes(option: Any) -> bool:
    if isinstance(option, slice):
        return any(map(_has_sizes, (option.start, option.stop, option.step)))
    if isinstance(option, Mapping):
        return any(map(_has_sizes, option.values()))
    if isinstance(option, (tuple, list)):
        return any(map(_has_sizes, option))
    return isinstance(option, Size)


def _with_known(option: Any, sizes: Mapping[str, int]) -> Any:
    """An option with its symbolic sizes replaced by numbers."""
    if isinstance(option, Size):
        return known_size(option, sizes)
    if isinstance(option, slice):
        return slice(*[_with_known(n, sizes) for n in (option.start, option.stop, option.step)])
    if isinstance(option, (tuple, list)):
        return type(option)([_with_known(part, sizes) for part in option])
    if isinstance(option, dict):
        return {key: _with_known(part, sizes) for key, part in option.items()}
    return option


# Number arguments in a plan: arithmetic with them, their classes, and their arrays.


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The number arguments of a program: how many, and which constants are computed from them."""

    count: int
    nodes: Mapping[Node, TracedNumber]


class OtherNumbersError(Exception):
    """Raised by a plan for numbers that need another trace."""


def with_parts(number: TracedNumber) -> list[TracedNumber]:
    """A number and all that it is computed from, each after its own parts."""
    return in_order([number], lambda n: [part for part in n.inputs if type(part) is TracedNumber])


def arithmetic(function: Function) -> Function:
    """A function of numbers. Where it raises, so does the function that was traced, perhaps only to
    go on: another trace is needed."""

    def computed(*numbers: Scalar) -> Any:
        try:
            return function(*numbers)
        except Exception as error:
            raise OtherNumbersError from error

    return computed


def checker(number: TracedNumber) -> Function:
    """A function that gives a number unchanged, if decisions about it are those of the trace."""
    expected = value_class(number.traced_value)

    def checked(value: Scalar) -> Scalar:
        if value_class(value) != expected:
            raise OtherNumbersError
        return value

    return checked


def number_maker(node: Node, backend: Backend) -> Function:
    """A function that makes the array of a constant from its number."""
    return lambda value: in_node_dtype(backend.number(value, node.dtype), node, backend)


def operand_maker(node: Node, backend: Backend, *, keeps: bool) -> Function:
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
