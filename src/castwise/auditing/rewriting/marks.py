"""The marks by which rewritten source names its sites: integers, different in every file."""

from __future__ import annotations

import hashlib
import os

SITES_PER_FILE = 1 << 20


def full_path(path: str) -> str:
    """A file's absolute path; a name such as "<stdin>" stays unchanged."""
    return path if path.startswith("<") else os.path.abspath(path)


def first_mark(path: str) -> int:
    """The mark of a file's first site; the marks of different files do not overlap."""
    digest = hashlib.sha1(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:5], "big") * SITES_PER_FILE
