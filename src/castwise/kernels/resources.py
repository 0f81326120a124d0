"""What kernels take of the machine: locks, threads to run on, and files that keep them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from castwise.errors import UsageError


def fork_safe(lock: Any) -> Any:
    """A lock that is free in the child of a fork, whoever held it in the parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock


# How many threads a kernel runs on.

THREADS_VARIABLE = "CASTWISE_THREADS"
_threads: int | None = None  # None: nobody has asked or said how many yet


def get_threads() -> int:
    """How many threads large ops run on.

    >>> get_threads() >= 1
    True
    """
    global _threads
    if _threads is None:
        given = os.environ.get(THREADS_VARIABLE)
        name = f"the environment variable {THREADS_VARIABLE}"
        _threads = _checked(given, name) if given else _processor_count()
    return _threads


def set_threads(number: int | None) -> None:
    """Sets how many threads large ops run on; None is all processors, or what the environment
    variable CASTWISE_THREADS says.

    >>> set_threads(2)
    >>> get_threads()
    2
    >>> set_threads(None)

    Raises UsageError for anything but a whole number from 1.
    """
    global _threads
    _threads = None if number is None else _checked(number, "the number of threads")


def _checked(number: object, name: str) -> int:
    """A number of threads that somebody gave; `name` says what it is."""
    try:
        found = int(str(number))
    except (TypeError, ValueError):
        found = 0
    if found < 1 or isinstance(number, (bool, float)):
        raise UsageError(f"{name} is a whole number from 1, not {number!r}.")
    return found


def _processor_count() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))  # not on macOS and Windows
    except AttributeError:
        return os.cpu_count() or 1


# Compiled kernels on disk, so that a new process need not compile them again.
#
# A file is written under another name and then renamed, so several processes may write at once. The
# directory and its files belong to the user alone: what is read from them is run.

CACHE_VARIABLE = "CASTWISE_CACHE"  # a directory; "off": nothing is written or read
_OFF = ("off", "0", "false", "no")
_DIGEST = 32
_MOST_BYTES = 64 << 20  # the oldest files are removed beyond this


def cache_directory(folder: str = "kernels") -> Path | None:
    """Where castwise keeps compiled kernels; None if it keeps none."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen.lower() in _OFF and chosen:
        return None
    if chosen:
        return Path(chosen) / folder
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "castwise" / folder


def private_directory(place: Path) -> Path:
    """A directory that only its owner can read."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def code_key(*parts: str) -> str:
    """The name of a kernel with this text, made for this processor."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def kept_code(key: str) -> bytes | None:
    """The code of a kernel; None if there is none, or if others may have changed it."""
    place = cache_directory()
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


def keep_code(key: str, code: bytes) -> None:
    """Keeps the code of a kernel. Where that is not possible, it is compiled again next time."""
    place = cache_directory()
    if place is None:
        return
    with contextlib.suppress(OSError):
        if not _is_own(private_directory(place).stat()):
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
