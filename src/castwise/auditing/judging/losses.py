"""The values that a program lost, by line."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, replace

from castwise.auditing.records.losses import SeenLoss
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at

# What is done with a result that is meant to wrap, as in a hash: `(x * 31 + y) & mask`.
_CUTTING = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.Mod)


@dataclass(frozen=True, slots=True)
class LostValues:
    """Values that a line lost."""

    place: SourcePlace
    what: str
    how: str
    count: int  # runs that lost values
    lost: int  # elements
    elements: int  # of these runs
    example: str

    @property
    def code(self) -> str:
        """The source."""
        return text_at(self.place)


def losses_of(seen: Seen) -> tuple[LostValues, ...]:
    """What was lost, without what an expression cuts anyway, in the order of the source."""
    found: dict[object, LostValues] = {}
    for loss in seen.losses:
        place = seen.sites[loss.mark].place
        if not _is_cut(place):
            _add(found, loss, place)
    return tuple(sorted(found.values(), key=lambda lost: lost.place))


def _add(found: dict[object, LostValues], loss: SeenLoss, place: SourcePlace) -> None:
    key = place, loss.what, loss.how
    old = found.get(key)
    new = LostValues(place, loss.what, loss.how, loss.count, loss.lost, loss.elements, loss.example)
    if old is not None:
        new = replace(old, count=old.count + new.count, lost=old.lost + new.lost,
                      elements=old.elements + new.elements)  # fmt: skip
    found[key] = new


def _is_cut(place: SourcePlace) -> bool:
    """Whether the expression around a place cuts its result with a bit operation or `%`."""
    here = _span(place.line, place.column - 1, place.end_line, place.end_column - 1)
    return any(
        _is_inside(here, other) for other in _cuts_in("".join(linecache.getlines(place.file)))
    )


_Span = tuple[tuple[int, int], tuple[int, int]]


def _span(line: int, column: int, end_line: int, end_column: int) -> _Span:
    return (line, column), (end_line, end_column)


def _is_inside(one: _Span, other: _Span) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


@functools.lru_cache(maxsize=64)
def _cuts_in(source: str) -> tuple[_Span, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(_spans(ast.walk(tree)))


def _spans(nodes: Iterable[ast.AST]) -> Iterable[_Span]:
    for node in nodes:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _CUTTING):
            yield _span(
                node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
            )
