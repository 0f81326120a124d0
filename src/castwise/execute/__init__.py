"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

from castwise.execute import (  # noqa: F401 -- Tensor's
    inplace,
    library_calls,
    operators,
    python_functions,
)
from castwise.execute.backend import introduce_tensors

introduce_tensors()
