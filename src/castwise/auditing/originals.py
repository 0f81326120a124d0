"""Exchanges the code of a function with observers and its original code.

A compiler may reach any function of the program: as an argument, as a method of a module, through a
call in another function. A serialiser writes a function's code to a file or sends it to a process
without castwise. Both get the code without observers, as in the original program. A process of the
same audit that receives the function adds the observers again.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from castwise.auditing.calls import rewritten_files
from castwise.auditing.hooks import compilers
from castwise.auditing.log import LOG, UNOBSERVED
from castwise.auditing.records import Unobserved
from castwise.auditing.rewriting import full_path, rewrite

_Codes: TypeAlias = "dict[tuple[object, ...], types.CodeType]"

_TEXT_ANNOTATIONS = annotations.compiler_flag


class _Rewriting(NamedTuple):
    """What a file was rewritten from; the file itself may change while the program runs."""

    source: bytes
    is_main: bool
    checks: bool


_rewritings: dict[str, list[_Rewriting]] = {}  # by path; several if a module was reloaded


def keep_source(path: str, source: bytes, *, is_main: bool = False, checks: bool = False) -> None:
    """Keeps the source of a file that is rewritten."""
    known = _rewritings.setdefault(path, [])
    rewriting = _Rewriting(source, is_main, checks)
    if rewriting not in known:
        known.append(rewriting)


def original_code(code: types.CodeType) -> types.CodeType:
    """A code object as the original program has it; the same one if its file is not rewritten."""
    rewritings = _rewritings.get(code.co_filename)
    if not rewritings:
        return code
    return _exchanged(code, rewritings, 0)


def received_code(code: types.CodeType) -> types.CodeType:
    """The code with observers of a function from another process; the same one if its file is not
    audited or has another version of it."""
    path = code.co_filename
    try:
        if path not in _rewritings:
            _rewritings[path] = []  # ask once
            for audit_file in file_auditors:
                audit_file(path)
    except Exception:  # there is no such file here
        return code
    if path not in rewritten_files:  # only some of its functions are observed
        return code
    return _exchanged(code, _rewritings[path], 1)


file_auditors: list[Callable[[str], None]] = []  # keep the source of a file that is audited


def _exchanged(
    code: types.CodeType, rewritings: list[_Rewriting], direction: int
) -> types.CodeType:
    """The original code of some rewritten one (direction 0), or the other way round (1)."""
    key = _key(code)
    future = code.co_flags & _TEXT_ANNOTATIONS
    try:
        for rewriting in reversed(rewritings):
            found = _both_ways(code.co_filename, rewriting, future)[direction].get(key)
            if found is not None:
                return found
    except Exception as error:
        LOG.failed(error)
    return code


def compiled_code(code: types.CodeType, compiler: str) -> types.CodeType:
    """The original code for a compiler; it is listed as not observed."""
    found = original_code(code)
    if found.co_code != code.co_code:
        listed = UNOBSERVED.setdefault(os.path.abspath(code.co_filename), [])
        entry = Unobserved(code.co_firstlineno, code.co_name, compiler)
        if entry not in listed:
            listed.append(entry)
    return found


def _nested(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


@functools.cache
def _both_ways(path: str, rewriting: _Rewriting, future: int) -> tuple[_Codes, _Codes]:
    """All original code objects of a file by the keys of the rewritten ones, and these by the keys
    of the originals."""
    source, is_main, checks = rewriting
    # A notebook's cells may await at the top, and follow a __future__ import of an earlier cell.
    flags = future | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with _without_warnings():
        tree = rewrite(source, full_path(path), compilers(), is_main=is_main, checks=checks).tree
        new = compile(tree, path, "exec", flags, dont_inherit=True)
        plain = compile(source, path, "exec", flags, dont_inherit=True)
    pairs = list(_pairs(new, plain))
    originals = {_key(code): original for code, original in pairs}
    return originals, {_key(original): code for code, original in pairs}


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Hides warnings of the compiler, which the program has seen before. catch_warnings would make
    Python show the program's other warnings again."""
    ignored = [("ignore", None, kind, None, 0) for kind in (SyntaxWarning, DeprecationWarning)]
    filters: Any = warnings.filters
    filters[:0] = ignored
    try:
        yield
    finally:
        for entry in ignored:
            with contextlib.suppress(ValueError):  # another thread has reset them
                filters.remove(entry)


def _pairs(
    new: types.CodeType, plain: types.CodeType
) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """The code objects of a rewritten module with the original ones: observers change neither
    names nor lines nor the order of functions."""
    yield new, plain
    originals: dict[object, list[types.CodeType]] = {}
    for code in _nested(plain):
        originals.setdefault(_place(code), []).append(code)
    rewritten: dict[object, list[types.CodeType]] = {}
    for code in _nested(new):
        rewritten.setdefault(_place(code), []).append(code)
    for place, codes in rewritten.items():
        found = originals.get(place, [])
        if len(found) == 1:  # Python 3.10 shares the code of equal lambdas on one line
            found = found * len(codes)
        if len(found) == len(codes):
            for code, original in zip(codes, found, strict=True):
                yield from _pairs(code, original)


def _place(code: types.CodeType) -> tuple[object, ...]:
    return code.co_name, code.co_firstlineno, code.co_varnames


def _key(code: types.CodeType) -> tuple[object, ...]:
    """What tells a code object from all others. Equality of code objects does not: before Python
    3.12 it depends on how often the code has run."""
    constants = tuple([_constant_key(constant) for constant in code.co_consts])
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, constants


def _constant_key(constant: object) -> object:
    if isinstance(constant, types.CodeType):
        return _key(constant)
    return constant if isinstance(constant, frozenset) else repr(constant)
