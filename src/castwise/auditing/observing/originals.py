"""The original code of functions, for compilers that read a function's code and not its source.

A compiler may reach any function of the program: as an argument, as a method of a module, through a
call in another function. It gets the code without observers, as in the original program.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Iterator
from typing import Any

from castwise.auditing.observing.callees import rewritten_files
from castwise.auditing.observing.log import UNOBSERVED
from castwise.auditing.records.places import Unobserved
from castwise.auditing.rewriting.trying import source_of


def original_code(code: types.CodeType, compiler: str) -> types.CodeType:
    """A code object without observers; the same one if it has none. Code that a compiler reads is
    listed as not observed."""
    if code.co_filename not in rewritten_files:
        return code
    candidates = _originals(code.co_filename).get(_key(code), [])
    if len(candidates) != 1:
        return code
    found = candidates[0]
    if found.co_code != code.co_code:
        _list(code, compiler)
    return found


def restore(function: Any, compiler: str) -> None:
    """Removes the observers from a function permanently."""
    if isinstance(function, types.FunctionType):
        function.__code__ = original_code(function.__code__, compiler)


def _list(code: types.CodeType, compiler: str) -> None:
    listed = UNOBSERVED.setdefault(os.path.abspath(code.co_filename), [])
    entry = Unobserved(code.co_firstlineno, code.co_name, compiler)
    if entry not in listed:
        listed.append(entry)


@functools.cache
def _originals(path: str) -> dict[object, list[types.CodeType]]:
    """All original code objects of a file, by their keys."""
    found: dict[object, list[types.CodeType]] = {}
    whole = compile(source_of(path), path, "exec", dont_inherit=True)
    for code in _with_nested(whole):
        found.setdefault(_key(code), []).append(code)
    return found


def _with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_nested(constant)


def _key(code: types.CodeType) -> object:
    names = code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_name, code.co_firstlineno, _begin(code), names


def _begin(code: types.CodeType) -> tuple[int, int]:
    """Where a function's code starts: several lambdas may be on one line."""
    positions: Any = getattr(code, "co_positions", tuple)()
    places = [(line, column) for line, _, column, end in positions if line and column and end]
    return min(places, default=(0, 0))
