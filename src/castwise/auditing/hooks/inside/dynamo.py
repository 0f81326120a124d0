"""torch.compile compiles what the program says, and not what observes it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any

from castwise.auditing.observing.observe import OBSERVERS
from castwise.auditing.observing.originals import original_code

_COMPILER = "torch.compile"


def compile_originals() -> None:
    """Gives a frame that is compiled its original code, and lets the observers run as they are."""
    module = sys.modules["torch._dynamo.convert_frame"]
    plain = module._compile

    @functools.wraps(plain)
    def compile_original(code: CodeType, *arguments: Any, **options: Any) -> Any:
        return plain(original_code(code, _COMPILER), *arguments, **options)

    module._compile = compile_original  # type: ignore[attr-defined]
    observers = [getattr(o, "__code__", None) for o in OBSERVERS.values()]
    leave_to_python(code for code in observers if code is not None)


def inline_originals() -> None:
    """Gives a function that is inlined in a compiled one its original code."""
    function_variable = sys.modules["torch._dynamo.variables.functions"].UserFunctionVariable
    plain = function_variable.get_code

    @functools.wraps(plain)
    def get_code(variable: Any) -> CodeType:
        return original_code(plain(variable), _COMPILER)

    function_variable.get_code = get_code


def leave_to_python(codes: Iterable[CodeType]) -> None:
    """Tells torch's compiler to leave functions, and what they call, alone."""
    frames = sys.modules["torch"]._C._dynamo.eval_frame
    if not hasattr(frames, "set_code_exec_strategy"):
        return  # a torch without a way to say so
    skip = frames._FrameAction.SKIP
    for code in codes:
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(skip, skip))
