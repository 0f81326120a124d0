"""How an op computes, once its operands are promoted: which casts happen, and in which dtype.

Promotion gives one dtype, and a cast to it for each operand. A framework need not make those casts:
it may read a number or the elements of a sum in a wider dtype than the result's, compare integers
exactly, convert a number on its own first, or compute an op by others. A decision tells what
happens, so that its casts, made by hand, give the framework's own bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from castwise.engine.accepts import is_out_of_range, overflows, scalar_hazard
from castwise.engine.decision import Cast, Question, cast_between, is_beyond
from castwise.engine.operands import native_operands
from castwise.engine.plan import Plan
from castwise.engine.writes import as_computed
from castwise.vocab.dtypes import EXACT, KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role


class Computation(NamedTuple):
    """What an op computes in, the cast of each operand, and the ops that it is computed by."""

    compute: DType
    casts: tuple[Cast | None, ...]
    program: str = ""  # "mul(reciprocal(y), x)", where it is not the op itself
    inside: tuple[Cast, ...] = ()  # the casts that the program makes between its steps


def computation(plan: Plan, question: Question, promoted: Computation) -> Computation:
    """What the framework computes, where promotion gives some casts and a dtype."""
    if question.form == "augmented":
        question = as_computed(question)
    promoted = _without_imaginary(plan, question, promoted)
    for look in OWN_WAYS.get(question.op.name, ()):
        found = look(plan, question, promoted)
        if found is not None:
            return found
    adapted = _adapted(plan, question, promoted)
    if adapted is not None:
        return adapted
    if question.named.dtype and plan.arguments.dtype == "casts or reads":
        own = question.operands[0].dtype
        wide = plan.reads.get(own) if own else None
        return promoted._replace(compute=wide, casts=(None,)) if wide else promoted
    asked = question.named.dtype
    if asked and plan.arguments.dtype == "casts first" and asked is not promoted.compute:
        own = question.operands[0].dtype
        return promoted._replace(casts=(cast_between(own, asked) if own else None,))
    wide = plan.reads.get(promoted.compute) if plan.reads else None
    if wide is None:
        return promoted
    is_asked = question.named.dtype or (question.out and plan.writes.counts)
    if is_asked and plan.arguments.dtype == "casts to read":
        (operand,) = question.operands
        assert operand.dtype is not None  # these are ops of one array
        return Computation(wide, (cast_between(operand.dtype, wide),))
    return Computation(wide, promoted.casts)


def _without_imaginary(plan: Plan, question: Question, promoted: Computation) -> Computation:
    """With the casts of complex NumPy scalars that count as real numbers."""
    for place, operand in enumerate(question.operands):
        if operand.role is not Role.NUMPY_SCALAR or operand.kind != "complex":
            continue
        counts, own = plan.numpy.scalars if place else plan.numpy.scalars_left, operand.dtype
        if own and counts.get(own) == "float":
            held = promoted.compute if promoted.compute.kind == "float" else _FLOAT64
            casts = _put(promoted.casts, place, cast_between(own, held))
            promoted = Computation(promoted.compute, casts)
    return promoted


def _read_in(wide: DType, question: Question, promoted: Computation) -> Computation:
    """The op reads all operands in a wider dtype, as one of them has it; nothing is copied."""
    apart = question.op.apart(question.operands)
    casts = [
        cast if place == apart else _reading(operand, cast, promoted.compute, wide)
        for place, (operand, cast) in enumerate(zip(question.operands, promoted.casts, strict=True))
    ]
    return Computation(wide, tuple(casts))


def _reading(operand: Operand, cast: Cast | None, promoted: DType, wide: DType) -> Cast | None:
    """The cast of an operand that is promoted and then read in a wider dtype. What loses nothing on
    the way to the promoted dtype is read straight from its own."""
    if (
        operand.dtype is None
        or operand.dtype is wide
        or (cast and not promoted.holds(operand.dtype))
    ):
        return cast
    return read_as(operand.dtype, wide)


def read_as(source: DType, target: DType) -> Cast | None:
    """An operand that is read in another dtype, without a copy."""
    return None if source is target else Cast(source, target, (), is_read=True)


def number_cast(plan: Plan, number: Operand, target: DType) -> Cast | None:
    """The cast of a Python number that does not become what it is."""
    hazard = scalar_hazard(plan, number, target)
    return Cast(None, target, (hazard,)) if hazard else None


def is_named(words: str, question: Question) -> bool:
    """Whether a list of ops and op/form has that of a question."""
    return is_listed(words, question.op.name, question.form)


@functools.lru_cache(maxsize=1 << 10)
def is_listed(words: str, op: str, form: str) -> bool:
    """Whether a list of ops and op/form has an op in a form."""
    return not {op, "/".join((op, form))}.isdisjoint(words.split())


# A number or a 0-d array that small floats are computed with is not rounded to them.

_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")
WIDE = {"float16": _FLOAT32, "bfloat16": _FLOAT32}


def wide_place(plan: Plan, question: Question, compute: DType) -> int | None:
    """The place of the operand that is read in a wider dtype than small floats; None if none is."""
    if compute.name not in WIDE:
        return None
    arithmetic = question.dialect.values.arithmetic
    takes_zero_d = is_named(arithmetic.wide_scalars, question)
    if not (takes_zero_d or is_named(arithmetic.wide_numbers, question)):
        return None
    first, last = question.operands[0], question.operands[-1]
    is_number = counts_as_number(first, plan.numpy.scalars_left)
    if arithmetic.wide_zero_d == "rounded":
        # A quotient is special where its divisor is a number.
        is_quotient = question.op.name == "floor_divide"
        ends = (is_number and not is_quotient, counts_as_number(last, plan.numpy.scalars))
    else:
        is_reflected = question.form == "operator" and question.op.name == "mul"
        is_last = takes_zero_d and last.rank == 0
        ends = (is_number and is_reflected, is_last or counts_as_number(last, plan.numpy.scalars))
    if not any(ends):
        return None
    place = 0 if ends[0] else len(question.operands) - 1
    return None if question.operands[place].dtype is compute else place


def counts_as_number(operand: Operand, counts: dict[DType, str]) -> bool:
    """Whether an operand is a Python number, or a NumPy scalar that counts as one."""
    if operand.role is not Role.NUMPY_SCALAR or operand.dtype is None:
        return operand.is_scalar
    return counts.get(operand.dtype, "") in KINDS


def _with_wide(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    place = wide_place(plan, question, promoted.compute)
    if place is None:
        return None
    wide, operand = WIDE[promoted.compute.name], question.operands[place]
    found = _read_in(wide, question, promoted)
    if operand.dtype is None:
        cast = number_cast(plan, operand, wide)
    else:
        cast = cast_between(operand.dtype, wide)
    return Computation(wide, _put(found.casts, place, cast))


def _put(casts: tuple[Cast | None, ...], place: int, cast: Cast | None) -> tuple[Cast | None, ...]:
    return (*casts[:place], cast, *casts[place + 1 :])


# Integers that are compared by their exact values.

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def is_compared_exactly(plan: Plan, question: Question, compute: DType) -> bool:
    """Whether integers are compared without a cast: signed with unsigned arrays, or an array with a
    Python int outside its range."""
    if has_int_beyond(plan, question, compute):
        return True
    first, second = question.operands
    kinds = {operand.dtype.kind for operand in question.operands if operand.dtype}
    is_mixed = kinds == {"int"} and not (first.is_scalar or second.is_scalar)
    is_exact = question.dialect.values.arithmetic.mixed_signs == "exact"
    return is_mixed and is_exact and compute.kind == "float"


def has_int_beyond(plan: Plan, question: Question, compute: DType) -> bool:
    """Whether an integer array is compared with a Python int outside its range."""
    is_exact = plan.range.beyond == "compares" and plan.range.limit in ("dtype", "none")
    return is_exact and any(is_out_of_range(o, compute) for o in question.operands)


def _compared(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    if not is_compared_exactly(plan, question, promoted.compute):
        return None
    return Computation(EXACT, (None,) * len(promoted.casts))


# A number that is first converted to the dtype of an integer array, where it wraps.


def first_converted(plan: Plan, question: Question, compute: DType) -> DType | None:
    """The integer dtype that Python numbers get before the op computes in floats, if they do."""
    held = next((o.dtype for o in question.operands if o.dtype and o.dtype.kind == "int"), None)
    is_read = plan.scalars == "converted" and held in plan.converts
    if plan.range.limit == "array dtype" and _are_integers(question.operands):
        held, is_read = held or plan.python["int"], True
    return held if is_read and compute.kind == "float" else None


def _are_integers(operands: tuple[Operand, ...]) -> bool:
    numbers = [o.value for o in operands if o.is_scalar]
    kinds = {o.dtype.kind for o in operands if o.dtype}
    return kinds <= {"bool", "int"} and all(type(number) is int for number in numbers)


def _converted(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    held = first_converted(plan, question, promoted.compute)
    if held is None:
        return None
    places = [at for at, operand in enumerate(question.operands) if is_out_of_range(operand, held)]
    inside = (Cast(None, held, ("wraps",)),)
    return _cast_twice(question, promoted, dict.fromkeys(places, held), inside)


def _adapted(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    """What becomes of NumPy's arrays that take an array's dtype before the op converts that."""
    if not any([operand.is_numpy for operand in question.operands]):
        return None
    first, inside = {}, []
    apart = question.op.apart(question.operands)
    places = [place for place in range(len(question.operands)) if place != apart]
    taking_part = tuple([question.operands[place] for place in places])
    for place, native in zip(places, native_operands(plan, taking_part), strict=True):
        own, held = question.operands[place].dtype, native.dtype
        if own is None or held is None or held is promoted.compute or held.holds(own):
            continue
        first[place] = held
        inside.append(cast_between(own, held))
    return _cast_twice(question, promoted, first, tuple(filter(None, inside)))


def _cast_twice(
    question: Question,
    promoted: Computation,
    first: Mapping[int, DType],
    inside: tuple[Cast, ...],
) -> Computation | None:
    """With operands that are cast to another dtype before they are cast as promotion has it."""
    if not first:
        return None
    names, casts = list(_NAMES[: len(question.operands)]), promoted.casts
    for place, held in first.items():
        names[place] = f"cast(cast({names[place]}, {held}), {promoted.compute})"
        casts = _put(casts, place, None)
    program = f"{question.op.name}({', '.join(names)})"
    return promoted._replace(program=program, casts=casts, inside=inside)


# A Python int that reaches an integer dtype through a float, which rounds it.


def _through(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    through, compute = plan.numbers.through, promoted.compute
    if through is None or compute.kind != "int":
        return None
    places = []
    for place, operand in enumerate(question.operands):
        value = operand.value
        counts = plan.numpy.scalars if place else plan.numpy.scalars_left
        if type(value) is not int or not counts_as_number(operand, counts):
            continue
        if abs(value) > through.largest_exact_int or not compute.min <= value <= compute.max:
            places.append(place)
    inside = tuple(filter(None, [promoted.casts[place] for place in places]))
    return _cast_twice(question, promoted, dict.fromkeys(places, through), inside)


_NAMES = "xyz"  # of the operands in a program


# Bounds of integers that hold every value, which are left out before anything is promoted.


def _bounded(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    array = question.operands[0].dtype
    is_left_out = plan.range.beyond == "raises if no value is left"
    if not is_left_out or array is None or array.kind != "int":
        return None
    bounds = dict(zip("yz", question.operands[1:], strict=False))
    dropped = [
        name
        for name, bound in bounds.items()
        if type(bound.value) is int and bound.is_scalar and _holds_all(name, bound, array)
    ]
    is_other = promoted.compute is not array
    if not any(is_other or is_out_of_range(bounds[name], array) for name in dropped):
        return None
    kept = "".join(name for name in bounds if name not in dropped)
    program = {"y": "maximum(x, y)", "z": "minimum(x, z)", "": "positive(x)"}[kept]
    return promoted._replace(program=program)


def _holds_all(name: str, bound: Operand, array: DType) -> bool:
    value = bound.value
    assert isinstance(value, int)
    return value <= array.min if name == "y" else value >= array.max


# A Python number as an exponent that is not rounded to the base's dtype.


def _exponent(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    exponent = question.operands[1]
    rule = question.dialect.values.powers
    is_number = counts_as_number(exponent, plan.numpy.scalars)
    if rule.exponents != "kept" or not is_number or promoted.compute is not _FLOAT32:
        return None
    if rule.by_one_exponent == "short cuts" and exponent.value in _SHORT_CUTS:
        return None
    found = _read_in(_FLOAT64, question, promoted)
    hazards = ("loses-range",) if overflows(exponent, _FLOAT64) else ()
    cast = Cast(None, _FLOAT64, hazards) if exponent.dtype is None else None
    return found._replace(casts=_put(found.casts, 1, cast))


_SHORT_CUTS = (0, 0.5, 1, 2, 3, -0.5, -1, -2)  # EXACT_VALUES in vocab/operands.py has them

# An exponent that is no element's, and as wide as it needs to be.


def _apart(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    exponent, fits = question.operands[1], plan.exponent.fits
    wide = plan.exponent.fits_with_numbers
    if not (exponent.is_scalar and fits and wide and is_beyond(exponent.value, fits)):
        return None
    return promoted._replace(casts=_put(promoted.casts, 1, Cast(None, wide, ())))


# Means and deviations whose sums are rounded to what they are written into, and divided there. In
# their programs n is how many they average, an int64.


def _mean(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    asked = question.named.dtype
    written = asked if asked and asked.kind in ("bool", "int") else question.out
    if written is None or plan.rounds != "each step":
        return None
    (operand,) = question.operands
    assert operand.dtype is not None  # these are ops of one array
    wide = plan.reads.get(promoted.compute, promoted.compute)
    casts = (cast_between(operand.dtype, wide),)
    program = f"div({_sum_text('x', wide, written)}, n)"
    return Computation(wide, casts, program, _made((wide, written)))


def _deviation(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    """The mean is rounded to dtype=, the sum of the squares to it or to out=."""
    asked, (operand,) = question.named.dtype, question.operands
    own = operand.dtype
    assert own is not None
    if plan.rounds == "into halves" and question.out:
        return _deviation_into(question.op.name, own, question.out, promoted)
    if plan.rounds != "each step" or not (asked or question.out):
        return None
    held = asked or promoted.compute  # of the mean
    apart = plan.reach.common([plan.reach.masks[own], plan.reach.masks[held]])
    if apart is None:
        return None
    total = _sum_text(_cast_text("x", own, held), held, held)
    # Beside arrays that count for more than n the quotient of complex numbers is no wider one.
    count = f"cast(n, {held})" if plan.scalars == "by value" and held.kind == "complex" else "n"
    distance = f"sub({_cast_text('x', own, apart)}, cast(div({total}, {count}), {held}))"
    square, squares = f"square({distance})", apart
    if apart.kind == "complex" and (own.kind in ("bool", "complex") or own in plan.only_absorbed):
        square = f"add(square(real({distance})), square(imag({distance})))"
        squares = apart.part
    summed = asked or plan.converts.get(own) or squares
    written = question.out or summed
    if question.out and not asked and own not in plan.converts:
        summed = plan.reach.common([plan.reach.masks[d] for d in (squares, written)]) or squares
    total = _sum_text(_cast_text(square, squares, summed), summed, written)
    program = f"cast(div({total}, n), {written})"
    if question.op.name == "std":
        program = f"sqrt({program})"
    inside = _made((own, held), (own, apart), (squares, summed), (summed, written))
    return promoted._replace(casts=(None,), program=program, inside=inside)


def _deviation_into(op: str, own: DType, out: DType, promoted: Computation) -> Computation | None:
    """Small floats are what it computes of; of complex numbers each part has its own variance."""
    is_small = out.name in WIDE
    if own.kind != "complex":
        cast = cast_between(own, out)
        return Computation(WIDE[out.name], (cast,)) if is_small else None
    parts = [f"{part}(x)" for part in ("real", "imag")]
    if is_small:
        program = ", ".join(f"var({_cast_text(part, own.part, out)})" for part in parts)
    else:
        program = ", ".join(_cast_text(f"var({part})", own.part, out) for part in parts)
    program = f"sqrt(add({program}))" if op == "std" else f"add({program})"
    return promoted._replace(program=program, casts=(None,), inside=_made((own.part, out)))


def _sum_text(text: str, summed: DType, target: DType) -> str:
    """A sum in a dtype, cast to another. An op gives sums of integers in a wide one."""
    is_wide = summed.kind in ("bool", "int")
    return f"cast(sum({text}), {target})" if is_wide else _cast_text(f"sum({text})", summed, target)


def _cast_text(text: str, source: DType, target: DType) -> str:
    return text if source is target else f"cast({text}, {target})"


# Losses that round to the dtype of their first operand before they sum.


def _loss(plan: Plan, question: Question, promoted: Computation) -> Computation | None:
    first, second = question.operands[:2]
    own, target = first.dtype, second.dtype
    if plan.rounds != "elements" or plan.composes:  # composed, it casts before
        return None
    if own is None or target is None or target.kind != "float":
        return None
    common = plan.reach.common([plan.reach.masks[own], plan.reach.masks[target]])
    if common is None or common is own:
        return None
    casts: tuple[Cast | None, ...]
    if question.op.name == "cross_entropy":
        program = "div(neg(sum(mul(log_softmax(x), y))), n)"
        casts, inside = (None, cast_between(target, common)), _made((own, common))
    else:
        delta = 1 if question.named.delta is None else question.named.delta
        apart = "abs(sub(x, y))"
        near, far = f"mul(mul(0.5, {apart}), {apart})", f"mul({delta}, sub({apart}, {delta / 2}))"
        program = f"mean(cast(where(lt({apart}, {delta}), {near}, {far}), {own}))"
        casts = (cast_between(own, common), cast_between(target, common))
        inside = _made((common, own))
    return Computation(common, casts, program, inside)


def _made(*pairs: tuple[DType, DType]) -> tuple[Cast, ...]:
    """The casts that a program makes, each once."""
    return tuple(dict.fromkeys(filter(None, [cast_between(*pair) for pair in pairs])))


Look = Callable[[Plan, Question, Computation], Computation | None]
# By the ops that may compute otherwise than promotion has it.
OWN_WAYS: dict[str, tuple[Look, ...]] = {
    **dict.fromkeys(("floor_divide", "lerp"), (_with_wide,)),
    **dict.fromkeys(("add", "sub", "mul"), (_converted, _through, _with_wide)),
    "div": (_converted, _with_wide),
    **dict.fromkeys(("div_no_nan", "atan2", "logaddexp"), (_converted,)),
    "clamp": (_bounded,),
    "pow": (_exponent,),
    "ldexp": (_apart,),
    "mean": (_mean,),
    **dict.fromkeys(("cross_entropy", "huber_loss"), (_loss,)),
    **dict.fromkeys(("std", "var"), (_deviation,)),
    **dict.fromkeys(COMPARISONS, (_compared,)),
}
