"""The variations of a dialect: named changes that make sense for any framework's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from castwise.errors import UsageError, did_you_mean
from castwise.rules.dialect_data import DialectData
from castwise.rules.parts import Arrays, Numbers
from castwise.rules.rule import Rule, combined
from castwise.rules.sharing import shared
from castwise.vocab.dtypes import DType, dtype

Changes = dict[str, Any]
AnyDialect = TypeVar("AnyDialect", bound=DialectData)
_SCALARS: dict[str, Rule] = {
    "by value": Rule(numbers=Numbers(count_as="values")),
    "by value within kind": Rule(scalars="by value"),
    "as 0-d tensors": Rule(numbers=Numbers(count_as="0-d arrays")),
    "as tensors": Rule(scalars="as arrays"),
    "weak": Rule(scalars="weak"),
}


def varied(dialect: AnyDialect, changes: Mapping[str, Any]) -> AnyDialect:
    """The dialect with variations and fields changed; its name lists the variations."""
    known = [f.name for f in fields(dialect)]
    for name in changes:
        if name not in VARIATIONS and name not in known:
            hint = _hint(dialect, name)
            raise UsageError(
                f"a dialect has no variation {name!r}.{hint} There are {', '.join(VARIATIONS)}."
            )
    _check_recorded(dialect, changes)
    dialect = replace(dialect, **{n: v for n, v in changes.items() if n not in VARIATIONS})
    for name, value in changes.items():
        if name in VARIATIONS and value is not None:
            value = dtype(str(value)).name if name in _OF_DTYPES else value
            changed = VARIATIONS[name](dialect, value)
            mode = f"{dialect.mode}:{name}={value}".lstrip(":") if changed else dialect.mode
            dialect = replace(dialect, mode=mode, **changed)
    return shared(dialect)


def _check_recorded(dialect: DialectData, changes: Mapping[str, Any]) -> None:
    """Raises UsageError where answers were recorded that a variation might change."""
    named = [n for n, v in changes.items() if n in VARIATIONS and v is not None]
    other = next((name for name in named if name not in _GUARDING), None)
    if other and dialect.evidence.layers:
        raise UsageError(
            f"{dialect.name} is recorded as it is, without {other}: of the variations it takes"
            f" {', '.join(_GUARDING)}."
        )


def _hint(dialect: DialectData, name: str) -> str:
    """Where a field of a part is changed, or a variation of a similar name."""
    for part in [f.name for f in fields(dialect) if is_dataclass(getattr(dialect, f.name))]:
        if name in [f.name for f in fields(getattr(dialect, part))]:
            return f" Change its part: vary({part}=replace(dialect.{part}, {name}=...))."
    return did_you_mean(name, VARIATIONS)


def parse_options(text: str) -> dict[str, Any]:
    """The variations in a name such as `torch:default_float=float64:strict=True`.

    >>> parse_options("strict=True:cap_float=32")
    {'strict': True, 'cap_float': 32}
    """
    options: dict[str, Any] = {}
    for part in filter(None, text.split(":")):
        name, _, value = part.partition("=")
        if name not in VARIATIONS:
            hint = did_you_mean(name, VARIATIONS)
            known = ", ".join(VARIATIONS)
            raise UsageError(f"unknown option {name[:40]!r}.{hint} There are {known}.")
        words: dict[str, Any] = {"true": True, "false": False}
        options[name] = words.get(value.lower(), int(value) if _is_short_number(value) else value)
    return options


def _is_short_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10  # no option needs more digits


def _cap_float(dialect: DialectData, bits: Any) -> Changes:
    """No result has wider floats than this: TF-NumPy's allow_float64=False is 32."""
    if bits not in (16, 32) or isinstance(bits, bool):
        raise UsageError(f"cap_float is 16 or 32, the widest float's bits, not {repr(bits)[:40]}.")
    entries = []
    for kind in ("float", "complex"):
        own = [d for d in dialect.dtypes if d.kind == kind]
        wide = [d for d in own if d.part.bits > bits]
        narrow = [d for d in own if d.part.bits == bits] or wide[:1]
        entries += [f"{d} -> {narrow[0]}" for d in wide if d is not narrow[0]]
    return {"becomes": replace(dialect.becomes, caps="; ".join(entries))}


def _default_float(dialect: DialectData, name: Any) -> Changes:
    """The dtype of a Python float; a Python complex follows it."""
    part = dtype(name)
    twin = _complex_of(dialect, part)
    if part.kind != "float":
        raise UsageError(f"default_float must be a float dtype, not {part}.")
    if part not in dialect.dtypes:
        raise UsageError(f"{dialect.name} has no default float {part}.")
    return _numbers(dialect, {"float": part.name, **({"complex": twin.name} if twin else {})})


def _default_int(dialect: DialectData, name: Any) -> Changes:
    """The dtype of a Python int; sums of small integers keep their dtype."""
    wanted = dtype(name)
    if wanted.kind != "int":
        raise UsageError(f"default_int must be an integer dtype, not {wanted}.")
    if wanted not in dialect.dtypes:
        raise UsageError(f"{dialect.name} has no default int {wanted}.")
    return _numbers(dialect, {"int": wanted.name})


def _numbers(dialect: DialectData, numbers: dict[str, str]) -> Changes:
    """Python numbers of some kinds get other dtypes, in every op that has no rule for this."""
    general = dialect.ops["*"]
    if general.numbers.dtypes:
        dtypes = {**general.numbers.dtypes, **numbers}
        general = combined(general, Rule(numbers=Numbers(dtypes=dtypes)))
    return {"python": {**dialect.python, **numbers}, "ops": {**dialect.ops, "*": general}}


def _complex_of(dialect: DialectData, part: DType) -> DType | None:
    twins = [d for d in dialect.dtypes if d.kind == "complex" and d.part.holds(part)]
    return twins[0] if twins else None


def _scalars(dialect: DialectData, policy: Any) -> Changes:
    """How Python scalars count, in ops that have no rule for them."""
    if not isinstance(policy, str) or policy not in _SCALARS:
        raise UsageError(f"scalars is {', '.join(map(repr, _SCALARS))}, not {policy!r}.")
    as_numbers = Rule(numbers=Numbers(count_as="numbers"))
    ops = {
        names: combined(as_numbers, rule) if rule.scalars else rule
        for names, rule in dialect.ops.items()
    }
    return {"ops": {**ops, "*": combined(ops["*"], _SCALARS[policy])}}


def _zero_d(dialect: DialectData, policy: Any) -> Changes:
    """0-d arrays count as arrays; Python scalars count as before."""
    if policy != "as arrays":
        raise UsageError(f"zero_d is 'as arrays', not {policy!r}.")
    general = combined(dialect.ops["*"], Rule(arrays=Arrays(zero_d_as_arrays=True)))
    return {"ops": {**dialect.ops, "*": general}}


def _promote_64(dialect: DialectData, allowed: Any) -> Changes:
    return {} if _is_true("promote_64", allowed) else _guarded(dialect, "no promotion to 64 bits")


def _strict(dialect: DialectData, wanted: Any) -> Changes:
    return _guarded(dialect, "no implicit cast") if _is_true("strict", wanted) else {}


def _safe(dialect: DialectData, wanted: Any) -> Changes:
    return _guarded(dialect, "no lossy cast") if _is_true("safe", wanted) else {}


def _guarded(dialect: DialectData, guard: str) -> Changes:
    guards = (*dialect.joining.guards, guard)
    return {"joining": replace(dialect.joining, guards=guards)}


def _is_true(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name} is True or False, not {value!r}.")
    return value


# A value of each, for messages.
EXAMPLES = {
    "cap_float": 32,
    "default_float": "float64",
    "default_int": "int32",
    "scalars": "weak",
    "zero_d": "as arrays",
    "promote_64": False,
    "strict": True,
    "safe": True,
}
_GUARDING = ("promote_64", "strict", "safe")  # these refuse, and change no answer
_OF_DTYPES = ("default_float", "default_int")
VARIATIONS: dict[str, Callable[[DialectData, Any], Changes]] = {
    "cap_float": _cap_float,
    "default_float": _default_float,
    "default_int": _default_int,
    "scalars": _scalars,
    "zero_d": _zero_d,
    "promote_64": _promote_64,
    "strict": _strict,
    "safe": _safe,
}
