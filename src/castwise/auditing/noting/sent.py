"""Where arrays were made that another process of the program has sent.

What a program sends does not change, so the processes tell each other in a file which line made
the arrays of which dtype and shape. Marks are the same in all of them. If arrays that look alike
come from two lines, nobody knows which one it was.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MOST_KINDS = 1000  # of arrays; a program may send a new shape each time

_file: Path | None = None
_makers: dict[str, int] = {}  # how an array looks -> the mark of the site that made such ones
_read = 0  # bytes of the file that are in the table


def start(file: Path) -> None:
    """Shares what is told with the processes that have the same file."""
    global _file
    _file = file


def tell(look: str, mark: int) -> None:
    """Tells where an array was made that is about to be sent; 0: nobody knows."""
    if _file is None or _makers.get(look) in (mark, 0) or len(_makers) >= _MOST_KINDS:
        return
    with open(_file, "ab", buffering=0) as file:
        file.write(f"{mark} {look}\n".encode())
    _read_new()


def maker_of_sent(look: str) -> int:
    """The mark of the site where an array that was received was made; 0 if unknown."""
    if _file is not None:
        with suppress(OSError):
            if os.stat(_file).st_size != _read:
                _read_new()
    return _makers.get(look, 0)


def _read_new() -> None:
    """Adds what processes have told since the last time. Threads that do so at once add the same
    lines twice, which changes nothing."""
    global _read
    assert _file is not None  # start was called
    read = _read
    with open(_file, "rb") as file:
        file.seek(read)
        told = file.read()
    told = told[: told.rfind(b"\n") + 1]  # another process may be writing the rest
    for line in told.decode().splitlines():
        mark, _, look = line.partition(" ")
        is_same = _makers.get(look, int(mark)) == int(mark)
        _makers[look] = int(mark) if is_same else 0
    _read = read + len(told)
