"""Adds observers to one function by recompiling its source; the function object stays the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeVar

from castwise.auditing.noting.callees import observed_code
from castwise.auditing.noting.log import UNOBSERVED
from castwise.auditing.observing.originals import keep_source
from castwise.auditing.records.places import Unobserved
from castwise.auditing.rewriting.marks import full_path
from castwise.auditing.running.loading import prepare, register_sites, rewritten
from castwise.errors import UsageError

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_KIND = 0x3FF  # flags of a code object that say what it is; the rest come from __future__


def audited(function: Decorated) -> Decorated:
    """Lets `cw.audit()` and `cw.enforce` observe a function wherever it runs.

    Its code is compiled again from its source, with observers around its operations; it is the same
    object, with its closure, defaults and attributes. A function under other decorators is reached
    through their __wrapped__. One that another compiler reads stays unchanged and is listed as not
    observed.

    >>> import numpy as np
    >>> from castwise.auditing.enforcing.contexts import audit
    >>> @audited
    ... def scaled(x, by):
    ...     return x * by
    >>> with audit() as log:
    ...     y = scaled(np.ones(3, dtype=np.float32), np.arange(3))
    >>> [str(finding) for finding in log.findings]
    ['float32[3] * int64[3] -> float64']

    Raises UsageError if the source cannot be read or does not match the function.
    """
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(inner, FunctionType):
        raise UsageError(
            f"@cw.audited rewrites a Python function, not a {type(inner).__name__}. Put it below "
            "decorators that compile or hide the function."
        )
    code = _new_code(inner)
    if code is not None:
        prepare()
        observed_code(code)
        inner.__code__ = code
    return function


def _new_code(function: FunctionType) -> CodeType | None:
    """The function's code with its observers; None if another compiler reads the function."""
    old = function.__code__
    try:
        lines, _ = inspect.findsource(old)
    except (OSError, TypeError):
        raise UsageError(
            f"the source of {function.__qualname__} cannot be read, and @cw.audited rewrites it. "
            "Write the function to a file."
        ) from None
    source = "".join(lines).encode()
    module, sites, unobserved = rewritten(source, old.co_filename, checks=True)
    code = code_like(old, module)
    if code is None:
        raise UsageError(
            f"{function.__qualname__} is not found in {old.co_filename}: the file has changed "
            "since it was loaded, or there are several on the line."
        )
    register_sites(old.co_filename, sites)
    own = unobserved_as(old, [Unobserved(*fields) for fields in unobserved])
    if own:
        UNOBSERVED.setdefault(full_path(old.co_filename), []).extend(own)
        return None
    keep_source(old.co_filename, source, checks=True)
    return code


def unobserved_as(code: CodeType, left: Iterable[Unobserved]) -> list[Unobserved]:
    """Those of the functions left unchanged in a file that are this one."""
    first = code.co_firstlineno
    last = max((line for _, _, line in code.co_lines() if line), default=first)
    return [u for u in left if u.name == code.co_name and first <= u.line <= last]


def code_like(old: CodeType, module: CodeType) -> CodeType | None:
    """The code of the same function in a rewritten module, if there is exactly one: observers add
    no variables and no lines."""
    alike = [new for new in _codes(module) if _identity(new) == _identity(old)]
    return alike[0] if len(alike) == 1 else None


def _identity(code: CodeType) -> tuple[Any, ...]:
    kind = code.co_flags & _KIND
    return code.co_name, code.co_firstlineno, code.co_varnames, code.co_freevars, kind


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
