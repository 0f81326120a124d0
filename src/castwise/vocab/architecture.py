"""The processor's architecture: the results of casts and some functions depend on it."""

from __future__ import annotations

import platform

_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}  # what Windows and macOS call them


def architecture() -> str:
    """`x86_64`, `aarch64`, or what the system calls another one."""
    machine = platform.machine().lower()
    return _NAMES.get(machine, machine)
