"""Rewrites the user's modules when they are imported."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import os
import runpy
import site
import sys
import types
from collections.abc import Collection, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

from castwise.auditing.hook import all_hooks
from castwise.auditing.noting.callees import observed_file
from castwise.auditing.noting.log import DIGESTS, FILES, INCLUDED, LOG, SITES, UNOBSERVED
from castwise.auditing.observing import arrivals, originals, switching
from castwise.auditing.records.places import Site, Unobserved
from castwise.auditing.rewriting.marks import first_mark, full_path
from castwise.auditing.rewriting.source import digest_of
from castwise.auditing.rewriting.trying import edited
from castwise.auditing.running.compiling import Entry, Sites, UnobservedFunctions, compiled

_OWN = str(Path(__file__).parents[2]) + os.sep


def audited_code(source: bytes, path: str) -> types.CodeType:
    """The code of a module with its observers; registers the sites of their marks."""
    code, sites, unobserved = rewritten(source, path)
    register(path, source, sites, unobserved)
    return code


def rewritten(
    source: bytes, path: str, *, is_main: bool = False, checks: bool | None = None
) -> Entry:
    """A module's code, its sites and its unobserved functions, with the changes that are tried.
    `checks` defaults to the setting of the process.

    Raises SyntaxError, or ValueError, as compiling the source would.
    """
    checks = _checks if checks is None else checks
    return compiled(edited(source, full_path(path)), path, is_main=is_main, checks=checks)


def register(
    path: str,
    source: bytes,
    sites: Sites,
    unobserved: UnobservedFunctions,
    *,
    is_main: bool = False,
) -> None:
    """Registers the sites of a file's marks, and all its functions as observed."""
    register_sites(path, sites)
    DIGESTS[full_path(path)] = digest_of(source)
    source = edited(source, full_path(path))
    originals.keep_source(path, source, is_main=is_main, checks=_checks)
    UNOBSERVED[full_path(path)] = [Unobserved(*fields) for fields in unobserved]
    observed_file(path)
    if _checks:
        CHECKED.add(path)


def register_sites(path: str, sites: Sites) -> None:
    """Registers the sites of the marks in some code of a file."""
    SITES.update({mark: Site(*fields) for mark, fields in sites.items()})
    full = full_path(path)
    FILES[first_mark(full)] = full


CHECKED: set[str] = set()  # files whose operations can be judged before they run
_checks = False


class Finder(importlib.abc.MetaPathFinder):
    """Finds what the other finders find, and gives the user's modules an auditing loader."""

    def __init__(self, include: Collection[str] = (), *, only_included: bool = False) -> None:
        self._include = frozenset(include)
        self._only_included = only_included

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        own = sys.meta_path.index(self)  # the finders before this one found nothing
        for finder in sys.meta_path[own + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._audit(spec)
                return spec
        return None

    def _audit(self, spec: ModuleSpec) -> None:
        arrivals.notice(spec)
        if type(spec.loader) is SourceFileLoader and spec.origin:
            top = spec.name.partition(".")[0]
            is_own = not self._only_included and is_users_own(spec.origin)
            is_included = top in self._include
            if (is_included or is_own) and _give_code(spec.loader, spec.name, spec.origin):
                INCLUDED.update({top} if is_included else ())


def _give_code(loader: SourceFileLoader, name: str, path: str) -> bool:
    """Gives a loader the rewritten code, and returns whether there is any. It is compiled before
    the loader runs, so that a module that cannot be compiled fails as usual."""
    try:
        code = audited_code(loader.get_data(path), path)
    except Exception as error:
        not_rewritten(path, name, error)
        return False
    loader.get_code = lambda fullname: code  # type: ignore[method-assign]
    return True


def not_rewritten(path: str, name: str, error: Exception) -> None:
    """Records that a file runs unchanged, because the rewriter or Python could not read it."""
    UNOBSERVED[path] = [Unobserved(1, name, f"not rewritten: {error}")]


def is_users_own(path: str) -> bool:
    """Whether a file belongs to the user: not to Python, an installed package or castwise."""
    # The path and its link target: Debian links its sitecustomize from /etc.
    places = (*_installed(), _OWN)
    named = (os.path.abspath(path), os.path.realpath(path))
    return not path.startswith("<") and not any(name.startswith(places) for name in named)


@functools.cache
def _installed() -> tuple[str, ...]:
    library = os.path.dirname(os.__file__)  # sysconfig may not be ready while site runs
    found = {library, *getattr(site, "getsitepackages", list)(), site.getusersitepackages()}
    return tuple(os.path.realpath(place) + os.sep for place in found if place)


def start(
    include: Collection[str] = (),
    *,
    is_deep: bool = False,
    checks: bool = False,
    only_included: bool = False,
) -> Finder:
    """Audits every user module that is imported from now on, or only those of the included
    packages; if deep, also operations inside the libraries of frameworks that support it. With
    `checks` operations can be judged before they run."""
    global _checks
    _checks = checks
    switching.record()
    LOG.is_deep = is_deep
    finder = Finder(include, only_included=only_included)
    _watch_imports(finder)
    for hook in all_hooks():
        for module, action in hook.watching.when_recording.items():
            arrivals.when_imported(module, action)
        if is_deep and hook.watching.inside:
            arrivals.when_imported(hook.framework, hook.watching.inside)
    if not only_included:
        _audit_scripts()
        originals.file_auditors.append(_audit_file)
    return finder


def prepare() -> None:
    """Makes sure that functions rewritten one by one find their observers, and that their readers
    find the original code."""
    switching.prepare()
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        _watch_imports(Finder(only_included=True))


def _watch_imports(finder: Finder) -> None:
    for hook in all_hooks():
        for module, action in hook.watching.when_imported.items():
            arrivals.when_imported(module, action)
    _installed()  # now: it imports modules itself, which must not happen in the middle of an import
    sys.meta_path.insert(0, finder)


def _audit_file(path: str) -> None:
    """Audits a file whose functions come from another process."""
    if is_users_own(path):
        audited_code(Path(path).read_bytes(), path)


def _audit_scripts() -> None:
    """Audits scripts run by runpy, which uses no finder: multiprocessing's children run the main
    script this way."""
    name = "_get_code_from_file"
    plain = getattr(runpy, name)

    def audited(*arguments: Any) -> object:
        path = os.fspath(arguments[-1])
        result = plain(*arguments)
        if not is_users_own(path):
            return result
        try:
            code = audited_code(Path(path).read_bytes(), path)
        except Exception as error:
            not_rewritten(path, path, error)
            return result
        return (code, *result[1:]) if isinstance(result, tuple) else code

    setattr(runpy, name, audited)
