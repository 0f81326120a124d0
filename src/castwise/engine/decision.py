"""What resolve returns or raises: the dtypes, with the casts and what they may cost; or why it
refuses, and what to cast."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from castwise import above
from castwise.engine.plan import Plan
from castwise.errors import PromotionError, ScalarRangeError
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, repr_line
from castwise.vocab.dtypes import KINDS, DType, exact_int_text, strong_twin
from castwise.vocab.operands import Operand, Scalar, scalar_text
from castwise.vocab.ops import Op

# What an implicit cast may cost. These words are the ids everywhere.
HAZARDS = {
    "widens": "the result takes more memory than the operand",
    "loses-precision": "not every value is held exactly",
    "loses-range": "large values overflow",
    "wraps": "a scalar out of range wraps around",
    "changes-kind": "values lose what only their kind can hold, such as a fraction",
    "drops-imaginary": "the imaginary part is lost",
    "not-on-device": "Apple GPUs and TPUs have no float64",
}


@dataclass(frozen=True, slots=True, repr=False)
class Cast:
    """An implicit cast of one operand. `source` is None for a Python scalar. With `is_read` the op
    reads the operand's elements in the other dtype: no array is copied, and nothing is lost."""

    source: DType | None
    target: DType
    hazards: tuple[str, ...]
    is_read: bool = False

    def __str__(self) -> str:
        return f"{self.source or 'Python scalar'} -> {self.target}"

    def __repr__(self) -> str:
        read = ", is_read=True" if self.is_read else ""
        return f"Cast(source={self.source}, target={self.target}, hazards={self.hazards}{read})"


@dataclass(frozen=True, slots=True)
class Named:
    """The named arguments of a call that its dtypes depend on."""

    dtype: DType | None = None
    casting: str | None = None
    where: Operand | None = None
    initial: Operand | None = None
    rounding_mode: str | None = None
    value: Scalar | None = None
    delta: Scalar | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that are given, by name."""
        return {name: found for name in _NAMES if (found := getattr(self, name)) is not None}

    @property
    def key(self) -> tuple[object, ...]:
        """Everything in it that an answer can depend on; True and 1 are not the same number."""
        given = self.given
        keys = [
            (v.key, v.value) if isinstance(v, Operand) else (type(v), v) for v in given.values()
        ]
        return tuple(zip(given, keys, strict=True))


_NAMES = tuple([field.name for field in fields(Named)])
NOTHING = Named()


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """A question: an op applied to operands, in a dialect and a form."""

    op: Op
    operands: tuple[Operand, ...]
    dialect: Dialect
    form: str = "function"
    inplace: bool = False
    out: DType | None = None
    alpha: Scalar | None = None
    named: Named = NOTHING
    because: str = field(default="", compare=False)  # why this dialect, where the arrays chose it

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that the answer can depend on."""
        operands = tuple([operand.key for operand in self.operands])
        alpha = (type(self.alpha), self.alpha)  # True and 1 are equal, but not the same alpha
        shapes = self.op.shapes
        if shapes.counts_dimensions:
            operands = (*operands, *[min(operand.rank, 2) for operand in self.operands])
        if self.op.index is not None:
            operands = (*operands, self.op.apart(self.operands))
        if shapes.counts_elements:
            operands = (*operands, *[operand.is_empty for operand in self.operands])
        if self.op.family == "questions":  # a bare dtype may count for more than an array
            operands = (*operands, *[operand.shape is None for operand in self.operands])
        named = () if self.named is NOTHING else self.named.key
        return self.op, self.dialect, self.form, self.inplace, self.out, alpha, operands, named

    @property
    def is_assignment(self) -> bool:
        """Whether it is about `x += y` or in place, so that x is both an operand and the target."""
        return self.inplace or self.form == "augmented"

    def __str__(self) -> str:
        if self.form == "write":
            target, source = self.operands
            return f"{target}[...] = {source}"
        symbol = None if self.form == "function" or self.inplace else self.op.symbol
        named = [f"out={self.out}"] if self.out else []
        named += [f"alpha={self.alpha}"] if self.alpha is not None else []
        named += [f"{name}={found}" for name, found in self.named.given.items()]
        if symbol and not named:
            return self._operator_text(symbol)
        words = [*map(str, self.operands), *named]
        return f"{self.op.name}{'_' if self.inplace else ''}({', '.join(words)})"

    def _operator_text(self, symbol: str) -> str:
        first, *rest = map(_in_operator, self.operands)
        if not rest:
            return f"{symbol}{first}"
        if symbol == "**" and first.startswith("-"):
            first = f"({first})"  # -1 ** x is -(1 ** x)
        return f"{first} {symbol}{'=' if self.form == 'augmented' else ''} {rest[0]}"

    def __repr__(self) -> str:
        return repr_line("Question", f"{self} in {self.dialect.name}")


def _in_operator(operand: Operand) -> str:
    """A complex number in brackets: Python reads `1+1j // x` as `1 + (1j // x)`."""
    is_sum = isinstance(operand.value, complex) and repr(operand.value).startswith("(")
    return f"({operand})" if is_sum and operand.dtype is None else str(operand)


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Shown):
    """The answer to a question: what the op computes in, what it returns, what is cast.

    `result` is the dtype of the result, `compute` the dtype that the op computes in, `exact` where
    integers are compared without a cast. `casts` has an entry for each operand, None where it is
    not cast; `result_cast` is the cast into what is written in place or with out=. With a `program`
    such as "mul(reciprocal(y), x)" the op is computed by other ops of its operands x, y and z.
    `notes` has remarks, such as a missing kernel (`has_kernel`).

    It tells what happens: the casts made by hand, and the op or the program computed in `compute`
    and rounded to `result`, give the framework's own values.
    """

    question: Question
    result: DType
    compute: DType
    casts: tuple[Cast | None, ...]  # one per operand, None where it is not cast
    result_cast: Cast | None = None  # what is written in place or into out= is cast to its dtype
    is_weak: bool = False
    notes: tuple[str, ...] = ()
    has_kernel: bool = True  # False: the framework promotes, then cannot run it; a note says so
    program: str = ""
    inside: tuple[Cast, ...] = ()  # the casts that the program makes between its ops
    # What promotion alone gives, where the op computes otherwise: its dtype and the casts to it.
    promoted: tuple[DType, tuple[Cast | None, ...]] | None = field(default=None, compare=False)
    # How the decision came about; a saved decision no longer has it.
    tell: Callable[[Question], list[str]] | None = field(default=None, compare=False)

    def about(self, question: Question) -> Decision:
        """The same answer to another question with the same key."""
        # By hand, because dataclasses.replace takes twice as long.
        return Decision(question, self.result, self.compute, self.casts, self.result_cast,
                        self.is_weak, self.notes, self.has_kernel, self.program, self.inside,
                        self.promoted, self.tell)  # fmt: skip

    def as_promoted(self) -> Decision:
        """The decision that promotion alone gives, with each operand cast to one dtype."""
        if self.promoted is None:
            return self
        compute, casts = self.promoted
        return replace(self, compute=compute, casts=casts, program="", inside=(), promoted=None)

    @property
    def dialect(self) -> Dialect:
        """The dialect that decided, which the arrays may have chosen."""
        return self.question.dialect

    @property
    def hazards(self) -> tuple[str, ...]:
        """The hazards of all casts, each once, in the order of HAZARDS."""
        casts = (*self.casts, *self.inside, self.result_cast)
        found = {hazard for cast in casts if cast for hazard in cast.hazards}
        return tuple(hazard for hazard in HAZARDS if hazard in found)

    @property
    def steps(self) -> tuple[str, ...]:
        """How the result came about, one sentence per step."""
        return tuple(self.tell(self.question)) if self.tell else ()

    def cast_inputs(self, *operands: Any) -> tuple[Any, ...]:
        """The operands cast as decided, for a custom kernel; `result` is its output's dtype.

        Arrays come back as arrays of their library, tensors as tensors, a Python number as a 0-d
        array or tensor.

        >>> import numpy as np
        >>> from castwise.engine.ask import resolve
        >>> decision = resolve("add", "int32[n]", 0.5, dialect="torch")
        >>> decision.cast_inputs(np.array([1, 2], dtype="int32"), 0.5)
        (array([1., 2.], dtype=float32), array(0.5, dtype=float32))

        Raises UsageError where they are not the operands that were decided about.
        """
        return above.cast_inputs(self, operands)

    def __repr__(self) -> str:
        """What is asked, what comes out, and what it costs.

        >>> from castwise.engine.ask import resolve
        >>> resolve("add", "int32[3]", 5.5, dialect="torch")
        Decision(int32[3] + 5.5 in torch -> float32, casts int32 -> float32, loses-precision)
        """
        casts = dict.fromkeys(str(c) for c in self.casts if c and c.source and not c.is_read)
        return repr_line(
            "Decision",
            f"{self.question} in {self.question.dialect.name} -> {self.result}{'*' * self.is_weak}",
            "" if self.compute is self.result else f"computes in {self.compute}",
            f"by {self.program}" if self.program else "",
            "casts " * bool(casts) + " and ".join(casts),
            f"writes {self.result_cast}" if self.result_cast else "",
            *self.hazards,
            "" if self.has_kernel else "no kernel",
        )


def answer_text(decision: Decision) -> str:
    """The question and its result, on one line."""
    return f"{decision.question} -> {decision.result}"


def step_text(decision: Decision) -> str:
    """A decision as a step of another; the compute dtype is named if it is not the result's."""
    in_dtype = "" if decision.compute is decision.result else f" (in {decision.compute})"
    return f"{answer_text(decision)}{in_dtype}"


def result_text(decision: Decision) -> str:
    """The sentence about a decision's result."""
    verb = "is" if decision.has_kernel else "would be"
    return f"The result {verb} {'a weak ' if decision.is_weak else ''}{decision.result}."


class Refusal(Exception):  # noqa: N818 -- not an error: it becomes one in as_error
    """Raised inside resolve: why the dialect refuses, and what to do.

    `target` is the dtype that an operand is to be cast to, where the fix says so.
    """

    def __init__(
        self, why: str, fix: str = "", *, by_value: bool = False, target: DType | None = None
    ) -> None:
        super().__init__(why)
        self.why, self.fix, self.by_value, self.target = why, fix, by_value, target

    def what_to_do(self, question: Question) -> str:
        """The fix. Where all arrays already have the dtype to cast to, it is for a number."""
        place = question.op.apart(question.operands)
        operands = [o for n, o in enumerate(question.operands) if n != place]
        if self.target and all([o.dtype in (None, self.target) for o in operands]):
            return f"Make the number an array of {self.target}."
        return self.fix

    def as_error(self, question: Question) -> PromotionError:
        """The error a person sees: what, why, what to do."""
        kind = ScalarRangeError if self.by_value else PromotionError
        fix = self.what_to_do(question)
        told = f"{self.why}. {fix}" if fix else f"{self.why}."
        error = kind(f"{question} is not defined in {question.dialect.name}: {told}")
        error.why = self.why
        return error


@functools.cache
def cast_between(source: DType, target: DType) -> Cast | None:
    """The cast from one dtype to another with its hazards; None where they are the same."""
    if source is target:
        return None
    hazards = ["widens"] if target.bits > source.bits else []
    if source.kind == "complex" and target.kind != "complex":
        hazards.append("drops-imaginary")
    elif target.rank < source.rank:
        hazards.append("changes-kind")
    elif not target.keeps_precision(source):
        hazards.append("loses-precision")
    if not target.keeps_range(source) and target.kind != "bool":
        hazards.append("loses-range")
    if target.name in ("float64", "complex128"):
        hazards.append("not-on-device")
    return Cast(source, target, tuple(h for h in HAZARDS if h in hazards))


def cast_text(cast: Cast) -> str:
    """What a cast costs, in words.

    >>> from castwise.vocab.dtypes import dtype
    >>> cast_text(cast_between(dtype("int32"), dtype("float32")))
    'int32 -> float32 is exact up to 2**24'
    """
    if "loses-precision" in cast.hazards and cast.source and cast.source.kind == "int":
        return f"{cast} is exact up to {exact_int_text(cast.target)}"
    kind = cast.source.kind if cast.source else "number"
    most = cast.target.max
    costs = {
        "loses-precision": "rounds to fewer digits",
        "loses-range": f"overflows beyond {most if isinstance(most, int) else f'{most:g}'}",
        "changes-kind": f"turns {kind} into {cast.target.kind}",
        "drops-imaginary": "drops the imaginary part",
        "wraps": "wraps around",
    }
    parts = [costs[hazard] for hazard in cast.hazards if hazard in costs]
    return f"{cast} {' and '.join(parts)}" if parts else f"{cast} is exact"


# Why an op is refused, and what to cast: to a dtype that loses nothing, if there is one.
#
# A hint names a dtype that holds every value of the operands, or says what is lost in it.


def no_common_dtype(plan: Plan, dtypes: Iterable[DType]) -> Refusal:
    """The refusal for dtypes that have no common dtype."""
    given = sorted(set(dtypes), key=lambda d: (d.rank, d.bits, d.name))
    listed = " and ".join([", ".join(d.name for d in given[:-1]), given[-1].name])
    reason = plan.because or plan.dialect.joining.refusal
    why = f"{listed} have no common dtype" + (f": {reason}" if reason else "")
    known, rank = _computed(plan), max([d.rank for d in given])
    if all(d.rank < rank for d in known):
        return Refusal(why, not_computed(plan, given[-1]).fix)
    # Weakly typed operands count only where there are no arrays.
    strong = [strong_twin(node) or plan.python[node.kind] for node in given]
    cast = [d for d in given if not d.is_weak] or strong
    return Refusal(why, way_out(cast, known, rank), target=_fitting(cast, known, rank))


def _computed(plan: Plan) -> list[DType]:
    """The dtypes that an op takes and computes in."""
    taken = plan.computes - plan.accepts.refuses
    return [d for d in plan.dialect.dtypes if d in taken]


def not_computed(plan: Plan, found: DType) -> Refusal:
    """The refusal for a dtype the op does not compute in."""
    accepted = [d for d in plan.reach.order if d in plan.computes and d not in plan.accepts.refuses]
    kinds = list(dict.fromkeys(d.kind for d in accepted if d not in plan.accepts.refuses_compute))
    listed = " or ".join([*filter(None, [", ".join(kinds[:-1])]), *kinds[-1:]]) or "no"
    taken = f"It takes {listed} dtypes: cast to one of them."
    if len(accepted) == 1:
        taken = f"It takes only {accepted[0]}: cast to it."
    return Refusal(plan.because or f"{plan.op.name} is not defined for {found}", taken)


def way_out(given: Sequence[DType], known: Iterable[DType], rank: int = 0) -> str:
    """What to do with arrays of some dtypes, so that they have the same one.

    `known` are the dtypes to choose from, `rank` is the rank of the lowest kind that will do.

    >>> from castwise.vocab.dtypes import dtypes_named
    >>> print(way_out(dtypes_named("int32 float32"), dtypes_named("float")))
    Cast both: x.astype('float64').
    """
    highest = max([rank, *[d.rank for d in given]])
    target = _fitting(given, known, rank)
    every = "both" if len(given) == 2 else "all"
    kept = "one" if len(given) == 2 else "the others"
    which = "the arrays" if len(given) == 1 else kept if target in given else every
    advice = f"Cast {which}: x.astype('{target}')."
    lossy = [cast_between(d, target) for d in given if not target.holds(d)]
    if not lossy:
        return advice
    for_one = f"No {KINDS[highest]} dtype here holds {given[0]}"
    none = for_one if len(given) == 1 else f"No dtype here holds {every}"
    losses = " and ".join(cast_text(cast) for cast in lossy if cast)
    return f"{none}: {losses}. {advice}"


def _fitting(given: Sequence[DType], known: Iterable[DType], rank: int) -> DType:
    """The dtype to which a cast of arrays of some dtypes costs least."""
    highest = max([rank, *[d.rank for d in given]])
    fitting = [d for d in known if d.rank >= highest] or list(given)
    return _cheapest(tuple(fitting), tuple(given))


@functools.lru_cache(maxsize=1 << 14)
def _cheapest(targets: tuple[DType, ...], given: tuple[DType, ...]) -> DType:
    return min(targets, key=lambda target: _cost(target, given))


def _cost(target: DType, given: Sequence[DType]) -> tuple[int, ...]:
    """What a cast to a dtype costs, the worst first: values, range, digits, then casts and bits."""
    inexact = sum(not target.holds(d) for d in given)
    beyond = sum(not target.keeps_range(d) for d in given)
    digits = -target.mantissa_bits if inexact else 0
    return bool(inexact), beyond, digits, inexact, target.rank, target not in given, target.bits


def scalar_out_of_range(scalar: Operand, dtype: DType) -> Refusal:
    """The refusal of a Python number that a dtype does not hold."""
    return Refusal(
        f"{scalar_text(scalar.value)} is out of range for {dtype}",
        f"Use a value from {dtype.min} to {dtype.max}, or cast the array.",
        by_value=True,
    )


def named_out_of_range(number: str, dtype: DType) -> Refusal:
    """The refusal of a number passed by name that a dtype does not hold."""
    fix = f"Use a value from {dtype.min} to {dtype.max}."
    return Refusal(f"{number} is out of range for {dtype}", fix, by_value=True)


def conversion_out_of_range(scalar: Operand, target: DType) -> Refusal:
    """The refusal of a number that is converted to a dtype which does not hold it."""
    return Refusal(
        f"{scalar} is out of range for the conversion to {target}",
        "Make it an array of a dtype that holds it.",
        by_value=True,
    )


# Whether a number lies beyond a dtype.


def is_unconvertible(value: Scalar | None, compute: DType) -> bool:
    """torch's c10::overflows: an unsigned dtype takes negative integers, not floats, down to -max;
    inf and NaN pass."""
    if isinstance(value, complex):
        return any(is_unconvertible(part, compute) for part in (value.real, value.imag))
    assert value is not None
    is_unsigned = compute.kind == "int" and not compute.is_signed
    is_taken = is_unsigned and isinstance(value, int) and -compute.max <= value < 0
    return not is_taken and is_beyond(value, compute)


def is_beyond(value: Scalar | None, dtype: DType) -> bool:
    """Whether a number lies outside the range of a dtype; inf and NaN are in that of any float."""
    if isinstance(value, complex):
        return any(is_beyond(part, dtype) for part in (value.real, value.imag))
    if value is None or dtype.kind == "bool":
        return False
    if dtype.kind == "int":
        return not dtype.min <= value <= dtype.max
    return dtype.max < abs(value) < math.inf


# What a varied dialect refuses in addition to its rules: some kinds of implicit casts.

# The hazards that cost memory or a device, and leave every value as it was.
HARMLESS = frozenset({"widens", "not-on-device"})


def check_guards(decision: Decision) -> None:
    """Raises Refusal where a guard of the dialect forbids what was decided."""
    for guard in decision.question.dialect.joining.guards:
        _GUARDS[guard](decision)


def _no_implicit_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if cast.source is not None:
            raise Refusal(f"the implicit cast {cast} is not allowed", _advice(decision, cast))


def _no_lossy_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if not HARMLESS.issuperset(cast.hazards):
            raise Refusal(
                f"{cast_text(cast)}, and no implicit cast may change a value",
                _advice(decision, cast),
                by_value=cast.source is None,
            )


def _no_promotion_to_64_bits(decision: Decision) -> None:
    target = decision.compute
    is_wide = target.bits == (128 if target.kind == "complex" else 64)
    if is_wide and any(decision.casts) and not decision.question.op.accumulates:
        raise Refusal(f"promotion to {target} is not allowed", _way_out(decision))


def _casts(decision: Decision) -> list[Cast]:
    casts = (*decision.casts, *decision.inside, decision.result_cast)
    return [cast for cast in casts if cast and not cast.is_read]


def _advice(decision: Decision, cast: Cast) -> str:
    """What to do instead of a cast."""
    if cast is decision.result_cast:
        return f"Cast the result yourself, or write it into {cast.source}."
    return _way_out(decision)


def _way_out(decision: Decision) -> str:
    """What to cast the arrays to: what the op computes in, where it holds them."""
    question, compute = decision.question, decision.compute
    operands = question.operands[question.op.is_condition_first :]
    arrays = list(dict.fromkeys(o.dtype for o in operands if o.dtype))
    numbers = [o.value for o in operands if o.is_scalar]
    if all(compute.holds(d) for d in arrays) and not any(is_beyond(n, compute) for n in numbers):
        return f"If you mean it, cast: x.astype('{compute}')."
    roomy = [d for d in question.dialect.dtypes if not any(is_beyond(n, d) for n in numbers)]
    return way_out(arrays, roomy, compute.rank)


_GUARDS: dict[str, Callable[[Decision], None]] = {
    "no implicit cast": _no_implicit_cast,
    "no lossy cast": _no_lossy_cast,
    "no promotion to 64 bits": _no_promotion_to_64_bits,
}


# How a decision notes its steps, where a caller wants them, and how one asks for another.

Note = Callable[[str], None] | None  # takes one sentence per step
Decide = Callable[[Question, Note], Decision]
