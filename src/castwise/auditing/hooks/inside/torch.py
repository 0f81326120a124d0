"""Observes every aten op of PyTorch, inside libraries and in backward."""

from __future__ import annotations

import functools
import re
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any

from castwise.auditing.hooks.inside.cast_times import CastTimes
from castwise.auditing.hooks.inside.dispatch import watching_mode
from castwise.auditing.noting.callees import InsideCallee
from castwise.auditing.noting.frames import mark_of, spot_of, users_frame
from castwise.auditing.noting.inside import PLAIN, log_inside
from castwise.auditing.noting.log import LOG, Tally
from castwise.auditing.observing.threads import in_every_thread

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


def watch() -> None:
    """Watches this thread and all threads started later."""
    watcher = _watcher_class()
    watcher().__enter__()

    def enter() -> Callable[[], object]:
        mode = watcher()
        mode.__enter__()
        return functools.partial(mode.__exit__, None, None, None)

    in_every_thread(enter)


def _watcher_class() -> Any:
    import torch
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
                self._forward.made(node, thread, mark_of(user), func.__name__.partition(".")[0])
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
            mark, spot = mark_of(user), spot_of(frame)
            if name == _CAST:
                autocast = _autocast_dtype(self._torch)
        elif node is not None:
            mark, of = self._forward.place_of(node)
            user = None if mark else users_frame(frame)
            mark = mark_of(user) if user is not None else mark
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
