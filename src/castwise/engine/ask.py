"""What users call: live objects or notation in, a cached Decision out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from castwise.engine.chosen import dialect_chosen
from castwise.engine.decide import decide
from castwise.engine.decision import NOTHING, Decision, Named, Question, Refusal
from castwise.engine.op_names import find_op, framework_of_function, spoken
from castwise.errors import UsageError, did_you_mean
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.call_data import taken_out
from castwise.vocab.describing import describe, describe_or_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.expressions import Expression, parse_expression
from castwise.vocab.live import GUEST, to_dtype
from castwise.vocab.operands import UNDEFINED, Operand, Scalar, plain_array
from castwise.vocab.ops import Op, op_of_symbol
from castwise.vocab.spellings import make_known

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
    the operator where there is one; a function asks about itself. `inplace` means the method, such
    as x.add_(y), or `x += y` where a framework has no such method. `out` is the dtype of out=,
    `alpha` the factor of add and sub. The other named arguments count as they do in the framework:
    dtype, casting, where, initial, rounding_mode, value, delta. The call is refused where the
    framework's op does not take them.

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
        question_of(name, *operands, dialect=dialect, form=form, inplace=inplace, out=out, **named)
    )


def question_of(
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
    chosen, because = dialect_chosen(dialect, arrays, framework_of_function(name))
    said = spoken(name, len(operands))
    row = find_op(said.name, chosen)
    form = said.form if form is None else form
    inplace = inplace or said.inplace
    if form is None:  # an operator takes no arguments by name
        is_operator = row.symbol and all(given is None for given in (out, *named.values()))
        form = "operator" if is_operator else "function"
    elif form not in _FORMS:
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
    by_name = named_of(row, others)
    _check_named(row, others)
    target = None if out is None else to_dtype(out)
    factor = None if alpha is None else factor_of(alpha)
    described = tuple(map(operand_of, given))
    return Question(row, described, chosen, form, bool(inplace), target, factor, by_name, because)


def named_of(row: Op, given: dict[str, Any]) -> Named:
    """The named arguments of a call that the dtypes depend on; they are removed from `given`."""
    readers = {
        name: read for name, read in _READERS.items() if name in (*_OF_ANY_OP, *row.call.takes)
    }
    if row.family == "conversion" or readers.keys().isdisjoint(given):
        return NOTHING
    by_name = {name: given.pop(name) for name in readers if name in given}
    found = {
        name: readers[name](name, thing) for name, thing in by_name.items() if thing is not None
    }
    return Named(**found) if found else NOTHING


def _dtype(name: str, thing: Any) -> DType:
    return to_dtype(thing)


def _word(name: str, thing: Any) -> str:
    if not isinstance(thing, str):
        raise UsageError(f"{name} is a word, not a {type(thing).__name__}.")
    return thing


def _operand(name: str, thing: Any) -> Operand:
    return operand_of(thing)


def _number(name: str, thing: Any) -> Scalar:
    return factor_of(thing, name)


_OF_ANY_OP = ("dtype", "casting", "where", "initial")
_READERS: dict[str, Callable[[str, Any], Any]] = {
    "dtype": _dtype,
    "casting": _word,
    "where": _operand,
    "initial": _operand,
    "rounding_mode": _word,
    "value": _number,
    "delta": _number,
}


def _seen(thing: Any, dialect: Dialect) -> Operand:
    """An operand. A live NumPy array is NumPy's own in NumPy's dialects, not a guest."""
    found = operand_of(thing)
    is_own = found.is_numpy and dialect.framework == GUEST and not isinstance(thing, (str, Operand))
    return plain_array(found) if is_own else found


def operand_of(thing: Any) -> Operand:
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


def factor_of(alpha: Any, name: str = "alpha") -> Scalar:
    """The Python number of an alpha or a similar argument, which may be a NumPy scalar."""
    value = None if isinstance(alpha, str) else _described(alpha, name).value
    if value is None:
        raise UsageError(f"{name} is a number, not {str(alpha)[:40]!r}.")
    return value


def _described(alpha: Any, name: str) -> Operand:
    try:
        return describe(alpha)
    except UsageError:
        raise UsageError(f"{name} is a number, not a {type(alpha).__name__}.") from None


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
    return question_of(parsed.op or "", *operands, dialect=dialect, form="function", **given)


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
        decision = decide(question)
        make_known(decision.result.name)
        return decision
    except Refusal as refusal:
        return Refused(question, refusal.with_traceback(None))
