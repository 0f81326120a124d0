"""The result of a verification, for the terminal and as JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from html import escape
from typing import Any, TypeVar

from castwise.comparing.exported import ExportCheck, Origin, Output
from castwise.comparing.programs import CauseGroup, Checked
from castwise.comparing.replay import KINDS as KINDS_OF_REPLAYS
from castwise.comparing.replay import Class, Replay, example_lines
from castwise.comparing.verify import KINDS, Difference, Drift, ThroughComparison, Verification
from castwise.conformance.programs import Framework
from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import Cell
from castwise.conformance.transformations import FAILED
from castwise.conformance.values import Apart, first_apart, read_held, written
from castwise.report.blocks import Grid, Html, folded_html, page, paragraph
from castwise.report.terminal import Paint, plain
from castwise.showing import quantity
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED

T = TypeVar("T")

_EXAMPLES = 3  # per op
_FORMS = {
    "function": "", "operator": " as an operator", "augmented": " as x op= y",
    "inplace": " in place",
}  # fmt: skip


def verification_text(found: Verification, paint: Paint = plain) -> str:
    """The versions, whether all answers agree, and the drift op by op."""
    lines = [*_sentences(found, paint), *_op_lines(found, found.drift, paint)]
    if found.kernels:
        lines += ["", _kernels_sentence(found)]
    return "\n".join([*lines, *_op_lines(found, found.kernels, paint)])


def _sentences(found: Verification, paint: Paint = plain) -> list[str]:
    """The versions, the dtypes that only one of the two has, and whether all answers agree."""
    source = f"{found.dialect.name} is {found.dialect.evidence.source}."
    lines = [_installed(found), source, *_dtype_lines(found, paint)]
    known = f", except {found.listed:,} known differences" if found.listed else ""
    if not found.drift:
        return [*lines, f"All {found.compared:,} answers agree{known}."]
    return [*lines, f"{len(found.drift):,} of {found.compared:,} answers differ{known}."]


def _kernels_sentence(found: Verification) -> str:
    """How many answers differ in nothing but a kernel."""
    count = f"{len(found.kernels):,} answers have the same dtype"
    return f"{count}, but only one of the two has a kernel for it."


def _op_lines(found: Verification, drift: Iterable[Drift], paint: Paint) -> list[str]:
    """Answers that differ, op by op."""
    lines = []
    for op, drifted in _ops(drift, lambda one: one.cell.op).items():
        lines += ["", f"{len(drifted):7,}  {paint(op, 'title')}"]
        for one in drifted[:_EXAMPLES]:
            ours = paint(answer_words(one.answer), "refused")
            both = f"{found.framework}: {answer_words(one.cell.answer)}, castwise: {ours}"
            lines += [f"         {question_text(one.cell)}", f"           {both}"]
    return lines


def _dtype_lines(found: Verification, paint: Paint) -> Iterator[str]:
    """The dtypes that only one of the two has, one line each."""
    name, (missing, not_taken) = found.framework, (", ".join(names) for names in found.dtypes)
    if missing:
        yield f"Dtypes of {name} that castwise lacks: {paint(missing, 'refused')}."
    if not_taken:
        yield f"Dtypes that {name} does not promote here: {not_taken}."


def _ops(things: Iterable[T], op: Callable[[T], str]) -> dict[str, list[T]]:
    """The answers that differ of each op, the op with the most first."""
    found: dict[str, list[T]] = {}
    for thing in things:
        found.setdefault(op(thing), []).append(thing)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def verification_json(found: Verification) -> dict[str, Any]:
    """The verification as a JSON object, with every answer that differs."""
    return {
        "dialect": found.dialect.name,
        "evidence": found.dialect.evidence.source,
        "framework": found.framework,
        "installed": found.versions,
        "compared": found.compared,
        "listed": found.listed,
        "dtypes": {name: list(names) for name, names in found.dtypes._asdict().items()},
        "drift": [_as_json(drift) for drift in found.drift],
        "kernels": [_as_json(drift) for drift in found.kernels],
    }


def _as_json(drift: Drift) -> dict[str, Any]:
    return {
        "op": drift.cell.op,
        "form": drift.cell.form,
        "operands": list(drift.cell.operands),
        "framework": drift.cell.answer,
        "castwise": drift.answer,
    }


def _installed(found: Verification | ThroughComparison | Checked | Replay) -> str:
    """The framework's version, and those of what it stands on."""
    versions = ", ".join(
        f"{found.framework if part == 'version' else part} {version}"
        for part, version in found.versions.items()
    )
    return f"Installed: {versions}."


def question_text(cell: Cell) -> str:
    """A cell's question, with the form that it is asked in."""
    is_chain = cell.form.startswith("then ")
    form = f" {cell.form}" if is_chain else _FORMS.get(cell.form, f" with {cell.form}")
    return f"{cell.op}({', '.join(cell.operands)}){form}"


def answer_words(answer: str) -> str:
    """A cell's answer in words."""
    if answer.startswith(NO_KERNEL):
        return answer.replace(f"{NO_KERNEL}:", "no kernel for ").replace(NO_KERNEL, "no kernel")
    return {REFUSED: "refused", OUT_OF_RANGE: "refused by value"}.get(answer, answer)


# The result of a verification as a page.


def verification_html(found: Verification) -> str:
    """The page: whether all answers agree, and every answer that differs, op by op."""
    kernels = [paragraph(_kernels_sentence(found))] if found.kernels else []
    return page(
        f"{found.dialect.name} and {found.framework}",
        *map(paragraph, _sentences(found)),
        *_op_tables(found, found.drift),
        *kernels,
        *_op_tables(found, found.kernels),
    )


def _op_tables(found: Verification, drift: Iterable[Drift]) -> Iterator[str]:
    for op, drifted in _ops(drift, lambda one: one.cell.op).items():
        rows = [
            [question_text(one.cell), answer_words(one.cell.answer), answer_words(one.answer)]
            for one in drifted
        ]
        yield _op_table(op, ["question", found.framework, "castwise"], rows)


def _op_table(op: str, heads: list[str], rows: list[list[str]]) -> str:
    """The answers about an op, which a click opens."""
    return folded_html(f"{op}: {quantity(len(rows), 'answer')}", Grid(heads, rows).html())


# What a transformation changes, for the terminal, as JSON and as a page.

_THROUGH_EXAMPLES = 2  # of each op
_REASONS = 3  # of each op, where it fails for several
_VALUES = re.compile(r"=[^\[]*\[")  # what an array in notation holds
_NAMES = re.compile(r"'[^']*'|\([^)]*\)|\d+")  # what tells errors apart that say the same


def through_text(found: ThroughComparison, paint: Paint = plain) -> str:
    """How many answers differ, and the differences by kind and op, with a line to paste each."""
    lines = _through_sentences(found)
    for kind, differences in _kinds(found.differences).items():
        lines += ["", f"{paint(kind.capitalize(), 'title')}: {KINDS[kind]}."]
        for op, some in _ops(differences, lambda one: one.found.question.op).items():
            lines.append(f"{len(some):7,}  {op}")
            for one in _examples(some):
                lines += _example(found, one, paint)
    if found.imports and any(one.line for one in found.differences):
        lines += ["", "The lines need:", *[f"    {line}" for line in found.imports.splitlines()]]
    return "\n".join(lines)


def _through_sentences(found: ThroughComparison) -> list[str]:
    """What was asked, and how many answers differ."""
    count = len(found.differences)
    first = f"{found.framework} through {found.through}, beside {found.framework} itself."
    told = f"{count:,} of {found.asked:,} answers differ."
    if not count:
        told = f"All {found.asked:,} answers agree."
    if found.left_out:
        told += f" {quantity(found.left_out, 'question')} cannot be asked so."
    return [first, _installed(found), told]


def _kinds(differences: Iterable[Difference]) -> dict[str, list[Difference]]:
    """The differences of each kind, in the order of KINDS."""
    grouped: dict[str, list[Difference]] = {kind: [] for kind in KINDS}
    for one in differences:
        grouped[one.kind].append(one)
    return {kind: some for kind, some in grouped.items() if some}


def _examples(differences: Iterable[Difference]) -> list[Difference]:
    """Some differences of an op: those that say the same thing only once, if there are others."""
    said: dict[str, Difference] = {}
    again = []
    for one in differences:
        reason = _NAMES.sub("", one.found.error) or one.found.question.form
        if said.setdefault(reason, one) is not one:
            again.append(one)
    return [*said.values(), *again][: max(_THROUGH_EXAMPLES, min(len(said), _REASONS))]


def _example(found: ThroughComparison, one: Difference, paint: Paint) -> list[str]:
    plain, answer = _through_answers(one)
    answers = f"{found.framework}: {plain}, {found.through}: {paint(answer, 'refused')}"
    lines = [f"         {_question(one)}", f"           {answers}{_more(one)}"]
    return [*lines, f"           {one.line}"] if one.line else lines


def _question(one: Difference) -> str:
    """The question, without the values that its operands hold."""
    op, form, operands = one.found.question
    return question_text(Cell(op, form, tuple(_VALUES.sub("[", o) for o in operands), ""))


def _through_answers(one: Difference) -> tuple[str, str]:
    """What the framework and the transformed function answer, with its error where it has no
    dtype, and with all dtypes where it declares another than it has."""
    apart = _apart(one)
    if apart:
        return written(apart.one), written(apart.other)
    plain, answer = (_VALUES.sub("[", text) for text in (one.found.plain, one.found.answer))
    if one.found.dtypes:
        return answer_words(plain), _declared(one.found.dtypes)
    word = answer.replace(f"{FAILED}:", "fails with ") if FAILED in answer else answer_words(answer)
    return answer_words(plain), f"{word} ({one.found.error})" if one.found.error else word


def _more(one: Difference) -> str:
    """Of which numbers values differ, in how many elements and how far."""
    apart = _apart(one)
    if apart is None:
        return ""
    numbers = f" of {', '.join(map(written, apart.operands))}" if apart.operands else ""
    count = quantity(apart.differing, "element")
    return f"{numbers}; {count} of the result, {_far_words(apart.ulps)}"


def _far_words(ulps: float) -> str:
    """How far apart the numbers of two results are, in words.

    >>> _far_words(0), _far_words(1), _far_words(2500)
    ('in the sign of zero', 'by at most 1 ulp', 'by at most 2,500 ulps')
    """
    if not ulps:
        return "in the sign of zero"
    if math.isinf(ulps):
        return "finite in only one of them"
    return f"by at most {quantity(int(ulps), 'ulp')}"


def _apart(one: Difference) -> Apart | None:
    if one.kind != "values":
        return None
    plain, answer = read_held(one.found.plain), read_held(one.found.answer)
    return first_apart(list(map(read_held, one.found.question.operands)), plain, answer)


def _declared(dtypes: tuple[tuple[str, str], ...]) -> str:
    """What a result declares, and what it has where.

    >>> _declared((("declared", "int32"), ("rank 0", "int32"), ("rank 1", "int64")))
    'declares int32, has int32 (rank 0), int64 (rank 1)'
    """
    (_, declared), *parts = dtypes
    places: dict[str, list[str]] = {}
    for where, dtype in parts:
        places.setdefault(dtype, []).append(where)
    has = [f"{answer_words(dtype)} ({', '.join(at)})" for dtype, at in places.items()]
    return f"declares {answer_words(declared)}, has {', '.join(has)}"


def through_json(found: ThroughComparison) -> dict[str, Any]:
    """The comparison as a JSON object, with every difference."""
    return {
        "framework": found.framework,
        "dialect": found.dialect,
        "installed": found.versions,
        "through": found.through,
        "asked": found.asked,
        "left_out": found.left_out,
        "imports": found.imports.splitlines(),
        "differences": [
            {
                "kind": one.kind,
                "op": one.found.question.op,
                "form": one.found.question.form,
                "operands": list(one.found.question.operands),
                "framework": one.found.plain,
                "through": one.found.answer,
                "dtypes": dict(one.found.dtypes),
                "error": one.found.error,
                "line": one.line,
            }
            for one in found.differences
        ],
    }


def through_html(found: ThroughComparison) -> str:
    """The comparison as a page: every difference, by kind and op."""
    parts: list[str] = [paragraph(line) for line in _through_sentences(found)[1:]]
    for kind, differences in _kinds(found.differences).items():
        parts += [f"<h2>{escape(kind.capitalize())}</h2>", paragraph(f"{KINDS[kind]}.")]
        for op, some in _ops(differences, lambda one: one.found.question.op).items():
            heads = ["question", found.framework, found.through, "line"]
            parts.append(_op_table(op, heads, list(map(_through_row, some))))
    return page(f"{found.framework} through {found.through}", *parts)


def _through_row(one: Difference) -> list[str]:
    line = Html(f"<code>{escape(one.line)}</code>") if one.line else ""
    return [_question(one), *_through_answers(one), line]


# What decisions tell, replayed by value, for the terminal and as JSON.

_MOST_SHOWN = 12  # numbers of an array


def replay_text(found: Replay, speaker: Framework | None, paint: Paint = plain) -> str:
    """How many cells were replayed and differ, and the classes of those, with an example each."""
    lines = [
        f"{found.framework}, by value, beside what {found.dialect} decides.",
        _installed(found),
        _replay_sentence(found),
    ]
    for one in found.classes:
        lines += ["", *_class_lines(found, one, speaker, paint)]
    if found.lost:
        lines += ["", f"{quantity(len(found.lost), 'question')} ended the process, or took long:"]
        lines += [f"    {question_text(Cell(*question, ''))}" for question in found.lost]
    if found.listed:
        lines += ["", "Known differences:"]
        lines += [f"{each.count:7,}  {_class_title(each)}: {each.reason}" for each in found.listed]
    if found.not_shown:
        lines += ["", "Not cast, as told, but no value shows it:"]
        counts = sorted(found.not_shown.items(), key=lambda item: -item[1])
        lines += [f"{count:7,}  {op} {what}" for (op, what), count in counts]
    if found.not_evaluated:
        lines += ["", f"Not evaluated: {' '.join(found.not_evaluated)}."]
    return "\n".join(lines)


def _replay_sentence(found: Replay) -> str:
    count = sum(each.count for each in found.listed)
    known = f", except {count:,} known differences" if count else ""
    told = f"{found.differing:,} of {found.replayed:,} cells differ{known}."
    if found.agrees:
        told = f"All {found.replayed:,} cells agree{known}."
    unshown = sum(found.not_shown.values())
    return (
        f"{told} Of {found.evaluated:,} the compute dtype was checked by wider arithmetic."
        f" {found.shown:,} operands without a cast are shown to have none; of {unshown:,} no value"
        " shows it."
    )


def _class_title(one: Class) -> str:
    return question_text(Cell(one.op, one.form, one.sorts, ""))


def _class_lines(
    found: Replay, one: Class, speaker: Framework | None, paint: Paint
) -> Iterator[str]:
    """A class of cells that differ, with one of them."""
    example = one.example
    yield f"{one.count:7,}  {paint(_class_title(one), 'title')}: {KINDS_OF_REPLAYS[one.kind]}."
    casts = [
        f"{name} -> {target}" for name, target in zip("xyz", example.casts, strict=False) if target
    ]
    yield f"         {question_text(Cell(*example.question, ''))}"
    told = [f"casts {', '.join(casts) or 'nothing'}", f"compute {example.compute}"]
    if example.program:
        told.append(f"program {example.program}")
    yield f"           told: {', '.join(told)}, result {example.result}"
    for given in example.case:
        yield f"           {_shortened(str(given.held))}"
    ours = paint(_shortened(example.told), "refused")
    yield f"           {found.framework}: {_shortened(example.given)}, as told: {ours}"
    for line in example_lines(example, speaker):
        yield f"           {line}"


def _shortened(text: str) -> str:
    """What an array holds, without the end of long ones."""
    values = text.split(",")
    if len(values) <= _MOST_SHOWN:
        return text
    return f"{','.join(values[:_MOST_SHOWN])},... ({len(values)})"


def replay_json(found: Replay, speaker: Framework | None) -> dict[str, Any]:
    """The replay as a JSON object."""
    return {
        "dialect": found.dialect,
        "framework": found.framework,
        "installed": found.versions,
        "asked": found.asked,
        "replayed": found.replayed,
        "evaluated": found.evaluated,
        "shown": found.shown,
        "differing": found.differing,
        "classes": [_class_json(each, speaker) for each in found.classes],
        "listed": [_class_json(each, speaker) for each in found.listed],
        "lost": [_question_json(question) for question in found.lost],
        "not_shown": [
            {"op": op, "operand": what, "count": count}
            for (op, what), count in found.not_shown.items()
        ],
        "not_evaluated": list(found.not_evaluated),
    }


def _class_json(one: Class, speaker: Framework | None) -> dict[str, Any]:
    example = one.example
    return {
        "kind": one.kind,
        "op": one.op,
        "form": one.form,
        "operands": list(one.sorts),
        "count": one.count,
        "reason": one.reason,
        "example": {
            **_question_json(example.question),
            "values": [str(given.held) for given in example.case],
            "casts": list(example.casts),
            "compute": example.compute,
            "result": example.result,
            "program": example.program,
            "framework": example.given,
            "told": example.told,
            "lines": list(example_lines(example, speaker)),
        },
    }


def _question_json(question: GridQuestion) -> dict[str, Any]:
    return {"op": question.op, "form": question.form, "operands": list(question.operands)}


# An exported model beside its function, for the terminal and as JSON.


def export_text(found: ExportCheck, paint: Paint = plain) -> str:
    """Every output, in what it differs, and every cast in the model."""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    lines = [
        f"{found.model} beside {found.reference} on {found.framework}.",
        f"Installed: {versions}.",
        f"Inputs: {', '.join(found.inputs) or 'none'}.",
        _sentence(found),
        "",
    ]
    for place, output in enumerate(found.outputs):
        name = output.name or f"output {place}"
        lines.append(f"  {name}: {_output(output, paint)}")
    if found.casts:
        lines += ["", f"{quantity(len(found.casts), 'cast')} in the model:"]
        lines += [f"  {_cast(cast)}" for cast in found.casts]
    return "\n".join(lines)


def _sentence(found: ExportCheck) -> str:
    different = sum(bool(output.problem) for output in found.outputs)
    count = quantity(len(found.outputs), "output")
    verb = "differs" if different == 1 else "differ"
    return f"{different} of {count} {verb}." if different else f"All outputs agree: {count}."


def _output(output: Output, paint: Paint) -> str:
    if output.problem in ("missing", "extra"):
        had, lacks = ("function", "model") if output.model is None else ("model", "function")
        held = output.reference or output.model
        return f"{held} in the {had}; {paint(f'the {lacks} has no such output', 'refused')}"
    if output.problem in ("dtype", "shape"):
        text = f"function {output.reference}, model {paint(str(output.model), 'refused')}"
        return f"{text}{_from(output)}"
    apart = _far(output.ulps or 0.0)
    if output.problem:
        said = f"{quantity(output.differing, 'element')} differ, {apart}"
        return f"{output.model}, {paint(said, 'refused')}"
    return f"{output.model}, {apart}"


def _far(ulps: float) -> str:
    if math.isinf(ulps):
        return "finite in only one of them"
    return f"at most {quantity(int(ulps), 'ulp')} apart" if ulps else "equal"


def _from(output: Output) -> str:
    if output.problem != "dtype":
        return ""
    if output.origin is None:
        return "; an input has that dtype already"
    return f"\n    from node {_cast(output.origin)}"


def _cast(cast: Origin) -> str:
    return f"{cast.node} ({cast.op}): {cast.source} → {cast.target}"


def export_json(found: ExportCheck) -> dict[str, Any]:
    """The comparison as a JSON object."""
    data = asdict(found)
    for output, row in zip(found.outputs, data["outputs"], strict=True):
        is_finite = output.ulps is None or math.isfinite(output.ulps)
        row["ulps"] = output.ulps if is_finite else "infinite"  # JSON has no infinity
        row["origin"] = output.origin._asdict() if output.origin else None
    casts = [cast._asdict() for cast in found.casts]
    return {"agrees": found.agrees, **data, "casts": casts}


# The result of random programs, for the terminal and as JSON.

_PROGRAM_FORMS = {**_FORMS, "augmented": " by augmented assignment", "assigned": ""}


def checked_text(found: Checked, paint: Paint = plain) -> str:
    """The versions, how many steps differ on each backend, and each cause with a line to paste."""
    lines = [
        _installed(found),
        f"{found.programs:,} programs of {found.dialect.name} from seed {found.seed}.",
        *[_rate(found, backend) for backend in found.backends],
    ]
    unlisted = found.unlisted
    for group in unlisted:
        lines += ["", *_group_lines(found, group, paint)]
    listed = [group for group in found.by_count() if group.reason]
    if listed:
        lines += ["", "Known differences, with their reasons:"]
        lines += [f"{group.count:7,}  {_title(group)}: {group.reason}" for group in listed]
    if unlisted:
        first = found.preludes[unlisted[0].cause.backend]
        lines += ["", f"Before pasting: {'; '.join(first.splitlines())}"]
    return "\n".join(lines)


def _rate(found: Checked, backend: str) -> str:
    steps, differ = found.steps[backend], found.differing(backend)
    rate = differ / steps if steps else 0.0
    return f"On {backend}: {steps:,} steps compared, {differ:,} differ ({rate:.2%})."


def _title(group: CauseGroup) -> str:
    cause = group.cause
    return f"{cause.op}{_PROGRAM_FORMS[cause.form]} on {cause.backend}, {cause.what}"


def _group_lines(found: Checked, group: CauseGroup, paint: Paint) -> list[str]:
    example = group.example
    width = max(len(found.framework), len("castwise")) + 1
    return [
        f"{group.count:7,}  {paint(_title(group), 'title')}",
        f"         {found.framework + ':':{width}} {example.framework}",
        f"         {'':{width}} -> {example.expected}",
        f"         {'castwise:':{width}} {example.castwise}",
        f"         {'':{width}} -> {paint(example.computed, 'refused')}",
    ]


def checked_json(found: Checked) -> dict[str, Any]:
    """The same as a JSON object."""
    return {
        "dialect": found.dialect.name,
        "framework": found.framework,
        "installed": found.versions,
        "seed": found.seed,
        "programs": found.programs,
        "backends": {
            name: {
                "steps": found.steps[name],
                "differing": found.differing(name),
                "imports": found.preludes[name],
            }
            for name in found.backends
        },
        "causes": [_group_json(group) for group in found.by_count()],
    }


def _group_json(group: CauseGroup) -> dict[str, Any]:
    example = group.example
    return {
        **group.cause._asdict(),
        "count": group.count,
        "reason": group.reason or None,
        "framework": {"source": example.framework, "answer": example.expected},
        "castwise": {"source": example.castwise, "answer": example.computed},
    }
