"""A dialect of one's own, from a TOML file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.frameworks.checks import check
from castwise.frameworks.dialect import Composed, Conversion, Dialect, Rule
from castwise.frameworks.value_rules import Values
from castwise.frameworks.variations import VARIATIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


BaseNamed = Callable[[str], Dialect]


def load_dialect(path: str | Path, base_named: BaseNamed) -> Dialect:
    """The dialect a TOML file describes, checked. `base_named` finds the one its `base` names.

    The keys are the fields of Dialect, with `name` for `framework`, `[ops."add sub"]` tables of the
    fields of Rule, and `[vary]` for variations; docs/variations.md has an example.

    Raises UsageError that names the file and what is wrong in it.
    """
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    try:
        dialect = _dialect(data, base_named)
        check(dialect)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    return dialect


def _dialect(data: dict[str, Any], base_named: BaseNamed) -> Dialect:
    given = {("framework" if key == "name" else key): value for key, value in data.items()}
    base, variations = given.pop("base", None), given.pop("vary", {})
    _check_keys(given, [f.name for f in fields(Dialect)], "a dialect")
    _check_variations(variations)
    given["ops"] = {names: _rule(names, rule) for names, rule in given.get("ops", {}).items()}
    for name in ("guards", "surprises", "associativity_witness"):
        if name in given:
            given[name] = tuple(given[name])
    if "framework" not in given:
        raise UsageError("it has no name: write name = 'mine'.")
    given.setdefault("evidence", "declared by its user")
    if base is None:
        given["values"] = _values(Values(), given.get("values", {}))
        return Dialect(**_complete(given)).vary(**variations)
    parent = base_named(base)
    given["values"] = _values(parent.values, given.get("values", {}))
    given["ops"] = {**parent.ops, **given["ops"]}
    given.setdefault("mode", "")
    return parent.vary(**given, is_newest=True).vary(**variations)


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """The fields as given, where none is missing that has no default."""
    needed = [
        f.name for f in fields(Dialect) if f.default is MISSING and f.default_factory is MISSING
    ]
    missing = [name for name in needed if name not in given]
    if missing:
        told = f"it has no {', '.join(missing)}. Write {'them' if len(missing) > 1 else 'it'}"
        raise UsageError(f"{told}, or begin from a dialect: base = 'numpy'.")
    return given


def _values(inherited: Values, given: Any) -> Values:
    """What `[values]` says, over what is inherited."""
    if not isinstance(given, dict):
        raise UsageError(f"values is a table of its fields, not {given!r}.")
    _check_keys(given, [f.name for f in fields(Values)], "[values]")
    return replace(inherited, **given)


def _rule(names: str, given: Any) -> Rule:
    if not isinstance(given, dict):
        raise UsageError(f"ops.{names!r} is a table of a rule's fields, not {given!r}.")
    _check_keys(given, [f.name for f in fields(Rule)], f"a rule ({names})")
    if "composes" in given:
        for step in given["composes"]:
            _check_keys(step, [f.name for f in fields(Composed)], "composes")
        given = {**given, "composes": tuple(Composed(**step) for step in given["composes"])}
    if "conversion" in given:
        _check_keys(given["conversion"], [f.name for f in fields(Conversion)], "conversion")
        given = {**given, "conversion": Conversion(**given["conversion"])}
    return Rule(**given)


def _check_variations(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in VARIATIONS:
            hint = did_you_mean(name, VARIATIONS)
            known = ", ".join(VARIATIONS)
            raise UsageError(f"[vary] has no variation {name!r}.{hint} There are {known}.")


def _check_keys(given: Mapping[str, Any], known: Any, what: str) -> None:
    for key in given:
        if key not in known:
            raise UsageError(f"{what} has no field {key!r}.{did_you_mean(key, known)}")
