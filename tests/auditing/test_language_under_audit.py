"""Every construct of the language does under audit what it does without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from under_audit import same, same_script, write

# Each part of an assignment says when it is evaluated.
TELLING = """
class Telling:
    def __init__(self):
        self.told, self._x = [], 1
    def tell(self, what):
        self.told.append(what)
        return self
    @property
    def x(self):
        self.told.append("get")
        return self._x
    @x.setter
    def x(self, value):
        self.told.append(("set", value))
        self._x = value
    def __getitem__(self, index):
        self.told.append(("item", index))
        return 2
    def __setitem__(self, index, value):
        self.told.append(("set item", index, value))
it = Telling()
"""

PROGRAMS = {
    "augmented assignment evaluates each part once and in order": TELLING + """
it.x += 1
it.tell("object").x *= it.tell("value")._x
it[1:2, ...] += 3
it.tell("object")[it.tell("index").x :] -= it.tell("value")._x
it.tell("object")[it.tell("index")._x] **= it.tell("value").x
for i in range(1100):  # past the point where a line about numbers is no longer observed
    it._x += i
    it[i] += i
print(it.told, it._x)
""",
    "augmented assignment that rebinds what it assigns to": TELLING + """
other = Telling()
def change():
    global it
    it = other
    return 5
first = it
it.x += change()
first.x += (first := other)._x
rows = [[1], [2]]
i = 0
rows[i] += [i := 1]
print(first is other, it is other, first._x, it.told, rows, i)
""",
    "augmented assignment in place": """
import numpy as np
rows = held = np.arange(6.0).reshape(2, 3)
rows += 1
rows[0] *= 2
rows[:, 1:] -= np.ones(2, np.float32)
rows[rows > 3] //= 2
names = ["a"]; alias = names; names += ["b"]
t = (["x"],)
try:
    t[0] += ["y"]
except TypeError as error:
    print(error, t)
print(rows is held, rows, names is alias, names)
""",
    "names that an operand binds anew or deletes": """
import numpy as np
x = np.zeros(2)
def unbind():
    global x
    kept = x
    del x
    return kept + 1
print(x + unbind(), "x" in globals())
y = np.ones(2)
print(y + (y := np.ones(2) * 5), y)
def inner():
    z = 1.0
    def change():
        nonlocal z
        z = 100.0
        return 1.0
    return z + change(), z
print(inner())
""",
    "comprehensions and the walrus operator": """
import numpy as np
xs = np.arange(4)
print([y + 1 for x in xs if (y := x * 2) > 1], y)
print({k: v + k for k, v in enumerate(xs + 1)}, {int(x) % 2 for x in -xs})
print(list(x + z for x in xs for z in (x - 1, x * 2)))
print([[i + j for j in range(i + 1)] for i in range(3)])
print(any((seen := x) > 2 for x in xs), seen)
class Body:
    scale = 2
    values = [v * 3 for v in range(scale + 1)]
    total = sum(values) + scale
print(Body.values, Body.total, sorted(n for n in vars(Body) if not n.startswith("__")))
""",
    "class bodies with a namespace of the metaclass's making": """
class Numbering(dict):
    def __missing__(self, name):
        if name.startswith("__") or name in ("print", "max"):
            raise KeyError(name)
        self[name] = len(self)
        return self[name]
class Meta(type):
    @classmethod
    def __prepare__(cls, name, bases):
        return Numbering()
class Numbered(metaclass=Meta):
    'A docstring.'
    a, b, c
    d = -a + b * c
    d += max(a, b)
    print(d)
print({k: v for k, v in vars(Numbered).items() if k not in ("__dict__", "__weakref__")})
import enum
class Color(enum.IntFlag):
    RED = enum.auto()
    BLUE = RED << 1
    BOTH = RED | BLUE
print(list(Color), Color.BOTH)
""",
    "decorators, defaults, closures and super": """
import functools
def times(n):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, k=n + 1, **kwargs):
            return function(*args, **kwargs) * k
        return inner
    return wrap
class A:
    def f(self, x): return x + 1
class B(A):
    @times(2)
    def f(self, x=3 * 2): return super().f(x) + super(B, self).f(-x)
    @classmethod
    def c(cls): return __class__ is cls
    @staticmethod
    def s(x): return -x
    @property
    def p(self): return self.f() / 2
print(B().f(), B().f(4, k=1), B.c(), B.s(2), B().p, B.f.__name__)
print(B.f.__defaults__, B.f.__qualname__)
""",
    "generators": """
def numbers(n):
    total = 0
    try:
        while n > 0:
            got = yield n * 2
            total += got or 0
            n -= 1
    except ValueError as error:
        yield f"caught {error}"
    finally:
        print("closing", total)
    return total + 1
def outer():
    result = yield from numbers(3)
    print("result", result)
    yield (yield result + 1)
g = outer()
print(next(g), g.send(5), g.send(7), g.send(1), g.send("sent"), list(g))
g = numbers(2); next(g); print(g.throw(ValueError("x"))); g.close()
g = numbers(2); next(g); g.close(); print(g.gi_frame)
a, b = numbers(3), numbers(3)
print([next(a) + next(b), a.send(1) * b.send(2)])
def interleaved(x):
    return x + (yield x * 2) + (yield x * 3)
g = interleaved(10); print(next(g), g.send(1), end=" ")
try: g.send(2)
except StopIteration as stop: print(stop.value)
""",
    "coroutines that run in between each other": """
import asyncio, contextlib
import numpy as np
async def value(x, wait):
    await asyncio.sleep(wait)
    return np.full(2, x)
async def work(x):
    total = np.zeros(2) + await value(x, 0.01 * (3 - x))
    total += await value(x, 0)
    return (await value(1, 0)) + total * await value(2, 0.01)
async def numbers(n):
    for i in range(n):
        yield i + 1
        await asyncio.sleep(0)
@contextlib.asynccontextmanager
async def held(x):
    yield x * 2
async def main():
    print(await asyncio.gather(*(work(x) for x in range(3))))
    print([x * 2 async for x in numbers(3)], sum([x async for x in numbers(2)]))
    async with held(4) as h:
        print(-h)
asyncio.run(main())
""",
    "threads in one function": """
import threading
import numpy as np
results = {}
def work(n):
    total = np.zeros(3)
    for i in range(200):
        total = total * 0.5 + np.full(3, n) + abs(np.sin(np.full(3, i)))
        total[0] += n
    results[n] = total
threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
print([results[n].tolist() for n in sorted(results)])
""",
    "recursion and exceptions that are caught on the way": """
def depth(n):
    try:
        return depth(n + 1) + 1
    except RecursionError:
        return 0
print(depth(0) > 100)
def f(n):
    try:
        if n == 0: raise KeyError("bottom")
        return f(n - 1) * 2 + g(n)
    except KeyError as error:
        if n < 3: raise ValueError(n) from error
        return -n
    except ValueError:
        return n
    finally:
        print("left", n, end="; ")
def g(n): return n ** 2
print(f(6))
""",
    "context managers, match, f-strings and chained comparisons": """
import contextlib
@contextlib.contextmanager
def level(n):
    print("in", n)
    try: yield n + 1
    except ZeroDivisionError as error: print("caught", error)
    finally: print("out", n)
with level(1) as a, level(a + 1) as b:
    print(a * b, 1 / (a - 2))
def kind(x):
    match x:
        case {"n": n, **rest} if n + 1 > 2: return n * 2, rest
        case [first, *others] if len(others) == 2: return first + sum(others)
        case -1 | 1j: return "minus one"
        case str() as s: return s * 2
        case _: return None
print([kind(x) for x in ({"n": 3, "m": 1}, [1, 2, 3], -1, "ab", 2.5)])
w = 8
print(f"{w + 1:>{w - 2}} {w!r:>3} {w * 2 = } {'nested ' + f'{w - 1}'} {w:#x}")
print(1 < w < 9 == 9, w in (7, 8), not w - 8, w if w % 3 else -w, 0 or w and w + 1)
""",
    "star-arguments and their order of evaluation": """
order = []
def note(x): order.append(x); return x
def f(*args, **kwargs): return args, kwargs
note(f)(note(1), *note((2, 3)), note(4), a=note(5), **note({"b": 6}), c=note(7))
print(order[1:])
def g(a, /, b, *, c=1): return a, b, c
print(g(1, 2), g(*[1], b=2, c=-3), [*range(2 + 1), *f(4)[0]], {**{"x": 1 + 1}, "y": 2})
try: g(1, a=2)
except TypeError as error: print(error)
try: f(**{"a": 1}, a=2)
except TypeError as error: print(error)
try: f(*3)
except TypeError as error: print(error)
""",
    "operators of the program's own": """
class N:
    def __init__(self, v): self.v = v
    def __add__(self, o):
        return NotImplemented if isinstance(o, str) else N(self.v + getattr(o, "v", o))
    __radd__ = __add__
    def __iadd__(self, o): self.v += 100; return self
    def __lt__(self, o): return [self.v, o.v]
    def __eq__(self, o): raise ValueError("no")
    def __neg__(self): return "neg"
    def __matmul__(self, o): return "mat", o
    def __getattr__(self, name): raise AttributeError("nothing is asked of " + name)
    __hash__ = None
a = b = N(1)
a += 2
print((a + 1).v, (1 + a).v, a is b, a.v, a < N(3), -a, a @ 3)
for bad in ("a + 'x'", "a == 1", "a - 1", "hash(a)"):
    try: print(eval(bad))
    except Exception as error: print(type(error).__name__, error)
""",
    "deletion, annotations, assertions and the rest of the statements": """
import typing
x: int = 3 + 4
y: "undefined + 1"
def f(a: int = 1 + 1, *b: float) -> "nothing": return a
print(f.__annotations__, __annotations__, f.__defaults__)
try: assert x - 7, f"{x + 1} is wrong"
except AssertionError as error: print(error)
d = {i: i * i for i in range(5)}
del d[1 + 1], d[3]
a, (b, *c) = 1 + 1, (3, 4, 5 * 2)
print(d, a, b, c)
for i in range(3):
    if i - 1: continue
    print(i)
else:
    print("else", i + 1)
while (x := x - 3) > 0: pass
print(x)
lam = lambda v, k=x * 2: v ** 2 + k
print(lam(3), (lambda: (yield))().gi_running)
""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same(name: str, tmp_path: Path) -> None:
    outcome = same_script(PROGRAMS[name], tmp_path)
    assert outcome.status == 0, outcome.stderr


NEWER = {
    (3, 11): """
try:
    raise ExceptionGroup("several", [ValueError(1 + 1), TypeError(-2)])
except* ValueError as group:
    print("values", group.exceptions)
except* TypeError as group:
    print("types", group.exceptions)
""",
    (3, 12): """
type Pair[T: (int, 1 + 1)] = tuple[T, T]
def first[T](pair: Pair[T]) -> T: return pair[0] + pair[1]
print(first((1, 2)), Pair.__value__, f"{'a' + f"{1 + 1}"}")
class Stack[T]:
    def push(self, item: T): self.item = item; return -item
print(Stack[int]().push(3), Stack.__type_params__)
""",
    (3, 13): """
class A:
    def f(self): self.a += 1; self.b[0] += 1; self.c = 2
    def g(self): self.d *= h(self)
print(sorted(A.__static_attributes__))
""",
}  # fmt: skip


@pytest.mark.parametrize("version", [v for v in NEWER if sys.version_info >= v], ids=str)
def test_what_newer_pythons_can_say(version: tuple[int, int], tmp_path: Path) -> None:
    assert same_script(NEWER[version], tmp_path).status == 0


def test_sources_in_other_encodings_and_alphabets(tmp_path: Path) -> None:
    source = (
        "größe = 'ä' * 2\nx = 3\nprint(größe + 'ö', x - 1)\ndef ƒ(é): return é / 0\nƒ('ß' and 1)\n"
    )
    latin = "# -*- coding: latin-1 -*-\n" + source.replace("ƒ", "f")
    (tmp_path / "latin.py").write_bytes(latin.encode("latin-1"))
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbf" + source.encode())
    (tmp_path / "lines.py").write_bytes(source.replace("\n", "\r\n").encode())
    main = write(tmp_path, utf8=source)
    for name in (main.name, "latin.py", "bom.py", "lines.py"):
        assert same(name, cwd=tmp_path).status == 1
