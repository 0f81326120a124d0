"""Everything that `castwise doctor` looks at: packages, frameworks, backends, extras, kernels.

It reads the metadata of what is installed, and imports no framework. `checkup` puts it together.
"""

from __future__ import annotations

import email
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import NamedTuple

from castwise.arrays.backends import DEFAULT_BACKEND, backend_names
from castwise.arrays.fusing import COSTS, PACKAGES, VARIABLE, is_installed
from castwise.catalog import dialect_named, dialects, nearest_named
from castwise.errors import CastwiseError, UsageError
from castwise.kernels.resources import cache_directory, get_threads
from castwise.rules.dialect import Dialect
from castwise.settings import Settings, project_settings
from castwise.version import __version__
from castwise.vocab.live import framework_module

# An installed package: its version, and whether its metadata and its module agree.


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


def find_package(module: str, names: Iterable[str] = ()) -> Package:
    """The installed package of a module. It has the module's name, or one of these.

    Raises NotInstalledError if there is none.
    """
    spec = _spec(module)
    found = next(filter(None, map(_distribution, (*names, module))), None)
    if found is None and spec is not None and spec.origin:
        # The last resort, because it reads the lists of files of all packages.
        owners = importlib.metadata.packages_distributions().get(module, ())
        found = next(filter(None, map(_distribution, owners)), None)
    if found is None:
        return _without_metadata(module, spec)
    name, version = _name_and_version(found, module)
    return Package(name, version, _disagreement(found, name, version, module, spec))


def _installed(module: str, names: Iterable[str] = ()) -> Package | None:
    """The same; None if there is none."""
    try:
        return find_package(module, names)
    except NotInstalledError:
        return None


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version starts with.

    >>> version_numbers("2.13.0+cpu")
    (2, 13, 0)
    """
    numbers = re.match(r"[0-9]+(\.[0-9]+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


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
    listed = importlib.metadata.distributions(name=name, path=[str(home)])
    versions = {version, *(_name_and_version(one, name)[1] for one in listed)}
    if len(versions) > 1:
        what = f"{name} is listed as installed in the versions {' and '.join(sorted(versions))}."
        return Problem(what, reinstall)
    if not _is_editable(found) and not _place(spec).is_relative_to(home):
        what = f"`import {module}` finds {_place(spec)}, and not the installed {name} {version}."
        return Problem(what, f"rename or remove {_place(spec)}")
    return None


def _place(spec: ModuleSpec) -> Path:
    """The file of a module, or the directory of one without."""
    is_file = spec.origin and spec.has_location
    folders = list(spec.submodule_search_locations or ())
    return Path(str(spec.origin) if is_file else folders[0] if folders else "").resolve()


def _is_editable(found: importlib.metadata.Distribution) -> bool:
    """Whether the package's files are elsewhere on purpose."""
    text = found.read_text("direct_url.json")
    return bool(text and json.loads(text).get("dir_info", {}).get("editable"))


# The frameworks that are installed, and the dialect that answers for each.

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
        package = _installed(framework_module(name), newest.naming.packages.split())
        if package is not None:
            found.append(_covered(newest, package))
    return tuple(found)


def _covered(newest: Dialect, package: Package) -> Framework:
    name, version = newest.framework, package.version
    try:
        nearest = nearest_named(f"{name}@{version}")
    except UsageError:
        note = "the version is not known" if not version else f"{version} is no version in numbers"
        return Framework(name, package, newest.name, NOT_COVERED, f"{note}: {newest.name} answers.")
    coverage = NEAREST if nearest.note else RECORDED
    return Framework(name, package, nearest.dialect.name, coverage, nearest.note)


# What castwise's own metadata says: what it needs, its extras, the versions of Python it is tested
# with.

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


class OwnMetadata(NamedTuple):
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


def own_metadata() -> OwnMetadata:
    """The metadata of castwise here."""
    try:
        found = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return OwnMetadata()
    classifiers = found.metadata.get_all("Classifier") or ()
    pythons = [match[1] for text in classifiers if (match := _PYTHON.fullmatch(text))]
    needed = filter(None, map(_requirement, found.requires or ()))
    groups = [entry.group for entry in found.entry_points]
    return OwnMetadata(found.version, tuple(needed), tuple(pythons), "pytest11" in groups)


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


# The libraries that castwise can use: what it needs, its backends, its extras.


class Library(NamedTuple):
    """A library under the name that castwise has for it."""

    name: str
    packages: tuple[Package, ...]
    lacks: str = ""  # why it cannot be used
    remedy: str = ""

    @property
    def is_ready(self) -> bool:
        return not self.lacks


def backends(own: OwnMetadata) -> tuple[Library, ...]:
    """Every backend. One is ready if its library is here in a version that castwise takes."""
    return tuple([_backend(name, own) for name in backend_names()])


def _backend(name: str, own: OwnMetadata) -> Library:
    wanted = own.needed_for(name)
    remedy = f"pip install {name}" if name == DEFAULT_BACKEND else f"pip install 'castwise[{name}]'"
    package = _installed(name, [requirement.name for requirement in wanted])
    if package is None:
        return Library(name, (), "not installed", remedy)
    if package.problem:
        return Library(name, (package,), package.problem.what, package.problem.remedy)
    least = next((r.least for r in (*wanted, *own.needed_for()) if r.name == package.name), "")
    if version_numbers(package.version) >= version_numbers(least):
        return Library(name, (package,))
    lacks = f"{package.name} {package.version} is too old: it must be {least} or newer"
    return Library(name, (package,), lacks, remedy.replace("install", "install --upgrade"))


def extras(own: OwnMetadata) -> tuple[Library, ...]:
    """Every extra of castwise that is no backend."""
    return tuple([_extra(name, own) for name in own.extras if name not in backend_names()])


def _extra(name: str, own: OwnMetadata) -> Library:
    found, lacking = [], []
    for requirement in own.needed_for(name):
        package = _required(requirement)
        if package is None:
            lacking.append(requirement.name)
        else:
            found.append(package)
    lacks = f"{' and '.join(lacking)} not installed" if found and lacking else "not installed"
    remedy = f"pip install 'castwise[{name}]'" if lacking else ""
    return Library(name, tuple(found), lacks if lacking else "", remedy)


def missing(own: OwnMetadata) -> list[Problem]:
    """What castwise itself needs and is not here, or too old."""
    needed = {requirement.name: requirement for requirement in own.needed_for()}
    needed.setdefault(DEFAULT_BACKEND, Requirement(DEFAULT_BACKEND, ""))
    found = []
    for requirement in needed.values():
        name, least = requirement.name, requirement.least
        package = _required(requirement)
        wanted = f"'{name}>={least}'" if least else name
        if package is None:
            found.append(Problem(f"{name}, which castwise needs, is not installed.",
                                 f"pip install {wanted}"))  # fmt: skip
        elif version_numbers(package.version) < version_numbers(least):
            found.append(Problem(f"{name} {package.version} is older than {least}, which castwise "
                                 "needs.", f"pip install --upgrade {wanted}"))  # fmt: skip
    return found


def _required(requirement: Requirement) -> Package | None:
    """The package of a requirement, whose module has the same name; None if it is not here."""
    return _installed(requirement.name.replace("-", "_"), [requirement.name])


# Whether large ops run as generated kernels here, and if not, why.

_EXTRAS = {"cpu": "fast", "gpu": "cuda"}  # that install the package for a kind of device


class Kernels(NamedTuple):
    """The kernels of one kind of device."""

    device: str  # "cpu" or "gpu"
    version: str  # of the package that compiles them; nothing if it is not installed
    lacks: str  # why there are none
    remedy: str
    least_size: int  # elements from which they are used
    threads: int | None = None  # of the processor
    cache: str | None = None  # the directory of compiled kernels


def installed_kernels() -> tuple[Kernels, ...]:
    """The kernels of each kind of device."""
    return tuple([_kernels(kind) for kind in PACKAGES])


def _kernels(kind: str) -> Kernels:
    name, size = PACKAGES[kind], COSTS[kind].size
    try:
        package = find_package(name)
    except NotInstalledError:
        remedy = f"pip install 'castwise[{_EXTRAS[kind]}]'"
        return Kernels(kind, "", f"{name} is not installed", remedy, size)
    version = f"{name} {package.version}"
    if package.problem:
        return Kernels(kind, version, package.problem.what, package.problem.remedy, size)
    if not is_installed(kind):
        return Kernels(kind, version, f"{VARIABLE} is {os.environ.get(VARIABLE)}",
                       f"unset {VARIABLE}", size)  # fmt: skip
    cache = str(cache_directory() or "") or None
    return Kernels(kind, version, "", "", size, _threads() if kind == "cpu" else None, cache)


def _threads() -> int | None:
    try:
        return get_threads()
    except UsageError:  # a variable that makes no sense: the first large op says so
        return None


# All of it together.

_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"  # pytest's own variable


@dataclass(frozen=True, slots=True)
class Versions:
    """What runs here."""

    castwise: str
    installed_as: str  # what the metadata says of it; nothing where it is not installed
    place: str  # where castwise is imported from
    python: str
    implementation: str
    platform: str
    tested: tuple[str, ...]  # the versions of Python that castwise is tested with

    @property
    def is_tested(self) -> bool:
        return not self.tested or self.python.rpartition(".")[0] in self.tested


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is here, and what is wrong with it."""

    versions: Versions
    frameworks: tuple[Framework, ...]
    backends: tuple[Library, ...]
    extras: tuple[Library, ...]
    kernels: tuple[Kernels, ...]
    plugins: tuple[Library, ...]
    settings: Settings | None  # None: they make no sense
    problems: tuple[Problem, ...]


def checkup(start: Path) -> Checkup:
    """What is installed here, and the settings of a directory."""
    own = own_metadata()
    versions = Versions(
        castwise=__version__,
        installed_as=own.version,
        place=str(Path(__file__).parent),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        platform=f"{platform.system()} {platform.machine()}",
        tested=own.pythons,
    )
    frameworks, usable = installed_frameworks(), backends(own)
    packages = [*(f.package for f in frameworks), *(p for b in usable for p in b.packages)]
    broken = dict.fromkeys(package.problem for package in packages if package.problem)
    settings, wrong = _settings(start)
    problems = (*missing(own), *broken, *wrong)
    plugins = _plugins(own.has_pytest_plugin)
    kernels = installed_kernels()
    return Checkup(versions, frameworks, usable, extras(own), kernels, plugins, settings, problems)


def _settings(start: Path) -> tuple[Settings | None, list[Problem]]:
    try:
        return project_settings(start), []
    except UsageError as error:
        return None, [Problem(str(error), "correct the settings")]


def _plugins(is_registered: bool) -> tuple[Library, ...]:
    """The programs that castwise plugs into, where they are installed."""
    found = []
    for name in ("pytest", "IPython"):
        package = _installed(name)
        if package is None:
            continue
        lacks, remedy = "", ""
        if name == "pytest" and not is_registered:
            lacks, remedy = "castwise is not installed, only imported", "pip install castwise"
        elif name == "pytest" and os.environ.get(_NO_PLUGINS):
            lacks, remedy = f"{_NO_PLUGINS} is set", "pytest -p castwise.plugins.pytest"
        found.append(Library(name, (package,), lacks, remedy))
    return tuple(found)
