"""The record of a dialect: a framework's promotion rules at a version, in a mode, as data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from castwise.errors import UsageError
from castwise.frameworks.recorded import unrecorded_ops
from castwise.frameworks.value_rules import Values
from castwise.vocab.dtypes import DType, dtypes_of
from castwise.vocab.ops import Op

# `np.add(a, b)`, `a + b`, `a += b`, `a.add_(b)` and `np.add(a, b, out=c)`. A rule about what is
# written in place holds for `a += b` too, unless that is `a = a + b`: then one about the operator.
FORMS = ("function", "operator", "augmented", "inplace", "out", "dtype")
_LAID_OVER = {"augmented": ("inplace", "augmented"), "rebinding": ("operator", "augmented")}


@dataclass(frozen=True, slots=True)
class Composed:
    """An op that is made of others, for the operands it names (all, where nothing is named)."""

    # "sub(exp(x), *(y, x))", the operands being x y z: a name is a function, a symbol an operator,
    # "mul_" in place; "cast(x, int32)" is no op, nor "array(x)", which gives a 0-d one dimensions.
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
class Condition:
    """What an op with a condition chooses by; a value that is not zero is true."""

    arrays: str = "bool int float complex"  # the dtypes of the framework's own arrays
    numbers: str = "bool int float complex"  # the kinds of Python numbers
    numpy: str = "bool int float complex"  # the dtypes of NumPy's arrays and scalars
    otherwise: str = "refused"  # what becomes of other arrays; or "no kernel"


@dataclass(frozen=True, slots=True, repr=False)
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
    refuses_last: str | None = None  # the last operand may not be of these kinds or dtypes
    one_inexact_of_last: int | None = None  # so many operands at the end may not all be integers
    refuses_numbers: str | None = None  # Python scalars of these kinds are refused
    takes_scalars: str | None = None  # where Python scalars may stand: one of PLACES
    lists: str | None = None  # what lists of Python numbers are: one of LISTS; refused if not said
    takes_lists: str | None = None  # where lists may stand: one of PLACES
    condition: Condition | None = None  # everything, where none is given
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
    numpy_left: str | None = None  # the same for one on the left, if otherwise
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
    keeps_dtypes: bool | None = None  # a dtype by itself is not truncated, though arrays are
    makes_strong: bool | None = None  # the result is not weak, even of weak operands
    arrays_make_strong: str | None = None  # the same, where that of STRONG has dimensions
    converted_is_strong: bool | None = None  # the same, but only of what `converts` or lifts
    out_of_range: str | None = None  # one of OUT_OF_RANGE
    checks: str | None = None  # compute dtypes for which it looks at scalars; all by default
    exponent_fits: str | None = None  # it looks at the exponent alone, which must fit this too
    # "raises": an integer to a negative integer power; "number raises": to that of a Python number
    # alone, not of a 0-d array; "raises on either side": a negative Python int as the base of one,
    # too; "elements raise": where there are any.
    negative_exponent: str | None = None
    result: str | None = None
    result_of: str | None = None  # "uint8 -> uint8": exceptions to `result`, by compute dtype
    rebinds: str | None = None  # one of REBINDS; `x += y` is as in place, if not said
    output: str | None = None  # one of OUTPUTS
    writes_also: str | None = None  # "complex -> bfloat16": allowed besides `output`
    writes_never: str | None = None
    # What may be given by name; without a word of these the op does not take it.
    takes_dtype: str | None = None  # dtype=: one of DTYPE_ARGUMENTS
    casting: str | None = None  # operands are cast to dtype= by one of OUTPUTS; any by default
    takes_casting: bool | None = None  # casting=, instead of `casting` and `output`
    typed_castings: str | None = None  # words of casting= that see Python numbers by their dtype
    finds_foreign: bool | None = None  # dtype= finds a loop of only_absorbed dtypes for any operand
    takes_where: str | None = None  # where=: one of MASKS
    takes_initial: str | None = None  # initial=: one of STARTS
    rounded_as: str | None = None  # "floor -> floor_divide": the op rounding_mode= makes of it
    # value= and delta=: the kinds of numbers they may be, and "fits" where the dtype must hold
    # them, "positive" where they must be that.
    takes_value: str | None = None
    takes_delta: str | None = None

    def __repr__(self) -> str:
        return f"Rule({', '.join(f'{name}={value!r}' for name, value in _given(self).items())})"


class _Referable:
    """What weak references can be made to; dataclasses have no word for it before Python 3.11."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dialect(_Referable):
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
    keeps_weak_width: bool = True  # False: weak arrays that meet are of their kind's own dtype
    # The dtype of a Python bool, int, float, complex on its own; a kind it leaves out is refused.
    # That of a "wide int", one beyond the dtype of an int, is uint64 after int64 if not said; that
    # of a "wrapped float" or "wrapped complex" is what one is held in before anything promotes.
    python: Mapping[str, str]
    reads_ints: str = ""  # what Python ints that an int has no room for are made, the first to hold
    truncates: str = ""  # "int64 -> int32": what arrays of a dtype really are
    # In these and in a rule's `converts`, default_int, default_float and default_complex stand for
    # the dtypes of Python's numbers.
    lifts: str = ""  # "int -> default_float": what integers become where an op needs a float
    accumulates: str = ""  # "int8 -> int64": what small integers are summed in; "int*": weak ones
    caps: str = ""  # "float64 -> float32": what a compute dtype is cut to
    guards: tuple[str, ...] = ()  # of GUARDS
    index: str = "int64"
    # "*" or "name name/form" -> dtypes the CPU lacks
    no_kernel: Mapping[str, str] = field(default_factory=dict)
    ops: Mapping[str, Rule]  # "*" or "name name/form": Rule(...)
    prefixes: str = ""  # what the framework's names are written with: "np numpy"
    aliases: Mapping[str, str] = field(default_factory=dict)  # castwise's op -> its names there
    casts: str  # its can_cast: one of OUTPUTS
    values: Values = field(
        default_factory=Values
    )  # what it computes where arithmetic leaves a choice
    assigns: str = "any"  # which values x[i] = value takes: one of OUTPUTS
    assigns_beyond: str = "wraps"  # what it does with a Python number: one of OUT_OF_RANGE
    assigns_by_places: str = "cast"  # x[array] = array: one of ASSIGNS_BY_PLACES
    assigns_whole: str = "cast"  # x[...] = value: one of ASSIGNS_WHOLE
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

        The variations are cap_float, default_float, default_int, scalars, zero_d, promote_64,
        strict and safe; see docs/variations.md. The fields are those of this record. Equal calls
        give the same object.

        >>> from castwise.frameworks.catalog import dialect_named
        >>> dialect_named("numpy").vary(cap_float=32).name
        'numpy:cap_float=32'

        Raises UsageError for an unknown name or a value that makes no sense.
        """
        from castwise.frameworks.variations import varied  # it needs this record

        return varied(self, changes)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The ops no recorded cell of its framework speaks of, most for want of such a function."""
        return unrecorded_ops(self.framework)

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
    """The rules that apply to an op in a form, or in several at once, laid over one another."""
    wanted = {"*", row.name}
    for part in form.split():
        for laid in _LAID_OVER.get(part, (part,)):
            wanted |= {f"*/{laid}", f"{row.name}/{laid}"}
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
