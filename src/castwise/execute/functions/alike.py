"""Functions without their own op: each is decided like some op, but has its own computation.

A dotted name is a function of one of the standard's extensions.
"""

from __future__ import annotations

_FUNCTIONS = {
    "eq": "isin",
    "clamp": "clip_above",
    "gelu": "gelu_tanh",
    "median": "lower_median",
    "matmul": "tensordot",
    "div": "linalg.solve",
    "norm": "linalg.matrix_norm linalg.vector_norm",
    "sqrt": """
        linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
        linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.svd
        linalg.svdvals
        fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfftn fft.irfftn
        fft.hfft fft.ihfft
    """,
}
# function -> the op it is decided as
LIKE = {name: op for op, names in _FUNCTIONS.items() for name in names.split()}
