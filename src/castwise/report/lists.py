"""What is listed: dialects, dtypes, ops, the settings of a project, and what is installed."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from castwise.catalog import dialect_named, dialects, layers
from castwise.report.blocks import card, dtype_html, faint, paragraph
from castwise.report.table import short_name
from castwise.report.terminal import Paint, Styled, folded, in_columns, in_groups, plain, some_of
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DTYPES, DType, find_dtype
from castwise.vocab.ops import ARBITRARY, Op, op, ops

if TYPE_CHECKING:
    from castwise.health import Checkup, Framework, Kernels, Library, Problem, Versions
    from castwise.settings import Setting, Settings

# The list of dialects, `castwise dialects`, and one of them.


def dialects_json() -> list[dict[str, Any]]:
    """Every dialect with its facts, and then those that are recorded as differences from others."""
    return [
        {
            "name": dialect.name,
            "version": dialect.version,
            "about": dialect.about,
            "evidence": dialect.evidence.source,
            "dtypes": [dtype.name for dtype in dialect.dtypes],
        }
        for dialect in map(dialect_named, (*dialects(), *layers()))
    ]


def dialects_text(paint: Paint = plain, width: int = 80) -> str:
    """One row per dialect: its name, its version, what it is and the evidence for it; then the
    releases and modes that are recorded as differences from them."""
    rows = _rows(_dialects(), paint, width)
    return "\n".join([rows, "", *_layer_lines(paint, width)])


def _layer_lines(paint: Paint, width: int) -> list[str]:
    """The names of the layers, a paragraph for each framework."""
    names: dict[str, list[str]] = {}
    for layer in layers().values():
        names.setdefault(layer.framework, []).append(layer.name)
    lines = [paint("Recorded as differences from these", "title")]
    for framework in sorted(names):
        listed = ", ".join(sorted(names[framework], key=_order))
        lines += textwrap.wrap(listed, width, initial_indent="  ", subsequent_indent="  ")
    return lines


def _order(name: str) -> tuple[bool, list[int], str]:
    """Releases by their numbers, then modes."""
    return ":" in name, list(map(int, re.findall(r"\d+", name.partition(":")[0]))), name


def dialect_text(dialect: Dialect) -> str:
    """A dialect as in the list of them all."""
    return _rows([dialect], plain, 80)


def dialect_card(dialect: Dialect) -> str:
    """A dialect in a notebook, with its dtypes."""
    version = f' <span class="faint">version {escape(dialect.version)}</span>'
    return card(
        f"{escape(dialect.name)}{version * bool(dialect.version)}",
        paragraph(dialect.about),
        f"<p>{' '.join(map(dtype_html, dialect.dtypes))}</p>",
        faint(f"Evidence: {dialect.evidence.source}."),
    )


def _rows(shown: list[Dialect], paint: Paint, width: int) -> str:
    rows: list[list[str]] = []
    for dialect in shown:
        evidence = Styled(f"Evidence: {dialect.evidence.source}.", "faint")
        rows.append([Styled(dialect.name, "title"), dialect.version, dialect.about])
        rows.append(["", "", evidence])
    return "\n".join(in_columns(rows, width, paint, indent=0, least=30))


# The list of dtypes: `castwise dtypes`.

_LONG = 1 << 31  # a whole number beyond it is shown as a power of two


def dtypes_json(dialect: Dialect | None = None) -> list[dict[str, Any]]:
    """Every dtype with its facts, or those of one dialect in its order; the range of a complex one
    is that of a part."""
    known = _dialects(dialect)
    return [
        {
            "name": row.name,
            "short": _short(row),
            "kind": row.kind,
            "bits": row.bits,
            "min": row.min,
            "max": row.max,
            "dialects": [d.name for d in known if row in d.dtypes],
        }
        for row in (dialect.dtypes if dialect else DTYPES)
    ]


def dtypes_text(dialect: Dialect | None = None, paint: Paint = plain, width: int = 80) -> str:
    """A line per dtype, by kind: its name, short form, bits and range, and the frameworks that have
    it, where no dialect is given."""
    rows = dialect.dtypes if dialect else DTYPES
    cells = [
        (row.name, _short(row) or "", str(row.bits), _range(row),
         "" if dialect else _frameworks(d for d in _dialects() if row in d.dtypes))
        for row in rows
    ]  # fmt: skip
    title = ("dtype", "short", "bits", "range", "" if dialect else "in")
    return in_groups(title, cells, [row.kind for row in rows], paint, width)


def _dialects(only: Dialect | None = None) -> list[Dialect]:
    return [only] if only else list(map(dialect_named, dialects()))


def _frameworks(some: Iterable[Dialect]) -> str:
    """The frameworks of some dialects, in few words."""
    every, found = ([*dict.fromkeys(d.framework for d in each)] for each in (_dialects(), some))
    return some_of(every, found)


def _short(row: DType) -> str | None:
    """The short form that the notation reads, which tables may print otherwise."""
    short = short_name(row)
    return short if short != row.name and find_dtype(short) is row else None


def _range(row: DType) -> str:
    """The least and the greatest value, for people."""
    if row.kind == "bool":
        return "False, True"
    if row.kind == "complex":
        return f"parts of {row.part}"
    if isinstance(row.max, float):
        most = _number(row.max)
        return f"+-{most}" if row.min < 0 else f"{_number(row.min)} to {most}"
    if row.max < _LONG - 1:
        return f"{row.min} to {row.max}"
    power = int(row.max).bit_length()
    return f"{f'-2**{power}' if row.min else 0} to 2**{power}-1"


def _number(value: float) -> str:
    return f"{value:.6g}" if 1 <= abs(value) < _LONG else f"{value:.3g}"


# The list of ops: `castwise ops`.


def ops_json(dialect: Dialect | None = None) -> list[dict[str, Any]]:
    """Every op with its facts, or those that were recorded of one dialect's framework."""
    known = _dialects(dialect)
    return [
        {
            "name": row.name,
            "symbol": row.symbol,
            "family": row.family,
            "operands": [row.arity[0], None if row.arity[1] == ARBITRARY else row.arity[1]],
            "aliases": {d.name: words for d in known if (words := _aliases(d, row))},
            "dialects": [d.name for d in known if row.name not in d.unrecorded],
        }
        for row in _op_rows(dialect)
    ]


def ops_text(dialect: Dialect | None = None, paint: Paint = plain, width: int = 80) -> str:
    """A line per op, by family: its name, symbol and operands, and either its other names in a
    dialect, or the frameworks that have it."""
    rows = _op_rows(dialect)
    last = f"also called, in {dialect.name}" if dialect else "recorded from"
    cells = [
        (row.name, row.symbol or "", _operands(row),
         " ".join(_aliases(dialect, row)) if dialect
         else _frameworks(d for d in _dialects() if row.name not in d.unrecorded))
        for row in rows
    ]  # fmt: skip
    title = ("op", "symbol", "operands", last)
    return in_groups(title, cells, [row.family for row in rows], paint, width)


def _op_rows(dialect: Dialect | None) -> list[Op]:
    return [row for row in map(op, ops()) if dialect is None or row.name not in dialect.unrecorded]


def _aliases(dialect: Dialect, row: Op) -> list[str]:
    return dialect.naming.aliases.get(row.name, "").split()


def _operands(row: Op) -> str:
    low, high = row.arity
    if high == ARBITRARY:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


# The settings of a project: `castwise config`.

_UNSET = "-"


def settings_json(found: Settings) -> dict[str, Any]:
    """The file, where it was looked for, and every key."""
    return {
        "file": str(found.file) if found.file else None,
        "looked_in": [str(directory) for directory in found.looked_in],
        "keys": {setting.key.name: _key_json(setting) for setting in found.settings},
    }


def _key_json(setting: Setting) -> dict[str, Any]:
    key = setting.key
    return {
        "value": list(setting.value) if isinstance(setting.value, tuple) else setting.value,
        "source": setting.source,
        **({"variable": setting.variable} if setting.variable else {}),
        "takes": key.takes,
        "commands": list(key.commands),
        "about": key.about,
    }


def settings_text(found: Settings, paint: Paint = plain, width: int = 80) -> str:
    """The file, the keys that someone chose a value for, and the others with their defaults."""
    from castwise.settings import DEFAULT

    chosen = [
        _setting_row(s, f"from {s.variable or 'the file'}")
        for s in found.settings
        if s.source != DEFAULT
    ]
    rest = [_setting_row(s, s.key.about) for s in found.settings if s.source == DEFAULT]
    blocks = [_file_text(found, width)]
    if chosen:
        blocks.append("\n".join(in_columns(chosen, None, paint)))
    title = paint("Keys with their defaults", "title")
    blocks.append("\n".join([title, *in_columns(rest, None, paint)]))
    return "\n\n".join(blocks)


def _setting_row(setting: Setting, about: str) -> list[str]:
    name = Styled(setting.key.name, "title")
    return [name, _value_text(setting.value), Styled(about, "faint")]


def _file_text(found: Settings, width: int) -> str:
    """A sentence on the file that has the settings, or where there is none."""
    from castwise.settings import FILE_NAME, TABLE

    if found.file:
        return f"Settings: [tool.{TABLE}] in {found.file}"  # on one line: a path can be copied
    nearest, *above = found.looked_in
    also = " or a directory above it" if above else ""
    said = f"No settings: no {FILE_NAME} in {nearest}{also} has the table [tool.{TABLE}]."
    return folded(said, width)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or _UNSET
    return _UNSET if value is None else str(value)


# What is installed, and what is wrong with it: `castwise doctor`.

_USES = {"pytest": "pytest --castwise PACKAGE", "IPython": "%load_ext castwise, then %%audit"}


def checkup_json(found: Checkup) -> dict[str, Any]:
    """Everything, for scripts."""
    versions = found.versions
    return {
        "castwise": {
            "version": versions.castwise,
            "installed_as": versions.installed_as or None,
            "place": versions.place,
        },
        "python": {
            "version": versions.python,
            "implementation": versions.implementation,
            "tested": list(versions.tested),
            "is_tested": versions.is_tested,
        },
        "platform": versions.platform,
        "frameworks": [_framework_json(framework) for framework in found.frameworks],
        "backends": [_library_json(library) for library in found.backends],
        "extras": [_library_json(library) for library in found.extras],
        "kernels": [kernels._asdict() for kernels in found.kernels],
        "plugins": [_library_json(library) for library in found.plugins],
        "settings": str(found.settings.file) if found.settings and found.settings.file else None,
        "problems": [{"what": p.what, "remedy": p.remedy} for p in found.problems],
    }


def _framework_json(framework: Framework) -> dict[str, Any]:
    return {
        "name": framework.name,
        "package": framework.package.name,
        "version": framework.package.version or None,
        "dialect": framework.dialect,
        "coverage": framework.coverage,
        "note": framework.note,
    }


def _library_json(library: Library) -> dict[str, Any]:
    return {
        "name": library.name,
        "packages": {package.name: package.version or None for package in library.packages},
        "ready": library.is_ready,
        "lacks": library.lacks,
        "remedy": library.remedy,
    }


def checkup_text(found: Checkup, paint: Paint = plain, width: int = 80) -> str:
    """A block for each sort of thing, and what is wrong at the end."""
    blocks = [
        _versions_text(found.versions, paint, width),
        _block("Frameworks", map(_framework_row, found.frameworks), paint, width)
        or paint("Frameworks", "title") + "\n  none that castwise has a dialect for",
        _block("Backends", map(_library_row, found.backends), paint, width),
        _block("Extras", map(_library_row, found.extras), paint, width),
        _block("Kernels for large arrays", map(_kernels_row, found.kernels), paint, width),
        _block("Plugins", map(_plugin_row, found.plugins), paint, width),
        _file_text(found.settings, width) if found.settings else "",
        _problems_text(found.problems, paint, width),
    ]
    return "\n\n".join(filter(None, blocks))


def _versions_text(versions: Versions, paint: Paint, width: int) -> str:
    head = f"castwise {versions.castwise}, {versions.implementation} {versions.python}"
    lines = [paint(f"{head}, {versions.platform}", "title")]
    if versions.installed_as not in ("", versions.castwise):
        place = f"It is installed as {versions.installed_as}, and imported from {versions.place}."
        lines.append(folded(place, width))
    if not versions.is_tested:
        first, last = versions.tested[0], versions.tested[-1]
        tested = f"castwise is tested with Python {first} to {last}."
        lines.append(folded(f"{tested} With this one, an audit may miss operations.", width))
    return "\n".join(lines)


def _framework_row(framework: Framework) -> list[str]:
    from castwise.health import NEAREST, RECORDED  # which has the framework from there

    said = f"dialect {framework.dialect}"
    said += ", recorded from this version" if framework.coverage == RECORDED else ""
    said += f"; {framework.note}" if framework.note else ""
    style = {RECORDED: "float", NEAREST: "hazard"}.get(framework.coverage, "refused")
    return [framework.name, framework.package.version or "?", Styled(said, style)]


def _library_row(library: Library) -> list[str]:
    versions = _versions_of(library)
    if library.is_ready:
        return [library.name, versions, Styled("ready", "float")]
    return [library.name, versions or "-", Styled(f"{library.lacks}: {library.remedy}", "faint")]


def _kernels_row(kernels: Kernels) -> list[str]:
    if kernels.lacks:
        said = f"off, {kernels.lacks}: {kernels.remedy}"
        return [kernels.device, kernels.version or "-", Styled(said, "faint")]
    said = f"from {kernels.least_size:,} elements"
    if kernels.threads:
        said += f", on {kernels.threads} thread{'s' * (kernels.threads > 1)}"
    said += f", kept in {kernels.cache}" if kernels.cache else ", not kept on disk"
    return [kernels.device, kernels.version, Styled(said, "float")]


def _plugin_row(library: Library) -> list[str]:
    said = _USES[library.name]
    if library.lacks:
        said = f"off, {library.lacks}: {library.remedy}"
    return [library.name, _versions_of(library), Styled(said, "faint")]


def _versions_of(library: Library) -> str:
    """The version, with the package's name where it is not the library's."""
    return ", ".join(
        package.version if package.name == library.name else f"{package.name} {package.version}"
        for package in library.packages
    )


def _block(title: str, rows: Iterable[list[str]], paint: Paint, width: int) -> str:
    """Rows in columns under a title; nothing without rows."""
    lines = in_columns(list(rows), width, paint, least=24, breaks_words=False)
    return "\n".join([paint(title, "title"), *lines]) if lines else ""


def _problems_text(problems: Iterable[Problem], paint: Paint, width: int) -> str:
    lines = []
    for problem in problems:
        what = folded(f"Broken: {problem.what}", width)
        lines += [paint(line, "refused") for line in what.splitlines()]
        lines.append(f"  What to do: {problem.remedy}")
    return "\n".join(lines) or paint("Nothing is wrong.", "float")
