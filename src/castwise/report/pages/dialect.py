"""The page about each dialect in docs/dialects, in Markdown, generated from its record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product

from castwise.compare.outcome import SCALARS, Outcome, outcome_of
from castwise.engine.ask import question_in
from castwise.engine.decision import Decision, Question
from castwise.engine.types import promote_types
from castwise.report.answers.explanation import explained
from castwise.report.markdown import markdown_row
from castwise.report.pages.rules import general_rules, missing_kernels, op_rules, other_rules
from castwise.report.table.table import table
from castwise.report.table.text import alike_text, marks_used, table_markdown
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op

_NOTICE = "<!-- Written by docs/refresh.py from the dialects' records: edit those instead. -->"
_MOST_IN_A_LINE = 3
_TOLD_ANYWAY = re.compile(
    r"Cast: |The result "
    r"|\S+(\(.*\))? is an? (\S+ ){0,3}(array|scalar|list|bool|int|float|complex)\b"
)
_REFUSED = "Refused: "
_Rows = list[tuple[str, str]]
_ASSIGNED = (
    "float32[3] += float64[3]",
    "float32[3] += int32[3]",
    "int32[3] += float32[3]",
    "int8[3] += int32[3]",
    "int32[3] += 1.5",
)


def page_name(dialect: Dialect) -> str:
    """The name of a dialect's page, without its ending.

    >>> from castwise.rules.catalog import dialect_named
    >>> page_name(dialect_named("numpy@1"))
    'numpy-1'
    """
    return dialect.name.replace(":", "-").replace("@", "-")


def dialect_page(dialect: Dialect) -> str:
    """Everything about a dialect; the page shows a picture of its lattice from the same folder."""
    name = dialect.name
    results = table("add", dialect)
    marks, alike = marks_used(results), alike_text(results)
    lines = [
        f"# {name}",
        _NOTICE,
        dialect.about,
        _facts(dialect),
        *_surprises(dialect),
        "## Lattice",
        f"![What reaches what in {name}]({page_name(dialect)}.svg)",
        "## Table",
        table_markdown(results),
        *([f"Marks: {', '.join(marks)}.".replace("*", r"\*")] if marks else []),
        *([" ".join(alike)] if alike else []),
        "## Rules",
        "\n".join(_rules(dialect)),
        "## Laws",
        "\n".join(f"- {law}" for law in _laws(dialect)),
        *_assignments(dialect),
        *_ops_with_rules(dialect),
    ]
    return "\n\n".join(lines) + "\n"


def index_page(dialects: list[Dialect]) -> str:
    """The list of all dialects, with a link to the page of each."""
    head = ["dialect", "version", "what", "evidence"]
    rows = [
        [f"[`{d.name}`]({page_name(d)}.md)", d.version, d.about, f"{d.evidence.source}."]
        for d in dialects
    ]
    lines = [
        "# Dialects",
        _NOTICE,
        "A dialect is a framework's rules at a version, in a mode. Each has a page: its surprises,"
        " what reaches what, its table, its rules in words and its laws. The picture shows how"
        " much they differ: the share of questions, in %, that two dialects answer differently"
        " (`castwise diff --all`). Dialects that differ little are next to each other; the tree"
        " joins the nearest first. Modes that answer all of that alike are compared below, in the"
        " ops where they differ.",
        "![How much the dialects differ](distances.svg)",
        "\n".join(map(markdown_row, [head, ["---"] * 4, *rows])),
        "[Choosing a mode](../how-to/choose-a-mode.md) helps to decide which one to use. Every"
        " dialect can be [varied](../reference/variations.md), and a custom one can be loaded from"
        " a file.",
    ]
    return "\n\n".join(lines) + "\n"


def _facts(dialect: Dialect) -> str:
    facts = [
        f"- Version: {dialect.version}." if dialect.version else "",
        f"- Evidence: {dialect.evidence.source}.",
        "- Arrays may be weakly typed." if dialect.has_weak_arrays else "",
        f'- Try it: `castwise explain {dialect.name} "int32[3] + 1.5"`',
    ]
    return "\n".join(filter(None, facts))


def _rules(dialect: Dialect) -> Iterator[str]:
    """The rules for every op, one line per subject; many other rules are a list."""
    yield from (f"- **{subject}**: {text}." for subject, text in general_rules(dialect))
    others = other_rules(dialect)
    if len(others) > _MOST_IN_A_LINE:
        yield "- **Also**:"
        yield from (f"  - {text}" for text in others)
    elif others:
        yield f"- **Also**: {'; '.join(others)}."


def _ops_with_rules(dialect: Dialect) -> Iterator[str]:
    base = dialect_named(dialect.framework)
    rules, lacking = list(op_rules(dialect)), list(missing_kernels(dialect))
    if rules:
        yield "## Ops with special rules"
        yield from _beside(base, rules, [] if dialect is base else list(op_rules(base)), "rule")
    if lacking:
        yield "## Promoted, but without a kernel"
        yield "These ops have a result dtype, but no CPU kernel to compute it."
        there = [] if dialect is base else list(missing_kernels(base))
        yield from _beside(base, lacking, there, "dtypes")


def _beside(base: Dialect, rows: _Rows, there: _Rows, what: str) -> Iterator[str]:
    """A table, which the reader opens; of a mode, only what its framework's main page lacks."""
    named = {ops for ops, _ in rows}
    if there and all(row in rows or row[0] in named for row in there):
        rows = [row for row in rows if row not in there]
        and_these = ", and these, which override them:" if rows else "."
        yield f"Those of [{base.name}]({page_name(base)}.md){and_these}"
    if rows:
        lines = f"{len(rows)} lines; a later one overrides an earlier one"
        yield f'<details markdown="1">\n<summary>{lines if len(rows) > 1 else "1 line"}</summary>'
        yield _table("ops", what, rows)
        yield "</details>"


def _table(left: str, right: str, rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(map(markdown_row, [(left, right), ("---", "---"), *rows]))


def _laws(dialect: Dialect) -> Iterator[str]:
    """Whether it is commutative and associative, with a counterexample if it is not."""
    laws = dialect.evidence.laws
    if laws.is_commutative:
        yield "Commutative: `a + b` has the same dtype as `b + a`."
    else:
        yield f"Not commutative: {next(_one_sided(dialect), 'the order of operands matters')}."
    if laws.one_sided:
        named = ", ".join(f"`{name}`" for name in laws.one_sided.split())
        yield f"Except in {named}, where the order of the operands matters."
    if laws.associativity_witness is None:
        yield "Associative: unless one is refused, `(a + b) + c` and `a + (b + c)` have one dtype."
        return
    a, b, c = map(dtype, laws.associativity_witness)
    left, right = promote_types(a, b, dialect=dialect), promote_types(b, c, dialect=dialect)
    steps = [_joined(dialect, *pair) for pair in ((a, b), (left, c), (b, c), (a, right))]
    yield "Not associative: {}, and {}; but {}, and {}.".format(*steps)


def _joined(dialect: Dialect, a: DType, b: DType) -> str:
    return f"{a} with {b} is {promote_types(a, b, dialect=dialect)}"


def _one_sided(dialect: Dialect) -> Iterator[str]:
    """Operands whose result depends on their order, arrays before scalars."""
    arrays = [array_operand(d, (3,)) for d in dialect.dtypes]
    pairs = (*combinations(arrays, 2), *product(arrays, SCALARS), *combinations(SCALARS, 2))
    for (a, b), form, name in product(pairs, ("operator", "function"), ("add", "ne")):
        there, back = (Question(op(name), pair, dialect, form) for pair in ((a, b), (b, a)))
        results = _answer(outcome_of(there)), _answer(outcome_of(back))
        if results[0] != results[1]:
            yield f"`{there}` is {results[0]}, but `{back}` is {results[1]}"


def _assignments(dialect: Dialect) -> Iterator[str]:
    """What some assignments give, and the same in place if that differs."""
    questions = [question_in(text, dialect) for text in _ASSIGNED]
    known = [
        q for q in questions if all(not o.dtype or o.dtype in dialect.dtypes for o in q.operands)
    ]
    methods = [replace(q, form="operator", inplace=True) for q in known]
    assigned, in_place = ([_answer(outcome_of(q)) for q in asked] for asked in (known, methods))
    asked = [f"`{question}`" for question in known]
    yield "## Augmented assignment"
    if in_place == assigned:
        yield _table("x += y", "gives", zip(asked, assigned, strict=True))
    else:
        rows = zip(asked, assigned, in_place, strict=True)
        head = ("x += y", "gives", "x.add_(y) gives")
        yield "\n".join(map(markdown_row, [head, ["---"] * 3, *rows]))


def _answer(outcome: Outcome) -> str:
    return str(outcome.result) if isinstance(outcome, Decision) else "refused"


def _surprises(dialect: Dialect) -> Iterator[str]:
    if dialect.evidence.surprises:
        yield "## Surprises"
        rows = [_surprise(question_in(text, dialect), text) for text in dialect.evidence.surprises]
        yield "\n".join(map(markdown_row, [("ask", "answer", "why"), ["---"] * 3, *rows]))


def _surprise(question: Question, text: str) -> tuple[str, str, str]:
    found = explained(question)
    why = " ".join(deciding_steps(found.steps)) or "No rule changes the dtype."
    return f"`{text}`", _answer(found.outcome), why


def deciding_steps(steps: Iterable[str]) -> list[str]:
    """The steps that decide: not what the operands are, nor what follows from the decision.

    >>> deciding_steps(["int8[3] is an array of int8.", "2 is weak.", "The result is int8."])
    ['2 is weak.']
    >>> deciding_steps(["Refused: 300 is out of range.", "Cast the array."])
    ['300 is out of range.']
    """
    deciding: list[str] = []
    for step in steps:
        if step.startswith(_REFUSED):
            return [*deciding, step.removeprefix(_REFUSED)]
        if not _TOLD_ANYWAY.match(step):
            deciding.append(step)
    return deciding
