"""A dialect's record in words: what holds for every op, and which ops have rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from castwise.report.lattice.legend import only_absorbed_text
from castwise.rules.dialect import Dialect
from castwise.rules.parts import Composed, Condition, Conversion
from castwise.rules.policies import (
    BEYOND,
    DTYPE_ARGUMENTS,
    GUARDS,
    JOINS,
    LIMITS,
    LISTS,
    MASKS,
    NUMBERS,
    NUMPY_ARRAYS,
    OTHERS,
    OUTPUTS,
    PLACES,
    REBINDS,
    SCALARS,
    STARTS,
    STRONG,
    UNLESS,
    join_text,
)
from castwise.rules.rule import Rule, given_fields, without
from castwise.vocab.dtypes import KINDS
from castwise.vocab.operands import Role
from castwise.vocab.ops import RESULTS

_FORMS = {"function": "as a function", "operator": "as an operator", "inplace": "in place",
          "augmented": "as `x += y`", "out": "with `out=`", "dtype": "with `dtype=`"}  # fmt: skip
_EVERY_OP = "*"
_BECOMES = {"truncates": "Narrower arrays, asked for and held", "lifts": "Where an op needs floats",
            "accumulates": "Sums and products", "caps": "Caps on what is computed in"}  # fmt: skip
_TOLD_IN_GENERAL = (f"{_EVERY_OP}/inplace", f"{_EVERY_OP}/augmented", f"{_EVERY_OP}/out")


def general_rules(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """What holds for every op that has no rule of its own: subjects and what is said of them."""
    rule = dialect.ops.get(_EVERY_OP, Rule())
    yield "Join", _join(dialect, rule)
    yield "Python scalars", f"{SCALARS[rule.scalars or 'as arrays']}. {_numbers(dialect)}"
    yield "A Python number out of range", range_text(rule.range.limit, rule.range.beyond)
    for subject, text in _BECOMES.items():
        if getattr(dialect.becomes, subject):
            yield text, _code(_spelled(dialect, getattr(dialect.becomes, subject)))
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
    for guard in dialect.guards:
        yield "Guard", GUARDS[guard]
    if dialect.joining.refusal:
        yield "Refusals", dialect.joining.refusal
    told = ("joins.by", "scalars", "range.limit", "range.beyond", "writes.into", "numpy.arrays")
    rest = phrases(without(rule, *told))
    if rest:
        yield "Besides", "; ".join(rest)


def op_rules(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The ops with rules of their own, and what those say."""
    for names, rule in dialect.ops.items():
        if names in _TOLD_IN_GENERAL:
            rule = without(rule, "writes.into", "writes.rebinds")  # among the general rules
        told = phrases(rule) if names != _EVERY_OP else []
        if told:
            yield _ops_text(names), _spelled(dialect, "; ".join(told))


def missing_kernels(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The ops that promote and then have no kernel on the CPU, and the dtypes they lack it for."""
    for names, dtypes in dialect.no_kernel.items():
        yield _ops_text(names), _names(dtypes)


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
    """The output rule of a form, for ops that have none of their own."""
    given = [dialect.ops.get(key, Rule()).writes.into for key in (f"*/{form}", _EVERY_OP)]
    return next(filter(None, given), "any")


def _numbers(dialect: Dialect) -> str:
    """What Python's numbers are on their own."""
    own = dialect.python
    told = [f"a Python {kind} is {own[kind]}" for kind in KINDS if kind in own]
    if "wide int" in own:
        told.insert(2, f"one beyond {own['int']} is {own['wide int']}")
    told += [f"a Python {kind} is refused" for kind in KINDS if kind not in own]
    return f"On its own, {', '.join(told)}"


def phrases(rule: Rule) -> list[str]:
    """What a rule says, a phrase a field."""
    given = given_fields(rule)
    why = given.pop("because", None)
    limit, beyond = given.pop("range.limit", None), given.pop("range.beyond", None)
    if limit or beyond:
        given = {"range": (limit, beyond), **given}
    told = [_PHRASES.get(name, _by_name(name))(value) for name, value in given.items()]
    return [*told[:-1], f"{told[-1]} ({why})"] if why and told else told


def range_text(limit: str | None, beyond: str | None) -> str:
    """What becomes of a Python number out of range.

    >>> range_text("int64", "raises")
    'beyond int64, whatever the dtype, it is refused'
    """
    happens = BEYOND[beyond or "wraps"]
    if limit == "none":
        return f"{happens}, however large it is"
    return f"beyond {LIMITS[limit or 'dtype']} {happens}"


def _range_phrase(given: tuple[str | None, str | None]) -> str:
    """What a rule changes of the range: its limit, what happens beyond it, or both."""
    limit, beyond = given
    if beyond is None:
        told = LIMITS[limit or "dtype"].removesuffix(",")
        return f"a Python number is out of range beyond {told}" if told else "any number is taken"
    told = range_text(limit, beyond) if limit else BEYOND[beyond]
    return f"a Python number out of range: {told}"


def _by_name(field: str) -> Callable[[Any], str]:
    """A field that has no phrase of its own: its name says what it is."""
    words = field.rpartition(".")[2].replace("_", " ")

    def say(value: Any) -> str:
        if isinstance(value, bool):
            return words if value else f"not: {words}"
        return f"{words}: {_code(str(value))}"

    return say


def _ops_text(names: str) -> str:
    """The ops of a rule's key, those of one form together."""
    forms: dict[str, list[str]] = {}
    for word in names.split():
        name, _, form = word.partition("/")
        forms.setdefault(form, []).append("every op" if name == _EVERY_OP else f"`{name}`")
    return "; ".join(
        f"{', '.join(ops)} {_FORMS.get(form, '')}".strip() for form, ops in forms.items()
    )


def _names(words: str) -> str:
    """Kinds and dtypes as they are listed."""
    return _listed(words.split()) or "nothing"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`" if text else "nothing"


def _spelled(dialect: Dialect, text: str) -> str:
    """A text with the dtypes that Python's numbers stand for, in the place of their names there."""
    for kind, name in dialect.python.items():
        text = text.replace(f"default_{kind}", name)
    return text


def _counts_beside(value: Mapping[str, Mapping[str, str]]) -> str:
    if not value:
        return "Python numbers count alike beside every array"
    alike: dict[str, list[str]] = {}  # what is told of the numbers -> the arrays beside them
    for array, counts in value.items():
        told = _listed([f"a Python {kind} counts as {name}" for kind, name in counts.items()])
        alike.setdefault(told or "Python numbers count as they are", []).append(array)
    return "; ".join(f"beside {_listed(arrays)} {told}" for told, arrays in alike.items())


def _composed(value: tuple[Composed, ...]) -> str:
    return "; ".join(_one_composed(each) for each in value) or "is made of no other ops"


def _one_composed(composed: Composed) -> str:
    told = [f"is {_code(composed.program)}"]
    if composed.kinds or composed.roles:
        kinds = _names(composed.kinds) if composed.kinds else ""
        roles = " or ".join(f"{Role[word].value}s" for word in composed.roles.split())
        told.append(f"of {kinds} {roles or 'operands'}".replace("  ", " "))
    last = [
        " or ".join(composed.exponent_kinds.split()),
        " or ".join(Role[word].value for word in composed.exponent_roles.split()),
        " or ".join(f"{value:g}" for value in composed.exponents),
    ]
    if any(last):
        told.append(f"where the last operand is: {', '.join(filter(None, last))}")
    return " ".join(told)


def _conversion(value: Conversion) -> str:
    """What a Python number may become where it is converted before the op sees it."""
    told = [f"a Python bool becomes {_names(value.bools)}"]
    if value.wide_ints:
        told.append(f"an int beyond int64 becomes {_names(value.wide_ints)}")
    if value.every_int_fits:
        told.append(f"an int must fit {value.every_int_fits}, whatever it becomes")
    if value.joins_too:
        told.append("a NumPy scalar, and all that stands beside a weak array, must join as well")
    return "; ".join(told)


def _condition(value: Condition) -> str:
    """What an op chooses by."""
    told = [f"chooses by {_names(value.arrays)} arrays"]
    if value.otherwise == "no kernel":
        told.append("has no kernel for others")
    told.append(f"by a Python {_or(value.numbers)}" if value.numbers else "by no Python number")
    numpy = f"{_names(value.numpy)} NumPy arrays" if value.numpy else "no NumPy array"
    return ", ".join([*told, f"by {numpy}"])


def _pairs(value: Mapping[str, str]) -> str:
    return _listed([f"{kind} for {name}" for kind, name in value.items()])


def _or(words: str) -> str:
    return " or ".join(words.split())


def _yes_no(yes: str, no: str) -> Callable[[bool], str]:
    return lambda value: yes if value else no


def _named_number(words: str) -> str:
    """The kinds a number given by name may be, and what else is asked of it."""
    kinds = [word for word in words.split() if word in KINDS]
    told = f"a Python {_or(' '.join(kinds))}"
    told += ", above 0" * ("positive" in words)
    return told + (", which the compute dtype must hold" if "fits" in words else "")


_PHRASES: dict[str, Callable[[Any], str]] = {
    "computes": lambda value: f"computes in {_names(value)}",
    "otherwise": lambda value: (
        "other dtypes are refused"
        if value == "refused"
        else "an op also promotes to dtypes it does not compute in, and then has no kernel"
    ),
    "accepts.refuses": lambda value: f"refuses {_names(value)}",
    "accepts.refuses_arrays": lambda value: f"refuses {_names(value)} arrays, but not such scalars",
    "accepts.refuses_compute": lambda value: f"refuses to compute in {_names(value)}",
    "numbers.refused_beside": lambda value: f"{_names(value)} arrays take no Python scalar",
    "numbers.refuses": lambda value: (
        f"takes no Python {_or(value)}" if value else "takes every Python number"
    ),
    "numbers.places": lambda value: f"Python scalars may stand {PLACES[value]}",
    "numbers.lists": lambda value: f"lists of Python numbers {LISTS[value]}",
    "numbers.list_places": lambda value: f"lists may stand {PLACES[value]}",
    "accepts.needs_rank": lambda value: f"some operand must have {value} dimensions or more",
    "numbers.last_is_number": _yes_no(
        "the last operand must be a Python scalar", "any operand may be last"
    ),
    "scalars": lambda value: f"{value}: {SCALARS[value]}",
    "numbers.adapts": lambda value: (
        f"a Python {_or(value)} takes the array's dtype, no other scalar is taken"
        if value
        else "every Python number is taken"
    ),
    "joins.mixes": lambda value: f"unequal arrays meet by these casts alone: {_code(value)}",
    "numbers.beside": _counts_beside,
    "numbers.conversion": _conversion,
    "accepts.condition": _condition,
    "arrays.makes_arrays": lambda value: (
        f"{'every' if value == 'all' else 'the first'} operand is made an array by itself, before"
        " it meets the others"
    ),
    "arrays.zero_d_as_arrays": _yes_no("0-d arrays count as arrays", "0-d arrays count for less"),
    "numbers.count_as": lambda value: NUMBERS[value],
    "accepts.refuses_zero_d": _yes_no("refuses 0-d arrays", "takes 0-d arrays"),
    "joins.reaches": lambda value: f"has edges of its own: {_code(value)}",
    "joins.pairs": lambda value: f"pairs that join elsewhere: {_code(value)}",
    "arrays.promotes": _yes_no(
        "operands are cast to one dtype", "no operand is cast to another's dtype"
    ),
    "arrays.lowest_promoted": _yes_no(
        "lowest dtypes count where operands are promoted, too",
        "lowest dtypes count only for ops that promote nothing",
    ),
    "joins.by": lambda value: f"joins by {value.removeprefix('by ')}: {JOINS[value]}",
    "joins.others": lambda value: f"the first operand decides {OTHERS[value]}",
    "joins.unless": lambda value: UNLESS.get(value, "the first operand always decides"),
    "joins.typed_by": lambda value: f"what is no array is typed by {value}",
    "composes": _composed,
    "borrows": lambda value: f"{value} decides",
    "writes.rebinds": lambda value: REBINDS[value],
    "numpy.arrays": lambda value: f"a NumPy array: {NUMPY_ARRAYS[value]}",
    "numpy.arrays_left": lambda value: f"a NumPy array on the left: {NUMPY_ARRAYS[value]}",
    "numpy.decider": lambda value: f"with a NumPy array on the right, {value} decides",
    "numpy.left_decider": lambda value: (
        f"with a NumPy array or scalar on the left, {value} decides"
    ),
    "numpy.scalars": lambda value: (
        f"NumPy scalars count as Python numbers: {_code(value)}"
        if value
        else "NumPy scalars count as NumPy arrays do"
    ),
    "numpy.scalars_left": lambda value: f"NumPy scalars on the left: {_code(value)}",
    "numpy.reads": lambda value: f"NumPy arrays are taken for {_code(value)}",
    "numpy.sees": lambda value: f"it takes arrays of a dtype for another: {_code(value)}",
    "numpy.refuses": lambda value: f"{_names(value)} arrays do not meet NumPy arrays",
    "numpy.result": lambda value: f"what it decided comes back as {_code(value)}",
    "converts": lambda value: f"before computing, {_code(value)}",
    "integers_become_float": _yes_no("integers become floats", "integers do not become floats"),
    "arrays.keeps_width": lambda value: (
        f"{_or(value)} operands are not computed in fewer bits than they have"
    ),
    "arrays.floats_lift": _yes_no(
        "beside a Python float integers become floats first", "a Python float lifts no integers"
    ),
    "numbers.dtypes": lambda value: f"Python numbers count for other dtypes: {_pairs(value)}",
    "accumulates": _yes_no("small integers are summed in wide ones", "sums keep their dtype"),
    "accepts.same_dtype": _yes_no(
        "all operands must have one dtype", "operands may differ in dtype"
    ),
    "accepts.compared": lambda value: f"that is asked of the first {value} operands alone",
    "arrays.is_truncated": _yes_no(
        "dtypes count as arrays hold them", "dtypes count as they are written"
    ),
    "arrays.keeps_dtypes": _yes_no(
        "a dtype by itself is not truncated", "dtypes are truncated as arrays"
    ),
    "weakness.makes_strong": _yes_no("the result is never weak", "the result may be weak"),
    "weakness.arrays_make_strong": lambda value: (
        f"the result is not weak where {STRONG[value]} has dimensions"
    ),
    "weakness.converted_is_strong": _yes_no(
        "what is converted is not weak", "what is converted may be weak"
    ),
    "range": _range_phrase,
    "range.looks_at": lambda value: f"values are looked at for {_names(value)} alone",
    "exponent.fits": lambda value: f"of values the exponent's alone, which must fit {value} too",
    "exponent.negative": lambda value: (
        "an integer to a negative integer power is refused"
        + (", and so is a negative base" if value.endswith("on either side") else "")
    ),
    "exponent.is_free": _yes_no(
        "one integer as the exponent is any number, and its base wraps within 64 bits",
        "an exponent is a number like any other",
    ),
    "result": lambda value: RESULTS.get(value, f"the result is {value}"),
    "result_of": lambda value: f"but the result: {_code(value)}",
    "writes.into": lambda value: f"what may be written: {OUTPUTS[value]}",
    "writes.also": lambda value: f"written also {_code(value)}",
    "writes.never": lambda value: f"never written {_code(value)}" if value else "no exception",
    "arguments.dtype": lambda value: (
        f"`dtype=`: {DTYPE_ARGUMENTS[value]}" if value else "takes no `dtype=`"
    ),
    "arguments.casting": lambda value: f"operands are cast to `dtype=` by this: {OUTPUTS[value]}",
    "arguments.takes_casting": _yes_no("takes `casting=`", "takes no `casting=`"),
    "arguments.typed_castings": lambda value: (
        f"under `casting=` {_or(value)} Python numbers have a dtype"
    ),
    "arguments.finds_foreign": _yes_no(
        "`dtype=` finds foreign loops for any operands", "`dtype=` finds no foreign loop"
    ),
    "arguments.where": lambda value: f"`where=`: {MASKS[value]}" if value else "takes no `where=`",
    "arguments.initial": lambda value: (
        f"`initial=`: {STARTS[value]}" if value else "takes no `initial=`"
    ),
    "arguments.rounded_as": lambda value: (
        f"`rounding_mode=` has the dtypes of another op: {_code(value)}"
    ),
    "arguments.value": lambda value: f"`value=`: {_named_number(value)}",
    "arguments.delta": lambda value: f"`delta=`: {_named_number(value)}",
}
