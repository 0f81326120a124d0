"""Every op castwise knows, one row each; what a framework does otherwise is in its dialect."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.showing import repr_line
from castwise.vocab.dtypes import dtypes_named, find_dtype
from castwise.vocab.operands import Operand

# An op's row, and its parts: how it is called, its switches, and what it has to do with shapes.


@dataclass(frozen=True, slots=True)
class CallForm:
    """How an op is called, in every framework that has it."""

    operands: tuple[str, ...] = ()  # the names by which operands may be given, from the first
    parameters: tuple[str, ...] = ()  # what may follow the operands: it has no say in the dtype
    takes: tuple[str, ...] = ()  # what else it may be given by name, which has a say in the dtype
    takes_alpha: bool = False  # the second operand may have a factor
    arrays_only: bool = False  # no operand is a Python number
    along_axis: bool = False  # it works along one axis, and the result keeps its length
    # The place and the name of what stands among the operands and is none: einsum's equation.
    between: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Switches:
    """How an op treats its operands and its output.

    The switches are those of torch's TensorIteratorConfig and OneFlow's TensorProcessor; what each
    does is in docs/how-it-works.md.
    """

    promotes: bool = True  # False: each operand keeps its dtype
    lowest: str | None = None  # no operand enters below this dtype
    lowest_per_input: tuple[str | None, ...] = ()
    same_dtype: bool = False  # operands, Python numbers and out= of two dtypes are refused
    same_device: bool = True  # where it runs, arrays of two devices are refused
    casts_to_output: bool = True  # False: out= must already have the result dtype
    safe_output: bool = True  # False: the result is cast to any dtype

    @property
    def has_lowest(self) -> bool:
        return bool(self.lowest or self.lowest_per_input)


@dataclass(frozen=True, slots=True)
class Shapes:
    """What an op has to do with the shapes of its operands, besides broadcasting them."""

    counts_dimensions: bool = False  # a rule may tell vectors from matrices
    counts_elements: bool = False  # a rule may tell whether there are any
    gives_one: bool = False  # one answer, whatever the shapes
    gives_pair: bool = False  # values and their places


# The kinds that ops compute in.
ANY = "bool int float complex"
REAL = "bool int float"
NUMBER = "int float complex"
FLOATING = "float complex"
# What the result is, given the dtype the op computes in. A dtype's name is a fixed result.
RESULTS = {
    "same": "the result is the compute dtype",
    "bool": "the result is always bool",
    "real": "a complex compute dtype gives its real dtype",
    "complex": "a real compute dtype gives the complex dtype of its precision",
    "index": "the result is the dialect's index dtype",
    "first": "the result is the first operand's dtype",
    "default float": "the result is the dtype of a Python float",
}
ARBITRARY = 1 << 16  # more operands than any op is called with
# The families of ops whose results have another shape than their operands, or none.
_OTHER_SHAPES = frozenset(
    {"reductions", "products", "joining", "losses", "layers", "membership", "linear algebra",
     "Fourier transforms", "questions"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # rows are compared by identity
class Op:
    """What an op does to dtypes when no dialect says otherwise."""

    name: str
    arity: tuple[int, int]
    computes: str = ANY  # kinds or dtypes it computes in
    integers_become_float: bool = False
    result: str = "same"  # of the first, where it gives several: a name of RESULTS, or a dtype
    others: tuple[str, ...] = ()  # the results after the first, in the same words
    symbol: str | None = None
    accumulates: bool = False  # small integers are summed in a wide one, as the dialect says
    is_condition_first: bool = False  # `where`: operand 0 chooses and takes no part
    index: int | None = None  # the place of an operand that is an index, and takes no part either
    switches: Switches = field(default=Switches())
    shapes: Shapes = field(default=Shapes())
    call: CallForm = field(default=CallForm())
    ulps: int = 0  # units in the last place that two libraries may differ by: none rounds it right
    compute: Callable[..., Any] | None = None  # the kernel of a declared op, on cast arrays
    meaning: str = ""
    family: str = ""  # its group in tables and pages

    def __repr__(self) -> str:
        return repr_line("Op", repr(self.name), f"computes in {self.computes}", self.meaning)

    @property
    def keeps_shape(self) -> bool:
        """Whether the result has the shape of the operands, broadcast."""
        return self.family not in _OTHER_SHAPES and not self.shapes.gives_one

    @property
    def augments(self) -> bool:
        """Whether its operator has an augmented form, as in `x += y`."""
        return bool(self.symbol) and self.arity == (2, 2) and self.family != "comparison"

    def apart(self, operands: Sequence[Operand]) -> int | None:
        """The place of the operand that takes no part: a condition, or an index."""
        if self.is_condition_first:
            return 0
        if self.index is None or not self.shapes.counts_dimensions or len(operands) < 2:
            return self.index
        # Class probabilities stand in the same place, and have as many dimensions as the others.
        first, given = operands[0], operands[self.index]
        if math.inf in (first.rank, given.rank):
            return self.index if given.kind in ("bool", "int") else None
        return self.index if given.rank < first.rank else None

    def arranged(
        self, given: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The operands, each in its place and None where one is missing, and what else was given.

        >>> op("clamp").arranged(["int8[3]"], {"max": 2})
        (('int8[3]', None, 2), {})
        >>> op("threshold").arranged(["int8[3]", 0, 1], {})
        (('int8[3]',), {'threshold': 0, 'value': 1})

        Raises UsageError where something is given twice, or a factor where there is none.
        """
        given, named = taken_out(self.call.between, given, named)
        most, others = self.arity[1], dict(named)
        if not named and len(given) <= most:
            return tuple(given), others
        if named.get("alpha") is not None and not self.call.takes_alpha:
            raise UsageError(f"{self.name} takes no alpha; add and sub do.")
        operands, surplus = list(given[:most]), list(given[most:])
        names = self.call.parameters if all(map(_is_number, surplus)) else ()
        if self.call.takes_alpha and len(surplus) == 1 and _is_number(operands[1]):
            # add(x, alpha, y), as older programs have it
            names, operands, surplus = ("alpha",), [operands[0], *surplus], [operands[1]]
        for name, extra in zip(names, surplus, strict=False):
            if others.setdefault(name, extra) is not extra:
                raise self._given_twice(name)
        for place, name in enumerate(self.call.operands):
            if name in others:
                operands += [None] * (place + 1 - len(operands))
                if operands[place] is not None:
                    raise self._given_twice(name)
                operands[place] = others.pop(name)
        return (*operands, *surplus[len(names) :]), others

    def _given_twice(self, name: str) -> UsageError:
        return UsageError(f"{self.name} is given {name} twice: by its place and by its name.")


def _is_number(thing: Any) -> bool:
    is_scalar = isinstance(thing, Operand) and thing.is_scalar
    return is_scalar or isinstance(thing, (bool, int, float, complex))


_EQUATION = re.compile(r"[A-Za-z.,\s]*(->[A-Za-z.\s]*)?")


def taken_out(
    between: tuple[int, str] | None, given: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The operands without what is no operand, einsum's equation or layer_norm's sizes, which is
    added to what was given by name.

    >>> taken_out((0, "equation"), ["ij,jk->ik", "float16[2,3]", "float16[3,4]"], {})
    (['float16[2,3]', 'float16[3,4]'], {'equation': 'ij,jk->ik'})
    >>> taken_out((0, "equation"), ["float16[2,3]", "float16[3,4]"], {})
    (['float16[2,3]', 'float16[3,4]'], {})
    """
    if between is None or len(given) <= between[0] or not _is_data(given[between[0]]):
        return given, named
    place, name = between
    return [*given[:place], *given[place + 1 :]], {name: given[place], **named}


def _is_data(thing: Any) -> bool:
    """Whether something is an equation, or sizes."""
    if isinstance(thing, str):
        return bool(_EQUATION.fullmatch(thing)) and find_dtype(thing.strip()) is None
    return isinstance(thing, (list, tuple)) and all(map(_is_size, thing))


def _is_size(thing: Any) -> bool:
    """Whether something is a size, or a pair of them."""
    is_pair = isinstance(thing, (list, tuple)) and all(isinstance(n, int) for n in thing)
    return is_pair or isinstance(thing, int)


# The rows.


def _row(names: str, arity: int | tuple[int, int], **facts: Any) -> list[Op]:
    spread = (arity, arity) if isinstance(arity, int) else arity
    rows = []
    for word in names.split():
        name, _, symbol = word.partition(":")
        rows.append(Op(name, spread, symbol=symbol or None, **facts))
    return rows


_ARRAYS = CallForm(arrays_only=True)
# Integers become floats, and complex dtypes stay; or are refused.
_TO_FLOATING: dict[str, Any] = {"computes": FLOATING, "integers_become_float": True}
_TO_FLOAT = {"computes": "float", "integers_become_float": True}
_LINEAR = {**_TO_FLOATING, "call": _ARRAYS, "family": "linear algebra"}
_TRANSFORM = {
    **_TO_FLOATING, "call": _ARRAYS, "shapes": Shapes(counts_dimensions=True),
    "family": "Fourier transforms",
}  # fmt: skip
_ROWS = [
    *_row("add:+ sub:-", 2, call=CallForm(takes_alpha=True), family="arithmetic"),
    *_row("rsub", 2, family="arithmetic"),
    *_row("mul:*", 2, family="arithmetic"),
    *_row("div:/", 2, **_TO_FLOATING, call=CallForm(takes=("rounding_mode",)), family="arithmetic"),
    *_row("floor_divide:// remainder:% fmod", 2, computes=REAL, family="arithmetic"),
    *_row("real_div multiply_no_nan", 2, computes=FLOATING, family="arithmetic"),
    *_row("floor_div truncate_div", 2, computes=REAL, family="arithmetic"),
    *_row("div_no_nan", 2, **_TO_FLOATING, family="arithmetic"),
    *_row("pow:**", 2, shapes=Shapes(counts_elements=True), ulps=1, family="arithmetic"),
    *_row("float_power", 2, computes="float64 complex128", ulps=1, family="arithmetic"),
    *_row("eq:== ne:!= lt:< le:<= gt:> ge:>=", 2, result="bool", family="comparison"),
    *_row("logical_and logical_or logical_xor", 2, result="bool", family="logic"),
    *_row("logical_not", 1, result="bool", family="logic"),
    *_row("bitwise_and:& bitwise_or:| bitwise_xor:^", 2, computes="bool int", family="bits"),
    *_row("bitwise_left_shift:<< bitwise_right_shift:>>", 2, computes="int", family="bits"),
    *_row("bitwise_not:~", 1, computes="bool int", family="bits"),
    *_row("maximum minimum fmax fmin", 2, family="extrema"),
    *_row("atan2 hypot", 2, **_TO_FLOAT, ulps=2, family="float functions"),
    *_row("logaddexp logaddexp2", 2, **_TO_FLOAT, ulps=4, family="float functions"),
    *_row("copysign nextafter", 2, **_TO_FLOAT, family="float functions"),
    *_row("ldexp", 2, **_TO_FLOATING, family="float functions"),
    *_row("heaviside", 2, computes=REAL, family="float functions"),
    *_row("xlogy", 2, **_TO_FLOAT, ulps=2, family="float functions"),
    *_row("matmul:@", 2, shapes=Shapes(counts_dimensions=True), call=_ARRAYS, family="products"),
    *_row("dot outer inner", 2, family="products"),
    *_row("vecdot cross", 2, call=_ARRAYS, family="products"),
    *_row("kron", 2, family="products"),
    *_row("tensordot", 2, call=_ARRAYS, family="products"),
    *_row("where", 3, is_condition_first=True, family="selection"),
    *_row("clamp", (1, 3), computes=REAL, call=CallForm(("x", "min", "max")), family="selection"),
    *_row("clamp_min clamp_max", 2, computes=REAL, family="selection"),
    *_row("lerp", 3, computes=FLOATING, family="selection"),
    *_row("addcmul", 3, call=CallForm(takes=("value",)), family="arithmetic"),
    *_row("addcdiv", 3, computes=FLOATING, call=CallForm(takes=("value",)), family="arithmetic"),
    *_row("concat stack", (1, ARBITRARY), family="joining"),
    *_row("mse_loss", 2, computes=FLOATING, call=_ARRAYS, family="losses"),
    *_row("l1_loss", 2, computes=FLOATING, result="real", call=_ARRAYS, family="losses"),
    *_row("huber_loss", 2, computes="float", call=CallForm(takes=("delta",), arrays_only=True),
          family="losses"),
    *_row("poisson_nll_loss", 2, computes="float", call=_ARRAYS, family="losses"),
    *_row("abs", 1, result="real", family="unary"),
    *_row("neg:- positive:+", 1, computes=NUMBER, family="unary"),
    *_row("square conj", 1, family="unary"),
    *_row("sign floor ceil round trunc", 1, computes=REAL, family="unary"),
    *_row("relu", 1, computes="int float", family="unary"),
    *_row("threshold", 1, computes="int float", call=CallForm(parameters=("threshold", "value")),
          family="unary"),
    *_row("exp exp2 expm1 log log2 log10 log1p", 1, **_TO_FLOATING, ulps=2,
          family="unary float functions"),
    *_row("sqrt", 1, **_TO_FLOATING, family="unary float functions"),
    *_row("rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid", 1,
          **_TO_FLOATING, ulps=2, family="unary float functions"),
    *_row("reciprocal", 1, **_TO_FLOATING, family="unary float functions"),
    *_row("cbrt", 1, **_TO_FLOAT, ulps=2, family="unary float functions"),
    *_row("erf", 1, **_TO_FLOAT, ulps=4, family="unary float functions"),
    *_row("degrees radians", 1, **_TO_FLOAT, ulps=1, family="unary float functions"),
    *_row("gelu", 1, computes="float", family="unary float functions"),
    *_row("silu", 1, computes=FLOATING, ulps=4, family="unary float functions"),
    *_row("softmax log_softmax", 1, computes="float", ulps=4, call=CallForm(along_axis=True),
          family="unary float functions"),
    *_row("isnan isinf isfinite", 1, result="bool", family="predicates"),
    *_row("signbit", 1, computes=REAL, result="bool", family="predicates"),
    *_row("real imag", 1, result="real", family="unary"),
    *_row("angle", 1, **_TO_FLOATING, result="real", ulps=2, family="unary"),
    *_row("sum prod", 1, accumulates=True, family="reductions"),
    *_row("cumsum cumprod", 1, accumulates=True, call=CallForm(along_axis=True),
          family="reductions"),
    *_row("mean", 1, computes=FLOATING, family="reductions"),
    *_row("std var norm", 1, computes=FLOATING, result="real", family="reductions"),
    *_row("median", 1, computes="float", family="reductions"),
    *_row("logsumexp", 1, computes="float", ulps=4, family="reductions"),
    *_row("any all", 1, result="bool", family="reductions"),
    *_row("max min", 1, computes=REAL, family="reductions"),
    *_row("argmax argmin", 1, computes=REAL, result="index", family="reductions"),
    *_row("count_nonzero", 1, result="index", family="reductions"),
    *_row("isclose", 2, result="bool", call=_ARRAYS, family="comparison"),
    *_row("allclose", 2, result="bool", shapes=Shapes(gives_one=True), call=_ARRAYS,
          family="comparison"),
    *_row("isin", 2, result="bool", call=_ARRAYS, family="membership"),
    *_row("linalg.cholesky linalg.det linalg.inv linalg.pinv", 1, **_LINEAR),
    *_row("linalg.qr", 1, **_LINEAR, others=("same",)),
    *_row("linalg.slogdet", 1, **_LINEAR, others=("real",)),
    *_row("linalg.svd", 1, **_LINEAR, others=("real", "same")),
    *_row("linalg.eigh", 1, **_LINEAR, result="real", others=("same",)),
    *_row("linalg.eigvalsh linalg.svdvals", 1, **_LINEAR, result="real"),
    *_row("linalg.matrix_norm linalg.vector_norm", 1, **_LINEAR, result="real"),
    *_row("linalg.eig", 1, **_LINEAR, result="complex", others=("complex",)),
    *_row("linalg.eigvals", 1, **_LINEAR, result="complex"),
    *_row("linalg.matrix_rank", 1, **_LINEAR, result="index"),
    *_row("linalg.matrix_power", 1, call=_ARRAYS, family="linear algebra"),
    *_row("linalg.solve", 2, **_LINEAR),
    *_row("fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.rfftn fft.ihfft", 1, **_TRANSFORM,
          result="complex"),
    *_row("fft.irfft fft.hfft fft.irfftn", 1, **_TRANSFORM, result="real"),
    *_row("einsum", (1, ARBITRARY), family="layers",
          call=CallForm(parameters=("equation",), between=(0, "equation"))),
    *_row("pad", 1, family="layers",
          call=CallForm(parameters=("pad_width", "constant_values"), between=(1, "pad_width"))),
    *_row("one_hot", 1, computes="int", result="index", family="layers",
          call=CallForm(parameters=("num_classes",))),
    *_row("embedding", 2, index=0, call=CallForm(("indices", "weight")), family="layers"),
    *_row("conv1d conv2d", (2, 3), family="layers",
          call=CallForm(("x", "weight", "bias"), ("stride", "padding", "dilation", "groups"))),
    *_row("topk", 1, computes=REAL, shapes=Shapes(gives_pair=True), family="layers",
          call=CallForm(parameters=("k",))),
    *_row("layer_norm", (1, 3), computes="float", result="first", ulps=4, family="layers",
          call=CallForm(("x", "weight", "bias"), ("normalized_shape", "eps"),
                        between=(1, "normalized_shape"))),
    *_row("scaled_dot_product_attention", 3, computes="float", ulps=8, family="layers",
          call=CallForm(("query", "key", "value"), ("is_causal", "scale"))),
    *_row("cross_entropy", 2, computes="float", index=1, shapes=Shapes(counts_dimensions=True),
          ulps=4, call=CallForm(("x", "target"), ("reduction", "ignore_index",
          "label_smoothing")), family="layers"),
    *_row("result_type promote_types", (1, ARBITRARY), family="questions"),
]  # fmt: skip
OPS: MappingProxyType[str, Op] = MappingProxyType({op.name: op for op in _ROWS})
LAYERS = tuple([op.name for op in _ROWS if op.family == "layers"])
# The functions of the standard's extensions, and the last part of their names, which say the same.
EXTENSIONS = tuple([op.name for op in _ROWS if "." in op.name])
_LAST_PARTS = {name.rpartition(".")[2]: name for name in EXTENSIONS}
# What a program converts on purpose. Nothing is promoted, so no dialect has rules about these.
_CONVERSIONS = {
    row.name: row
    for row in (
        *_row("cast", 2, call=CallForm(("x", "dtype")), family="conversion"),
        *_row("fill", 2, call=CallForm(("x", "value")), result="first", family="conversion"),
    )
}
# Operator symbol and number of operands -> op: `-` is sub with two operands, neg with one.
SYMBOLS = {(op.symbol, op.arity[0]): op.name for op in _ROWS if op.symbol}


# Ops by name, castwise's own and those that a user declares.

_declared: dict[str, Op] = {}


def op(name: str) -> Op:
    """The row of an op, castwise's own or declared by the user.

    >>> op("div").integers_become_float
    True

    Raises UsageError for an unknown name.
    """
    row = known_op(name)
    if row is None:
        hint = did_you_mean(name, [*OPS, *_declared])
        raise UsageError(f"unknown op {name[:64]!r}.{hint} `castwise ops` lists them.")
    return row


def known_op(name: str) -> Op | None:
    """The row of an op, or None where there is no such op.

    >>> known_op("inv").name
    'linalg.inv'
    """
    found = OPS.get(name) or _declared.get(name) or _CONVERSIONS.get(name)
    return found or OPS.get(_LAST_PARTS.get(name, ""))


def op_of_symbol(symbol: str, operands: int) -> Op:
    """The op of an operator symbol.

    >>> op_of_symbol("-", 1).name
    'neg'
    """
    name = SYMBOLS.get((symbol, operands))
    if name is None:
        raise UsageError(f"no op is written {symbol!r} with {operands} operand(s).")
    return OPS[name]


def ops() -> tuple[str, ...]:
    """The names of all ops that promote, in the order of their rows, then the declared ones."""
    return (*OPS, *_declared)


_NOT_DECLARED = {
    "name", "arity", "others", "symbol", "family", "switches", "shapes", "call", "ulps", "compute",
    "index",
}  # fmt: skip
_DECLARABLE = {f.name: f.type for f in fields(Op) if f.name not in _NOT_DECLARED}
_SWITCHES = {f.name: f.type for f in fields(Switches)}


# How often a name was declared again: what runs a kernel must then find the new one.
redeclarations = 0


def declare_op(
    name: str,
    *,
    operands: int | tuple[int, int] = 2,
    compute: Callable[..., Any] | None = None,
    **switches: Any,
) -> Op:
    """Adds a custom op, which then works in every dialect, in explain and in tables.

    `compute` is its kernel: it takes the operands as arrays of the backend, cast as decided, and
    returns an array. With it `cw.apply` runs the op. `switches` are the fields of Op and of
    Switches: computes, integers_become_float, result, accumulates, promotes, lowest,
    lowest_per_input, same_dtype, same_device, casts_to_output, safe_output.

    >>> import castwise as cw
    >>> op = declare_op("scaled_sum", compute=lambda x, y: 2 * (x + y), computes="float")
    >>> cw.apply("scaled_sum", cw.asarray([1.0], dtype="float32", dialect="torch"), 0.5)
    Tensor([3.], dtype=float32, dialect=torch, backend=numpy)

    Raises UsageError for a taken name, an unknown switch, kind or dtype.
    """
    if name in OPS or name in _CONVERSIONS:
        raise UsageError(f"{name!r} is an op of castwise; choose another name.")
    if not name.isidentifier():
        raise UsageError(f"{name!r} is not a name: write letters, digits and underscores.")
    known = {**_DECLARABLE, **_SWITCHES}
    for switch, value in switches.items():
        if switch not in known:
            raise UsageError(f"an op has no switch {switch!r}.{did_you_mean(switch, known)}")
        if known[switch] == "bool" and not isinstance(value, bool):
            raise UsageError(f"{switch} is True or False, not {value!r}.")
    own = {switch: switches.pop(switch) for switch in _SWITCHES if switch in switches}
    row = Op(name, _spread(operands), switches=Switches(**own), family="declared", compute=compute,
             **switches)  # fmt: skip
    _check(row)
    global redeclarations
    redeclarations += name in _declared
    _declared[name] = row
    return row


def _spread(operands: object) -> tuple[int, int]:
    """The least and the greatest number of operands."""
    pair = (operands, operands) if isinstance(operands, int) else operands
    if isinstance(pair, tuple) and len(pair) == 2:
        low, high = pair
        if isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= ARBITRARY:
            return low, high
    raise UsageError(
        f"an op takes at least one operand: a number, or the least and the most, not {operands!r}."
    )


def _check(row: Op) -> None:
    if not isinstance(row.computes, str) or not dtypes_named(row.computes):
        raise UsageError(f"computes names kinds or dtypes, 'int float', not {row.computes!r}.")
    lowest = row.switches.lowest_per_input
    if not isinstance(lowest, tuple) or len(lowest) > row.arity[1]:
        raise UsageError(f"lowest_per_input names at most {row.arity[1]} dtypes, one per operand.")
    for low in (row.switches.lowest, *lowest):
        if low is not None and (not isinstance(low, str) or find_dtype(low) is None):
            raise UsageError(f"unknown lowest dtype {low!r}.")
    if row.result not in RESULTS and not find_dtype(row.result):
        hint = did_you_mean(str(row.result), RESULTS)
        raise UsageError(f"unknown result {row.result!r}: {', '.join(RESULTS)} or a dtype.{hint}")
    if row.compute is not None and not callable(row.compute):
        raise UsageError(f"compute is a function of arrays, not {row.compute!r}.")
    if row.is_condition_first and row.arity[0] < 2:
        raise UsageError("an op with a condition first has at least 2 operands.")
