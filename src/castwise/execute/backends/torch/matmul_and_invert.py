"""`~t` and `t @ u` in torch.compile, which handles only these two operators by torch's tensors."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_OPERATORS = "torch._dynamo.variables.builtin"
_BINARY = {"matmul": ("__matmul__", "__rmatmul__"), "imatmul": ("__imatmul__", "__rmatmul__")}


def let_operate(tensor: type) -> None:
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
