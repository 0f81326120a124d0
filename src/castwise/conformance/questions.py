"""Which questions to ask: every op, in every form, over operands that can change the answer.

Nothing here knows a framework. A recorder describes what its framework offers in a Scope;
the grid turns that into questions, each of them once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import inf
from typing import Any, NamedTuple

from castwise.vocab.notation import given_by_name
from castwise.vocab.ops import EXTENSIONS, LAYERS
from castwise.vocab.ops import OPS as OP_ROWS

# Reading of the operand notation the grid writes.
#
# The engine has a fuller parser; this one is apart on purpose, so that a recording
# depends on nothing of what it will be used to judge.

Scalar = bool | int | float | complex

_ARRAY = re.compile(r"(np\.)?(\w+?)(\*)?(?:=(.+))?\[([13](?:,[13])*)?\]")
_DTYPE = re.compile(r"bool|[a-z]+\d\w*")
_NUMPY_SCALAR = re.compile(r"np\.(\w+)\((.+)\)")


class Spec(NamedTuple):
    """What to build for one piece of notation."""

    dtype: str | None  # None: a Python scalar, or a list of them
    shape: tuple[int, ...]
    value: Any  # held by every element; or a list of numbers
    is_numpy: bool = False
    is_scalar: bool = False
    is_weak: bool = False
    is_array: bool = True  # False: a bare dtype


def words(text: str) -> tuple[str, ...]:
    """The words of a text: how the long lists of names are written."""
    return tuple(text.split())


def read_operand(notation: str) -> Spec:
    """The operand a piece of notation names; an array that shows no value holds ones.

    >>> read_operand("np.int64=300[]")[:4]
    ('int64', (), 300, True)
    """
    array = _ARRAY.fullmatch(notation)
    if array:
        prefix, dtype, weak, value, size = array.groups()
        shape = tuple(int(length) for length in size.split(",")) if size else ()
        held = read_literal(value or "1")
        return Spec(dtype, shape, held, is_numpy=bool(prefix), is_weak=bool(weak))
    if _DTYPE.fullmatch(notation):
        return Spec(notation, (), 1, is_array=False)
    scalar = _NUMPY_SCALAR.fullmatch(notation)
    if scalar:
        return Spec(scalar[1], (), read_literal(scalar[2]), is_numpy=True, is_scalar=True)
    held = ast.literal_eval(notation) if notation.startswith("[") else read_literal(notation)
    return Spec(None, (), held, is_scalar=True)


def foreign_operand(spec: Spec) -> Any:
    """A Python scalar, or an array or scalar of NumPy's: what no other framework makes itself."""
    import numpy as np

    if spec.dtype is None:
        return spec.value
    array: Any = np.full(spec.shape, spec.value, spec.dtype)
    return array[()] if spec.is_scalar else array


NUMPY_DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)


def numpy_operands(dtypes: Iterable[str], *roles: str) -> tuple[str, ...]:
    """The notation of NumPy's operands: without roles, its arrays, 0-d arrays and scalars.

    >>> numpy_operands(["int8"])
    ('np.int8[3]', 'np.int8[]', 'np.int8(1)')
    """
    return tuple(f"np.{dtype}{role}" for role in roles or ("[3]", "[]", "(1)") for dtype in dtypes)


def read_literal(text: str) -> Scalar:
    """The Python number a literal names.

    >>> read_literal("1e39j")
    1e+39j
    """
    if text in ("True", "False"):
        return text == "True"
    if text.endswith("j"):
        return complex(text)
    try:
        return int(text)
    except ValueError:
        return float(text)


# The values at which a rule that looks at values could change its answer.

EXPONENTS = words("-1 0 0.5 2 3")  # and 1, which every op is asked with

_SIGNED = {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
_UNSIGNED = {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
_RANGES = {"bool": (0, 1), **_SIGNED, **_UNSIGNED}
_FLOAT32_MAX = 3.4028234663852886e38
_LARGEST_FINITE = {
    "float16": 65504.0, "float32": _FLOAT32_MAX, "float64": inf, "complex64": _FLOAT32_MAX,
    "complex128": inf,
}  # fmt: skip

# Both sides of both ends of each integer dtype.
_ENDS = [v for a, b in (*_SIGNED.values(), *_UNSIGNED.values()) for v in (a - 1, a, b, b + 1)]
_INTEGERS = ("300", *dict.fromkeys(map(str, _ENDS)))
# NumPy 1 draws its lines at 65000 and 3.4e38, not at the largest float16 and float32.
_FLOATS = words(
    "0.0 1.5 -65000.0 65000.0 65504.0 65505.0 65519.0 65520.0 3.3e38 3.4e38 1e39 "
    "1e-50 1e-42 6e-08 inf nan"
)
_IMAGINARY = words("1j 1.5+1j 70000j 3.4e38j 1e39j infj nanj")
# Lists of numbers: of each kind, and for a few ops nested ones, of two kinds, and with numbers of
# every range.
LISTS = ("[True, True, True]", "[1, 1, 1]", "[1.5, 1.5, 1.5]", "[1+1j, 1+1j, 1+1j]")
_MORE_LISTS = (
    "[[1, 1, 1], [1, 1, 1], [1, 1, 1]]", "[[1.5, 1.5, 1.5]]", "[True, 1, 1]", "[True, 1.5, 1.5]",
    "[1, 1.5, 1]", "[1, 1.5, 1+1j]", "[300, -1, 1]", "[2147483648, 1, 1]",
    "[9223372036854775808, 1, 1]", "[9223372036854775808, -1, 1]", "[9223372036854775808, 1.5, 1]",
    "[18446744073709551616, 1, 1]", "[1e39, 1, 1]",
)  # fmt: skip


def chosen_operands(dtypes: Iterable[str]) -> tuple[str, ...]:
    """0-d arrays and NumPy scalars that hold the values chosen for the kind of their dtype."""
    return tuple(chain.from_iterable(operands_holding(d, _values(d)) for d in dtypes))


def operands_holding(dtype: str, values: Iterable[str]) -> tuple[str, ...]:
    """A 0-d array and a NumPy scalar for each value the dtype can hold.

    >>> operands_holding("uint8", ["-1", "255"])
    ('uint8=255[]', 'np.uint8(255)')
    """
    held = [value for value in values if _holds(dtype, read_literal(value))]
    return tuple(chain.from_iterable((f"{dtype}={v}[]", f"np.{dtype}({v})") for v in held))


def _values(dtype: str) -> tuple[str, ...]:
    if dtype in _RANGES:
        return _INTEGERS
    return (*_FLOATS, *_IMAGINARY) if dtype.startswith("complex") else _FLOATS


def _holds(dtype: str, value: Scalar) -> bool:
    """Whether the value neither wraps nor overflows; no rule looks at other dtypes' values."""
    if dtype in _RANGES:
        lowest, highest = _RANGES[dtype]
        return isinstance(value, int) and lowest <= value <= highest
    if dtype not in _LARGEST_FINITE:
        return False
    size = max(abs(value.real), abs(value.imag))
    is_lost = isinstance(value, complex) and not dtype.startswith("complex")
    return not is_lost and not _LARGEST_FINITE[dtype] < size < inf


# The operands that layers are asked with: these have shapes of their own, and some operands are
# indices.

Operands = tuple[str, ...]
Words = Sequence[str]

# The shapes of the operands of each layer; a layer may be called without the last ones.
_SHAPES = {
    "einsum": ("[3,3]", "[3,3]"),
    "pad": ("[3]",),
    "one_hot": ("[3]",),
    "embedding": ("[3]", "[3,3]"),
    "topk": ("[3]",),
    "conv1d": ("[3,3,3]", "[3,3,3]", "[3]"),
    "conv2d": ("[3,3,3,3]", "[3,3,3,3]", "[3]"),
    "layer_norm": ("[3]", "[3]", "[3]"),
    "cross_entropy": ("[3,3]", "[3]"),
    "scaled_dot_product_attention": ("[3,3,3]", "[3,3,3]", "[3,3,3]"),
}
_LEAST = {"conv1d": 2, "conv2d": 2, "layer_norm": 1}  # of operands, where not all are needed
_OF_INDEX = ("embedding", "cross_entropy")  # no dtype alone makes a sensible call
_OF_INDICES = "int64"
_OF_FLOATS = "float32"


def _layer_operands(op: str, dtypes: Words, rare: Words, some: Words) -> Iterator[Operands]:
    """Each dtype alone; where there are some to mix, pairs of dtypes in every place."""
    shapes, every = _SHAPES[op], (*dtypes, *rare)
    counts = () if op in _OF_INDEX else range(_LEAST.get(op, len(shapes)), len(shapes) + 1)
    for count in counts:
        yield from (_shaped(shapes[:count], [dtype] * count) for dtype in every)
    if len(shapes) == 1:
        yield from product([f"{dtype}[]" for dtype in every])
    elif some:
        yield from _MIXED.get(op, _mixed)(shapes, dtypes, some)


def _mixed(shapes: Operands, dtypes: Words, some: Words) -> Iterator[Operands]:
    for a, b in product(some, repeat=2):
        yield from (_shaped(shapes, three) for three in ((a, b, b), (a, a, b), (a, b, a)))


def _mixed_with_less(shapes: Operands, dtypes: Words, some: Words) -> Iterator[Operands]:
    yield from (_shaped(shapes[:2], pair) for pair in product(some, repeat=2))
    yield from _mixed(shapes, dtypes, some)


def _matrices(shapes: Operands, dtypes: Words, some: Words) -> Iterator[Operands]:
    yield from (_shaped(shapes, pair) for pair in product(dtypes, repeat=2))
    yield from (_shaped(shapes[:1] * 3, (a, b, b)) for a, b in product(some, repeat=2))
    yield from (_shaped(shapes[:1], (a,)) for a in dtypes)


def _indices_first(shapes: Operands, dtypes: Words, some: Words) -> Iterator[Operands]:
    yield from (_shaped(shapes, (dtype, _OF_FLOATS)) for dtype in dtypes)
    yield from (_shaped(shapes, (_OF_INDICES, dtype)) for dtype in dtypes)


def _classes(shapes: Operands, dtypes: Words, some: Words) -> Iterator[Operands]:
    """Classes, which have a dimension less than the scores, and probabilities, which have not."""
    yield from (_shaped(shapes, (dtype, _OF_INDICES)) for dtype in dtypes)
    yield from (_shaped(shapes, (_OF_FLOATS, dtype)) for dtype in dtypes)
    yield from (_shaped(shapes[:1] * 2, (_OF_FLOATS, dtype)) for dtype in dtypes)
    floats = [dtype for dtype in some if "float" in dtype]
    yield from (_shaped(shapes[:1] * 2, pair) for pair in product(floats, repeat=2))


_MIXED: dict[str, Callable[..., Iterator[Operands]]] = {
    "einsum": _matrices,
    "embedding": _indices_first,
    "cross_entropy": _classes,
    "conv1d": _mixed_with_less,
    "conv2d": _mixed_with_less,
    "layer_norm": _mixed_with_less,
}


# A matrix of a single one can be inverted and factorised in every dtype. A transform of several
# dimensions may differ from one of a vector.
_SHAPES_ALONE = {
    "linalg": ("[1,1]",), "fft": ("[3]", "[3,3]"), "tensordot": ("[3]",), "isin": ("[3]",)
}  # fmt: skip


def _of_shapes_alone(op: str, dtypes: Words) -> Iterator[Operands]:
    """Each dtype alone; of an op of two operands, each pair."""
    count = OP_ROWS[op].arity[0]
    for shape in _SHAPES_ALONE[op.partition(".")[0]]:
        yield from product([f"{dtype}{shape}" for dtype in dtypes], repeat=count)


def _shaped(shapes: Words, dtypes: Words) -> Operands:
    return tuple(f"{dtype}{shape}" for dtype, shape in zip(dtypes, shapes, strict=True))


def product_equation(operands: Sequence[object]) -> str:
    """The equation of a product of so many matrices; of one matrix, the sum of each row.

    >>> product_equation([1, 2, 3]), product_equation([1])
    ('ab,bc,cd->ad', 'ab->a')
    """
    letters = "abcdefghijklmnopqrstuvwxyz"
    terms = [letters[place : place + 2] for place in range(len(operands))]
    return f"{','.join(terms)}->{'a' if len(terms) == 1 else f'a{terms[-1][-1]}'}"


# How an op is asked about follows from its row.
_ROWS = tuple(OP_ROWS.values())
OF_SHAPES_ALONE = (*EXTENSIONS, "tensordot", "isin")
_APART = frozenset({*LAYERS, *OF_SHAPES_ALONE})  # with operands of their own shapes
_NO_LAYERS = tuple(op for op in _ROWS if op.name not in _APART)
REDUCTIONS = tuple(op.name for op in _ROWS if op.family == "reductions")
UNARY = tuple(op.name for op in _NO_LAYERS if op.arity == (1, 1) and op.name not in REDUCTIONS)
# A scalar would only test their argument parsing.
ARRAYS_ONLY = tuple(op.name for op in _NO_LAYERS if op.call.arrays_only)
_PAIRS = [op.name for op in _NO_LAYERS if op.arity == (2, 2) and not op.call.arrays_only]
BINARY = (*_PAIRS, "result_type")
DTYPES_ONLY = words("promote_types can_cast")
SELECTIONS = tuple(op.name for op in _ROWS if op.is_condition_first)
TERNARY = tuple(op.name for op in _NO_LAYERS if op.arity[1] == 3 and not op.is_condition_first)
JOINS = tuple(op.name for op in _ROWS if op.family == "joining")
SCANS = tuple(op.name for op in _ROWS if op.call.along_axis)
LOSSES = tuple(op.name for op in _ROWS if op.family == "losses")
OPS = (
    *(*BINARY, *ARRAYS_ONLY, *DTYPES_ONLY, *SELECTIONS),
    *(*TERNARY, *JOINS, *UNARY, *REDUCTIONS, *LAYERS, *OF_SHAPES_ALONE),
)

# One op of each family of rules: where a value decides, it decides alike within a family.
BY_VALUE = words("add floor_divide pow bitwise_and div atan2 lt maximum where result_type")
OUT_OPS = words(
    "add sub mul div floor_divide remainder pow float_power eq lt logical_and bitwise_and "
    "bitwise_left_shift maximum atan2 matmul abs neg exp sqrt floor square reciprocal "
    "logical_not bitwise_not ceil round trunc sign sum prod mean cumsum any all argmax "
    "argmin std"
)

# The named arguments of a call; in a form they are written as "casting=unsafe,dtype=float32".
NAMED = ("out", "alpha", "dtype", "casting", "where", "initial", "rounding_mode", "value", "delta")
FORMS = ("function", "operator", "augmented", "inplace", *NAMED)

PLAIN = ("True", "1", "1.5", "1+1j")  # one Python scalar of each kind
LITERALS = (
    *PLAIN,
    *words(
        "-1 127 128 200 255 256 300 -129 32768 40000 65536 70000 2147483648 4294967296 "
        "9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615 "
        "18446744073709551616 -9223372036854775809 70000.0 1e39 1e-50 inf nan 1e39j"
    ),
)
# Around the ends of int64 and uint64.
WIDE = words("-9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616")
CHOSEN_FROM = (("int8[3]", "int8[3]"), ("int8[3]", "float32[]"), ("1", "1.5"))
ALPHAS = ("True", "1", "2", "-1", "300", "1.5", "1e39", "1+1j")
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
# Numbers a reduction may start from: of each kind, and beyond some dtype each.
INITIALS = words(
    "True 1 -1 300 1.5 1e39 1+1j 9223372036854775808 18446744073709551616 np.int64(1) "
    "np.float64(1.5) np.complex64(1)"
)
MASKS = words("bool[3] bool[] uint8[3] int64[3] float32[3] True 1 0.5")  # what where= may be
ROUNDING_MODES = ("trunc", "floor")
# Of these, dtype= and casting= are asked with operands of two dtypes and with numbers.
_MIXED_OPERANDS = words("add div lt")

# Which ops are asked about more lists, and the dtypes of the arrays mixed with lists.
_MORE_LISTED = words("add div where concat sum exp")
_BESIDE_LISTS = words("bool uint8 int32 int64 uint64 float16 float32 complex64")

# Enough to cover every kind and both sides of each width rule, where all triples are too many.
SAMPLE = words("bool uint8 int8 int64 uint16 float16 bfloat16 float32 float64 complex64")

_NAME = re.compile(r"(?:np\.)?((\w*)\*?)")  # of the dtype an operand begins with


class GridQuestion(NamedTuple):
    """One call to make: the op, the form it is called in and its operands in notation."""

    op: str
    form: str  # one of FORMS, what is given by name as out=DTYPE, alpha=VALUE
    operands: Operands


class Scope(NamedTuple):
    """What a framework offers to be asked."""

    dtypes: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]  # by op; an op the framework lacks is not there
    rare: tuple[str, ...] = ()  # dtypes few use: asked on their own, and with some of the others
    weak: tuple[str, ...] = ()  # the dtypes of its weakly typed arrays
    literals: Operands = LITERALS  # the Python scalars: fewer, where a framework looks at less
    scalars: Operands = ()  # the framework's own typed scalars: NumPy's
    foreign: Operands = ()  # another framework's operands: NumPy's inside torch
    by_value: bool = False  # also 0-d arrays and typed scalars of chosen values
    has_matrices: bool = False  # matmul also of matrices, as vectors follow their own rules
    has_bare_dtypes: bool = False  # promote_types also of dtypes, where no array has them all
    is_left_out: Callable[[GridQuestion], bool] | None = None  # a call that would end the process

    def without(self, dtypes: Container[str]) -> Scope:
        """The same without arrays of some dtypes, which this version does not have."""

        def is_left(form: str) -> bool:
            return not any(value in dtypes for value in given_by_name(form).values())

        return self._replace(
            dtypes=tuple(d for d in self.dtypes if d not in dtypes),
            forms={op: tuple(filter(is_left, has)) for op, has in self.forms.items()},
            rare=tuple(d for d in self.rare if d not in dtypes),
            weak=tuple(d for d in self.weak if d not in dtypes),
        )

    def limited_to(self, form: str | None, dtypes: Container[str] | None = None) -> Scope:
        """The same with only one form, and with operands of some dtypes; None means all."""
        forms = {op: tuple(f for f in has if is_of_form(f, form)) for op, has in self.forms.items()}
        if dtypes is None:
            return self._replace(forms=forms)
        before = self.is_left_out or (lambda _: False)
        return self._replace(
            forms=forms, is_left_out=lambda q: not is_about(q.operands, dtypes) or before(q)
        )


def is_of_form(asked: str, form: str | None) -> bool:
    """Whether a question's form, such as out=float32, is a form such as out."""
    return form is None or asked.partition("=")[0] == form


def is_about(operands: Operands, dtypes: Container[str]) -> bool:
    """Whether one of the operands is of one of the dtypes; `int32*` names weak arrays alone, and
    "list" lists.

    >>> is_about(("int8[3]", "np.float16(1)"), ["float16"])
    True
    >>> is_about(("int32*[3]",), ["int32"]), is_about(("int32[3]",), ["int32*"])
    (True, False)
    """
    return any(name in dtypes for operand in operands for name in _sorts(operand))


def _sorts(operand: str) -> tuple[str, ...]:
    if operand.startswith("["):
        return ("list",)
    return _NAME.match(operand).groups()  # type: ignore[union-attr]


def named_forms(name: str, values: Iterable[str]) -> Operands:
    """The forms in which an op is given something by name, such as dtype=, or out= to write to."""
    return tuple(f"{name}={value}" for value in values)


def questions(scope: Scope, ops: Iterable[str] | None = None) -> Iterator[GridQuestion]:
    """Every question to a framework, grouped by op and form, none of them twice."""
    for op in OPS if ops is None else ops:
        for form in scope.forms.get(op, ()):
            more = () if op in _APART else (_with_rare, _with_lists)
            asked = chain.from_iterable(part(scope, op, form) for part in (_operands, *more))
            for operands in dict.fromkeys(asked):
                question = GridQuestion(op, form, operands)
                if scope.is_left_out is None or not scope.is_left_out(question):
                    yield question


def nd(dtypes: Iterable[str]) -> Operands:
    """The notation of a one-dimensional array of each dtype."""
    return tuple(f"{dtype}[3]" for dtype in dtypes)


def zero_d(dtypes: Iterable[str]) -> Operands:
    """The notation of a 0-d array of each dtype."""
    return tuple(f"{dtype}[]" for dtype in dtypes)


def _operands(scope: Scope, op: str, form: str) -> Iterable[Operands]:
    dtypes = (*scope.dtypes, *(f"{dtype}*" for dtype in scope.weak))
    arrays = (*nd(dtypes), *zero_d(dtypes))
    if op in LAYERS:
        some = [] if "=" in form else [dtype for dtype in SAMPLE if dtype in scope.dtypes]
        return _layer_operands(op, dtypes, scope.rare, some)
    if op in OF_SHAPES_ALONE:
        return _of_shapes_alone(op, dtypes)
    if "=" in form:
        return _with_named(scope, op, form, arrays)
    if op in UNARY or op in REDUCTIONS:
        return product(arrays)
    if op in ARRAYS_ONLY:
        # `a @= b` of two vectors has no array of the right shape to write to.
        is_of_matrices = op == "matmul" and (scope.has_matrices or form == "augmented")
        matrices = tuple(f"{d}[3,3]" for d in dtypes if is_of_matrices)
        return (*product(arrays, arrays), *product(matrices, matrices))
    if op in DTYPES_ONLY:
        bare = scope.dtypes if scope.has_bare_dtypes else ()
        return (*product(nd(scope.dtypes), repeat=2), *product(bare, repeat=2))
    if op in JOINS:
        return _joins(scope)
    if op in TERNARY:
        return _ternary(scope, op)
    if op in SELECTIONS:
        return _selections(scope, op, form, arrays)
    return _binary(scope, op, form, arrays)


def _binary(scope: Scope, op: str, form: str, arrays: Operands) -> Iterator[Operands]:
    others = (*scope.literals, *scope.scalars, *scope.foreign)
    if op == "pow":
        others += EXPONENTS
    yield from product(arrays, (*arrays, *others))
    if form == "augmented" and op == "add":  # who decides there, decides for the others too
        yield from product((*PLAIN, *scope.scalars, *scope.foreign), arrays)
    if form not in ("augmented", "inplace"):
        yield from product(others, arrays)
        yield from product(scope.scalars, (*scope.scalars, *others))
        yield from product(scope.literals, scope.scalars)
    if form == "function":
        yield from product(PLAIN, PLAIN)
    if scope.by_value:
        yield from _by_value(scope, op, form)
    if op == "result_type":
        yield from product(nd(scope.dtypes), repeat=3)
        some = [dtype for dtype in SAMPLE if dtype in scope.dtypes]
        yield from product((*nd(some), *zero_d(some), *PLAIN, "300"), repeat=3)


def _selections(scope: Scope, op: str, form: str, arrays: Operands) -> Iterator[Operands]:
    """All pairs that a bool array chooses from; then every other condition, with a few pairs."""
    yield from (("bool[3]", *pair) for pair in _binary(scope, op, form, arrays))
    conditions = (*arrays, *PLAIN, *scope.scalars, *scope.foreign)
    yield from ((condition, *pair) for condition in conditions for pair in CHOSEN_FROM)


def _by_value(scope: Scope, op: str, form: str) -> Iterator[Operands]:
    """Chosen values against every dtype; two 0-d operands once, where no value should count."""
    if op == "pow" and form == "operator":  # `**` takes short cuts at some exponents
        bases = (*nd(scope.dtypes), *zero_d(scope.dtypes), *scope.scalars)
        for dtype in scope.dtypes:
            yield from product(bases, operands_holding(dtype, EXPONENTS))
    if (op, form) == ("add", "augmented") or (op in BY_VALUE and form == "function"):
        literals = ("False", *_INTEGERS, *_FLOATS, *_IMAGINARY)
        valued = (*chosen_operands(scope.dtypes), *literals)
        partners = nd(scope.dtypes)
        if op == "add":
            partners += zero_d(scope.dtypes)
        yield from product(partners, valued)
        if form == "function":
            yield from product(valued, partners)


def _with_named(scope: Scope, op: str, form: str, arrays: Operands) -> Iterable[Operands]:
    """A few operands, for questions about the named arguments only."""
    every, name = nd(scope.dtypes), form.partition("=")[0]
    if name == "out":
        return _with_out(scope, op)
    if name == "alpha":
        return product(every, (*every, *PLAIN))
    if name == "rounding_mode":
        return (*product(arrays, (*arrays, *PLAIN)), *product(PLAIN, arrays))
    if op in UNARY or op in REDUCTIONS:
        return product(arrays if name == "dtype" else every)
    some = nd(dtype for dtype in SAMPLE if dtype in scope.dtypes)
    if op in SELECTIONS:
        return (("bool[3]", a, a) for a in every)
    if op in TERNARY:
        return (*((a, a, a) for a in every), *((a, b, b) for a, b in product(some, repeat=2)))
    # Not both dtype= and casting=.
    if op in _MIXED_OPERANDS and form in named_forms(name, scope.dtypes + CASTINGS):
        return product(every, (*every, *PLAIN))
    return (*((a, a) for a in every), *(product(some, PLAIN) if op in _MIXED_OPERANDS else ()))


def _with_out(scope: Scope, op: str) -> Iterator[Operands]:
    """Equal dtypes, so that only out= is in question; `add` also mixes its operands."""
    arrays = nd(scope.dtypes)
    if op in UNARY or op in REDUCTIONS:
        return product(arrays)
    return product(arrays, repeat=2) if op == "add" else zip(arrays, arrays, strict=True)


def _with_rare(scope: Scope, op: str, form: str) -> Iterable[Operands]:
    """Operands of the rare dtypes: each on its own, in pairs with a few others, with numbers."""
    if op in UNARY or op in REDUCTIONS:
        return product((*nd(scope.rare), *(zero_d(scope.rare) if "=" not in form else ())))
    if "=" in form:
        return ()
    if op in DTYPES_ONLY:
        return product((*scope.dtypes, *scope.rare), repeat=2) if scope.has_bare_dtypes else ()
    pairs = _rare_pairs(scope, op)
    if op in TERNARY:
        return ((a, b, b) for a, b in pairs)
    if op in SELECTIONS:
        conditions = ((a, *CHOSEN_FROM[0]) for a in nd(scope.rare))
        return (*(("bool[3]", *pair) for pair in pairs), *conditions)
    if op in ARRAYS_ONLY or op in JOINS:
        return ((a, b) for a, b in pairs if a.endswith("[3]") and b.endswith("[3]"))
    if form in ("augmented", "inplace"):
        return ((a, b) for a, b in pairs if a not in PLAIN)
    return pairs


def _rare_pairs(scope: Scope, op: str) -> tuple[Operands, ...]:
    """A rare dtype with itself, with one dtype of each sort and with numbers, on either side."""
    every = nd(scope.rare)
    partners = nd(d for d in scope.dtypes if d in SAMPLE)
    if op in ("add", "result_type"):  # these tell what joins what
        partners = (*nd(scope.dtypes), *every)
    sides = product(every, (*partners, *PLAIN))
    alone = ((a, a) for a in (*every, *zero_d(scope.rare)))
    return tuple(chain(alone, *((pair, pair[::-1]) for pair in sides)))


def _with_lists(scope: Scope, op: str, form: str) -> Iterable[Operands]:
    """Lists of numbers on their own, and with arrays in every place."""
    if "=" in form or op in DTYPES_ONLY:
        return ()
    lists = (*LISTS, *(_MORE_LISTS if op in _MORE_LISTED else ()))
    if op in UNARY or op in REDUCTIONS:
        return product((*lists, "[]")) if form == "function" else ()
    arrays = nd(dtype for dtype in _BESIDE_LISTS if dtype in scope.dtypes)
    if op in JOINS or form in ("augmented", "inplace"):  # a nested one has another shape
        lists = tuple(some for some in lists if not some.startswith("[["))
    pairs = tuple(product(arrays, lists))
    if form in ("augmented", "inplace"):
        return pairs
    if op in SELECTIONS:
        chosen = (("bool[3]", *two) for pair in pairs for two in (pair, pair[::-1]))
        return (*chosen, *((condition, *CHOSEN_FROM[0]) for condition in lists))
    if op in TERNARY:
        return ((array, some, some) for array, some in pairs)
    others = lists if op in ARRAYS_ONLY or op in JOINS else (*lists, *PLAIN)
    alone = product(lists, others) if form == "function" else ()
    return (*pairs, *(pair[::-1] for pair in pairs), *alone)


def _joins(scope: Scope) -> Iterator[Operands]:
    yield from product(nd(scope.dtypes), repeat=2)
    yield from product(zero_d(scope.dtypes), repeat=2)
    yield from product(nd(scope.dtypes), repeat=3)


def _ternary(scope: Scope, op: str) -> Iterator[Operands]:
    """All pairs of dtypes in each place, all triples of a few, and Python scalars last."""
    every = nd(scope.dtypes)
    for a, b in product(every, repeat=2):
        yield from ((a, b, b), (a, a, b), (b, a, b))
    some = [dtype for dtype in SAMPLE if dtype in scope.dtypes]
    yield from product(nd(some), repeat=3)
    yield from product(nd(some), zero_d(some), zero_d(some))
    yield from product(zero_d(some), nd(some), nd(some))
    arrays = (*every, *zero_d(scope.dtypes))
    yield from product(arrays, PLAIN, PLAIN)
    yield from ((array, literal, literal) for array, literal in product(arrays, scope.literals))
    yield from product(arrays, ("-1", "-129"), ("300", "40000"))  # bounds that never bind
    yield from ((a, b, literal) for a, b, literal in product(every, every, PLAIN))
    if op == "lerp":
        yield from ((a, a, weight) for a, weight in product(every, WIDE))
