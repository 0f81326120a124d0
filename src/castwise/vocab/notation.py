"""The text notation of operands, expressions and recorded answers, parsed and never guessed."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import read_live, spelled_dtype, to_dtype
from castwise.vocab.operands import (
    MOST_NESTED,
    UNDEFINED,
    Operand,
    Scalar,
    array_operand,
    list_operand,
    numpy_scalar_operand,
    scalar_operand,
)
from castwise.vocab.spellings import is_live_dtype

# Operands: `int32[3]`, `np.float64(1.5)`, `5`, `[1, 2.5]`.

_NUMBER = r"(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)"
_LITERAL = rf"True|False|[+-]?{_NUMBER}(?:j|[+-]{_NUMBER}j)?(?![\w.])"
_ARRAY = (
    r"(?P<name>[A-Za-z_][\w.]*)"
    r"(?P<weak>\*(?=[=\[]))?"
    rf"(?:\((?P<scalar>{_LITERAL})\)|(?:=(?P<value>{_LITERAL}))?(?:\[(?P<dims>[^\[\]]*)\])?)"
)
_KINDS = {"i*": 1, "f*": 1.0, "c*": 1j}  # Python's numbers, where only their kind counts
_OPERAND = re.compile(
    rf"(?P<literal>{_LITERAL})|\((?P<braced>{_LITERAL})\)|(?P<kind>[ifc]\*)(?![\w*=\[])|{_ARRAY}",
    re.ASCII,
)
_DIM = re.compile(r"\d{1,18}|[A-Za-z_]\w*", re.ASCII)
_MAX_LENGTH = 4096

_FORMS = (
    "int32[3], int32[], np.int32[3], np.float64(1.5), int64=300[], int32*[3], int8, 5, 5.5, 1+2j, "
    "[1, 2.5]"
)


@functools.lru_cache(maxsize=65536)
def parse_operand(text: str) -> Operand:
    """The operand a piece of notation names.

    >>> parse_operand("int32*[n,3]").is_weak
    True

    Raises UsageError where the text is not notation.
    """
    stripped = text.strip()
    if len(text) <= _MAX_LENGTH:
        if stripped.startswith("[") and _list_end(stripped) == len(stripped):
            return list_operand(_items(stripped))
        if match := _OPERAND.fullmatch(stripped):
            return _read_operand(match)
    raise UsageError(f"cannot read {text[:80]!r} as an operand. Write one of: {_FORMS}.")


def _list_end(text: str) -> int:
    """Where the list ends that a text begins with; 0 where its brackets do not close."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            return place + 1
    return 0


def _items(text: str, depth: int = 1) -> list[object]:
    """The numbers and lists between the brackets of a list."""
    if depth > MOST_NESTED:
        raise UsageError(f"a list is nested no deeper than {MOST_NESTED} times.")
    return [_item(part.strip(), depth) for part in split_arguments(text[1:-1])]


def _item(text: str, depth: int) -> object:
    if text.startswith("[") and _list_end(text) == len(text):
        return _items(text, depth + 1)
    if not re.fullmatch(_LITERAL, text):
        raise UsageError(f"a list holds Python numbers and lists of them, not {text[:40]!r}.")
    return parse_scalar(text)


def parse_scalar(text: str) -> Scalar:
    """The Python number a literal names.

    >>> parse_scalar("infj")
    infj
    """
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    if text in ("True", "False"):
        return text == "True"
    try:
        if text.endswith("j"):
            return complex(text)
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise UsageError(f"cannot read {text[:40]!r}... as a number.") from None


def _read_operand(match: re.Match[str]) -> Operand:
    """The operand of a match.

    Raises UsageError where its dtype, shape or value makes no sense.
    """
    literal = match["literal"] or match["braced"]
    if literal:
        return scalar_operand(parse_scalar(literal))
    if match[0] == "None":
        return UNDEFINED
    if match["kind"]:
        return scalar_operand(_KINDS[match["kind"]])
    is_numpy, found = _is_numpy(match["name"]), spelled_dtype(match["name"])
    if match["scalar"]:
        if not is_numpy:
            raise UsageError(f"write np.{found}({match['scalar']}) for a NumPy scalar.")
        return numpy_scalar_operand(found, parse_scalar(match["scalar"]))
    shape = None if match["dims"] is None else _shape(match["dims"])
    value = None if match["value"] is None else parse_scalar(match["value"])
    if value is not None and shape != ():
        raise UsageError(f"only a 0-d array can show its value: {found}={match['value']}[].")
    if match["weak"] and is_numpy:
        raise UsageError("a NumPy array is never weakly typed.")
    return array_operand(found, shape, value=value, is_weak=bool(match["weak"]), is_numpy=is_numpy)


def _is_numpy(name: str) -> bool:
    """Whether the name of a dtype is marked as NumPy's."""
    return name.startswith(("np.", "numpy."))


def _shape(dims: str) -> tuple[int | str, ...]:
    parts = [part.strip() for part in dims.split(",")] if dims.strip() else []
    for part in parts:
        if not _DIM.fullmatch(part):
            raise UsageError(f"{part!r} is not a size: write a number or a name, as in [n,3].")
    return tuple(int(part) if part.isdigit() else part for part in parts)


def split_arguments(args: str) -> list[str]:
    """The arguments between the commas outside brackets."""
    parts, depth = [""], 0
    for char in args:
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts if args.strip() else []


# The operand for anything a user may pass: a live array, a number, a list, notation.


def describe(thing: Any) -> Operand:
    """The operand a live object is: an array of any framework, a scalar, a list of numbers,
    notation or an Operand.

    >>> describe(5.5).role.value
    'Python scalar'

    Raises UsageError for anything else, a ragged list or a set included.
    """
    if isinstance(thing, Operand):
        return thing
    if isinstance(thing, DType):
        return array_operand(thing)
    if isinstance(thing, str):
        return parse_operand(thing)
    kind = type(thing)
    if kind in (bool, int, float, complex):
        return scalar_operand(thing)
    if kind in (list, tuple):
        return list_operand(thing)
    if (found := read_live(thing)) is not None:
        return found
    if isinstance(thing, (bool, int, float, complex)):
        return scalar_operand(thing)
    article = "an" if kind.__name__[0] in "aeiouAEIOU" else "a"
    raise UsageError(
        f"cannot describe {article} {kind.__name__}. Pass an array, a Python or NumPy scalar, "
        "a list of numbers, or notation such as 'int32[3]'."
    )


def describe_or_dtype(thing: Any) -> Operand:
    """As describe, but a live dtype or a type of NumPy scalars counts as an array of its dtype, as
    it does in NumPy's result_type(np.int8, 200).

    Raises UsageError for anything else.
    """
    return array_operand(to_dtype(thing)) if is_live_dtype(thing) else describe(thing)


# Expressions in text: calls, methods and operators, nested as Python nests them.

MOST_OPS = 64  # and as many brackets in brackets
_BINARY = re.compile(r"\s*(?:(==|!=|<=|>=|<(?!<)|>(?!>))|(\*\*|//|<<|>>|[-+*/%@&|^])(=?))\s*")
_UNARY = re.compile(r"[-+~]\s*")
_POWER = re.compile(r"\s*\*\*(?!=)\s*")
_SPACE = re.compile(r"\s*")
_CALLED = re.compile(r"([A-Za-z_][\w.]*)\(", re.ASCII)
_METHOD = re.compile(r"\.([A-Za-z_]\w*)\(", re.ASCII)
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*", re.ASCII)
_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"|([\w.]+)", re.ASCII)
_NOT_GIVEN = ("dialect", "form", "inplace", "name")  # parts of a question, not of a call
_WORDS = ("dtype", "out", "casting", "rounding_mode")  # the arguments that are given as a word
# From the loosest to the tightest; ** and the unary operators are tighter than all of these.
_LEVELS = ("== != <= >= < >", "|", "^", "&", "<< >>", "+ -", "* / // % @")
_TIGHTNESS = {symbol: level for level, symbols in enumerate(_LEVELS) for symbol in symbols.split()}


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed call, method or operator; `symbol` is set for the operator form."""

    op: str | None
    symbol: str | None
    operands: tuple[Argument, ...]
    is_augmented: bool = False  # `x += y`
    is_method: bool = False  # x.add(y)
    named: tuple[tuple[str, Argument | str], ...] = ()  # dtype=int8

    @property
    def is_nested(self) -> bool:
        """Whether an operand is the result of another op."""
        given = (*self.operands, *[value for _, value in self.named])
        return any(isinstance(operand, Expression) for operand in given)


Argument: TypeAlias = "Operand | Expression"


def parse_expression(text: str) -> Expression:
    """A call such as `add(int32[3], 5.5)` or an operator expression such as `int32[3] + 5.5`. They
    may be nested: `(int8[3] + 1).mean() * 2`.

    Raises UsageError where the text is neither.
    """
    if len(text) > _MAX_LENGTH:
        raise UsageError(f"an expression of {len(text)} characters is too long.")
    return _Parser(text).expression()


def _names_dtype(name: str) -> bool:
    """Whether a name is that of a dtype, as any framework spells it."""
    try:
        spelled_dtype(name)
    except UsageError:
        return False
    return True


class _Parser:
    """Reads one text from left to right. Operators bind as they do in Python."""

    def __init__(self, text: str) -> None:
        self._text, self._place, self._count, self._depth = text, 0, 0, 0
        self._skip(_SPACE)

    def expression(self) -> Expression:
        """The whole text."""
        alone = _OPERAND.match(self._text, self._place)
        if alone and not alone["scalar"] and not self._text[alone.end() :].strip():
            raise self._unclear()
        found = self._binary()
        augmented = _BINARY.match(self._text, self._place)
        if augmented and augmented[3] and isinstance(found, Operand):
            self._place = augmented.end()
            made = Expression(None, augmented[2], (found, self._binary()), is_augmented=True)
            found = self._counted(made)
        self._skip(_SPACE)
        if not isinstance(found, Expression) or self._place < len(self._text):
            raise self._unclear()
        return found

    def _binary(self, loosest: int = 0) -> Argument:
        """Operands with operators at least as tight as a level between them."""
        left = self._unary()
        while True:
            match = _BINARY.match(self._text, self._place)
            symbol = (match[1] or match[2]) if match and not match[3] else None
            level = _TIGHTNESS.get(symbol, -1) if symbol else -1
            if match is None or level < loosest:
                return left
            self._place = match.end()
            left = self._counted(Expression(None, symbol, (left, self._binary(level + 1))))
            if level == 0:
                chained = _BINARY.match(self._text, self._place)
                if chained and chained[1]:
                    raise UsageError(
                        "a chain of comparisons, x < y < z, asks for the truth of an array: compare"
                        " twice, and join with &."
                    )
                return left

    def _unary(self) -> Argument:
        match = _UNARY.match(self._text, self._place)
        if not match or self._is_signed_number():
            return self._power()
        self._place = match.end()
        with self._deeper():
            return self._counted(Expression(None, match[0].rstrip(), (self._unary(),)))

    def _is_signed_number(self) -> bool:
        """Whether a number with its sign follows: -1, but not the -1 of -1 ** x."""
        match = _OPERAND.match(self._text, self._place)
        return bool(match and match["literal"] and not _POWER.match(self._text, match.end()))

    def _power(self) -> Argument:
        base = self._primary()
        while match := _METHOD.match(self._text, self._place):
            self._place = match.end()
            base = self._call(match[1], (base,), is_method=True)
        if not self._skip(_POWER):
            return base
        with self._deeper():
            return self._counted(Expression(None, "**", (base, self._unary())))

    def _primary(self) -> Argument:
        text, start = self._text, self._place
        called = _CALLED.match(text, start)
        is_numpy_scalar = called and _is_numpy(called[1]) and _names_dtype(called[1])
        if called and not is_numpy_scalar:  # np.int8(3) is an operand
            self._place = called.end()
            array, _, method = called[1].rpartition(".")
            if array and _names_dtype(array):  # a method of a bare dtype
                return self._call(method, (parse_operand(array),), is_method=True)
            return self._call(called[1], ())
        if text.startswith("[", start):
            length = _list_end(text[start:])
            self._place += length
            if not length:
                raise self._unclear()
            return parse_operand(text[start : self._place])
        if operand := _OPERAND.match(text, start):
            self._place = operand.end()
            return _read_operand(operand)
        if not text.startswith("(", start):
            raise self._unclear()
        self._place += 1
        self._skip(_SPACE)
        with self._deeper():
            inner = self._binary()
        self._expect(")")
        return inner

    def _call(self, name: str, first: tuple[Argument, ...], is_method: bool = False) -> Expression:
        """The call whose arguments begin here."""
        operands = list(first)
        named: list[tuple[str, Argument | str]] = []
        self._skip(_SPACE)
        with self._deeper():
            while not self._text.startswith(")", self._place):
                if operands[len(first) :] or named:
                    self._expect(",")
                    self._skip(_SPACE)
                keyword = _KEYWORD.match(self._text, self._place)
                if keyword and not _names_dtype(keyword[1]):
                    self._place = keyword.end()
                    if keyword[1] in (*_NOT_GIVEN, *dict(named)):
                        raise UsageError(f"{name[:40]} takes no {keyword[1]}=, or no second one.")
                    named.append((keyword[1], self._value(keyword[1])))
                elif named:
                    raise UsageError("what is given by name comes last, as in sum(x, dtype=int8).")
                else:
                    operands.append(self._binary())
                self._skip(_SPACE)
        self._expect(")")
        return self._counted(
            Expression(name, None, tuple(operands), is_method=is_method, named=tuple(named))
        )

    def _value(self, name: str) -> Argument | str:
        """What an argument that is given by name is: a word for some of them."""
        if name not in _WORDS:
            return self._binary()
        word = _WORD.match(self._text, self._place)
        if not word:
            raise self._unclear()
        self._place = word.end()
        return next(part for part in word.groups() if part is not None)

    def _counted(self, made: Expression) -> Expression:
        """The expression, unless it is one op too many."""
        self._count += 1
        if self._count > MOST_OPS:
            raise UsageError(f"an expression has at most {MOST_OPS} ops: this one is too long.")
        return made

    @contextlib.contextmanager
    def _deeper(self) -> Iterator[None]:
        """One more bracket, sign or power within another."""
        self._depth += 1
        if self._depth > MOST_OPS:
            raise UsageError(f"an expression is nested no deeper than {MOST_OPS} times.")
        yield
        self._depth -= 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self._text, self._place)
        self._place = match.end() if match else self._place
        return match is not None

    def _expect(self, char: str) -> None:
        self._skip(_SPACE)
        if not self._text.startswith(char, self._place):
            raise self._unclear()
        self._place += 1

    def _unclear(self) -> UsageError:
        rest = self._text[self._place :].strip()
        where = f" It is unclear from {rest[:40]!r} on." if rest and self._place else ""
        return UsageError(
            f"cannot read {self._text.strip()[:80]!r} as an expression.{where} "
            'Write a call, "add(int32[3], 5.5)", or operators, "int32[3] + 5.5".'
        )


# The notation of recorded answers and their forms.

# Answers that are not a dtype. The last may name the dtype that promotion chose: no-kernel:uint16.
REFUSED = "!"
OUT_OF_RANGE = "!range"
NO_KERNEL = "no-kernel"


def given_by_name(form: str) -> dict[str, str]:
    """The arguments that a form gives by name.

    >>> given_by_name("casting=unsafe,dtype=float32"), given_by_name("operator")
    ({'casting': 'unsafe', 'dtype': 'float32'}, {})
    """
    pairs = [part.partition("=") for part in form.split(",")]
    return {name: value for name, equals, value in pairs if equals}
