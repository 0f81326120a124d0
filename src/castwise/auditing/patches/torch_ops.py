"""Observes every aten op of PyTorch, inside libraries and in backward."""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from _thread import _local, get_ident
from collections.abc import Callable
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, ref

from castwise.auditing.arrays import NUMBERS, InsideCallee
from castwise.auditing.hooks import find_hook
from castwise.auditing.log import LOG, PLAIN, Tally, frame_mark, frame_spot, log_inside, users_frame
from castwise.auditing.patches.torch_compile import leave_to_python
from castwise.auditing.process import hide_own_frames, in_every_thread, stand_in_for
from castwise.auditing.records import AutocastOp, RepeatedCast
from castwise.auditing.saved import dtype_name
from castwise.auditing.source import text_at

# The mode in which PyTorch shows every aten op: the op runs unchanged, and is seen after it.

Before: TypeAlias = "Callable[[Any, Any], Any]"  # the op and its arguments -> what `After` gets
# What `Before` gave, the op, its arguments, keyword arguments and result, and the caller's frame,
# which is None in a thread of backward if the mode's is its lowest one in Python.
After: TypeAlias = "Callable[[Any, Any, Any, Any, Any, FrameType | None], None]"


def watching_mode(after: After, before: Before = lambda func, args: None) -> Any:
    """A class of modes that call these functions with every op."""
    torch: Any = sys.modules["torch"]
    from torch.utils._python_dispatch import TorchDispatchMode

    own_frame = sys._getframe

    class DispatchWatcher(TorchDispatchMode):  # type: ignore[misc]
        """Runs every op unchanged."""

        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # torch.compile behaves as without this mode

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # the wrapper it would add costs more than everything else

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            keywords = kwargs or {}
            began = before(func, args)
            try:
                result = _run(torch, func, args, keywords)
            except BaseException as error:
                hide_own_frames(error, getattr(type(func).__call__, "__code__", None))
                raise
            try:
                after(began, func, args, keywords, result, own_frame().f_back)
            except Exception as error:
                LOG.failed(error)
            return result

    leave_to_python([DispatchWatcher.__torch_dispatch__.__code__])
    return DispatchWatcher


def _run(torch: Any, func: Any, args: Any, keywords: Any) -> Any:
    """Runs an op, with its original arguments if it does not accept those a mode gets."""
    try:
        return func(*args, **keywords)
    except RuntimeError:
        given = _numbers_as_tensors(torch, func, args)
        if given is args:
            raise
    return func(*given, **keywords)


def _numbers_as_tensors(torch: Any, func: Any, args: Any) -> Any:
    """The original arguments of an op. torch gives a mode the plain number for a tensor that wraps
    a Python number, and the unary ops do not accept that."""
    wide = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
    given = list(args)
    for place, (thing, argument) in enumerate(zip(args, func._schema.arguments, strict=False)):
        if type(thing) in NUMBERS and str(argument.type) == "Tensor":
            is_beyond_int64 = type(thing) is int and thing >= 2**63
            kind = torch.uint64 if is_beyond_int64 else wide[type(thing)]
            given[place] = torch.scalar_tensor(thing, dtype=kind)
    return given if any(one is not other for one, other in zip(given, args, strict=True)) else args


# How long casts take on a GPU: PyTorch's CUDA events around them, for which nothing waits.

_MOST_PENDING = 4096
_MILLISECONDS = 1000


class CastTimes:
    """Pairs of events around casts; a pair counts once the GPU has passed it."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._pending: list[tuple[Tally, Any, Any]] = []

    def begin(self, tensor: Any) -> Any:
        """An event before a cast; None if the tensor is not on a GPU, or if a graph of kernels is
        being captured, which would contain the event."""
        try:
            # Not cuda.is_available(): asking may start CUDA, and a process that forks must not.
            if not tensor.is_cuda or self._cuda.is_current_stream_capturing():
                return None
            return self._recorded()
        except Exception as error:
            LOG.failed(error)
            return None

    def end(self, began: Any) -> Any:
        """An event after a cast that was just started; None if there was none before it."""
        return None if began is None else self._recorded()

    def add(self, tally: Tally, began: Any, ended: Any) -> None:
        """Adds the time between two events to a tally as soon as it is known."""
        self._pending.append((tally, began, ended))
        if len(self._pending) > _MOST_PENDING:
            self.settle()

    def settle(self) -> None:
        """Adds up the casts that the GPU has finished."""
        pending, self._pending = self._pending, []
        for tally, began, ended in pending:
            if ended.query():
                tally.seconds += began.elapsed_time(ended) / _MILLISECONDS
            else:
                self._pending.append((tally, began, ended))

    def _recorded(self) -> Any:
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event


_CAST = "_to_copy"
ALSO: list[Callable[[Any, Any, Any, FrameType | None], None]] = []  # called with every op that ran
_NODES_KEPT = 1 << 16  # how many autograd nodes keep their forward line


class _Forward:
    """The site and op of the last autograd nodes, by their sequence numbers.

    Each thread has its own counter, and backward may run in another thread: a number that two
    threads have used is ambiguous.
    """

    def __init__(self) -> None:
        self.last: dict[int, int] = {}  # thread -> the number of its latest node
        self._nodes: dict[int, tuple[int, int, int, str]] = {}

    def made(self, number: int, thread: int, mark: int, op: str) -> None:
        """Records the op a node belongs to: the first that runs after it."""
        known = self._nodes.get(number % _NODES_KEPT)
        if known is None or known[0] != number:
            self._nodes[number % _NODES_KEPT] = (number, thread, mark, op)
        elif known[1] != thread:
            self._nodes[number % _NODES_KEPT] = (number, 0, 0, "")

    def place_of(self, node: Any) -> tuple[int, str]:
        """The site and op whose gradient a node computes; the site is 0 if unknown."""
        number = node._sequence_nr()
        found = self._nodes.get(number % _NODES_KEPT)
        if found is None or found[0] != number or not found[2]:
            return 0, _op_of_node(node.name())
        return found[2], found[3]


def watch(torch: Any) -> None:
    """Watches this thread and all threads started later."""
    watcher = _watcher_class(torch)
    watcher().__enter__()

    def enter() -> Callable[[], object]:
        mode = watcher()
        mode.__enter__()
        return functools.partial(mode.__exit__, None, None, None)

    in_every_thread(enter)


def _watcher_class(torch: Any) -> Any:
    from torch.autograd import _get_sequence_nr as next_node

    log = _DispatchLog(torch)
    times = CastTimes(torch.cuda)
    LOG.before_report.append(times.settle)

    def before(func: Any, args: Any) -> tuple[int, Any]:
        node = next_node() - 1  # created for this op, just before dispatch
        return node, times.begin(args[0]) if func.__name__.startswith(_CAST) else None

    def after(
        known: tuple[int, Any], func: Any, args: Any, keywords: Any, result: Any, frame: Any
    ) -> None:
        node, began = known
        ended = times.end(began)
        tally = log.see(func, node, args, keywords, result, frame)
        if ended is not None and tally is not None:
            times.add(tally, began, ended)
        for also in ALSO:
            also(func, args, result, frame)

    return watching_mode(after, before)


class _DispatchLog:
    """Counts the ops that may contain casts, each at a line of the user's source."""

    def __init__(self, torch: Any) -> None:
        from torch.autograd.graph import _engine_run_backward

        self._torch = torch
        self._tensors = frozenset({torch.Tensor, torch.nn.Parameter})
        self._running_node = torch._C._current_autograd_node
        self._engine = _engine_run_backward.__code__
        self._forward = _Forward()

    def see(
        self, func: Any, node: int, args: Any, keywords: Any, result: Any, frame: FrameType | None
    ) -> Tally | None:
        """Logs an op after it ran, and returns its tally unless nothing is cast."""
        thread = get_ident()
        if self._forward.last.get(thread) != node:
            self._forward.last[thread] = node
            user = users_frame(frame, self._engine)
            if user is not None:
                self._forward.made(node, thread, frame_mark(user), func.__name__.partition(".")[0])
        if self._has_one_dtype(args, result):
            PLAIN[thread] = PLAIN.get(thread, 0) + 1
            return None
        return self._log(func, args, keywords, result, frame)

    def _has_one_dtype(self, args: Any, result: Any) -> bool:
        """Whether all inputs and outputs have one dtype, and there is an input: such an op casts
        nothing."""
        tensors = self._tensors
        if type(result) not in tensors:
            if type(result) is not tuple or type(result[0]) not in tensors:
                return False
            result = result[0]
        held, has_operands = result.dtype, False
        for thing in args:
            kind = type(thing)
            if kind in tensors:
                if thing.dtype is not held:
                    return False
                has_operands = True
            elif kind is list and thing and type(thing[0]) in tensors:
                if any([t is not None and t.dtype is not held for t in thing]):
                    return False
                has_operands = True
        return has_operands

    def _log(
        self, func: Any, args: Any, keywords: Any, result: Any, frame: FrameType | None
    ) -> Tally | None:
        name = func.__name__.partition(".")[0]
        node = self._running_node()
        user = users_frame(frame, None if node is None else self._engine)
        of, autocast, spot = "", "", None
        if user is not None and frame is not None:
            mark, spot = frame_mark(user), frame_spot(frame)
            if name == _CAST:
                autocast = _autocast_dtype(self._torch)
        elif node is not None:
            mark, of = self._forward.place_of(node)
            user = None if mark else users_frame(frame)
            mark = frame_mark(user) if user is not None else mark
        else:
            return None  # no user code is running
        if not mark:
            return None
        callee = InsideCallee(_module(func), name, of, autocast, spot)
        return log_inside(mark, callee, args, keywords, result)


def _module(func: Any) -> str:
    """The module of an op: aten is PyTorch itself; custom ops belong to their library."""
    space = func.namespace
    return "torch" if space in ("aten", "prims") else str(space)


@functools.cache
def _op_of_node(name: str) -> str:
    """The op of an autograd node: NativeLayerNormBackward0 -> native_layer_norm."""
    plain = re.sub(r"Backward\d*$", "", name.rpartition("::")[2])
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()


def _autocast_dtype(torch: Any) -> str:
    """The autocast dtype when the op was called; inside the op, torch has turned autocast off."""
    with torch._C._RestorePythonTLSSnapshot():
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                return str(torch.get_autocast_dtype(device)).rpartition(".")[2]
    return ""


# Watches PyTorch's ops while autocast is on: which of its lists an op is on, and what it casts.

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
        ALSO.append(_see)  # a second mode would be seen by the first


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
        mode = _autocast_watcher_class()()
        mode.__enter__()
    except Exception as error:
        LOG.failed(error)
        return None
    return mode


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

    return watching_mode(after)


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


# Each code object is kept alive so that its id stays unique.
_names: dict[tuple[int, int], tuple[str, CodeType]] = {}


def _called_at(frame: FrameType) -> str:
    """The name of the call that a frame is at; "" if it is another expression."""
    key = id(frame.f_code), frame.f_lasti
    found = _names.get(key)
    if found is None:
        spot = frame_spot(frame)
        if spot.end_column:
            name = _call_name(text_at(spot.place))
        else:  # Python knows only the line
            line = linecache.getline(spot.file, spot.line)
            words = [*re.findall(r"(\w+)\(", line), "matmul" if " @ " in line else ""]
            name = next((word for word in words if word in _lists()), "")
        found = _names[key] = (name, frame.f_code)
    return found[0]


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


class _OpTally:
    """What was seen of an op at a line of the user, in one module."""

    __slots__ = ("bytes", "casts", "result", "runs")

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}  # by the name of what PyTorch ran
        self.casts: dict[str, int] = {}
        self.bytes = 0
        self.result = ""


class _CastTensor:
    """How often one tensor was cast."""

    __slots__ = ("blocks", "casts", "last", "record", "tensor")

    def __init__(self, tensor: Any, record: RepeatedCast) -> None:
        self.tensor = ref(tensor)
        self.record = record
        self.casts = self.blocks = 0
        self.last = -1  # the block in which it was cast last


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
        if name == _CAST:
            self._cast(tally, args[0], result, mark, module, path)
        elif name not in _VIEWS:
            tally.runs[name] = tally.runs.get(name, 0) + 1
            made = result[0] if type(result) in (tuple, list) and result else result
            tally.result = dtype_name(getattr(made, "dtype", None)) or tally.result

    def _cast(
        self, tally: _OpTally, tensor: Any, result: Any, mark: int, module: Any, path: str
    ) -> None:
        source, target = dtype_name(tensor.dtype), dtype_name(result.dtype)
        if source is None or target is None or source == target:
            return
        change = f"{source} -> {target}"
        tally.casts[change] = tally.casts.get(change, 0) + 1
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
            known = self.tensors[id(tensor)] = _CastTensor(tensor, record)
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
        known = [*self._gone, *list(self.tensors.values())]
        return tuple(
            replace(k.record, casts=k.casts, blocks=k.blocks) for k in known if k.casts > 1
        )

    @property
    def records(self) -> tuple[AutocastOp, ...]:
        """The ops that were cast, or that ran in lower precision as their list says. One that did
        although its list says float32 is not on the list of this device."""
        found = []
        for (mark, path, op, rule, lower, device), tally in list(self.ops.items()):
            runs = max(tally.runs.values(), default=0) or max(tally.casts.values(), default=0)
            changes = tuple(sorted(tally.casts))
            if changes or (tally.result == lower and rule != _TO_FLOAT32):
                found.append(
                    AutocastOp(mark, path, op, rule, lower, device, changes, tally.result, runs,
                               sum(tally.casts.values()), tally.bytes)
                )  # fmt: skip
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
    return LOG.autocast  # type: ignore[return-value]
