"""Lets torch.compile compile the original code, without observers."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any

from castwise.auditing.hooks.inside.graphs import compared, refused_by_tracing
from castwise.auditing.noting.log import LOG
from castwise.auditing.observing.observe import OBSERVERS
from castwise.auditing.observing.originals import compiled_code

_COMPILER = "torch.compile"


def compile_originals() -> None:
    """Gives the compiler a frame's original code, and leaves the observers uncompiled."""
    module = sys.modules["torch._dynamo.convert_frame"]
    plain = module._compile
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def compile_original(code: CodeType, *arguments: Any, **options: Any) -> Any:
        original = compiled_code(code, _COMPILER)
        if not LOG.compares:
            return plain(original, *arguments, **options)
        given = signature.bind(original, *arguments, **options)
        given.arguments["compiler_fn"] = compared(given.arguments["compiler_fn"], original)
        try:
            return plain(*given.args, **given.kwargs)
        except Exception as error:
            refused_by_tracing(error, original)
            raise

    module._compile = compile_original  # type: ignore[attr-defined]
    observers = [getattr(o, "__code__", None) for o in OBSERVERS.values()]
    leave_to_python(code for code in observers if code is not None)


def inline_originals() -> None:
    """Gives the compiler the original code of an inlined function."""
    function_variable = sys.modules["torch._dynamo.variables.functions"].UserFunctionVariable
    plain = function_variable.get_code

    @functools.wraps(plain)
    def get_code(variable: Any) -> CodeType:
        return compiled_code(plain(variable), _COMPILER)

    function_variable.get_code = get_code


def leave_to_python(codes: Iterable[CodeType]) -> None:
    """Makes torch's compiler skip functions and everything they call."""
    frames = sys.modules["torch"]._C._dynamo.eval_frame
    if not hasattr(frames, "set_code_exec_strategy"):
        return  # this torch has no such function
    skip = frames._FrameAction.SKIP
    for code in codes:
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(skip, skip))
