"""Gives the original code of functions, without observers, to what reads code: the modules of the
standard library that write and show it, serialisers, and Numba."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from castwise.auditing.originals import compiled_code, original_code, received_code
from castwise.auditing.process import stand_in_for
from castwise.auditing.rewriting import PREFIX


def _with_original_code(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gets original code as its first argument."""

    @stand_in_for(plain)
    def reading(code: Any, *arguments: Any, **named: Any) -> Any:
        return plain(original_code(code), *arguments, **named)

    return reading


def _with_observed_code(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes functions from code, its first argument: with observers."""

    @stand_in_for(plain)
    def making(code: Any, *arguments: Any, **named: Any) -> Any:
        return plain(received_code(code), *arguments, **named)

    return making


# The standard library.

_CONTAINERS = (tuple, list, set, frozenset)


def marshal_originals(marshal: Any) -> None:
    """Makes marshal write original code."""
    plain_dumps, plain_dump = marshal.dumps, marshal.dump

    @stand_in_for(plain_dumps)
    def dumps(value: Any, *options: Any, **named: Any) -> Any:
        data = plain_dumps(value, *options, **named)
        if PREFIX.encode() not in data:
            return data
        return plain_dumps(_with_originals(value), *options, **named)

    @stand_in_for(plain_dump)
    def dump(value: Any, file: Any, *options: Any, **named: Any) -> Any:
        data = dumps(value, *options, **named)
        return file.write(data)

    marshal.dumps, marshal.dump = dumps, dump


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


def show_originals(dis: Any) -> None:
    """Makes dis show original code, except at a place in running code, which belongs to the
    rewritten code."""
    plain_find = dis._get_code_object

    @stand_in_for(plain_find)
    def find(thing: Any) -> Any:
        code = plain_find(thing)
        return code if code is thing else original_code(code)

    dis._get_code_object = find
    dis._disassemble_recursive = _with_original_code(dis._disassemble_recursive)


def hide_observers(inspect: Any) -> None:
    """Leaves the observers out of the names that inspect finds in a function."""
    plain = inspect.getclosurevars

    @stand_in_for(plain)
    def getclosurevars(function: Any) -> Any:
        found = plain(function)
        own = {name: v for name, v in found.builtins.items() if not name.startswith(PREFIX)}
        return found._replace(builtins=own)

    inspect.getclosurevars = getclosurevars


# Serialisers, which write the code of functions. What they read is observed again.


def cloudpickle_originals(cloudpickle: Any) -> None:
    """Makes the module of cloudpickle that holds its pickler write original code."""
    names = vars(cloudpickle)
    if "CloudPickler" not in names:
        return
    reducers = names["CloudPickler"]._dispatch_table
    reducers[types.CodeType] = _with_original_code(reducers[types.CodeType])
    for reader in ("_extract_code_globals", "_find_imported_submodules"):
        if reader in names:
            names[reader] = _with_original_code(names[reader])
    maker = names.get("_make_function")
    if maker is not None and maker.__module__ == cloudpickle.__name__:  # pickled by its name there
        names["_make_function"] = _with_observed_code(maker)


def dill_originals(dill: Any) -> None:
    """Makes dill write original code."""
    dill._create_function = _with_observed_code(dill._create_function)
    save_originals(dill)


def save_originals(module: Any) -> None:
    """Makes the pickler of a module that uses dill save original code."""
    savers = module.Pickler.dispatch
    plain = savers[types.CodeType]

    @functools.wraps(plain)
    def save_code(pickler: Any, code: types.CodeType) -> None:
        plain(pickler, original_code(code))

    savers[types.CodeType] = save_code


def find_the_globals_of_originals(detect: Any) -> None:
    """Makes dill look for the globals of a function in its original code."""
    plain = detect.nestedglobals

    @functools.wraps(plain)
    def nestedglobals(function: Any, *options: Any, **named: Any) -> Any:
        code = detect.code(function)
        return plain(None if code is None else original_code(code), *options, **named)

    detect.nestedglobals = nestedglobals


# Numba, which compiles bytecode.

_NUMBA = "numba"


def compile_originals_with_numba(bytecode: Any) -> None:
    """Removes the observers from a function before Numba reads its code."""
    plain = bytecode.get_code_object

    @functools.wraps(plain)
    def get_code_object(function: Any) -> Any:
        _restore(function)
        return plain(function)

    bytecode.get_code_object = get_code_object


def dispatch_originals(dispatcher: Any) -> None:
    """Removes the observers before Numba looks up the code in its disk cache."""
    kind = dispatcher._DispatcherBase
    plain = kind.__init__

    @functools.wraps(plain)
    def begin(this: Any, arguments: int, function: Any, *others: Any, **options: Any) -> None:
        _restore(function)
        plain(this, arguments, function, *others, **options)

    kind.__init__ = begin


def _restore(function: Any) -> None:
    """Removes the observers from a function permanently."""
    if isinstance(function, types.FunctionType):
        function.__code__ = compiled_code(function.__code__, _NUMBA)
