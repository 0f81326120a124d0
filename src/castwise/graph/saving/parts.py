"""The parts of a saved graph, read from the file and checked."""

from __future__ import annotations

from typing import Any

from castwise.engine.decision import HAZARDS, Cast
from castwise.errors import UsageError
from castwise.execute.functions.alike import LIKE
from castwise.graph.program import CAST, CONSTANT, INPUT, Node, given_numbers
from castwise.graph.recording.layouts import LAYOUT_OPS
from castwise.graph.saving.values import from_json, read_dtype, read_shape
from castwise.graph.saving.writing import declaration
from castwise.graph.source_lines import SourceLine
from castwise.vocab.operands import Operand, Role
from castwise.vocab.ops import Op, known_op


def entry_at(table: list[Any], number: Any) -> Any:
    """The entry with a number, which must come before those that refer to it."""
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(table):
        raise UsageError(f"{str(number)[:40]!r} is not the position of an earlier entry.")
    return table[number]


def text(thing: Any) -> str:
    """A value that must be text."""
    if not isinstance(thing, str):
        raise UsageError(f"{str(thing)[:40]!r} is not text.")
    return thing


def op_named(name: str) -> Op:
    """The op of a name."""
    found = known_op(name)
    if found is None:
        raise UsageError(f"this castwise has no op {name[:40]!r}.")
    return found


def check_declared(entry: Any) -> None:
    """Raises UsageError if an op that the user declared is missing or different."""
    name = text(entry["name"])
    found = known_op(name)
    if found is None or found.family != "declared":
        raise UsageError(
            f"it uses {name[:40]!r}, a custom op, whose kernel is not saved: declare "
            f"it before loading, cw.declare_op({name[:40]!r}, compute=...)."
        )
    here = declaration(found)
    apart = [key for key in here if here[key] != entry.get(key)]
    if apart:
        said = ", ".join(f"{key}={entry.get(key)!r}" for key in apart)
        raise UsageError(f"it uses {name[:40]!r}, which was declared differently: {said[:200]}.")


def check_node(node: Node) -> None:
    """Raises UsageError for a node that castwise never makes, so that a file cannot run anything
    else.
    """
    if node.compute is not None:
        is_known = known_op(node.op) is not None or node.op in LIKE
    else:
        is_known = node.op in (INPUT, CONSTANT, CAST, *LAYOUT_OPS)
    if not is_known:
        raise UsageError(f"this castwise has no function {node.op[:40]!r}.")
    if node.op == CAST and len(node.inputs) != 1:
        raise UsageError("a cast must have one input.")
    if any(not 0 <= number < len(node.inputs) for number in given_numbers(node.options)):
        raise UsageError("an option names an input that the node does not have.")
    if node.op == CONSTANT:
        _check_constant(node)


def _check_constant(node: Node) -> None:
    array = node.value
    if isinstance(array, (bool, int, float, complex)):
        is_right = node.shape == ()
    else:
        is_right = tuple(array.shape) == node.shape and read_dtype(str(array.dtype)) is node.dtype
    if not is_right:
        raise UsageError(f"the value of a constant is not {node.type}.")


def inputs(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Nodes that must be inputs."""
    for node in nodes:
        if node.op != INPUT or not node.name:
            raise UsageError(f"a {node.op} is not an input.")
    return nodes


def cast(said: Any) -> Cast | None:
    """The cast described by a list of its parts; None if there is none."""
    if said is None:
        return None
    source, target, hazards = said
    if not all(hazard in HAZARDS for hazard in hazards):
        raise UsageError(f"a cast has unknown hazards: {str(hazards)[:80]}.")
    return Cast(source and read_dtype(source), read_dtype(target), tuple(hazards))


def operand(said: Any) -> Operand:
    """The operand described by a list of its parts."""
    role, held, shape, value, weak = said
    if not isinstance(weak, bool):
        raise UsageError(f"an operand's weak flag must be true or false, not {str(weak)[:40]!r}.")
    return Operand(
        held and read_dtype(held),
        Role(role),
        from_json(value),
        None if shape is None else read_shape(shape),
        weak,
    )


def origin(said: Any) -> SourceLine | None:
    """The source line described by a list of its parts."""
    if said is None:
        return None
    file, line, source = said
    if not isinstance(line, int):
        raise UsageError(f"a line must be a number, not {str(line)[:40]!r}.")
    return SourceLine(text(file), line, text(source))
