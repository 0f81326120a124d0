"""Compiled kernels on disk, so that a new process need not compile them again.

A file is written under another name and then renamed, so several processes may write at once. The
directory and its files belong to the user alone: what is read from them is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

VARIABLE = "CASTWISE_CACHE"  # a directory; "off": nothing is written or read
_OFF = ("off", "0", "false", "no")
_DIGEST = 32
_MOST_BYTES = 64 << 20  # the oldest files are removed beyond this


def directory(of: str = "kernels") -> Path | None:
    """Where kernels are kept; None if they are not."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in _OFF and chosen:
        return None
    if chosen:
        return Path(chosen) / of
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "castwise" / of


def made(place: Path) -> Path:
    """A directory that only its owner can read."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def digest(*parts: str) -> str:
    """The name of a kernel with this text, made for this processor."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> bytes | None:
    """The code of a kernel; None if there is none, or if others may have changed it."""
    place = directory()
    if place is None:
        return None
    try:
        with open(place / key, "rb") as file:
            if not _is_own(os.fstat(file.fileno())) or not _is_own(place.stat()):
                return None
            digest, code = file.read(_DIGEST), file.read()
    except OSError:
        return None
    return code if hashlib.sha256(code).digest() == digest else None


def write(key: str, code: bytes) -> None:
    """Keeps the code of a kernel. Where that is not possible, it is compiled again next time."""
    place = directory()
    if place is None:
        return
    with contextlib.suppress(OSError):
        if not _is_own(made(place).stat()):
            return
        handle, name = tempfile.mkstemp(dir=place, prefix="new-")  # readable by its owner alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, place / key)
        except OSError:
            os.unlink(name)
            raise
        _trim(place)


def _is_own(found: os.stat_result) -> bool:
    """Whether nobody else can have written a file."""
    if not hasattr(os, "getuid"):
        return True  # Windows: the user's own folders are protected
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trim(place: Path) -> None:
    """Removes the oldest files while there are too many."""
    files = sorted((file.stat().st_mtime, file.stat().st_size, file) for file in place.iterdir())
    total = sum(size for _, size, _ in files)
    for _, size, file in files:
        if total <= _MOST_BYTES:
            return
        file.unlink(missing_ok=True)
        total -= size
