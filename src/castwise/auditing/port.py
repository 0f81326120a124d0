"""What the operations of a program would compute in another dialect, grouped by reason."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from castwise.auditing.fixes import cast_to
from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import Harmless, NotUnderstood, event_framework, understand
from castwise.auditing.records import (
    Event,
    Operation,
    Seen,
    SeenArray,
    SeenList,
    SeenOperand,
    SourcePlace,
    arrays_in,
)
from castwise.auditing.source import text_at
from castwise.catalog import dialect_named, to_dialect
from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question, cast_between
from castwise.errors import PromotionError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, quantity, repr_line
from castwise.vocab.dtypes import EXACT, DType, dtype
from castwise.vocab.operands import (
    Operand,
    Role,
    array_operand,
    held_value,
    in_listed_order,
    mix_text,
    numpy_scalar_operand,
    scalar_operand,
    treatment,
)

# What changes when a program moves from one dialect to another.

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
        return repr_line("PortChange", f"{self.place.brief}: {self.asked}", change)


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
        changes = quantity(len(self.changes), "change") + (f" ({changed})" if changed else "")
        same = f"{quantity(self.same, 'operation')} unchanged"
        return repr_line("Port", f"{self.source.name} to {self.target.name}", changes, same)

    @property
    def groups(self) -> dict[str, list[PortChange]]:
        """The changes by reason."""
        found: dict[str, list[PortChange]] = {}
        for change in self.changes:
            found.setdefault(change.reason, []).append(change)
        return found


def make_port(seen: Seen, target: str | Dialect, source: str | Dialect | None = None) -> Port:
    """What a program would compute in the dialect `target`. `source` is the dialect it is written
    for: by default the one that ran most of its operations.

    Raises UsageError for an unknown dialect.
    """
    old = to_dialect(source if source is not None else _most_used_dialect(seen))
    sorter = _Sorter(old, to_dialect(target), seen)
    for event in (*seen.events, *seen.attempts):
        sorter.sort(event)
    changes = sorted(sorter.changes.values(), key=lambda c: (KINDS.index(c.kind), c.place))
    return Port(old, sorter.target, tuple(changes), sorter.same, sorter.others, sorter.unclear,
                sorter.unexpected)  # fmt: skip


def _most_used_dialect(seen: Seen) -> str:
    counts: Counter[str] = Counter()
    for event in seen.events:
        counts[event_framework(event)] += event.count
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

    def sort(self, event: Event) -> None:
        """Counts an event as unchanged, or adds how it changes."""
        count, framework = event.count, event_framework(event)
        if framework != self.source.framework:
            self.others[framework] += count
            return
        try:
            operation = understand(event, self._seen.site(event).site, self._dialects)
            question = replace(operation.question, dialect=self.source)
            pair = self._changed(replace(operation, question=question))
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
        found = []
        asked = questions_in(operation, self.source), questions_in(operation, self.target)
        for old, new in zip(*asked, strict=True):
            before, after = answer_to(old), answer_to(new)
            kind = _kind(before, after)
            if kind is not None:
                found.append((kind, before, after))
        return min(found, key=lambda f: KINDS.index(f[0]), default=None)

    def _add(self, event: Event, kind: str, before: DialectAnswer, after: DialectAnswer) -> None:
        place = self._seen.site(event).place
        code = text_at(place)
        is_method = event.call is not None and event.call.is_method
        signature = tuple(o.dtype or o.kind for o in before.question.operands)
        self._put(
            signature,
            PortChange(
                kind, _reason(before, after), place, code, str(before.question),
                before.text, after.text, _hazards(before, after),
                _how_to_keep(before, after, code, is_method), event.count,
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
        reason = (f"arrays made without a dtype: {self.source.name} makes {before}, "
                  f"{self.target.name} {after}")  # fmt: skip
        self._put(
            (before,),
            PortChange(
                OTHER_DTYPE, reason, place, text_at(place), name, str(before), str(after),
                cast.hazards if cast else (),
                Keeping(f"write dtype={spelled}") if is_had else None, event.count,
            ),
        )  # fmt: skip

    def _put(self, signature: tuple[object, ...], change: PortChange) -> None:
        key = (change.place, change.reason, change.after, signature)
        old = self.changes.get(key)
        self.changes[key] = replace(old, count=old.count + change.count) if old else change


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
    if EXACT in (a.compute, b.compute) or _costs(a.hazards) != _costs(b.hazards):
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


# How a dialect answers an operation that was seen in another.

_MOST_VARIED = 4  # up to this many operands, all combinations of extreme values are asked


@dataclass(frozen=True, slots=True)
class DialectAnswer:
    """A decision, or the reason for a refusal."""

    question: Question
    decision: Decision | None
    refusal: PromotionError | None = None

    @property
    def result(self) -> DType | None:
        """The result dtype; None if it is refused or has no kernel."""
        return self.decision.result if self.decision and self.decision.has_kernel else None

    @property
    def why(self) -> str:
        """Why there is no result."""
        if self.refusal is not None:
            return self.refusal.why
        return f"{self.question.op.name} has no kernel for these dtypes"

    @property
    def text(self) -> str:
        """The result, or "refused"."""
        return str(self.result) if self.result else "refused"


def answer_to(question: Question) -> DialectAnswer:
    """The answer of a dialect to a question.

    Raises UsageError if the question makes no sense in its dialect.
    """
    try:
        return DialectAnswer(question, answer(question))
    except PromotionError as refusal:
        return DialectAnswer(question, None, refusal)


def questions_in(operation: Operation, dialect: Dialect) -> Iterator[Question]:
    """The questions for a dialect about an operation, one for each extreme value of its scalars."""
    framework = operation.question.dialect.framework
    choices, varied = [], 0
    for seen, operand in zip(operation.operands, operation.question.operands, strict=True):
        known = _extremes(seen)
        varied += len(known) > 1
        values = known if varied <= _MOST_VARIED else known[:1]
        alike = [_with_value(operand, value) for value in values] or [operand]
        choices.append([_operand_in(dialect, framework, seen, o) for o in alike])
    for operands in itertools.product(*choices):
        yield replace(operation.question, operands=operands, dialect=dialect)


def _extremes(seen: SeenOperand) -> list[bool | int | float]:
    """The lowest and highest value of an operand."""
    if isinstance(seen, SeenList):
        return []
    known = [value for value in (seen.low, seen.high) if value is not None]
    return known[:1] if len(known) == 2 and known[0] == known[1] else known


def _with_value(operand: Operand, value: bool | int | float) -> Operand:
    if operand.dtype is None:
        return scalar_operand(value)
    if operand.role is Role.NUMPY_SCALAR:
        return numpy_scalar_operand(operand.dtype, value)
    return array_operand(operand.dtype, operand.shape, value=value, is_weak=operand.is_weak,
                         is_numpy=operand.is_numpy)  # fmt: skip


def _operand_in(dialect: Dialect, framework: str, seen: SeenOperand, operand: Operand) -> Operand:
    """An operand of one framework, as seen by a dialect of another."""
    is_own = isinstance(seen, SeenArray) and seen.framework == framework
    if operand.role is Role.NUMPY_SCALAR and is_own and dialect.framework != framework:
        # A scalar from indexing or a reduction is a 0-d array in other frameworks.
        return Operand(operand.dtype, Role.ZERO_D, operand.value, ())
    if operand.is_weak and not dialect.has_weak_arrays:
        return replace(operand, is_weak=False)
    return operand


# Why an operation changes between dialects, in words that many operations share.

_PLAIN = ("arithmetic", "bits", "comparison", "extrema")  # families that mix dtypes the same way


def _reason(before: DialectAnswer, after: DialectAnswer) -> str:
    """Why two answers differ."""
    if before.result is not after.result:
        return f"{_mix(before.question)}: {_behaviour(before)}, {_behaviour(after)}"
    assert before.decision is not None  # both answers have results
    assert after.decision is not None
    here, there = before.decision.compute, after.decision.compute
    if EXACT in (here, there):
        exact, rounded = (before, after) if here is EXACT else (after, before)
        return (
            f"{_mix(before.question)}: {_who(exact)} compares exactly, {_who(rounded)} in "
            f"{there if here is EXACT else here}"
        )
    return f"{_mix(before.question)}: {_who(before)} computes in {here}, {_who(after)} in {there}"


def _who(answer: DialectAnswer) -> str:
    return answer.question.dialect.name


def _behaviour(answer: DialectAnswer) -> str:
    """What a dialect does, with the dtype if the words need one."""
    question, result = answer.question, answer.result
    if isinstance(answer.refusal, ScalarRangeError):
        return f"{_who(answer)} refuses the number, which is out of range for the dtype"
    if result is None:
        return f"{_who(answer)} refuses, because {answer.why}"
    target = question.operands[0].dtype if question.is_assignment else None
    if result.kind == "bool" and question.op.result == "bool":
        return f"{_who(answer)} answers"
    said = treatment(in_listed_order(_taking_part(question)), result, target)
    needs_dtype = said == "makes" or said.endswith("to")
    return f"{_who(answer)} {said}{f' {result}' if needs_dtype else f' ({result})'}"


def _mix(question: Question) -> str:
    operands = _taking_part(question)
    mix = mix_text(operands if question.is_assignment else in_listed_order(operands))
    if question.is_assignment:
        return f"{mix}, {'in place' if question.inplace else 'in an augmented assignment'}"
    is_plain = question.op.family in _PLAIN and not question.op.integers_become_float
    return mix if is_plain else f"{mix}, {question.op.name}"


def _taking_part(question: Question) -> list[Operand]:
    return list(question.operands[1 if question.op.is_condition_first else 0 :])


# Casts that keep a program's results under another dialect, each confirmed by resolve.


@dataclass(frozen=True)
class Keeping:
    """How to keep the result: in words, and as source if castwise can write it."""

    does: str
    text: str | None = None


@dataclass(frozen=True)
class _Casts:
    """New dtypes of operands by position; None means a Python number."""

    targets: dict[int, DType | None]
    result: DType | None = None


def _how_to_keep(
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
    for target in dict.fromkeys((decision.as_promoted().compute, decision.result)):
        yield from (_Casts({n: target}) for n in arrays)
        yield _Casts(dict.fromkeys(arrays, target))
        yield _Casts(dict.fromkeys(places, target))
    if not question.is_assignment and not question.out:
        yield _Casts({}, decision.result)


def _helps(casts: _Casts, before: DialectAnswer, after: DialectAnswer) -> bool:
    """Whether the dialect then gives the same dtype, computed in a dtype at least as wide."""
    question, wanted = after.question, before.decision
    assert wanted is not None  # candidates are built from a decision
    operands = list(question.operands)
    is_idle = all(t is not None and operands[n].dtype is t for n, t in casts.targets.items())
    if is_idle and casts.result is None:
        return False
    for n, target in casts.targets.items():
        operands[n] = _recast(operands[n], target)
    try:
        found = answer_to(replace(question, operands=tuple(operands)))
    except UsageError:
        return False
    if found.result is None or found.decision is None:
        return False
    wide, narrow = found.decision.compute, wanted.compute
    is_as_rich = wide is narrow or (
        wide.rank >= narrow.rank and wide.keeps_precision(narrow) and wide.keeps_range(narrow)
    )
    return is_as_rich and (casts.result or found.result) is wanted.result


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
    for place, target in casts.targets.items():
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
    if parts is None or any(n >= len(parts.segments) for n in casts.targets):
        return None
    new = list(parts.segments)
    for place, target in casts.targets.items():
        if _is_number(new[place]) and target is not None:
            return None  # frameworks differ too much in how to make an array from a number
        number = f"{numbers[place]}({new[place]})"
        new[place] = number if target is None else _cast_text(new[place], target, hook)
    if parts.is_call:
        return ", ".join(new[place] for place in casts.targets)
    return f" {parts.symbol} ".join(new) if len(new) > 1 else f"{parts.symbol}{new[0]}"


@dataclass(frozen=True)
class _Parts:
    segments: tuple[str, ...]
    symbol: str  # the text between them
    is_call: bool = False


def _parts(code: str, is_method: bool) -> _Parts | None:
    """The source text of an operation's operands, in order."""
    try:
        statement = ast.parse(code).body[0]
    except (SyntaxError, IndexError):
        return None
    node = statement.value if isinstance(statement, ast.Expr) else statement
    nodes: list[ast.expr]
    if isinstance(node, ast.BinOp):
        nodes = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        nodes = [node.target, node.value]
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
