"""A dialect as a whole: what an op gives for all pairs of dtypes, and which dtype reaches which."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from castwise.catalog import is_dialect_name, to_dialect
from castwise.engine.ask import answer, asked_form, asked_op, check_augmented, find_op
from castwise.engine.decision import Decision, Question
from castwise.engine.plan import Reach, dialect_reach
from castwise.errors import PromotionError, UsageError
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, quantity, repr_line
from castwise.vocab.dtypes import DType
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import Op

# Asking the engine for whole grids: an answer is a decision or a refusal, never an exception.

Outcome: TypeAlias = "Decision | PromotionError"
T = TypeVar("T")

CONDITION = parse_operand("bool[3]")  # the condition that `where` is given
# One Python scalar of each kind; its value is held by every dtype of that kind.
PYTHON_SCALARS = tuple(map(parse_operand, ("True", "1", "1.5", "1j")))


def outcome_of(question: Question) -> Outcome:
    """The decision, or the refusal where the dialect refuses.

    Raises UsageError where the question makes no sense.
    """
    try:
        return answer(question)
    except PromotionError as refusal:
        return refusal


def arranged(row: Op, condition: T, left: T, right: T) -> tuple[T, ...]:
    """A pair as the operands of an op: only the left where the op takes one operand, the right
    twice where it takes three, after the condition where it has one."""
    if row.is_condition_first:
        return condition, left, right
    return (left, right, right)[: max(2, row.arity[0])][: row.arity[1]]


def _pair_question(row: Op, left: Operand, right: Operand, dialect: Dialect, form: str) -> Question:
    """The question an op is asked with a pair of operands."""
    return Question(row, arranged(row, CONDITION, left, right), dialect, form)


def default_form(row: Op) -> str:
    """The operator where there is one, as in resolve."""
    return "operator" if row.symbol else "function"


@dataclass(frozen=True, slots=True, repr=False)
class Table(Shown):
    """The outcomes of an op over rows and columns of operands; its text is the table.

    >>> print(table("lt", "array-api", columns=["scalars"]))  # doctest: +ELLIPSIS
    row < column in array-api
    <BLANKLINE>
          True     1   1.5    1j
    bool     -     -     -     -
    i8       -  bool     -     -
    ...
    """

    op: Op
    dialect: Dialect
    form: str
    rows: tuple[Operand, ...]
    columns: tuple[tuple[Operand, ...], ...]  # in groups; none where the op takes one operand
    cells: tuple[tuple[Outcome, ...], ...]

    @property
    def title(self) -> str:
        """The question the cells answer, such as "row + column in torch"."""
        words = arranged(self.op, "condition", "row", "column")
        symbol = None if self.form == "function" else self.op.symbol
        if self.form == "augmented":
            symbol = f"{symbol}="
        call = f"{self.op.name}({', '.join(words)})"
        asked = f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}row"
        return f"{asked if symbol else call} in {self.dialect.name}"

    def __repr__(self) -> str:
        cells = [cell for row in self.cells for cell in row]
        refused = sum(isinstance(cell, PromotionError) for cell in cells)
        return repr_line("Table", self.title, f"{len(cells):,} answers, {refused:,} refused")


_COLUMNS = ("arrays", "0-d", "scalars")  # what they may be


def _operands(column: str, dialect: Dialect) -> tuple[Operand, ...]:
    if column == "scalars":
        return PYTHON_SCALARS
    return tuple(array_operand(d, () if column == "0-d" else (3,)) for d in dialect.dtypes)


def table(
    op: Any = "add",
    dialect: Any = None,
    *,
    form: str | None = None,
    columns: Sequence[str] = ("arrays", "scalars"),
) -> Table:
    """The answers of an op for every pair of dtypes of a dialect.

    The op and the dialect may be given in either order. The rows are arrays. The columns are the
    named groups: "arrays", "0-d" and "scalars".

    >>> "int16" in str(table("add", "array-api"))
    False
    >>> "i16" in str(table("add", "array-api"))
    True

    Raises UsageError for an unknown name.
    """
    if isinstance(op, Dialect) or is_dialect_name(op):  # in the order of the command line
        op, dialect = "add" if dialect is None else dialect, op
    resolved = to_dialect(dialect)
    row = find_op(op, resolved)
    chosen = asked_form(row, form or asked_op(op).form, is_named=False)
    if chosen == "operator" and not row.symbol:
        raise UsageError(f"{row.name} has no operator; leave out form, or say 'function'.")
    if chosen == "augmented":
        check_augmented(row, 2, {})
    for name in columns:
        if name not in _COLUMNS:
            raise UsageError(f"columns are {', '.join(_COLUMNS)}; not {name[:40]!r}.")
    rows = _operands("arrays", resolved)
    groups = tuple(_operands(name, resolved) for name in columns) if row.arity[1] > 1 else ()
    cells = []
    for left in rows:
        others = [right for group in groups or [(left,)] for right in group]
        asked = [_pair_question(row, left, right, resolved, chosen) for right in others]
        cells.append(tuple(map(outcome_of, asked)))
    return Table(row, resolved, chosen, rows, groups, tuple(cells))


# A table in which one narrow dtype represents those with the same row and column.

_FEW = 3  # two that are alike are shown both
_BYTE = 8


class Alike(NamedTuple):
    """A dtype with a row, and those it represents."""

    shown: DType
    others: tuple[DType, ...]


def folded_alike(table: Table) -> tuple[Table, list[Alike]]:
    """The table without the rows and columns of dtypes that another represents, and a list of them.

    Only narrow dtypes are left out, of which some framework has seventeen; every format for
    programs has them all.
    """
    groups: dict[object, list[DType]] = {}
    for place, row in enumerate(table.rows):
        if row.dtype is not None and _is_narrow(row.dtype) and _joins_none_alike(table, place):
            groups.setdefault(_key(table, place), []).append(row.dtype)
    alike = [Alike(first, tuple(rest)) for first, *rest in groups.values() if len(rest) + 1 >= _FEW]
    hidden = {dtype for group in alike for dtype in group.others}
    return _without(table, hidden), alike


def lacks_kernels(table: Table, dtype: DType) -> bool:
    """Whether a dtype with itself promotes, but has no kernel to run."""
    found = [cell for row, _, cell in _cells(table) if row is dtype]
    return any(isinstance(cell, Decision) and not cell.has_kernel for cell in found)


def _is_narrow(dtype: DType) -> bool:
    """Whether it is below a byte, or a float of one byte; bool is not a narrow integer."""
    return dtype.kind != "bool" and dtype.bits <= _BYTE - (dtype.kind == "int")


def _cells(table: Table) -> Iterator[tuple[DType | None, DType | None, Outcome]]:
    """Each cell with the dtypes of its row and its column; a Python number has none."""
    columns = [operand.dtype for group in table.columns for operand in group] or [None]
    for row, cells in zip(table.rows, table.cells, strict=True):
        for column, cell in zip(columns, cells, strict=True):
            yield row.dtype, column, cell


def _joins_none_alike(table: Table, place: int) -> bool:
    """Whether a narrow dtype is refused with all the others of its kind, in columns or not."""
    own = table.rows[place]
    others = [row for row in table.rows if _is_sibling(row.dtype, own.dtype)]
    if table.op.arity[1] == 1:
        return True
    pairs = [pair for other in others for pair in ((own, other), (other, own))]
    asked = [_pair_question(table.op, *pair, table.dialect, table.form) for pair in pairs]
    return not any(isinstance(outcome_of(question), Decision) for question in asked)


def _key(table: Table, place: int) -> object:
    """The content of a row and a column, without the dtype's own name."""
    own = table.rows[place].dtype
    cells = [
        (_other(row, own), _other(column, own), _cell_text(cell, own))
        for row, column, cell in _cells(table)
        if own in (row, column) and not _is_sibling(row, own) and not _is_sibling(column, own)
    ]
    return own and own.kind, tuple(cells)


def _is_sibling(dtype: DType | None, own: DType | None) -> bool:
    """Whether it is another narrow dtype of the same kind."""
    if dtype is None or own is None:
        return False
    return dtype is not own and _is_narrow(dtype) and dtype.kind == own.kind


def _other(dtype: DType | None, own: DType | None) -> DType | str | None:
    return "itself" if dtype is own else dtype


def _cell_text(cell: Outcome, own: DType | None) -> object:
    return (_other(cell.result, own), cell.is_weak) if isinstance(cell, Decision) else None


def _without(table: Table, hidden: set[DType]) -> Table:
    columns = [operand for group in table.columns for operand in group]
    kept = [place for place, operand in enumerate(columns) if operand.dtype not in hidden] or [0]
    rows = [place for place, operand in enumerate(table.rows) if operand.dtype not in hidden]
    return replace(
        table,
        rows=tuple(table.rows[r] for r in rows),
        columns=tuple(tuple(o for o in group if o.dtype not in hidden) for group in table.columns),
        cells=tuple(tuple(table.cells[r][c] for c in kept) for r in rows),
    )


# Which dtype becomes which, with only the arrows that are needed.


class Edge(NamedTuple):
    """An arrow from a dtype to one it reaches."""

    source: DType
    target: DType
    goes_on: bool  # the source reaches all that the target reaches; else only the target


@dataclass(frozen=True, slots=True, repr=False)
class Lattice(Shown):
    """A dialect's dtypes and weak nodes, and the arrows between them; its text is the report."""

    dialect: Dialect
    nodes: tuple[DType, ...]  # those an arrow leads from or to, in the dialect's order
    edges: tuple[Edge, ...]
    apart: tuple[DType, ...]  # those that join with nothing else
    truncated: dict[DType, DType]  # those no array has, and what it has instead

    @property
    def title(self) -> str:
        return f"What reaches what in {self.dialect.name}"

    @property
    def twins(self) -> tuple[tuple[DType, ...], ...]:
        """The nodes in groups of one kind and the same arrows, which a picture shows in one box.

        Two side by side in the middle of the picture are not grouped; more would crowd it.
        """
        groups: dict[tuple[object, ...], list[DType]] = {}
        for node in self.nodes:
            below = frozenset((e.source, e.goes_on) for e in self.edges if e.target is node)
            above = frozenset((e.target, e.goes_on) for e in self.edges if e.source is node)
            groups.setdefault((node.kind, below, above), []).append(node)
        found: list[tuple[DType, ...]] = []
        for key, group in groups.items():
            is_pair = len(group) == 2 and all(key)  # with arrows to it and from it
            found += [(node,) for node in group] if is_pair else [tuple(group)]
        return tuple(found)

    def __repr__(self) -> str:
        arrows = quantity(len(self.edges), "arrow")
        apart = f"{len(self.apart)} apart" if self.apart else ""
        nodes = quantity(len(self.nodes), "dtype")
        return repr_line("Lattice", self.dialect.name, f"{nodes} and {arrows}", apart)


def lattice(dialect: str | Dialect | None = None) -> Lattice:
    """What each dtype of a dialect reaches.

    >>> [str(edge.target) for edge in lattice("array-api").edges if edge.source.name == "uint8"]
    ['int16', 'uint16']

    Raises UsageError for an unknown name.
    """
    chosen = to_dialect(dialect)
    reach = dialect_reach(chosen)
    edges = tuple(edge for source in reach.order for edge in _edges(reach, source))
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    truncated = chosen.truncations
    nodes = tuple(node for node in reach.order if node in joined)
    apart = tuple(n for n in reach.order if n not in joined and n not in truncated)
    return Lattice(chosen, nodes, edges, apart, truncated)


def _edges(reach: Reach, source: DType) -> list[Edge]:
    """The arrows from a dtype that do not follow from others."""
    masks = reach.masks
    reached = [t for t in reach.order if t is not source and reach.reaches(source, t)]
    onward = [t for t in reached if masks[t] & ~masks[source] == 0]
    for target in reversed(list(onward)):
        others = _covered(masks[t] for t in onward if t is not target)
        if masks[target] & ~others == 0:
            onward.remove(target)
    covered = _covered(masks[t] for t in onward)
    ending = [t for t in reached if not reach.bits[t] & covered]
    return [Edge(source, t, t in onward) for t in reached if t in onward or t in ending]


def _covered(masks: Iterable[int]) -> int:
    """Everything in any of some masks."""
    return functools.reduce(operator.or_, masks, 0)
