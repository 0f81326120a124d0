"""TensorFlow's mode: whether its NumPy behaviour is switched on, and which one."""

from __future__ import annotations

import sys
from typing import Any

_MODES = {"ALL": "np-all", "SAFE": "np-safe"}


def mode(tensorflow: Any) -> str:
    """The mode of the dialect that it follows now."""
    ops = sys.modules["tensorflow.python.framework.ops"]
    chosen = getattr(ops, "get_dtype_conversion_mode", lambda: None)()
    return _MODES.get(getattr(chosen, "name", ""), "")
