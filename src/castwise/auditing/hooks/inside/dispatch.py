"""The mode in which PyTorch shows every aten op: the op runs unchanged, and is seen after it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

from castwise.auditing.hooks.inside.dynamo import leave_to_python
from castwise.auditing.noting.arrays import NUMBERS
from castwise.auditing.noting.log import LOG
from castwise.auditing.observing.tracebacks import hide_own_frames

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
