"""Rewritten code on disk, so that a second run of a program starts fast."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from contextlib import suppress
from marshal import dumps, loads  # now: the program finds one that hides the observers
from pathlib import Path
from typing import Any

CHOSEN = "CASTWISE_CACHE_DIR"  # the variable with the directory to use instead of the user's
_DIGEST = 32  # bytes
_DAY = 24 * 3600
_KEPT = 60 * _DAY  # an entry that no run has needed for so long is removed


def directory() -> Path:
    """The directory of the cache."""
    chosen = os.environ.get(CHOSEN)
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "castwise", "rewritten")


def read(kept: Path) -> Any:
    """The entry in a file, or None if there is none or it is broken: unmarshalling broken code can
    crash the process."""
    try:
        digest, body = (whole := kept.read_bytes())[:_DIGEST], whole[_DIGEST:]
    except OSError:
        return None
    if hashlib.sha256(body).digest() != digest:
        return None
    with suppress(OSError):
        if time.time() - kept.stat().st_mtime > _DAY:
            os.utime(kept)
    return loads(body)


def write(kept: Path, entry: Any) -> None:
    """Writes an entry, unless Python is told to write no code to disk and no directory is chosen.
    It goes to another file that is then renamed, so that no process ever sees half a file."""
    if sys.dont_write_bytecode and not os.environ.get(CHOSEN):
        return
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        _remove_old(kept.parent)
        handle, unfinished = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "wb") as file:
            body = dumps(entry)
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(unfinished, kept)


def _remove_old(folder: Path) -> None:
    now = time.time()
    for file in folder.iterdir():
        with suppress(OSError):  # another process may have removed it
            if now - file.stat().st_mtime > _KEPT:
                file.unlink()
