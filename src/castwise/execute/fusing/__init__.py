"""Ops on large arrays as generated kernels, where that is faster; the results are the same."""
