"""PyTorch's mode: its default dtype."""

from __future__ import annotations

from typing import Any


def mode(torch: Any) -> str:
    """The options of the dialect that it follows now."""
    default = str(torch.get_default_dtype()).rpartition(".")[2]
    return "" if default == "float32" else f"default_float={default}"
