"""Processes that an audited program starts run as they would, and are audited too."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from under_audit import audited, plainly, same, write

from castwise.auditing.records import Seen
from processes import finished

# A cast that every process makes once: float32 + float64.
CAST = """
import numpy as np
def cast(n):
    return float((np.ones(4, np.float32) * n + np.zeros(4)).sum())
"""


def casts(seen: Seen) -> int:
    """How often the cast of CAST was seen, in all processes together."""
    return sum(
        event.count
        for event in seen.events
        if seen.site(event).site.name == "+" and event.result and event.result.dtype == "float64"
    )


WAYS = {
    "fork": 'get_context("fork")',
    "spawn": 'get_context("spawn")',
    "forkserver": 'get_context("forkserver")',
}


@pytest.mark.parametrize("way", WAYS)
def test_multiprocessing(way: str, tmp_path: Path) -> None:
    source = f"""
{CAST}
import multiprocessing, os, sys
def work(queue, n):
    print("in", __name__ != "", os.path.basename(__file__), sys.argv, flush=True)
    queue.put(cast(n))
def fail(n):
    return cast(n) + None
if __name__ == "__main__":
    context = multiprocessing.{WAYS[way]}
    queue = context.Queue()
    process = context.Process(target=work, args=(queue, 3))
    process.start()
    print(queue.get(), process.join(), process.exitcode)
    with context.Pool(2) as pool:
        print(pool.map(cast, range(5)), pool.apply(cast, (7,)))
        pool.close()
        pool.join()
    process = context.Process(target=fail, args=(3,))
    process.start()
    process.join()
    print(process.exitcode)
"""
    script = write(tmp_path, script=source)
    plain = plainly(script.name, cwd=tmp_path)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plain
    assert outcome.status == 0, outcome.stderr
    assert seen.counts.failures == {}
    assert casts(seen) == 8
    assert seen.facts.processes >= 4


def test_executors(tmp_path: Path) -> None:
    source = f"""
{CAST}
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import multiprocessing
if __name__ == "__main__":
    with ThreadPoolExecutor(3) as threads:
        print(list(threads.map(cast, range(4))))
    for way in ("fork", "spawn"):
        context = multiprocessing.get_context(way)
        with ProcessPoolExecutor(2, mp_context=context) as processes:
            print(list(processes.map(cast, range(4))))
            failing = processes.submit(cast, "x")
            print(type(failing.exception()).__name__)
"""
    script = write(tmp_path, script=source)
    plain = plainly(script.name, cwd=tmp_path)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plain
    assert outcome.status == 0, outcome.stderr
    assert casts(seen) == 12


PARENT = """
import os, subprocess, sys
def run(*arguments, **options):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)
    print(done.returncode, done.stdout, done.stderr)
run("other.py", "a", "b c")
run("-O", "other.py", env={**os.environ, "X": "1"})
run("other.py", env={"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
run("-m", "other", input="given")
run("-c", "import other, sys; print(sys.argv)", "x")
run("-", input="import other; print(other.__name__)")
run("broken.py")
run("none.py")
run("-I", "-c", "print(1 + 1)")
os.system(f"{sys.executable} other.py by a shell")
sys.stdout.flush()
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, "other.py", "replaced"])
print(os.wait()[1], sorted(name for name in os.environ if "CASTWISE" in name))
"""
OTHER = f"""
{CAST}
import os, sys, traceback
print(__name__, __file__, sys.argv, cast(2), __debug__, sys.path[0], os.environ.get("X"))
print(sorted(name for name in os.environ if "CASTWISE" in name or name == "PYTHONPATH"))
print(os.environ.get("PYTHONPATH"))
traceback.print_stack()
if __name__ == "__main__":
    cast(None)
"""


def test_scripts_and_modules_run_by_the_same_python(tmp_path: Path) -> None:
    script = write(tmp_path, script=PARENT, other=OTHER, broken="x = = 1\n")
    plain = plainly(script.name, cwd=tmp_path)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plain
    assert outcome.status == 0, outcome.stderr
    assert seen.counts.failures == {}
    assert casts(seen) == 8
    assert {function.name for function in seen.unobserved} >= {
        "the code of python -c",
        "code read from stdin",
        "broken.py",
    }


def other_pythons() -> list[str]:
    """Pythons of other versions, which have no castwise."""
    names = ("python2.7", "python3.7", "python3.9", "/usr/bin/python3")
    found = [path for name in names if (path := shutil.which(name))]
    return [path for path in found if finished([path, "-c", ""]).returncode == 0]


def test_a_python_without_castwise_runs_as_it_would(tmp_path: Path) -> None:
    source = """
import os, subprocess, sys
env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
for python in sys.argv[1:]:
    code = "import os, sys; print(sorted(k for k in os.environ if 'CASTWISE' in k or 'PATH' in k))"
    subprocess.call([python, "-c", code], env=env)
"""
    if not other_pythons():
        pytest.skip("there is no other Python here")
    script = write(tmp_path, script=source)
    assert same(script.name, *other_pythons(), cwd=tmp_path).stderr == ""


def test_a_sitecustomize_of_the_user_s_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, mine__sitecustomize="import sys\nsys.customized = __file__\n")
    script = write(
        tmp_path,
        script="import os, sys\nprint(sys.customized, os.environ['PYTHONPATH'], sys.path)\n"
        "print(sys.modules['sitecustomize'].__file__)\n",
    )
    paths = [str(tmp_path / "mine"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    assert same(script.name, cwd=tmp_path).status == 0
