"""What users call: live objects or notation in, a cached Decision out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from castwise.engine.decide import decide
from castwise.engine.decision import NOTHING, Decision, Named, Question, Refusal
from castwise.errors import UsageError, did_you_mean
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.call_data import taken_out
from castwise.vocab.describing import describe, describe_or_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.live import is_prefix, to_dtype
from castwise.vocab.notation import parse_expression
from castwise.vocab.operands import UNDEFINED, Operand, Scalar
from castwise.vocab.ops import Op, known_op, op, op_of_symbol

CACHE_SIZE = 1 << 16
_FORMS = ("function", "operator", "augmented")  # in place and out= have their own arguments
_answers: dict[object, Decision | Refused] = {}


class Refused(NamedTuple):
    """A refusal as it is cached."""

    question: Question
    refusal: Refusal


def resolve(
    name: str,
    *operands: Any,
    dialect: str | Dialect | None = None,
    form: str | None = None,
    inplace: bool = False,
    out: object = None,
    alpha: Scalar | None = None,
    **named: Any,
) -> Decision:
    """What an op does with these operands in a dialect: dtypes, casts, hazards.

    Operands are notation, live arrays of any framework, Python numbers or Operands. None is an
    undefined operand, which is ignored. Some operands have names: min and max of clamp. `form` is
    "operator", "function" or "augmented" (`x += y`), which some frameworks answer differently. The
    default is the operator where there is one. `inplace` means the method, such as x.add_(y), or
    `x += y` where a framework has no such method. `out` is the dtype of out=, `alpha` the factor of
    add and sub. The other named arguments count as they do in the framework: dtype, casting, where,
    initial, rounding_mode, value, delta. The call is refused where the framework's op does not take
    them.

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
    name: str,
    *operands: Any,
    dialect: str | Dialect | None = None,
    form: str | None = None,
    inplace: bool = False,
    out: object = None,
    **named: Any,
) -> Question:
    """The question that resolve answers, with every part looked up."""
    chosen = to_dialect(dialect)
    row = find_op(name, chosen)
    if form is None:
        form = "operator" if row.symbol else "function"
    elif form not in _FORMS:
        raise UsageError(
            f"form is 'function', 'operator' or 'augmented', not {str(form)[:40]!r}. In place and"
            " out= have their own arguments: inplace=True, out='float32'."
        )
    plain, named_too = taken_out(row.call.between, operands, named)
    seen = [None if o is None else operand_of(o) for o in plain]
    given, others = row.arranged(seen, named_too)
    alpha = others.pop("alpha", None)
    if form == "augmented":
        check_augmented(row, len(given), {"inplace": inplace, "out": out, "alpha": alpha})
    by_name = named_of(row, others)
    _check_named(row, others)
    target = None if out is None else to_dtype(out)
    factor = None if alpha is None else factor_of(alpha)
    described = tuple(map(operand_of, given))
    return Question(row, described, chosen, form, bool(inplace), target, factor, by_name)


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
    value = None if isinstance(alpha, (str, DType)) else _described(alpha, name).value
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
    """
    chosen = to_dialect(dialect)
    parsed = parse_expression(text)
    if parsed.symbol:
        row = op_of_symbol(parsed.symbol, len(parsed.operands))
        form = "augmented" if parsed.is_augmented else "operator"
        return Question(row, parsed.operands, chosen, form)
    name = parsed.op or ""
    is_method = name.endswith("_") and not known_op(name)
    return question_of(
        name.removesuffix("_") if is_method else name,
        *parsed.operands,
        dialect=chosen,
        form="function",
        inplace=is_method,
    )


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


def find_op(name: str, dialect: Dialect) -> Op:
    """The op of a name: the dialect's, castwise's own, or a framework's with its prefix.

    >>> find_op("np.arctan2", dialect_named("torch")).name
    'atan2'

    Raises UsageError for an unknown name.
    """
    if not isinstance(name, str):
        raise UsageError(f"an op is named by a string, not a {type(name).__name__}.")
    row = known_op(_aliases(dialect).get(name, name))
    if row:
        return row
    prefix, _, tail = name.rpartition(".")
    owner = _dialect_of_prefix(prefix) if prefix else dialect
    alias = _aliases(owner).get(tail) if owner else None
    return op(alias or (tail if owner or is_prefix(prefix) else name))


@functools.lru_cache(maxsize=256)
def _dialect_of_prefix(prefix: str) -> Dialect | None:
    """The dialect whose framework has a prefix, such as np or torch.nn.functional."""
    return next(
        (d for d in map(dialect_named, dialects()) if prefix in d.naming.prefixes.split()), None
    )


@functools.lru_cache(maxsize=256)
def _aliases(dialect: Dialect) -> dict[str, str]:
    return {
        alias: name for name, words in dialect.naming.aliases.items() for alias in words.split()
    }
