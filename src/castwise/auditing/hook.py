"""What the auditor knows of a framework beyond its dialect: a record, found by module name."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

_HOOKS = "castwise.auditing.hooks"  # one file per framework, found by its name

# dtype, shape, whether it is weak, and the value where it costs nothing to read
Read: TypeAlias = "tuple[Any, tuple[int, ...], bool, Any]"


def read_array(array: Any) -> Read:
    """What most arrays show."""
    return array.dtype, array.shape, False, None


@dataclass(frozen=True, eq=False)
class Hook:
    """How to recognise a framework's arrays and callables. Names are separated by spaces."""

    framework: str  # the module its types live in
    dialect: Callable[[], str] | None = None  # of the version and mode that is running
    modes: str = ""  # dialects that parts of a program may switch to
    arrays: str = ""  # exact types that are arrays
    traced: str = ""  # those of them that stand for an array while a function is traced
    scalars: str = ""  # types whose subclasses are its scalars
    read: Callable[[Any], Read] = read_array
    values: Callable[[Any], Sequence[float]] | None = None  # an array's numbers, flat
    owner: str = ""  # the attribute by which a view names the array it looks at
    callables: str = ""  # types, beyond Python's own, whose instances are its functions
    modules: str = ""  # other top-level modules its types and functions live in
    related: str = ""  # frameworks whose functions take its arrays, and by whose rules they go
    renamed: str = ""  # what its functions' own names have beyond those users write: a pattern
    casts: str = ""  # calls that cast since they are asked to
    makes: str = ""  # calls that make an array of a default dtype unless told otherwise
    keeps: str = ""  # calls that move or choose elements and cast none
    like: dict[str, str] = field(default_factory=dict)  # an op -> calls that cast as it does
    compilers: str = ""  # decorators that read the function themselves
    operands: dict[str, int] = field(default_factory=dict)  # a keyword -> the operand's place
    makes_temporaries: bool = False  # casts operands into arrays of their own before computing
    names: str = ""  # the module users take its names from
    alias: str = ""  # what they call it
    cast: str = ".astype({0})"  # how its source casts an array; {code} is the array as written
    # A mode in which the framework tells every call before it runs; it has a method leave, which
    # says whether the mode has ended. `dispatch` are the modules that stand between.
    mode: Callable[[Callable[..., Any]], Any] | None = None
    dispatch: str = ""
    files: str = ""  # those of `makes` whose dtype is that of a file
    rebinds: bool = False  # `x += y` is `x = x + y` of its arrays, whatever its dialect says
    is_guest: bool = False  # its arrays take part in operations of other frameworks
    makes_without_dtype: str = ""  # those of `makes` that take no dtype=
    takes_dtype_first: str = ""  # calls whose first argument is a dtype
    takes_dtype: str = ""  # other calls that take dtype=
    functions: dict[str, str] = field(default_factory=dict)  # operators that take dtype= as calls
    when_imported: dict[str, Callable[[], None]] = field(default_factory=dict)  # by module
    casts_inside: str = ""  # its own name of a cast, whoever made it
    autocasts: str = ""  # calls whose operands it casts by itself, where it is told to
    watch_inside: Callable[[], None] | None = None  # logs what runs inside its libraries


@functools.cache
def find_hook(module: str) -> Hook | None:
    """The hook of the framework a top-level module belongs to, or None."""
    return _by_module().get(module)


@functools.cache
def _by_module() -> dict[str, Hook]:
    found = {}
    for file in pkgutil.iter_modules([str(Path(__file__).with_name("hooks"))]):
        if file.ispkg:
            continue  # what a hook needs only when it is used
        hook: Hook = importlib.import_module(f"{_HOOKS}.{file.name}").HOOK
        for module in (hook.framework, *hook.modules.split()):
            found[module] = hook
    return found


def all_hooks() -> set[Hook]:
    """Every hook there is."""
    return set(_by_module().values())


def compilers() -> frozenset[str]:
    """The dotted names of all decorators that read a function themselves."""
    return frozenset(name for hook in all_hooks() for name in hook.compilers.split())
