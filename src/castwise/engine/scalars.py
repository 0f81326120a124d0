"""The named policies: what each operand can reach, given its role and its company.

A policy answers one mask an operand (see reach.py). Everything frameworks disagree on about Python
scalars, 0-d arrays and values is here; which policy a dialect uses is in its record.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.vocab.dtypes import KINDS, DType, find_dtype
from castwise.vocab.operands import Operand, Role, Scalar, scalar_text

Say = Callable[[str], None] | None
Policy = Callable[[Plan, tuple[Operand, ...], "Say"], list[int]]


def join(plan: Plan, dtypes: Iterable[DType]) -> DType:
    """The dialect's common dtype of some dtypes: all at once, or pair by pair where it folds.

    Raises Refusal where there is none.
    """
    if plan.dialect.folds:
        return functools.reduce(lambda a, b: _join_all(plan, {a, b}), dtypes)
    return _join_all(plan, set(dtypes))


def _join_all(plan: Plan, given: set[DType]) -> DType:
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common is None or not is_allowed(plan, common, given):
        raise no_common_dtype(plan, given)
    return common


def is_allowed(plan: Plan, common: DType, given: set[DType]) -> bool:
    """Whether the dialect lets the join of some dtypes be this one."""
    if plan.dialect.keeps_kind and common.rank > max(d.rank for d in given):
        return False
    reaches = plan.reach.reaches
    return all(
        reaches(foreign, other) or reaches(other, foreign)
        for foreign in plan.only_absorbed & given
        for other in given
    )


def no_common_dtype(plan: Plan, dtypes: Iterable[DType]) -> Refusal:
    """The refusal for dtypes that nothing holds together."""
    names = sorted({d.name for d in dtypes})
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    why = plan.because or f"it has no common dtype for {listed}"
    return Refusal(why, f"Cast one of them, for example x.astype('{names[-1]}').")


def tiers(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """Arrays decide before 0-d arrays, 0-d arrays before scalars, unless a lower tier has a
    higher kind (torch's ResultTypeState)."""
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for operand in operands:
        if operand.is_scalar:
            groups[2].append(scalar_dtype(plan, operand))
        else:
            zero_d = operand.role.is_zero_d and not plan.zero_d_as_arrays
            groups[zero_d].append(_own(operand))
    arrays, zero_d_arrays, scalars = (join(plan, g) if g else None for g in groups)
    common = _outranks(plan, arrays, _outranks(plan, zero_d_arrays, scalars))
    assert common is not None
    if say:
        _tell_tiers(say, arrays, zero_d_arrays, scalars, common)
    return [plan.reach.masks[common]] * len(operands)


def _outranks(plan: Plan, higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of two tiers together; the higher one gives way only to a higher kind."""
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == "complex" or (higher.kind == "float" and lower.kind != "complex"):
        return higher
    if lower.kind == "complex":
        # An array of floats keeps its width, integers take the complex dtype as it is.
        return _complex_of(plan, higher) if higher.kind == "float" else lower
    if higher.kind == "bool" or lower.kind == "float":
        return join(plan, (higher, lower))
    return higher


def _complex_of(plan: Plan, real: DType) -> DType:
    found = plan.reach.common([plan.reach.masks[real]], plan.complex_mask)
    if found is None:
        raise Refusal(f"{real} has no complex dtype", "Cast it to float32 first.")
    return found


def _tell_tiers(
    say: Callable[[str], None],
    arrays: DType | None,
    zero_d: DType | None,
    scalars: DType | None,
    common: DType,
) -> None:
    tiers_found = [
        (name, dtype)
        for name, dtype in (("arrays", arrays), ("0-d arrays", zero_d), ("Python scalars", scalars))
        if dtype
    ]
    said = ", ".join(f"{name} give {dtype}" for name, dtype in tiers_found)
    if len(tiers_found) == 1:
        say(f"The {said}.")
        return
    (top, dtype), lower = tiers_found[0], [d for _, d in tiers_found[1:]]
    highest = max(lower, key=lambda d: d.rank)
    if dtype.rank >= highest.rank:
        say(f"By tier, the {said}: the {top} decide, no lower tier has a higher kind, so {common}.")
    else:
        say(f"By tier, the {said}: {highest.kind} is a higher kind than {dtype.kind}, so {common}.")


def weak(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """Python numbers take the dtype of the arrays; a higher kind moves only the kind (NEP 50)."""
    strong = [
        plan.python["bool"] if o.is_scalar else _own(o)
        for o in operands
        if not (o.is_scalar and o.kind != "bool")
    ]
    reached = plan.reach.masks
    if len(strong) == len(operands):
        return [reached[d] for d in strong]
    weak_ones = [o for o in operands if o.is_scalar and o.kind != "bool"]
    highest = max(weak_ones, key=lambda o: KINDS.index(o.kind))
    common = join(plan, strong) if strong else None
    adopted = _adopts(plan, highest, common)
    if say:
        for operand in weak_ones:
            say(_adoption_text(operand, common, adopted))
    return [reached[d] for d in strong] + [reached[adopted]]


def _adopts(plan: Plan, scalar: Operand, common: DType | None) -> DType:
    """The dtype a weak scalar takes beside the common dtype of the strong operands."""
    kind = scalar.kind
    if common is None:
        return plan.python[kind]
    counts = plan.beside.get(common)
    if counts and kind in counts:
        return _counted(plan, scalar, counts[kind])
    if common.rank >= KINDS.index(kind):
        return common
    return _complex_of(plan, common) if common.kind == "float" else plan.python[kind]


def _counted(plan: Plan, scalar: Operand, dtype: DType) -> DType:
    """The dtype a scalar counts as; an int beyond the Python int's own dtype is refused."""
    if scalar.kind == "int" and scalar_dtype(plan, scalar) is not plan.python["int"]:
        raise Refusal(f"{scalar} has no common dtype with the array", by_value=True)
    return dtype


def _adoption_text(operand: Operand, common: DType | None, adopted: DType) -> str:
    if common is None:
        return f"{operand} stands with no array, so it is {adopted}."
    if adopted is common:
        return f"{operand} is a Python {operand.kind}: weak, it takes the arrays' {common}."
    return f"{operand} is a Python {operand.kind}, a higher kind than {common}: it counts as {adopted}."


def first_operand(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, where the others are of its kind."""
    own = _own(operands[0])
    for other in operands[1:]:
        is_fit = _fits_kind(other.kind, own.kind) if other.is_scalar else other.kind == own.kind
        if not is_fit or (other.kind == "complex" and own.kind != "complex"):
            raise Refusal(f"{other} does not go with {own}", f"Cast it to {own}.")
    return own


def within_kind(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As weak, but a scalar may not be of a higher kind than the arrays (the Array API standard);
    only a complex scalar with floating-point arrays may."""
    arrays = [o for o in operands if not o.is_scalar]
    if not arrays:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [_own(o) for o in arrays])
    for operand in operands:
        if operand.is_scalar and not _fits_kind(operand.kind, common.kind):
            raise Refusal(
                f"a Python {operand.kind} does not go with {common}",
                "Make it an array of the dtype you want.",
            )
    return weak(plan, operands, say)


def _fits_kind(scalar: str, array: str) -> bool:
    if "bool" in (scalar, array):
        return scalar == array
    return KINDS.index(scalar) <= KINDS.index(array) or (scalar, array) == ("complex", "float")


def by_value(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """Scalars and 0-d arrays count as the smallest dtype that holds their value, as long as the
    arrays' kind is at least as high (NumPy before 2.0)."""
    single = [o.role is not Role.ARRAY for o in operands]
    counts = next((plan.beside[o.dtype] for o in operands if o.dtype in plan.beside), None)
    dtypes = [
        ((counts or {}).get(o.kind) or scalar_dtype(plan, o)) if o.is_scalar else _own(o)
        for o in operands
    ]
    categories = [min(d.rank, 2) for d in dtypes]  # float and complex are one category
    arrays = [c for c, s in zip(categories, single, strict=True) if not s]
    scalars = [c for c, s in zip(categories, single, strict=True) if s]
    masks = plan.reach.masks
    if not arrays or not scalars or max(arrays) < max(scalars):
        if say and scalars:
            why = "there is no array" if not arrays else "a scalar is of a higher kind"
            say(f"Values are not looked at, since {why}: the dtypes are {_listed(dtypes)}.")
        return [masks[d] for d in dtypes]
    beside_signed = any(
        d.is_signed for d, s in zip(dtypes, single, strict=True) if not s
    )  # the other operands' dtypes
    entered = []
    for operand, found, is_single in zip(operands, dtypes, single, strict=True):
        is_foreign = counts is not None and plan.joins == "common dtype"
        if not is_single or (is_foreign and found.kind == "int"):
            entered.append(masks[found])
            continue
        smallest, signed_too = smallest_dtype(found, 1 if operand.value is None else operand.value)
        mask = masks[smallest]
        if signed_too:  # 127 counts as int8 too
            if plan.joins == "first loop":
                mask |= masks[signed_too]
            elif beside_signed:
                smallest, mask = signed_too, masks[signed_too]
        if say:
            say(f"{operand} is looked at by value: it fits {smallest}.")
        entered.append(mask)
    return entered


def _listed(dtypes: Iterable[DType]) -> str:
    return ", ".join(d.name for d in dtypes)


def smallest_dtype(dtype: DType, value: Scalar) -> tuple[DType, DType | None]:
    """NumPy 1's min_scalar_type of a value, and the signed dtype of that width if it fits too.

    The float limits are NumPy's own constants, tighter than the formats' (65000, not 65504).
    """
    if dtype.kind == "int":
        return _smallest_int(int(value.real))
    if dtype.kind == "float" and dtype.name in ("float32", "float64"):
        x = abs(float(value.real))
        if not x < float("inf") or x < 65000:
            return _named("float16"), None
        return (_named("float32") if x < 3.4e38 else dtype), None
    if dtype.name == "complex128":
        z = complex(value)
        fits = abs(z.real) < 3.4e38 and abs(z.imag) < 3.4e38
        return (_named("complex64") if fits else dtype), None
    return dtype, None


def _smallest_int(value: int) -> tuple[DType, DType | None]:
    for bits in (8, 16, 32, 64):
        unsigned, signed = _named(f"uint{bits}"), _named(f"int{bits}")
        if value < 0 and value >= signed.min:
            return signed, None
        if 0 <= value <= unsigned.max:
            return unsigned, signed if value <= signed.max else None
    return (_named("int64") if value < 0 else _named("uint64")), None  # an object array


def _named(name: str) -> DType:
    found = find_dtype(name)
    assert found is not None
    return found


def scalar_dtype(plan: Plan, operand: Operand) -> DType:
    """The dtype a Python scalar has of itself; an int beyond int64 is uint64."""
    own = plan.python[operand.kind]
    if operand.kind != "int" or own.min <= operand.value <= own.max:  # type: ignore[operator]
        return own
    wide = _named("uint64")
    if own.bits == 64 and 0 <= operand.value <= wide.max:  # type: ignore[operator]
        return wide
    if plan.out_of_range == "compares as objects":
        return wide if operand.value > 0 else own  # type: ignore[operator]
    raise Refusal(f"{scalar_text(operand.value)} fits no integer dtype", by_value=True)


def _own(operand: Operand) -> DType:
    assert operand.dtype is not None
    return operand.dtype


def as_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """A Python scalar counts as an array of the dtype it has of itself."""
    return [plan.reach.masks[scalar_dtype(plan, o) if o.is_scalar else _own(o)] for o in operands]


def last_adapts(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As tiers, but a Python scalar at the end takes the others' dtype (torch's lerp weight)."""
    *others, last = operands
    if not last.is_scalar:
        return tiers(plan, operands, say)
    common = join(plan, [_own(o) for o in others])
    if last.kind == "complex" and common.kind != "complex":
        raise Refusal(f"{last} does not convert to {common}", by_value=True)
    return [plan.reach.masks[common]] * len(operands)


POLICIES: dict[str, Policy] = {
    "tiers": tiers,
    "weak": weak,
    "within kind": within_kind,
    "by value": by_value,
    "as arrays": as_arrays,
    "last adapts": last_adapts,
}
