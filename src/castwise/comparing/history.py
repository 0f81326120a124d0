"""What each release of a framework changed, from the recorded answers in which two differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from castwise.catalog import (
    LayerCell,
    dialect_named,
    framework_named,
    layer_cells,
    layer_lines,
    layers,
)
from castwise.engine.decision import Question
from castwise.engine.recorded import cell_question
from castwise.errors import UsageError, did_you_mean
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS as DTYPE_KINDS
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import NO_KERNEL, REFUSED
from castwise.vocab.operands import Operand, Role

# What became of an answer, in the words of reports.
KINDS = {
    "another dtype": "the result has another dtype",
    "refused": "taken before, refused now",
    "taken": "refused before, taken now",
    "runs": "there is a kernel now",
    "does not run": "there is no kernel any more",
}


class Change(NamedTuple):
    """A question that a release answers otherwise than the one before."""

    cell: LayerCell
    before: str
    after: str

    @property
    def kind(self) -> str:
        """One of KINDS, or "" where it is the same to a user."""
        refused = self.before.startswith(REFUSED), self.after.startswith(REFUSED)
        runs = _runs(self.before), _runs(self.after)
        if not self.before or not self.after or all(refused):
            return ""
        if any(refused):
            is_run = runs[0] or runs[1]
            return ("taken" if refused[0] else "refused") if is_run else ""
        if runs[0] != runs[1]:
            return "runs" if runs[1] else "does not run"
        return "another dtype" if runs[0] else ""


class ChangeGroup(NamedTuple):
    """Changes alike in kind, and in the kinds and roles of their operands."""

    kind: str
    changes: tuple[Change, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.cell.op for change in self.changes))

    @property
    def example(self) -> Change:
        """The change whose dtypes are best known."""
        return min(self.changes, key=_strangeness)

    @property
    def text(self) -> str:
        """What changed, in words: "bfloat16 with 0-d complex: complex64 -> bcomplex32"."""
        columns = zip(*[_sorted_operands(change) for change in self.changes], strict=True)
        mix = " with ".join(_mix_text(list(column)) for column in columns)
        if self.kind != "another dtype":
            return mix
        before = _names_text({change.before for change in self.changes})
        after = _names_text({change.after for change in self.changes})
        return f"{mix}: another {after}" if before == after else f"{mix}: {before} -> {after}"


@dataclass(frozen=True, slots=True)
class Release:
    """What a release changed, beside the one before it that is recorded."""

    dialect: Dialect
    before: Dialect
    version: str
    groups: tuple[ChangeGroup, ...]
    new_dtypes: tuple[str, ...]
    new_ops: tuple[str, ...]
    is_other_rules: bool  # the two were written as separate rules: `castwise diff` compares them

    @property
    def count(self) -> int:
        return sum(len(group.changes) for group in self.groups)


def history(framework: str, op: str | None = None) -> tuple[Release, ...]:
    """What the recorded releases of a framework changed, the newest first, in one op or in all.

    Raises UsageError for a framework without recorded releases.
    """
    name = framework_named(framework)
    known = recorded_releases(name)
    if len(known) < 2:
        listed = sorted({layer.framework for layer in layers().values() if layer.version})
        raise UsageError(
            f"no releases of {framework[:40]!r} are recorded.{did_you_mean(framework, listed)}"
            f" There are those of {', '.join(listed)}."
        )
    return tuple(_release(*pair, op) for pair in reversed(list(pairwise(known))))


def released_after(releases: Iterable[Release], version: str) -> tuple[Release, ...]:
    """Those after a version, such as 2.8.

    Raises UsageError for text that is no version, or where there are none.
    """
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})*", version):
        raise UsageError(f"{version[:40]!r} is no version: write numbers, as in 2.8.")
    wanted = tuple(map(int, version.split(".")))
    known = list(releases)
    found = [r for r in known if version_numbers(r.dialect)[: len(wanted)] > wanted]
    if not found:
        newest = known[0].version
        raise UsageError(f"no release after {version} is recorded; the newest is {newest}.")
    return tuple(found)


def recorded_releases(framework: str) -> list[Dialect]:
    """The dialects of a framework's recorded releases, the oldest first, without its modes and
    without rules that only a document tells."""
    own = [one for one in layers().values() if one.framework == framework and not one.mode]
    named = dict.fromkeys(name for layer in own for name in (layer.name, layer.below))
    return sorted(map(dialect_named, named), key=version_numbers)


def release_name(dialect: Dialect) -> str:
    """The release that a dialect was recorded from."""
    return dialect.naming.recorded or dialect.version


def version_numbers(dialect: Dialect) -> tuple[int, ...]:
    """A release as numbers, which sort."""
    return tuple(map(int, re.findall(r"\d+", release_name(dialect))))


def _release(before: Dialect, after: Dialect, op: str | None) -> Release:
    changes = list(_changes(before, after, op))
    grouped: dict[object, list[Change]] = {}
    for change in changes:
        if change.kind:
            grouped.setdefault(_group_key(change), []).append(change)
    groups = [ChangeGroup(some[0].kind, tuple(some)) for some in grouped.values()]
    order = list(KINDS)
    groups.sort(key=lambda group: (order.index(group.kind), -len(group.changes)))
    gone = before.evidence.lacks.split()
    new = [word for word in gone if word not in after.evidence.lacks.split()]
    dtypes = [d.name for d in after.dtypes if d.name in new or d not in before.dtypes]
    return Release(
        after,
        before,
        release_name(after),
        tuple(groups),
        tuple(dict.fromkeys(dtypes)),
        tuple(word for word in new if word not in dtypes),
        _between(before, after) is None,
    )


def _between(before: Dialect, after: Dialect) -> str | None:
    """The layer that has the difference of two releases; None where they have none in common."""
    for upper, lower in ((before, after), (after, before)):
        layer = layers().get(upper.name)
        if layer and layer.below == lower.name:
            return layer.name
    return None


def _changes(before: Dialect, after: Dialect, op: str | None) -> Iterator[Change]:
    name = _between(before, after)
    if name is None:
        return
    is_of_before = name == before.name
    for each in [op] if op else layer_lines(name):
        for cell in layer_cells(name, each):
            answers = (cell.answer, cell.below) if is_of_before else (cell.below, cell.answer)
            yield Change(cell, *answers)


def _runs(answer: str) -> bool:
    return not answer.startswith((NO_KERNEL, REFUSED))


def question(change: Change) -> Question:
    """The question of a change, in the release that it was recorded from."""
    cell = change.cell
    return cell_question(cell.op, cell.form, cell.operands.split(";"), None)  # type: ignore[arg-type]


def _sorted_operands(change: Change) -> list[Operand]:
    """What is promoted, arrays first: most changes hold in either order."""
    asked = question(change)
    place = asked.op.apart(asked.operands)
    promoted = [o for i, o in enumerate(asked.operands) if i != place]
    return sorted(promoted, key=_sort)


def _sort(operand: Operand) -> tuple[bool, str, bool]:
    return operand.dtype is None, operand.kind, operand.is_weak


def _group_key(change: Change) -> object:
    kinds = [_answer_kind(answer) for answer in (change.before, change.after)]
    is_written = change.cell.form.partition("=")[0] in ("out", "inplace", "augmented")
    sorts = tuple(map(_sort, _sorted_operands(change)))
    return change.kind, sorts, is_written, *(kinds if change.kind == "another dtype" else ())


def _answer_kind(answer: str) -> str:
    name = answer.rstrip("*")
    return dtype(name).kind if _runs(answer) else name


_PLAIN_FORMS = ("operator", "function")


def _mix_text(column: list[Operand]) -> str:
    """What the operands in one place have in common."""
    first = column[0]
    if first.is_scalar:
        return f"a Python {first.kind}"
    if first.role is Role.LIST:
        return "a list"
    text = _names_text({o.dtype.name for o in column if o.dtype})
    roles = {o.role for o in column}
    if len(roles) == 1 and first.role is not Role.ARRAY:
        text += f" ({first.role.value})"
    return f"weak {text}" if first.is_weak else text


def _names_text(names: set[str]) -> str:
    """Some dtypes by name, many by their kind."""
    if len(names) <= 3:
        return " or ".join(sorted(names, key=_place))
    kinds = {dtype(name.rstrip("*")).kind for name in names}
    return " or ".join(kind for kind in DTYPE_KINDS if kind in kinds)


def _place(name: str) -> tuple[int, str]:
    found = dtype(name.rstrip("*"))
    return found.bits, name


def _strangeness(change: Change) -> tuple[int, int]:
    """How far a change is from what everybody knows, in its form and in its operands."""
    form = _PLAIN_FORMS.index(change.cell.form) if change.cell.form in _PLAIN_FORMS else 2
    return form, strangeness(question(change).operands)


def strangeness(operands: Iterable[Operand]) -> int:
    """How far some operands are from int32 and float32, which everybody knows."""
    dtypes = [o.dtype for o in operands if o.dtype]
    return sum(abs(d.bits - 32) + (not d.is_signed) for d in dtypes)
