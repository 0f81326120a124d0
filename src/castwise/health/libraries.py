"""The libraries that castwise can use: what it needs, its backends, its extras."""

from __future__ import annotations

from typing import NamedTuple

from castwise.execute.backend import backend_names
from castwise.execute.backends import DEFAULT
from castwise.health.own import Own, Requirement
from castwise.health.packages import (
    NotInstalledError,
    Package,
    Problem,
    package_of,
    version_numbers,
)


class Library(NamedTuple):
    """A library under the name that castwise has for it."""

    name: str
    packages: tuple[Package, ...]
    lacks: str = ""  # why it cannot be used
    remedy: str = ""

    @property
    def is_ready(self) -> bool:
        return not self.lacks


def backends(own: Own) -> tuple[Library, ...]:
    """Every backend. One is ready if its library is here in a version that castwise takes."""
    return tuple([_backend(name, own) for name in backend_names()])


def _backend(name: str, own: Own) -> Library:
    wanted = own.needed_for(name)
    remedy = f"pip install {name}" if name == DEFAULT else f"pip install 'castwise[{name}]'"
    try:
        package = package_of(name, [requirement.name for requirement in wanted])
    except NotInstalledError:
        return Library(name, (), "not installed", remedy)
    if package.problem:
        return Library(name, (package,), package.problem.what, package.problem.remedy)
    least = next((r.least for r in (*wanted, *own.needed_for()) if r.name == package.name), "")
    return _of_version(Library(name, (package,)), package, least, remedy)


def _of_version(library: Library, package: Package, least: str, remedy: str) -> Library:
    if version_numbers(package.version) >= version_numbers(least):
        return library
    lacks = f"{package.name} {package.version} is too old: it must be {least} or newer"
    return library._replace(lacks=lacks, remedy=remedy.replace("install", "install --upgrade"))


def extras(own: Own) -> tuple[Library, ...]:
    """Every extra of castwise that is no backend."""
    return tuple([_extra(name, own) for name in own.extras if name not in backend_names()])


def _extra(name: str, own: Own) -> Library:
    found, lacking = [], []
    for requirement in own.needed_for(name):
        package = _installed(requirement)
        if package is None:
            lacking.append(requirement.name)
        else:
            found.append(package)
    lacks = f"{' and '.join(lacking)} not installed" if found and lacking else "not installed"
    remedy = f"pip install 'castwise[{name}]'" if lacking else ""
    return Library(name, tuple(found), lacks if lacking else "", remedy)


def missing(own: Own) -> list[Problem]:
    """What castwise itself needs and is not here, or too old."""
    needed = {requirement.name: requirement for requirement in own.needed_for()}
    needed.setdefault(DEFAULT, Requirement(DEFAULT, ""))
    found = []
    for requirement in needed.values():
        name, least = requirement.name, requirement.least
        package = _installed(requirement)
        wanted = f"'{name}>={least}'" if least else name
        if package is None:
            found.append(Problem(f"{name}, which castwise needs, is not installed.",
                                 f"pip install {wanted}"))  # fmt: skip
        elif version_numbers(package.version) < version_numbers(least):
            found.append(Problem(f"{name} {package.version} is older than {least}, which castwise "
                                 "needs.", f"pip install --upgrade {wanted}"))  # fmt: skip
    return found


def _installed(requirement: Requirement) -> Package | None:
    """The package of a requirement, whose module has the same name."""
    try:
        return package_of(requirement.name.replace("-", "_"), [requirement.name])
    except NotInstalledError:
        return None
