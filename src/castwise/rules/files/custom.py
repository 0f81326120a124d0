"""A custom dialect, from a TOML file or from the content of one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.rules.checks import check
from castwise.rules.dialect import Dialect
from castwise.rules.dialect_parts import Assigns, Becomes, Evidence, Joining, Naming
from castwise.rules.files.toml_fields import laid_over, record_fields, text_of
from castwise.rules.rule import given_fields
from castwise.rules.sharing import shared
from castwise.rules.values import Values
from castwise.rules.variations import VARIATIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BaseNamed = Callable[[str], Dialect]
_loading: ContextVar[tuple[Path, ...]] = ContextVar("castwise files being loaded", default=())
# The parts of a dialect, each as it is where neither the file nor a base says anything.
_PARTS: dict[str, Any] = {
    "naming": Naming(),
    "evidence": Evidence(source="declared by its user"),
    "joining": Joining(),
    "becomes": Becomes(),
    "assigns": Assigns(),
    "values": Values(),
}
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
        return dialect_of(data, base_named)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    finally:
        _loading.reset(token)


def dialect_of(data: dict[str, Any], base_named: BaseNamed) -> Dialect:
    """The dialect that the content of a TOML file describes, checked.

    Raises UsageError where something in it is wrong.
    """
    dialect = _dialect(data, base_named)
    check(dialect)
    _check_references(dialect, base_named)
    return shared(dialect)


def definition_of(dialect: Dialect) -> dict[str, Any]:
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
    given = record_fields(Dialect, given, "a dialect")
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
    laid = {name: laid_over(parts[name], table, f"[{name}]") for name, table in tables.items()}
    return {**parts, **laid}


def _check_name(given: Mapping[str, Any]) -> None:
    """Raises UsageError for a name, version or mode that is not a line of text."""
    if "framework" not in given:
        raise UsageError("it has no name: write name = 'mine'.")
    for key, shown in (("framework", "name"), ("version", "version"), ("mode", "mode")):
        text = text_of(given.get(key, ""), shown)
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
