"""What an op gives if it computes in the dtype that a decision tells. No framework is asked."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from itertools import cycle, islice
from typing import NamedTuple

from castwise.conformance.arithmetic import (
    ELEMENTWISE,
    EXACT,
    NOT_ROUNDED,
    RUNNING,
    SPREADS,
    SUMS,
    Number,
    computed,
    converted,
    is_known,
    is_near,
    is_subnormal,
    overflows_squared,
    running,
    totals,
)
from castwise.conformance.questions import Scalar, words
from castwise.conformance.replays import Case, Given
from castwise.conformance.values import Held, written
from castwise.engine.decision import Cast, Decision
from castwise.vocab.notation import given_by_name

_PRODUCTS = words("dot inner vecdot matmul")
_LEFT_TO_IT = ("out", "dtype", "casting")  # what is given by name and has a say in dtypes alone


class Asked(NamedTuple):
    """What was decided about a case, and what the framework gave."""

    decision: Decision
    form: str
    case: Case
    held: Held


def wrong_element(asked: Asked) -> str | None:
    """What an elementwise op gives elsewhere if it computes as told, "" where it does; None where
    nothing is known of the op."""
    decision, _, case, held = asked
    op, compute = decision.question.op.name, str(decision.compute)
    if op not in ELEMENTWISE or not is_known(compute) or not is_known(str(decision.result)):
        return None
    if _has_more(asked) or len(held.shape) > 1:
        return None
    columns = _read(decision, case)
    if columns is None:
        return None
    count = len(held.values)
    if any(len(column) not in (1, count) for column in columns):
        return None
    rows = zip(*(islice(cycle(column), count) for column in columns), strict=True)
    result, is_any = str(decision.result), False
    for row, found in zip(rows, held.values, strict=True):
        told = converted(computed(op, compute, row), result)
        if told is None or any(is_subnormal(number, compute) for number in (*row, told)):
            continue
        is_any = True
        if not _is_same(told, found) and not _is_rounded_so(op, told, found, result):
            numbers = ", ".join("?" if n is None else written(n) for n in row)
            return f"{op}({numbers}) in {compute} is {written(told)}, not {written(found)}"
    return "" if is_any else None


def _is_rounded_so(op: str, told: Scalar, found: Scalar, result: str) -> bool:
    return op in NOT_ROUNDED and isinstance(told, float) and is_near(told, found, result)


def _read(decision: Decision, case: Case) -> list[list[Number]] | None:
    """What the op reads: each operand as it is cast, and numbers in the compute dtype."""
    compute, columns = str(decision.compute), []
    for given, cast in zip(case, decision.casts, strict=True):
        target = _target(given, cast, compute)
        if len(given.held.shape) > 1 or not is_known(target):
            return None
        columns.append([converted(value, target) for value in given.held.values])
    return columns


def _target(given: Given, cast: Cast | None, compute: str) -> str:
    if cast is not None:
        return str(cast.target)
    return compute if given.is_number else EXACT


def _is_same(told: Scalar, found: Scalar) -> bool:
    """Whether two numbers are the same, NaNs and zeros of both signs being equal."""
    is_open = not (cmath.isfinite(told) or cmath.isfinite(found))
    if isinstance(told, complex) and is_open:
        return True
    return told == found or (told != told and found != found)


Wrong = tuple[int, str]  # the place of a case, and why; "" if nothing is


def wrong_total(asked: Sequence[Asked]) -> Wrong | None:
    """The case in which a reduction does not compute as told; None where nothing is known. In which
    order it sums is not told: one order must explain all arrays."""
    op = asked[0].decision.question.op.name
    known = [
        (place, each)
        for place, each in enumerate(asked)
        if is_known(str(each.decision.compute)) and not _has_more(each)
    ]
    if op in SPREADS:
        return _wrong_spread(known)
    if op in RUNNING:
        return _wrong_running(known)
    if op not in (*SUMS, *_PRODUCTS):
        return None
    if op not in _PRODUCTS:
        known = [(place, each) for place, each in known if _is_told_apart(each)]
    left: set[int] | None = None
    for place, each in known:
        told = _totals(op, each)
        if told is None or any(one is None for one in told):
            continue
        fitting = {at for at, one in enumerate(told) if one is not None and _fits(one, each.held)}
        left = fitting if left is None else left & fitting
        if not left:
            values = ", ".join(map(written, each.case[0].held.values))
            compute, found = each.decision.compute, written(each.held.values[0])
            why = f"no order of {op} in {compute} gives {found} of {values} and what it did before"
            return place, why
    return None if left is None else (0, "")


def _has_more(asked: Asked) -> bool:
    """Whether something is given by name that has a say in more than dtypes."""
    return bool(set(given_by_name(asked.form)) - set(_LEFT_TO_IT))


def _is_told_apart(asked: Asked) -> bool:
    """Whether the orders that are tried are all there are: of four numbers, or of integers."""
    return "int" in str(asked.decision.compute) or _is_telling(asked.case[0].held.values)


def _is_telling(values: Sequence[Scalar]) -> bool:
    return len(values) == 4 and len({abs(value) for value in values}) < 4


def _fits(told: Scalar, held: Held) -> bool:
    return len(held.values) == 1 and _is_same(told, held.values[0])


def _totals(op: str, asked: Asked) -> list[Number] | None:
    decision, _, case, held = asked
    columns = _read(decision, case)
    if columns is None or held.shape:
        return None
    compute, result = str(decision.compute), str(decision.result)
    values = columns[0]
    if op in _PRODUCTS:
        if len(columns[0]) != len(columns[1]) or len(columns[0]) != 4:
            return None
        values = [computed("mul", compute, pair) for pair in zip(*columns, strict=True)]
    values = [converted(value, compute) for value in values]
    return [converted(each, result) for each in totals(op, compute, values)]


def _wrong_running(asked: Sequence[tuple[int, Asked]]) -> Wrong | None:
    is_any = False
    for place, (decision, _, case, held) in asked:
        compute, result = str(decision.compute), str(decision.result)
        columns = _read(decision, case)
        op = decision.question.op.name
        if columns is None or not case[0].held.shape or not _is_telling(case[0].held.values):
            continue
        values = [converted(value, compute) for value in columns[0]]
        told = [converted(each, result) for each in running(op, compute, values)]
        for at, (one, found) in enumerate(zip(told, held.values, strict=True)):
            if one is None:
                continue
            is_any = True
            if not _is_same(one, found):
                return place, f"{written(one)} in {compute} at {at}, not {written(found)}"
    return (0, "") if is_any else None


def _wrong_spread(asked: Sequence[tuple[int, Asked]]) -> Wrong | None:
    """Of what is squared it is told whether it overflows."""
    is_any = False
    for place, (decision, _, case, held) in asked:
        values, compute = case[0].held.values, str(decision.compute)
        is_plain = len(values) == 4 and all(math.isfinite(abs(v)) for v in values)
        if not is_plain or "int" in compute or compute in ("bool", EXACT) or held.shape:
            continue
        overflows = overflows_squared(compute, values)
        (found,) = held.values
        fits = overflows_squared(str(decision.result), values)
        if overflows is None or (fits is not False and not overflows):
            continue
        is_any = True
        if overflows == math.isfinite(abs(found)):
            verb = "overflow" if overflows else "do not overflow"
            return place, f"the squares {verb} in {compute}, and it is {written(found)}"
    return (0, "") if is_any else None
