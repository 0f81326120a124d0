"""Asks the engine for every answer that the page of a dialect can show, and keeps each once."""

from __future__ import annotations

import cmath
import dataclasses
import functools
import itertools
import math
import re
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from castwise.catalog import dialect_named
from castwise.comparing.diff import weak_dtypes
from castwise.engine.computing import OWN_WAYS, is_listed
from castwise.engine.decide import outcome_and_steps, role_text
from castwise.engine.decision import HAZARDS, Cast, Decision, Question, cast_text, result_text
from castwise.engine.plan import Plan, looks_at_values, op_plan
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect, rule_for
from castwise.vocab.dtypes import KINDS, DType, dtype, dtypes_named
from castwise.vocab.operands import (
    EXACT_VALUES,
    VALUE_BOUNDS,
    Operand,
    Role,
    Scalar,
    array_operand,
    held_value,
    numpy_scalar_operand,
    real_class,
    scalar_operand,
    scalar_text,
)
from castwise.vocab.ops import OPS, Op

# Which ops a dialect treats alike: their tables are the same, so that one is asked and stored.

FORMS = ("operator", "function", "augmented", "inplace")
# Where the op's name and symbol stand in a sentence. No framework's text has these letters.
OP_NAME, OP_SYMBOL = "\ue010", "\ue011"
# What the engine reads of an op's row besides its name: all but what only other parts look at.
_UNREAD = ("name", "symbol", "ulps", "meaning", "compute", "family", "call")
_READ = tuple([field.name for field in dataclasses.fields(Op) if field.name not in _UNREAD])
_READ_FAMILIES = ("layers", "questions")


class Asked(NamedTuple):
    """An op in a form."""

    op: Op
    form: str

    def question(self, dialect: Dialect, operands: tuple[Operand, ...]) -> Question:
        is_in_place = self.form == "inplace"
        form = "function" if is_in_place else self.form
        return Question(self.op, operands, dialect, form, is_in_place)


def every_asked() -> list[Asked]:
    """Every op in every form it has."""
    return [Asked(op, form) for op in OPS.values() for form in forms_of(op)]


def forms_of(op: Op) -> list[str]:
    """The forms of an op, the usual one first."""
    forms = ["operator", "function"] if op.symbol else ["function"]
    return [*forms, "augmented", "inplace"] if op.augments else forms


def forms_behind(form: str) -> tuple[str, ...]:
    """The forms whose rules decide about a form: `x += y` may be `x = x + y`, or write into x."""
    return ("augmented", "rebinding", "operator", "inplace") if form == "augmented" else (form,)


def alike(dialect: Dialect, asked: Iterable[Asked]) -> list[list[Asked]]:
    """Ops in forms, in groups that the dialect gives the same answers to."""
    groups: dict[Hashable, list[Asked]] = {}
    for one in asked:
        groups.setdefault(_rules_of(dialect, one), []).append(one)
    return list(groups.values())


def _rules_of(dialect: Dialect, asked: Asked) -> Hashable:
    """All that the answers of an op can depend on."""
    op, form = asked
    read = [repr(getattr(op, name)) for name in _READ]
    family = op.family if op.family in _READ_FAMILIES else ""
    rules = tuple([_rule_of(dialect, op, one) for one in forms_behind(form)])
    # A function and an operator with the same rules differ in nothing, unless a sentence quotes
    # the question that another dialect is asked.
    is_quoted = any(rule.asks for rule in rules)
    shown_form = form if is_quoted or form in ("augmented", "inplace") else ""
    return (
        shown_form,
        tuple(read),
        family,
        op.name in dialect.unrecorded,
        rules,
        _ways(dialect, asked),
    )


def _ways(dialect: Dialect, asked: Asked) -> Hashable:
    """The ways to compute otherwise than promotion has it, which ops have by name."""
    lists = (dialect.values.arithmetic.wide_scalars, dialect.values.arithmetic.stepwise)
    name, forms = asked.op.name, forms_behind(asked.form)
    named = [is_listed(words, name, form) for words in lists for form in forms]
    return OWN_WAYS.get(name), tuple(named)


class _OpRule(NamedTuple):
    """What a dialect does for an op in a form, and the rules of the dialects it asks instead."""

    text: str
    no_kernel: tuple[frozenset[DType], ...]
    name: str
    asks: tuple[Hashable, ...]


def _rule_of(dialect: Dialect, op: Op, form: str) -> _OpRule:
    rule = rule_for(dialect, op, form)
    plan = op_plan(op, dialect, form)
    # The steps of a composition are other questions, which may name the op itself.
    name = op.name if rule.composes else ""
    others = {rule.borrows, plan.numpy.decider, plan.numpy.left_decider}
    asks = [
        _rule_of(dialect_named(other), op, one)
        for other in sorted(filter(None, others))
        for one in ("function", "operator")
    ]
    no_kernel = (plan.no_kernel, *plan.no_kernel_by_number.values())
    return _OpRule(repr(rule), no_kernel, name, tuple(asks))


class _Said(str):
    """A name that stands in sentences as a mark, and is itself everywhere else."""

    __slots__ = ("mark",)

    mark: str

    def __new__(cls, text: str, mark: str) -> _Said:
        made = super().__new__(cls, text)
        made.mark = mark
        return made

    def __format__(self, spec: str) -> str:
        return self.mark


def marked(op: Op) -> Op:
    """The same op, which sentences name by marks."""
    symbol = _Said(op.symbol, OP_SYMBOL) if op.symbol else None
    return dataclasses.replace(op, name=_Said(op.name, OP_NAME), symbol=symbol)


# What an operand can be on the page: one kind for all operands that a dialect treats alike.
#
# A kind has a key, which the page makes of what a person typed: "array int32", "number int 3". The
# last part of a number's key is its class among those that the dialect tells apart.

# Where the size of an array stands in a sentence. No framework's text has these letters.
SIZES = ("\ue000", "\ue001", "\ue002")
# The dtypes of NumPy arrays and scalars that other frameworks are asked with.
_NUMPY_ARRAYS = dtypes_named("bool uint8 int32 int64 float16 float32 float64 complex64 complex128")
NUMPY_SCALARS = dtypes_named("bool int32 int64 float32 float64 complex128")
# The dtypes that ops of three operands are asked with.
COMMON_DTYPES = dtypes_named("bool uint8 int32 int64 float16 bfloat16 float32 float64 complex64")
_BEYOND_FLOATS = 10**309  # which only a Python int reaches


class Kind(NamedTuple):
    """A kind of operands, and how one of them is given to the engine in each place of a call."""

    key: str
    dtype: DType | None
    role: Role
    value: Scalar | None = None
    is_weak: bool = False
    rank: int = 1  # 0: a bare dtype, whose shape nobody knows

    def operand(self, place: int) -> Operand:
        """The operand of this kind that stands for all of them."""
        if self.role is Role.SCALAR:
            assert self.value is not None
            return scalar_operand(self.value)
        assert self.dtype is not None
        if self.role is Role.NUMPY_SCALAR:
            assert self.value is not None
            return numpy_scalar_operand(self.dtype, self.value)
        shape: tuple[str, ...] | None = (SIZES[place],) * self.rank or None
        shape = () if self.role is Role.ZERO_D else shape
        is_numpy = self.role is Role.NUMPY_ARRAY
        return array_operand(self.dtype, shape, is_weak=self.is_weak, is_numpy=is_numpy)


def array_kinds(dialect: Dialect, op: Op) -> list[Kind]:
    """The dialect's own arrays, also weakly typed ones.

    Where an op counts dimensions, arrays with only one are apart; where it is about dtypes alone,
    bare dtypes are.
    """
    rank = 2 if op.shapes.counts_dimensions else 1
    kinds = [Kind(f"array {d}", d, Role.ARRAY, rank=rank) for d in dialect.dtypes]
    weak = weak_dtypes(dialect)
    kinds += [Kind(f"weak {d}", d, Role.ARRAY, is_weak=True, rank=rank) for d in weak]
    if op.shapes.counts_dimensions:
        kinds += [Kind(f"vector {d}", d, Role.ARRAY) for d in dialect.dtypes]
        kinds += [Kind(f"vector weak {d}", d, Role.ARRAY, is_weak=True) for d in weak]
    if op.family == "questions":
        kinds += [Kind(f"dtype {d}", d, Role.ARRAY, rank=0) for d in dialect.dtypes]
    return kinds


def zero_d_kinds(dialect: Dialect) -> list[Kind]:
    """The dialect's own 0-d arrays."""
    weak = weak_dtypes(dialect)
    kinds = [Kind(f"0-d {d}", d, Role.ZERO_D) for d in dialect.dtypes]
    return kinds + [Kind(f"0-d weak {d}", d, Role.ZERO_D, is_weak=True) for d in weak]


def number_kind(kind: str, number: int | str, value: Scalar) -> Kind:
    """Python's numbers of a kind and a class."""
    return Kind(f"number {kind} {number}", None, Role.SCALAR, value)


@functools.cache
def every_value(kind: str) -> dict[int, Scalar]:
    """A value of each class that any dialect could tell apart, by its class. A complex number
    counts by the larger of its parts; both are there, as some sentences put a sum in brackets."""
    if kind == "bool":
        return {real_class(value): value for value in (True, False)}
    found: dict[int, Scalar] = {}
    for value in _candidates():
        if kind == "complex":
            if not value < 0:
                found.setdefault(real_class(value), complex(value, value))
        elif kind == "float":
            found.setdefault(real_class(value), value)
        elif math.isfinite(value) and value == int(value):
            found.setdefault(real_class(value), int(value))
    if kind == "int":
        found |= {real_class(value): value for value in (_BEYOND_FLOATS, -_BEYOND_FLOATS)}
    return dict(sorted(found.items()))


def real_of(value: Scalar) -> float:
    """A number itself, or a part of one of the complex ones above, whose parts are the same."""
    return value.imag if isinstance(value, complex) else value


def _candidates() -> Iterator[float]:
    """The bounds themselves, and values between them that no message mentions by chance."""
    yield from map(float, EXACT_VALUES)
    yield from VALUE_BOUNDS
    yield math.nan
    for low, high in itertools.pairwise(VALUE_BOUNDS):
        low, high = max(low, -1.7e308), min(high, 1.7e308)
        between = low + (high - low) * 0.377
        wholes = float(math.ceil(between)), float(math.floor(between))
        yield from (value for value in (*wholes, between) if low < value < high)


# Sentences about a question as templates, which the page fills in with what a person typed.
#
# `{0}` is the first operand as it is written, `{dtype 0}` its dtype, `{size 0}` its size in
# brackets, `{value 0}` its number, `{float 0}` and `{int 0}` its number as one, `{in-operator 0}`
# a complex number in an operator, where a sum stands in brackets; `{op}` and `{symbol}` are the
# op's name and symbol.

_MARKS = {OP_NAME: "{op}", OP_SYMBOL: "{symbol}"}
_MARKED = re.compile(f"[{''.join(_MARKS)}]")
_SIZED = re.compile(rf"\[([{''.join(SIZES)}])(?:,\1)*\]")
_REAL = r"(?:\d+(?:\.\d+)?(?:e[+-]\d+)?|inf|nan)"
_SUM = rf"-?{_REAL}[+-]{_REAL}j"
# How operands and dtypes are written: (1+2j), np.int8(3), int32*[n], int32, -1.5e+39j.
_WORD = re.compile(
    rf"(?<!\w)\({_SUM}\)|{_SUM}"
    r"|np\.\w+\([^()]*\)|(?:np\.)?[A-Za-z_]\w*\*?(\[[^\[\]]*\])?"
    rf"|-?{_REAL}j?"
)
_LARGEST = 1.7e308


def _numbers(value: Scalar | None) -> dict[str, str]:
    """How a value is written: as it is, and as what Python's numbers become."""
    if isinstance(value, complex):
        return {"value": scalar_text(value), "in-operator": f"({scalar_text(value)})"}
    if value is None or abs(value) > _LARGEST:
        return {} if value is None else {"value": scalar_text(value)}
    as_int = {"int": scalar_text(int(value))} if isinstance(value, bool) else {}
    return {"value": scalar_text(value), **as_int, "float": scalar_text(float(value))}


class Templates:
    """Makes templates of the sentences about some operands, each once."""

    def __init__(self, operands: tuple[Operand, ...]) -> None:
        self._known = {
            f"{operand} is {role_text(operand)}.": f"{{role {place}}}"
            for place, operand in enumerate(operands)
        }
        self._names: dict[str, str] = {}
        put = self._names.setdefault
        for place, operand in enumerate(operands):
            put(str(operand), f"{{{place}}}")
        for place, operand in enumerate(operands):
            if operand.dtype:
                put(operand.dtype.name, f"{{dtype {place}}}")
            for how, text in _numbers(operand.value).items():
                put(text, f"{{{how} {place}}}")

    def of(self, sentence: str) -> str:
        """The template of a sentence."""
        found = self._known.get(sentence)
        if found is None:
            found = self._known[sentence] = self._made(sentence)
        return found

    def _made(self, sentence: str) -> str:
        filled = _WORD.sub(self._filled, sentence)
        sized = _SIZED.sub(lambda found: f"{{size {SIZES.index(found[1])}}}", filled)
        return _MARKED.sub(lambda found: _MARKS[found[0]], sized)

    def _filled(self, word: re.Match[str]) -> str:
        whole, brackets = word[0], word[1]
        if brackets and whole not in self._names:  # an array that an op made of an operand
            dtype = whole.removesuffix(brackets)
            return self._names.get(dtype, dtype) + brackets
        return self._names.get(whole, whole)


_HAZARDS = list(HAZARDS)
# What is filled in with the same text for two 0-d arrays of one dtype.
_OF_ARRAYS = re.compile(r"\{(?:size|role) \d\}")


class Table(NamedTuple):
    """The answers for all combinations of some kinds of operands."""

    axes: tuple[tuple[str, ...], ...]  # the keys of the kinds in each place
    cells: array[int]  # the numbers of the answers


class Answers:
    """The answers of a dialect, each different one once."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._templates: dict[object, Templates] = {}
        self.sentences: dict[str, int] = {}
        self.steps: dict[tuple[int, ...], int] = {}  # the numbers of the sentences
        self.answers: dict[tuple[Any, ...], int] = {}
        # Each different cast: its dtypes, what it may cost, and what it does, in words.
        self.casts: dict[tuple[Any, ...], int] = {}

    def table(self, asked: Asked, axes: Sequence[Sequence[Kind]]) -> Table:
        """The answers for all combinations of kinds, the last place changing fastest."""
        said = Asked(marked(asked.op), asked.form)
        keys = tuple([tuple([kind.key for kind in axis]) for axis in axes])
        operands = [[kind.operand(place) for kind in axis] for place, axis in enumerate(axes)]
        rank = asked.op.shapes.counts_dimensions  # an array of a key is written with its sizes
        asks = zip(product(*operands), product(*keys), strict=True)
        cells = [self.number(said, given, (rank, key)) for given, key in asks]
        return Table(keys, array("H", cells))

    def number(self, asked: Asked, operands: tuple[Operand, ...], key: Hashable) -> int:
        """The number of the answer to a question; operands with the same key are the same."""
        if key not in self._templates:
            self._templates[key] = Templates(operands)
        answer = self._answer(asked, operands, self._templates[key])
        return self.answers.setdefault(answer, len(self.answers))

    def without_sizes(self, table: Table) -> list[tuple[Any, ...]]:
        """The answers of a table in words, in which every array is written as a 0-d one."""
        sentences = [_OF_ARRAYS.sub("[]", sentence) for sentence in self.sentences]
        said = [tuple([sentences[number] for number in steps]) for steps in self.steps]
        shown = [(said[a[0]], *a[1:]) if len(a) > 1 else (sentences[a[0]],) for a in self.answers]
        return [shown[number] for number in table.cells]

    def _answer(
        self, asked: Asked, operands: tuple[Operand, ...], templates: Templates
    ) -> tuple[Any, ...]:
        """The answer as the page reads it: steps, then what it decides on, if it does."""
        try:
            found, steps = outcome_and_steps(asked.question(self.dialect, operands))
        except UsageError as error:
            return (self._sentence(templates.of(str(error))),)
        decision = found if isinstance(found, Decision) else None
        usual = _usual(decision) if decision else {}
        said = tuple([self._sentence(usual.get(step) or templates.of(step)) for step in steps])
        number = self.steps.setdefault(said, len(self.steps))
        return (number, *self._decided(decision)) if decision else (number, None)

    def _sentence(self, template: str) -> int:
        return self.sentences.setdefault(template, len(self.sentences))

    def _decided(self, decision: Decision) -> tuple[Any, ...]:
        """The result, whether it is weak and runs, what it computes in, and the casts: of the
        operands, then those between the steps of a program."""
        casts = tuple([self._cast(cast) for cast in (*decision.casts, *decision.inside)])
        written = self._cast(decision.result_cast)
        flags = decision.is_weak + 2 * (not decision.has_kernel)
        return decision.result.name, flags, decision.compute.name, casts, written

    def _cast(self, cast: Cast | None) -> int:
        """The number of a cast, -1 where there is none; what is only read is not cast."""
        if cast is None or cast.is_read:
            return -1
        costs = tuple([_HAZARDS.index(hazard) for hazard in cast.hazards])
        source = cast.source and cast.source.name
        fact = (source, cast.target.name, costs, cast_text(cast))
        return self.casts.setdefault(fact, len(self.casts))


def _usual(decision: Decision) -> dict[str, str]:
    """The sentences that the page makes from the answer itself."""
    casts = dict(enumerate(decision.casts)) | {"result": decision.result_cast}
    told = {at: cast for at, cast in casts.items() if cast and not cast.is_read}
    said = {f"Cast: {cast_text(cast)}.": f"{{cast {at}}}" for at, cast in told.items()}
    return {**said, result_text(decision): "{result}"}


# Which values a dialect tells apart: 300 and 301 are the same to every rule, 255 and 256 are not.
#
# The engine knows bounds between which no dialect looks closer. Most dialects look at few of
# them. Here each is asked with a value from every interval, and intervals with the same answers
# become one class. Rules about values are shared by many ops, so one op is asked for each set of
# such rules.

# The NumPy scalars that hold most values of each kind.
_WIDEST = {"bool": "bool", "int": "int64 uint64", "float": "float64", "complex": "complex128"}
_Made = Callable[[Scalar], Operand]
Numbers = dict[str, dict[int, int]]  # kind -> the place of a value among the bounds -> its class


class Classes(NamedTuple):
    """The classes of values beside an array of some dtype, numbered from 0 on."""

    numbers: Numbers  # of Python's numbers
    scalars: Numbers  # of NumPy's scalars
    beside_two: Numbers  # of Python's numbers where there is another such array


def classes_of(dialect: Dialect, asked: Iterable[Asked]) -> dict[DType, Classes]:
    """The classes beside each dtype of a dialect."""
    known = tuple(asked)
    pairs, triples = (_probes(dialect, known, operands) for operands in (2, 3))
    found = {}
    for d in dialect.dtypes:
        pair, triple = _Asker(dialect, pairs, d, 2), _Asker(dialect, triples, d, 3)
        found[d] = Classes(pair.numbers(), pair.scalars(), triple.numbers())
    return found


def representatives(kind: str, classes: dict[int, int]) -> dict[int, Scalar]:
    """The value that stands for each class: one between two bounds, if there is one, which no
    message mentions by chance."""
    values = every_value(kind)

    def unlikely(place: int) -> tuple[bool, float]:
        """Bounds come last; numbers of two digits read best."""
        return place < 0 or place % 2 == 1, abs(abs(real_of(values[place])) - 50)

    found: dict[int, Scalar] = {}
    for place in sorted(classes, key=unlikely):
        found.setdefault(classes[place], values[place])
    return dict(sorted(found.items()))


def _numpy_scalars(kind: str) -> list[_Made]:
    return [functools.partial(numpy_scalar_operand, dtype(d)) for d in _WIDEST[kind].split()]


def _probes(dialect: Dialect, asked: Iterable[Asked], operands: int) -> list[Asked]:
    """One op in a form for each set of rules about values, of ops with so many operands."""
    found: dict[Hashable, Asked] = {}
    for one in asked:
        if one.op.arity[0] <= operands <= one.op.arity[1]:
            found.setdefault(_value_rules(dialect, one), one)
    return [Asked(marked(one.op), one.form) for one in found.values()]


def _value_rules(dialect: Dialect, asked: Asked) -> Hashable:
    """The rules of an op that may look at a value, and the dtypes that it is cast to."""
    return _ways(dialect, asked), *[_value_rules_of(plan) for plan in _plans(dialect, asked)]


def _plans(dialect: Dialect, asked: Asked) -> list[Plan]:
    """The rules that decide about an op in a form."""
    return [op_plan(asked.op, dialect, form) for form in forms_behind(asked.form)]


def _value_rules_of(plan: Plan) -> Hashable:
    joins, python = plan.joins, tuple(plan.python.items())
    words = (plan.scalars, plan.borrows, joins.by, joins.unless, joins.typed_by)
    rules = (plan.range, plan.exponent, plan.numbers, plan.composes, plan.numpy.scalars)
    dtypes = (plan.loops, tuple(plan.converts.items()), plan.accepts.same_dtype)
    return words, plan.arrays.makes_arrays, python, dtypes, repr(rules)


class _Asker:
    """Asks a dialect about values beside an array, or beside several of a dtype."""

    def __init__(
        self, dialect: Dialect, probes: Sequence[Asked], dtype: DType, operands: int
    ) -> None:
        self._probes, self._answers, self._operands = probes, Answers(dialect), operands
        self._array, self._zero_d = array_operand(dtype, (SIZES[0],)), array_operand(dtype, ())

    def numbers(self) -> Numbers:
        """The classes of Python's numbers."""
        return {kind: self._merged(kind, [scalar_operand]) for kind in KINDS}

    def scalars(self) -> Numbers:
        """The classes of NumPy's scalars."""
        return {kind: self._merged(kind, _numpy_scalars(kind)) for kind in KINDS}

    def _merged(self, kind: str, makers: Sequence[_Made]) -> dict[int, int]:
        """The class of each interval of values."""
        values = every_value(kind)

        @functools.cache
        def about(place: int) -> Hashable:
            return tuple([self._beside(_made(maker, values[place])) for maker in makers])

        found: dict[Hashable, int] = {}
        alone = [place for place, value in values.items() if place < 0 or _is_infinite(value)]
        answers = {place: about(place) for place in alone}
        for of_sign in _by_sign([place for place in values if place not in alone]):
            answers |= _filled_in(of_sign, about)
        return {place: found.setdefault(answers[place], len(found)) for place in values}

    def _beside(self, operand: Operand | None) -> Hashable:
        """All answers about an operand and the array, in each order; none where there is no such
        operand."""
        if operand is None:
            return None
        number, name = self._answers.number, str(operand)
        return tuple([
            number(one, given, (name, place))
            for one in self._probes
            for place, given in enumerate(self._orders(one, operand))
        ])  # fmt: skip

    def _orders(self, asked: Asked, operand: Operand) -> list[tuple[Operand, ...]]:
        """The operand with the array, and with a 0-d array where a value may count there."""
        looks = looks_at_values(self._answers.dialect, asked.op, asked.form)
        arrays = [self._array, self._zero_d] if looks else [self._array]
        others = self._operands - 1
        return [
            (*[array] * place, operand, *[array] * (others - place))
            for array in arrays
            for place in range(self._operands)
        ]


def _is_infinite(value: Scalar) -> bool:
    return not isinstance(value, int) and cmath.isinf(value)


def _by_sign(places: list[int]) -> list[list[int]]:
    """Intervals below and above zero, each in the order of their values."""
    below = [place for place in places if VALUE_BOUNDS[(place - 1) // 2] < 0]
    return [below, [place for place in places if place not in below]]


def _filled_in(places: list[int], about: Callable[[int], Hashable]) -> dict[int, Hashable]:
    """What is answered about intervals that follow each other.

    The farther a finite number is from zero, the fewer dtypes hold it, and that never turns back:
    where the answers at two places are the same, so are those between.
    """
    if len(places) <= 2:
        return {place: about(place) for place in places}
    if about(places[0]) == about(places[-1]):
        return dict.fromkeys(places, about(places[0]))
    middle = len(places) // 2
    return _filled_in(places[: middle + 1], about) | _filled_in(places[middle:], about)


def _made(maker: _Made, value: Scalar) -> Operand | None:
    try:
        return maker(value)
    except UsageError:
        return None


# Which combinations of operands an op is asked with, in tables.

# Numbers of each kind that common dtypes hold, one for each place: a sentence names only one.
PLAIN: dict[str, Sequence[Scalar]] = {
    "bool": (True, True, True),
    "int": (67, 68, 69),
    "float": (73.5, 74.5, 75.5),
    "complex": (81 + 81j, 82 + 82j, 83 + 83j),
}
_MOST_OPERANDS = 3
_WITH_GUESTS = ("arithmetic", "comparison")  # families that are asked with arrays of NumPy


class Tables:
    """Makes the tables of ops in a dialect."""

    def __init__(self, dialect: Dialect, classes: dict[DType, Classes]) -> None:
        self._dialect, self._classes = dialect, classes
        self._zero_d_counts: dict[Hashable, bool] = {}

    def of(self, asked: Asked, answers: Answers) -> list[Table]:
        """All tables of an op in a form, with numbers of answers."""
        low, high = asked.op.arity
        own = self._own_kinds(asked)
        return [
            answers.table(asked, axes)
            for count in range(max(low, 1), min(high, _MOST_OPERANDS) + 1)
            for axes in self._axes(asked, count, own)
        ]

    def _axes(
        self, asked: Asked, count: int, own: list[Kind]
    ) -> Iterator[tuple[Sequence[Kind], ...]]:
        """The kinds in each place, for each table of an op with so many operands."""
        if count == 1:
            yield (own,)
        if count == _MOST_OPERANDS:
            yield tuple([self._common_kinds(own, place) for place in range(count)])
        if asked.op.is_condition_first:
            condition = [kind for kind in own if kind.key == "array bool"]
            yield from ((condition, *pair) for pair in self._pairs(asked, own))
        elif count == 2:
            yield from self._pairs(asked, own)

    def _pairs(
        self, asked: Asked, own: list[Kind]
    ) -> Iterator[tuple[Sequence[Kind], Sequence[Kind]]]:
        """Arrays with arrays, with numbers and, in common ops, with NumPy's; in both orders."""
        yield own, own
        for own_dtype in self._dialect.dtypes:
            arrays = [kind for kind in own if kind.dtype is own_dtype]
            numbers = self._numbers(own_dtype)
            yield arrays, numbers
            yield numbers, arrays
            if asked.op.family in _WITH_GUESTS and asked.form in ("operator", "function"):
                usual = [k for k in arrays if k.role is Role.ARRAY and not k.is_weak]
                guests = [Kind(f"NumPy array {d}", d, Role.NUMPY_ARRAY) for d in _NUMPY_ARRAYS]
                guests += self._numpy_scalars(own_dtype)
                yield usual, guests
                yield guests, usual

    def _numbers(self, beside: DType) -> list[Kind]:
        """Python's numbers, one for each class beside a dtype."""
        return [
            number_kind(kind, number, value)
            for kind, classes in self._classes[beside].numbers.items()
            for number, value in representatives(kind, classes).items()
        ]

    def _numpy_scalars(self, beside: DType) -> list[Kind]:
        """NumPy's scalars, one of each dtype for each class beside a dtype."""
        found = []
        for scalar in NUMPY_SCALARS:
            classes = self._classes[beside].scalars[scalar.kind]
            held = {p: c for p, c in classes.items() if holds_class(scalar, p)}
            for number, value in representatives(scalar.kind, held).items():
                key = f"NumPy scalar {scalar} {number}"
                found.append(Kind(key, scalar, Role.NUMPY_SCALAR, value))
        return found

    def _common_kinds(self, own: list[Kind], place: int) -> list[Kind]:
        """Arrays of common dtypes, and numbers that none of these tells from others."""
        keys = [f"array {dtype}" for dtype in COMMON_DTYPES]
        arrays = [kind for kind in own if kind.key in keys]
        return [*arrays, *[number_kind(kind, "plain", PLAIN[kind][place]) for kind in KINDS]]

    def _own_kinds(self, asked: Asked) -> list[Kind]:
        """The dialect's own arrays; 0-d ones only where they are answered differently."""
        arrays = array_kinds(self._dialect, asked.op)
        return [*arrays, *zero_d_kinds(self._dialect)] if self.tells_zero_d(asked) else arrays

    def tells_zero_d(self, asked: Asked) -> bool:
        """Whether 0-d arrays are answered differently.

        That is a matter of few rules, which many ops share: one is asked for all.
        """
        rules = _role_rules(self._dialect, asked)
        if rules not in self._zero_d_counts:
            arrays = array_kinds(self._dialect, asked.op)
            zero_d = zero_d_kinds(self._dialect)
            self._zero_d_counts[rules] = self._is_told_apart(asked, arrays, zero_d)
        return self._zero_d_counts[rules]

    def _is_told_apart(self, asked: Asked, arrays: list[Kind], zero_d: list[Kind]) -> bool:
        """Whether any answer changes where an array becomes a 0-d array."""
        places = min(asked.op.arity[1], _MOST_OPERANDS)
        if len(arrays) != len(zero_d) or places == _MOST_OPERANDS:
            return True
        answers = Answers(self._dialect)
        plain = answers.without_sizes(answers.table(asked, [arrays] * places))
        return any(
            answers.without_sizes(answers.table(asked, axes)) != plain
            for axes in list(product((arrays, zero_d), repeat=places))[1:]
        )


@functools.cache
def holds_class(dtype: DType, place: int) -> bool:
    """Whether a dtype has values of a class, which its place among the bounds names."""
    value = every_value(dtype.kind)[place]
    try:
        held = held_value(dtype, value)
    except UsageError:
        return False
    return real_class(real_of(held)) == place


def _role_rules(dialect: Dialect, asked: Asked) -> Hashable:
    """The rules of an op that may look at what an operand is, besides its dtype."""
    row = (asked.op.arity, asked.op.index, asked.op.shapes, asked.op.family == "layers")
    return asked.form, row, tuple([_role_rules_of(plan) for plan in _plans(dialect, asked)])


def _role_rules_of(plan: Plan) -> Hashable:
    accepts, joins = plan.accepts, plan.joins
    words = (plan.scalars, plan.borrows, joins.by, joins.unless, joins.others, joins.typed_by)
    flags = (accepts.refuses_zero_d, accepts.needs_rank, accepts.same_dtype, plan.result)
    parts = (plan.arrays, plan.lowest, plan.weakness, plan.exponent, plan.composes, joins.mixes)
    return words, flags, repr(parts), plan.writes.into
