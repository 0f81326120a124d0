"""The built-in functions whose calls are not observed like others."""

from __future__ import annotations

# These inspect the calling frame, or must be called by that name.
UNTOUCHED = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
RUNNING = frozenset({"eval", "exec"})  # of these: what runs code that is not rewritten
# Builtins that neither create nor cast arrays: not worth observing.
PLAIN = frozenset(
    {
        "print", "len", "range", "isinstance", "issubclass", "hasattr", "getattr", "setattr",
        "delattr", "enumerate", "zip", "type", "id", "repr", "str", "list", "dict", "set",
        "frozenset", "tuple", "open", "iter", "next", "callable", "hash", "input", "ord", "chr",
        "format", "bytes", "bytearray", "memoryview", "object", "property", "staticmethod",
        "classmethod", "sorted", "reversed", "map", "filter", "breakpoint",
    }
)  # fmt: skip
