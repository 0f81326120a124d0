"""What the frameworks compute where arithmetic leaves a choice, as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from operator import attrgetter

from castwise.rules.dialect import Dialect
from castwise.rules.values import CHOICES

_TITLES = {
    "dividing.quotient_by_zero": "The quotient `//` of integers by zero",
    "dividing.remainder_by_zero": "The remainder of integers by zero",
    "dividing.rounds": "Which way `//` and `%` round",
    "dividing.float_quotient": "`//` of floats",
    "powers.of_integers": "Integers to the power of an array of integers",
    "powers.exponents": "A Python number as the exponent of `float32`",
    "powers.by_one_exponent": "Floats to the power of one exponent",
    "powers.square_root": "The square root of float32 and float64",
    "arithmetic.shifts": "Shifts by a negative count, or by the width or more",
    "casting.float_to_int": "Floats out of range, cast to an integer",
    "casting.float_to_byte": "The same, cast to `uint8`",
    "casting.subnormals": "Subnormal floats",
    "arithmetic.mixed_signs": "Comparisons of a signed with an unsigned integer",
    "dividing.divisor_in_place": "What in-place division divides by",
    "casting.truth": "Casts of complex numbers to bool",
    "reducing.median": "The median",
    "arithmetic.gelu": "gelu",
    "arithmetic.sign_of_nan": "The sign of NaN",
    "arithmetic.halves": "round of halves",
    "clamping.crossed_bounds": "clamp if the lower bound is above the upper bound",
    "clamping.bound_shapes": "clamp if its bounds are arrays",
    "clamping.lower_bound": "clamp of integers with a Python int as the lower bound and"
    " another dtype as the upper",
    "arithmetic.float_errors": "Floats that overflow or are undefined",
    "memory.out_shapes": "`out=` with another shape than the result",
    "memory.assigned_shapes": "The shape of a value that `x[i] = value` assigns",
    "reducing.cumulated_number": "cumsum and cumprod of a 0-d array",
    "reducing.cumulated_axis": "cumsum and cumprod of several dimensions, without an axis",
    "reducing.median_of_none": "The median of no elements",
    "reducing.logsumexp_of_none": "logsumexp of no elements",
    "functions.divmod": "Python's divmod of arrays",
    "functions.round": "Python's round of an array",
    "reducing.extremes_of_none": "max and min of no elements",
    "reducing.place_of_nan": "argmax and argmin of floats that include NaN",
    "reducing.integer_means": "The mean of 64-bit integers, if the result is an integer",
    "reducing.integer_variance": "std and var of integers",
    "arithmetic.real_angles": "angle of real numbers",
    "arithmetic.step_of_nan": "heaviside of NaN",
    "arithmetic.zero_log_of_nan": "xlogy of 0 and NaN",
    "arithmetic.summed_angles": "The imaginary part of logaddexp and logaddexp2",
    "casting.signless": "Negative numbers and zero, cast to float8_e8m0fnu",
    "memory.assigned_0d": "`x[...] = value` of a 0-d array",
    "memory.new_axes": "`x[None] = value`",
    "arithmetic.scaled_sums": "`add` and `sub` of floats with `alpha`",
    "memory.elements": "One element of an array, `x[0]`",
    "memory.slices": "A slice of an array, `x[1:]`",
    "memory.overlaps": "An array assigned to a part of itself",
    "memory.retyped_shapes": "An in-place op that changes the dtype and the shape",
    "methods.extremes": "`x.max(0)`, `x.min(0)` and `x.median(0)`",
    "methods.sort": "`x.sort()`",
    "methods.transpose": "The numbers in `x.transpose(0, 1)`",
    "methods.transposed": "`x.T`, if x is not a matrix",
    "methods.repeat": "`x.repeat(2)`",
    "methods.split": "The number in `x.split(2)`",
    "methods.squeeze": "`x.squeeze(0)`, if that dimension is longer than 1",
    "methods.flatten": "The memory of `x.flatten()`",
    "methods.nonzero": "`x.nonzero()`",
}


# The rules that name ops, in the order of their columns.
_OF_OPS = (
    "arithmetic.wide_scalars", "dividing.reciprocal_first", "dividing.reciprocal_second",
    "arithmetic.stepwise", "memory.shares_memory", "needs.dimension", "needs.elements",
    "needs.vectors", "memory.retyped_first",
)  # fmt: skip
_OWN = "custom dialects that choose it"


def value_tables(dialects: Iterable[Dialect]) -> str:
    """A table for each rule: what may happen, and in which dialects; then one for rules on ops."""
    distinct = _distinct(dialects)
    tables = [_table(_TITLES[name], name, choices, distinct) for name, choices in CHOICES.items()]
    return "\n".join([*tables, _ops_table(distinct)])


def _distinct(dialects: Iterable[Dialect]) -> list[Dialect]:
    """The dialects, without the modes and versions that compute as their framework does."""
    seen: dict[tuple[object, ...], Dialect] = {}
    for dialect in sorted(dialects, key=lambda d: len(d.name)):
        seen.setdefault((dialect.framework, *astuple(dialect.values)), dialect)
    return sorted(seen.values(), key=lambda d: d.name)


def _table(title: str, field: str, choices: Mapping[str, str], dialects: list[Dialect]) -> str:
    rows = [
        (
            meaning,
            ", ".join(d.name for d in dialects if attrgetter(field)(d.values) == choice) or _OWN,
        )
        for choice, meaning in choices.items()
    ]
    lines = [f"| {title} | in |", "|---|---|", *(f"| {text} | {names} |" for text, names in rows)]
    return "\n".join([*lines, ""])


def _ops_table(dialects: list[Dialect]) -> str:
    head = "| dialect | scalar not rounded to small floats | number / array by the reciprocal |"
    more = (
        " array / number by the reciprocal | step by step | shares memory with x |"
        " refuses 0-d arrays | refuses empty arrays | vectors only |"
        " not in place with itself as an operand |"
    )
    lines = [f"{head}{more} std, var divide by |", f"|{'---|' * 11}"]
    for dialect in dialects:
        values = dialect.values
        listed = [attrgetter(field)(values) for field in _OF_OPS]
        cells = [dialect.name, *map(_code, listed), f"n{' - 1' * values.reducing.correction}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())
