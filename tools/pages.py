"""The page about each dialect in docs/dialects, in Markdown, generated from its record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations, product
from operator import attrgetter
from typing import Any

from castwise.catalog import dialect_named
from castwise.comparing.history import history
from castwise.comparing.table import PYTHON_SCALARS, Outcome, outcome_of, table
from castwise.engine.ask import promote_types, question_in
from castwise.engine.decision import Decision, Question
from castwise.graph.onnx.runtimes import ONNX_NAMES, current_opset, runtime_named
from castwise.report.answers import explained
from castwise.report.blocks import markdown_row
from castwise.report.diff import history_markdown, release_summary
from castwise.report.lattice import only_absorbed_text
from castwise.report.table import alike_text, marks_used, short_name, table_markdown
from castwise.rules.dialect import BY_NUMBER, GUARDS, Dialect
from castwise.rules.rule import (
    BEYOND,
    JOINS,
    LIMITS,
    NUMPY_ARRAYS,
    OUTPUTS,
    REBINDS,
    SCALARS,
    Composed,
    Rule,
    given_fields,
    join_text,
    without,
)
from castwise.rules.values import CHOICES, TITLES
from castwise.showing import quantity
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Role, array_operand
from castwise.vocab.ops import RESULTS, op
from onnx_support import (
    REFERENCE_DIFFERS,
    RUNTIME_DIFFERS,
    Support,
    cells,
    computing_ops,
    lacking_dtypes,
    support,
)

# What a rule says about an op, one phrase per field.


def phrases(rule: Rule) -> list[str]:
    """What a rule says, one phrase per field."""
    given = given_fields(rule)
    why = given.pop("because", None)
    limit, beyond = given.pop("range.limit", None), given.pop("range.beyond", None)
    if limit or beyond:
        given = {"range": (limit, beyond), **given}
    texts = [_phrase(name, value) for name, value in given.items()]
    return [*texts[:-1], f"{texts[-1]} ({why})"] if why and texts else texts


def range_text(limit: str | None, beyond: str | None) -> str:
    """What happens to a Python number out of range.

    >>> range_text("int64", "raises")
    'beyond int64, whatever the dtype, it is refused'
    """
    happens = BEYOND[beyond or "wraps"]
    if limit == "none":
        return f"{happens}, however large it is"
    return f"beyond {LIMITS[limit or 'dtype']} {happens}"


def _range_phrase(given: tuple[str | None, str | None]) -> str:
    """What a rule changes about the range: its limit, what happens beyond it, or both."""
    limit, beyond = given
    if beyond is None:
        range_end = LIMITS[limit or "dtype"].removesuffix(",")
        if not range_end:
            return "any number is accepted"
        return f"a Python number is out of range beyond {range_end}"
    happens = range_text(limit, beyond) if limit else BEYOND[beyond]
    return f"a Python number out of range: {happens}"


def _phrase(name: str, value: Any) -> str:
    """What a field says, in the sentence that it is declared with in rules/rule.py."""
    if name in _PHRASES:
        return _PHRASES[name](value)
    part, _, own = name.rpartition(".")
    record = getattr(Rule(), part) if part else Rule()
    field = next(f for f in fields(record) if f.name == own)
    declared = field.metadata
    if not value and declared["otherwise"] is not None:
        return str(declared["otherwise"])
    if field.type == "Dtypes":
        text = dtype_names(value)
    elif declared["words"]:
        text = declared["words"][value]
    elif field.type == "Edges":
        text = code("; ".join(filter(None, map(str.strip, value.splitlines()))))
    elif field.type in ("Text", "OneDtype", "Count", "Kinds", "Words", "Flag"):
        text = str(value)
    else:
        text = code(value)
    return str(declared["sentence"].format(text, either=_or(str(value))))


def dtype_names(words: str) -> str:
    """A list of kinds and dtypes, in words."""
    return listed(words.split()) or "nothing"


def listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def code(text: str) -> str:
    return f"`{' '.join(text.split())}`" if text else "nothing"


def _counts_with_arrays(value: Mapping[str, Mapping[str, str]]) -> str:
    if not value:
        return "Python numbers count the same with every array"
    arrays_by_text: dict[str, list[str]] = {}
    for array, counts in value.items():
        text = listed([f"a Python {kind} counts as {name}" for kind, name in counts.items()])
        arrays_by_text.setdefault(text or "Python numbers count as usual", []).append(array)
    return "; ".join(f"with {listed(arrays)} {text}" for text, arrays in arrays_by_text.items())


def _composed(value: tuple[Composed, ...]) -> str:
    return "; ".join(_one_composed(each) for each in value) or "is made of no other ops"


def _one_composed(composed: Composed) -> str:
    parts = [f"is {code(composed.program)}"]
    if composed.count:
        parts.append("with one operand" if composed.count == 1 else f"with {composed.count}")
    if composed.kinds or composed.roles:
        kinds = dtype_names(composed.kinds) if composed.kinds else ""
        roles = " or ".join(f"{Role[word].value}s" for word in composed.roles.split())
        parts.append(f"for {kinds} {roles or 'operands'}".replace("  ", " "))
    last = [
        _or(composed.exponent_kinds),
        " or ".join(Role[word].value for word in composed.exponent_roles.split()),
        " or ".join(f"{value:g}" for value in composed.exponents),
    ]
    if composed.second_kinds:
        parts.append(f"if the second operand is: {_or(composed.second_kinds)}")
    if any(last):
        parts.append(f"if the last operand is: {', '.join(filter(None, last))}")
    return " ".join(parts)


def _conversion(value: Any) -> str:
    """What a Python number may become if it is converted before the op sees it."""
    parts = [f"a Python bool becomes {dtype_names(value.bools)}"]
    if value.wide_ints:
        parts.append(f"an int beyond int64 becomes {dtype_names(value.wide_ints)}")
    if value.every_int_fits:
        parts.append(f"an int must fit {value.every_int_fits}, whatever it becomes")
    if value.joins_too:
        parts.append("NumPy scalars, and operands next to a weak array, also need a common dtype")
    return "; ".join(parts)


def _condition(value: Any) -> str:
    """What the condition of an op may be."""
    arrays = f"the condition may be {dtype_names(value.arrays)} arrays"
    others = " (others have no kernel)" if value.otherwise == "no kernel" else ""
    numbers = f"a Python {_or(value.numbers)}" if value.numbers else "no Python number"
    numpy = f"{dtype_names(value.numpy)} NumPy arrays" if value.numpy else "no NumPy array"
    return f"{arrays}{others}, {numbers}, {numpy}"


def _pairs(value: Mapping[str, str]) -> str:
    return listed([f"{kind} as {name}" for kind, name in value.items()])


def _or(words: str) -> str:
    return " or ".join(words.split())


def _named_number(words: str) -> str:
    """The kinds that a keyword's number may have, and its other requirements."""
    kinds = [word for word in words.split() if word in KINDS]
    text = f"a Python {_or(' '.join(kinds))}"
    text += ", above 0" * ("positive" in words)
    return text + (", which the compute dtype must hold" if "fits" in words else "")


# The phrases of fields whose value is more than a word or a list.
_PHRASES: dict[str, Callable[[Any], str]] = {
    "scalars": lambda value: f"{value}: {SCALARS[value]}",
    "result": lambda value: RESULTS.get(value, f"the result is {value}"),
    "composes": _composed,
    "accepts.condition": _condition,
    "numbers.conversion": _conversion,
    "numbers.dtypes": lambda value: f"Python numbers count as other dtypes: {_pairs(value)}",
    "numbers.dtypes_by_array": _counts_with_arrays,
    "joins.by": lambda value: f"joins by {value.removeprefix('by ')}: {JOINS[value]}",
    "range": _range_phrase,
    "arguments.value": lambda value: f"`value=`: {_named_number(value)}",
    "arguments.delta": lambda value: f"`delta=`: {_named_number(value)}",
}

# A dialect's record in words: the rules for every op, and the ops with special rules.

_FORMS = {"function": "as a function", "operator": "as an operator", "inplace": "in place",
          "augmented": "as `x += y`", "out": "with `out=`", "dtype": "with `dtype=`"}  # fmt: skip
_EVERY_OP = "*"
_BECOMES = {"truncates": "Truncated dtypes", "lifts": "If an op needs floats",
            "accumulates": "Sums and products", "caps": "Cap on the compute dtype"}  # fmt: skip
_IN_GENERAL_RULES = (f"{_EVERY_OP}/inplace", f"{_EVERY_OP}/augmented", f"{_EVERY_OP}/out")


def general_rules(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The rules for every op without a special rule: subjects, and what applies to them."""
    rule = dialect.ops.get(_EVERY_OP, Rule())
    yield "Join", _join(dialect, rule)
    yield "Python scalars", f"{SCALARS[rule.scalars or 'as arrays']}. {_numbers(dialect)}"
    yield "A Python number out of range", range_text(rule.range.limit, rule.range.beyond)
    for subject, text in _BECOMES.items():
        if getattr(dialect.becomes, subject):
            yield text, code(_spelled(dialect, getattr(dialect.becomes, subject)))
    outputs = {form: _output(dialect, form) for form in ("inplace", "out")}
    if outputs["inplace"] == outputs["out"]:
        yield "In place and `out=`", OUTPUTS[outputs["out"]]
    else:
        yield "In place", OUTPUTS[outputs["inplace"]]
        yield "`out=`", OUTPUTS[outputs["out"]]
    assigned = dialect.ops.get(f"{_EVERY_OP}/augmented", Rule()).writes.rebinds
    yield "`x += y`", REBINDS[assigned] if assigned else "as in place"
    yield "A NumPy array as an operand", NUMPY_ARRAYS[rule.numpy.arrays or "refused"]
    casts = f"that of {dialect.casts_as}" if dialect.casts_as else OUTPUTS[dialect.casts]
    yield "`can_cast`", casts
    for guard in dialect.joining.guards:
        yield "Guard", GUARDS[guard]
    if dialect.joining.refusal:
        yield "Refusals", dialect.joining.refusal


def other_rules(dialect: Dialect) -> list[str]:
    """What else applies to every op without a special rule, one phrase per field."""
    told_above = "joins.by scalars range.limit range.beyond writes.into numpy.arrays"
    return phrases(without(dialect.ops.get(_EVERY_OP, Rule()), *told_above.split()))


def op_rules(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The ops with special rules, and what those say."""
    for names, rule in dialect.ops.items():
        if names in _IN_GENERAL_RULES:
            rule = without(rule, "writes.into", "writes.rebinds")  # general_rules has them
        texts = phrases(rule) if names != _EVERY_OP else []
        if texts:
            yield _ops_text(names), _spelled(dialect, "; ".join(texts))


def missing_kernels(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The ops that promote but have no CPU kernel, and the dtypes for which they have none."""
    for names, dtypes in dialect.no_kernel.items():
        yield _ops_text(names), dtype_names(dtypes)


def _join(dialect: Dialect, rule: Rule) -> str:
    by, others, unless = rule.joins.by, rule.joins.others, rule.joins.unless
    parts = [join_text(by or "common dtype", others or "", unless or "")]
    if dialect.joining.folds:
        parts.append("several operands are joined pair by pair, from the left")
    if dialect.joining.keeps_kind:
        parts.append("the result is never of a higher kind than all operands")
    parts += filter(None, [only_absorbed_text(dialect)])
    return "; ".join(parts)


def _output(dialect: Dialect, form: str) -> str:
    """The output rule of a form, for ops without a special one."""
    given = [dialect.ops.get(key, Rule()).writes.into for key in (f"*/{form}", _EVERY_OP)]
    return next(filter(None, given), "any")


def _numbers(dialect: Dialect) -> str:
    """What Python's numbers are on their own."""
    own = dialect.python
    texts = [f"a Python {kind} is {own[kind]}" for kind in KINDS if kind in own]
    if "wide int" in own:
        texts.insert(2, f"one beyond {own['int']} is {own['wide int']}")
    texts += [f"a Python {kind} is refused" for kind in KINDS if kind not in own]
    return f"On its own, {', '.join(texts)}"


def _ops_text(names: str) -> str:
    """The ops in a rule's key, grouped by form."""
    forms: dict[str, list[str]] = {}
    for word in names.split():
        name, _, form = word.partition("/")
        forms.setdefault(form, []).append("every op" if name == _EVERY_OP else f"`{name}`")
    words = {**_FORMS, **BY_NUMBER}
    texts = [f"{', '.join(ops)} {words.get(form, '')}".strip() for form, ops in forms.items()]
    return "; ".join(texts)


def _spelled(dialect: Dialect, text: str) -> str:
    """A text with the dtypes of Python's numbers instead of words such as default_float."""
    for kind, name in dialect.python.items():
        text = text.replace(f"default_{kind}", name)
    return text


_NOTICE = "<!-- Written by docs/refresh.py from the dialects' records: edit those instead. -->"
_MOST_IN_A_LINE = 3
_TOLD_ANYWAY = re.compile(
    r"Cast: |The result "
    r"|\S+(\(.*\))? is an? (\S+ ){0,3}(array|scalar|list|bool|int|float|complex)\b"
)
_REFUSED = "Refused: "
_Rows = list[tuple[str, str]]
_ASSIGNED = (
    "float32[3] += float64[3]", "float32[3] += int32[3]", "int32[3] += float32[3]",
    "int8[3] += int32[3]", "int32[3] += 1.5",
)  # fmt: skip


def page_name(dialect: Dialect) -> str:
    """The name of a dialect's page, without its ending.

    >>> from castwise.catalog import dialect_named
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
    pairs = ((a, b), (left, c), (b, c), (a, right))
    steps = [f"{x} with {y} is {promote_types(x, y, dialect=dialect)}" for x, y in pairs]
    yield "Not associative: {}, and {}; but {}, and {}.".format(*steps)


def _one_sided(dialect: Dialect) -> Iterator[str]:
    """Operands whose result depends on their order, arrays before scalars."""
    arrays = [array_operand(d, (3,)) for d in dialect.dtypes]
    pairs = [*combinations(arrays, 2), *product(arrays, PYTHON_SCALARS)]
    pairs += combinations(PYTHON_SCALARS, 2)
    for (a, b), form, name in product(pairs, ("operator", "function"), ("add", "ne")):
        there, back = (Question(op(name), pair, dialect, form) for pair in ((a, b), (b, a)))
        results = _answer(outcome_of(there)), _answer(outcome_of(back))
        if results[0] != results[1]:
            yield f"`{there}` is {results[0]}, but `{back}` is {results[1]}"


def _assignments(dialect: Dialect) -> Iterator[str]:
    """What some assignments give, and the same in place if that differs."""
    own = (None, *dialect.dtypes)
    known = [question_in(text, dialect) for text in _ASSIGNED]
    known = [q for q in known if all(operand.dtype in own for operand in q.operands)]
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


# What the frameworks compute where arithmetic leaves a choice, as Markdown tables.

# The rules that name ops, in the order of their columns.
_OF_OPS = (
    "arithmetic.wide_scalars", "arithmetic.wide_numbers",
    "dividing.reciprocal_first", "dividing.reciprocal_second",
    "arithmetic.stepwise", "memory.shares_memory", "needs.dimension", "needs.elements",
    "needs.vectors", "memory.retyped_first", "memory.gives_arrays",
)  # fmt: skip
_OWN = "custom dialects that choose it"


def value_tables(dialects: Iterable[Dialect]) -> str:
    """A table for each rule: what may happen, and in which dialects; then one for rules on ops."""
    distinct = _distinct(dialects)
    tables = [_values_table(name, choices, distinct) for name, choices in CHOICES.items()]
    return "\n".join([*tables, _ops_table(distinct)])


def _distinct(dialects: Iterable[Dialect]) -> list[Dialect]:
    """The dialects, without the modes and versions that compute as their framework does."""
    seen: dict[tuple[object, ...], Dialect] = {}
    for dialect in sorted(dialects, key=lambda d: len(d.name)):
        seen.setdefault((dialect.framework, *astuple(dialect.values)), dialect)
    return sorted(seen.values(), key=lambda d: d.name)


def _values_table(field: str, choices: Mapping[str, str], dialects: list[Dialect]) -> str:
    lines = [f"| {TITLES[field]} | in |", "|---|---|"]
    for choice, meaning in choices.items():
        named = [d.name for d in dialects if attrgetter(field)(d.values) == choice]
        lines.append(f"| {meaning} | {', '.join(named) or _OWN} |")
    return "\n".join([*lines, ""])


def _ops_table(dialects: list[Dialect]) -> str:
    head = "| dialect | scalar not rounded to small floats | number alone not rounded |"
    more = (
        " number / array by the reciprocal | array / number by the reciprocal | step by step |"
        " shares memory with x |"
        " refuses 0-d arrays | refuses empty arrays | vectors only |"
        " not in place with itself as an operand | arrays where other results are scalars |"
    )
    lines = [f"{head}{more} std, var divide by |", f"|{'---|' * 13}"]
    for dialect in dialects:
        values = dialect.values
        named = [attrgetter(field)(values).split() for field in _OF_OPS]
        ops = [", ".join(f"`{op}`" for op in some) for some in named]
        cells = [dialect.name, *ops, f"n{' - 1' * values.reducing.correction}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


# The page on what can be exported to ONNX, generated by trying every op in every dtype.

_ONNX_NOTICE = "<!-- Written by docs/refresh.py, which tries every op: edit tools/pages.py. -->"
_VERSIONS = re.compile(r"onnx (\S+), onnxruntime (\S+), opset (\d+)")
_INTRODUCTION = """\
# What can be exported to ONNX

`g.to_onnx("model.onnx")` writes a traced graph as an ONNX model and returns it. The model uses \
standard ops and every cast is explicit, so no runtime promotes anything. Inputs are named after \
the function's parameters, outputs are `out0`, `out1` and so on, and the size `n` of `float16[n]` \
is the model's `n`. [examples/export_onnx.py](../../examples/export_onnx.py) shows it.

The opset is the newest one that the installed onnx supports; if onnxruntime is installed, it is \
the newest that both support. `opset=` chooses another. What ONNX cannot express raises an error \
that names each op and dtype with its line in the source.

## For a runtime

A runtime has kernels for only a part of ONNX, and some of them round or wrap differently. \
`g.to_onnx("model.onnx", runtime="onnxruntime")` writes a model that onnxruntime {version} loads, \
and for which it computes the values on this page. What has no kernel is computed in a wider dtype \
(`bfloat16`, `int16`), functions of float64 are composed of others, sums and products of integers \
wrap, and casts to small floats overflow as they should. Dtypes that onnxruntime has no arrays for \
raise an error that names them: {has_no}. A determinant in float64 and nextafter in 8-bit floats \
also raise an error. `src/castwise/graph/onnx/onnxruntime.py` lists what the runtime lacks, and \
`tools/onnx_runtimes.py` finds it out.

## How values are kept

- If ONNX's op does not accept a small dtype, or a composition would round it between its ops, it \
is cast to float32 or int32, computed, and cast back. So it is rounded or wrapped only once.
- Casts to 8-bit floats do not saturate: what is out of range becomes infinity or NaN.
- Integer division and remainders by zero are 0, shifts by too many bits shift everything out, and \
integer powers wrap. ONNX leaves these undefined, so the model contains ops for them. If the \
divisor or the exponent is a constant, it contains only the few ops that this constant needs.
- The largest and smallest element of an array with NaN is NaN, wherever the NaN is.
- complex64 is split into its parts by its bits, computed in float32, or in float64 where rounding \
errors would add up, and put together again. complex128 can only be moved and selected.
- A negative power of integers, and a cast of a float that is out of range for the integer dtype, \
gives whatever the runtime computes. The sign of NaN is not defined.
- `x[i] = value` is ScatterND. Sorting is TopK, with NaN as the largest. If an index contains an \
element twice, any one of the values may be kept.
- Layers are Einsum, Pad, OneHot, Gather (embedding), TopK, Conv, LayerNormalization and \
SoftmaxCrossEntropyLoss. The cross entropy of probabilities and attention are composed of several \
ops. The sizes of a convolution must be known, except that of the batch.
- In addition to the ops below, functions that move, sort or select elements can be exported: \
reshape, permute_dims, broadcast_to, flip, roll, tile, repeat, concat, stack, indices, take, \
take_along_axis, sort, argsort, searchsorted, tril, triu, diagonal; also tensordot, det and the \
norms. ONNX has no ops for the decompositions, solve, inv and the rest of linear algebra. Fourier \
transforms are not exported.
- onnxruntime skips roundings between float16 ops unless its optimisations are off.
"""
_LEGEND = """\
`1`: one ONNX op. `c`: composed of several ops. `w`: computed in a wider dtype. `-`: ONNX cannot \
express it. Empty: the op does not compute in this dtype. ONNX's reference evaluator checks every \
cell except `-` and empty ones, and onnxruntime checks them too. Only the reference evaluator \
checks cells with `·`, as onnxruntime has no CPU kernels for them. float6 is checked in opset 28. \
The tests compare values by castwise's rules: bit-equal for arithmetic, comparisons and all \
integers, 1 ulp for powers, a few ulps for other functions, and 32 ulps of its size for a power of \
complex numbers, in which rounding errors add up.
"""


def installed_versions() -> tuple[str, str, str] | None:
    """The versions of onnx and onnxruntime, and the opset; None if one of them is not installed."""
    try:
        return version("onnx"), version("onnxruntime"), str(current_opset())
    except PackageNotFoundError:
        return None


def versions_of(page: str) -> tuple[str, ...] | None:
    """The versions a page was written for."""
    found = _VERSIONS.search(page)
    return found.groups() if found else None


def onnx_page() -> str:
    """The page, for what is installed here."""
    found = {(name, held): _tried(name, held) for name, held in cells()}
    versions = installed_versions()
    assert versions is not None  # the caller has checked
    versions_text = "onnx {}, onnxruntime {}, opset {}".format(*versions)
    runtime = runtime_named("onnxruntime")
    has_no = ", ".join(sorted(runtime.has_no))
    introduction = _INTRODUCTION.format(version=runtime.version, has_no=has_no)
    parts = [
        introduction.replace("\n\n", f"\n\n{_ONNX_NOTICE}\n\n", 1),
        _differences(),
        f"## Every op in every dtype\n\nWith {versions_text}. {_summary(found)}",
        _LEGEND,
        _onnx_table(found),
    ]
    return "\n".join(parts)


def _tried(name: str, held: DType) -> Support:
    opset = 28 if held.bits == 6 else current_opset()
    return support(name, held, opset, asks_runtime=held.kind != "complex" and held.bits != 6)


def _differences() -> str:
    lines = ["## Where castwise does not follow a checker\n"]
    for checker, listed in (("The reference evaluator", REFERENCE_DIFFERS),
                          ("onnxruntime", RUNTIME_DIFFERS)):  # fmt: skip
        lines += [f"- {checker}, {op} in {held}: {why}." for (op, held), why in listed.items()]
    return "\n".join(lines) + "\n"


def _summary(found: dict[tuple[str, DType], Support]) -> str:
    counts = Counter(cell.how for cell in found.values())
    widened = sum(cell.is_widened for cell in found.values())
    twice = sum(cell.has_kernels for cell in found.values())
    lacking = ", ".join(held.name for held in lacking_dtypes())
    return (
        f"Of {len(found)} pairs of an op and a dtype, {counts['one op']} are one ONNX op, "
        f"{counts['composed']} are composed and {counts['none']} cannot be exported. "
        f"{widened} of them are computed in a wider dtype, and onnxruntime checks {twice} of them "
        f"too. ONNX has no {lacking}.\n"
    )


def _onnx_table(found: dict[tuple[str, DType], Support]) -> str:
    dtypes = [dtype(name) for name in sorted(ONNX_NAMES, key=_order)]
    lines = [f"| op | {' | '.join(map(short_name, dtypes))} |", "|---" * (len(dtypes) + 1) + "|"]
    for name in computing_ops():
        row = [_mark(found.get((name, held))) for held in dtypes]
        lines.append(f"| {name} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _order(name: str) -> tuple[int, bool, int, str]:
    held = dtype(name)
    return held.rank, not held.is_signed, held.bits, name


def _mark(cell: Support | None) -> str:
    if cell is None:
        return ""
    if cell.how == "none":
        return "-"
    how = ("1" if cell.how == "one op" else "c") + "w" * cell.is_widened
    return how if cell.has_kernels else f"{how}·"


# The pages about releases: a page for each framework, and an index.

_MADE = "<!-- written by docs/refresh.py -->"


def history_page(framework: str) -> str:
    """What the recorded releases of a framework changed."""
    about = (
        "From the recorded answers of each release, the newest first."
        f" `castwise history {framework} --cells` lists every group, `--op` limits it to an op,"
        " and `--json` has every answer. [How releases are recorded](../reference/releases.md)."
    )
    title, changes = f"# What releases of {framework} changed", history_markdown(history(framework))
    return "\n\n".join([title, _MADE, about, changes]) + "\n"


def history_index(frameworks: Sequence[str]) -> str:
    """The frameworks, with how much their releases changed."""
    rows = [["framework", "releases", "the newest of them"], ["---"] * 3]
    for name in frameworks:
        found = history(name)
        newest = f"{found[0].version}: {release_summary(found[0])}"
        rows.append([f"[{name}]({name}.md)", quantity(len(found) + 1, "release"), newest])
    about = (
        "Release notes seldom say which results get another dtype. These pages do: castwise"
        " asked each release the same questions and compared the answers."
    )
    table = "\n".join(map(markdown_row, rows))
    return "\n\n".join(["# What releases changed", _MADE, about, table]) + "\n"
