"""A program with findings, whose source would like to be HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

import castwise as cw


@cw.audited
def scaled(x: Any) -> Any:
    weights = np.ones(3)  # <script>alert('&')</script>
    y = x * weights
    return y, x - np.arange(1, 4, dtype=["<script>alert('&')</script>", "int32"][1])
