"""Watches PyTorch's ops while autocast is on: which of its lists an op is on, and what it casts."""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from _thread import _local
from collections import Counter
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, ref

from castwise.auditing.hooks import find_hook
from castwise.auditing.log import LOG, by_instruction, frame_mark, frame_spot, users_frame
from castwise.auditing.patches.torch_ops import AFTER_EACH_OP, CAST, mode_class
from castwise.auditing.process import stand_in_for
from castwise.auditing.records import AutocastOp, RepeatedCast
from castwise.auditing.saved import dtype_name
from castwise.auditing.source import text_at

_TO_FLOAT32 = "to float32"  # one of the lists
_MOST_TENSORS = 4096
_NO_MODE = object()  # another mode sees what runs in the block
_HELD_IN = ("_parameters", "_buffers")
_VIEWS = frozenset({"t", "view", "transpose", "permute", "expand", "reshape", "_unsafe_view",
                    "detach", "slice", "select", "unsqueeze", "squeeze", "alias"})  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {ast.MatMult: "matmul", ast.Pow: "pow"}
_thread = _local()


def watch_autocast(autocast_mode: Any) -> None:
    """Enters a mode with every autocast block, and leaves it at the block's end."""
    autocast = autocast_mode.autocast
    plain_enter, plain_exit = autocast.__enter__, autocast.__exit__

    @stand_in_for(plain_enter)
    def enter(block: Any) -> Any:
        result = plain_enter(block)
        _blocks().append((block, _begin(block)))
        return result

    @stand_in_for(plain_exit)
    def leave(block: Any, *error: Any) -> Any:
        blocks = _blocks()
        if blocks and blocks[-1][0] is block:
            _, mode = blocks.pop()
            if mode is not None:
                _end(mode)
        return plain_exit(block, *error)

    autocast.__enter__, autocast.__exit__ = enter, leave
    if LOG.is_deep:
        AFTER_EACH_OP.append(_see)  # a second mode would be seen by the first


def _blocks() -> list[tuple[Any, Any]]:
    """The autocast blocks of this thread, each with the mode that was entered for it."""
    if not hasattr(_thread, "blocks"):
        _thread.blocks = []
    return _thread.blocks  # type: ignore[no-any-return]


def _begin(block: Any) -> Any:
    """The mode for a block; None if there is one already, or if a function is being compiled."""
    try:
        torch: Any = sys.modules["torch"]
        is_watched = any(mode is not None for _, mode in _blocks())
        is_compiling = torch._guards.TracingContext.try_get() is not None
        if is_watched or is_compiling or not block._enabled:
            return None
        _seen().blocks += 1
        if LOG.is_deep:
            return _NO_MODE
        return _autocast_watcher_class()().__enter__()
    except Exception as error:
        LOG.failed(error)
        return None


def _end(mode: Any) -> None:
    if mode is _NO_MODE:
        return
    core: Any = sys.modules["torch"]._C
    top = core._len_torch_dispatch_stack() - 1
    if top >= 0 and core._get_dispatch_stack_at(top) is mode:  # else the program's own is on top
        mode.__exit__(None, None, None)


@functools.cache
def _autocast_watcher_class() -> Any:
    def after(began: Any, func: Any, args: Any, keywords: Any, result: Any, frame: Any) -> None:
        _see(func, args, result, frame)

    return mode_class(after)


def _see(func: Any, args: Any, result: Any, frame: FrameType | None) -> None:
    """Counts an op that ran, if autocast is on and it is not part of backward."""
    blocks = _blocks()
    if blocks and frame is not None and blocks[-1][0]._enabled:
        torch: Any = sys.modules["torch"]
        if torch._C._current_autograd_node() is None:
            _seen().see(func, args, result, frame, blocks[-1][0])


@functools.cache
def _lists() -> dict[str, str]:
    """The list that an op is on."""
    hook = find_hook("torch")
    lists = hook.inside.autocasts if hook else {}
    return {name: rule for rule, names in lists.items() for name in names.split()}


@by_instruction
def _called_at(frame: FrameType) -> str:
    """The name of the call that a frame is at; "" if it is another expression."""
    spot = frame_spot(frame)
    if spot.end_column:
        return _call_name(text_at(spot.place))
    line = linecache.getline(spot.file, spot.line)  # Python knows only the line
    words = [*re.findall(r"(\w+)\(", line), "matmul" if " @ " in line else ""]
    return next((word for word in words if word in _lists()), "")


def _call_name(code: str) -> str:
    """The name of what an expression calls, or of its operator."""
    try:
        (statement,) = ast.parse(code.strip()).body
    except (SyntaxError, ValueError):
        return ""
    node = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else statement
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return _OPERATORS.get(type(node.op), "")
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@dataclass(slots=True)
class _OpTally:
    """What was seen of an op at a line of the user, in one module."""

    runs: Counter[str] = field(default_factory=Counter)  # by the name of what PyTorch ran
    casts: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    result: str = ""


@dataclass(slots=True)
class _CastTensor:
    """How often one tensor was cast."""

    tensor: ref[Any]
    record: RepeatedCast
    casts: int = 0
    blocks: int = 0
    last: int = -1  # the block in which it was cast last


class _Autocast:
    """What was seen while autocast was on."""

    def __init__(self) -> None:
        self.blocks = 0
        self.ops: dict[tuple[int, str, str, str, str, str], _OpTally] = {}
        self.tensors: dict[int, _CastTensor] = {}
        self._paths: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._gone: list[_CastTensor] = []
        self._module_type = sys.modules["torch.nn"].Module

    def see(self, func: Any, args: Any, result: Any, frame: FrameType, block: Any) -> None:
        """Counts an op after it ran."""
        name = func.__name__.partition(".")[0]
        user = users_frame(frame)
        if user is None:
            return
        # Python's own operators and decorators are wrappers in PyTorch: in those the call is of a
        # function without a name, such as `f(*args)`, and the user's line names the op.
        names = _called_at(frame), name, _called_at(user)
        lists = _lists()
        op = next((each for each in names if each in lists), "")
        if not op:
            return
        mark, module = frame_mark(user), self._running_module(frame)
        lower = str(block.fast_dtype).rpartition(".")[2]
        path = "" if module is None else self._path(module, frame)
        key = (mark, path, op, lists[op], lower, str(block.device))
        tally = self.ops.get(key)
        if tally is None:
            tally = self.ops[key] = _OpTally()
        if name == CAST:
            self._cast(tally, args[0], result, mark, module, path)
        elif name not in _VIEWS:
            tally.runs[name] += 1
            made = result[0] if type(result) in (tuple, list) and result else result
            tally.result = dtype_name(getattr(made, "dtype", None)) or tally.result

    def _cast(
        self, tally: _OpTally, tensor: Any, result: Any, mark: int, module: Any, path: str
    ) -> None:
        source, target = dtype_name(tensor.dtype), dtype_name(result.dtype)
        if source is None or target is None or source == target:
            return
        tally.casts[f"{source} -> {target}"] += 1
        tally.bytes += result.numel() * result.element_size()
        known = self.tensors.get(id(tensor))
        if known is None or known.tensor() is not tensor:
            if known is not None:
                self._forget(id(tensor))
            if len(self.tensors) > _MOST_TENSORS:
                for key in [k for k, old in self.tensors.items() if old.tensor() is None]:
                    self._forget(key)
            held = [vars(module).get(part) or {} for part in _HELD_IN] if module else []
            name = next((n for part in held for n, t in part.items() if t is tensor), "")
            cached = bool(tensor.requires_grad and tensor.is_leaf)
            record = RepeatedCast(
                mark, f"{path}.{name}" if name else "", source, target,
                tuple(tensor.shape), 0, 0, cached,
            )  # fmt: skip
            known = self.tensors[id(tensor)] = _CastTensor(ref(tensor), record)
        known.casts += 1
        if known.last != self.blocks:
            known.last = self.blocks
            known.blocks += 1

    def _forget(self, key: int) -> None:
        """Forgets a tensor that is gone, but not that it was cast more than once."""
        old = self.tensors.pop(key)
        if old.casts > 1:
            self._gone.append(old)

    @property
    def repeats(self) -> tuple[RepeatedCast, ...]:
        """The tensors that were cast more than once."""
        known = [k for k in (*self._gone, *list(self.tensors.values())) if k.casts > 1]
        return tuple(replace(k.record, casts=k.casts, blocks=k.blocks) for k in known)

    @property
    def records(self) -> tuple[AutocastOp, ...]:
        """The ops that were cast, or that ran in lower precision as their list says. One that did
        although its list says float32 is not on the list of this device."""
        found = []
        for (mark, path, op, rule, lower, device), tally in list(self.ops.items()):
            runs = max(tally.runs.values(), default=0) or max(tally.casts.values(), default=0)
            changes = tuple(sorted(tally.casts))
            if changes or (tally.result == lower and rule != _TO_FLOAT32):
                casts = sum(tally.casts.values())
                found.append(AutocastOp(mark, path, op, rule, lower, device, changes, tally.result,
                                        runs, casts, tally.bytes))  # fmt: skip
        return tuple(found)

    def _running_module(self, frame: FrameType | None) -> Any:
        """The innermost module whose code is running."""
        while frame is not None:
            if frame.f_code.co_varnames[:1] == ("self",):
                found = frame.f_locals.get("self")
                if isinstance(found, self._module_type):
                    return found
            frame = frame.f_back
        return None

    def _path(self, module: Any, frame: FrameType) -> str:
        """The name of a module within the outermost one that is running."""
        known = self._paths.get(module)
        if known is not None:
            return known
        root = module
        above: FrameType | None = frame
        while above is not None:
            root = self._running_module(above) or root
            above = above.f_back
        for name, part in root.named_modules():
            self._paths[part] = name or type(root).__name__
        return self._paths.setdefault(module, "")


def _seen() -> _Autocast:
    if LOG.autocast is None:
        LOG.autocast = _Autocast()
    return LOG.autocast  # type: ignore[no-any-return]
