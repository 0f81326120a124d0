"""Everything that `castwise doctor` looks at."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from castwise import __version__
from castwise.errors import UsageError
from castwise.health.frameworks import Framework, installed_frameworks
from castwise.health.kernels import Kernels, installed_kernels
from castwise.health.libraries import Library, backends, extras, missing
from castwise.health.own import own_metadata
from castwise.health.packages import NotInstalledError, Package, Problem, package_of
from castwise.settings.effective import Settings, settings_of

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
        place=str(Path(__file__).parents[1]),
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
        return settings_of(start), []
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


def _installed(name: str) -> Package | None:
    try:
        return package_of(name)
    except NotInstalledError:
        return None
