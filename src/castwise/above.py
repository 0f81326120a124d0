"""What a result does with the help of rooms above its own.

A low room imports no high one. The top of the package, which Python imports before any of its
modules, sets these functions; each loads its room when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

report_text: Callable[[object], str]  # a result as the command line prints it
report_html: Callable[[object], str]  # as a notebook shows it, with everything that it needs inside
cast_inputs: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]  # operands as a decision casts them
array_namespace: Callable[[], ModuleType]  # the standard's functions, which are built on tensors
