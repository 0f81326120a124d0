"""torch.compile on castwise tensors: castwise's decisions run while torch traces, untraced."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch
from torch.overrides import resolve_name
from torch.utils import _pytree as trees

from castwise.arrays.apply import (
    apply_op,
    apply_operator,
    apply_several,
    augment,
    form_applied,
    update,
)
from castwise.arrays.elements import assign, with_array
from castwise.arrays.kinds import Kind
from castwise.arrays.operators import called, not_called, parameters
from castwise.arrays.tensor import Operators, Tensor, asarray, compute, compute_several, wrapped
from castwise.catalog import DEFAULT, chosen_here, dialect_named, to_dialect, use
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.ops import OPS

_FUNCTIONS = (apply_op, apply_several, asarray, compute, compute_several, with_array, wrapped)
_TRIED = "2.13"  # older compilers were not tested, and stop at a tensor
_called: list[Callable[..., Any]] = []  # functions that are not yet registered with torch


@functools.cache
def introduce() -> None:
    """Registers tensors with torch, and the functions that it calls instead of tracing; once,
    because compiled code may make the first tensor."""
    trees.register_pytree_node(Tensor, _flattened, _unflattened)
    for kept in (Kind, Dialect, DType):
        trees.register_pytree_node(
            kept, lambda thing: ([], _name(thing)), lambda _, name: getattr(_kept, name)
        )
    trees.register_pytree_node(_Word, lambda word: ([], word.text), lambda _, text: _Word(text))
    trees.register_pytree_node(_Slice, lambda key: (key.ends, None), lambda ends, _: _Slice(ends))
    operators = [operator for operator in vars(Operators).values() if callable(operator)]
    for function in (*_FUNCTIONS, *operators):
        _let_call(function)
    for function in (augment, update):
        _let_write(function)
    if torch.__version__ >= _TRIED:
        for name, stand_in in _METHODS.items():
            getattr(Tensor, name)._torchdynamo_inline = stand_in
        assign._torchdynamo_inline = _traced_assign  # type: ignore[attr-defined]
        for function, stand_in in _DIALECTS.items():
            function._torchdynamo_inline = stand_in  # type: ignore[attr-defined]
        _constant(form_applied)
        _let_operate(Tensor)
    # torch's functions accept tensors.
    Tensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[attr-defined]
    _let_call(_by_name)


def _let_call(function: Callable[..., Any]) -> None:
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

    @_calling
    def called(name: str, target: Tensor, *others: Any, **options: Any) -> tuple[Any, _Word]:
        found = function(name, target, *others, **options)
        return found, _Word("new" if found is not target else "")

    def stand_in(name: str, target: Tensor, *others: Any, **options: Any) -> Any:
        _allow_calls()
        found, is_new = called(_packed((name, target, *others)), _packed(options), _here())
        if is_new.text:
            return found
        target._array, target._kind = found._array, found._kind
        return target

    function._torchdynamo_inline = stand_in  # type: ignore[attr-defined]


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
    if isinstance(given, str):  # a dtype stays what it is
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


def _constant(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch calls while it traces, for results that do not change."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@_constant
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


@_constant
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
    assign(target, *given, **options)
    return target


def _traced_assign(target: Tensor, *given: Any, **options: Any) -> None:
    _allow_calls()
    found = _assign(_packed((target, *given)), _packed(options), _here())
    target._array, target._kind = found._array, found._kind


_METHODS = {"astype": _traced_astype, "under": _traced_under, "__getitem__": _traced_getitem}


# The blocks of `cw.use` that torch is tracing, the innermost last. torch tracks changes to this
# list as it does for the program's own lists, even after a graph break. Compiled code never sees
# it.
_blocks: list[str] = []


def _here() -> _Word:
    """The name of the dialect that the traced function chose; none means the surrounding one."""
    return _Word(_blocks[-1] if _blocks else "")


@_constant
def _named(dialect: str | Dialect) -> Any:  # returns the name; `_constant` hides return types
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
    chosen_here: _traced_chosen, to_dialect: _traced_dialect, dialect_named: _traced_dialect,
}  # fmt: skip

# `~t` and `t @ u` in torch.compile, which handles only these two operators by torch's tensors.

_OPERATORS = "torch._dynamo.variables.builtin"
_BINARY = {"matmul": ("__matmul__", "__rmatmul__"), "imatmul": ("__imatmul__", "__rmatmul__")}


def _let_operate(tensor: type) -> None:
    """Lets torch's compiler call these operators of a class, now or once the compiler is imported:
    the import takes seconds, and most programs do not need it."""
    if _OPERATORS in sys.modules:
        _teach(sys.modules[_OPERATORS], tensor)
    else:
        sys.meta_path.insert(0, _Waiting(tensor))


class _Waiting(MetaPathFinder):
    """Finds nothing itself; it waits for a module, and extends it after it has run."""

    def __init__(self, tensor: type) -> None:
        self._tensor = tensor

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _OPERATORS or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = spec and spec.loader
        if loader is not None:
            run = loader.exec_module

            def run_and_teach(module: ModuleType) -> None:
                run(module)
                _teach(module, self._tensor)

            loader.exec_module = run_and_teach
        return spec


def _teach(module: ModuleType, tensor: type) -> None:
    """Gives torch's compiler the handlers that it looks up by name and lacks. They decline operands
    of other classes, which then behave as before. A torch with another structure is left unchanged.
    """
    sibling = sys.modules.get(f"{module.__package__}.user_defined")
    operators: Any = getattr(module, "BuiltinVariable", None)
    user_defined: Any = getattr(sibling, "UserDefinedObjectVariable", None)
    found = getattr(operators, "call_function_handler_cache", None)
    if user_defined is None or found is None:
        return

    def is_own(variable: Any) -> bool:
        return isinstance(variable, user_defined) and issubclass(variable.value_type, tensor)

    def inverted(_: Any, context: Any, given: Any) -> Any:
        return given.call_method(context, "__invert__", [], {}) if is_own(given) else None

    def multiplying(method: str, reflected: str) -> Any:
        def multiplied(_: Any, context: Any, left: Any, right: Any) -> Any:
            if is_own(left):
                return left.call_method(context, method, [right], {})
            return right.call_method(context, reflected, [left], {}) if is_own(right) else None

        return multiplied

    handlers = {"call_invert": inverted}
    handlers |= {f"call_{name}": multiplying(*methods) for name, methods in _BINARY.items()}
    for name, handler in handlers.items():
        if not hasattr(operators, name):  # this torch has the handler already
            setattr(operators, name, handler)
    found.clear()  # what it looked up before, without the handlers


# torch's functions on castwise tensors: torch.relu(t) runs under the dialect of t.

# With a dimension or a second tensor, these are different functions.
_OF_ONE = frozenset({"torch.max", "torch.min", "torch.median"})
# The methods of torch's tensors that operators call -> their ops.
_OPERATOR_CALLS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip


def _torch_function(
    cls: type[Tensor], function: Callable[..., Any], types: Any, arguments: tuple[Any, ...] = (),
    options: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    is_compiled = torch.compiler.is_compiling()
    return _by_name(_function_name(function), arguments, options or {}, is_compiled=is_compiled)


@_constant
def _function_name(function: Callable[..., Any]) -> str:
    """The name by which a function is looked up."""
    name = resolve_name(function) or str(function)
    name = name.replace("torch.functional.", "torch.")  # where torch keeps some of its functions
    _functions[name] = function
    return name


_functions: dict[str, Callable[..., Any]] = {}


def _by_name(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], *, is_compiled: bool
) -> Any:
    function = _functions[name]
    options = _given(function, options)
    # Operators call methods too: if refused here, torch leaves them to the tensor.
    is_method = name.startswith("torch.Tensor.")
    if is_method and is_compiled:  # torch's compiler does not leave them to the tensor
        return _operated(name, arguments)
    if is_method:
        raise not_called(name)
    if name in _OF_ONE and (len(arguments) > 1 or options) and isinstance(arguments[0], Tensor):
        return getattr(arguments[0], name.partition(".")[2])(*arguments[1:], **options)
    if name == "torch.cross" and len(arguments) == 2 and not options:
        options = {"dim": _first_of_three(arguments[0])}
    return called(name, function, arguments, options)


def _first_of_three(x: Any) -> int:
    """The dimension that torch.cross takes if it is given none; torch.linalg.cross has the last."""
    return next((n for n, size in enumerate(x.shape) if size == 3), -1)


def _operated(name: str, arguments: tuple[Any, ...]) -> Any:
    """The result of an operator, by the method that torch's compiler uses for it."""
    tail = name.rpartition(".")[2].strip("_")
    if tail not in _OPERATOR_CALLS and tail[1:] in _OPERATOR_CALLS:
        tail, arguments = tail[1:], arguments[::-1]
    row = OPS.get(_OPERATOR_CALLS.get(tail, tail))
    if row is None or not row.symbol or len(arguments) != 2:
        raise not_called(name)
    return apply_operator(row.name, *arguments)


def _given(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options without those that torch itself filled in."""
    known = parameters(function)
    return {
        name: value
        for name, value in options.items()
        if name not in known or value is not known[name].default
    }
