"""The op that a name means: castwise's own, a dialect's, or a framework's with its prefix; an
operator's symbol; or a framework's function itself."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from castwise.errors import UsageError, did_you_mean
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import SYMBOLS, Op, known_op, op_of_symbol, ops
from castwise.vocab.spellings import is_prefix

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
_OF_PYTHON = ("_operator", "operator", "builtins")
# Everyday words that are no framework's name of an op.
_EVERYDAY = {
    "plus": "add", "minus": "sub", "times": "mul", "modulo": "remainder", "average": "mean",
    "negate": "neg", "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
    "not": "logical_not", "if": "where", "select": "where", "total": "sum", "product": "prod",
    "invert": "bitwise_not", "astype": "cast", "to": "cast", "exponential": "exp", "ln": "log",
}  # fmt: skip


class Spoken(NamedTuple):
    """An op as it was asked for: its name, and the form that was asked about, if any."""

    name: str
    form: str | None = None
    inplace: bool = False


def spoken(name: Any, operands: int | None = None) -> Spoken:
    """What a name, a symbol or a function says; `operands` tells `-x` from `x - y`.

    >>> spoken("-", 1)
    Spoken(name='neg', form='operator', inplace=False)

    Raises UsageError for an object that is no function of a known framework.
    """
    if not isinstance(name, str):
        return _of_function(name, operands)
    if name.endswith("_") and not name.startswith("__") and not known_op(name):
        return Spoken(name.removesuffix("_"), None, True)
    if name.endswith("="):
        symbol = name.removesuffix("=")
        if symbol in _WRITTEN and name not in _WRITTEN:
            return Spoken(op_of_symbol(symbol, 2).name, "augmented")
    return _of_symbol(name, operands) if name in _WRITTEN else Spoken(name)


def find_op(name: Any, dialect: Dialect) -> Op:
    """The op of a name: the dialect's, castwise's own, or a framework's with its prefix. A symbol
    such as `+` and a function such as `operator.add` name one, too.

    >>> find_op("np.arctan2", dialect_named("torch")).name
    'atan2'

    Raises UsageError for an unknown name.
    """
    if not isinstance(name, str):
        name = spoken(name).name
    row = known_op(_aliases(dialect).get(name, name))
    if row:
        return row
    if name in _WRITTEN:
        name = _of_symbol(name, None).name
    prefix, _, tail = name.rpartition(".")
    is_own = not prefix or prefix in dialect.naming.prefixes.split()
    owner = dialect if is_own else _dialect_of_prefix(prefix)
    alias = _aliases(owner).get(tail) if owner else None
    wanted = alias or (tail if owner or is_prefix(prefix) else name)
    row = known_op(wanted)
    if row is None:
        raise UsageError(f"unknown op {wanted[:64]!r}.{_hint(wanted, dialect)} {_LISTED}")
    return row


def framework_of_function(name: Any) -> str | None:
    """The framework that a function is from; None for a name, a symbol or a function of Python."""
    if isinstance(name, str):
        return None
    owner = _dialect_of_root(_module_of(name).partition(".")[0])
    return owner.framework if owner else None


def _of_symbol(symbol: str, operands: int | None) -> Spoken:
    """The op of a symbol; that of two operands where their number is not known."""
    if operands is None:
        operands = 2 if (symbol, 2) in SYMBOLS else 1
    return Spoken(op_of_symbol(symbol, operands).name, "operator")


def _of_function(thing: Any, operands: int | None) -> Spoken:
    """What a function says, by its name and the module it is from."""
    module = _module_of(thing)
    word = getattr(thing, "__name__", None)
    if isinstance(word, str) and callable(thing):
        is_special = word.startswith("__") and word.endswith("__")
        if is_special or module in _OF_PYTHON:
            found = _of_python(word.strip("_"), operands)
            if found:
                return found
        owner = _dialect_of_root(module.partition(".")[0])
        # aten's add.Tensor is an overload of add, and linalg_norm of the module linalg is norm.
        room = module.rpartition(".")[2].strip("_")
        tail = word.partition(".")[0].removeprefix(f"{room}_")
        if owner:
            for said in (tail, tail.removesuffix("_")):
                row = known_op(_aliases(owner).get(said, said))
                if row:
                    return Spoken(row.name, "function", said != tail)
            raise UsageError(f"castwise has no op for {_shown(thing)}. {_LISTED}")
    raise UsageError(
        f"an op is named by a string, a symbol or a framework's own function, not {_shown(thing)}."
    )


def _of_python(word: str, operands: int | None) -> Spoken | None:
    """What a function of Python's own operators says: add, iadd, and_."""
    if word == "abs":
        return Spoken("abs", "function")
    if word in _OPERATORS:
        is_unary = word in _UNARY
        return _of_symbol(_OPERATORS[word], 1 if is_unary else 2)
    symbol = _OPERATORS.get(word[1:]) if word.startswith("i") else None
    return Spoken(op_of_symbol(symbol, 2).name, "augmented") if symbol else None


def _module_of(thing: Any) -> str:
    """The module a function is from; a method's is that of its class."""
    places = (thing, getattr(thing, "__objclass__", None), type(thing))
    found = [getattr(place, "__module__", None) for place in places]
    return next((module for module in found if isinstance(module, str)), "")


def _shown(thing: Any) -> str:
    word = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if isinstance(word, str):
        return f"{_module_of(thing)}.{word}"[:80]
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
def _dialect_of_prefix(prefix: str) -> Dialect | None:
    """The dialect whose framework has a prefix, such as np or torch.nn.functional."""
    return next(
        (d for d in map(dialect_named, dialects()) if prefix in d.naming.prefixes.split()), None
    )


@functools.lru_cache(maxsize=256)
def _dialect_of_root(root: str) -> Dialect | None:
    """The dialect whose framework has the package of this name."""
    return next(
        (
            d
            for d in map(dialect_named, dialects())
            if root in (d.framework, *d.naming.names.split())
        ),
        None,
    )


@functools.lru_cache(maxsize=256)
def _aliases(dialect: Dialect) -> dict[str, str]:
    return {
        alias: name for name, words in dialect.naming.aliases.items() for alias in words.split()
    }
