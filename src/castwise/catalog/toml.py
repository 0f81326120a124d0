"""A custom dialect, from a TOML file or from the content of one."""

from __future__ import annotations

import functools
import sys
import types
import unicodedata
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from castwise.errors import UsageError, did_you_mean
from castwise.rules.dialect import (
    VARIATIONS,
    Assigns,
    Becomes,
    Dialect,
    Evidence,
    Joining,
    Naming,
    check,
    shared,
)
from castwise.rules.rule import given_fields
from castwise.rules.values import Values

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The values of a TOML file as the fields of a dialect's records, each checked for its type.

_PLAIN: dict[type, tuple[type | tuple[type, ...], str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "text in quotes"),
}


def _record_fields(record: type, given: Any, where: str) -> dict[str, Any]:
    """What is given of a record's fields, in their types.

    Raises UsageError for an unknown field or a value of another type.
    """
    hints = _hints(record)
    if not isinstance(given, dict):
        raise _wrong(where, _fields_text(where, hints), given)
    for key in given:
        if key not in hints:
            parts: dict[str, Any] = {n: part for n, part in hints.items() if is_dataclass(part)}
            owners = [name for name, part in parts.items() if key in _hints(part)]
            inner = " or ".join([repr(f"{name}.{key}") for name in owners])
            hint = f" Did you mean {inner}?" if inner else did_you_mean(key, hints)
            raise UsageError(f"{where} has no field {key[:40]!r}.{hint}")
    return {key: _typed(hints[key], value, _within(where, key)) for key, value in given.items()}


def _laid_over(record: Any, given: Any, where: str) -> Any:
    """A record with the fields changed that a table gives, also in its parts.

    Raises UsageError for an unknown field or a value of another type.
    """
    kind: type = type(record)
    hints = _hints(kind)
    if not isinstance(given, dict):
        raise _wrong(where, _fields_text(where, hints), given)
    parts = [key for key in given if is_dataclass(hints.get(key))]
    plain = {key: value for key, value in given.items() if key not in parts}
    changed = _record_fields(kind, plain, where)
    for key in parts:
        changed[key] = _laid_over(getattr(record, key), given[key], f"{where}.{key}")
    return replace(record, **changed)


def _record(record: Any, given: Any, where: str) -> Any:
    """A record of a table."""
    found = _record_fields(record, given, where)
    for f in fields(record):
        if f.name not in found and f.default is MISSING and f.default_factory is MISSING:
            raise UsageError(f"{where} has no {f.name}, which it needs.")
    return record(**found)


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
        if not isinstance(value, dict):
            raise _wrong(where, "a table", value)
        part_hint = get_args(hint)[1]
        return {key: _typed(part_hint, part, _within(where, key)) for key, part in value.items()}
    if is_dataclass(hint):
        return _record(hint, value, where)
    wanted, wanted_text = _PLAIN[hint]
    if not isinstance(value, wanted) or isinstance(value, bool) is not (hint is bool):
        raise _wrong(where, wanted_text, value)
    if isinstance(value, str):
        control = [c for c in value if unicodedata.category(c) == "Cc" and c not in "\n\t"]
        if control:
            raise UsageError(
                f"{where} has the control character {control[0]!r}, which a terminal would act on: "
                "leave it out."
            )
    return value


def _list(hints: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    is_any_length = hints[-1] is Ellipsis
    if not isinstance(value, list):
        raise _wrong(where, "a list in brackets", value)
    if not is_any_length and len(value) != len(hints):
        raise UsageError(f"{where} is a list of {len(hints)}, not of {len(value)}.")
    return tuple([_typed(hints[0], part, f"an entry of {where}") for part in value])


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


# A TOML file as a dialect, and a dialect as the content of one.

BaseNamed = Callable[[str], Dialect]
_loading: ContextVar[tuple[Path, ...]] = ContextVar("castwise files being loaded", default=())
# The parts of a dialect, each as it is where neither the file nor a base says anything.
_PARTS: dict[str, Any] = {
    "naming": Naming(), "evidence": Evidence(source="declared by its user"), "joining": Joining(),
    "becomes": Becomes(), "assigns": Assigns(), "values": Values(),
}  # fmt: skip
# The fields of records that name a dialect.
_REFERENCES = ("borrows", "joins.typed_by", "numpy.decider", "numpy.left_decider")


def load_dialect(path: str | Path, base_named: BaseNamed) -> Dialect:
    """The dialect a TOML file describes, checked. `base_named` finds the one its `base` names.

    The keys are the fields of Dialect, with `name` for `framework`, tables such as `[joining]` for
    its parts, `[ops."add sub"]` tables of the fields of Rule, and `[vary]` for variations;
    docs/how-to/write-a-dialect.md has an example.

    Raises UsageError that names the file and what is wrong in it.
    """
    file = Path(path)
    data = _parsed(file)
    token = _loading.set((*_loading.get(), file.resolve()))
    try:
        return dialect_from(data, base_named)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    finally:
        _loading.reset(token)


def dialect_from(data: dict[str, Any], base_named: BaseNamed) -> Dialect:
    """The dialect that the content of a TOML file describes, checked.

    Raises UsageError where something in it is wrong.
    """
    dialect = _dialect(data, base_named)
    check(dialect)
    _check_references(dialect, base_named)
    return shared(dialect)


def dialect_content(dialect: Dialect) -> dict[str, Any]:
    """The content of a TOML file that defines the whole dialect, without a base."""
    content = _content(dialect)
    return {"name" if key == "framework" else key: value for key, value in content.items()}


def _content(record: Any) -> Any:
    """A record as a table of the fields that differ from their defaults, nested ones too."""
    if is_dataclass(record):
        given = {f.name: getattr(record, f.name) for f in fields(record)}
        return {f.name: _content(given[f.name]) for f in fields(record)
                if f.default is MISSING or given[f.name] != f.default}  # fmt: skip
    if isinstance(record, Mapping):
        return {key: _content(value) for key, value in record.items()}
    return [_content(part) for part in record] if isinstance(record, (tuple, list)) else record


def _parsed(file: Path) -> dict[str, Any]:
    if file.resolve() in _loading.get():
        raise UsageError(
            f"its base leads back to {file}: start from an existing dialect, such as"
            " base = 'numpy'."
        )
    try:
        data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        _check_integers(data)
        return data
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not TOML: {error}") from None
    except RecursionError:
        raise UsageError(
            f"{file}: its lists or tables are nested too deeply: a dialect needs four levels, as"
            " in ops.add.numbers.dtypes."
        ) from None
    except ValueError:  # Python also raises it for integers with thousands of digits
        raise UsageError(
            f"{file}: a number in it has more than 64 bits, which TOML does not allow: no field of"
            " a dialect needs one."
        ) from None


def _check_integers(value: Any) -> None:
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            _check_integers(part)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError


def _dialect(data: dict[str, Any], base_named: BaseNamed) -> Dialect:
    given = {("framework" if key == "name" else key): value for key, value in data.items()}
    _check_name(given)
    base, variations = given.pop("base", None), given.pop("vary", {})
    _check_variations(variations)
    tables = {name: given.pop(name) for name in _PARTS if name in given}
    given = _record_fields(Dialect, given, "a dialect")
    given.setdefault("ops", {})
    if base is None:
        given |= _parts(_PARTS, tables)
        return Dialect(**_complete(given)).vary(**variations)
    if not isinstance(base, str):
        raise UsageError("base names a dialect: write base = 'numpy', or the path of a TOML file.")
    parent = base_named(base)
    inherited = {name: getattr(parent, name) for name in _PARTS}
    inherited["naming"] = replace(parent.naming, is_newest=True)
    inherited["evidence"] = replace(parent.evidence, source=_PARTS["evidence"].source)
    given |= _parts(inherited, tables)
    given["ops"] = {**parent.ops, **given["ops"]}
    return parent.vary(**{"mode": "", **given}).vary(**variations)


def _parts(parts: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a dialect, with what the file's tables say laid over them."""
    laid = {name: _laid_over(parts[name], table, f"[{name}]") for name, table in tables.items()}
    return {**parts, **laid}


def _check_name(given: Mapping[str, Any]) -> None:
    """Raises UsageError for a name, version or mode that is not a line of text."""
    if "framework" not in given:
        raise UsageError("it has no name: write name = 'mine'.")
    for key, shown in (("framework", "name"), ("version", "version"), ("mode", "mode")):
        text = _typed(str, given.get(key, ""), shown)
        if not text.isprintable():
            raise UsageError(f"{shown} is {text[:40]!r}: write it on one line.")
    if not given["framework"].strip():
        raise UsageError("its name is empty: write name = 'mine'.")


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """The fields as given, if none without a default is missing."""
    needed = [
        f.name for f in fields(Dialect) if f.default is MISSING and f.default_factory is MISSING
    ]
    missing = [name for name in needed if name not in given]
    if missing:
        lacks = f"it has no {', '.join(missing)}. Write {'them' if len(missing) > 1 else 'it'}"
        raise UsageError(f"{lacks}, or start from a dialect: base = 'numpy'.")
    return given


def _check_variations(given: Any) -> None:
    if not isinstance(given, dict):
        raise UsageError("vary is a table of variations: write [vary], and safe = true below it.")
    for name in given:
        if name not in VARIATIONS:
            hint = did_you_mean(name, VARIATIONS)
            known = ", ".join(VARIATIONS)
            raise UsageError(f"[vary] has no variation {name[:40]!r}.{hint} There are {known}.")


def _check_references(dialect: Dialect, base_named: BaseNamed) -> None:
    """Raises UsageError where it names a dialect that does not exist."""
    named = {"casts": dialect.casts_as}
    for names, rule in dialect.ops.items():
        given = given_fields(rule)
        named.update({f"ops.{names!r}.{field}": given.get(field, "") for field in _REFERENCES})
    for where, name in named.items():
        if name:
            try:
                base_named(name)
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from None
