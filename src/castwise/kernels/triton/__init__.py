"""Kernels for GPUs: Triton's Python, compiled by Triton."""
