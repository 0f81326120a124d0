"""A program under another dialect, with explicit casts that keep what it computes."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.execute.functions.alike import LIKE
from castwise.graph.passes.redialect import decided, result_under
from castwise.graph.program import CAST, CONSTANT, Call, Node, P, Program, rebuilt
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op


def preserve(program: P, dialect: str | Dialect) -> P:
    """The program under another dialect, with explicit casts that keep what it computes.

    Every implicit cast becomes explicit, and a result that has another dtype in the other dialect
    is cast back.

    Raises PromotionError if an op has no equivalent there, or an array would change its dtype.
    """
    chosen = to_dialect(dialect)
    for node in program.inputs:
        _check_held(node, chosen)
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


def _check_held(node: Node, dialect: Dialect) -> None:
    """Raises PromotionError if a dialect truncates an input of the program, used or not."""
    held = dialect.truncations.get(node.dtype, node.dtype)
    if held is not node.dtype:
        raise PromotionError(
            f"{node.name} is {node.dtype}, which becomes {held} in {dialect.name}: cast it."
        )


def _calls(program: Program) -> tuple[Call, ...]:
    """The questions a program asks its dialect, one for every op of the program."""
    asked = {
        node if node.part is None else node.call: Call(
            node.decision, tuple([operand.shape for operand in node.operands]), node.shape
        )
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
    there = decided(question)
    if not _computes_alike(node, there):
        raise PromotionError(
            f"{question} computes in {there.compute} in {dialect.name}, but in {node.compute} "
            "here: no cast makes them equal. Write it with other ops."
        )
    result = result_under(node, there)
    made = replace(
        node, dtype=result, compute=there.compute, decision=there, operands=node.positional,
        is_weak=False,
    )  # fmt: skip
    if result is node.dtype:
        return made
    if not result.holds(node.dtype):
        raise PromotionError(
            f"{question} gives {result} in {dialect.name}, which cannot hold all of {node.dtype}."
        )
    return Node(CAST, (made,), node.dtype, node.shape, origin=node.origin)


def _computes_alike(node: Node, there: Decision) -> bool:
    """Whether an op computes the same values there, or integers that can be truncated
    afterwards."""
    here = node.compute
    assert here is not None  # every op has one
    is_wider = here.kind == there.compute.kind == "int" and there.compute.holds(here)
    return here is there.compute or (is_wider and node.op in _WRAPPING)
