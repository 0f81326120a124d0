"""The hooks of all frameworks: what the auditor knows about each beyond its dialect, as data.

One file per framework holds its `Hook`, named HOOK; one that a framework brings along, such as
NumPy's masked arrays, stands in its file, under its own name. A file with `_` in its name is a part
of a hook, which it needs only when it is used.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from castwise.auditing.hook import Hook


@functools.cache
def find_hook(module: str) -> Hook | None:
    """The hook of the framework a top-level module belongs to, or None."""
    return _hooks_by_module().get(module)


@functools.cache
def hooked_module(module: str) -> str:
    """The module that stands for a function's or a type's module: its top-level module, or the part
    of a framework that has a hook of its own."""
    parts = module.split(".")
    for size in range(len(parts), 1, -1):
        name = ".".join(parts[:size])
        if name in _hooks_by_module():
            return name
    return parts[0]


def all_hooks() -> set[Hook]:
    """All hooks."""
    return set(_hooks_by_module().values())


def compilers() -> frozenset[str]:
    """The dotted names of all decorators that compile a function themselves."""
    return frozenset(name for hook in all_hooks() for name in hook.compiling.compilers.split())


@functools.cache
def _hooks_by_module() -> dict[str, Hook]:
    found = {}
    for file in pkgutil.iter_modules(__path__):
        if "_" in file.name:
            continue
        for hook in vars(importlib.import_module(f"{__name__}.{file.name}")).values():
            if isinstance(hook, Hook):
                for module in f"{hook.framework} {hook.modules} {hook.callables.random}".split():
                    found[module] = hook
    return found
