"""What the frameworks compute where arithmetic leaves a choice, as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple

from castwise.rules.dialect import Dialect
from castwise.rules.values import CHOICES

_TITLES = {
    "quotient_by_zero": "The quotient `//` of integers by zero",
    "remainder_by_zero": "The remainder of integers by zero",
    "division": "Which way `//` and `%` round",
    "float_quotient": "`//` of floats",
    "integer_powers": "Integers to the power of an array of integers",
    "exponents": "A Python number as the exponent of `float32`",
    "single_powers": "Floats to the power of one exponent",
    "square_root": "The square root of float32 and float64",
    "shifts": "Shifts by a negative count, or by the width or more",
    "float_to_int": "Floats out of range, cast to an integer",
    "float_to_byte": "The same, cast to `uint8`",
    "subnormals": "Subnormal floats",
    "mixed_signs": "Comparisons of a signed with an unsigned integer",
    "divisor_in_place": "What in-place division divides by",
    "truth": "Casts of complex numbers to bool",
    "median": "The median",
    "gelu": "gelu",
    "sign_of_nan": "The sign of NaN",
    "halves": "round of halves",
    "crossed_bounds": "clamp if the lower bound is above the upper bound",
    "bound_shapes": "clamp if its bounds are arrays",
    "lower_bound": "clamp of integers with a Python int as the lower bound and another dtype"
    " as the upper",
    "float_errors": "Floats that overflow or are undefined",
    "out_shapes": "`out=` with another shape than the result",
    "assigned_shapes": "The shape of a value that `x[i] = value` assigns",
    "cumulated_number": "cumsum and cumprod of a 0-d array",
    "cumulated_axis": "cumsum and cumprod of several dimensions, without an axis",
    "median_of_none": "The median of no elements",
    "logsumexp_of_none": "logsumexp of no elements",
    "divmod": "Python's divmod of arrays",
    "round": "Python's round of an array",
    "extremes_of_none": "max and min of no elements",
    "place_of_nan": "argmax and argmin of floats that include NaN",
    "integer_means": "The mean of 64-bit integers, if the result is an integer",
    "integer_variance": "std and var of integers",
    "real_angles": "angle of real numbers",
    "step_of_nan": "heaviside of NaN",
    "zero_log_of_nan": "xlogy of 0 and NaN",
    "summed_angles": "The imaginary part of logaddexp and logaddexp2",
    "signless": "Negative numbers and zero, cast to float8_e8m0fnu",
    "assigned_0d": "`x[...] = value` of a 0-d array",
    "new_axes": "`x[None] = value`",
    "scaled_sums": "`add` and `sub` of floats with `alpha`",
    "elements": "One element of an array, `x[0]`",
    "slices": "A slice of an array, `x[1:]`",
    "overlaps": "An array assigned to a part of itself",
    "retyped_shapes": "An in-place op that changes the dtype and whose result has another shape",
}


_OWN = "custom dialects that choose it"


def value_tables(dialects: Iterable[Dialect]) -> str:
    """A table for each rule: what may happen, and in which dialects; then one of rules on ops."""
    told = _told_apart(dialects)
    tables = [_table(_TITLES[field], field, choices, told) for field, choices in CHOICES.items()]
    return "\n".join([*tables, _ops_table(told)])


def _told_apart(dialects: Iterable[Dialect]) -> list[Dialect]:
    """The dialects, without the modes and versions that compute as their framework does."""
    seen: dict[tuple[object, ...], Dialect] = {}
    for dialect in sorted(dialects, key=lambda d: len(d.name)):
        seen.setdefault((dialect.framework, *astuple(dialect.values)), dialect)
    return sorted(seen.values(), key=lambda d: d.name)


def _table(title: str, field: str, choices: Mapping[str, str], told: list[Dialect]) -> str:
    rows = [
        (meaning, ", ".join(d.name for d in told if getattr(d.values, field) == choice) or _OWN)
        for choice, meaning in choices.items()
    ]
    lines = [f"| {title} | in |", "|---|---|", *(f"| {text} | {names} |" for text, names in rows)]
    return "\n".join([*lines, ""])


def _ops_table(told: list[Dialect]) -> str:
    head = "| dialect | scalar not rounded to small floats | number / array by the reciprocal |"
    more = (
        " array / number by the reciprocal | step by step | shares memory with x |"
        " refuses 0-d arrays | refuses empty arrays | vectors only |"
        " not in place with itself as an operand |"
    )
    lines = [f"{head}{more} std, var divide by |", f"|{'---|' * 11}"]
    for dialect in told:
        values = dialect.values
        listed = (
            values.wide_scalars, values.reciprocal_first, values.reciprocal_second,
            values.stepwise, values.shares_memory, values.needs_dimension, values.needs_elements,
            values.needs_vectors, values.retyped_first,
        )  # fmt: skip
        cells = [dialect.name, *map(_code, listed), f"n{' - 1' * values.correction}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())
