"""The values of a TOML file as the fields of a dialect's records, each checked for its type."""

from __future__ import annotations

import functools
import types
import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, Union, get_args, get_origin, get_type_hints

from castwise.errors import UsageError, did_you_mean

_PLAIN: dict[type, tuple[type | tuple[type, ...], str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "text in quotes"),
}


def record_fields(record: type, given: Any, where: str) -> dict[str, Any]:
    """What is given of a record's fields, in their types.

    Raises UsageError for an unknown field or a value of another type.
    """
    hints = _hints(record)
    if not isinstance(given, dict):
        raise _wrong(where, _fields_text(where, hints), given)
    for key in given:
        if key not in hints:
            inner = _in_parts(hints, key)
            hint = f" Did you mean {inner}?" if inner else did_you_mean(key, hints)
            raise UsageError(f"{where} has no field {key[:40]!r}.{hint}")
    return {key: _typed(hints[key], value, _within(where, key)) for key, value in given.items()}


def laid_over(record: Any, given: Any, where: str) -> Any:
    """A record with the fields changed that a table gives, also in its parts.

    Raises UsageError for an unknown field or a value of another type.
    """
    kind: type = type(record)
    hints = _hints(kind)
    if not isinstance(given, dict):
        raise _wrong(where, _fields_text(where, hints), given)
    parts = [key for key in given if is_dataclass(hints.get(key))]
    plain = {key: value for key, value in given.items() if key not in parts}
    changed = record_fields(kind, plain, where)
    for key in parts:
        changed[key] = laid_over(getattr(record, key), given[key], f"{where}.{key}")
    return replace(record, **changed)


def text_of(value: Any, where: str) -> str:
    """A value that is text.

    Raises UsageError where it is not, or has control characters.
    """
    return str(_typed(str, value, where))


def _record(record: Any, given: Any, where: str) -> Any:
    """A record of a table."""
    found = record_fields(record, given, where)
    for f in fields(record):
        if f.name not in found and f.default is MISSING and f.default_factory is MISSING:
            raise UsageError(f"{where} has no {f.name}, which it needs.")
    return record(**found)


def _in_parts(hints: dict[str, Any], key: str) -> str:
    """The fields of that name in a record's parts, as text such as 'accepts.refuses'."""
    parts = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    owners = [name for name, part in parts.items() if key in [f.name for f in fields(part)]]
    return " or ".join([repr(f"{name}.{key}") for name in owners])


@functools.cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record)


def _typed(hint: Any, value: Any, where: str) -> Any:
    """A value as a field of a type holds it."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):  # "str | None": what is not given is None
        return _typed(get_args(hint)[0], value, where)
    if origin is tuple:
        return _list(get_args(hint), value, where)
    if origin is Mapping:
        return _table(get_args(hint)[1], value, where)
    if is_dataclass(hint):
        return _record(hint, value, where)
    wanted, wanted_text = _PLAIN[hint]
    if not isinstance(value, wanted) or isinstance(value, bool) is not (hint is bool):
        raise _wrong(where, wanted_text, value)
    if isinstance(value, str):
        _check_characters(value, where)
    return value


def _list(hints: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    is_any_length = hints[-1] is Ellipsis
    if not isinstance(value, list):
        raise _wrong(where, "a list in brackets", value)
    if not is_any_length and len(value) != len(hints):
        raise UsageError(f"{where} is a list of {len(hints)}, not of {len(value)}.")
    return tuple([_typed(hints[0], part, f"an entry of {where}") for part in value])


def _table(hint: Any, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "a table", value)
    return {key: _typed(hint, part, _within(where, key)) for key, part in value.items()}


def _check_characters(text: str, where: str) -> None:
    for character in text:
        if unicodedata.category(character) == "Cc" and character not in "\n\t":
            raise UsageError(
                f"{where} has the control character {character!r}, which a terminal would act on: "
                "leave it out."
            )


def _within(where: str, key: str) -> str:
    name = key[:40] if key.isidentifier() else repr(key[:40])
    return name if where == "a dialect" else f"{where}.{name}"


def _fields_text(where: str, hints: dict[str, Any]) -> str:
    """What to write instead of a value where a table belongs, such as 'joins.by = ...'."""
    first = next(iter(hints))
    table = "" if where.startswith("an entry of ") else f"{where.rpartition('.')[2].strip('[]')}."
    return f"the fields of this table, such as `{table}{first} = ...`"


def _wrong(where: str, wanted: str, value: Any) -> UsageError:
    return UsageError(f"{where} is {_shown(value)}: write {wanted}.")


def _shown(value: Any) -> str:
    """A TOML value in a few words."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
