"""torch.compile on castwise tensors: castwise's decisions run while torch traces, untraced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils import _pytree as trees

from castwise.execute.backends.torch.matmul_and_invert import let_operate
from castwise.execute.calling.in_place import augment, update
from castwise.execute.calling.ops import apply_op, apply_several
from castwise.execute.kinds import Kind
from castwise.execute.operators import Operators
from castwise.execute.tensor import Tensor, asarray, wrapped
from castwise.rules.catalog import dialect_named
from castwise.rules.default import DEFAULT, chosen_here, to_dialect, use
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType

_FUNCTIONS = (apply_op, apply_several, asarray, wrapped)
_TRIED = "2.13"  # older compilers were not tested, and stop at a tensor
_called: list[Callable[..., Any]] = []  # not yet registered with torch


def register() -> None:
    """Registers tensors with torch, and the functions that it calls instead of tracing."""
    trees.register_pytree_node(Tensor, _flattened, _unflattened)
    for kept in (Kind, Dialect, DType):
        trees.register_pytree_node(
            kept, lambda thing: ([], _name(thing)), lambda _, name: getattr(_kept, name)
        )
    trees.register_pytree_node(_Word, lambda word: ([], word.text), lambda _, text: _Word(text))
    trees.register_pytree_node(_Slice, lambda key: (key.ends, None), lambda ends, _: _Slice(ends))
    operators = [operator for operator in vars(Operators).values() if callable(operator)]
    for function in (*_FUNCTIONS, *operators):
        let_call(function)
    for function in (augment, update):
        _let_write(function)
    if torch.__version__ >= _TRIED:
        for name, stand_in in _METHODS.items():
            getattr(Tensor, name)._torchdynamo_inline = stand_in
        for function, stand_in in _DIALECTS.items():
            function._torchdynamo_inline = stand_in  # type: ignore[attr-defined]
        let_operate(Tensor)


def let_call(function: Callable[..., Any]) -> None:
    """Lets torch call a function while it traces, instead of tracing into it."""
    if torch.__version__ < _TRIED:
        return
    called = _calling(function)

    def stand_in(*arguments: Any, **options: Any) -> Any:
        _allow_calls()
        return called(_packed(arguments), _packed(options), _here())

    function._torchdynamo_inline = stand_in  # type: ignore[attr-defined]


def _let_write(function: Callable[..., Any]) -> None:
    """Lets torch call a function that may write into its second argument. The new content is put
    there when the compiled code runs."""
    if torch.__version__ < _TRIED:
        return
    called = _calling(_with_identity(function))

    def stand_in(name: str, target: Tensor, *others: Any, **options: Any) -> Any:
        _allow_calls()
        found, is_new = called(_packed((name, target, *others)), _packed(options), _here())
        if is_new.text:
            return found
        target._array, target._kind = found._array, found._kind
        return target

    function._torchdynamo_inline = stand_in  # type: ignore[attr-defined]


def _with_identity(function: Callable[..., Any]) -> Callable[..., tuple[Any, _Word]]:
    """A function that also returns whether its result is not its second argument."""

    def checked(name: str, target: Tensor, *others: Any, **options: Any) -> tuple[Any, _Word]:
        found = function(name, target, *others, **options)
        return found, _Word("new" if found is not target else "")

    return checked


def _calling(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(arguments: tuple[Any, ...], options: dict[str, Any], block: _Word) -> Any:
        if not block.text:
            return function(*_unpacked(arguments), **_unpacked(options))
        with use(getattr(_kept, block.text)):
            return function(*_unpacked(arguments), **_unpacked(options))

    _called.append(called)
    return called


class _Word:
    """Something that torch does not pass on itself: None, `...`, or text, marked by a quote."""

    def __init__(self, text: str) -> None:
        self.text = text


_WORDS = {"None": None, "...": ...}


class _Slice:
    """A slice of an index."""

    def __init__(self, ends: Iterable[Any]) -> None:
        self.ends = list(ends)


def _packed(given: Any) -> Any:
    """Arguments in a form that torch passes on."""
    if given is None or given is ...:
        return _Word("None" if given is None else "...")
    if isinstance(given, str) and not isinstance(given, DType):  # a dtype stays what it is
        return _Word("'" + given)
    if isinstance(given, slice):
        return _Slice([_packed(given.start), _packed(given.stop), _packed(given.step)])
    if isinstance(given, dict):
        return {name: _packed(part) for name, part in given.items()}
    if isinstance(given, (list, tuple)):
        parts = [_packed(part) for part in given]
        return tuple(parts) if isinstance(given, tuple) else parts
    return given


def _unpacked(given: Any) -> Any:
    """Arguments in their original form."""
    if isinstance(given, _Word):
        return _WORDS[given.text] if given.text in _WORDS else given.text[1:]
    if isinstance(given, _Slice):
        return slice(*map(_unpacked, given.ends))
    if isinstance(given, dict):
        return {name: _unpacked(part) for name, part in given.items()}
    if isinstance(given, (list, tuple)):
        return type(given)(map(_unpacked, given))
    return given


def constant(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch calls while it traces, for results that do not change."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@constant
def _allow_calls() -> None:
    """Does what torch's `nonstrict_trace` does, once its compiler is imported: the import takes
    seconds."""
    rules = torch._dynamo.trace_rules
    while _called:
        function = _called.pop()
        rules._allowed_callable_ids.add(id(function))
        rules._nonstrict_trace_callable_ids.add(id(function))


class _Kept:
    """The objects that compiled functions refer to, by name; kept because they may run any time."""


_kept = _Kept()


@constant
def _name(thing: Kind | Dialect | DType) -> str:
    """The name of an object in a compiled function, because torch passes no objects to it."""
    name = f"_{id(thing)}"
    setattr(_kept, name, thing)
    return name


class _Chosen(dict[object, str]):
    """Returns, for any key, the name of the dialect that is chosen here."""

    def __missing__(self, key: object) -> str:
        chosen = chosen_here()
        return "" if chosen is None else _name(chosen)


class _Context:
    """The choice of `cw.use` and the default, as torch reads it before each run of compiled code.

    It is text, because torch may mistake one object for another. It is read by a method of a
    built-in type, because torch traces Python functions.
    """

    chosen = property(_Chosen().__getitem__)


_context = _Context()


def _flattened(tensor: Tensor) -> tuple[list[Any], tuple[str, str]]:
    """The array, and names for the rest: the kind and, for a tensor without its own dialect, the
    one that it follows, so that code compiled under one does not run under another."""
    kind = tensor._kind
    return [tensor._array], (_name(kind), "" if kind.dialect else _context.chosen)


def _unflattened(leaves: Iterable[Any], carried: tuple[str, str]) -> Tensor:
    (array,) = leaves
    kind = getattr(_kept, carried[0])
    if torch.compiler.is_compiling() or not isinstance(array, torch.Tensor):
        return Tensor._of(array, kind)
    return wrapped(array, kind)  # torch's functions on trees may have changed it


# torch looks up a function's closure through the method it replaces. These have no closure, like
# the methods themselves.
_astype, _under = _calling(Tensor.astype), _calling(Tensor.under)
_getitem = _calling(Tensor.__getitem__)


def _traced_astype(*arguments: Any, **options: Any) -> Any:
    _allow_calls()
    return _astype(_packed(arguments), _packed(options), _here())


def _traced_under(*arguments: Any, **options: Any) -> Any:
    _allow_calls()
    return _under(_packed(arguments), _packed(options), _here())


def _traced_getitem(*arguments: Any, **options: Any) -> Any:
    _allow_calls()
    return _getitem(_packed(arguments), _packed(options), _here())


@_calling
def _assign(target: Tensor, *given: Any, **options: Any) -> Tensor:
    target._assign(*given, **options)
    return target


def _traced_assign(target: Tensor, *given: Any, **options: Any) -> None:
    _allow_calls()
    found = _assign(_packed((target, *given)), _packed(options), _here())
    target._array, target._kind = found._array, found._kind


_METHODS = {
    "astype": _traced_astype, "under": _traced_under, "__getitem__": _traced_getitem,
    "_assign": _traced_assign,
}  # fmt: skip


# The blocks of `cw.use` that torch is tracing, the innermost last. torch tracks changes to this
# list as it does for the program's own lists, even after a graph break. Compiled code never sees
# it.
_blocks: list[str] = []


def _here() -> _Word:
    """The name of the dialect that the traced function chose; none means the surrounding one."""
    return _Word(_blocks[-1] if _blocks else "")


@constant
def _named(dialect: str | Dialect) -> Any:  # returns the name; `constant` hides return types
    return _name(to_dialect(dialect))


def _traced_use(self: use, dialect: str | Dialect) -> None:
    self._dialect = getattr(_kept, _named(dialect))


def _traced_enter(self: use) -> Dialect:
    _blocks.append(_name(self._dialect))
    return self._dialect


def _traced_exit(self: use, *error: object) -> None:
    _blocks.pop()


def _traced_chosen() -> Dialect | None:
    name = _blocks[-1] if _blocks else _context.chosen
    return getattr(_kept, name) if name else None


def _traced_dialect(chosen: str | Dialect | None) -> Dialect:
    if chosen is None:
        chosen = _traced_chosen() or DEFAULT
    return getattr(_kept, _named(chosen))  # type: ignore[no-any-return]


_DIALECTS: dict[Callable[..., Any], Callable[..., Any]] = {
    use.__init__: _traced_use, use.__enter__: _traced_enter, use.__exit__: _traced_exit,
    chosen_here: _traced_chosen, to_dialect: _traced_dialect,
    dialect_named: _traced_dialect,
}  # fmt: skip
