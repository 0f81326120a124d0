"""What users call: live objects or notation in, a cached Decision out."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from castwise.catalog import (
    DEFAULT,
    chosen_dialect,
    chosen_here,
    dialect_named,
    dialects,
    loaded_dialect,
    to_dialect,
    when_default_changes,
)
from castwise.engine.decide import decide
from castwise.engine.decision import NOTHING, Decision, Named, Question, Refusal
from castwise.engine.plan import dialect_reach, op_plan
from castwise.engine.writes import can_become
from castwise.errors import PromotionError, UsageError, did_you_mean
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.live import (
    GUEST,
    has_modes,
    has_own_dtypes,
    is_on_gpu,
    is_plain_array,
    live_framework,
    loaded_mode,
    loaded_version,
    to_dtype,
)
from castwise.vocab.notation import Expression, describe, describe_or_dtype, parse_expression
from castwise.vocab.operands import UNDEFINED, Operand, Scalar, array_operand, plain_array
from castwise.vocab.ops import SYMBOLS, Op, known_op, op, op_of_symbol, ops, taken_out
from castwise.vocab.spellings import SPELLINGS

# The dialect of a question: the given or the chosen one, else that of the arrays in it.


class Chosen(NamedTuple):
    """A dialect, and a sentence about why where the operands chose it."""

    dialect: Dialect
    because: str = ""


def dialect_chosen(
    dialect: str | Dialect | None, operands: Iterable[Any], function_of: str | None = None
) -> Chosen:
    """The given dialect; else that of `use`, `set_default` or the environment; else that of the
    live arrays, tensors and dtype objects among the operands, and of the framework whose function
    is asked about; else the default.

    Raises UsageError where the operands are of two frameworks, or two dialects.
    """
    chosen = chosen_here() if dialect is None else to_dialect(dialect)
    if chosen is not None:
        return Chosen(chosen)
    operands = list(operands)
    found = {own.name: Chosen(own) for operand in operands if (own := _tensor_dialect(operand))}
    others = [function_of, *map(live_framework, operands)]
    has_rules = found or any(other not in (None, GUEST) for other in others)
    for framework in dict.fromkeys(filter(None, others)):
        if framework != GUEST or framework == function_of or not has_rules:
            of_framework = _framework_dialect(framework, any(map(is_on_gpu, operands)))
            found.setdefault(of_framework.dialect.name, of_framework)
    if len(found) > 1:
        one, other = list(found)[:2]
        raise UsageError(
            f"the operands are of {one} and {other}, which decide differently: convert one of "
            f"them, or name the rules that decide, dialect={one!r}."
        )
    return next(iter(found.values()), None) or Chosen(to_dialect(DEFAULT))


def array_dialect(thing: Any) -> Dialect | None:
    """The dialect that a live array follows; None for anything else."""
    framework = live_framework(thing)
    return loaded_dialect(framework, is_on_gpu=is_on_gpu(thing)).dialect if framework else None


def _tensor_dialect(operand: Any) -> Dialect | None:
    """The dialect that a tensor of castwise's own carries."""
    is_own = type(operand).__module__.partition(".")[0] == __name__.partition(".")[0]
    found = getattr(operand, "dialect", None) if is_own else None
    return found if isinstance(found, Dialect) else None


def _framework_dialect(framework: str, on_gpu: bool) -> Chosen:
    found, note = loaded_dialect(framework, is_on_gpu=on_gpu)
    version = loaded_version(framework)
    if note:
        return Chosen(found, f"The arrays are of {framework} {version}. {note}")
    named = f"{framework} {version}" if version else framework
    return Chosen(found, f"The arrays are of {named}: {found.name} decides.")


# The op that a name means: castwise's own, a dialect's, or a framework's with its prefix; an
# operator's symbol; or a framework's function itself.

_LISTED = "`castwise ops` lists them."
_WRITTEN = frozenset([symbol for symbol, _ in SYMBOLS])
# What Python's own functions and methods for operators are called: `operator.add`, `__add__`.
_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "neg": "-", "pos": "+", "invert": "~", "inv": "~",
}  # fmt: skip
_UNARY = ("neg", "pos", "invert", "inv")
_PYTHON_MODULES = ("_operator", "operator", "builtins")
# Everyday words that are no framework's name of an op.
_EVERYDAY = {
    "plus": "add", "minus": "sub", "times": "mul", "modulo": "remainder", "average": "mean",
    "negate": "neg", "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
    "not": "logical_not", "if": "where", "select": "where", "total": "sum", "product": "prod",
    "invert": "bitwise_not", "astype": "cast", "to": "cast", "exponential": "exp", "ln": "log",
}  # fmt: skip


class AskedOp(NamedTuple):
    """An op as it was asked for: its name, and the form that was asked about, if any."""

    name: str
    form: str | None = None
    inplace: bool = False


def asked_op(name: Any, operands: int | None = None) -> AskedOp:
    """What a name, a symbol or a function says; `operands` tells `-x` from `x - y`.

    A name with a framework's prefix says its function, as `np.add` itself does.

    >>> asked_op("-", 1)
    AskedOp(name='neg', form='operator', inplace=False)
    >>> asked_op("np.add").form
    'function'

    Raises UsageError for an object that is no function of a known framework.
    """
    if not isinstance(name, str):
        return _function_op(name, operands)
    if name.endswith("_") and not name.startswith("__") and not known_op(name):
        return AskedOp(name.removesuffix("_"), None, True)
    if name.endswith("="):
        symbol = name.removesuffix("=")
        if symbol in _WRITTEN and name not in _WRITTEN:
            return AskedOp(op_of_symbol(symbol, 2).name, "augmented")
    if name in _WRITTEN:
        return _symbol_op(name, operands)
    return AskedOp(name, "function" if "." in name else None)


def asked_form(row: Op, form: str | None, *, is_named: bool) -> str:
    """The form that is asked about: the one that is said, else the operator, unless there is none,
    or something is given by name, which no operator takes."""
    if form is not None:
        return form
    return "operator" if row.symbol and not is_named else "function"


def find_op(name: Any, dialect: Dialect) -> Op:
    """The op of a name: the dialect's, castwise's own, or a framework's with its prefix. A symbol
    such as `+` and a function such as `operator.add` name one, too.

    >>> find_op("np.arctan2", dialect_named("torch")).name
    'atan2'

    Raises UsageError for an unknown name.
    """
    if not isinstance(name, str):
        name = asked_op(name).name
    if row := known_op(_aliases(dialect).get(name, name)):
        return row
    if name in _WRITTEN:
        name = _symbol_op(name, None).name
    prefix, _, tail = name.rpartition(".")
    is_own = not prefix or prefix in dialect.naming.prefixes.split()
    owner = dialect if is_own else _prefix_dialect(prefix)
    alias = _aliases(owner).get(tail) if owner else None
    wanted = alias or (tail if owner or prefix in SPELLINGS else name)
    if row := known_op(wanted):
        return row
    raise UsageError(f"unknown op {wanted[:64]!r}.{_hint(wanted, dialect)} {_LISTED}")


def function_framework(name: Any) -> str | None:
    """The framework that a function is from; None for a name, a symbol or a function of Python."""
    if isinstance(name, str):
        return None
    owner = _package_dialect(_module_name(name).partition(".")[0])
    return owner.framework if owner else None


def _symbol_op(symbol: str, operands: int | None) -> AskedOp:
    """The op of a symbol; that of two operands where their number is not known."""
    if operands is None:
        operands = 2 if (symbol, 2) in SYMBOLS else 1
    return AskedOp(op_of_symbol(symbol, operands).name, "operator")


def _function_op(thing: Any, operands: int | None) -> AskedOp:
    """What a function says, by its name and the module it is from."""
    module = _module_name(thing)
    word = getattr(thing, "__name__", None)
    if isinstance(word, str) and callable(thing):
        is_special = word.startswith("__") and word.endswith("__")
        is_python = is_special or module in _PYTHON_MODULES
        if is_python and (found := _python_op(word.strip("_"), operands)):
            return found
        owner = _package_dialect(module.partition(".")[0])
        # aten's add.Tensor is an overload of add, and linalg_norm of the module linalg is norm.
        room = module.rpartition(".")[2].strip("_")
        tail = word.partition(".")[0].removeprefix(f"{room}_")
        if owner:
            for alias in (tail, tail.removesuffix("_")):
                if row := known_op(_aliases(owner).get(alias, alias)):
                    return AskedOp(row.name, "function", alias != tail)
            raise UsageError(f"castwise has no op for {_shown(thing)}. {_LISTED}")
    raise UsageError(
        f"an op is named by a string, a symbol or a framework's own function, not {_shown(thing)}."
    )


def _python_op(word: str, operands: int | None) -> AskedOp | None:
    """What a function of Python's own operators says: add, iadd, and_."""
    if word == "abs":
        return AskedOp("abs", "function")
    if word in _OPERATORS:
        return _symbol_op(_OPERATORS[word], 1 if word in _UNARY else 2)
    symbol = _OPERATORS.get(word[1:]) if word.startswith("i") else None
    return AskedOp(op_of_symbol(symbol, 2).name, "augmented") if symbol else None


def _module_name(thing: Any) -> str:
    """The module a function is from; a method's is that of its class."""
    places = (thing, getattr(thing, "__objclass__", None), type(thing))
    found = [getattr(place, "__module__", None) for place in places]
    return next((module for module in found if isinstance(module, str)), "")


def _shown(thing: Any) -> str:
    word = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if isinstance(word, str):
        return f"{_module_name(thing)}.{word}"[:80]
    return f"a {type(thing).__name__}"


def _hint(name: str, dialect: Dialect) -> str:
    """The nearest op: by another framework's name for it, by an everyday word, or by spelling."""
    word = name.rpartition(".")[2].lower()
    known = _EVERYDAY.get(word) or next(
        (found for d in map(dialect_named, dialects()) if (found := _aliases(d).get(word))), None
    )
    if known or known_op(word):
        return f" Did you mean {known or word!r}?"
    return did_you_mean(name, [*ops(), *_aliases(dialect)])


@functools.lru_cache(maxsize=256)
def _prefix_dialect(prefix: str) -> Dialect | None:
    """The dialect whose framework has a prefix, such as np or torch.nn.functional."""
    owners = (d for d in map(dialect_named, dialects()) if prefix in d.naming.prefixes.split())
    return next(owners, None)


@functools.lru_cache(maxsize=256)
def _package_dialect(root: str) -> Dialect | None:
    """The dialect whose framework has the package of this name."""
    for found in map(dialect_named, dialects()):
        if root in (found.framework, *found.naming.names.split()):
            return found
    return None


@functools.lru_cache(maxsize=256)
def _aliases(dialect: Dialect) -> dict[str, str]:
    return {
        alias: name for name, words in dialect.naming.aliases.items() for alias in words.split()
    }


CACHE_SIZE = 1 << 16
_FORMS = ("function", "operator", "augmented")  # in place and out= have their own arguments
_answers: dict[object, Decision | Refused] = {}


class Refused(NamedTuple):
    """A refusal as it is cached."""

    question: Question
    refusal: Refusal


def resolve(
    name: Any,
    *operands: Any,
    dialect: str | Dialect | None = None,
    form: str | None = None,
    inplace: bool = False,
    out: object = None,
    alpha: Scalar | None = None,
    **named: Any,
) -> Decision:
    """What an op does with these operands in a dialect: dtypes, casts, hazards.

    The op is a name, a symbol such as "+", or a framework's own function such as `np.add`. Operands
    are notation, live arrays of any framework, Python numbers or Operands. None is an undefined
    operand, which is ignored. Some operands have names: min and max of clamp. `form` is "operator",
    "function" or "augmented" (`x += y`), which some frameworks answer differently. The default is
    the operator where there is one; a function, or its name "np.add", asks about itself. `inplace`
    means the method, such as x.add_(y), or `x += y` where a framework has no such method. `out` is
    the dtype of out=, `alpha` the factor of add and sub. The other named arguments count as they do
    in the framework: dtype, casting, where, initial, rounding_mode, value, delta. The call is
    refused where the framework's op does not take them.

    >>> resolve("add", "int32[3]", 5.5, dialect="torch").result
    float32
    >>> resolve("add", "int32[3]", 5.5, dialect="jax", form="augmented").result
    float32
    >>> resolve("sum", "int8[3]", dtype="int8", dialect="torch").result
    int8

    Raises PromotionError where the dialect refuses, UsageError where the question makes no sense.
    """
    if alpha is not None:
        named["alpha"] = alpha
    return answer(
        question_about(
            name, *operands, dialect=dialect, form=form, inplace=inplace, out=out, **named
        )
    )


def question_about(
    name: Any,
    *operands: Any,
    dialect: str | Dialect | None = None,
    form: str | None = None,
    inplace: bool = False,
    out: object = None,
    **named: Any,
) -> Question:
    """The question that resolve answers, with every part looked up."""
    arrays = [*operands, *named.values()]
    chosen, because = dialect_chosen(dialect, arrays, function_framework(name))
    asked = asked_op(name, len(operands))
    row = find_op(asked.name, chosen)
    is_named = any(given is not None for given in (out, *named.values()))
    form = asked_form(row, asked.form if form is None else form, is_named=is_named)
    inplace = inplace or asked.inplace
    if form not in _FORMS:
        raise UsageError(
            f"form is 'function', 'operator' or 'augmented', not {str(form)[:40]!r}. In place and"
            " out= have their own arguments: inplace=True, out='float32'."
        )
    plain, named_too = taken_out(row.call.between, operands, named)
    seen = [None if o is None else _seen(o, chosen) for o in plain]
    given, others = row.arranged(seen, named_too)
    alpha = others.pop("alpha", None)
    if form == "augmented":
        check_augmented(row, len(given), {"inplace": inplace, "out": out, "alpha": alpha})
    by_name = named_arguments(row, others)
    _check_named(row, others)
    target = None if out is None else to_dtype(out)
    factor = None if alpha is None else to_number(alpha)
    described = tuple(map(_to_operand, given))
    return Question(row, described, chosen, form, bool(inplace), target, factor, by_name, because)


def named_arguments(row: Op, given: dict[str, Any]) -> Named:
    """The named arguments of a call that the dtypes depend on; they are removed from `given`."""
    if not given or row.family == "conversion":
        return NOTHING
    taken = {n: given.pop(n) for n in (*_OF_ANY_OP, *row.call.takes) if n in given}
    found = {name: _read(name, thing) for name, thing in taken.items() if thing is not None}
    return Named(**found) if found else NOTHING


_OF_ANY_OP = ("dtype", "casting", "where", "initial")


def _read(name: str, thing: Any) -> Any:
    """What is given by a name, looked up."""
    if name == "dtype":
        return to_dtype(thing)
    if name in ("where", "initial"):
        return _to_operand(thing)
    if name in ("value", "delta"):
        return to_number(thing, name)
    if not isinstance(thing, str):
        raise UsageError(f"{name} is a word, not a {type(thing).__name__}.")
    return thing


def _seen(thing: Any, dialect: Dialect) -> Operand:
    """An operand. A live NumPy array is NumPy's own in NumPy's dialects, not a guest."""
    found = _to_operand(thing)
    is_own = found.is_numpy and dialect.framework == GUEST and not isinstance(thing, (str, Operand))
    return plain_array(found) if is_own else found


def _to_operand(thing: Any) -> Operand:
    """The Operand of a live object or dtype, of notation, or of None for an undefined operand."""
    if type(thing) is Operand:
        return thing
    return UNDEFINED if thing is None else describe_or_dtype(thing)


def check_augmented(row: Op, count: int, others: Mapping[str, Any]) -> None:
    """Raises UsageError where the op has no `x += y`, where there are more or fewer than two
    operands, or where an argument is given that an operator does not take."""
    if not row.augments:
        raise UsageError(f"{row.name} has no operator such as +=: use inplace=True.")
    if count != 2:
        raise UsageError(f"x {row.symbol}= y has two operands, not {count}.")
    for name, value in others.items():
        if value is not None and value is not False:
            raise UsageError(f"x {row.symbol}= y takes no {name}=: leave out either it or form=.")


def _check_named(row: Op, others: dict[str, Any]) -> None:
    """Raises UsageError for what an op does not take by name."""
    known = (*row.call.operands, *row.call.parameters)
    for name in others:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"{row.name} takes no {name[:40]}= in a question of dtypes.{hint}")


def to_number(alpha: Any, name: str = "alpha") -> Scalar:
    """The Python number of an alpha or a similar argument, which may be a NumPy scalar."""
    try:
        value = None if isinstance(alpha, str) else describe(alpha).value
    except UsageError:
        raise UsageError(f"{name} is a number, not a {type(alpha).__name__}.") from None
    if value is None:
        raise UsageError(f"{name} is a number, not {str(alpha)[:40]!r}.")
    return value


def question_in(text: str, dialect: str | Dialect | None = None) -> Question:
    """The question of a call or an operator expression, such as "int32[3] + 5.5".

    A name that ends in _ is a method that writes in place: "add_(int32[3], 5)".

    Raises UsageError where it is no expression, or one of several ops.
    """
    chosen = to_dialect(dialect)
    parsed = parse_expression(text)
    operands = tuple([o for o in parsed.operands if isinstance(o, Operand)])
    if parsed.is_nested:
        raise UsageError(
            f"cannot read {text[:80]!r} as one op with its operands: `explain` takes several."
        )
    return question_for(parsed, operands, dict(parsed.named), chosen)


def question_for(
    parsed: Expression, operands: tuple[Operand, ...], named: dict[str, Any], dialect: Dialect
) -> Question:
    """The question of a parsed op with these operands and named arguments."""
    if parsed.symbol:
        row = op_of_symbol(parsed.symbol, len(operands))
        form = "augmented" if parsed.is_augmented else "operator"
        return Question(row, operands, dialect, form)
    given: dict[str, Any] = {
        name: value.value if isinstance(value, Operand) and value.is_scalar else value
        for name, value in named.items()
    }
    return question_about(parsed.op or "", *operands, dialect=dialect, form="function", **given)


def answer(question: Question) -> Decision:
    """The decision, from the cache where a question with the same key was asked before."""
    found = _answers.get(question.key)
    if found is None:
        found = _decide(question)
        if len(_answers) >= CACHE_SIZE:
            _answers.clear()
        _answers[question.key] = found
    elif isinstance(found, Decision):
        # The key leaves out what no rule depends on, such as a shape or a digit; the text does not.
        return found.about(question)
    elif found.question.operands != question.operands:  # the message names the operands
        found = _decide(question)
    if isinstance(found, Refused):
        raise found.refusal.as_error(question)
    return found


def _decide(question: Question) -> Decision | Refused:
    try:
        return decide(question)
    except Refusal as refusal:
        return Refused(question, refusal.with_traceback(None))


# The dtype questions every framework has functions for: result_type, promote_types, can_cast.

_RESULT_TYPE = op("result_type")
_PROMOTE_TYPES = op("promote_types")
# The answers for two live arrays, by dialect and dtypes. An entry is the answer or, where that
# depends on which arrays are 0-d, a list of four: for neither, the first, the second and both.
# Where several frameworks share the dtype objects, it is a dict of these by the arrays' types.
# Where the arrays chose the dialect, each of these is by their framework's mode, if it has modes.
_known: dict[object, Any] = {}
when_default_changes(_known.clear)
_current = chosen_dialect.get
_NOTHING = object()


class _ByMode(NamedTuple):
    """Answers in the dialect of the arrays, whose framework may change its mode at any time."""

    framework: str
    answers: dict[str, Any]


def result_type(
    a: Any = _NOTHING, b: Any = _NOTHING, *more: Any, dialect: str | Dialect | None = None
) -> DType:
    """The dtype the framework's own result_type answers, for arrays, scalars or notation.

    >>> result_type("int8[3]", "uint8[3]", dialect="numpy")
    int16

    Raises PromotionError where the dialect has no answer.
    """
    try:
        found = _known[_current() if dialect is None else dialect, a.dtype, b.dtype, more]
        if type(found) is dict:
            found = found[type(a), type(b)]
        if type(found) is _ByMode:
            found = found.answers[loaded_mode(found.framework)]
        if type(found) is DType:
            return found
        known = found[0] if a.ndim and b.ndim else found[(not a.ndim) + 2 * (not b.ndim)]
        if known is not None:
            return known  # type: ignore[no-any-return]
    except (AttributeError, KeyError, TypeError):
        pass
    operands = tuple([x for x in (a, b, *more) if x is not _NOTHING])
    return _asked(operands, _current() if dialect is None else dialect)


def _asked(operands: tuple[Any, ...], chosen: str | Dialect | None) -> DType:
    """The answer from the engine; that for two live arrays is cached."""
    dialect, because = dialect_chosen(chosen, operands)
    described = tuple([_to_operand(operand) for operand in operands])
    result = answer(Question(_RESULT_TYPE, described, dialect, because=because)).result
    if len(operands) == 2 and all(map(is_plain_array, operands)):
        a, b = operands
        if len(_known) >= CACHE_SIZE:
            _known.clear()
        is_by_value = op_plan(_RESULT_TYPE, dialect, "function").scalars == "by value"
        place: dict[Any, Any] = _known
        key: object = (chosen, a.dtype, b.dtype, ())
        if not (has_own_dtypes(a) and has_own_dtypes(b)):
            place, key = _known.setdefault(key, {}), (type(a), type(b))
        if because and has_modes(dialect.framework):
            by_mode = place.setdefault(key, _ByMode(dialect.framework, {}))
            place, key = by_mode.answers, loaded_mode(dialect.framework)
        if not is_by_value and _is_same_at_every_rank(described, dialect, result):
            place[key] = result
        elif not is_by_value or (a.ndim and b.ndim):
            place.setdefault(key, [None] * 4)[(not a.ndim) + 2 * (not b.ndim)] = result
    return result


def _is_same_at_every_rank(arrays: tuple[Operand, ...], dialect: Dialect, result: DType) -> bool:
    """Whether the answer stays the same when either array is 0-d."""
    ranked = [
        [array_operand(o.dtype, shape, is_numpy=o.is_numpy) for shape in (None, ())]
        for o in arrays
        if o.dtype
    ]
    try:
        return all(
            answer(Question(_RESULT_TYPE, asked, dialect)).result is result
            for asked in itertools.product(*ranked)
        )
    except PromotionError:
        return False


def promote_types(*dtypes: Any, dialect: str | Dialect | None = None) -> DType:
    """The common dtype of some dtypes, without regard to roles.

    >>> promote_types("int8", "uint8")
    int16

    Raises PromotionError where the dialect has none.
    """
    arrays = tuple([array_operand(to_dtype(d)) for d in dtypes])
    chosen, because = dialect_chosen(dialect, dtypes)
    return answer(Question(_PROMOTE_TYPES, arrays, chosen, because=because)).result


def can_cast(source: object, target: object, *, dialect: str | Dialect | None = None) -> bool:
    """Whether the framework's own can_cast allows a cast from one dtype to another.

    >>> can_cast("float32", "int32", dialect="torch"), can_cast("int64", "uint8", dialect="torch")
    (False, True)
    """
    deciding = dialect_chosen(dialect, (source, target)).dialect
    if deciding.casts_as:
        deciding = to_dialect(deciding.casts_as)
    ends = (to_dtype(source), to_dtype(target))
    for end in ends:
        if end not in dialect_reach(deciding).bits:
            raise UsageError(f"{deciding.name} has no dtype {end}.")
    return can_become(dialect_reach(deciding), deciding.casts, *ends)
