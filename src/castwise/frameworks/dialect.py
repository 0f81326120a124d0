"""The record of a dialect: a framework's promotion rules at a version, in a mode, as data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from castwise.errors import UsageError
from castwise.frameworks.value_rules import Values
from castwise.vocab.dtypes import DType, dtypes_of
from castwise.vocab.ops import Op

FORMS = ("function", "operator", "inplace", "out")
# What becomes of a Python number that the compute dtype cannot hold.
OUT_OF_RANGE = {
    "wraps": "it wraps silently",
    "wraps however large": "it wraps silently, even beyond 64 bits",
    "wraps within 64 bits": "it wraps silently, unless it fits neither int64 nor uint64",
    "raises": "it is refused",
    "raises beside integers": "it is refused where the array's own dtype, an integer of less than"
    " 64 bits, does not hold it, and beyond int64 whatever the dtype",
    "compares exactly": "it is compared as it is, but not with bool arrays",
    "compares as objects": "it is compared as it is",
    "bounds": "a lower bound above the dtype's range or an upper one below it is refused",
    "raises beyond 64 bits": "it is refused where neither int64 nor uint64 holds it",
    "raises beyond the default int": "it is refused where the dtype of a Python int lacks room",
    "free exponent": "it is refused as such, but one integer as the exponent is any number, and"
    " its base then wraps within 64 bits",
    "raises beyond dtype and default int": "it is refused where neither the op's dtype nor that of"
    " a Python int holds it",
    "raises beyond int64": "it is refused beyond int64, whatever the dtype",
    "checked": "it is refused, floats too; an unsigned dtype takes negatives down to -max",
    "must fit": "it is refused, floats too, even where the op goes on to compute in another dtype",
}
# Whether and how a result may be written into an operand (in place) or into out=.
OUTPUTS = {
    "category": "the kind may not go down: complex > float > int > bool",
    "same kind": "a safe cast, or a narrower one within the kind",
    "safe": "the result must reach the destination's dtype",
    "same dtype": "the result must already have the destination's dtype",
    "rebinds": "nothing is written, the name takes the result, whatever its dtype",
    "any": "any destination is taken",
}
# How the operands' dtypes become the one an op computes in.
JOINS = {
    "common dtype": "the first dtype all operands reach, then what the op makes of it",
    "first loop": "the first of the op's own dtypes that all operands reach",
    "common dtype or first loop": "the common dtype, or the first loop where there is none",
    "first operand": "the first operand's dtype; the others need only be of its kind",
    "integer power": "the base's dtype where the exponent is one integer, else the common dtype",
    "highest kind": "the first of the op's own dtypes of the operands' highest kind",
    "onto first": "the first operand's dtype, where the others may be cast to it",
    "onto real first": "the first operand's dtype, but the common dtype where one is complex",
    "first or default float": "the first operand's dtype; floats make integers the default float",
    "keeps first": "the first operand's dtype, whatever is beside it",
    "first array": "the first operand's dtype, beside a Python number the common one",
    "integers take any": "the first operand's dtype; an integer takes any other beside it",
    "float for integers": "the common dtype; the default float where arrays meet in an integer",
    "by category": "the dtype of the highest category, which what is no array would be given",
    "one dtype": "one dtype for all, but any array becomes float64 beside a Python float",
}
# How Python scalars and 0-d arrays take part beside arrays.
SCALARS = {
    "tiers": "arrays decide before 0-d arrays, these before Python scalars; a lower tier counts"
    " only where its kind is higher",
    "kinds first": "the highest kind decides, and within it arrays before 0-d arrays; a Python"
    " number counts only where its kind is higher, as a 0-d array",
    "arrays alone": "the arrays decide, or the 0-d arrays where there are none; a Python number of"
    " a higher kind replaces what they give",
    "by category": "what is no array is given the dtype of the highest category among all, then"
    " counts as an array",
    "weak": "a Python number takes the arrays' dtype; one of a higher kind moves only the kind",
    "within kind": "a Python number takes the arrays' dtype; one of a higher kind is refused, save"
    " complex beside floats",
    "fits arrays": "a Python scalar, a bool too, takes the arrays' dtype and may not change it,"
    " save an int beside bool arrays",
    "by value": "scalars and 0-d arrays count as the smallest dtype that holds their value",
    "as nodes": "weakly typed operands, Python numbers among them, stand on nodes of their own",
    "as arrays": "a Python number counts as an array of its own dtype",
    "converted": "the arrays decide, and Python numbers are converted to their dtype; of numbers"
    " alone the first decides",
    "0-d mixes": "a 0-d array is as strong as an array, and any kinds mix with it; a Python number"
    " takes the arrays' dtype",
    "0-d adapts": "a 0-d array takes the dtype of an array of its kind, and mixes with any other"
    " kind; a Python number takes the arrays' dtype",
    "0-d adapts to complex": "a 0-d array takes the dtype of an array of its kind, as which a"
    " Python complex counts too, and mixes with any other kind",
    "singles mix": "any kinds mix with a 0-d array or a Python scalar, which count by their dtypes",
    "last adapts": "by tiers, but a Python number at the end takes the others' dtype",
}
# What Python numbers count as before the policy for scalars sees them.
NUMBERS = {
    "numbers": "Python numbers count as such",
    "0-d arrays": "Python numbers count as 0-d arrays of their dtype",
    "values": "Python numbers count by their value: they take the arrays' dtype where it has room"
    " for them, else the smallest dtype of their kind that has",
}
# Which operands of an op may be Python scalars.
PLACES = {"any": "everywhere", "last": "at the end only", "none": "nowhere"}
# Casts that a varied dialect refuses, whatever its rules allow.
GUARDS = {
    "no implicit cast": "every implicit cast is refused",
    "no lossy cast": "an implicit cast that may change a value is refused",
    "no promotion to 64 bits": "a promotion that ends in 64 bits is refused",
}
# What a NumPy array does in another framework's op.
NUMPY_ARRAYS = {
    "native": "it is an array of the framework itself",
    "as arrays": "it counts as an array of the framework",
    "adapts": "it is cast to the dtype of the framework's array",
    "as scalars": "it takes its dtype together with the Python scalars",
    "refused": "it is refused",
}


@dataclass(frozen=True, slots=True)
class Composed:
    """An op that is made of others, for the operands it names (all, where nothing is named)."""

    # "sub(exp(x), *(y, x))", the operands being x y z: a name is a function, a symbol an operator,
    # "mul_" in place, and "cast(x, int32)" no op.
    program: str
    kinds: str = ""  # kinds or dtypes of the first operand; "foreign" for an only_absorbed one
    roles: str = ""  # roles of the first operand, by the names of Role
    exponents: tuple[float, ...] = ()  # values of the last operand, a scalar or 0-d
    exponent_kinds: str = ""
    exponent_roles: str = ""
    rank: int | None = None  # the dimensions all operands have


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a Python number may become, once the dtype is chosen, where the framework converts it
    to that dtype before the op sees it. No number becomes a dtype of a lower kind."""

    bools: str = "bool int float complex"  # the dtypes a bool becomes
    wide_ints: str = ""  # the dtypes that take an int beyond int64; others wrap those within it
    every_int_fits: str = ""  # an int beyond this dtype is refused whatever it is to become
    # A NumPy scalar, and all that is converted beside a weak array, needs a common dtype as well.
    joins_too: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What a dialect does for some ops; a field left None keeps what was said before it.

    A dialect lists rules from the general ("*", every op) to the particular. A field given by
    none means: scalars as arrays, the common dtype, no check of values, any output.
    """

    computes: str | None = None  # kinds or dtypes the op computes in
    otherwise: str | None = None  # a compute dtype outside those: "refused" or "no kernel"
    refuses: str | None = None  # operands of these kinds or dtypes are refused
    refuses_arrays: str | None = None  # the same, but a Python scalar of that kind is taken
    refuses_compute: str | None = None  # reached, then refused
    refuses_scalars: str | None = None  # arrays of these kinds or dtypes take no Python scalar
    last_is_scalar: bool | None = None  # the last operand must be a Python scalar
    refuses_numbers: str | None = None  # Python scalars of these kinds are refused
    takes_scalars: str | None = None  # where Python scalars may stand: one of PLACES
    needs_rank: int | None = None  # some operand must have as many dimensions
    because: str | None = None  # the reason a person is told
    scalars: str | None = None  # one of SCALARS
    adapts: str | None = None  # kinds of Python scalars cast to the array's dtype; no others go
    mixes: str | None = None  # "float -> float": the casts that bring unequal arrays together
    beside: Mapping[str, Mapping[str, str]] | None = None  # array dtype -> what scalars count as
    conversion: Conversion | None = None
    makes_arrays: str | None = None  # "first" or "all": made arrays before they meet the others
    zero_d_as_arrays: bool | None = None
    refuses_zero_d: bool | None = None
    numbers_as: str | None = None  # one of NUMBERS
    reaches: str | None = None  # edges of its own, instead of the dialect's
    meets: str | None = None  # "uint64 + int8 -> float64": pairs that meet elsewhere than by edges
    promotes: bool | None = None  # False: each operand keeps its dtype
    lowest_promoted: bool | None = None  # False: an op that promotes lets its lowest dtypes be
    joins: str | None = None  # one of JOINS
    composes: tuple[Composed, ...] | None = None  # the first that fits
    borrows: str | None = None  # the dialect that decides instead
    numpy: str | None = None  # one of NUMPY_ARRAYS
    numpy_decider: str | None = None  # the dialect that decides with a NumPy array on the right
    numpy_left_decider: str | None = None  # the same for any NumPy operand on the left
    # "complex64 -> float": the Python number one counts as, "array" where it is cast to the array's
    # dtype, or "refused".
    numpy_scalars: str | None = None
    numpy_scalars_left: str | None = None  # the same where it stands on the left, if otherwise
    numpy_reads: str | None = None  # "uint16 -> bfloat16": the dtype a NumPy array is taken to have
    numpy_refuses: str | None = None  # arrays of these dtypes do not meet NumPy arrays
    numpy_sees: str | None = None  # "bfloat16 -> float32": what it takes arrays of a dtype for
    numpy_result: str | None = None  # "bool -> uint8": where NumPy decided
    converts: str | None = None  # "bool -> int64": after the join, before computing
    integers_become_float: bool | None = None
    floats_lift: bool | None = None  # beside a Python float integers become floats before they join
    accumulates: bool | None = None
    same_dtype: bool | None = None
    keeps_width: str | None = None  # kinds of which no operand is computed in fewer bits
    python: Mapping[str, str] | None = None  # where Python numbers count for other dtypes
    compared: int | None = None  # of how many first operands same_dtype is asked; of all by default
    is_truncated: bool | None = None  # False: dtypes count as they are written
    makes_strong: bool | None = None  # the result is not weak, even of weak operands
    converted_is_strong: bool | None = None  # the same, but only of what `converts` or lifts
    out_of_range: str | None = None  # one of OUT_OF_RANGE
    checks: str | None = None  # compute dtypes for which it looks at scalars; all by default
    exponent_fits: str | None = None  # it looks at the exponent alone, which must fit this too
    # "raises": an integer to a negative integer power; "number raises": to that of a Python number
    # alone, not of a 0-d array; "raises on either side": a negative Python
    # int as the base of one, too.
    negative_exponent: str | None = None
    result: str | None = None
    result_of: str | None = None  # "uint8 -> uint8": exceptions to `result`, by compute dtype
    output: str | None = None  # one of OUTPUTS
    writes_also: str | None = None  # "complex -> bfloat16": allowed besides `output`
    writes_never: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dialect:
    """A framework's rules. Data only: `castwise.engine` reads it, nothing in it decides."""

    framework: str
    version: str = ""
    is_newest: bool = True  # the version a bare name means
    mode: str = ""
    about: str
    evidence: str
    # The join takes the first of these that every operand reaches. `int*` is where weakly typed
    # integers stand, `int32*` where the weak int32 alone does.
    order: str
    reaches: str  # "a b -> c d": edges, closed over; "a => b": a reaches b and nothing beyond it
    folds: bool = False  # the join goes pair by pair, from the left, not all at once
    keeps_kind: bool = False  # the join stays within the highest kind among the operands
    alone: str = ""  # dtypes that join with no other, on purpose
    typed_by: str = ""  # "by category": the dialect whose join gives what is no array its dtype
    apart: str = ""  # "uint8 / int8": dtypes of the two sides do not join
    only_absorbed: str = ""  # dtypes that join only where one operand reaches the other
    has_weak_arrays: bool = False
    # The dtype of a Python bool, int, float, complex on its own; a kind it leaves out is refused.
    # That of a "wide int", one beyond the dtype of an int, is uint64 after int64 if not said; that
    # of a "wrapped float" or "wrapped complex" is what one is held in before anything promotes.
    python: Mapping[str, str]
    reads_ints: str = ""  # what Python ints that an int has no room for are made, the first to hold
    truncates: str = ""  # "int64 -> int32": what arrays of a dtype really are
    # In these and in a rule's `converts`, default_int, default_float and default_complex stand for
    # the dtypes of Python's numbers.
    lifts: str = ""  # "int -> default_float": what integers become where an op needs a float
    accumulates: str = ""  # "int8 -> int64": what small integers are summed in
    caps: str = ""  # "float64 -> float32": what a compute dtype is cut to
    guards: tuple[str, ...] = ()  # of GUARDS
    index: str = "int64"
    no_kernel: Mapping[str, str] = field(default_factory=dict)  # ops -> dtypes the CPU lacks
    ops: Mapping[str, Rule]  # "*" or "name name/form": Rule(...)
    prefixes: str = ""  # what the framework's names are written with: "np numpy"
    unrecorded: str = ""  # ops no cell speaks of, most for want of such a function
    aliases: Mapping[str, str] = field(default_factory=dict)  # castwise's op -> its names there
    casts: str  # its can_cast: one of OUTPUTS
    values: Values = field(
        default_factory=Values
    )  # what it computes where arithmetic leaves a choice
    assigns: str = "any"  # which values x[i] = value takes: one of OUTPUTS
    assigns_beyond: str = "wraps"  # what it does with a Python number: one of OUT_OF_RANGE
    casts_by: str = ""  # the dialect whose can_cast it has, where that is not its own
    refusal: str = ""  # why dtypes without a common one are refused, in words
    is_commutative: bool = True
    one_sided: str = ""  # symmetric ops that treat their operands differently all the same
    associativity_witness: tuple[str, str, str] | None = None  # None: associative
    surprises: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Dialect {self.name}>"

    @property
    def name(self) -> str:
        version = "" if self.is_newest else f"@{self.version}"
        return f"{self.framework}{version}{':' if self.mode else ''}{self.mode}"

    def vary(self, **changes: Any) -> Dialect:
        """The same dialect with variations or fields changed.

        The variations are cap_float, default_float, scalars, zero_d, promote_64, strict and safe;
        see docs/variations.md. The fields are those of this record.

        >>> from castwise.frameworks.catalog import dialect_named
        >>> dialect_named("numpy").vary(cap_float=32).name
        'numpy:cap_float=32'

        Raises UsageError for an unknown name or a value that makes no sense.
        """
        from castwise.frameworks.variations import varied  # it needs this record

        return varied(self, changes)

    @property
    def nodes(self) -> tuple[DType, ...]:
        """Its dtypes and the nodes of its weakly typed operands, in its own order."""
        return dtypes_of(self.order)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The dtypes it has, in its own order."""
        return tuple([node for node in self.nodes if not node.is_weak])

    def mapping(self, text: str) -> dict[DType, DType]:
        """A mapping text such as "bool int8 -> default_int; uint8 -> uint64"."""
        for kind in ("int", "float", "complex"):
            text = text.replace(f"default_{kind}", self.python.get(kind, ""))
        return {source: target for source, target, _ in parse_edges(text, self.dtypes)}


@functools.lru_cache(maxsize=4096)
def parse_edges(text: str, dtypes: tuple[DType, ...]) -> tuple[tuple[DType, DType, bool], ...]:
    """The edges of a `reaches` text: from, to, and whether the reach goes on from there."""
    edges: list[tuple[DType, DType, bool]] = []
    for line in text.replace(";", "\n").splitlines():
        if not line.strip():
            continue
        arrow = "=>" if "=>" in line else "->"
        left, found, right = line.partition(arrow)
        if not found:
            raise UsageError(f"an edge is written 'int8 -> int16', not {line.strip()!r}.")
        for source in _members(left, dtypes):
            for target in _members(right, dtypes):
                edges.append((source, target, arrow == "->"))
    return tuple(edges)


def _members(words: str, dtypes: tuple[DType, ...]) -> list[DType]:
    """The dtypes a list of kinds and names stands for, those of the dialect alone."""
    named = dtypes_of(words)
    return [d for d in named if d in dtypes or d.name in words.split()]


def rule_for(dialect: Dialect, row: Op, form: str) -> Rule:
    """The rules that apply to an op in a form, laid over one another."""
    wanted = {"*", f"*/{form}", row.name, f"{row.name}/{form}"}
    merged: dict[str, Any] = {}
    for names, rule in dialect.ops.items():
        if not wanted.isdisjoint(names.split()):
            merged.update(_given(rule))
    return Rule(**merged)


def _given(rule: Rule) -> dict[str, Any]:
    """The fields a rule gives."""
    values = {name: getattr(rule, name) for name in _RULE_FIELDS}
    return {name: value for name, value in values.items() if value is not None}


_RULE_FIELDS = tuple(f.name for f in fields(Rule))
