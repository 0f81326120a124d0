"""Makes one function observed, by its source; the function stays itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeVar

from castwise.auditing import scopes
from castwise.auditing.callees import observed_code
from castwise.auditing.loading import register_sites, rewritten
from castwise.errors import UsageError

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def audited(function: Decorated) -> Decorated:
    """Makes a function observed by `cw.audit()` and `cw.enforce` wherever it runs.

    Its code is compiled again from its source, with observers around its operations; it is the
    same object, with its closure, defaults and attributes. A function below other decorators is
    reached through the __wrapped__ they leave.

    Raises UsageError where the source cannot be read or is not that of the function.
    """
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(inner, FunctionType):
        raise UsageError(
            f"@cw.audited rewrites a Python function, not a {type(inner).__name__}. Put it below "
            "decorators that compile or hide the function."
        )
    code = _new_code(inner)
    scopes.prepare()
    observed_code(code)
    inner.__code__ = code
    return function


def _new_code(function: FunctionType) -> CodeType:
    old = function.__code__
    try:
        lines, _ = inspect.findsource(old)
    except (OSError, TypeError):
        raise UsageError(
            f"the source of {function.__qualname__} cannot be read, and @cw.audited rewrites it. "
            "Write the function to a file."
        ) from None
    module, sites, _ = rewritten("".join(lines).encode(), old.co_filename, checks=True)
    alike = [new for new in _codes(module) if _is_same(new, old)]
    if len(alike) != 1:
        raise UsageError(
            f"{function.__qualname__} is not found in {old.co_filename}: the file has changed "
            "since it was loaded, or there are several on the line."
        )
    register_sites(old.co_filename, sites)
    return alike[0]


def _is_same(new: CodeType, old: CodeType) -> bool:
    """Whether a rewritten function is that one: observers add neither variables nor lines."""
    return (
        (new.co_name, new.co_firstlineno, new.co_varnames, new.co_freevars, new.co_flags)
        == (old.co_name, old.co_firstlineno, old.co_varnames, old.co_freevars, old.co_flags)
    )  # fmt: skip


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
