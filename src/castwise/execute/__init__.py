"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

from castwise.execute import inplace, operators  # noqa: F401 -- they give Tensor its operators
