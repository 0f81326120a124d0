"""What is installed, and what is wrong with it: `castwise doctor`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from castwise.health.checkup import Checkup, Versions
from castwise.health.frameworks import NEAREST, RECORDED, Framework
from castwise.health.kernels import Kernels
from castwise.health.libraries import Library
from castwise.health.packages import Problem
from castwise.report.settings import file_text
from castwise.report.terminal.colour import Paint, plain

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
