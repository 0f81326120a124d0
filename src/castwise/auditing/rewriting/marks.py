"""The marks by which rewritten source names its sites: whole numbers, other ones in every file."""

from __future__ import annotations

import hashlib
import os

SITES_PER_FILE = 1 << 20


def full_path(path: str) -> str:
    """A file's absolute path; what is no file, such as "<stdin>", has none."""
    return path if path.startswith("<") else os.path.abspath(path)


def first_mark(path: str) -> int:
    """The mark of a file's first site; those of different files do not meet."""
    digest = hashlib.sha1(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:5], "big") * SITES_PER_FILE
