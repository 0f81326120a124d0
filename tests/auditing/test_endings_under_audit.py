"""A program ends in the same way under audit, and what was seen is reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from under_audit import audited, plainly, same_script, write

import cells
from processes import finished, started

BEGINNING = """
import atexit, os, signal, sys, threading
import numpy as np
total = np.ones(4, np.float32) + np.zeros(4)
atexit.register(print, "at exit", -1)
print("begun", total.dtype)
sys.stdout.flush()
"""

ENDINGS = {
    "falls off the end": "",
    "exits": "sys.exit()",
    "exits with 0": "sys.exit(0)",
    "exits with a status": "sys.exit(3 + 4)",
    "exits with a large status": "sys.exit(300 + 1)",
    "exits with a message": "sys.exit('the end ' + 'is near')",
    "exits with an object": "sys.exit([1, 2 * 3])",
    "exits with True": "raise SystemExit(True)",
    "exits in a function": "def f(x):\n    raise SystemExit(x * 2)\nf(4)",
    "exits within a handler": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    sys.exit(-5)",
    "raises": "def f(x):\n    return total[x * 10]\nf(2)",
    "raises one from another": (
        "try:\n    {}[1 + 1]\nexcept KeyError as error:\n    raise ValueError from error"
    ),
    "warns when it is compiled": "print(total is 1)",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "raises in a thread": (
        "t = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()"
    ),
    "raises at exit": "atexit.register(lambda: [][1 + 1])",
    "raises while an object is deleted": (
        "class D:\n    def __del__(self): {}['x' * 2]\n"
        "    def __repr__(self): return 'D'\nd = D()\ndel d"
    ),
    "has its own excepthook": "sys.excepthook = lambda *e: print('hook', e[:2])\n1 / 0",
    "leaves without saying": "os._exit(5 + 4)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "is terminated": "os.kill(os.getpid(), signal.SIGTERM)",
    "aborts": "os.abort()",
    "crashes": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
    "import ctypes; ctypes.string_at(0)",
    "handles its own interrupt": (
        "signal.signal(signal.SIGINT, lambda *a: print('handled', a[0]))\n"
        "os.kill(os.getpid(), signal.SIGINT)\nprint(1 + 1)"
    ),
}


@pytest.mark.parametrize("name", [*ENDINGS][:: 1 if cells.takes_all else 2])
def test_a_program_that(name: str, tmp_path: Path) -> None:
    script = write(tmp_path, script=BEGINNING + ENDINGS[name] + "\n")
    plain = plainly(script.name, cwd=tmp_path)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plain
    assert outcome.stdout.startswith("begun float64")
    assert [e.count for e in seen.events if e.call is None] == [1]
    assert seen.counts.failures == {}


def test_a_program_reads_stdin(tmp_path: Path) -> None:
    script = write(tmp_path, script="import sys\nprint(input('? ') * 2, sys.stdin.read())\n")
    plain = plainly(script.name, cwd=tmp_path, stdin="one\ntwo\nthree")
    outcome, _ = audited(script.name, cwd=tmp_path, stdin="one\ntwo\nthree")
    assert outcome == plain
    assert outcome.stdout == "? oneone two\nthree\n"


@pytest.mark.parametrize("source", ["x = = 1\n", "x = 1\n  y = 2\n", "return 1\n", "x = '\\0"])
def test_a_script_that_is_no_python(source: str, tmp_path: Path) -> None:
    assert same_script(source, tmp_path).status == 1


def audit_command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "castwise", "audit", *map(str, arguments)]


WAITING = """
import sys, time
import numpy as np
total = np.ones(4, np.float32) + np.zeros(4)
print("waiting", flush=True)
try:
    time.sleep(60)
finally:
    print("cleaned up", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group, SIGTERM only to the command: the program gets both."""
    script = write(tmp_path, script=WAITING)
    command = audit_command("--json", tmp_path / "report.json", script)
    pipe = subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.3)  # the program prints before the command has its handlers in place
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        stdout, stderr = process.communicate()
    assert process.returncode == 128 + number
    assert stdout == ("cleaned up\n" if number == signal.SIGINT else "")
    assert ("KeyboardInterrupt" in stderr) == (number == signal.SIGINT)
    assert len(json.loads((tmp_path / "report.json").read_text())["findings"]) == 1


def test_the_command_ends_as_the_program_does(tmp_path: Path) -> None:
    script = write(tmp_path, script="import sys\nprint('out')\nsys.exit(int(sys.argv[1]))\n")
    for status in (0, 7):
        command = audit_command(script, str(status))
        done = finished(command)
        assert (done.returncode, done.stdout) == (status, "out\n")


@pytest.mark.parametrize("flag", ["-E", "-S"])
def test_a_python_that_cannot_be_reached_is_refused(flag: str, tmp_path: Path) -> None:
    script = write(tmp_path, script="print(1)\n")
    code = (
        "import sys; sys.path[:0] = eval(sys.argv.pop(1))\n"
        "from castwise.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, flag, "-c", code, repr(sys.path), "audit", str(script)]
    done = finished(command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Run castwise without -I, -E and -S." in " ".join(done.stderr.split())
