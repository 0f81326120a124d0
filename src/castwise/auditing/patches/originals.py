"""Exchanges the code of a function with observers and its original code.

A compiler may reach any function of the program: as an argument, as a method of a module, through a
call in another function. A serialiser writes a function's code to a file or sends it to a process
without castwise. Both get the code without observers, as in the original program. A process of the
same audit that receives the function adds the observers again.

What reads code is patched here: the modules of the standard library that write and show it,
serialisers, and Numba.
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
from castwise.auditing.process import stand_in_for
from castwise.auditing.records import Unobserved
from castwise.auditing.rewriting import PREFIX, full_path, rewrite

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
    return _exchanged(code, rewritings, 0) if rewritings else code


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
    originals = _nested(plain)
    for place, codes in _nested(new).items():
        found = originals.get(place, [])
        if len(found) == 1:  # Python 3.10 shares the code of equal lambdas on one line
            found = found * len(codes)
        if len(found) == len(codes):
            for code, original in zip(codes, found, strict=True):
                yield from _pairs(code, original)


def _nested(code: types.CodeType) -> dict[object, list[types.CodeType]]:
    """The code objects in another one, by name, line and variables."""
    found: dict[object, list[types.CodeType]] = {}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            place = part.co_name, part.co_firstlineno, part.co_varnames
            found.setdefault(place, []).append(part)
    return found


def _key(code: types.CodeType) -> tuple[object, ...]:
    """What tells a code object from all others. Equality of code objects does not: before Python
    3.12 it depends on how often the code has run."""
    constants = tuple([_constant_key(constant) for constant in code.co_consts])
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, constants


def _constant_key(constant: object) -> object:
    if isinstance(constant, types.CodeType):
        return _key(constant)
    return constant if isinstance(constant, frozenset) else repr(constant)


# Functions that read code, or make functions of it.


def _given(exchanged: Callable[[Any], Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first argument is code, which it gets exchanged: `original_code` for those
    that read it, `received_code` for those that make functions of it."""

    @stand_in_for(plain)
    def function(code: Any, *arguments: Any, **named: Any) -> Any:
        return plain(exchanged(code), *arguments, **named)

    return function


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
    dis._disassemble_recursive = _given(original_code, dis._disassemble_recursive)


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
    reducers[types.CodeType] = _given(original_code, reducers[types.CodeType])
    for reader in ("_extract_code_globals", "_find_imported_submodules"):
        if reader in names:
            names[reader] = _given(original_code, names[reader])
    maker = names.get("_make_function")
    if maker is not None and maker.__module__ == cloudpickle.__name__:  # pickled by its name there
        names["_make_function"] = _given(received_code, maker)


def dill_originals(dill: Any) -> None:
    """Makes dill write original code."""
    dill._create_function = _given(received_code, dill._create_function)
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
        function.__code__ = compiled_code(function.__code__, "numba")
