"""A dialect: a framework's rules, whether they are well formed, and how they are varied."""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from castwise.errors import UsageError, did_you_mean
from castwise.rules.rule import (
    FORMS,
    LIMITS,
    OUTPUTS,
    Arrays,
    Numbers,
    Rule,
    combined,
    given_fields,
)
from castwise.rules.values import CHOICES, Values
from castwise.showing import Shown, repr_line
from castwise.vocab.dtypes import KINDS, DType, dtype, dtypes_named
from castwise.vocab.ops import OPS, RESULTS, Op, known_op

# The parts of a dialect: what holds for every op, by subject.

# Whether arrays may be weakly typed, and what they count as when combined.
WEAK_ARRAYS = {
    "none": "arrays are never weakly typed",
    "keep their width": "arrays may be weakly typed, and keep their width when combined",
    "by kind": "arrays may be weakly typed, and count as their kind's own dtype when combined",
}
# Casts that a varied dialect refuses, whatever its rules allow.
GUARDS = {
    "no implicit cast": "every implicit cast is refused",
    "no lossy cast": "an implicit cast that may change a value is refused",
    "no promotion to 64 bits": "a promotion that ends in 64 bits is refused",
}


@dataclass(frozen=True, slots=True)
class Joining:
    """Which dtypes join, in every op of a dialect."""

    folds: bool = False  # the join goes pair by pair, from the left, not all at once
    keeps_kind: bool = False  # the join stays within the highest kind among the operands
    alone: str = ""  # dtypes that join with no other, on purpose
    apart: str = ""  # "uint8 / int8": dtypes of the two sides do not join
    only_absorbed: str = ""  # dtypes that join only where one operand reaches the other
    refusal: str = ""  # the reason that messages give for dtypes without a common one
    weak_arrays: str = "none"  # one of WEAK_ARRAYS
    guards: tuple[str, ...] = ()  # of GUARDS: promotions that are refused although dtypes join


@dataclass(frozen=True, slots=True)
class Becomes:
    """What dtypes and integers become, whatever op they are in.

    In the mappings and in a rule's `converts`, default_int, default_float and default_complex mean
    the dtypes of Python numbers.
    """

    truncates: str = ""  # "int64 -> int32": the dtypes that arrays really have
    lifts: str = ""  # "int -> default_float": what integers become where an op needs a float
    accumulates: str = ""  # "int8 -> int64": what small integers are summed in; "int*": weak ones
    caps: str = ""  # "float64 -> float32": what a compute dtype is cut to
    index: str = "int64"  # the dtype of indices and counts
    reads_ints: str = ""  # dtypes for Python ints beyond that of an int: the first that holds it


# What x[array] = array does.
ASSIGNS_BY_PLACES = {
    "cast": "the values are cast to the array's dtype",
    "same dtype": "the values must have the array's dtype; numbers are cast, and single values"
    " assigned through a mask",
    "always same dtype": "arrays must have the array's dtype, whatever the index; numbers are cast,"
    " and weak arrays of no higher kind",
}
# What x[...] = value does.
ASSIGNS_WHOLE = {
    "cast": "the value is cast to the array's dtype",
    "takes the value's dtype": "the array takes the value's dtype; a number counts as in an op"
    " with the array",
}
# What becomes of scalars that have a dtype, as NumPy's have.
ASSIGNS_SCALARS = {
    "cast": "they are cast",
    "fit signed": "they must fit signed integers, as Python numbers do, and are cast to others",
}


@dataclass(frozen=True, slots=True)
class Assigns:
    """What `x[i] = value` takes, in every op of a dialect."""

    values: str = "any"  # which dtypes: one of OUTPUTS
    limit: str = "none"  # one of LIMITS: a Python number beyond it is refused
    scalars: str = "cast"  # one of ASSIGNS_SCALARS
    by_places: str = "cast"  # x[array] = array: one of ASSIGNS_BY_PLACES
    whole: str = "cast"  # x[...] = value: one of ASSIGNS_WHOLE


@dataclass(frozen=True, slots=True)
class Laws:
    """Properties of the join, which tests check."""

    is_commutative: bool = True
    one_sided: str = ""  # symmetric ops that nevertheless treat their operands differently
    associativity_witness: tuple[str, str, str] | None = None  # None: associative


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why the rules are believed, and what is shown of them. Only the layers decide."""

    source: str  # "recorded from ..."
    laws: Laws = Laws()
    surprises: tuple[str, ...] = ()  # the examples on its page
    # Files of recorded answers that count for more than the rules, the first for most.
    layers: tuple[str, ...] = ()
    lacks: str = ""  # dtypes of the rules, and ops, that what was recorded does not have
    has: str = ""  # dtypes that it has and the rules do not


@dataclass(frozen=True, slots=True)
class Naming:
    """The names by which a dialect and its framework's functions are known."""

    is_newest: bool = True  # the framework's bare name means this version
    names: str = ""  # what else the framework is called in a dialect's name: "np"
    last: str = ""  # the last release that an old dialect speaks for
    recorded: str = ""  # the release it was recorded from, where that says more than its version
    packages: str = ""  # what installs it, where that is not named as its module
    release: str = ""  # that of the package, where it is not numbered as the dialect is
    prefixes: str = ""  # the prefixes of the framework's names: "np numpy"
    aliases: Mapping[str, str] = field(default_factory=dict)  # castwise's op -> its names there
    cast: str = "{x}.astype('{dtype}')"  # how its users write a cast
    bool_name: str = "bool"  # what bool is called there
    casts: str = ""  # "byte:uint8 to:": its arrays' methods that cast; "": to the argument's dtype

    @property
    def dtypes_of_casts(self) -> dict[str, str]:
        """The methods of the framework's arrays that cast, and their dtypes.

        >>> Naming(casts="byte:uint8 to:").dtypes_of_casts
        {'byte': 'uint8', 'to': ''}
        """
        return {name: dtype for name, _, dtype in (w.partition(":") for w in self.casts.split())}


# The fields of a dialect: a framework's promotion rules at a version, in a mode.


class _Referable:
    """Allows weak references; dataclasses have no option for it before Python 3.11."""

    __slots__ = ("__weakref__",)


# When there is no kernel. Numbers are Python's ints and floats, NumPy's integer scalars, and what
# counts as one of these.
BY_NUMBER = {
    "no-number": "if no operand is a number",
    "no-last-number": "if the last operand is not a number",
    "last-number": "if the last operand is a number",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dialect(_Referable, Shown):
    """A framework's rules. Data only: `castwise.engine` reads it, nothing in it decides."""

    framework: str
    version: str = ""
    mode: str = ""
    naming: Naming = field(default_factory=Naming)
    about: str
    evidence: Evidence
    # The join takes the first of these that every operand reaches. `int*` is the node of weakly
    # typed integers, `int32*` that of the weak int32 only.
    order: str
    reaches: str  # "a b -> c d": edges, closed over; "a => b": a reaches b and nothing beyond it
    joining: Joining = field(default_factory=Joining)
    # The dtype of a Python bool, int, float, complex on its own; a kind it leaves out is refused.
    # A "wide int" is one beyond the dtype of an int: by default uint64 where that is int64. A
    # "wrapped float" or "wrapped complex" is the dtype one has before anything is promoted.
    python: Mapping[str, str]
    becomes: Becomes = field(default_factory=Becomes)
    ops: Mapping[str, Rule]  # "*" or "name name/form": Rule(...)
    # "*" or "name name/form" -> dtypes the CPU lacks; or name/ and a word of BY_NUMBER
    no_kernel: Mapping[str, str] = field(default_factory=dict)
    casts: str  # its can_cast: one of OUTPUTS, or that of another: "as numpy"
    assigns: Assigns = field(default_factory=Assigns)
    values: Values = field(default_factory=Values)

    @property
    def name(self) -> str:
        version = "" if self.naming.is_newest else f"@{self.version}"
        return f"{self.framework}{version}{':' if self.mode else ''}{self.mode}"

    @property
    def nodes(self) -> tuple[DType, ...]:
        """Its dtypes and the nodes of its weakly typed operands, in its own order."""
        return dtypes_named(self.order)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The dtypes it has, in its own order."""
        lacks = self.evidence.lacks.split()
        known = [node for node in self.nodes if not node.is_weak and node.name not in lacks]
        return (*known, *dtypes_named(self.evidence.has))

    @property
    def casts_as(self) -> str:
        """The name of the dialect whose can_cast it has, "" where it has its own."""
        return self.casts.removeprefix("as ") if self.casts.startswith("as ") else ""

    @property
    def has_weak_arrays(self) -> bool:
        return self.joining.weak_arrays != "none"

    @property
    def truncations(self) -> dict[DType, DType]:
        """The dtypes that arrays of some dtypes really have."""
        return self.mapping(self.becomes.truncates)

    def mapping(self, text: str) -> dict[DType, DType]:
        """A mapping text such as "bool int8 -> default_int; uint8 -> uint64"."""
        for kind in ("int", "float", "complex"):
            text = text.replace(f"default_{kind}", self.python.get(kind, ""))
        return {source: target for source, target, _ in parse_edges(text, self.dtypes)}

    def __repr__(self) -> str:
        what = re.split(r"[:;.](?:\s|$)", self.about, maxsplit=1)[0]
        version = f"version {self.version}" if self.version else ""
        return repr_line("Dialect", repr(self.name), what, version, f"{len(self.dtypes)} dtypes")

    def vary(self, **changes: Any) -> Dialect:
        """The same dialect with variations or fields changed.

        The variations are cap_float, default_float, default_int, scalars, zero_d, promote_64,
        strict and safe; see docs/reference/variations.md. The fields are those of this record.
        Equal calls give the same object.

        >>> from castwise.catalog import dialect_named
        >>> dialect_named("numpy").vary(cap_float=32).name
        'numpy:cap_float=32'

        Raises UsageError for an unknown name or a value that makes no sense.
        """
        return varied(self, changes)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The ops without recorded cells of its framework, most of which it does not have."""
        lacks = [word for word in self.evidence.lacks.split() if known_op(word)]  # or a dtype
        return (*unrecorded_ops(self.framework), *lacks)


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
    """The dtypes that a list of kinds and names means, only those of the dialect."""
    named = dtypes_named(words)
    return [d for d in named if d in dtypes or d.name in words.split()]


# What a framework's error messages about dtypes say.

# What stands in the braces of a template, and what it means.
PLACEHOLDERS = {
    "op": "the op, as the framework calls it",
    "left": "the dtype of the first operand",
    "right": "the dtype of the second operand",
    "third": "the dtype of the third operand",
    "each": "the dtype of every operand",
    "operands": "the dtypes of all operands, in a list",
    "place": "the place of the operand that has the dtype `found`, counted from 0",
    "found": "the dtype of the operand at `place`",
    "expected": "the dtype of the operands before `place`",
    "computed": "the dtype that the op computes in; that of its operand where it has only one",
    "result": "the dtype of the result",
    "target": "the dtype of the array that is written to",
    "dtype": "the dtype that was asked for, as in add(x, y, dtype=int8)",
    "number": "the second operand, a Python number",
    "kind": "the second operand, a Python number of this type",
    "any": "a word that tells nothing",
}


@dataclass(frozen=True, slots=True)
class Message:
    """An error message. Text is literal, `{...}` is one of PLACEHOLDERS, `...` skips some text."""

    template: str
    example: str = ""  # a real one; "": the recorded tracebacks have one
    op: str = ""  # the ops that raise it, the likeliest first, where the message names none
    form: str = ""  # "inplace" or "out", where the message says so
    mode: str = ""  # the mode that the message is of: "strict"
    operands: str = ""  # the operands, where the message implies them: "bool bool"
    is_in_order: bool = True  # False: the message does not tell which operand is the first


@dataclass(frozen=True, slots=True)
class Messages:
    """What is known of a framework's errors."""

    framework: str
    messages: tuple[Message, ...]
    dtypes: Mapping[str, str] = field(default_factory=dict)  # as errors spell them
    ops: Mapping[str, str] = field(default_factory=dict)  # as errors name them -> castwise's
    calls: Mapping[str, str] = field(default_factory=dict)  # as programs call them -> castwise's
    packages: str = ""  # the folders that its Python files are in
    signs: Mapping[str, str] = field(default_factory=dict)  # a text that only it has -> the dialect
    runs_on: str = ""  # the frameworks whose errors are its own where it was called


# How many cells were recorded of which dialect and op, from a list in the same folder.

RECORDED_CELLS = Path(__file__).with_name("recorded_cells.tsv")


@functools.cache
def unrecorded_ops(framework: str) -> tuple[str, ...]:
    """The ops without recorded cells of a framework, mostly because it has no such function.

    >>> "softmax" in unrecorded_ops("numpy")
    True

    Empty for a framework that was never recorded, such as a custom one.
    """
    own: set[str] = set()
    for dialect, counts in recorded_cells().items():
        if re.split("[:@]", dialect)[0] == framework:
            own.update(counts)
    return tuple([op for op in OPS if op not in own]) if own else ()


@functools.cache
def recorded_cells() -> dict[str, dict[str, int]]:
    """How many cells each dialect has of each op."""
    found: dict[str, dict[str, int]] = {}
    for line in RECORDED_CELLS.read_text(encoding="utf-8").splitlines():
        dialect, _, counts = line.partition("\t")
        words = [word.partition(":") for word in counts.split()]
        found[dialect] = {op: int(count) for op, _, count in words}
    return found


# Dialects with the same content are one object, however often and wherever they are made.

_FIELDS = tuple(f.name for f in fields(Dialect))
_known: WeakValueDictionary[bytes, Dialect] = WeakValueDictionary()
_lock = threading.Lock()  # of two threads that make the same dialect, both get the same object


def shared(dialect: Dialect) -> Dialect:
    """The one dialect with this content: the first that was made, as long as it is referenced.

    Decisions are cached by the dialect's identity, and tensors can be mixed if they have the same
    one.
    """
    # By a hash of the content, which would take too much memory as text.
    content = repr([getattr(dialect, name) for name in _FIELDS])
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).digest()
    with _lock:
        return _known.setdefault(digest, dialect)


# Whether a dialect is well formed; each error says where it is wrong and what to do.

_NUMBER_KEYS = (*KINDS, "wide int", "wrapped float", "wrapped complex")


def check(dialect: Dialect) -> None:
    """Raises UsageError for unknown names, cycles, and dtypes that no edge reaches."""
    try:
        _check_dtypes(dialect)
        _check_values(dialect.values)
        for names, rule in dialect.ops.items():
            _check_key(names)
            _check_rule(dialect, names, rule)
    except UsageError as error:
        raise UsageError(f"dialect {dialect.name}: {error}") from None


def _check_dtypes(dialect: Dialect) -> None:
    _check_edges(dialect)
    becomes = dialect.becomes
    for text in (becomes.lifts, becomes.accumulates, becomes.truncates, becomes.caps):
        dialect.mapping(text)
    dtypes_named(" ".join(dialect.naming.dtypes_of_casts.values()))
    for kind, name in dialect.python.items():
        _check_name(kind, _NUMBER_KEYS, "a kind of Python number")
        if dtype(name) not in dialect.dtypes:
            raise UsageError(f"a Python {kind} is {name}, which is not in order.")
    dtypes_named(dialect.joining.apart.replace("/", " "))
    if not dialect.casts_as:
        _check_name(dialect.casts, OUTPUTS, "a rule of can_cast")
    _check_name(dialect.joining.weak_arrays, WEAK_ARRAYS, "a choice for weak_arrays")
    _check_name(dialect.assigns.values, OUTPUTS, "a rule of assignment")
    _check_name(dialect.assigns.limit, LIMITS, "a limit of assigned numbers")
    _check_name(dialect.assigns.scalars, ASSIGNS_SCALARS, "a choice for assigns.scalars")
    _check_name(dialect.assigns.by_places, ASSIGNS_BY_PLACES, "a choice for assigns.by_places")
    _check_name(dialect.assigns.whole, ASSIGNS_WHOLE, "a choice for assigns.whole")
    dtype(becomes.index)
    for guard in dialect.joining.guards:
        _check_name(guard, GUARDS, "a guard")


def _check_edges(dialect: Dialect) -> None:
    """Raises UsageError unless all edges are between dtypes of the dialect, and as they should
    be."""
    for source, target, _ in parse_edges(dialect.reaches, dialect.nodes):
        for end in (source, target):
            if end not in dialect.nodes:
                raise UsageError(f"{end} has an edge but is not in order.")
    _check_way(dialect)


def _check_way(dialect: Dialect) -> None:
    """Raises UsageError unless the edges lead forward in the order, form no circle, and include
    every dtype that is not listed in alone.

    Edges of other dtypes, which those of a rule have in a variation with fewer, do not count.
    """
    place = {node: number for number, node in enumerate(dialect.nodes)}
    every = parse_edges(dialect.reaches, dialect.nodes)
    edges = [edge for edge in every if edge[0] in place and edge[1] in place]
    onward: dict[DType, list[DType]] = {}
    for source, target, _ in edges:
        onward.setdefault(source, []).append(target)
    for start in onward:
        if circle := _circle(start, onward):
            raise UsageError(f"the edges go in a circle: {' -> '.join(d.name for d in circle)}.")
    for source, target, _ in edges:
        if place[target] < place[source]:
            raise UsageError(f"{source} reaches {target}, which comes before it in order.")
    joined = {end for edge in edges for end in edge[:2]}
    for node in place:
        if node not in joined and node not in dtypes_named(dialect.joining.alone):
            raise UsageError(
                f"{node} is unreachable: it has no edge to or from another dtype. Give it one in"
                " reaches, or list it in alone."
            )


def _circle(start: DType, onward: Mapping[DType, list[DType]]) -> list[DType] | None:
    """A path along the edges from a dtype back to itself."""
    paths = [[start, target] for target in onward[start]]
    seen: set[DType] = set()
    while paths:
        path = paths.pop()
        if path[-1] is start:
            return path
        if path[-1] not in seen:
            seen.add(path[-1])
            paths += [[*path, target] for target in onward.get(path[-1], ())]
    return None


def _check_key(names: str) -> None:
    for word in names.split():
        name, _, form = word.partition("/")
        if name != "*":
            _check_name(name, OPS, "an op")
        if form:
            _check_name(form, FORMS, f"a form of {name}")


def _check_rule(dialect: Dialect, names: str, rule: Rule) -> None:
    """Raises UsageError for a rule with a field that is not written as its type says."""
    for given, value in _given_fields(rule):
        _check_field(dialect, given, value)
    is_counting = (rule.accepts.needs_rank or 0) > 1 or any(c.rank for c in rule.composes or ())
    if is_counting and not _counts_dimensions(names):
        raise UsageError(f"{names} does not distinguish vectors from matrices.")
    if rule.joins.reaches is not None:
        free = replace(dialect.joining, alone=dialect.order)
        _check_way(replace(dialect, reaches=rule.joins.reaches, joining=free))
    if rule.result and rule.result not in RESULTS:
        dtype(rule.result)
    for given, value in _given_fields(rule):
        words = given.metadata.get("words")
        if words and (value or given.metadata.get("otherwise") is None):
            _check_name(value, words, f"a choice for {names}")


def _check_field(dialect: Dialect, field: Field[Any], value: Any) -> None:
    if field.type in ("Dtypes", "OneDtype"):
        dtypes_named(value)
    elif field.type in ("Casts", "Pairs", "PairsOrAny"):
        dialect.mapping(value)
    elif field.type == "Kinds":
        for kind in value.split():
            _check_name(kind, KINDS, "a kind of Python number")


def _given_fields(record: Any) -> Iterator[tuple[Field[Any], Any]]:
    """The fields that a rule gives, also in its parts."""
    for part in fields(record):
        value = getattr(record, part.name)
        if is_dataclass(value):
            yield from _given_fields(value)
        elif value is not None:
            yield part, value


def _check_values(values: Values) -> None:
    """Raises UsageError for a word that a field does not choose from, and for unknown ops."""
    for name, words in CHOICES.items():
        _check_name(attrgetter(name)(values), words, f"a choice for {name}")
    dividing, arithmetic, memory = values.dividing, values.arithmetic, values.memory
    for names in (
        arithmetic.wide_scalars, arithmetic.wide_numbers,
        dividing.reciprocal_first, dividing.reciprocal_second,
        arithmetic.stepwise, memory.shares_memory, values.needs.elements, memory.retyped_first,
        memory.gives_arrays,
    ):  # fmt: skip
        _check_key(names)
    if values.reducing.correction not in (0, 1):
        raise UsageError(f"correction is 0 or 1, not {values.reducing.correction!r}.")


def _counts_dimensions(names: str) -> bool:
    """Whether all the ops of a key distinguish vectors from matrices."""
    ops = [OPS.get(word.partition("/")[0]) for word in names.split()]
    return all(op and op.shapes.counts_dimensions for op in ops)


def _check_name(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        hint = did_you_mean(name, known) or f" There are {', '.join(known)}."
        raise UsageError(f"{name!r} is not {what}.{hint}")


# The variations of a dialect: named changes that make sense for any framework's rules.

Changes = dict[str, Any]
_SCALARS: dict[str, Rule] = {
    "by value": Rule(numbers=Numbers(count_as="values")),
    "by value within kind": Rule(scalars="by value"),
    "as 0-d tensors": Rule(numbers=Numbers(count_as="0-d arrays")),
    "as tensors": Rule(scalars="as arrays"),
    "weak": Rule(scalars="weak"),
}


def varied(dialect: Dialect, changes: Mapping[str, Any]) -> Dialect:
    """The dialect with variations and fields changed; its name lists the variations."""
    for name in changes:
        if name not in VARIATIONS and name not in _FIELDS:
            hint = _hint(dialect, name)
            raise UsageError(
                f"a dialect has no variation {name!r}.{hint} There are {', '.join(VARIATIONS)}."
            )
    _check_recorded(dialect, changes)
    dialect = replace(dialect, **{n: v for n, v in changes.items() if n not in VARIATIONS})
    for name, value in changes.items():
        if name in VARIATIONS and value is not None:
            value = dtype(str(value)).name if name in _OF_DTYPES else value
            changed = VARIATIONS[name](dialect, value)
            mode = f"{dialect.mode}:{name}={value}".lstrip(":") if changed else dialect.mode
            dialect = replace(dialect, mode=mode, **changed)
    return shared(dialect)


def _check_recorded(dialect: Dialect, changes: Mapping[str, Any]) -> None:
    """Raises UsageError where answers were recorded that a variation might change."""
    named = [n for n, v in changes.items() if n in VARIATIONS and v is not None]
    other = next((name for name in named if name not in _GUARDING), None)
    if other and dialect.evidence.layers:
        raise UsageError(
            f"{dialect.name} is recorded as it is, without {other}: of the variations it takes"
            f" {', '.join(_GUARDING)}."
        )


def _hint(dialect: Dialect, name: str) -> str:
    """Where a field of a part is changed, or a variation of a similar name."""
    for part in [f.name for f in fields(dialect) if is_dataclass(getattr(dialect, f.name))]:
        if name in [f.name for f in fields(getattr(dialect, part))]:
            return f" Change its part: vary({part}=replace(dialect.{part}, {name}=...))."
    return did_you_mean(name, VARIATIONS)


def parse_options(text: str) -> dict[str, Any]:
    """The variations in a name such as `torch:default_float=float64:strict=True`.

    >>> parse_options("strict=True:cap_float=32")
    {'strict': True, 'cap_float': 32}
    """
    options: dict[str, Any] = {}
    for part in filter(None, text.split(":")):
        name, _, value = part.partition("=")
        if name not in VARIATIONS:
            hint = did_you_mean(name, VARIATIONS)
            known = ", ".join(VARIATIONS)
            raise UsageError(f"unknown option {name[:40]!r}.{hint} There are {known}.")
        words: dict[str, Any] = {"true": True, "false": False}
        is_short = value.isdecimal() and len(value) < 10  # no option needs more digits
        options[name] = words.get(value.lower(), int(value) if is_short else value)
    return options


def _cap_float(dialect: Dialect, bits: Any) -> Changes:
    """No result has wider floats than this: TF-NumPy's allow_float64=False is 32."""
    if bits not in (16, 32) or isinstance(bits, bool):
        raise UsageError(f"cap_float is 16 or 32, the widest float's bits, not {repr(bits)[:40]}.")
    entries = []
    for kind in ("float", "complex"):
        own = [d for d in dialect.dtypes if d.kind == kind]
        wide = [d for d in own if d.part.bits > bits]
        narrow = [d for d in own if d.part.bits == bits] or wide[:1]
        entries += [f"{d} -> {narrow[0]}" for d in wide if d is not narrow[0]]
    return {"becomes": replace(dialect.becomes, caps="; ".join(entries))}


def _default_float(dialect: Dialect, name: Any) -> Changes:
    """The dtype of a Python float; a Python complex follows it."""
    part = _default(dialect, name, "float", "a float")
    twins = [d for d in dialect.dtypes if d.kind == "complex" and d.part.holds(part)]
    numbers = {"float": part.name}
    if twins:
        numbers["complex"] = twins[0].name
    return _numbers(dialect, numbers)


def _default_int(dialect: Dialect, name: Any) -> Changes:
    """The dtype of a Python int; sums of small integers keep their dtype."""
    return _numbers(dialect, {"int": _default(dialect, name, "int", "an integer").name})


def _default(dialect: Dialect, name: Any, kind: str, kind_text: str) -> DType:
    """The dtype that Python numbers of a kind get."""
    wanted = dtype(name)
    if wanted.kind != kind:
        raise UsageError(f"default_{kind} must be {kind_text} dtype, not {wanted}.")
    if wanted not in dialect.dtypes:
        raise UsageError(f"{dialect.name} has no default {kind} {wanted}.")
    return wanted


def _numbers(dialect: Dialect, numbers: dict[str, str]) -> Changes:
    """Python numbers of some kinds get other dtypes, in every op that has no rule for this."""
    general = dialect.ops["*"]
    if given := given_fields(general).get("numbers.dtypes"):
        general = combined(general, Rule(numbers=Numbers(dtypes={**given, **numbers})))
    return {"python": {**dialect.python, **numbers}, "ops": {**dialect.ops, "*": general}}


def _scalars(dialect: Dialect, policy: Any) -> Changes:
    """How Python scalars count, in ops that have no rule for them."""
    if not isinstance(policy, str) or policy not in _SCALARS:
        raise UsageError(f"scalars is {', '.join(map(repr, _SCALARS))}, not {policy!r}.")
    as_numbers = Rule(numbers=Numbers(count_as="numbers"))
    ops = {
        names: combined(as_numbers, rule) if rule.scalars else rule
        for names, rule in dialect.ops.items()
    }
    return {"ops": {**ops, "*": combined(ops["*"], _SCALARS[policy])}}


def _zero_d(dialect: Dialect, policy: Any) -> Changes:
    """0-d arrays count as arrays; Python scalars count as before."""
    if policy != "as arrays":
        raise UsageError(f"zero_d is 'as arrays', not {policy!r}.")
    general = combined(dialect.ops["*"], Rule(arrays=Arrays(zero_d_as_arrays=True)))
    return {"ops": {**dialect.ops, "*": general}}


def _guarded(name: str, guard: str, dialect: Dialect, value: Any) -> Changes:
    """A guard, if the variation `name` asks for it."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} is True or False, not {value!r}.")
    is_guarded = not value if name == "promote_64" else value
    if not is_guarded:
        return {}
    return {"joining": replace(dialect.joining, guards=(*dialect.joining.guards, guard))}


# A value of each, for messages.
EXAMPLES = {
    "cap_float": 32, "default_float": "float64", "default_int": "int32", "scalars": "weak",
    "zero_d": "as arrays", "promote_64": False, "strict": True, "safe": True,
}  # fmt: skip
# These refuse, and change no answer.
_GUARDING = {
    "promote_64": "no promotion to 64 bits",
    "strict": "no implicit cast",
    "safe": "no lossy cast",
}
_OF_DTYPES = ("default_float", "default_int")
VARIATIONS: dict[str, Callable[[Dialect, Any], Changes]] = {
    "cap_float": _cap_float,
    "default_float": _default_float,
    "default_int": _default_int,
    "scalars": _scalars,
    "zero_d": _zero_d,
    **{name: functools.partial(_guarded, name, guard) for name, guard in _GUARDING.items()},
}

_LAID_OVER = {"augmented": ("inplace", "augmented"), "rebinding": ("operator", "augmented")}


@functools.lru_cache(maxsize=4096)
def rule_for(dialect: Dialect, row: Op, form: str) -> Rule:
    """The rules that apply to an op in a form, or in several at once, combined into one."""
    wanted = {"*", row.name}
    for part in form.split():
        for laid in _LAID_OVER.get(part, (part,)):
            wanted |= {"/".join((name, laid)) for name in ("*", row.name)}
    rules = [rule for names, rule in dialect.ops.items() if not wanted.isdisjoint(names.split())]
    return combined(*rules)
