"""Casts that keep a program's results under another dialect, each confirmed by resolve."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from castwise.auditing.fixing.wording import cast_to
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.porting.answers import DialectAnswer, answer_to
from castwise.engine.decision import Decision
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role, scalar_operand


@dataclass(frozen=True)
class Keeping:
    """How to keep the result: in words, and as source if castwise can write it."""

    does: str
    text: str | None = None


@dataclass(frozen=True)
class _Casts:
    """New dtypes of operands by position; None means a Python number."""

    of: dict[int, DType | None]
    result: DType | None = None


def how_to_keep(
    before: DialectAnswer, after: DialectAnswer, code: str, is_method: bool
) -> Keeping | None:
    """The smallest change that gives `after` the result of `before`; None if castwise knows
    none."""
    if before.decision is None:
        return None
    casts = next((c for c in _candidates(before.decision, after) if _helps(c, before, after)), None)
    if casts is None:
        return None
    hook = find_hook(after.question.dialect.framework)
    operands = after.question.operands
    text = _as_source(casts, [o.kind for o in operands], code, hook, is_method) if hook else None
    return Keeping(_in_words(casts, operands), text)


def _candidates(decision: Decision, after: DialectAnswer) -> Iterator[_Casts]:
    """Casts to try, the smallest changes first."""
    question = after.question
    first = 1 if question.is_assignment or question.op.is_condition_first else 0
    places = range(first, len(question.operands))
    arrays = [n for n in places if question.operands[n].dtype]
    numbers = [n for n in arrays if question.operands[n].role is Role.NUMPY_SCALAR]
    if len(arrays) > 1:  # two Python numbers give no array
        yield from (_Casts({n: None}) for n in numbers)
    for target in dict.fromkeys((decision.compute, decision.result)):
        yield from (_Casts({n: target}) for n in arrays)
        yield _Casts(dict.fromkeys(arrays, target))
        yield _Casts(dict.fromkeys(places, target))
    if not question.is_assignment and not question.out:
        yield _Casts({}, decision.result)


def _helps(casts: _Casts, before: DialectAnswer, after: DialectAnswer) -> bool:
    """Whether the dialect then gives the same dtype, computed in a dtype at least as wide."""
    question, wanted = after.question, before.decision
    assert wanted is not None  # candidates are built from a decision
    is_idle = all(_is_idle(question.operands[n], target) for n, target in casts.of.items())
    if is_idle and casts.result is None:
        return False
    operands = [
        _recast(o, casts.of[n]) if n in casts.of else o for n, o in enumerate(question.operands)
    ]
    try:
        found = answer_to(replace(question, operands=tuple(operands)))
    except UsageError:
        return False
    if found.result is None or found.decision is None:
        return False
    is_rich = _holds(found.decision.compute, wanted.compute)
    return is_rich and (casts.result or found.result) is wanted.result


def _is_idle(operand: Operand, target: DType | None) -> bool:
    return operand.dtype is not None and operand.dtype is target


def _holds(wide: DType, narrow: DType) -> bool:
    return wide is narrow or (
        wide.rank >= narrow.rank and wide.keeps_precision(narrow) and wide.keeps_range(narrow)
    )


def _recast(operand: Operand, target: DType | None) -> Operand:
    if target is None:
        assert operand.value is not None  # a NumPy scalar has a dtype
        return scalar_operand(operand.value)
    if operand.dtype is None:
        return Operand(target, Role.ZERO_D, None, ())
    return replace(operand, dtype=target, value=None if operand.is_zero_d else operand.value)


def _in_words(casts: _Casts, operands: tuple[Operand, ...]) -> str:
    if casts.result:
        return f"cast the result to {casts.result}"
    parts = []
    for place, target in casts.of.items():
        operand = operands[place]
        if target is None:
            parts.append(f"convert {operand} to a Python number")
        elif operand.dtype is None:
            parts.append(f"convert {operand} to a {target} array")
        elif operand.dtype is not target:
            parts.append(f"cast {operand} to {target}")
    return " and ".join(parts)


def _as_source(
    casts: _Casts, numbers: list[str], code: str, hook: Hook, is_method: bool
) -> str | None:
    """The casts as source for the framework: the whole expression of an operator, but only the
    arguments of a call, whose name may differ there. `numbers` are the Python types of the
    operands."""
    parts = _parts(code, is_method)
    if casts.result:
        return None if parts and parts.is_call else _cast_text(code, casts.result, hook)
    if parts is None or any(n >= len(parts.segments) for n in casts.of):
        return None
    new = list(parts.segments)
    for place, target in casts.of.items():
        if _is_number(new[place]) and target is not None:
            return None  # frameworks differ too much in how to make an array from a number
        number = f"{numbers[place]}({new[place]})"
        new[place] = number if target is None else _cast_text(new[place], target, hook)
    if parts.is_call:
        return ", ".join(new[place] for place in casts.of)
    return parts.glued(new)


@dataclass(frozen=True)
class _Parts:
    segments: tuple[str, ...]
    symbol: str  # the text between them
    is_call: bool = False

    def glued(self, segments: list[str]) -> str:
        """The expression with new operands."""
        if len(segments) == 1:
            return f"{self.symbol}{segments[0]}"
        return f" {self.symbol} ".join(segments)


def _parts(code: str, is_method: bool) -> _Parts | None:
    """The source text of an operation's operands, in order."""
    try:
        statement = ast.parse(code).body[0]
    except (SyntaxError, IndexError):
        return None
    node = statement.value if isinstance(statement, ast.Expr) else statement
    nodes: list[ast.expr]
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        nodes = (
            [node.left, node.right] if isinstance(node, ast.BinOp) else [node.target, node.value]
        )
    elif isinstance(node, ast.Compare):
        nodes = [node.left, node.comparators[0]]
    elif isinstance(node, ast.UnaryOp):
        nodes = [node.operand]
    elif isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
        owner = [node.func.value] if is_method and isinstance(node.func, ast.Attribute) else []
        nodes = [*owner, *node.args]
    else:
        return None
    segments = tuple(ast.get_source_segment(code, n) or "" for n in nodes)
    return _Parts(segments, _symbol(code, nodes), isinstance(node, ast.Call))


def _symbol(code: str, nodes: list[ast.expr]) -> str:
    """The text between two operands, or before one, without parentheses."""
    source = code.encode()
    if len(nodes) == 2:
        return source[nodes[0].end_col_offset : nodes[1].col_offset].decode().strip(" ()")
    return source[: nodes[0].col_offset].decode().strip(" (") if nodes else ""


def _is_number(code: str) -> bool:
    try:
        return isinstance(ast.literal_eval(code), (bool, int, float, complex))
    except (ValueError, SyntaxError):
        return False


def _cast_text(code: str, target: DType, hook: Hook) -> str:
    """An expression followed by a cast, as the framework writes it."""
    text = cast_to(code, f"{hook.spelling.alias}.{target}", hook, hook.spelling.alias)
    assert text is not None  # its module has a name
    return text
