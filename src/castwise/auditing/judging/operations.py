"""What an observed operation is in castwise's terms: a question resolve can answer, or why not."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Any

from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.running.saved import Data, arrays_in
from castwise.engine.ask import answer, find_op
from castwise.engine.decision import NOTHING, Cast, Decision, Named, Question
from castwise.errors import CastwiseError, UsageError
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, find_dtype
from castwise.vocab.operands import (
    Operand,
    Role,
    array_operand,
    numpy_scalar_operand,
    scalar_operand,
)
from castwise.vocab.ops import ARBITRARY, Op, op_of_symbol

_EXAMPLE: dict[str, Any] = {"bool": True, "int": 1, "float": 1.5, "complex": 1j}


class NotUnderstood(Exception):  # noqa: N818 -- not an error: it is counted
    """Raised for an operation castwise has no row for, or whose operands do not show."""


class Harmless(Exception):  # noqa: N818 -- not an error: it is counted as seen
    """Raised for a call that casts nothing, or casts since it was asked to."""


def _is_held(operand: Operand) -> bool:
    """Whether an operand is an array of a dtype somebody chose."""
    return operand.role is not Role.NUMPY_SCALAR and not operand.is_weak


@dataclass(frozen=True)
class Operation:
    """An operation that was seen, with the decision its dialect takes on it."""

    event: Data
    operands: tuple[Data, ...]  # as they were seen, those that take part
    question: Question
    decision: Decision | None  # None: the dialect refuses what the framework did
    result: DType | None  # as it was seen

    @property
    def casts(self) -> tuple[Cast, ...]:
        """The casts of arrays, and of a result into the array it is written to. A weak array adapts
        to what it meets, as a Python number does."""
        if self.decision is None:
            return ()
        of_arrays = [
            cast
            for cast, operand in zip(self.decision.casts, self.question.operands, strict=True)
            if cast and operand.dtype and _is_held(operand)
        ]
        written = self.decision.result_cast
        return (*of_arrays, written) if written else tuple(of_arrays)

    @property
    def is_asked(self) -> bool:
        """Whether the call names the dtype: its casts are asked for."""
        return self.question.named.dtype is not None

    @property
    def is_expected(self) -> bool:
        """Whether the framework answered as its dialect does."""
        return self.decision is not None and self.result in (None, self.decision.result)


def understand(event: Data, site: Data, dialects: dict[str, str]) -> Operation:
    """The operation an event tells of.

    Raises Harmless or NotUnderstood where there is none.
    """
    if not event.get("dtype_given"):
        return _understood(event, site, dialects)
    asked = Harmless("a call with a dtype, whose casts are asked for")
    try:
        found = _understood(event, site, dialects)
    except NotUnderstood:
        raise asked from None
    if found.decision is None:  # castwise does not know that it takes one
        raise asked
    return found


def _understood(event: Data, site: Data, dialects: dict[str, str]) -> Operation:
    framework = framework_of(event)
    hook = find_hook(framework)
    spoken = dialects.get(framework)
    if hook is None or spoken is None:
        raise NotUnderstood(f"arrays of {framework}")
    dialect = dialect_named(spoken)
    if "callee" in event:
        row, operands, inplace, out = _call(event, hook, dialect)
        form = "function"
    else:
        row, form = _operator(site, hook)
        operands, inplace, out = event["operands"], False, None
    if any(o is None or o.get("list") for o in operands):
        raise NotUnderstood("an operand that is no array")
    if not any(o.get("dtype") for o in operands):
        raise Harmless("arrays of text, objects or records")
    described = tuple(_described(o, framework) for o in operands)
    given = _given(event)
    question = Question(row, described, dialect, form, inplace, out, named=given)
    found = Operation(event, tuple(operands), question, _decided(question), _result(event))
    for mode in () if found.is_expected else hook.modes.split():
        switched = replace(question, dialect=dialect_named(mode))
        other = replace(found, question=switched, decision=_decided(switched))
        if other.is_expected:
            return other
    return found


def _given(event: Data) -> Named:
    """What a call was given by name."""
    name = event.get("dtype")
    return Named(dtype=dtype(name)) if name else NOTHING


def framework_of(event: Data) -> str:
    """The framework that ran it: of NumPy arrays among others' it is the others'."""
    found = [o["framework"] for o in arrays_in([*event["operands"], event["result"]])]
    hosts = [name for name in found if not _is_guest(name)]
    return str(found[-1] if event["result"] else (hosts or found)[0])


def _is_guest(framework: str) -> bool:
    hook = find_hook(framework)
    return hook is not None and hook.is_guest


def _operator(site: Data, hook: Hook) -> tuple[Op, str]:
    """The op of an operator or of an augmented assignment, and its form."""
    is_augmented = site["kind"] == "augmented"
    symbol = site["name"][:-1] if is_augmented else site["name"]
    form = "augmented" if is_augmented and not hook.rebinds else "operator"
    return op_of_symbol(symbol, len(site["literals"])), form


def _call(event: Data, hook: Hook, dialect: Dialect) -> tuple[Op, list[Any], bool, DType | None]:
    own = find_hook(event["callee"]["module"])
    name = event["callee"]["name"]
    if own and own.renamed:
        name = re.sub(own.renamed, "", name)
    if event["dtype_given"] and not event.get("dtype"):
        raise Harmless(f"{name} with a dtype that is for its framework to tell")
    if find_dtype(name):
        raise Harmless(f"{name} asked for")
    is_kin = own is hook or (own is not None and _are_kin(own, hook))
    if name in _words(hook) or (own and name in (_words(own) if is_kin else own.keeps.split())):
        raise Harmless(name)
    if not is_kin:
        raise NotUnderstood(f"{event['callee']['module']}.{name}")
    row, is_inplace = _row(_likeness(hook).get(name, name), dialect)
    if not event["complete"]:
        raise NotUnderstood(f"{name} with arguments that do not show")
    operands, out = _bound(event, row, hook)
    return row, operands, is_inplace, out


@functools.cache
def _likeness(hook: Hook) -> dict[str, str]:
    """A callable's name -> the op that casts as it does."""
    return {name: op for op, names in hook.like.items() for name in names.split()}


def _are_kin(one: Hook, other: Hook) -> bool:
    return one.framework in other.kin.split() or other.framework in one.kin.split()


@functools.cache
def _words(hook: Hook) -> frozenset[str]:
    """The calls that cast nothing, or since they are asked to."""
    return frozenset(f"{hook.casts} {hook.makes} {hook.keeps}".split())


def _row(name: str, dialect: Dialect) -> tuple[Op, bool]:
    """The op of a callee's name; a name that ends in _ works in place."""
    for word, is_inplace in ((name, False), (name.rstrip("_"), True)):
        try:
            return find_op(word, dialect), is_inplace
        except UsageError:
            continue
    raise NotUnderstood(name)


def _bound(event: Data, row: Op, hook: Hook) -> tuple[list[Any], DType | None]:
    """The arguments that are operands of an op, in its order, and the dtype of out=."""
    positional, out = event["positional"], None
    places: dict[int, Any] = dict(enumerate(event["operands"][:positional]))
    for name, noted in zip(event["keywords"], event["operands"][positional:], strict=True):
        if name == "out" and noted and "dtype" in noted:
            out = dtype(noted["dtype"])
        elif name in hook.operands:
            places[hook.operands[name]] = noted
    if places.get(0) and "list" in places[0]:
        if row.arity[1] < ARBITRARY:
            raise NotUnderstood(f"{row.name} of a list")
        return places[0]["list"], out
    given = [places[place] for place in sorted(places) if place < row.arity[1]]
    while given and given[-1] is None and len(given) > row.arity[0]:
        given.pop()  # clip(x, 0, None)
    if len(given) < row.arity[0]:
        raise Harmless(row.name) if len(given) == 1 else NotUnderstood(row.name)
    return given, out


def _described(operand: Data, framework: str) -> Operand:
    low = operand["low"]
    if "python" in operand:
        return scalar_operand(_EXAMPLE[operand["python"]] if low is None else low)
    name = operand["dtype"]
    if name is None:
        raise NotUnderstood("a dtype that is out of scope")
    found = dtype(name)
    if operand["scalar"]:
        return numpy_scalar_operand(found, _EXAMPLE[found.kind] if low is None else low)
    shape = tuple(operand["shape"]) if operand["shape"] is not None else None
    if operand["zero_d"]:
        shape = ()
    is_numpy = operand["framework"] != framework
    return array_operand(found, shape, is_weak=operand["weak"], is_numpy=is_numpy, value=low)


def _decided(question: Question) -> Decision | None:
    try:
        return answer(question)
    except UsageError as error:
        raise NotUnderstood(str(error)) from None
    except CastwiseError:
        return None


def _result(event: Data) -> DType | None:
    result = event["result"]
    return dtype(result["dtype"]) if result and result["dtype"] else None
