"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

from castwise.arrays.backend import introduce_tensors

introduce_tensors()
