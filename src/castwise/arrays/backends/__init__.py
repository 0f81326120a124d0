"""The libraries that hold and compute arrays, one file each; and how they are found.

A library is imported when something asks for its backend, by name or by an array of it. What the
methods of a backend return is documented once for all, in the protocols that it follows.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from castwise.arrays.backend import Backend, finds_installed
from castwise.errors import UsageError, did_you_mean

DEFAULT_BACKEND = "numpy"  # for data that is not an array yet
EAGER = ("numpy", "torch", "jax")  # they compute immediately
_when_found: list[Callable[[str], object]] = []
_names: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()  # type of arrays -> backend


@functools.cache
def backend_names() -> tuple[str, ...]:
    """The names of all backends, installed or not."""
    files = [file.name for file in pkgutil.iter_modules(__path__)]
    return tuple(name for name in files if "_" not in name)  # numpy_reductions is a part of numpy


@functools.cache
def backend_named(name: str) -> Backend:
    """The backend of a name such as "numpy".

    Raises UsageError for an unknown name or a library that is not installed.
    """
    known = backend_names()
    if name not in known:
        raise UsageError(f"unknown backend {str(name)[:40]!r}.{did_you_mean(str(name), known)}")
    try:
        found: Backend = importlib.import_module(f"{__name__}.{name}").backend()
        for tell in _when_found:
            tell(name)
    except ImportError as error:
        raise UsageError(
            f"the backend {name} needs {error.name}: pip install castwise[{name}]."
        ) from None
    return found


def when_found(tell: Callable[[str], object]) -> None:
    """Calls a function with the name of each backend that is found from now on."""
    _when_found.append(tell)


@finds_installed
def installed_backends() -> Iterator[Backend]:
    """All backends whose libraries are installed."""
    for name in backend_names():
        try:
            yield backend_named(name)
        except UsageError:  # not installed
            continue


def array_backend(thing: Any) -> Backend | None:
    """The backend that an array belongs to, or None."""
    kind = type(thing)
    if kind not in _names:  # found without importing any library
        roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
        found = (name for name in backend_names() if roots & {name, f"{name}lib"})
        _names[kind] = next(found, None)
    name = _names[kind]
    backend = backend_named(name) if name else None
    return backend if backend and backend.owns(thing) else None
