"""What a program saves or shows of its functions has no trace of the audit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from under_audit import audited, plainly, same_script, write

from castwise.auditing.origins import make_audit
from castwise.auditing.records import Seen

FUNCTIONS = """
import numpy as np
SCALE = np.float64(2)
def f(x, y=3):
    "The docstring."
    z = x * y + SCALE
    z += 1
    return [q + 1 for q in z]
class Kind:
    "A class."
    start = 1 + len("ab")
    def __init__(self, x=1): self.x = x + self.start
    def m(self, x): return (lambda t: t * 2.5)(x)
    @staticmethod
    def s(x): return -x
    @property
    def p(self): return self.x * 2
class Child(Kind):
    def m(self, x): return super().m(x) + 1
def outer(k):
    def inner(x): return x + k
    return inner
g, h = lambda x: x * np.arange(3), lambda x: x - 1
"""
CALLS = """
x = np.arange(3.0)
f, Kind, Child, inner, g, h, kind = loaded
print(f(x), f.__doc__, f.__defaults__, f.__code__.co_names, f.__code__.co_consts[:2])
print(Kind(2).p, Kind().m(2), Kind.s(3), Child().m(1), inner(5), g(x), h(x), kind.p, Kind.start)
"""
ALL = "[f, Kind, Child, outer(2), g, h, Kind(5)]"


def without_castwise(place: Path, source: str) -> str:
    """What a script prints in a process that cannot import castwise."""
    script = write(place, loader=f"import sys\nsys.modules['castwise'] = None\n{source}")
    outcome = plainly(script.name, cwd=place)
    assert (outcome.status, outcome.stderr) == (0, "")
    return outcome.stdout


@pytest.mark.parametrize(("library", "options"), [("cloudpickle", ""), ("dill", ", recurse=True")])
def test_pickled_functions_run_without_castwise(library: str, options: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    save = f"import {library}\nopen('saved', 'wb').write({library}.dumps({ALL}{options}))\n"
    script = write(tmp_path, script=FUNCTIONS + save)
    load = f"import {library}\nimport numpy as np\nloaded = {library}.load(open('saved', 'rb'))\n"
    assert plainly(script.name, cwd=tmp_path).status == 0
    plain = without_castwise(tmp_path, load + CALLS)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert (outcome.status, outcome.stderr, seen.counts.failures) == (0, "", {})
    assert without_castwise(tmp_path, load + CALLS) == plain
    assert b"_@cw" not in (tmp_path / "saved").read_bytes()


PICKLER = """
import io, marshal, pickle, types
def made(code, name): return types.FunctionType(marshal.loads(code), globals(), name)
class ByValue(pickle.Pickler):
    def reducer_override(self, thing):
        if isinstance(thing, types.FunctionType) and thing is not made:
            return made, (marshal.dumps(thing.__code__), thing.__name__)
        return NotImplemented
def shown(code):
    parts = [shown(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.co_name, code.co_names, parts, code.co_code, list(code.co_lines())
buffer = io.BytesIO()
ByValue(buffer).dump([f, g, h, Kind.m])
for function in pickle.loads(buffer.getvalue()):
    print(shown(function.__code__))
print(pickle.loads(buffer.getvalue())[0](np.arange(3.0), 2))
codes = [Kind.m.__code__, {"f": (f.__code__, frozenset({1}))}]
marshal.dump(codes, open("codes", "wb"))
first, second = marshal.load(open("codes", "rb"))
print(shown(first), shown(second["f"][0]), marshal.loads(marshal.dumps([1, {2: "x"}])))
"""


def test_marshalled_code_is_the_original(tmp_path: Path) -> None:
    assert same_script(FUNCTIONS + PICKLER, tmp_path).status == 0


SHOWN = """
import dis, inspect
for thing in (f, Kind, Kind(1).m, outer, g, f.__code__):
    dis.dis(thing)
for thing in (f, Kind(1).m, outer(1), h):
    dis.show_code(thing)
    print([(i.opname, i.argval if i.opname != "LOAD_CONST" else 0, i.starts_line)
           for i in dis.get_instructions(thing)])
    print(dis.Bytecode(thing).info())
print(inspect.getclosurevars(f), inspect.getclosurevars(outer(1)), inspect.getclosurevars(len_of))
"""


def test_what_dis_and_inspect_show(tmp_path: Path) -> None:
    code = FUNCTIONS + "def len_of(x): return len(x) + SCALE\n" + SHOWN
    assert same_script(code, tmp_path).status == 0


ERRORS = """
import dis, inspect, marshal, traceback
def f(): pass
for call in (lambda: marshal.dumps(f), lambda: marshal.dump([f], None), lambda: dis.dis(3),
             lambda: dis.dis("x ="), lambda: dis.code_info(3), lambda: inspect.getclosurevars(3)):
    try: call()
    except Exception: traceback.print_exc()
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a frame cannot be hidden in Python 3.10")
def test_their_tracebacks_have_no_frame_of_castwise(tmp_path: Path) -> None:
    assert same_script(ERRORS, tmp_path).status == 0


SOURCES = """
import inspect
for thing in (f, Kind, Kind.m, Child, outer, outer(1), g, h, Kind.p.fget, f.__code__):
    print(inspect.getsource(thing), inspect.getsourcelines(thing)[1])
table = {
    "a": lambda x: (x +
                    1),
    "b": (lambda x:
          x * 2),
}
for function in table.values():
    print(inspect.getsource(function))
print(inspect.signature(f), inspect.getdoc(Kind), inspect.getfile(f) == __file__)
"""


def test_what_inspect_reads_as_the_source(tmp_path: Path) -> None:
    assert same_script(FUNCTIONS + SOURCES, tmp_path).status == 0


WORKER = """
def work(n):
    return (np.ones(n, dtype=np.float32) * np.arange(n)).sum()
"""


def findings(seen: Seen) -> list[tuple[int, str, int]]:
    return [(f.place.line, f.op, f.count) for f in make_audit(seen).findings]


@pytest.mark.parametrize(
    ("library", "version", "options"),
    [("cloudpickle", "3", ""), ("dill", None, ", recurse=True")],
)
def test_a_function_is_observed_again_in_another_process_of_the_audit(
    library: str, version: str | None, options: str, tmp_path: Path
) -> None:
    pytest.importorskip(library, version)
    send = f"""
import subprocess, sys
import {library}
import numpy as np
open("sent", "wb").write({library}.dumps(work{options}))
subprocess.run([sys.executable, "receiver.py"], check=True)
"""
    receive = (
        f"import {library}\nwork = {library}.load(open('sent', 'rb'))\nprint(work(3), work(4))\n"
    )
    script = write(tmp_path, script=WORKER.lstrip() + send, receiver=receive)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plainly(script.name, cwd=tmp_path)
    assert seen.counts.failures == {}
    assert findings(seen) == [(2, "mul", 2)]


def test_a_function_of_another_version_of_the_file_runs_as_it_was_sent(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", "3")
    send = """
import subprocess, sys
import cloudpickle
import numpy as np
open("sent", "wb").write(cloudpickle.dumps(work))
text = open(__file__).read()
open(__file__, "w").write(text.replace("np.ones(n", "np.zeros(n"))
subprocess.run([sys.executable, "receiver.py"], check=True)
open(__file__, "w").write(text)
"""
    receive = "import pickle\nprint(pickle.load(open('sent', 'rb'))(3))\n"
    script = write(tmp_path, script=WORKER.lstrip() + send, receiver=receive)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plainly(script.name, cwd=tmp_path)
    assert (outcome.stdout, outcome.status) == ("3.0\n", 0)
    assert findings(seen) == []


def test_workers_of_joblib(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", "3")
    pytest.importorskip("joblib")
    call = """
import numpy as np
from joblib import Parallel, delayed
if __name__ == "__main__":
    print(Parallel(n_jobs=2)(delayed(work)(n) for n in (3, 4, 5)))
"""
    script = write(tmp_path, script=WORKER.lstrip() + call)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plainly(script.name, cwd=tmp_path)
    assert seen.counts.failures == {}
    assert findings(seen) == [(2, "mul", 3)]


DECORATED = """
import marshal, types
import numpy as np
import castwise as cw
@cw.audited
def f(x):
    return (lambda y: y * np.arange(3))(x)
code = marshal.loads(marshal.dumps(f.__code__))
numbers = [c for c in code.co_consts if type(c) is int]
print(code.co_names, numbers, types.FunctionType(code, {"np": np})(2))
with cw.audit() as log:
    f(np.ones(3, dtype=np.float32))
print([str(finding) for finding in log.findings])
"""


def test_a_decorated_function_is_saved_as_the_original(tmp_path: Path) -> None:
    outcome = plainly(write(tmp_path, script=DECORATED).name, cwd=tmp_path)
    assert outcome.stderr == ""
    assert outcome.stdout.splitlines() == [
        "() [] [0 2 4]",
        "['float32[3] * int64[3] -> float64']",
    ]


def test_a_decorated_function_is_pickled_as_the_original(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    save = "import cloudpickle\nopen('saved', 'wb').write(cloudpickle.dumps(f))\n"
    assert plainly(write(tmp_path, script=DECORATED + save).name, cwd=tmp_path).status == 0
    load = "import pickle\nprint(pickle.load(open('saved', 'rb'))(2))\n"
    assert without_castwise(tmp_path, load) == "[0 2 4]\n"


def test_datasets_finds_what_it_has_kept_of_earlier_runs(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    code = (
        "from datasets.fingerprint import Hasher\nprint([Hasher.hash(x) for x in (f, g, outer(1))])"
    )
    assert same_script(FUNCTIONS + code, tmp_path).status == 0
