"""The page about each dialect in docs/dialects, in Markdown, generated from its record."""

from __future__ import annotations

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
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op

_NOTICE = "<!-- Written by docs/refresh.py from the dialects' records: edit those instead. -->"
_MOST_IN_A_LINE = 3
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
    arrays, scalars = (table("add", dialect, columns=[group]) for group in ("arrays", "scalars"))
    marks = dict.fromkeys([*marks_used(arrays), *marks_used(scalars)])
    alike = dict.fromkeys([*alike_text(arrays), *alike_text(scalars)])
    lines = [
        f"# {name}",
        _NOTICE,
        dialect.about,
        _facts(dialect),
        "## Rules",
        "\n".join(_rules(dialect)),
        f"![What reaches what in {name}]({page_name(dialect)}.svg)",
        *_ops_with_rules(dialect),
        "## Array with array",
        table_markdown(arrays),
        "## Array with Python scalar",
        table_markdown(scalars),
        *([f"Marks: {', '.join(marks)}.".replace("*", r"\*")] if marks else []),
        *([" ".join(alike)] if alike else []),
        "## Laws",
        "\n".join(f"- {law}" for law in _laws(dialect)),
        *_assignments(dialect),
        *_surprises(dialect),
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
        "A dialect is a framework's rules at a version, in a mode. Each has a page: its rules in"
        " words, what reaches what, its tables, its laws, and its surprises. The picture shows how"
        " much they differ: the share of questions, in %, that two dialects answer differently"
        " (`castwise diff --all`).",
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
        f"- Dtypes: {', '.join(d.name for d in dialect.dtypes)}.",
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
    rules, lacking = list(op_rules(dialect)), list(missing_kernels(dialect))
    if rules:
        yield "## Ops with special rules"
        yield "If two lines name the same op, the later one overrides the earlier one."
        yield _table("ops", "rule", rules)
    if lacking:
        yield "## Promoted, but without a kernel"
        yield "The op has a result dtype, but no CPU kernel to compute it."
        yield _table("ops", "dtypes", lacking)


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
    """What some assignments give, as a table, and the same in place if that differs."""
    questions = [question_in(text, dialect) for text in _ASSIGNED]
    known = [
        q for q in questions if all(not o.dtype or o.dtype in dialect.dtypes for o in q.operands)
    ]
    yield "## Augmented assignment"
    assigned = [_answer(outcome_of(q)) for q in known]
    yield _table("x += y", "gives", _named(known, assigned))
    methods = [replace(q, form="operator", inplace=True) for q in known]
    in_place = [_answer(outcome_of(q)) for q in methods]
    if in_place != assigned:
        yield "## In place"
        yield _table("x.add_(y)", "gives", _named(methods, in_place))


def _named(questions: list[Question], answers: list[str]) -> list[tuple[str, str]]:
    return [(f"`{question}`", answer) for question, answer in zip(questions, answers, strict=True)]


def _answer(outcome: Outcome) -> str:
    return str(outcome.result) if isinstance(outcome, Decision) else "refused"


def _surprises(dialect: Dialect) -> Iterator[str]:
    if dialect.evidence.surprises:
        yield "## Surprises"
    for text in dialect.evidence.surprises:
        found = explained(question_in(text, dialect))
        yield f"### `{text}` is {_answer(found.outcome)}"
        yield "\n".join(f"{number}. {step}" for number, step in enumerate(found.steps, 1))
