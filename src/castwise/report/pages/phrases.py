"""What a rule says about an op, one phrase per field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from castwise.rules.parts import Composed, Condition, Conversion
from castwise.rules.policies import (
    BEYOND,
    DTYPE_ARGUMENTS,
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
)
from castwise.rules.rule import Rule, given_fields
from castwise.vocab.dtypes import KINDS
from castwise.vocab.operands import Role
from castwise.vocab.ops import RESULTS


def phrases(rule: Rule) -> list[str]:
    """What a rule says, one phrase per field."""
    given = given_fields(rule)
    why = given.pop("because", None)
    limit, beyond = given.pop("range.limit", None), given.pop("range.beyond", None)
    if limit or beyond:
        given = {"range": (limit, beyond), **given}
    texts = [_PHRASES.get(name, _by_name(name))(value) for name, value in given.items()]
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


def _by_name(field: str) -> Callable[[Any], str]:
    """The phrase of a field that is not in the table: its name says what it is."""
    words = field.rpartition(".")[2].replace("_", " ")

    def say(value: Any) -> str:
        if isinstance(value, bool):
            return words if value else f"not: {words}"
        return f"{words}: {code(str(value))}"

    return say


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
        " or ".join(composed.exponent_kinds.split()),
        " or ".join(Role[word].value for word in composed.exponent_roles.split()),
        " or ".join(f"{value:g}" for value in composed.exponents),
    ]
    if composed.second_kinds:
        parts.append(f"if the second operand is: {' or '.join(composed.second_kinds.split())}")
    if any(last):
        parts.append(f"if the last operand is: {', '.join(filter(None, last))}")
    return " ".join(parts)


def _conversion(value: Conversion) -> str:
    """What a Python number may become if it is converted before the op sees it."""
    parts = [f"a Python bool becomes {dtype_names(value.bools)}"]
    if value.wide_ints:
        parts.append(f"an int beyond int64 becomes {dtype_names(value.wide_ints)}")
    if value.every_int_fits:
        parts.append(f"an int must fit {value.every_int_fits}, whatever it becomes")
    if value.joins_too:
        parts.append("NumPy scalars, and operands next to a weak array, also need a common dtype")
    return "; ".join(parts)


def _condition(value: Condition) -> str:
    """What the condition of an op may be."""
    arrays = f"the condition may be {dtype_names(value.arrays)} arrays"
    others = " (others have no kernel)" if value.otherwise == "no kernel" else ""
    numbers = f"a Python {_or(value.numbers)}" if value.numbers else "no Python number"
    numpy = f"{dtype_names(value.numpy)} NumPy arrays" if value.numpy else "no NumPy array"
    return f"{arrays}{others}, {numbers}, {numpy}"


def _one_line(edges: str) -> str:
    return "; ".join(filter(None, map(str.strip, edges.splitlines())))


def _pairs(value: Mapping[str, str]) -> str:
    return listed([f"{kind} as {name}" for kind, name in value.items()])


def _or(words: str) -> str:
    return " or ".join(words.split())


def _yes_no(yes: str, no: str) -> Callable[[bool], str]:
    return lambda value: yes if value else no


def _named_number(words: str) -> str:
    """The kinds that a keyword's number may have, and its other requirements."""
    kinds = [word for word in words.split() if word in KINDS]
    text = f"a Python {_or(' '.join(kinds))}"
    text += ", above 0" * ("positive" in words)
    return text + (", which the compute dtype must hold" if "fits" in words else "")


_PHRASES: dict[str, Callable[[Any], str]] = {
    "computes": lambda value: f"computes in {dtype_names(value)}",
    "otherwise": lambda value: (
        "other dtypes are refused"
        if value == "refused"
        else "an op also promotes to dtypes it does not compute in, and then has no kernel"
    ),
    "accepts.refuses": lambda value: f"refuses {dtype_names(value)}",
    "accepts.refuses_arrays": lambda value: (
        f"refuses {dtype_names(value)} arrays, but not such scalars"
    ),
    "accepts.refuses_compute": lambda value: f"refuses to compute in {dtype_names(value)}",
    "numbers.refused_with": lambda value: f"{dtype_names(value)} arrays accept no Python scalar",
    "numbers.refuses": lambda value: (
        f"accepts no Python {_or(value)}" if value else "accepts every Python number"
    ),
    "numbers.places": lambda value: f"Python scalars are accepted {PLACES[value]}",
    "numbers.lists": lambda value: f"lists of Python numbers {LISTS[value]}",
    "numbers.list_places": lambda value: f"lists are accepted {PLACES[value]}",
    "accepts.needs_rank": lambda value: f"some operand must have {value} dimensions or more",
    "numbers.last_is_number": _yes_no(
        "the last operand must be a Python scalar", "any operand may be last"
    ),
    "scalars": lambda value: f"{value}: {SCALARS[value]}",
    "numbers.adapts": lambda value: (
        f"a Python {_or(value)} takes the array's dtype, other scalars are refused"
        if value
        else "every Python number is accepted"
    ),
    "joins.mixes": lambda value: f"arrays of two dtypes mix only by these casts: {code(value)}",
    "numbers.dtypes_by_array": _counts_with_arrays,
    "numbers.conversion": _conversion,
    "accepts.condition": _condition,
    "arrays.makes_arrays": lambda value: (
        f"{'every' if value == 'all' else 'the first'} operand is converted to an array on its own,"
        " before the dtypes are joined"
    ),
    "arrays.zero_d_as_arrays": _yes_no(
        "0-d arrays count as arrays", "0-d arrays rank below arrays"
    ),
    "numbers.count_as": lambda value: NUMBERS[value],
    "accepts.refuses_zero_d": _yes_no("refuses 0-d arrays", "accepts 0-d arrays"),
    "joins.reaches": lambda value: f"has its own edges: {code(_one_line(value))}",
    "joins.pairs": lambda value: f"these pairs join differently: {code(value)}",
    "arrays.promotes": _yes_no(
        "operands are cast to one dtype", "no operand is cast to another's dtype"
    ),
    "arrays.lowest_promoted": _yes_no(
        "lowest dtypes also apply if operands are promoted",
        "lowest dtypes apply only to ops that promote nothing",
    ),
    "joins.by": lambda value: f"joins by {value.removeprefix('by ')}: {JOINS[value]}",
    "joins.others": lambda value: f"the first operand decides {OTHERS[value]}",
    "joins.unless": lambda value: UNLESS.get(value, "the first operand always decides"),
    "joins.typed_by": lambda value: f"{value} decides the dtype of operands that are not arrays",
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
        f"NumPy scalars count as Python numbers: {code(value)}"
        if value
        else "NumPy scalars count as NumPy arrays do"
    ),
    "numpy.scalars_left": lambda value: f"NumPy scalars on the left: {code(value)}",
    "numpy.reads": lambda value: f"NumPy arrays are read as other dtypes: {code(value)}",
    "numpy.sees": lambda value: f"it sees arrays as other dtypes: {code(value)}",
    "numpy.refuses": lambda value: f"{dtype_names(value)} arrays do not mix with NumPy arrays",
    "numpy.result": lambda value: f"its result is converted: {code(value)}",
    "converts": lambda value: (
        f"before computing, {code(value)}" if value else "nothing is converted before computing"
    ),
    "integers_become_float": _yes_no("integers become floats", "integers do not become floats"),
    "arrays.keeps_width": lambda value: (
        f"{_or(value)} operands are not computed in fewer bits than they have"
    ),
    "arrays.floats_lift": _yes_no(
        "with a Python float integers become floats first",
        "a Python float does not turn integers into floats",
    ),
    "numbers.dtypes": lambda value: f"Python numbers count as other dtypes: {_pairs(value)}",
    "accumulates": _yes_no("small integers are summed in wide ones", "sums keep their dtype"),
    "accepts.same_dtype": _yes_no(
        "all operands must have one dtype", "operands may differ in dtype"
    ),
    "accepts.wider_others": lambda value: (
        f"the others may all have a wider one: {code(value)}, from the first operand's"
    ),
    "accepts.index": lambda value: f"the index may be {dtype_names(value)}",
    "accepts.refuses_last": lambda value: f"refuses {dtype_names(value)} as the last operand",
    "accepts.compared": lambda value: f"only the first {value} operands must have one dtype",
    "arrays.is_truncated": _yes_no("dtypes are truncated", "dtypes are not truncated"),
    "arrays.keeps_dtypes": _yes_no(
        "a dtype on its own is not truncated", "a dtype on its own is truncated as arrays are"
    ),
    "weakness.makes_strong": _yes_no("the result is never weak", "the result may be weak"),
    "weakness.arrays_make_strong": lambda value: (
        f"the result is not weak if {STRONG[value]} has dimensions"
    ),
    "weakness.converted_is_strong": _yes_no(
        "converted operands are not weak", "converted operands may be weak"
    ),
    "range": _range_phrase,
    "range.looks_at": lambda value: f"values are checked only for {dtype_names(value)}",
    "exponent.fits": lambda value: (
        f"only the exponent's value is checked, and it must also fit {value}"
    ),
    "exponent.negative": lambda value: (
        "an integer to a negative integer power is refused"
        + (", and so is a negative base" if value.endswith("on either side") else "")
    ),
    "exponent.is_free": _yes_no(
        "a single integer as the exponent may be any number, and its base wraps at 64 bits",
        "an exponent is a number like any other",
    ),
    "result": lambda value: RESULTS.get(value, f"the result is {value}"),
    "result_of": lambda value: f"the result dtype changes: {code(value)}",
    "writes.into": lambda value: f"what may be written: {OUTPUTS[value]}",
    "writes.also": lambda value: f"may also be written: {code(value)}",
    "writes.never": lambda value: f"may not be written: {code(value)}" if value else "no exception",
    "arguments.dtype": lambda value: (
        f"`dtype=`: {DTYPE_ARGUMENTS[value]}" if value else "accepts no `dtype=`"
    ),
    "arguments.casting": lambda value: f"casts of operands to `dtype=`: {OUTPUTS[value]}",
    "arguments.takes_casting": _yes_no("accepts `casting=`", "accepts no `casting=`"),
    "arguments.typed_castings": lambda value: (
        f"with `casting=` {_or(value)}, Python numbers have a dtype"
    ),
    "arguments.finds_foreign": _yes_no(
        "`dtype=` finds foreign loops for any operands", "`dtype=` finds no foreign loop"
    ),
    "arguments.where": lambda value: (
        f"`where=`: {MASKS[value]}" if value else "accepts no `where=`"
    ),
    "arguments.initial": lambda value: (
        f"`initial=`: {STARTS[value]}" if value else "accepts no `initial=`"
    ),
    "arguments.rounded_as": lambda value: (
        f"`rounding_mode=` uses the dtypes of another op: {code(value)}"
    ),
    "arguments.value": lambda value: f"`value=`: {_named_number(value)}",
    "arguments.delta": lambda value: f"`delta=`: {_named_number(value)}",
}
