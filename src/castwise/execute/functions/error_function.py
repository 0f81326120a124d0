"""The error function, for namespaces that have none."""

from __future__ import annotations

import math
from typing import Any


def erf(xp: Any, x: Any) -> Any:
    """The error function, within a few units of the last place of float64."""
    if x.dtype != xp.float64:
        return xp.astype(erf(xp, xp.astype(x, xp.float64)), x.dtype)
    away = xp.abs(x)
    near = xp.where(away < 2.5, away, xp.zeros_like(away))
    far = xp.where(away < 2.5, xp.full_like(away, 2.5), xp.minimum(away, xp.full_like(away, 7.0)))
    found = xp.where(away < 2.5, _erf_series(near), 1 - _erfc_fraction(xp, far))
    return xp.where(x < 0, -found, xp.where(xp.isnan(x), x, found))


def _erf_series(x: Any) -> Any:
    """2 / sqrt(pi) * the sum of x**(2n+1) 2**n exp(-x**2) / (1 * 3 * ... * (2n+1))."""
    square = x * x
    total = x * 0
    for n in range(60, 0, -1):
        total = (1 + total) * (2 * square / (2 * n + 1))
    return (2 / math.sqrt(math.pi)) * x * (1 + total) * math.e ** (-square)


def _erfc_fraction(xp: Any, x: Any) -> Any:
    """The continued fraction of erfc, which converges quickly from 2 on."""
    tail = x
    for n in range(60, 0, -1):
        tail = x + (n / 2) / tail
    return xp.exp(-x * x) / (math.sqrt(math.pi) * tail)
