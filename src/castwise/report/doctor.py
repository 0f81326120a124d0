"""What is installed, and what is wrong with it: `castwise doctor`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from castwise.health import (
    NEAREST,
    RECORDED,
    Checkup,
    Framework,
    Kernels,
    Library,
    Problem,
    Versions,
)
from castwise.report.terminal import Paint, plain
from castwise.settings import DEFAULT, FILE_NAME, TABLE, Setting, Settings

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
    chosen = [s for s in found.settings if s.source != DEFAULT]
    rest = [s for s in found.settings if s.source == DEFAULT]
    blocks = [file_text(found, width)]
    if chosen:
        rows = [
            (s.key.name, _value_text(s.value), f"from {s.variable or 'the file'}") for s in chosen
        ]
        blocks.append("\n".join(_aligned(rows, paint)))
    rows = [(s.key.name, _value_text(s.value), s.key.about) for s in rest]
    blocks.append("\n".join([paint("Keys with their defaults", "title"), *_aligned(rows, paint)]))
    return "\n\n".join(blocks)


def _aligned(rows: list[tuple[str, str, str]], paint: Paint) -> list[str]:
    names, values = (max([len(row[n]) for row in rows], default=0) + 2 for n in (0, 1))
    return [
        f"  {paint(name.ljust(names), 'title')}{value:{values}}{paint(rest, 'faint')}"
        for name, value, rest in rows
    ]


def file_text(found: Settings, width: int) -> str:
    """A sentence on the file that has the settings, or where there is none."""
    if found.file:
        return f"Settings: [tool.{TABLE}] in {found.file}"  # on one line: a path can be copied
    nearest, *above = found.looked_in
    also = " or a directory above it" if above else ""
    said = f"No settings: no {FILE_NAME} in {nearest}{also} has the table [tool.{TABLE}]."
    return "\n".join(textwrap.wrap(said, width, break_long_words=False, break_on_hyphens=False))


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or _UNSET
    return _UNSET if value is None else str(value)


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
        file_text(found.settings, width) if found.settings else "",
        _problems_text(found.problems, paint, width),
    ]
    return "\n\n".join(filter(None, blocks))


def _versions_text(versions: Versions, paint: Paint, width: int) -> str:
    head = f"castwise {versions.castwise}, {versions.implementation} {versions.python}"
    lines = [paint(f"{head}, {versions.platform}", "title")]
    if versions.installed_as not in ("", versions.castwise):
        lines += textwrap.wrap(
            f"It is installed as {versions.installed_as}, and imported from {versions.place}.",
            width, break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    if not versions.is_tested:
        first, last = versions.tested[0], versions.tested[-1]
        lines += textwrap.wrap(
            f"castwise is tested with Python {first} to {last}. With this one, an audit may miss "
            "operations.", width,
        )  # fmt: skip
    return "\n".join(lines)


Row = tuple[str, str, str, str]  # name, version, what is said of it, the style of that


def _framework_row(framework: Framework) -> Row:
    said = f"judged by {framework.dialect}"
    said += ", recorded from this version" if framework.coverage == RECORDED else ""
    said += f"; {framework.note}" if framework.note else ""
    style = {RECORDED: "float", NEAREST: "hazard"}.get(framework.coverage, "refused")
    return framework.name, framework.package.version or "?", said, style


def _library_row(library: Library) -> Row:
    versions = _versions_of(library)
    if library.is_ready:
        return library.name, versions, "ready", "float"
    return library.name, versions or "-", f"{library.lacks}: {library.remedy}", "faint"


def _kernels_row(kernels: Kernels) -> Row:
    if kernels.lacks:
        said = f"off, {kernels.lacks}: {kernels.remedy}"
        return kernels.device, kernels.version or "-", said, "faint"
    said = f"from {kernels.least_size:,} elements"
    if kernels.threads:
        said += f", on {kernels.threads} thread{'s' * (kernels.threads > 1)}"
    said += f", kept in {kernels.cache}" if kernels.cache else ", not kept on disk"
    return kernels.device, kernels.version, said, "float"


def _plugin_row(library: Library) -> Row:
    said = _USES[library.name]
    if library.lacks:
        said = f"off, {library.lacks}: {library.remedy}"
    return library.name, _versions_of(library), said, "faint"


def _versions_of(library: Library) -> str:
    """The version, with the package's name where it is not the library's."""
    return ", ".join(
        package.version if package.name == library.name else f"{package.name} {package.version}"
        for package in library.packages
    )


def _block(title: str, rows: Iterable[Row], paint: Paint, width: int) -> str:
    """Rows in columns under a title; nothing without rows."""
    rows = list(rows)
    if not rows:
        return ""
    names, versions = (max(len(row[n]) for row in rows) + 2 for n in (0, 1))
    lines = [paint(title, "title")]
    for name, version, said, style in rows:
        margin = 2 + names + versions
        first, *more = textwrap.wrap(
            said, max(width - margin, 24), break_long_words=False, break_on_hyphens=False
        )
        lines.append(f"  {name:{names}}{version:{versions}}{paint(first, style)}")
        lines += [" " * margin + paint(line, style) for line in more]
    return "\n".join(lines)


def _problems_text(problems: Iterable[Problem], paint: Paint, width: int) -> str:
    lines = []
    for problem in problems:
        what = textwrap.wrap(
            f"Broken: {problem.what}", width, break_long_words=False, break_on_hyphens=False
        )
        lines += [paint(line, "refused") for line in what]
        lines.append(f"  What to do: {problem.remedy}")
    return "\n".join(lines) or paint("Nothing is wrong.", "float")
