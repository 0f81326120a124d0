"""What to write instead of an operation that its dialect refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from castwise.auditing.fixing.edits import is_simple, operands_of
from castwise.auditing.fixing.scopes import module_at, statement_around
from castwise.auditing.fixing.wording import cast_to
from castwise.auditing.hook import Hook
from castwise.auditing.records.places import LocatedSite, SourcePlace
from castwise.auditing.rewriting.source import lines_at, text_at
from castwise.engine.decision import Question
from castwise.vocab.operands import Operand


class Instead(NamedTuple):
    """New text for an operation, and the question that it asks."""

    text: str
    question: Question
    does: str


def instead_of(question: Question, located: LocatedSite, hook: Hook) -> Iterator[Instead]:
    """Other ways to write an operation, the ones that keep every value first."""
    code = text_at(located.place)
    yield from _not_in_place(question, code, located.place)
    yield from _with_one_dtype(question, code, located.place, hook)


def _not_in_place(question: Question, code: str, place: SourcePlace) -> Iterator[Instead]:
    """The same operation with a new array as its result."""
    does = "the result is a new array"
    if question.form == "augmented":
        tree = ast.parse(code).body[0]
        texts = operands_of(code)
        if isinstance(tree, ast.AugAssign) and texts and is_simple(texts[0]):
            value = texts[1] if _is_closed(tree.value) else f"({texts[1]})"
            text = f"{texts[0]} = {texts[0]} {question.op.symbol} {value}"
            yield Instead(text, replace(question, form="operator"), does)
    elif question.inplace and _is_statement(place):
        call = _call(code)
        method = call.func if call else None
        if isinstance(method, ast.Attribute) and method.attr.endswith("_"):
            owner = ast.get_source_segment(code, method.value) or ""
            if is_simple(owner):
                rest = code[len(owner) :].replace(method.attr, method.attr.rstrip("_"), 1)
                text = f"{owner} = {owner}{rest}"
                yield Instead(text, replace(question, inplace=False), does)


def _is_closed(node: ast.expr) -> bool:
    """Whether an expression needs no brackets as an operand."""
    return isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))


def _is_statement(place: SourcePlace) -> bool:
    """Whether an expression is a whole statement, so that its value is not used."""
    first, last = statement_around(place.file, place.line, place.end_line)
    if (first, last) != (place.line, place.end_line):
        return False
    try:
        (statement,) = ast.parse("\n".join(lines_at(place))).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _with_one_dtype(
    question: Question, code: str, place: SourcePlace, hook: Hook
) -> Iterator[Instead]:
    """The same operation with one array cast to the dtype of another that holds its values."""
    nodes = _operand_nodes(code)
    if nodes is None or len(nodes) < len(question.operands):
        return
    texts = [ast.get_source_segment(code, node) or "" for node in nodes]
    module = module_at(place.file, place.line, hook.spelling.names)
    for target, other in enumerate(question.operands):
        for cast, operand in enumerate(question.operands):
            if not _may_become(operand, other) or not is_simple(texts[target]):
                continue
            text = cast_to(texts[cast], f"{texts[target]}.dtype", hook, module)
            whole = _replaced(code, nodes[cast], text) if text else None
            if whole:
                asked = list(question.operands)
                asked[cast] = replace(operand, dtype=other.dtype)
                does = f"casts {texts[cast]} to the dtype of {texts[target]}"
                yield Instead(whole, replace(question, operands=tuple(asked)), does)


def _may_become(operand: Operand, other: Operand) -> bool:
    """Whether a cast to the other's dtype loses nothing that integers and floats both hold."""
    source, target = operand.dtype, other.dtype
    if source is None or target is None or source == target:
        return False
    return target.holds(source) or (target.kind == "float" and source.kind == "int")


def _operand_nodes(code: str) -> list[ast.expr] | None:
    """The operands of an operator or of a call, a method's own array first."""
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    tree = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(tree, ast.BinOp):
        return [tree.left, tree.right]
    if isinstance(tree, ast.Compare) and len(tree.comparators) == 1:
        return [tree.left, tree.comparators[0]]
    if isinstance(tree, ast.AugAssign):
        return None  # its array is fixed
    if not isinstance(tree, ast.Call) or tree.keywords:
        return None
    return tree.args


def _call(code: str) -> ast.Call | None:
    tree = ast.parse(code, mode="eval").body
    return tree if isinstance(tree, ast.Call) else None


def _replaced(code: str, node: ast.expr, text: str) -> str | None:
    if node.lineno != 1 or node.end_lineno != 1 or node.end_col_offset is None:
        return None
    raw = code.encode()
    return (raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]).decode()
