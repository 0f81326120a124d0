"""Records the tracebacks of programs that a framework refuses.

    python conformance/messages/record.py torch

reads torch.txt and writes torch.json beside it. The first part of the text prepares; each other
part is a program, under a line that says what a reader should make of its traceback, written by
hand: the dialect and the question, with `?` for an operand that the traceback does not tell. Run it
with the Python that has the framework, which needs nothing else, and with PYTHONHASHSEED=0: JAX
lists dtypes in the order of a set.
"""

from __future__ import annotations

import json
import linecache
import platform
import re
import sys
import traceback
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = "/home/user/program.py"
INSTALLED = re.compile(r"[^\s\"'(]*/lib/python3[.\d]*/")


def main(name: str) -> None:
    preparing, *parts = re.split(r"\n\n+", (HERE / f"{name}.txt").read_text("utf-8").strip())
    recorded = [_recorded(preparing, *part.split("\n", 1)) for part in parts]
    found = {
        "version": _version(preparing),
        "python": platform.python_version(),
        "recorded": recorded,
    }
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (HERE / f"{name}.json").write_text(f"{text}\n", "utf-8")


def _version(preparing: str) -> str:
    """The release of the framework, which is what is imported first."""
    module = re.findall(r"(?:import|from) (\w+)", preparing)[0]
    return getattr(sys.modules[module], "__version__", None) or metadata.version(module)


def _recorded(preparing: str, expected: str, program: str) -> dict[str, str]:
    dialect, _, question = expected.removeprefix("# ").rpartition(": ")
    text = _traceback_text(preparing, program)
    return {"program": program, "dialect": dialect, "question": question, "traceback": text}


def _traceback_text(preparing: str, program: str) -> str:
    """The traceback as a user sees it, without the recorder's own frame and folders."""
    names: dict[str, object] = {}
    exec(preparing, names)
    lines = [f"{line}\n" for line in program.split("\n")]
    linecache.cache[PROGRAM] = (len(program), None, lines, PROGRAM)
    try:
        exec(compile(program, PROGRAM, "exec"), names)
    except Exception:
        text = traceback.format_exc()
        own = re.escape(__file__)
        text = re.sub(rf'  File "{own}".*\n(?:    .*\n)*', "", text)
        return INSTALLED.sub("/usr/lib/python3/", text)
    sys.exit(f"no error: {program}")


if __name__ == "__main__":
    main(sys.argv[1])
