"""Observes every aten op of PyTorch, inside libraries and in backward."""

from __future__ import annotations

import functools
import re
import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

from castwise.auditing.arrays import NUMBERS, is_array_type, note
from castwise.auditing.calls import InsideCallee, given_dtype
from castwise.auditing.log import LOG, PLAIN, Tally, frame_mark, frame_spot, users_frame
from castwise.auditing.patches.torch_compile import leave_to_python
from castwise.auditing.process import hide_own_frames, in_every_thread

# The mode in which PyTorch shows every aten op: the op runs unchanged, and is seen after it.

Before: TypeAlias = "Callable[[Any, Any], Any]"  # the op and its arguments -> what `After` gets
# What `Before` gave, the op, its arguments, keyword arguments and result, and the caller's frame,
# which is None in a thread of backward if the mode's is its lowest one in Python.
After: TypeAlias = "Callable[[Any, Any, Any, Any, Any, FrameType | None], None]"


def mode_class(after: After, before: Before = lambda func, args: None) -> Any:
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


CAST = "_to_copy"
# Called with every op that ran.
AFTER_EACH_OP: list[Callable[[Any, Any, Any, FrameType | None], None]] = []
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
        return node, times.begin(args[0]) if func.__name__.startswith(CAST) else None

    def after(
        known: tuple[int, Any], func: Any, args: Any, keywords: Any, result: Any, frame: Any
    ) -> None:
        node, began = known
        ended = times.end(began)
        tally = log.see(func, node, args, keywords, result, frame)
        if ended is not None and tally is not None:
            times.add(tally, began, ended)
        for see in AFTER_EACH_OP:
            see(func, args, result, frame)

    return mode_class(after, before)


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
            if name == CAST:
                autocast = _autocast_dtype(self._torch)
        elif node is not None:
            mark, of = self._forward.place_of(node)
            user = None if mark else users_frame(frame)
            mark = frame_mark(user) if user is not None else mark
        else:
            return None  # no user code is running
        if not mark:
            return None
        made = _first_array(result)
        if made is None:
            return None
        # aten is PyTorch itself; custom ops belong to their library.
        module = "torch" if func.namespace in ("aten", "prims") else str(func.namespace)
        callee = InsideCallee(module, name, of, autocast, spot)
        operands = tuple([_operand_note(thing) for thing in args])
        given = given_dtype(keywords.get("dtype"))
        return LOG.add(mark, callee, operands, (given, True, False, len(operands)), made)


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


_MOST_ELEMENTS = 64  # of a list of arrays


def _first_array(result: Any) -> Any:
    parts = result if type(result) in (list, tuple) else (result,)
    return next((part for part in parts if is_array_type(type(part))), None)


def _operand_note(thing: Any) -> Any:
    if type(thing) in (list, tuple):
        if 0 < len(thing) <= _MOST_ELEMENTS and is_array_type(type(thing[0])):
            return tuple([note(element) for element in thing])
        return None
    return note(thing)
