"""The text notation of operands, parsed and never guessed."""

from __future__ import annotations

import functools
import re

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import spelled_dtype
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
MAX_LENGTH = 4096

FORMS = (
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
    if len(text) <= MAX_LENGTH:
        if stripped.startswith("[") and end_of_list(stripped) == len(stripped):
            return list_operand(_items(stripped))
        match = _OPERAND.fullmatch(stripped)
        if match:
            return read_operand(match)
    raise UsageError(f"cannot read {text[:80]!r} as an operand. Write one of: {FORMS}.")


def matched_operand(text: str, place: int) -> re.Match[str] | None:
    """The operand at a place of a text, unread; None where there is none. A list is not one."""
    return _OPERAND.match(text, place)


def end_of_list(text: str) -> int:
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
    return [_item(part.strip(), depth) for part in _split(text[1:-1])]


def _item(text: str, depth: int) -> object:
    if text.startswith("[") and end_of_list(text) == len(text):
        return _items(text, depth + 1)
    if not re.fullmatch(_LITERAL, text):
        raise UsageError(f"a list holds Python numbers and lists of them, not {text[:40]!r}.")
    return parse_scalar(text)


def is_scalar_type(name: str) -> bool:
    """Whether a call of this name makes a NumPy scalar."""
    return names_dtype(name) and _dtype(name)[0]


def names_dtype(name: str) -> bool:
    """Whether a name is that of a dtype, as any framework spells it."""
    try:
        _dtype(name)
    except UsageError:
        return False
    return True


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


def read_operand(match: re.Match[str]) -> Operand:
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
    is_numpy, found = _dtype(match["name"])
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


def _dtype(name: str) -> tuple[bool, DType]:
    """Whether the name is marked as NumPy's, and its dtype."""
    if name.startswith(("np.", "numpy.")):
        return True, spelled_dtype(name)
    return False, spelled_dtype(name)


def _shape(dims: str) -> tuple[int | str, ...]:
    parts = [part.strip() for part in dims.split(",")] if dims.strip() else []
    for part in parts:
        if not _DIM.fullmatch(part):
            raise UsageError(f"{part!r} is not a size: write a number or a name, as in [n,3].")
    return tuple(int(part) if part.isdigit() else part for part in parts)


def _split(args: str) -> list[str]:
    """The arguments between the commas outside brackets."""
    parts, depth = [""], 0
    for char in args:
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts if args.strip() else []
