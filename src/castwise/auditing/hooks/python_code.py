"""Lets the standard library write and show the original code of functions, without observers."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from castwise.auditing.originals import original_code, received_code
from castwise.auditing.rewriting import PREFIX
from castwise.auditing.scopes import standing_in

_CONTAINERS = (tuple, list, set, frozenset)


def marshal_originals() -> None:
    """Makes marshal write original code."""
    module: Any = sys.modules["marshal"]
    plain_dumps, plain_dump = module.dumps, module.dump

    @standing_in(plain_dumps)
    def dumps(value: Any, *options: Any, **named: Any) -> Any:
        data = plain_dumps(value, *options, **named)
        if PREFIX.encode() not in data:
            return data
        return plain_dumps(_with_originals(value), *options, **named)

    @standing_in(plain_dump)
    def dump(value: Any, file: Any, *options: Any, **named: Any) -> Any:
        data = dumps(value, *options, **named)
        return file.write(data)

    module.dumps, module.dump = dumps, dump


def _with_originals(value: Any) -> Any:
    """A value that marshal can write, with all code in it replaced."""
    kind = type(value)
    if kind is types.CodeType:
        return original_code(value)
    if kind in _CONTAINERS:
        return kind([_with_originals(element) for element in value])
    if kind is dict:
        return {_with_originals(k): _with_originals(v) for k, v in value.items()}
    return value


def show_originals() -> None:
    """Makes dis show original code, except at a place in running code, which belongs to the
    rewritten code."""
    module: Any = sys.modules["dis"]
    plain_find, plain_show = module._get_code_object, module._disassemble_recursive

    @standing_in(plain_find)
    def find(thing: Any) -> Any:
        code = plain_find(thing)
        return code if code is thing else original_code(code)

    module._get_code_object = find
    module._disassemble_recursive = taking_originals(plain_show)


def hide_observers() -> None:
    """Leaves the observers out of the names that inspect finds in a function."""
    module: Any = sys.modules["inspect"]
    plain = module.getclosurevars

    @standing_in(plain)
    def getclosurevars(function: Any) -> Any:
        found = plain(function)
        own = {name: v for name, v in found.builtins.items() if not name.startswith(PREFIX)}
        return found._replace(builtins=own)

    module.getclosurevars = getclosurevars


def taking_originals(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gets original code as its first argument."""

    @standing_in(plain)
    def taking(code: Any, *arguments: Any, **named: Any) -> Any:
        return plain(original_code(code), *arguments, **named)

    return taking


def making_observed(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes functions from code, its first argument: with observers."""

    @standing_in(plain)
    def making(code: Any, *arguments: Any, **named: Any) -> Any:
        return plain(received_code(code), *arguments, **named)

    return making
