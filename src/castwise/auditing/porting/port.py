"""What the operations of a program would compute in another dialect, grouped by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from castwise.auditing.finding.operations import Harmless, NotUnderstood, framework_of, understand
from castwise.auditing.hook import find_hook
from castwise.auditing.porting.answers import DialectAnswer, answer_to, questions_in
from castwise.auditing.porting.keeping import Keeping, how_to_keep
from castwise.auditing.porting.reasons import default_reason, reason_of
from castwise.auditing.records.events import Event, arrays_in
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at
from castwise.engine.decision import cast_between
from castwise.errors import UsageError
from castwise.rules.catalog import dialect_named
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, counted, line_of
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import held_value

REFUSED, ACCEPTED = "refused", "accepted"
OTHER_DTYPE, OTHER_VALUES = "other dtype", "other values"
KINDS = (REFUSED, OTHER_DTYPE, OTHER_VALUES, ACCEPTED)  # worst first


@dataclass(frozen=True, slots=True, repr=False)
class PortChange:
    """An operation that the other dialect answers differently."""

    kind: str  # one of KINDS
    reason: str
    place: SourcePlace
    code: str
    asked: str  # the operation in castwise's notation
    before: str  # a dtype, or "refused"
    after: str
    hazards: tuple[str, ...]  # of a cast from the old dtype to the new
    keep: Keeping | None  # what to write to keep the result
    count: int

    def __repr__(self) -> str:
        change = f"{self.before} -> {self.after}"
        return line_of("PortChange", f"{self.place.brief}: {self.asked}", change)


@dataclass(frozen=True, slots=True, repr=False)
class Port(Shown):
    """What changes when a program moves from one dialect to another."""

    source: Dialect
    target: Dialect
    changes: tuple[PortChange, ...]  # worst first
    same: int  # operations that do not change
    others: Counter[str]  # operations of other frameworks, not checked
    not_understood: Counter[str]
    unexpected: Counter[str]  # the framework itself did not answer as its dialect says

    def __repr__(self) -> str:
        kinds = Counter(change.kind for change in self.changes)
        changed = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
        changes = counted(len(self.changes), "change") + (f" ({changed})" if changed else "")
        same = f"{counted(self.same, 'operation')} unchanged"
        return line_of("Port", f"{self.source.name} to {self.target.name}", changes, same)

    @property
    def groups(self) -> dict[str, list[PortChange]]:
        """The changes by reason."""
        found: dict[str, list[PortChange]] = {}
        for change in self.changes:
            found.setdefault(change.reason, []).append(change)
        return found


def port_of(seen: Seen, target: str | Dialect, source: str | Dialect | None = None) -> Port:
    """What a program would compute in the dialect `target`. `source` is the dialect it is written
    for: by default the one that ran most of its operations.

    Raises UsageError for an unknown dialect.
    """
    old = to_dialect(source if source is not None else _most_used_dialect(seen))
    sorter = _Sorter(old, to_dialect(target), seen)
    for event in (*seen.events, *seen.attempts):
        sorter.judge(event)
    changes = sorted(sorter.changes.values(), key=lambda c: (KINDS.index(c.kind), c.place))
    return Port(old, sorter.target, tuple(changes), sorter.same, sorter.others, sorter.unclear,
                sorter.unexpected)  # fmt: skip


def _most_used_dialect(seen: Seen) -> str:
    counts: Counter[str] = Counter()
    for event in seen.events:
        counts[framework_of(event)] += event.count
    dialects = seen.facts.dialects
    used = [dialects[name] for name, _ in counts.most_common() if name in dialects]
    if not used:
        raise UsageError(
            "no operation on arrays was seen: give --from, or run more of the program."
        )
    return used[0]


class _Sorter:
    """Sorts events into unchanged and changed ones."""

    def __init__(self, source: Dialect, target: Dialect, seen: Seen) -> None:
        self.source, self.target, self._seen = source, target, seen
        self._dialects = seen.facts.dialects | {source.framework: source.name}
        running = seen.facts.dialects.get(source.framework)
        self._runs_source = running is not None and dialect_named(running) is source
        self.changes: dict[object, PortChange] = {}
        self.same = 0
        self.others: Counter[str] = Counter()
        self.unclear: Counter[str] = Counter()
        self.unexpected: Counter[str] = Counter()

    def judge(self, event: Event) -> None:
        """Judges an event."""
        count, framework = event.count, framework_of(event)
        if framework != self.source.framework:
            self.others[framework] += count
            return
        try:
            operation = understand(event, self._seen.site(event).site, self._dialects)
            pair = self._changed(replace_dialect(operation, self.source))
        except Harmless:
            self._made(event)
            return
        except (NotUnderstood, UsageError) as reason:
            self.unclear[str(reason)] += count
            return
        if self._runs_source and event.result and not operation.is_expected:
            self.unexpected[str(operation.question)] += count
        elif pair is None:
            self.same += count
        else:
            self._add(event, *pair)

    def _changed(self, operation: Operation) -> tuple[str, DialectAnswer, DialectAnswer] | None:
        """How an operation changes, in the worst case over the values of its scalars."""
        found = [
            (kind, before, after)
            for before, after in _answers(operation, self.source, self.target)
            if (kind := _kind(before, after))
        ]
        return min(found, key=lambda f: KINDS.index(f[0]), default=None)

    def _add(self, event: Event, kind: str, before: DialectAnswer, after: DialectAnswer) -> None:
        place = self._seen.site(event).place
        code = text_at(place)
        is_method = event.call is not None and event.call.is_method
        signature = tuple(o.dtype or o.kind for o in before.question.operands)
        self._put(
            signature,
            PortChange(
                kind, reason_of(before, after), place, code, str(before.question),
                before.text, after.text, _hazards(before, after),
                how_to_keep(before, after, code, is_method), event.count,
            ),
        )  # fmt: skip

    def _made(self, event: Event) -> None:
        """Checks an array created with a default dtype, which may differ in the other dialect."""
        before = _default_made(event, self.source)
        after = before and dtype(self.target.python.get(before.kind, before.name))
        if before is None or after is None or before is after:
            self.same += event.count
            return
        place, name = self._seen.site(event).place, event.call.name if event.call else ""
        cast = cast_between(before, after)
        hook = find_hook(self.target.framework)
        spelled = f"{hook.spelling.alias}.{before}" if hook else before.name
        is_had = before not in self.target.truncations
        self._put(
            (before,),
            PortChange(
                OTHER_DTYPE, default_reason(self.source, before, self.target, after), place,
                text_at(place), name, str(before), str(after), cast.hazards if cast else (),
                Keeping(f"say dtype={spelled}") if is_had else None, event.count,
            ),
        )  # fmt: skip

    def _put(self, signature: tuple[object, ...], change: PortChange) -> None:
        key = (change.place, change.reason, change.after, signature)
        old = self.changes.get(key)
        self.changes[key] = replace(old, count=old.count + change.count) if old else change


def replace_dialect(operation: Operation, dialect: Dialect) -> Operation:
    """The same operation with another dialect."""
    return replace(operation, question=replace(operation.question, dialect=dialect))


def _answers(
    operation: Operation, source: Dialect, target: Dialect
) -> Iterator[tuple[DialectAnswer, DialectAnswer]]:
    asked = zip(questions_in(operation, source), questions_in(operation, target), strict=True)
    for before, after in asked:
        yield answer_to(before), answer_to(after)


def _kind(before: DialectAnswer, after: DialectAnswer) -> str | None:
    """How an answer changes; None if it does not."""
    if before.result is None:
        return None if after.result is None else ACCEPTED
    if after.result is None:
        return REFUSED
    if before.result is not after.result:
        return OTHER_DTYPE
    return OTHER_VALUES if _computes_otherwise(before, after) else None


def _computes_otherwise(before: DialectAnswer, after: DialectAnswer) -> bool:
    """Whether a result of the same dtype is computed from differently rounded operands."""
    a, b = before.decision, after.decision
    if a is None or b is None or a.compute is b.compute:
        return False
    if _costs(a.hazards) != _costs(b.hazards):
        return True
    numbers = [o.value for o in before.question.operands if o.is_scalar]
    return any(_rounded(a.compute, n) != _rounded(b.compute, n) for n in numbers)


def _hazards(before: DialectAnswer, after: DialectAnswer) -> tuple[str, ...]:
    """The hazards of the new dtype, and whether a scalar newly wraps."""
    if before.result is None or after.result is None:
        return ()
    cast = cast_between(before.result, after.result)
    costs = cast.hazards if cast else ()
    wraps = ["wraps" in answer.decision.hazards for answer in (before, after) if answer.decision]
    return (*costs, "wraps") if wraps == [False, True] else costs


def _costs(hazards: tuple[str, ...]) -> set[str]:
    return set(hazards) - {"widens", "not-on-device"}


def _rounded(compute: DType, value: object) -> object:
    try:
        return held_value(compute, value)  # type: ignore[arg-type]
    except UsageError:
        return None


def _default_made(event: Event, source: Dialect) -> DType | None:
    """The default dtype of an array that was created without dtype= and not from another array or
    file."""
    hook = find_hook(source.framework)
    call, result = event.call, event.result
    if hook is None or not call or not result or not result.dtype or call.gives_dtype:
        return None
    is_default = call.name in hook.calls.makes.split() and call.name not in hook.calls.files.split()
    if not is_default or arrays_in(event.operands):
        return None
    made = dtype(result.dtype)
    return made if source.python.get(made.kind) == made.name else None
