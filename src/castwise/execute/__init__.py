"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

from castwise.execute import inplace, library_calls, operators  # noqa: F401 -- Tensor's
from castwise.execute.backend import introduce_tensors

introduce_tensors()
