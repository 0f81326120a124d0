"""The operation that raised the error a program ends with, read from the error's traceback.

Python keeps an error that nothing catches, with its frames. Nothing runs in the program before it
has ended.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from castwise.auditing.arrays import ARRAYS, Note, hooks_seen, note
from castwise.auditing.calls import Callee, PendingCall, is_observed
from castwise.auditing.log import SITES, PendingOperation, Tally, instruction_spot
from castwise.auditing.observers import NOTES
from castwise.auditing.records import CodeSpot, Crash, CrashedOperation, LocatedSite, Site
from castwise.auditing.rewriting import (
    SITES_PER_FILE,
    SYMBOLS,
    dotted,
    first_mark,
    full_path,
    literal,
)
from castwise.auditing.saved import site_at, tallied_event
from castwise.auditing.source import text_at
from castwise.errors import PromotionError

_MOST_CAUSES = 8
_UNKNOWN = object()


def last_crash() -> Crash | None:
    """The error that ended this program, if it was raised below a line of the user; None if the
    program ended otherwise."""
    error = getattr(sys, "last_value", None)
    if not isinstance(error, Exception) or not _ended_the_program(error.__traceback__):
        return None
    return crash_from(error)


def crash_from(error: Exception) -> Crash | None:
    """An error that ends a program; None if no line of the user led to it."""
    for _ in range(_MOST_CAUSES):  # what raised it in the first place
        if not isinstance(error.__cause__, Exception) or not _users(error.__cause__):
            break
        error = error.__cause__
    users = _users(error)
    return _crash(error, users) if users else None


def _ended_the_program(trace: TracebackType | None) -> bool:
    """Whether an error passed the program's lowest frame. Others that are kept, such as those of
    failed tests, were caught."""
    if trace is None:
        return False
    frame = trace.tb_frame
    is_main = frame.f_globals.get("__name__") == "__main__" and frame.f_code.co_name == "<module>"
    return is_main or frame.f_globals.get("__name__") == "runpy"


def _users(error: BaseException) -> list[TracebackType]:
    """The steps of a traceback from the innermost one of the user on."""
    steps, trace = [], error.__traceback__
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    places = [n for n, step in enumerate(steps) if is_observed(step.tb_frame.f_code)]
    return steps[places[-1] :] if places else []


def _crash(error: Exception, steps: list[TracebackType]) -> Crash:
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    users, *libraries = steps
    if isinstance(error, PromotionError):  # castwise's own words: they name the dialect in force
        return Crash(text, _spot(users), (), is_about_dtypes=True)
    operations = [*_users_operations(users)]
    for step in reversed(libraries):
        operations += _library_operation(step)
    return Crash(
        text,
        _spot(users),
        tuple(o for o in operations if o.event.arrays),
        _spot(libraries[-1]) if libraries else None,
        any(re.search(p, text) for hook in hooks_seen() for p in hook.inside.dtype_errors),
    )


def _spot(step: TracebackType) -> CodeSpot:
    spot = instruction_spot(step.tb_frame.f_code, step.tb_lasti, step.tb_lineno)
    return spot._replace(file=full_path(spot.file))


def _users_operations(step: TracebackType) -> Iterator[CrashedOperation]:
    """The operations at the line of the user that raised, the innermost first."""
    spot = _spot(step)
    first = first_mark(spot.file)
    sites = [(m, s) for m, s in SITES.items() if first <= m < first + SITES_PER_FILE]
    exact = [(m, s) for m, s in sites if s[:4] == spot[1:]]
    on_line = [(m, s) for m, s in sites if s.line <= spot.line <= s.end_line]
    on_line.sort(key=lambda at: (at[1].end_line - at[1].line, at[1].end_column - at[1].column))
    found = (_operation(mark, site, step.tb_frame) for mark, site in exact or on_line)
    yield from filter(None, found)


def _operation(mark: int, site: Site, frame: FrameType) -> CrashedOperation | None:
    located = site_at(mark)
    if site.kind == "call":
        called = NOTES.get((mark, id(frame)))
        if not isinstance(called, PendingCall):
            return None
        known = tuple(called.notes)
        return _crashed(PendingOperation(mark, called.callee, known, called.flags), located)
    nodes = _operands(_parsed(text_at(located.place)))
    if len(nodes) != len(site.literals):
        return None
    notes = []
    for place, node in zip((mark, ~mark), nodes, strict=False):
        noted = NOTES.get((place, id(frame)), _UNKNOWN)
        notes.append(_noted(node, frame) if noted is _UNKNOWN else noted)
    return _crashed(PendingOperation(mark, None, tuple(notes)), located)


def _crashed(pending: PendingOperation, located: LocatedSite) -> CrashedOperation:
    event = tallied_event(pending.key, Tally(pending.operands, None))
    return CrashedOperation(event, located)


def _library_operation(step: TracebackType) -> Iterator[CrashedOperation]:
    """The call or operator a library's frame is at, with the operands that can be read without
    running any code."""
    spot, frame = _spot(step), step.tb_frame
    node = _parsed(text_at(spot.place).strip())
    if isinstance(node, ast.Call):
        yield from _library_call(node, spot, frame)
    elif isinstance(node, ast.BinOp):
        nodes = _operands(node)
        literals = tuple(literal(n) for n in nodes)
        site = Site(*spot[1:], "operator", SYMBOLS[type(node.op)], literals)
        notes = tuple(_noted(n, frame) for n in nodes)
        yield _crashed(PendingOperation(0, None, notes), LocatedSite(spot.file, site))


def _library_call(node: ast.Call, spot: CodeSpot, frame: FrameType) -> Iterator[CrashedOperation]:
    name = (dotted(node.func) or "").rpartition(".")[2]
    notes = [_noted(argument, frame) for argument in node.args]
    arrays = [n for n in notes if type(n) is Note]
    if not name or not arrays:
        return
    module = ARRAYS[arrays[0].signature.kind].hook.framework
    called = PendingCall(Callee(module, name), notes)
    site = Site(*spot[1:], "call", name, ())
    pending = PendingOperation(0, called.callee, tuple(notes), called.flags)
    yield _crashed(pending, LocatedSite(spot.file, site))


def _parsed(code: str) -> ast.AST | None:
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    return statement.value if isinstance(statement, (ast.Expr, ast.Return)) else statement


def _operands(node: ast.AST | None) -> list[ast.expr]:
    """The operands of an operator, in place or not."""
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def _noted(node: ast.expr, frame: FrameType) -> Any:
    """The note of an expression's value."""
    number = literal(node)
    return note(_value(node, frame)) if number is None else number


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name or of an attribute of one, without running code; None if unknown."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        return _attribute(_value(node.value, frame), node.attr)
    return None


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that an object holds itself, or in one of the dicts that hooks name."""
    held = getattr(owner, "__dict__", None)
    if type(held) is not dict:
        return None
    if name in held:
        return held[name]
    for hook in hooks_seen():
        for part in hook.arrays.held_in.split():
            found = held.get(part)
            if isinstance(found, dict) and name in found:
                return found[name]
    return None
