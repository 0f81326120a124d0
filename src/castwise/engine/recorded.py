"""Answers that were recorded of a release, a device or a compiler, and count for more than the
rules of the dialect below."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from castwise.catalog import layer_cells, layers, without_layers
from castwise.engine.accepts import is_out_of_range, overflows
from castwise.engine.decision import (
    NOTHING,
    Cast,
    Decide,
    Decision,
    Named,
    Note,
    Question,
    Refusal,
    cast_between,
    cast_text,
    result_text,
)
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.notation import NO_KERNEL, REFUSED, given_by_name, parse_operand, parse_scalar
from castwise.vocab.operands import Operand, Role, scalar_operand
from castwise.vocab.ops import op

# Cells as questions: an op, a form and operands as recordings write them.

# The form of a question by that of its cell; others are those of a function.
_FORMS = {"operator": "operator", "inplace": "operator", "augmented": "augmented"}


def cell_question(name: str, form: str, operands: Sequence[str], dialect: Dialect) -> Question:
    """The question a cell asks the engine."""
    kind, given = form.partition("=")[0], given_by_name(form)
    out = dtype(given["out"]) if "out" in given else None
    alpha = parse_scalar(given["alpha"]) if "alpha" in given else None
    named = _named(given) if given.keys() - {"out", "alpha"} else NOTHING
    parsed, form = tuple(map(parse_operand, operands)), _FORMS.get(kind, "function")
    return Question(op(name), parsed, dialect, form, kind == "inplace", out, alpha, named)


def _named(given: dict[str, str]) -> Named:
    """What a cell's form gives by name, looked up."""
    readers: dict[str, Callable[[str], Any]] = {
        "dtype": dtype, "where": parse_operand, "initial": parse_operand, "value": parse_scalar,
        "delta": parse_scalar,
    }  # fmt: skip
    others = [(name, text) for name, text in given.items() if name not in ("out", "alpha")]
    return Named(**{name: readers.get(name, str)(text) for name, text in others})


# A number of each kind that every op was asked about: what is recorded of it holds for numbers
# that the rules treat alike.
_PLAIN = {"bool": True, "int": 1, "float": 1.5, "complex": 1 + 1j}


class Found(NamedTuple):
    """A recorded answer, and that of the dialect below the layer."""

    layer: str
    answer: str
    below: str


def recorded_decision(question: Question, decide: Decide, note: Note) -> Decision:
    """The decision of a dialect with layers: a recorded one, or what the rules below them give.

    Raises Refusal where what was recorded refuses, or does not have a dtype.
    """
    _check_had(question)
    below = replace(question, dialect=without_layers(question.dialect))
    found = recorded(question) or _recorded_alike(question, below, decide)
    if found is None:
        return replace(decide(below, note), question=question)
    if note:
        below_name = layers()[found.layer].below
        note(
            f"Recorded from {_source_text(found.layer)}: {_answer_text(found.answer)}."
            f" In {below_name}: {_answer_text(found.below)}."
        )
    if found.answer.startswith(REFUSED):
        by_value = found.answer != REFUSED
        raise Refusal(f"{_source_text(found.layer)} refuses it, as recorded", by_value=by_value)
    decision = _with_answer(question, found, _decided(below, decide), decide)
    if note:
        for cast in filter(None, (*decision.casts, decision.result_cast)):
            note(f"Cast: {cast_text(cast)}.")
        note(result_text(decision))
    return decision


def _check_had(question: Question) -> None:
    """Raises Refusal for a dtype that the rules have, and what was recorded has not."""
    lacks = question.dialect.evidence.lacks.split()
    asked = [o.dtype for o in question.operands if not o.is_numpy]
    for each in filter(None, (*asked, question.out, question.named.dtype)):
        if each.name in lacks:
            source = _source_text(question.dialect.evidence.layers[0])
            raise Refusal(f"{source} has no dtype {each}")


def recorded(question: Question) -> Found | None:
    """What the layers of a question's dialect have about it; None if nothing."""
    if question.inplace and question.form == "function":  # x.add_(y) has no other form
        question = replace(question, form=_FORMS["inplace"])
    shown = tuple([replace(o, value=None) if o.dtype else o for o in question.operands])
    keys = (_key(question), _key(replace(question, operands=shown)))
    for layer in question.dialect.evidence.layers:
        cells = _cells(layer, question.op.name)
        for key in keys:
            if key in cells:
                return cells[key]
    return None


def _recorded_alike(question: Question, below: Question, decide: Decide) -> Found | None:
    """What they have about plain numbers in the place of others that the rules treat alike."""
    plain = tuple([scalar_operand(_PLAIN[o.kind]) if o.is_scalar else o for o in question.operands])
    if plain == question.operands:
        return None
    found = recorded(replace(question, operands=plain))
    if found is None:
        return None
    one, other = (_decided(q, decide) for q in (below, replace(below, operands=plain)))
    return found if _outcome(one) == _outcome(other) else None


def _outcome(decided: Decision | Refusal) -> object:
    if isinstance(decided, Refusal):
        return decided.by_value
    return decided.result, decided.is_weak, decided.has_kernel


def _decided(question: Question, decide: Decide) -> Decision | Refusal:
    try:
        return decide(question, None)
    except Refusal as refusal:
        return refusal


def _with_answer(
    question: Question, found: Found, below: Decision | Refusal, decide: Decide
) -> Decision:
    """The decision with a recorded result. What it computes in was not recorded: it is as below
    where that result is no dtype of its own, such as that of a comparison."""
    has_kernel = not found.answer.startswith(NO_KERNEL)
    name = _dtype_in(found.answer) or _dtype_in(found.below)  # a missing kernel may tell none
    decided = below if isinstance(below, Decision) else None
    if decided is None or (name and decided.result.name != name.rstrip("*")):
        decided = _replaced(question, dtype(name.rstrip("*")), decided, decide)
    notes = () if has_kernel else (f"{question.op.name} has no kernel for it, as recorded.",)
    is_weak = name.endswith("*") if name else decided.is_weak
    return replace(decided, question=question, is_weak=is_weak, notes=notes, has_kernel=has_kernel)


def _dtype_in(answer: str) -> str:
    """The dtype that an answer names, with * where it is weak; "" if none."""
    return "" if answer.startswith(REFUSED) else answer.removeprefix(NO_KERNEL).lstrip(":")


def _replaced(
    question: Question, result: DType, below: Decision | None, decide: Decide
) -> Decision:
    if below is None and question.op.result == result.name == "bool" and not question.out:
        return _truths(question, result, decide)
    is_own = below is None or below.compute is below.result
    if is_own or result.kind not in ("bool", "int"):
        return _plain_decision(question, result)
    assert below
    return replace(below, result=result)


def _truths(question: Question, result: DType, decide: Decide) -> Decision:
    """The decision of an op such as a comparison, which the rules refuse. It computes in the dtype
    of the operands' sum; where they have none, no cast is known."""
    operands = question.operands
    own = next((o.dtype for o in operands if o.dtype), result)
    unknown = Decision(question, result, own, tuple([None] * len(operands)))
    if len(operands) != 2:
        return unknown
    added = _decided(Question(op("add"), operands, question.dialect, question.form), decide)
    if isinstance(added, Refusal):
        return unknown
    casts = tuple([_cast_to(operand, added.result) for operand in operands])
    return replace(unknown, compute=added.result, casts=casts)


def _plain_decision(question: Question, result: DType) -> Decision:
    """A decision that computes in its result's dtype."""
    if question.is_assignment or question.out:
        return Decision(question, result, result, tuple([None] * len(question.operands)))
    place, operands = question.op.apart(question.operands), enumerate(question.operands)
    casts = tuple([None if i == place else _cast_to(o, result) for i, o in operands])
    return Decision(question, result, result, casts)


def _cast_to(operand: Operand, target: DType) -> Cast | None:
    if operand.dtype is not None:
        return cast_between(operand.dtype, target)
    hazard = _number_hazard(operand, target) if operand.role is Role.SCALAR else None
    return Cast(None, target, (hazard,)) if hazard else None


def _number_hazard(number: Operand, target: DType) -> str | None:
    """What becomes of a Python number that a dtype does not hold."""
    if number.kind == "complex" != target.kind:
        return "drops-imaginary"
    if KINDS.index(number.kind) > target.rank:
        return "changes-kind"
    if is_out_of_range(number, target):
        return "wraps"
    return "loses-range" if overflows(number, target) else None


@functools.lru_cache(maxsize=512)
def _cells(layer: str, op: str) -> dict[Hashable, Found]:
    """The answers of a layer about an op, by what they depend on."""
    found: dict[Hashable, Found] = {}
    for cell in layer_cells(layer, op):
        if cell.answer:
            asked = cell_question(cell.op, cell.form, cell.operands.split(";"), _ANY)
            found[_key(asked)] = Found(layer, cell.answer, cell.below)
    return found


def _key(question: Question) -> Hashable:
    """All that an answer depends on, besides the op and the dialect."""
    return question.key[2:]


def _source_text(layer: str) -> str:
    """What was recorded, in words, without how many ops were."""
    return layers()[layer].source.partition(" (")[0]


def _answer_text(answer: str) -> str:
    if not answer:
        return "not asked"
    if answer.startswith(REFUSED):
        return "refused" if answer == REFUSED else "refused for its value"
    if answer.startswith(NO_KERNEL):
        return f"no kernel{answer.removeprefix(NO_KERNEL).replace(':', ' for ')}"
    return answer


_ANY: Dialect = None  # type: ignore[assignment]  # the key leaves the dialect out
