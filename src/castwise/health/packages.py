"""An installed package: its version, and whether its metadata and its module agree."""

from __future__ import annotations

import email
import importlib.metadata
import importlib.util
import json
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import NamedTuple

from castwise.errors import CastwiseError


class Problem(NamedTuple):
    """What is wrong, and what to do."""

    what: str
    remedy: str


class Package(NamedTuple):
    """A package of a module, as far as it can be found without importing it."""

    name: str  # what pip calls it
    version: str  # nothing where no metadata has it
    problem: Problem | None = None


class NotInstalledError(CastwiseError):
    """Neither the module nor a package of it is here."""


def package_of(module: str, names: Iterable[str] = ()) -> Package:
    """The installed package of a module. It has the module's name, or one of these.

    Raises NotInstalledError if there is none.
    """
    spec = _spec(module)
    found = next(filter(None, map(_distribution, (*names, module))), None)
    if found is None and spec is not None and spec.origin:
        found = next(filter(None, map(_distribution, _owners(module))), None)
    if found is None:
        return _without_metadata(module, spec)
    name, version = _name_and_version(found, module)
    return Package(name, version, _disagreement(found, name, version, module, spec))


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version starts with.

    >>> version_numbers("2.13.0+cpu")
    (2, 13, 0)
    """
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)


def _spec(module: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(module)
    except (ImportError, ValueError):  # ValueError: something put a module without one there
        return None


def _distribution(name: str) -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _owners(module: str) -> list[str]:
    """The packages that have a module. It reads the lists of files of all of them, so it is the
    last resort."""
    return list(importlib.metadata.packages_distributions().get(module, ()))


def _without_metadata(module: str, spec: ModuleSpec | None) -> Package:
    if spec is None or not spec.origin:  # a directory without a file to import is no package
        raise NotInstalledError(module)
    what = f"`import {module}` finds {_place(spec)}, which no installed package has."
    remedy = f"rename or remove it; if it is meant to be there, pip install {module}"
    return Package(module, "", Problem(what, remedy))


def _name_and_version(found: importlib.metadata.Distribution, module: str) -> tuple[str, str]:
    """What the metadata says, which is nothing where an installation was cut short."""
    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    said = email.message_from_string(text)
    return said["Name"] or module, said["Version"] or ""


def _disagreement(
    found: importlib.metadata.Distribution,
    name: str,
    version: str,
    module: str,
    spec: ModuleSpec | None,
) -> Problem | None:
    reinstall = f"pip install --force-reinstall {name}" + (f"=={version}" if version else "")
    if not version:
        return Problem(f"{name} is listed as installed, and its metadata is empty.", reinstall)
    if spec is None:
        what = f"{name} {version} is listed as installed, and `import {module}` finds nothing."
        return Problem(what, reinstall)
    home = Path(str(found.locate_file(""))).resolve()
    others = _versions_in(home, name) - {version}
    if others:
        listed = " and ".join(sorted({version, *others}))
        return Problem(f"{name} is listed as installed in the versions {listed}.", reinstall)
    if not _is_editable(found) and not _place(spec).is_relative_to(home):
        what = f"`import {module}` finds {_place(spec)}, and not the installed {name} {version}."
        return Problem(what, f"rename or remove {_place(spec)}")
    return None


def _place(spec: ModuleSpec) -> Path:
    """The file of a module, or the directory of one without."""
    is_file = spec.origin and spec.has_location
    folders = list(spec.submodule_search_locations or ())
    return Path(str(spec.origin) if is_file else folders[0] if folders else "").resolve()


def _versions_in(home: Path, name: str) -> set[str]:
    """The versions of a package that are listed in one directory."""
    listed = importlib.metadata.distributions(name=name, path=[str(home)])
    return {_name_and_version(found, name)[1] for found in listed}


def _is_editable(found: importlib.metadata.Distribution) -> bool:
    """Whether the package's files are elsewhere on purpose."""
    text = found.read_text("direct_url.json")
    return bool(text and json.loads(text).get("dir_info", {}).get("editable"))
