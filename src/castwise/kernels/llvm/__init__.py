"""Kernels for processors: LLVM IR, compiled by llvmlite."""
