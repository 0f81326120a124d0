"""Whether large ops run as generated kernels here, and if not, why."""

from __future__ import annotations

import os
from typing import NamedTuple

from castwise.errors import UsageError
from castwise.execute.fusing.kernels import COSTS, PACKAGES, VARIABLE, is_installed
from castwise.health.packages import NotInstalledError, package_of
from castwise.kernels import store, threads

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
        package = package_of(name)
    except NotInstalledError:
        remedy = f"pip install 'castwise[{_EXTRAS[kind]}]'"
        return Kernels(kind, "", f"{name} is not installed", remedy, size)
    version = f"{name} {package.version}"
    if package.problem:
        return Kernels(kind, version, package.problem.what, package.problem.remedy, size)
    if not is_installed(kind):
        return Kernels(kind, version, f"{VARIABLE} is {os.environ.get(VARIABLE)}",
                       f"unset {VARIABLE}", size)  # fmt: skip
    cache = str(store.directory() or "") or None
    return Kernels(kind, version, "", "", size, _threads() if kind == "cpu" else None, cache)


def _threads() -> int | None:
    try:
        return threads.get_threads()
    except UsageError:  # a variable that makes no sense: the first large op says so
        return None
