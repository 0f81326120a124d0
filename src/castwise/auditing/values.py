"""Looks at the values of operands and results, while a program runs. Off unless asked for, because
each operation is computed twice."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from castwise.auditing import observers, scopes
from castwise.auditing.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.calls import PendingCall, pending_call
from castwise.auditing.hooks import find_hook
from castwise.auditing.log import LOG, SITES
from castwise.auditing.rewriting import INTO, PART, WRITE
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype

_MOST_KEPT = 64  # of operands of unfinished operations; those that raised never finish
_NOT_OPERANDS = ("dtype", "out", "casting")
_WHERE = "where"
_AXES = {"axis": "axis", "dim": "axis", "keepdims": "keepdims", "keepdim": "keepdims"}

# How NumPy computes an operator or a call again. A name that is missing is not checked: bit
# operations mean to lose bits, and `//` and `%` lose nothing.
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power",
              "@": "matmul"}  # fmt: skip
_CALLS = {
    "add": "add", "subtract": "subtract", "sub": "subtract", "multiply": "multiply",
    "mul": "multiply", "divide": "divide", "true_divide": "divide", "div": "divide",
    "power": "power", "pow": "power", "float_power": "power", "square": "square",
    "negative": "negative", "neg": "negative", "absolute": "absolute", "abs": "absolute",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "sinh": "sinh", "cosh": "cosh",
    "sqrt": "sqrt", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "arctan": "arctan", "hypot": "hypot",
    "matmul": "matmul", "mm": "matmul", "dot": "dot", "inner": "inner", "outer": "outer",
    "sum": "sum", "prod": "prod", "cumsum": "cumsum", "cumprod": "cumprod", "mean": "mean",
}  # fmt: skip
_ALONG = frozenset({"sum", "prod", "cumsum", "cumprod", "mean"})  # those with an axis
_SYMBOLS = {name: symbol for symbol, name in _OPERATORS.items()}

_note_operand, _log, _pending_call = observers.note_operand, observers.log_operator, pending_call
_call = LOG.call
_plain_write = observers.OBSERVERS[WRITE]
_live: dict[tuple[int, int], Any] = {}


class _Values(NamedTuple):
    """An operand or a result: a NumPy array or a Python number, and its dtype."""

    held: Any
    dtype: DType | None


class _Target(NamedTuple):
    """What `x += y` changes, and its values before."""

    array: Any
    before: _Values | None


class _Loss(NamedTuple):
    """What an operation lost in one run."""

    how: str
    lost: int
    elements: int
    example: str


class _LiveCall(PendingCall):
    """A call with its arguments themselves."""

    __slots__ = ("before", "given", "inputs", "named")

    def __init__(self, called: PendingCall, function: Any) -> None:
        super().__init__(called.callee, called.arguments)
        self.given: list[Any] = [function.__self__] if called.callee.is_method else []
        self.named: dict[str, Any] = {}
        np: Any = sys.modules.get("numpy")
        is_universal = np is not None and isinstance(function, np.ufunc)
        # How many operands come before output arrays; None if the function takes no such.
        self.inputs: int | None = function.nin if is_universal else None
        self.before: list[Any] | None = None  # the operands, if the call changes one of them
        self._keep_before()

    def add(self, name: int | str, thing: Any) -> None:
        """Records an argument."""
        super().add(name, thing)
        if isinstance(name, int):
            self.given.append(thing)
        else:
            self.named[name] = thing
        self._keep_before()

    @property
    def operands(self) -> list[Any]:
        """The operands with the values they have before the call."""
        found = self.given if self.before is None else self.before
        return found if self.inputs is None else found[: self.inputs]

    @property
    def function(self) -> str | None:
        """How the call is computed again; None if it is not checked."""
        name = self.callee.name
        return _CALLS.get(name.removesuffix("_") if self.callee.is_method else name)

    def _keep_before(self) -> None:
        """Keeps the operands as they are now: evaluating an argument may change another one, so
        only those after the last argument are those of the call."""
        changed = self._changed()
        if is_array_type(type(changed)) and self.function:
            self.before = [_before(thing, changed) for thing in self.given]

    def _changed(self) -> Any:
        """What the call writes to."""
        if self.callee.is_method and self.callee.name.endswith("_"):
            return self.given[0]
        if self.inputs is not None and len(self.given) > self.inputs:
            return self.given[self.inputs]
        out = self.named.get("out")
        return out[0] if type(out) is tuple and len(out) == 1 else out


def start() -> None:
    """Checks values from now on."""
    LOG.checks_values = True
    setattr(observers, "note_operand", _noted)  # noqa: B010 -- types do not allow functions to change
    setattr(observers, "log_operator", _logged)  # noqa: B010
    setattr(observers, "pending_call", _pending)  # noqa: B010
    setattr(LOG, "call", _called)  # noqa: B010
    observers.OBSERVERS.update({WRITE: _write, INTO: _into, PART: _part})
    scopes.prepare()


def _write(mark: int, value: Any, *target: Any) -> Any:
    if target:
        _check_write(mark, value, target[0])
        return _plain_write(mark, value, *target)
    _keep_written(mark, id(sys._getframe(1)), value)
    return value


def _into(mark: int, target: Any) -> Any:
    frame = id(sys._getframe(1))
    _check_write(mark, _live.pop((mark, frame), None), target)
    observers.log_kept(mark, frame, target)
    return target


def _part(mark: int, values: Any, number: int, count: int) -> Any:
    _keep_written(mark, id(sys._getframe(1)), observers.unpacked_value(values, number, count))
    return values


def _keep_written(mark: int, frame: int, value: Any) -> None:
    """Keeps a value until its target is known."""
    observers.keep(mark, frame, value)
    _live.pop((mark, frame), None)  # of a write that raised, in a frame with the same id
    _keep_live(mark, frame, value, are_numbers_kept=True)


def _noted(mark: int, thing: Any, frame: int) -> None:
    """Keeps an operand itself, or its values if it is changed in place."""
    _note_operand(mark, thing, frame)
    try:
        if SITES[max(mark, ~mark)].kind == "augmented":
            thing = _noted_change(mark, thing, frame)
    except Exception as error:
        LOG.failed(error)
    _keep_live(mark, frame, thing)


def _noted_change(mark: int, thing: Any, frame: int) -> Any:
    """The same for `x += y`: `x` with its values, or `y`, before which `x` may have changed."""
    if mark >= 0:
        return _Target(thing, _copy(thing)) if is_array_type(type(thing)) else None
    target = _live.get((~mark, frame))
    if target is None:
        return thing
    _live[~mark, frame] = _Target(target.array, _copy(target.array))
    return _before(thing, target.array)


def _keep_live(mark: int, frame: int, thing: Any, *, are_numbers_kept: bool = False) -> None:
    kind = type(thing)
    is_kept = kind in (_Values, _Target) or is_array_type(kind)
    if is_kept or (are_numbers_kept and kind in NUMBERS):
        if len(_live) > _MOST_KEPT:
            _live.clear()
        _live[mark, frame] = thing


def _copy(thing: Any) -> _Values | None:
    found = _values(thing)
    return None if found is None else _Values(found.held.copy(), found.dtype)


def _before(thing: Any, changed: Any) -> Any:
    """An operand as it is before an array is changed that may share its memory."""
    if not is_array_type(type(thing)):
        return thing
    return _copy(thing) if _may_share(thing, changed) else _values(thing)


def _may_share(one: Any, other: Any) -> bool:
    """Whether two arrays may have elements in common."""
    if not (is_array_type(type(one)) and is_array_type(type(other))):
        return False
    first, second = _values(one), _values(other)
    np: Any = sys.modules.get("numpy")
    return bool(first and second and np.may_share_memory(first.held, second.held))


def _logged(mark: int, result: Any, first: Any, second: Any, frame: int) -> None:
    kept = [_live.pop((place, frame), None) for place in (mark, ~mark)]
    site = SITES[mark]
    given = [kept[0] if first is ... else first, kept[1] if second is ... else second]
    if type(given[0]) is _Target:
        given = _operands_of_change(given[0], given[1])
    _log(mark, result, first, second, frame)
    symbol = site.name[:-1] if site.kind == "augmented" else site.name
    count = len(site.literals)
    function = _OPERATORS.get(symbol) if count > 1 else "negative" if symbol == "-" else None
    if function:
        _checked(mark, site.name, function, given[:count], {}, result)


def _operands_of_change(target: _Target, second: Any) -> list[Any]:
    """The operands of `x += y`. A name `y` is read after `x` has changed."""
    if second is target.array:
        return [target.before, target.before]
    return [target.before, None if _may_share(target.array, second) else second]


def _pending(function: Any) -> PendingCall | None:
    called = _pending_call(function)
    return None if called is None else _LiveCall(called, function)


def _called(mark: int, called: PendingCall, result: Any) -> bool:
    if isinstance(called, _LiveCall):
        try:
            if is_array_type(type(result)):
                _check_call(mark, called, result)
            _check_written(mark, called, result)
        except Exception as error:
            LOG.failed(error)
    return _call(mark, called, result)


def _check_call(mark: int, called: _LiveCall, result: Any) -> None:
    name, hook = called.callee.name, ARRAYS[type(result)].hook
    named = {key: thing for key, thing in called.named.items() if key not in _NOT_OPERANDS}
    function = called.function
    if function and {*named} <= {*_AXES, _WHERE}:
        again = {_AXES[key]: thing for key, thing in named.items() if key != _WHERE}
        given, mask = called.operands, _mask(named)
        if function in _ALONG and len(given) == 2:
            given, again["axis"] = given[:1], given[1]
        if mask is not None and len(given) <= 2 and all([_is_operand(thing) for thing in given]):
            _checked(mark, name, function, given, again | mask, result)
    elif name in hook.calls.value_casts.split() and called.given:
        source = _values(called.given[0])
        made = _values(result)
        if source and made and made.dtype and source.dtype != made.dtype:
            what = f"{_asked(name, [_word(source)])} -> {made.dtype}"
            _keep(mark, what, _lost_in_cast(source, made.dtype, made.held))


def _mask(named: dict[str, Any]) -> dict[str, Any] | None:
    """What says which elements are computed; None if it cannot be read."""
    if _WHERE not in named:
        return {}
    found = _values(named[_WHERE])
    return None if found is None else {_WHERE: found.held}


def _check_written(mark: int, called: _LiveCall, result: Any) -> None:
    """Checks a call that writes a whole value into an array, or into a new one."""
    name, hook = called.callee.name, find_hook(called.callee.module)
    if hook is None or name not in hook.calls.writes_all.split() or _WHERE in called.named:
        return
    place, source, keyword = hook.calls.writes[name]
    given = dict(enumerate(called.given))
    target = result if is_array_type(type(result)) else given.get(place)
    value = given.get(source, called.named.get(keyword))
    if not _may_share(value, target):  # otherwise the value is gone
        _check_write(mark, value, target)


def _check_write(mark: int, value: Any, target: Any) -> None:
    try:
        if not is_array_type(type(target)) or not _is_operand(value):
            return
        source, held = _values(value), _values(target)
        if source and held and held.dtype and source.dtype != held.dtype:
            _keep(mark, f"{held.dtype}[...] = {_word(source)}", _lost_in_cast(source, held.dtype))
    except Exception as error:
        LOG.failed(error)


def _is_operand(thing: Any) -> bool:
    kind = type(thing)
    return kind in NUMBERS or kind is _Values or is_array_type(kind)


def _checked(
    mark: int, name: str, function: str, given: list[Any], named: dict[str, Any], result: Any
) -> None:
    try:
        made = _values(result)
        if made is None or made.dtype is None or not _is_checked(made.dtype):
            return
        operands = [_values(thing) for thing in given]
        known = [operand for operand in operands if operand is not None]
        if len(known) == len(operands):
            what = f"{_asked(name, [_word(operand) for operand in known])} -> {made.dtype}"
            _keep(mark, what, _lost_in_operation(function, known, named, made))
    except Exception as error:
        LOG.failed(error)


def _asked(name: str, words: list[str]) -> str:
    if name.isidentifier():
        return f"{name}({', '.join(words)})"
    return f" {name} ".join(words) if len(words) > 1 else f"{name}{words[0]}"


def _word(operand: _Values) -> str:
    return str(operand.dtype or type(operand.held).__name__)


def _values(thing: Any) -> _Values | None:
    """The values of an operand; None if they cannot be read now, or are not numbers."""
    kind = type(thing)
    if kind is _Values:
        return thing  # type: ignore[no-any-return]
    if kind in NUMBERS:
        return None if kind is complex else _Values(thing, None)
    if not is_array_type(kind):
        return None
    found = ARRAYS[kind]
    if found.is_traced or found.hook.arrays.held_values is None:
        return None
    try:
        dtype = to_dtype(found.read(thing)[0])
    except UsageError:
        return None
    held = found.hook.arrays.held_values(thing)
    return None if held is None or dtype.kind == "complex" else _Values(held, dtype)


def _keep(mark: int, what: str, loss: _Loss | None) -> None:
    if loss is not None:
        LOG.lost(mark, what, loss)


# Which elements of a result are not what the operation should give: NumPy computes it again in
# float64. An integer that wrapped is a multiple of 2**bits away from the right one, so half of that
# tells it from rounding. A float overflowed if it is infinite and float64 holds it.

_LEAST_ERROR = 2.0**-20  # relative; float32 is more exact, float16 less
_NUMPYS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64"}
)  # fmt: skip


def _is_checked(result: DType) -> bool:
    """Whether an operation with such a result can lose values that float64 shows. Unsigned integers
    of 32 and 64 bits wrap by intent: hashes and random generators compute in them."""
    if result.kind == "int":
        return result.min < 0 or result.bits < 32
    return result.kind == "float" and result.bits < 64


def _lost_in_operation(
    function: str, operands: Sequence[_Values], named: dict[str, Any], result: _Values
) -> _Loss | None:
    """What an operation lost; None if nothing, or if it cannot be computed again. With `where`, it
    computes some elements only."""
    np: Any = sys.modules["numpy"]
    assert result.dtype is not None  # _is_checked has looked at it
    computed: Any = True
    if function not in _ALONG:
        computed = named.get("where", True)
        if {*named} - {"where"}:
            return None
        named = {}
    with np.errstate(all="ignore"):
        wide = [_wide(operand.held) for operand in operands]
        right = np.asarray(getattr(np, function)(*wide, **named))
        made = np.asarray(_wide(result.held))
        if right.shape != made.shape:
            return None
        for how, is_wrong in _losses(np, operands, right, made, result.dtype):
            is_lost = is_wrong & computed
            if is_lost.any():
                place = tuple(int(n) for n in np.argwhere(is_lost)[0])
                example = _example(np, function, operands, place, right, np.asarray(result.held))
                return _Loss(how, int(is_lost.sum()), is_lost.size, example)
    return None


def _losses(
    np: Any, operands: Sequence[_Values], right: Any, made: Any, dtype: DType
) -> list[tuple[str, Any]]:
    if dtype.kind == "int":
        return [("wrapped", np.abs(right - made) > 2.0 ** (dtype.bits - 1))]
    found = [("overflowed", np.isinf(made) & np.isfinite(right))]
    are_integers = all(o.dtype is not None and o.dtype.kind in ("bool", "int") for o in operands)
    if are_integers and dtype.bits < 32:  # nobody has chosen this float
        error = np.abs(right - made) > _LEAST_ERROR * np.abs(right)
        found.append((f"rounded to {dtype}", error & np.isfinite(right)))
    return found


def _lost_in_cast(source: _Values, target: DType, made: Any = None) -> _Loss | None:
    """What a cast lost; `made` is its result, if there is one. Fractions and rounding are not lost:
    they are what such a cast is for."""
    np: Any = sys.modules["numpy"]
    held = np.asarray(source.held)
    if held.dtype.kind == "c" or target.kind not in ("int", "float"):
        return None
    with np.errstate(all="ignore"):
        if made is None:
            made = held.astype(target.name) if target.name in _NUMPYS else None
        if made is None or np.shape(made) != held.shape:
            return None
        how, is_lost = _lost_by_cast(np, held, target, made)
        if not is_lost.any():
            return None
        place = tuple(int(n) for n in np.argwhere(is_lost)[0])
        example = f"{held[place]} -> {np.asarray(made)[place]}"
        return _Loss(how, int(is_lost.sum()), is_lost.size, example)


def _lost_by_cast(np: Any, held: Any, target: DType, made: Any) -> tuple[str, Any]:
    if target.kind == "float":
        wide = _wide(held)
        return "overflowed", np.isfinite(wide) & ~np.isfinite(_wide(made))
    if held.dtype.kind in "bui":
        # Python's integers, because NumPy 1 compares int64 with uint64 as floats.
        low, high = (held.min(), held.max()) if held.size else (0, 0)
        if target.min <= int(low) and int(high) <= target.max:
            return "", np.zeros(held.shape, bool)
        is_within = [target.min <= value <= target.max for value in held.ravel().tolist()]
        return "wrapped", ~np.asarray(is_within).reshape(held.shape)
    whole = np.trunc(_wide(held))
    is_held = (whole >= float(target.min)) & (whole < float(int(target.max) + 1))
    return "out of range", ~is_held


def _wide(held: Any) -> Any:
    """A value in float64."""
    np: Any = sys.modules["numpy"]
    return np.asarray(held).astype("float64")


def _example(
    np: Any, function: str, operands: Sequence[_Values], at: tuple[int, ...], right: Any, made: Any
) -> str:
    try:
        values = [str(np.broadcast_to(o.held, right.shape)[at]) for o in operands]
    except ValueError:  # an operation that is not by element
        return f"{right[at]:.6g} became {made[at]}"
    if function in _ALONG or function in ("matmul", "dot", "inner", "outer"):
        return f"{right[at]:.6g} became {made[at]}"
    name = _SYMBOLS.get(function, function) if len(values) == 2 else function
    return f"{_asked(name, values)} -> {made[at]}"
