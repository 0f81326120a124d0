"""Code that inspects frames, sources, names or modules sees the same with and without an audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import audited, plainly, same, same_script, write

ENDS_WELL = {
    "what a script knows of itself": """
'''The docstring.'''
from __future__ import annotations
import os, sys
print(__name__, __file__, __doc__, __spec__, __package__, __cached__, type(__loader__))
print(sys.argv, sys.orig_argv[1:], sys.path, sys.flags)
print(sys.modules["__main__"].__dict__ is globals())
print(sorted(globals()), sorted(k for k in os.environ if "PYTHON" in k or "CASTWISE" in k))
print(__loader__.get_source("__main__")[:9], "sitecustomize" in sys.modules)
""",
    "names": """
import numpy as np
def f(a, b=2):
    c = a + b
    c += 1
    d = [i + c for i in range(2)]
    print(sorted(locals()), sorted(vars()), dir(), eval("a + c"), sorted(globals()) == sorted(G))
    exec("c = 100; print(c + a)")
    return locals()
G = globals()
print(f(np.arange(2)))
class C:
    x = 1 + 1
    print(sorted(locals()), dir())
    y = -x
print(sorted(n for n in vars(C) if n[:2] != "__"), C.__dict__["y"], dir(C)[-2:])
space = {"v": 3}
exec("w = v + 1\\ndef g(): return w * 2", space)
print(space["g"](), sorted(space)[1:], f.__code__.co_varnames, f.__code__.co_freevars)
print(f.__code__.co_argcount, f.__code__.co_firstlineno, f.__code__.co_name)
""",
    "frames": """
import inspect, sys, traceback, types
def here():
    frame = sys._getframe(1)
    return frame.f_lineno, frame.f_code.co_name, sorted(frame.f_locals), frame.f_back is None
def deep(n):
    return here() if n == 0 else deep(n - 1)
print(here(), deep(3), -len(inspect.stack()))
for level in range(3):
    try: print(sys._getframe(level).f_code.co_name)
    except ValueError as error: print(error)
traceback.print_stack()
print([(f.name, f.lineno, f.line) for f in traceback.extract_stack()])
def who(): return inspect.stack()[1].function, inspect.currentframe().f_back.f_lineno
print(who(),
      who() + (1,
               who()))
""",
    "sources": """
import inspect, linecache
def f(a, *, b=1 + 2):
    # a comment
    return a + b
class C:
    def m(self): return -f(self)
print(inspect.getsource(f), inspect.getsource(C), inspect.getsourcefile(f) == __file__)
print(inspect.signature(f), inspect.getsourcelines(C.m), linecache.getline(__file__, 2))
print(inspect.getsource((lambda: 1 + 1)), inspect.getcomments(f), inspect.getmodule(f))
""",
    "warnings": """
import warnings
warnings.simplefilter("always")
def level(n):
    warnings.warn(f"at level {n}", stacklevel=n)
def caller(n):
    x = level(n) or 1 + 1
    return -x
for n in range(1, 6):
    caller(n)
warnings.warn("here" + "!")
warnings.warn_explicit("there", UserWarning, __file__, 3)
""",
    "logging's caller": """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(filename)s:%(lineno)d %(funcName)s %(message)s")
log = logging.getLogger()
def f(x):
    log.warning("in f %s", x + 1)
    helper(-x)
def helper(x):
    log.error("for the caller", stacklevel=2)
    try: x / 0
    except ZeroDivisionError: log.exception("caught")
f(2)
log.warning("at the top", stack_info=True)
""",
    "tracebacks that are caught": """
import traceback
import numpy as np
def f(x, y):
    z = (x +
         y)
    return z
for bad in (lambda: f(np.zeros(2), np.zeros(3)), lambda: {}["a" + "b"], lambda: 1 + [2][5],
            lambda: (1 .real).imag.nothing, lambda: f(1, "2") + f(1), lambda: int("x" * 2)):
    try:
        bad()
    except Exception:
        traceback.print_exc()
def chain():
    try:
        {}.missing
    except AttributeError as error:
        raise ValueError("second" + "!") from error
try: chain()
except ValueError as error:
    print(*traceback.format_exception(error))
    trace = error.__traceback__
    while trace: print(trace.tb_lineno, trace.tb_frame.f_code.co_name); trace = trace.tb_next
class Part:
    @property
    def x(self): raise KeyError("x")
    def __setitem__(self, i, v): raise IndexError(i)
    def __getitem__(self, i): return 1
p = Part()
def one(): p.x += 1
def two(): p[1:2] += 3 * 4
def three(): nothing += 1
def four(): p[nothing] += 1
def five(): p.y += 1
for bad in (one, two, three, four, five):
    try: bad()
    except Exception: traceback.print_exc()
""",
    "pickling of what the main module defines": """
import copy, pickle, sys
class Point:
    def __init__(self, x): self.x = x + 1
    def __reduce__(self): return Point, (self.x - 1,)
def twice(x): return x * 2
data = pickle.dumps([Point(1), twice, Point], 2)
point, function, kind = pickle.loads(data)
print(data, point.x, function is twice, kind is Point, Point.__module__, twice.__module__)
print(repr(Point), copy.deepcopy(point).x)
""",
    "modules of the program's own with names of the standard library's": """
import json, platform, shutil
print(json.here, platform.here, json.__file__, type(json.__loader__))
print(json.__spec__.loader is json.__loader__)
import importlib
print(importlib.reload(json).here, hasattr(shutil, "copyfile"))
""",
    "modules that cannot be imported": """
import traceback, runpy
for name in ("broken", "missing", "raising", "undecodable"):
    try: __import__(name)
    except Exception: traceback.print_exc()
print(runpy.run_path("raising_not.py")["x"], runpy.run_module("raising_not")["__name__"])
""",
    "a program that goes elsewhere and deletes its source": """
import os, sys, inspect
os.chdir("/")
os.remove(__file__)
import later
print(later.f(2), os.path.exists(__file__), __file__)
try: inspect.getsource(inspect.currentframe())
except OSError as error: print(error)
later.f(None)
""",
}  # fmt: skip

BESIDE = {
    "json": "here = 'mine'[1:] + '!'",
    "platform": "here = 1 + 1",
    "broken": "x = 1 +\n",
    "raising": "def f(x):\n    return x / 0\nf(1 + 1)\n",
    "raising_not": "x = 2 * 3",
    "later": "def f(x):\n    return x + 1\n",
}


@pytest.mark.parametrize("name", ENDS_WELL)
def test_a_program_sees_the_same(name: str, tmp_path: Path) -> None:
    source = ENDS_WELL[name]
    script = write(tmp_path, script=source, **(BESIDE if "modules" in name else {}))
    write(tmp_path, later=BESIDE["later"])
    (tmp_path / "undecodable.py").write_bytes(b"x = '\xff'\n")
    plain = plainly(script.name, "one", "2", cwd=tmp_path)
    script.write_text(source, encoding="utf-8")  # one of them deletes it
    outcome, seen = audited(script.name, "one", "2", cwd=tmp_path)
    assert outcome == plain
    assert outcome.status == (1 if "deletes" in name else 0), outcome.stderr
    assert seen.counts.failures == {}


@pytest.mark.parametrize("given", ["./script.py", "here/../script.py", "link.py", "{0}/script.py"])
def test_a_script_by_any_path(given: str, tmp_path: Path) -> None:
    source = "import sys\nprint(__file__, sys.argv, sys.path[0])\ndef f(): return 1 / 0\nf()\n"
    write(tmp_path, real__script=source)
    (tmp_path / "here").mkdir()
    (tmp_path / "script.py").write_text(source, encoding="utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "script.py")
    assert same(given.format(tmp_path), cwd=tmp_path).status == 1


PACKAGE = {
    "package____init__": "import sys\nprint('init', __name__, sys.argv)\n",
    "package____main__": """
        import sys
        from . import part
        print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0], part.f(3))
        import traceback
        traceback.print_stack()
        part.f("x")
        """,
    "package__part": "def f(x):\n    return x + 1\n",
    "single": "import sys\nprint(__name__, __spec__.origin, sys.argv, 1 + 1)\nsys.exit(3)\n",
}


@pytest.mark.parametrize("name", ["package", "package.part", "single", "package.none", "none"])
def test_modules_run_by_name(name: str, tmp_path: Path) -> None:
    write(tmp_path, **PACKAGE)
    same("-m", name, "argument", cwd=tmp_path)


def test_directories_and_compiled_files_run_too(tmp_path: Path) -> None:
    write(tmp_path, **PACKAGE)
    write(tmp_path, app____main__="import beside, sys\nprint(beside.x, sys.argv, __file__)\n")
    write(tmp_path, app__beside="x = -(1 + 1)\n")
    assert same("app", cwd=tmp_path).status == 0
    import py_compile

    py_compile.compile(str(tmp_path / "single.py"), str(tmp_path / "compiled.pyc"))
    script = "import sys\nprint(sys.argv)\n"
    py_compile.compile(str(write(tmp_path, script=script)), str(tmp_path / "compiled.pyc"))
    assert same("compiled.pyc", "x", cwd=tmp_path).status == 0


def test_a_script_without_python_s_suffix(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/usr/bin/env python\nprint(__file__, 1 + 1)\n")
    assert same("tool", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    "flags", [["-O"], ["-OO"], ["-X", "dev"], ["-W", "error"], ["-bb"], ["-u"]]
)
def test_options_of_python(flags: list[str], tmp_path: Path) -> None:
    source = """
        '''doc'''
        import sys, warnings
        def f():
            '''doc of f'''
            return 1 + 1
        try: assert f() - 2, "asserted"
        except AssertionError as error: print(error)
        print(__debug__, f.__doc__, sys.flags, sys.warnoptions, sys._xoptions, __doc__)
        warnings.warn("shown" + "?")
        print(str(b"x") + "y")
    """
    same(write(tmp_path, script=source).name, cwd=tmp_path, flags=flags)


def test_a_program_may_trace_itself(tmp_path: Path) -> None:
    source = """
        import sys
        lines = []
        def trace(frame, event, argument):
            if frame.f_code.co_filename == __file__:
                lines.append((event, frame.f_code.co_name, frame.f_lineno))
                return trace
        def f(x):
            y = x + 1
            y += 2
            return (y *
                    2)
        sys.settrace(trace)
        f(1)
        sys.settrace(None)
        print(list(dict.fromkeys(lines)))
    """
    assert same_script(source, tmp_path).status == 0
