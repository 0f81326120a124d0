"""A dialect's record in words: the rules for every op, and the ops with special rules."""

from __future__ import annotations

from collections.abc import Iterator

from castwise.report.lattice.legend import only_absorbed_text
from castwise.report.pages.phrases import code, dtype_names, phrases, range_text
from castwise.rules.dialect import Dialect
from castwise.rules.policies import (
    GUARDS,
    NUMPY_ARRAYS,
    OUTPUTS,
    REBINDS,
    SCALARS,
    join_text,
)
from castwise.rules.rule import Rule, without
from castwise.vocab.dtypes import KINDS

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
    yield (
        "`can_cast`",
        f"that of {dialect.casts_as}" if dialect.casts_as else OUTPUTS[dialect.casts],
    )
    for guard in dialect.joining.guards:
        yield "Guard", GUARDS[guard]
    if dialect.joining.refusal:
        yield "Refusals", dialect.joining.refusal


def other_rules(dialect: Dialect) -> list[str]:
    """What else applies to every op without a special rule, one phrase per field."""
    told_above = (
        "joins.by",
        "scalars",
        "range.limit",
        "range.beyond",
        "writes.into",
        "numpy.arrays",
    )
    return phrases(without(dialect.ops.get(_EVERY_OP, Rule()), *told_above))


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
    return "; ".join(
        f"{', '.join(ops)} {_FORMS.get(form, '')}".strip() for form, ops in forms.items()
    )


def _spelled(dialect: Dialect, text: str) -> str:
    """A text with the dtypes of Python's numbers instead of words such as default_float."""
    for kind, name in dialect.python.items():
        text = text.replace(f"default_{kind}", name)
    return text
