"""The packages that an audit is asked to include: whether they exist, and whether they were
audited. A gate that audited nothing would pass whatever the program does."""

from __future__ import annotations

import importlib.util
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from castwise.auditing.records.seen import Seen
from castwise.errors import UsageError, did_you_mean


def check_names(names: Iterable[str], option: str) -> None:
    """Raises UsageError for a name that no import can match: one with a dot, or no identifier."""
    for name in names:
        top = name.partition(".")[0]
        if name.isidentifier():
            continue
        if all(part.isidentifier() for part in name.split(".")):
            raise UsageError(f"{option} takes a top-level package, not {name!r}: write {top}.")
        packages = _installed_by(name)
        hint = f" {name} installs {' and '.join(packages)}." if packages else ""
        raise UsageError(f"{option} takes a package as `import` names it, not {name!r}.{hint}")


def _installed_by(distribution: str) -> list[str]:
    """The packages that a distribution installs, which may have other names: scikit-learn's is
    sklearn."""
    from importlib.metadata import PackageNotFoundError, files  # slow to load, and seldom needed

    try:
        found_files = files(distribution) or ()
    except (PackageNotFoundError, ValueError):
        return []
    found = {file.parts[0] for file in found_files if file.name == "__init__.py"}
    return sorted(name for name in found if name.isidentifier() and not name.startswith("_"))


def check_found(names: Iterable[str], option: str, places: Sequence[str]) -> None:
    """Raises UsageError for a package that cannot be imported: with `places` before Python's own
    path, as a program that starts there would."""
    for name in names:
        with _also_in(places):
            if not _is_there(name):
                raise UsageError(f"{option}: there is no package {name!r} here.{_nearest(name)} "
                                 "The program's own modules are audited anyway.")  # fmt: skip


def reasons_not_audited(
    names: Iterable[str], option: str, seen: Seen, places: Sequence[str] = ()
) -> list[str]:
    """A sentence for each package of which no source was audited, with what to do about it."""
    left = [name for name in names if name not in seen.facts.included]
    with _also_in(places):
        return [f"{option} {name}: nothing of it was audited, {_reason(name)}" for name in left]


def _reason(name: str) -> str:
    if _is_there(name):
        return ("because no Python source of it was imported. Leave the option out, or run "
                "something that uses the package.")  # fmt: skip
    hint = _nearest(name) or " Name one that can be imported."
    return f"because there is no such package.{hint}"


def _is_there(name: str) -> bool:
    with suppress(ValueError):  # raised for a module that was made by hand
        return importlib.util.find_spec(name) is not None
    return True


def _nearest(name: str) -> str:
    found = {module.name for module in pkgutil.iter_modules()} - sys.stdlib_module_names
    return did_you_mean(name, found)


@contextmanager
def _also_in(places: Sequence[str]) -> Iterator[None]:
    before = sys.path[:]
    sys.path[:0] = places
    try:
        yield
    finally:
        sys.path[:] = before
