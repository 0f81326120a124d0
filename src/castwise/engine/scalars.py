"""The named policies for scalars and 0-d arrays; which one a dialect uses is in its record.

A policy returns masks, as Reach in plan.py has them: what each operand reaches, given its role and
the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from castwise.catalog import dialect_named
from castwise.engine.decision import Note, Refusal, is_beyond, no_common_dtype, way_out
from castwise.engine.operands import is_weakly_typed, no_integer_dtype, number_dtypes, own_dtype
from castwise.engine.plan import Plan, dialect_reach
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS, DType, dtype, dtypes_named, strong_twin, weak_nodes
from castwise.vocab.operands import Operand, Role, Scalar, array_operand

# The join: the common dtype of some dtypes.


def join(plan: Plan, dtypes: Iterable[DType]) -> DType:
    """The dialect's common dtype of some dtypes: all at once, or pair by pair where it folds.

    Raises Refusal where there is none.
    """
    if plan.dialect.joining.folds:
        return functools.reduce(lambda a, b: _join_all(plan, {a, b}), dtypes)
    return _join_all(plan, set(dtypes))


def _join_all(plan: Plan, given: set[DType]) -> DType:
    if len(given) == 1:
        return next(iter(given))
    if (exception := plan.joins.pairs.get(frozenset(given))) is not None:
        return exception
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common is None or not is_allowed(plan, common, given):
        raise no_common_dtype(plan, given)
    return common


def is_allowed(plan: Plan, common: DType, given: set[DType]) -> bool:
    """Whether the dialect allows this dtype as the join of some dtypes."""
    if plan.dialect.joining.keeps_kind and common.rank > max([d.rank for d in given]):
        return False
    if len(plan.apart) > 1 and not any(side.isdisjoint(given) for side in plan.apart):
        return False
    reaches = plan.reach.reaches
    return plan.only_absorbed.isdisjoint(given) or all(
        reaches(foreign, other) or reaches(other, foreign)
        for foreign in plan.only_absorbed & given
        for other in given
    )


def check_mix(plan: Plan, dtypes: Iterable[DType]) -> None:
    """Raises Refusal where arrays of these dtypes have a common dtype, but the dialect does not
    cast them to it."""
    if plan.joins.mixes is None:
        return
    given = set(dtypes)
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common and any((d, common) not in plan.joins.mixes for d in given - {common}):
        why = plan.dialect.joining.refusal or f"arrays of {common} and another dtype do not mix"
        raise Refusal(why, f"Cast one: x.astype('{common}').", target=common)


def _matching_complex(plan: Plan, real: DType) -> DType:
    """The complex dtype a float dtype becomes.

    Raises Refusal where it reaches none.
    """
    found = plan.reach.common([plan.reach.masks[real]], plan.reach.complex_mask)
    if found is None:
        raise Refusal(f"{real} has no matching complex dtype", f"Cast it to {real.of_parts} first.")
    return found


# The policy of tiers: arrays, then 0-d arrays, then Python scalars; kinds outrank tiers.

_NAMES = ("arrays", "0-d arrays", "Python scalars")


def _tiers(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What all operands reach together: an array's tier decides unless a lower tier has a higher
    kind (torch's ResultTypeState)."""
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for operand in operands:
        groups[_tier(operand)].append(own_dtype(plan, operand))
    arrays, zero_d, scalars = _joined_tiers(plan, groups)
    common = _outranks(plan, arrays, _outranks(plan, zero_d, scalars))
    assert common is not None
    if note:
        _note_tiers(groups, (arrays, zero_d, scalars), common, note)
    return [plan.reach.masks[common]] * len(operands)


def _joined_tiers(plan: Plan, groups: tuple[list[DType], ...]) -> list[DType | None]:
    """The common dtype of each tier."""
    return [
        group[0] if len(group) == 1 else join(plan, group) if group else None for group in groups
    ]


def _last_adapts(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """As tiers, but a Python scalar at the end takes the others' dtype (torch's lerp weight)."""
    *others, last = operands
    if not last.is_scalar:
        return _tiers(plan, operands, note)
    common = join(plan, [own_dtype(plan, o) for o in others])
    if last.kind == "complex" and common.kind != "complex":
        raise Refusal(
            f"{last} cannot be converted to {common}", "Cast the arrays to complex.", by_value=True
        )
    return [plan.reach.masks[common]] * len(operands)


def _tier(operand: Operand) -> int:
    """0 for an array, 1 for a 0-d one, 2 for a Python scalar."""
    return 2 if operand.is_scalar else int(operand.is_zero_d)


def _outranks(plan: Plan, higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of two tiers together; the higher one gives way only to a higher kind."""
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == "complex" or (higher.kind == "float" and lower.kind != "complex"):
        return higher
    if lower.kind == "complex":
        # An array of floats keeps its width; integers take the complex dtype unchanged.
        return _matching_complex(plan, higher) if higher.kind == "float" else lower
    if higher.kind == "bool" or lower.kind == "float":
        return join(plan, (higher, lower))
    return higher


def _note_tiers(
    groups: tuple[list[DType], ...],
    by_tier: tuple[DType | None, ...],
    common: DType,
    note: Callable[[str], None],
) -> None:
    """Says what each tier gives, and which one decides."""
    is_noted = False
    for name, group, joined in zip(_NAMES, groups, by_tier, strict=True):
        given = list(dict.fromkeys(d.name for d in group))
        if len(given) > 1:
            note(f"The {name}' {' and '.join(given)} promote to {joined}.")
            is_noted = True
    found = [(name, dtype) for name, dtype in zip(_NAMES, by_tier, strict=True) if dtype]
    if len(found) == 1:
        if found[0][0] != _NAMES[0] and not is_noted:
            note(f"The {found[0][0]} give {common}.")
        return
    top, highest = found[0][1], max([dtype for _, dtype in found[1:]], key=lambda d: d.rank)
    listed = ", ".join(f"{name} are {dtype}" for name, dtype in found)
    if top.rank >= highest.rank:
        why = f"No other operand has a higher kind, so the {found[0][0]} decide"
    else:
        why = f"The kind {highest.kind} is higher than {top.kind}, so it decides"
    note(f"{listed[0].upper()}{listed[1:]}. {why}: {common}.")


# The policy of kinds: the highest kind decides, and within it the tiers do.


def _kinds_first(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What all operands reach together: the highest kind decides, and within it arrays come before
    0-d arrays, whose dtype is used unchanged. A Python scalar counts only where its kind is higher,
    and then as a 0-d array (MindSpore's implicit promotion of Mul)."""
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for operand in [o for o in operands if not o.is_scalar]:
        groups[_tier(operand)].append(own_dtype(plan, operand))
    common = _highest_kind_dtype(plan, groups)
    for scalar in [o for o in operands if o.is_scalar]:
        if common is None or KINDS.index(scalar.kind) > common.rank:
            groups[1].append(own_dtype(plan, scalar))
        elif note:
            note(f"{scalar} is weak: it takes the arrays' {common}.")
    common = _highest_kind_dtype(plan, groups)
    assert common is not None
    if note:
        _note_tiers(groups, tuple(_joined_tiers(plan, groups)), common, note)
    return [plan.reach.masks[common]] * len(operands)


def _highest_kind_dtype(plan: Plan, groups: tuple[list[DType], ...]) -> DType | None:
    """The dtype of the highest kind among the tiers', the highest tier's where several are."""
    found = [dtype for dtype in _joined_tiers(plan, groups) if dtype]
    return max(found, key=lambda d: d.rank) if found else None


# The policy of weak scalars: a Python number takes the arrays' dtype if its kind is no higher.


def _weak(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand reaches: a Python number what the arrays do, or, of a higher kind, the
    dtype of that kind (NEP 50). A Python bool is an ordinary bool."""
    scalars = [o for o in operands if o.is_scalar and o.kind != "bool"]
    strong = [own_dtype(plan, o) for o in operands if not o.is_scalar or o.kind == "bool"]
    check_mix(plan, [o.dtype for o in operands if o.dtype])
    entered = list(strong)
    if scalars:
        common = join(plan, strong) if strong else None
        adopted = _adopted_dtype(plan, max(scalars, key=lambda o: KINDS.index(o.kind)), common)
        entered.append(adopted)
        if note:
            for scalar in scalars:
                note(_adoption_text(scalar, common, adopted))
    return [plan.reach.masks[d] for d in entered]


def _adopted_dtype(plan: Plan, scalar: Operand, common: DType | None) -> DType:
    """The dtype a weak scalar takes, given the common dtype of the strong operands."""
    kind = scalar.kind
    if common is None:
        return plan.python[kind]
    counts = number_dtypes(plan, [common])
    if counts and kind in counts:
        # An int beyond the Python int's own dtype counts as no dtype that joins with the array's.
        if kind == "int" and own_dtype(plan, scalar) is not plan.python["int"]:
            raise Refusal(
                f"{scalar} has no common dtype with {common}", "Write it as a float.", by_value=True
            )
        return counts[kind]
    if common.rank >= KINDS.index(kind):
        return common
    return _matching_complex(plan, common) if common.kind == "float" else plan.python[kind]


def _adoption_text(scalar: Operand, common: DType | None, adopted: DType) -> str:
    """What a scalar becomes with the strong operands, in words."""
    if common is None:
        return f"There is no array, so {scalar} is {adopted}."
    if adopted is common:
        return f"{scalar} is weak: it takes the arrays' {common}."
    if common.rank >= KINDS.index(scalar.kind):
        return f"With {common}, {scalar} counts as {adopted}."
    return f"{scalar} has a higher kind than {common}, so it counts as {adopted}."


# The policy of the Array API standard: weak scalars, of no higher kind than the arrays.


def _within_kind(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """As weak, but a scalar may not be of a higher kind than the arrays (the Array API standard);
    only a complex scalar with floating-point arrays may."""
    arrays = [o for o in operands if not o.is_scalar]
    if not arrays:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [own_dtype(plan, o) for o in arrays])
    for operand in operands:
        if operand.is_scalar and not fits_kind(operand.kind, common.kind):
            raise Refusal(
                f"a Python {operand.kind} cannot be mixed with {common}",
                "Make it an array of the dtype you want.",
            )
    return _weak(plan, operands, note)


def fits_kind(scalar: str, array: str) -> bool:
    """Whether a scalar's kind is within an array's, as the Array API standard has it."""
    if "bool" in (scalar, array):
        return scalar == array
    return KINDS.index(scalar) <= KINDS.index(array) or (scalar, array) == ("complex", "float")


# The policy of RFC 431's SAFE and NONE: weak scalars that may not change the arrays' dtype.


def _fits_arrays(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """As weak, but a scalar may not change the arrays' dtype, except an int with bool arrays
    (RFC 431's SAFE and NONE). A Python bool is a scalar like the others, and fits any dtype."""
    scalars = [o for o in operands if o.is_scalar or o.is_weak]
    strong = [own_dtype(plan, o) for o in operands if not (o.is_scalar or o.is_weak)]
    if not scalars or not strong:
        return _weak(plan, operands, note)
    common = join(plan, strong)
    highest = max(scalars, key=lambda o: KINDS.index(o.kind))
    adopted = _adopted_dtype(plan, highest, common)
    if adopted is not common and highest.kind != "int":
        raise Refusal(
            f"a Python {highest.kind} does not fit into {common}", _way_out(plan, common, scalars)
        )
    if note:
        for scalar in scalars:
            note(_adoption_text(scalar, common, adopted))
    return [plan.reach.masks[adopted]]


def _way_out(plan: Plan, common: DType, scalars: list[Operand]) -> str:
    """What to cast the arrays to, so that the scalars fit."""
    rank = max([KINDS.index(o.kind) for o in scalars])
    roomy = [d for d in plan.dialect.dtypes if not any(is_beyond(o.value, d) for o in scalars)]
    return way_out([common], roomy, rank)


# The policy of equals: a Python scalar is as strong as an array.


def _as_arrays(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand's own dtype reaches: a Python scalar is as strong as an array."""
    dtypes = [own_dtype(plan, o) for o in operands]
    check_mix(plan, dtypes)
    return [plan.reach.masks[d] for d in dtypes]


# The policies in which a 0-d array loosens the rules for arrays: any kinds mix with it.


def _zero_d_adapts(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """As 0-d mixes, but with an array of its own kind a 0-d array takes the array's dtype."""
    arrays = [o.dtype for o in operands if o.role is Role.ARRAY and o.dtype]
    zero_d = [o for o in operands if o.is_zero_d]
    adapting = [o for o in zero_d if o.dtype and _is_of_kind(plan, o.dtype, arrays)]
    if note:
        for operand in adapting:
            note(f"{operand} takes the dtype of the array, which is of the same kind.")
    return _zero_d_mixes(plan, tuple([o for o in operands if o not in adapting]), note)


def _zero_d_adapts_to_complex(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """As 0-d adapts, but a Python complex counts as an array, whose dtype a 0-d array takes."""
    has_complex = any(o.is_scalar and o.kind == "complex" for o in operands)
    own = plan.python["complex"]
    if not has_complex or not all(o.is_scalar or _joins(plan, o, own) for o in operands):
        return _zero_d_adapts(plan, operands, note)
    if note:
        note(f"A Python complex counts as an array of {own}, whose dtype the 0-d array takes.")
    return [plan.reach.masks[own]]


def _joins(plan: Plan, operand: Operand, other: DType) -> bool:
    """Whether an operand is a 0-d array and has any dtype in common with another."""
    masks = plan.reach.masks
    return bool(operand.is_zero_d and operand.dtype and masks[operand.dtype] & masks[other])


def _is_of_kind(plan: Plan, zero_d: DType, arrays: list[DType]) -> bool:
    """Whether an array has the kind of a 0-d one, and any dtype in common with it."""
    masks = plan.reach.masks
    return any(
        array.kind == zero_d.kind and plan.reach.common((masks[array], masks[zero_d]))
        for array in arrays
    )


def _zero_d_mixes(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand reaches: a 0-d array is as strong as an array, and any kinds mix with it;
    Python numbers are weak."""
    if any(o.is_scalar for o in operands):
        # A Python bool, which weak takes for a bool array, is of no higher kind than any array.
        numbers = [o for o in operands if not o.is_scalar or o.kind != "bool"]
        return _weak(plan, tuple(numbers) or operands, note)
    return _singles_mix(plan, operands, note)


def _singles_mix(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand's own dtype reaches; any kinds mix with a 0-d array or a Python scalar."""
    if all(o.role is Role.ARRAY for o in operands):
        return _as_arrays(plan, operands, note)
    if note and plan.joins.mixes is not None:
        note("One of them is a 0-d array or a scalar, so any kinds mix.")
    return [plan.reach.masks[own_dtype(plan, o)] for o in operands]


# The policy of arrays only: 0-d arrays count only where there is no array.


def _arrays_alone(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What all operands reach together: the join of the arrays, or of the 0-d arrays where there
    are none; a Python number of a higher kind replaces it (OneFlow's TensorProcessor)."""
    arrays = [o for o in operands if o.dtype and not o.is_zero_d]
    deciding = arrays or [o for o in operands if o.dtype]
    if not deciding:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [own_dtype(plan, o) for o in deciding])
    if note:
        for ignored in [o for o in operands if o.dtype and o not in deciding]:
            note(f"{ignored} is 0-d and mixed with an array, so its dtype does not count.")
    for scalar in [o for o in operands if o.is_scalar]:
        common = _with_number(plan, scalar, common, note)
    return [plan.reach.masks[common]] * len(operands)


def _with_number(plan: Plan, scalar: Operand, common: DType, note: Note) -> DType:
    """The common dtype of the arrays' dtype and a Python number; a bool counts as an int."""
    kind = "int" if scalar.kind == "bool" else scalar.kind
    as_joined = (number_dtypes(plan, [common]) or {}).get(kind, plan.python[kind])
    found = as_joined if as_joined.rank > common.rank else common
    if note and found is common:
        note(f"{scalar} has no higher kind than {common}, so it takes that dtype.")
    elif note:
        note(f"{scalar} has a higher kind than {common}, so it counts as {found}.")
    return found


# The policy of weak nodes: weakly typed operands have their own nodes in the order.


def as_nodes(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand's node reaches: weakly typed operands, including Python numbers, have their
    own nodes (JAX's lattice)."""
    counts = number_dtypes(plan, [o.dtype for o in operands]) or {}
    nodes = [_node(plan, o, counts) for o in operands]
    # Where all are weak, the node of a whole kind would forget their widths.
    keeps_width = plan.dialect.joining.weak_arrays != "by kind" or len(nodes) == 1
    if keeps_width and all(n.is_weak for n in nodes) and any(n.bits == 0 for n in nodes):
        dtypes = [o.dtype or plan.python[o.kind] for o in operands]
        nodes = dtypes if plan.reach.common(plan.reach.masks[d] for d in dtypes) else nodes
    if note:
        for operand, node in zip(operands, nodes, strict=True):
            if node.is_weak:
                note(f"{operand} is weak: it counts as {node}, below the {node.kind} dtypes.")
    if plan.dialect.joining.folds and len(nodes) > 2:
        nodes = [functools.reduce(lambda a, b: _joined(plan, a, b), nodes)]
    return [plan.reach.masks[node] for node in nodes]


def _joined(plan: Plan, a: DType, b: DType) -> DType:
    """The node of the array that two nodes promote to. It may be weak if both are weak, or if the
    dialect has weak arrays."""
    node = join(plan, (a, b))
    is_strong = not (a.is_weak and b.is_weak) and not plan.dialect.has_weak_arrays
    return plan.python[node.kind] if is_strong and node.is_weak else node


def _node(plan: Plan, operand: Operand, counts: Mapping[str, DType]) -> DType:
    """An operand's node: its own dtype, or the weak node of its dtype or kind. For a Python scalar
    that counts as some dtype with these arrays, it is that dtype."""
    if operand.is_scalar and operand.kind in counts:
        return counts[operand.kind]
    if not is_weakly_typed(operand):
        return own_dtype(plan, operand)
    nodes = weak_nodes(operand.dtype or plan.python[operand.kind])
    return next(node for node in nodes if node in plan.reach.bits)


# The policy of categories: numbers and NumPy operands get their dtype before the join.
#
# They all get one dtype: that of the Python numbers where these have a higher category than the
# arrays, else the join, by another dialect, of the arrays of the highest category. Only then are
# the framework's own dtypes joined (MegEngine's py_apply, then its dtype_promotion).

_CATEGORIES = {"bool": 1, "int": 2, "float": 3}


def _by_category(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What all operands reach together, once numbers and NumPy operands have their dtype."""
    dtypes = [o.dtype for o in operands if o.dtype and not o.is_numpy]
    guests = [o for o in operands if _is_guest(o)]
    if guests:
        target = category_dtype(plan, operands)
        for guest in guests:
            _check_cast(plan, guest, target)
            if note:
                note(f"{guest} becomes an array of {target}, the dtype of the highest category.")
        dtypes.append(target)
    return [plan.reach.masks[join(plan, dtypes)]] * len(operands)


def category_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The dtype of the highest category, which numbers and NumPy operands get.

    Where no operand has a category, it is the common dtype of the arrays. Raises Refusal if one of
    the operands is then a number or a NumPy operand.
    """
    if (target := _highest(plan, operands)) is not None:
        return target
    if any(_is_guest(o) for o in operands):
        raise Refusal("no operand is a bool, an integer or a float", "Cast one of them.")
    return join(plan, [o.dtype for o in operands if o.dtype])


def _is_guest(operand: Operand) -> bool:
    return operand.is_scalar or operand.is_numpy


def _highest(plan: Plan, operands: tuple[Operand, ...]) -> DType | None:
    """The dtype of the highest category, where arrays go before Python numbers; None where no
    operand has a category."""
    arrays = [o.dtype for o in operands if o.dtype]
    highest = max([_category(plan, d) for d in arrays], default=0)
    numbers = [o.kind for o in operands if o.is_scalar and _CATEGORIES.get(o.kind, 0) > highest]
    if numbers:
        return plan.python[max(numbers, key=_CATEGORIES.__getitem__)]
    reach = dialect_reach(_typing(plan))
    deciding = [d for d in arrays if highest and _category(plan, d) == highest]
    return reach.common([reach.masks[d] for d in deciding]) if deciding else None


def _typing(plan: Plan) -> Dialect:
    """The dialect whose join gives numbers and NumPy operands their dtype."""
    return dialect_named(plan.joins.typed_by) if plan.joins.typed_by else plan.dialect


def _category(plan: Plan, dtype: DType) -> int:
    """bool < integer < float. Complex dtypes, and those that the typing dialect lacks or only
    absorbs, have no category."""
    typing = _typing(plan)
    is_own = dtype in typing.dtypes and dtype.name not in typing.joining.only_absorbed.split()
    return _CATEGORIES.get(dtype.kind, 0) if is_own else 0


def _check_cast(plan: Plan, guest: Operand, target: DType) -> None:
    """Raises Refusal where a number or NumPy operand cannot become an array of the target dtype."""
    if target not in plan.reach.bits:
        raise Refusal(f"{guest} would become {target}, which it does not have", "Cast it first.")
    if not guest.is_scalar:
        return
    if guest.kind == "complex" and target.kind != "bool":
        raise Refusal(f"{guest} cannot be converted to {target}", "Make it an array.")
    value = guest.value
    is_too_wide = isinstance(value, int) and not -(2**63) <= value < 2**63
    if target.kind != "float" and is_too_wide:
        raise no_integer_dtype(value)


# Python numbers that count by their value: where the arrays' dtype cannot hold one, a dtype that
# can.
#
# Only the values of numbers count. Arrays and 0-d arrays promote by the dialect's other rules.

# What a number may count as; of one width the unsigned first.
_CANDIDATES = dtypes_named(
    "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 complex128"
)


def _by_room(plan: Plan, numbers: list[Operand], entered: list[DType], note: Note) -> list[int]:
    """What the numbers reach with arrays that entered with these dtypes. A number that the arrays'
    dtype holds reaches what the arrays do, and is left out."""
    common = join(plan, entered)
    arrays = (strong_twin(common) or plan.python[common.kind]) if common.is_weak else common
    masks = []
    for number in numbers:
        is_same_kind = number.kind == arrays.kind
        is_lower = KINDS.index(number.kind) < arrays.rank
        is_held = not is_beyond(number.value, arrays) if is_same_kind else is_lower
        found = None if is_held else _smallest(plan, number, common)
        if found:
            masks.append(plan.reach.masks[found])
        if note:
            note(f"{number} counts by value: {_reason(number, arrays, found)}.")
    return masks


def _smallest(plan: Plan, number: Operand, common: DType) -> DType:
    """The smallest dtype of the number's kind that holds it and joins with the arrays; a float
    beyond the dtype of Python's floats counts as that, and overflows.

    Raises Refusal for an int that no dtype holds.
    """
    own = plan.python[number.kind]
    fitting = [
        d
        for d in _CANDIDATES
        if d.kind == number.kind
        and d in plan.reach.bits
        and d not in plan.truncates
        and (d.kind == "int" or d.bits <= own.bits)
        and not is_beyond(number.value, d)
    ]
    if not fitting and number.kind == "int":
        raise no_integer_dtype(number.value)
    met = {d: _common(plan, common, d) for d in fitting}
    joining = [(d.bits, m.rank, m.bits, place, d) for place, (d, m) in enumerate(met.items()) if m]
    return min(joining)[-1] if joining else next(iter(fitting), own)


def _common(plan: Plan, common: DType, candidate: DType) -> DType | None:
    """The common dtype of the arrays and a candidate, or None."""
    try:
        return join(plan, (common, candidate))
    except Refusal:
        return None


def _reason(number: Operand, arrays: DType, found: DType | None) -> str:
    is_same_kind = number.kind == arrays.kind
    if found is None:
        lower = f"its kind is lower than that of {arrays}, so it takes that dtype"
        return f"{arrays} holds it" if is_same_kind else lower
    if is_beyond(number.value, found):
        return f"it overflows {found}, the widest dtype of a Python {number.kind} here"
    why = f"{arrays} does not hold it" if is_same_kind else "its kind is higher"
    return f"{why}, and {found} is the smallest dtype that holds it"


# The policy of values: scalars and 0-d arrays count as the smallest dtype that holds them.

_UNSIGNED = [(dtype(f"uint{bits}"), dtype(f"int{bits}")) for bits in (8, 16, 32, 64)]
# NumPy 1's own constants, tighter than the formats' limits of 65504 and 3.4028e38.
_FLOAT16_LIMIT, _FLOAT32_LIMIT = 65000.0, 3.4e38


def _by_value(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What each operand reaches: a scalar or 0-d array what its value needs, unless the arrays have
    a lower kind; else what its dtype does (NumPy before 2.0)."""
    counts = number_dtypes(plan, [o.dtype for o in operands])
    # A Python scalar may count as some dtype with a foreign one.
    dtypes = [
        counts[o.kind] if counts and o.is_scalar and o.kind in counts else own_dtype(plan, o)
        for o in operands
    ]
    if not _looks_at_values(operands, dtypes, note):
        return [plan.reach.masks[d] for d in dtypes]
    of_arrays = [d for o, d in zip(operands, dtypes, strict=True) if o.role is Role.ARRAY]
    has_signed = any(d.is_signed for d in of_arrays)
    masks = []
    for operand, found in zip(operands, dtypes, strict=True):
        # With a foreign dtype, result_type and the like leave integers unchanged.
        is_left = counts is not None and plan.joins.by == "common dtype" and found.kind == "int"
        if operand.role is Role.ARRAY or is_left:
            masks.append(plan.reach.masks[found])
        else:
            masks.append(_value_mask(plan, operand, found, has_signed, note))
    return masks


def _looks_at_values(operands: tuple[Operand, ...], dtypes: list[DType], note: Note) -> bool:
    """Whether there are both arrays and scalars or 0-d arrays, and the arrays' category is at least
    as high."""
    arrays: list[int] = []
    singles: list[int] = []
    for operand, found in zip(operands, dtypes, strict=True):
        category = min(found.rank, 2)  # float and complex are one category
        (arrays if operand.role is Role.ARRAY else singles).append(category)
    if not singles:
        return False
    if arrays and max(arrays) >= max(singles):
        return True
    if note:
        why = "a scalar has a higher kind" if arrays else "there is no array"
        note(f"Values are ignored, since {why}.")
    return False


def _value_mask(plan: Plan, operand: Operand, found: DType, has_signed: bool, note: Note) -> int:
    """The mask of what a value needs."""
    value = 1 if operand.value is None else operand.value
    smallest, signed = smallest_dtype(found, value)
    if not _is_joinable(plan, smallest):
        smallest, signed = _next_wider(plan, found, value), None
    mask = plan.reach.masks[smallest]
    if signed and plan.joins.by == "first loop":
        mask |= plan.reach.masks[signed]  # 127 counts as both int8 and uint8
    elif signed and has_signed:
        smallest, mask = signed, plan.reach.masks[signed]
    if note:
        room = "it is beyond" if is_beyond(value, smallest) else "it fits"
        note(f"{operand} counts by value: {room} {smallest}.")
    return mask


def _is_joinable(plan: Plan, smallest: DType) -> bool:
    """Whether the dialect has the dtype and mixes it with Python's integers."""
    if smallest not in plan.reach.bits or smallest.kind != "int":
        return smallest in plan.reach.bits
    both = {smallest, plan.python["int"]}
    common = plan.reach.common(plan.reach.masks[d] for d in both)
    return common is not None and is_allowed(plan, common, both)


def _next_wider(plan: Plan, found: DType, value: Scalar) -> DType:
    """The smallest dtype of the operand's kind that the dialect mixes and that holds the value."""
    alike = [d for d in plan.reach.order if d.kind == found.kind and _is_joinable(plan, d)]
    holding = [d for d in alike if d.min <= value.real <= d.max]
    return min(holding, key=lambda d: d.bits, default=found)


def smallest_dtype(found: DType, value: Scalar) -> tuple[DType, DType | None]:
    """NumPy 1's min_scalar_type of a value, and the signed dtype of that width if it fits too.

    >>> smallest_dtype(dtype("int64"), 127), smallest_dtype(dtype("float64"), 1.5)
    ((uint8, int8), (float16, None))
    """
    if found.kind == "int":
        return _smallest_int(int(value.real))
    if found.name in ("float32", "float64"):
        size = abs(value.real)
        if size < _FLOAT16_LIMIT or not size < float("inf"):
            return dtype("float16"), None
        return (dtype("float32") if size < _FLOAT32_LIMIT else found), None
    if found.name == "complex128":
        fits = abs(value.real) < _FLOAT32_LIMIT and abs(value.imag) < _FLOAT32_LIMIT
        return (dtype("complex64") if fits else found), None
    return found, None


def _smallest_int(value: int) -> tuple[DType, DType | None]:
    for unsigned, signed in _UNSIGNED:
        if signed.min <= value < 0:
            return signed, None
        if 0 <= value <= unsigned.max:
            return unsigned, signed if value <= signed.max else None
    widest_unsigned, widest_signed = _UNSIGNED[-1]
    return (widest_signed if value < 0 else widest_unsigned), None  # compared as an object


# The policy of conversion: Python numbers are converted to the arrays' dtype.


def _converted(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What all operands reach together: the arrays decide, Python numbers are converted to their
    dtype. Where there is no array, the first number decides (TensorFlow)."""
    deciding = [o for o in operands if not o.is_scalar] or operands[:1]
    common = join(plan, [own_dtype(plan, o) for o in deciding])
    if note:
        for operand in operands:
            if operand.is_scalar:
                note(f"{operand} is converted to {common}.")
    return [plan.reach.masks[common]] * len(operands)


POLICIES: dict[str, Callable[[Plan, tuple[Operand, ...], Note], list[int]]] = {
    "tiers": _tiers, "kinds first": _kinds_first, "last adapts": _last_adapts,
    "arrays alone": _arrays_alone, "weak": _weak, "within kind": _within_kind,
    "fits arrays": _fits_arrays, "as nodes": as_nodes, "as arrays": _as_arrays,
    "converted": _converted, "by value": _by_value, "by category": _by_category,
    "0-d adapts": _zero_d_adapts, "0-d adapts to complex": _zero_d_adapts_to_complex,
    "0-d mixes": _zero_d_mixes, "singles mix": _singles_mix,
}  # fmt: skip


def reached(plan: Plan, operands: tuple[Operand, ...], note: Note) -> list[int]:
    """What the operands reach, by the dialect's policy and by what numbers and 0-d arrays count as
    before it sees them."""
    policy = POLICIES[plan.scalars]
    seen = tuple([_seen(plan, operand) for operand in operands])
    arrays = tuple([o for o in seen if not o.is_scalar])
    if plan.numbers.count_as != "values" or not arrays:
        return policy(plan, seen, note)
    masks = policy(plan, arrays, note)
    numbers = [o for o in seen if o.is_scalar]
    return masks + _by_room(plan, numbers, [plan.reach.lowest(mask) for mask in masks], note)


def _seen(plan: Plan, operand: Operand) -> Operand:
    """An operand as the policy sees it."""
    if operand.is_scalar and plan.numbers.count_as == "0-d arrays":
        operand = array_operand(own_dtype(plan, operand), ())
    is_raised = plan.arrays.zero_d_as_arrays and operand.role is Role.ZERO_D
    return replace(operand, role=Role.ARRAY, shape=None) if is_raised else operand
