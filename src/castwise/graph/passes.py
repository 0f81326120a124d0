"""Programs made from programs.

`simplify` removes casts, `redialect` tells what would change under another dialect, `preserve`
keeps a program's values under another dialect, and `with_kernels_written_out` expands declared
ops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic

from castwise.arrays.apply import check_kernel
from castwise.arrays.functions import LIKE
from castwise.catalog import to_dialect
from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.graph.program import (
    CAST,
    CONSTANT,
    COPY,
    Call,
    Node,
    P,
    Program,
    node_names,
    rebuilt,
    use_counts,
    viewed_node,
)
from castwise.graph.recording import kernel_node, power_written_out, recording_backend
from castwise.graph.shapes import has_own_dtype, result_dtype
from castwise.graph.sizes import Terms, element_count, product_text, size_terms
from castwise.rules.dialect import Dialect
from castwise.showing import InNotebooks, repr_line
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import known_op, op

# Fewer casts, the same values: a list of rewrite rules, each of which keeps every bit. No rule
# moves anything across a cast that may change a value, or changes whether an output is weak.


class Amount:
    """An amount of memory that may depend on symbolic sizes: 24*n + 96."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def __sub__(self, other: Amount) -> Amount:
        left = Terms(self._terms)
        left.subtract(other._terms)
        return Amount(left)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        parts = [
            product_text(factor, names, shows_one=True)
            for names, factor in sorted(self._terms.items(), reverse=True)
            if factor
        ]
        return " + ".join(parts) or "0"

    __repr__ = __str__


def _cast_bytes(program: Program) -> Amount:
    """The bytes that the casts of a program write."""
    total: Terms = Terms()
    for node in program.casts:
        total.update(size_terms(element_count((node.dtype.itemsize, *node.shape))))
    return Amount(total)


Rewrite = Callable[[Node, "Uses"], "Node | None"]
Uses = Counter[Node]


def drop_no_op_cast(node: Node, uses: Uses) -> Node | None:
    """A cast to the dtype that a value already has is the value itself."""
    if node.op != CAST:
        return None
    source = node.inputs[0]
    is_same = source.dtype is node.dtype and source.is_weak == node.is_weak
    return source if is_same else None


def undo_round_trip(node: Node, uses: Uses) -> Node | None:
    """An exact cast followed by the cast back is the value itself."""
    inner = _inner_cast(node)
    if inner is None or inner.inputs[0].dtype is not node.dtype:
        return None
    source = inner.inputs[0]
    is_exact = inner.dtype.holds_all(node.dtype)
    return source if is_exact and source.is_weak == node.is_weak else None


def merge_widening_casts(node: Node, uses: Uses) -> Node | None:
    """Two exact casts in a row are one."""
    inner = _inner_cast(node)
    if inner is None:
        return None
    source = inner.inputs[0]
    are_exact = inner.dtype.holds_all(source.dtype) and node.dtype.holds_all(inner.dtype)
    return replace(node, inputs=(source,)) if are_exact else None


def cast_before_broadcast(node: Node, uses: Uses) -> Node | None:
    """A cast of a broadcast value is cheaper before the broadcast."""
    if node.op != CAST or node.inputs[0].op != "broadcast_to":
        return None
    spread = node.inputs[0]
    source = spread.inputs[0]
    if element_count(source.shape) == element_count(spread.shape) or uses[spread] > 1:
        return None
    cast = replace(node, inputs=(source,), shape=source.shape)
    return replace(spread, inputs=(cast,), dtype=node.dtype, is_weak=node.is_weak)


def index_before_cast(node: Node, uses: Uses) -> Node | None:
    """A part of a cast value is cheaper to cast than the whole."""
    if node.op != "getitem" or node.inputs[0].op != CAST:
        return None
    cast = node.inputs[0]
    source = cast.inputs[0]
    if element_count(node.shape) == element_count(source.shape) or uses[cast] > 1:
        return None
    part = replace(node, inputs=(source, *node.inputs[1:]), dtype=source.dtype)
    return replace(cast, inputs=(part,), shape=node.shape)


def _inner_cast(node: Node) -> Node | None:
    """The cast whose result another cast takes."""
    is_pair = node.op == CAST and node.inputs[0].op == CAST
    return node.inputs[0] if is_pair else None


RULES: tuple[Rewrite, ...] = (
    drop_no_op_cast, undo_round_trip, merge_widening_casts, cast_before_broadcast,
    index_before_cast,
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Simplification(InNotebooks, Generic[P]):
    """A simplified program, and what it saved."""

    before: P
    graph: P
    applied: Counter[str]  # how often each rule was applied

    @property
    def casts_saved(self) -> int:
        return len(self.before.casts) - len(self.graph.casts)

    @property
    def bytes_saved(self) -> Amount:
        """The bytes that casts no longer write."""
        return _cast_bytes(self.before) - _cast_bytes(self.graph)

    @property
    def summary(self) -> str:
        """What it saved, in a line."""
        before, after = len(self.before.casts), len(self.graph.casts)
        return f"{before} casts -> {after}, {self.bytes_saved} bytes of casts saved"

    def __str__(self) -> str:
        rules = [f"  {rule.replace('_', ' ')}: {count}" for rule, count in self.applied.items()]
        return "\n".join([self.summary, *rules])

    def __repr__(self) -> str:
        return repr_line("Simplification", f"{self.graph.name}: {self.summary}")


def simplify(program: P) -> Simplification[P]:
    """The program after applying rules until none applies."""
    applied: Counter[str] = Counter()
    current = _without_decisions(program)
    while True:
        changes = sum(applied.values())
        current = _pass(_shared(current, applied), applied)
        if sum(applied.values()) == changes:
            return Simplification(program, current, applied)


def _without_decisions(program: P) -> P:
    """The program with a link to the traced one instead of its decisions, because an op's original
    operands may be gone once casts are removed."""

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        return replace(node, inputs=inputs, decision=None, operands=())

    return replace(rebuilt(program, remade), traced=program.traced or program)


def _pass(program: P, applied: Counter[str]) -> P:
    """Tries each rule once on each node. A result keeps memory of its own."""
    uses, results = use_counts(program), _results(program)

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        current = node if same else replace(node, inputs=inputs)
        for new, old in zip(inputs, node.inputs, strict=True):
            uses[new] = max(uses[new], uses[old])
        uses[current] = uses[node]
        for rule in RULES:
            if (found := rule(current, uses)) is not None:
                is_view = found in current.inputs or rule is cast_before_broadcast
                if node in results and is_view:
                    found = _copy(found)
                applied[rule.__name__] += 1
                uses[found] += uses[current]
                return found
        return current

    return rebuilt(program, remade)


def _results(program: Program) -> set[Node]:
    """The results of a program, and what they are views of: each has memory of its own."""
    return {*program.results, *map(viewed_node, program.results)}


def _copy(node: Node) -> Node:
    return Node(COPY, (node,), node.dtype, node.shape, origin=node.origin, is_weak=node.is_weak)


def _shared(program: P, applied: Counter[str]) -> P:
    """Merges casts of the same value to the same dtype."""
    known: dict[tuple[object, ...], Node] = {}
    results, owned = _results(program), set[Node]()

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        current = replace(node, inputs=inputs) if inputs != node.inputs else node
        if node.op != CAST:
            return current
        first = known.setdefault((inputs[0], node.dtype, node.is_weak), current)
        if first is not current:
            applied["share_repeated_casts"] += 1
        if node in results:
            if first in owned:
                return _copy(first)
            owned.add(first)
        return first

    return rebuilt(program, remade)


# A program read under another dialect: what would change.

# How a node can change.
OUTCOMES = {
    "changes dtype": "the op gives another dtype there",
    "needs a cast": "the op gives the same dtype, but casts other operands on the way",
    "refused": "the op is not defined there",
}


@dataclass(frozen=True, slots=True, repr=False)
class OpChange:
    """How one op changes under the other dialect."""

    node: Node
    outcome: str  # one of OUTCOMES
    here: Decision
    there: Decision | None  # None if it is refused
    why: str = ""

    @property
    def op(self) -> str:
        """The name of the op."""
        return self.here.question.op.name

    def __str__(self) -> str:
        where = f"{self.node.origin}: " if self.node.origin else ""
        if self.there is None:
            return f"{where}{self.why}"
        if self.outcome == "changes dtype":
            said = f"gives {self.there.result}, not {self.here.result}"
        else:
            said = f"computes in {self.there.compute}, not {self.here.compute}"
        return f"{where}{self.there.question} {said}"

    def __repr__(self) -> str:
        return repr_line("OpChange", f"{self.op} {self.outcome}: {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Redialect(InNotebooks, Generic[P]):
    """A program read under another dialect."""

    graph: P
    dialect: Dialect
    changes: tuple[OpChange, ...]

    @property
    def summary(self) -> str:
        """How much changes, in a line."""
        count = f"{len(self.changes)} of the ops change" if self.changes else "nothing changes"
        return f"{self.graph.name}: {self.graph.dialect.name} -> {self.dialect.name}: {count}"

    @property
    def lines(self) -> list[str]:
        """What changes, a line each."""
        names = node_names(self.graph)
        return [f"{names[c.node]} {c.op}: {c.outcome}: {c}" for c in self.changes]

    def __str__(self) -> str:
        return "\n".join([self.summary, *[f"  {line}" for line in self.lines]])

    def __repr__(self) -> str:
        return repr_line("Redialect", self.summary)


def redialect(program: P, dialect: str | Dialect) -> Redialect[P]:
    """What the program, without its implicit casts, does under another dialect.

    Each op is asked about with the operands it would have there. After a refusal, the old dtype is
    used for the next ops.
    """
    chosen = to_dialect(dialect)
    there: dict[Node, Operand] = {}
    changes: dict[object, OpChange] = {}  # one per call, however many results it has
    for node in program.nodes:
        if node.decision is None:
            there[node] = _carried(node, there)
            continue
        operands = _written_operands(node, there)
        question = replace(node.decision.question, operands=operands, dialect=chosen)
        change, seen = _asked(node, question)
        there[node] = seen
        if change:
            changes.setdefault(node.call, change)
    return Redialect(program, chosen, tuple(changes.values()))


def _carried(node: Node, there: dict[Node, Operand]) -> Operand:
    """An input, a constant, a layout or a cast as an operand under the other dialect."""
    # An op without a decision is a step of an explicit cast.
    is_moved = node.inputs and node.compute is None and node.dtype is node.inputs[0].dtype
    # An implicit cast is not part of the program. An explicit one is, also to the dtype that the
    # array has here: there, the array may be weak, or have another dtype.
    if node.is_implicit or (is_moved and node.op != CAST):
        source = there[node.inputs[0]]
        return replace(source, shape=node.shape) if source.dtype else source
    return array_operand(node.dtype, node.shape, is_weak=node.is_weak)


def _written_operands(node: Node, there: dict[Node, Operand]) -> tuple[Operand, ...]:
    """The operands as the program wrote them: before implicit casts, numbers as numbers."""
    assert node.decision is not None
    arrays, given = iter(node.operands), node.decision.question.operands
    return tuple([there[next(arrays)] if o.dtype and not o.is_numpy else o for o in given])


def _asked(node: Node, question: Question) -> tuple[OpChange | None, Operand]:
    here = node.decision
    assert here is not None
    old = array_operand(node.dtype, node.shape)
    try:
        there = _decided(question)
    except PromotionError as error:
        return OpChange(node, "refused", here, None, str(error)), old
    seen = array_operand(_result_dtype(node, there), node.shape, is_weak=there.is_weak)
    if there.result is not here.result:
        return OpChange(node, "changes dtype", here, there), seen
    is_same = there.compute is here.compute and there.casts == here.casts
    return (None if is_same else OpChange(node, "needs a cast", here, there)), seen


def _result_dtype(node: Node, there: Decision) -> DType:
    """The dtype of a node under a decision: some functions have their own, such as fft."""
    if has_own_dtype(node.op):
        return result_dtype(node.op, there.as_promoted().compute, node.part)
    return there.result


def _decided(question: Question) -> Decision:
    """The decision; raises PromotionError also if the framework has no kernel for it."""
    there = answer(question)
    check_kernel(there)
    return there


# A program under another dialect, with explicit casts that keep what it computes.


def preserve(program: P, dialect: str | Dialect) -> P:
    """The program under another dialect, with explicit casts that keep what it computes.

    Every implicit cast becomes explicit, and a result that has another dtype in the other dialect
    is cast back.

    Raises PromotionError if an op has no equivalent there, or an array would change its dtype.
    """
    chosen = to_dialect(dialect)
    program = with_powers_written_out(program)
    for node in program.inputs:  # used or not
        held = chosen.truncations.get(node.dtype, node.dtype)
        if held is not node.dtype:
            raise PromotionError(
                f"{node.name} is {node.dtype}, which becomes {held} in {chosen.name}: cast it."
            )
    rules = [d.values.powers.by_one_exponent for d in (program.dialect, chosen)]
    takes_roots = rules[0] != rules[1] == "square root"

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.compute is None:
            is_weak = node.is_weak and chosen.has_weak_arrays
            return replace(node, inputs=inputs, cast=None, decision=None, operands=(),
                           is_weak=is_weak)  # fmt: skip
        if takes_roots and node.op == "pow":
            inputs = (inputs[0], _spread(inputs[1], inputs[0]))
        return _kept(node, inputs, chosen)

    kept = replace(rebuilt(program, remade), dialect=chosen, traced=None)
    return replace(kept, calls=_calls(kept))


def _calls(program: Program) -> tuple[Call, ...]:
    """The questions a program asks its dialect, one for every op of the program."""
    asked = {
        node.call: Call(node.decision, tuple([o.shape for o in node.operands]), node.shape)
        for node in program.nodes
        if node.decision
    }
    return tuple(asked.values())


def _spread(exponent: Node, base: Node) -> Node:
    """An exponent that may be 0.5, as an array, so that no dialect takes the square root. It is not
    broadcast, because NumPy recognizes that."""
    is_other = exponent.op == CONSTANT and exponent.value != 0.5
    if exponent.shape or is_other or not base.shape:
        return exponent
    where = Node("eq", (base, base), dtype("bool"), base.shape, compute=base.dtype)
    made = (where, exponent, exponent)
    return Node("where", made, exponent.dtype, base.shape, compute=exponent.dtype)


# Ops whose wider integer result, truncated, equals the result in narrower integers: both wrap.
_WRAPPING = frozenset(
    {"add", "sub", "mul", "neg", "square", "sum", "prod", "cumsum", "cumprod", "matmul", "dot",
     "outer", "inner", "vecdot", "cross", "kron", "addcmul", "bitwise_and", "bitwise_or",
     "bitwise_xor", "bitwise_not", "bitwise_left_shift"}
)  # fmt: skip


def _kept(node: Node, inputs: tuple[Node, ...], dialect: Dialect) -> Node:
    """The op under the other dialect, on operands of its compute dtype."""
    node = replace(node, inputs=inputs)
    operands = tuple([array_operand(given.dtype, given.shape) for given in node.positional])
    question = Question(op(LIKE.get(node.op, node.op)), operands, dialect)
    there = _decided(question)
    here, wanted = node.compute, there.as_promoted().compute
    assert here is not None  # every op has one
    is_wider = here.kind == wanted.kind == "int" and wanted.holds(here)
    if here is not wanted and not (is_wider and node.op in _WRAPPING):
        raise PromotionError(
            f"{question} computes in {wanted} in {dialect.name}, but in {here} "
            "here: no cast makes them equal. Write it with other ops."
        )
    result = _result_dtype(node, there)
    made = replace(node, dtype=result, compute=wanted, decision=there,
                   operands=node.positional, is_weak=False)  # fmt: skip
    if result is node.dtype:
        return made
    if not result.holds(node.dtype):
        raise PromotionError(
            f"{question} gives {result} in {dialect.name}, which cannot hold all of {node.dtype}."
        )
    return Node(CAST, (made,), node.dtype, node.shape, origin=node.origin)


# Expands powers of Python numbers, and declared ops into the nodes of their kernels.


def with_powers_written_out(program: P) -> P:
    """The program with other nodes for the power of a Python number, which is one node because
    libraries have functions for it."""

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op == "pow" and "exponent" in node.options:
            return power_written_out(node, inputs[0], program.dialect)
        return replace(node, inputs=inputs)

    return rebuilt(program, remade)


def with_kernels_written_out(program: Program) -> Program:
    """The program with declared ops replaced by the nodes of their kernels, if they are known."""
    backend = recording_backend(program.dialect)

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        row = known_op(node.op)
        found = None
        if row is not None and row.compute is not None:
            found = kernel_node(row, inputs[0].dtype, inputs, node.options, backend)
        if found is None:
            return replace(node, inputs=inputs)
        is_right = found.dtype is node.dtype
        return found if is_right else Node(CAST, (found,), node.dtype, node.shape)

    return rebuilt(program, remade)
