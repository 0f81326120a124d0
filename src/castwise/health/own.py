"""What castwise's own metadata says: what it needs, its extras, the versions of Python it is tested
with."""

from __future__ import annotations

import importlib.metadata
import re
from typing import NamedTuple

_PACKAGE = "castwise"
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([\d.]+))?[^;]*(?:;\s*(.*))?")
_EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")
_PYTHON = re.compile(r"Programming Language :: Python :: (3\.\d+)")
_FOR_DEVELOPMENT = frozenset({"all", "test", "release"})  # the first is the sum of the others


class Requirement(NamedTuple):
    """A package that castwise needs, or that an extra of it needs."""

    name: str
    least: str  # its lowest version, or nothing
    extra: str = ""


class Own(NamedTuple):
    """The metadata of the installed castwise; nothing of it where it runs from its source."""

    version: str = ""
    requirements: tuple[Requirement, ...] = ()
    pythons: tuple[str, ...] = ()
    has_pytest_plugin: bool = False

    @property
    def extras(self) -> tuple[str, ...]:
        """The extras that add something for a user."""
        named = dict.fromkeys(r.extra for r in self.requirements if r.extra)
        return tuple(extra for extra in named if extra not in _FOR_DEVELOPMENT)

    def needed_for(self, extra: str = "") -> tuple[Requirement, ...]:
        """What an extra needs; without one, what castwise itself does."""
        return tuple(r for r in self.requirements if r.extra == extra)


def own_metadata() -> Own:
    """The metadata of castwise here."""
    try:
        found = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return Own()
    classifiers = found.metadata.get_all("Classifier") or ()
    pythons = [match[1] for text in classifiers if (match := _PYTHON.fullmatch(text))]
    needed = filter(None, map(_requirement, found.requires or ()))
    groups = [entry.group for entry in found.entry_points]
    return Own(found.version, tuple(needed), tuple(pythons), "pytest11" in groups)


def _requirement(text: str) -> Requirement | None:
    """A line of the metadata; None for one that only some versions of Python need."""
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        return None
    name, least, marker = match.groups()
    extra = _EXTRA.search(marker or "")
    if marker and not extra:
        return None
    return Requirement(name, least or "", extra[1] if extra else "")
