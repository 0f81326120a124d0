"""The frameworks that are installed, and the dialect that each is judged by."""

from __future__ import annotations

from typing import NamedTuple

from castwise.errors import UsageError
from castwise.health.packages import NotInstalledError, Package, package_of
from castwise.rules.catalog import dialect_named, dialects, nearest_named
from castwise.rules.dialect import Dialect
from castwise.vocab.live import module_of

RECORDED, NEAREST, NOT_COVERED = "recorded", "nearest", "not covered"


class Framework(NamedTuple):
    """A framework here, and how well its version is known."""

    name: str
    package: Package
    dialect: str
    coverage: str  # RECORDED, NEAREST or NOT_COVERED
    note: str = ""  # where another version answers


def installed_frameworks() -> tuple[Framework, ...]:
    """Every framework with a dialect that is installed here."""
    names = dict.fromkeys(dialect_named(name).framework for name in dialects())
    found = []
    for name in names:
        newest = dialect_named(name)
        try:
            package = package_of(module_of(name), newest.naming.packages.split())
        except NotInstalledError:
            continue
        found.append(_judged(newest, package))
    return tuple(found)


def _judged(newest: Dialect, package: Package) -> Framework:
    name, version = newest.framework, package.version
    try:
        nearest = nearest_named(f"{name}@{version}")
    except UsageError:
        note = "the version is not known" if not version else f"{version} is no version in numbers"
        return Framework(name, package, newest.name, NOT_COVERED, f"{note}: {newest.name} answers.")
    coverage = NEAREST if nearest.note else RECORDED
    return Framework(name, package, nearest.dialect.name, coverage, nearest.note)
