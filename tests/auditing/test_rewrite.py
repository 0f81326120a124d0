"""What the rewriter leaves unchanged, what it rewrites, and that both mean the same."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import pytest

from castwise.auditing.observers import OBSERVERS
from castwise.auditing.rewriting import rewrite


@pytest.fixture(autouse=True)
def _observers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewritten code finds its observers among the builtins."""
    for name, observer in OBSERVERS.items():
        monkeypatch.setattr(builtins, name, observer, raising=False)


def text(source: str) -> str:
    """The rewritten source, with short names for the observers and numbered marks."""
    new = rewrite(source, "file.py")
    written = ast.unparse(new.tree)
    for place, mark in enumerate(new.sites):
        written = written.replace(str(mark), str(place))
    return written.replace("_@cw_", "")


STAYS = [
    "x = 3 + 4",
    "x = -1",
    "x = 'a %s' % y",
    "x = f'{y}' + z",
    "s += 'text'",
    "not x",
    "x and y or z",
    "x is None",
    "a in b",
    "print(x)",
    "locals()",
    "super()",
    "len(x)",
    "x: 1 + n",
    "def f(a: 1 + n) -> 2 + n:\n    pass",
    "del x[0]",
    "global x",
    "import numpy",
    "x[0], *y = z",
]  # fmt: skip


@pytest.mark.parametrize("source", STAYS)
def test_stays_as_it_is(source: str) -> None:
    assert text(source) == ast.unparse(ast.parse(source))


BECOMES = {
    "x + y": "post(0, x + y, x, y)",
    "x * 2.5": "post(0, x * 2.5, x, 2.5)",
    "-x": "post(0, -x, x)",
    "x < y": "post(0, x < y, x, y)",
    "x.a + y": "post(0, left(0, x.a) + y, ..., y)",
    "x + y[0]": "post(0, x + right(0, y[0]), x, ...)",
    "x + g()": "post(0, left(0, x) + right(0, returned(1, callee(1, g)())), ..., ...)",
    "f(x, k=y)": "returned(0, callee(0, f)(argument(0, 0, x), k=argument(0, 'k', y)))",
    "f(*x, **y)": "returned(0, callee(0, f)(*argument(0, '*', x), **argument(0, '**', y)))",
    "super().f(x)": "returned(0, callee(0, super().f)(argument(0, 0, x)))",
    "f('text')": "returned(0, callee(0, f)('text'))",
    "x < y < z + 1": "x < y < post(0, z + 1, z, 1)",
    "x[i] = y": "x[i] = write(0, y, x)",
    "x.a[i] = y": "into(0, x.a)[i] = write(0, y)",
    "x[i], (y, z['a']) = 3, w": "into(0, x)[i], (y, z['a']) = (write(0, 3), w)",
    "x[i], y[j] = w": "into(0, x)[i], into(1, y)[j] = part(1, part(0, w, 0, 2), 1, 2)",
    "x = y[0] = z[0] = w": "x = into(0, y)[0] = into(1, z)[0] = write(1, write(0, w))",
}  # fmt: skip


@pytest.mark.parametrize("source", BECOMES)
def test_becomes(source: str) -> None:
    expected = ast.unparse(ast.parse(BECOMES[source]))  # Python 3.10 writes more parentheses
    assert text(source) == expected


def test_an_expression_of_names_that_may_run_often_has_a_copy_without_observers() -> None:
    assert text("for i in n:\n    i * 2") == (
        "for i in n:\n    peek(0, i * 2) if 0 in quiet else settle(0, i * 2, i, 2)"
    )


def test_augmented_assignment_to_a_name() -> None:
    assert text("x += y") == "left(0, x)\nx += y\npost(0, x, ..., y)"


def test_augmented_assignment_to_a_part_keeps_what_is_evaluated_once() -> None:
    assert text("a.b += f()").splitlines() == [
        "try:",
        "    kept[key(0, 'object')] = a",
        "    kept[key(0, 'value')] = left(0, kept[key(0, 'object')].b)",
        "    kept[key(0, 'value')] += right(0, returned(1, callee(1, f)()))",
        "    kept[key(0, 'object')].b = post(0, kept[key(0, 'value')], ..., ...)",
        "finally:",
        "    forget(0)",
    ]


def test_class_bodies_find_their_observers_past_their_own_namespace() -> None:
    first, second, *_ = text("class C:\n    'doc'\n    x = a + b").splitlines()[1:]
    assert first.strip() in ("'doc'", '"""doc"""')
    assert second.strip().startswith("global left, right, post")


def test_the_main_script_tells_when_it_begins() -> None:
    source = "'doc'\nfrom __future__ import annotations\nx = 1"
    new = rewrite(source, "file.py", is_main=True)
    assert [type(s).__name__ for s in new.tree.body] == ["Expr", "ImportFrom", "Expr", "Assign"]


@pytest.mark.parametrize(
    ("decorator", "why"),
    [("@jit", "numba.jit"), ("@numba.njit(parallel=True)", "numba.njit")],
)
def test_functions_of_other_compilers_are_left_and_listed(decorator: str, why: str) -> None:
    source = f"import numba\nfrom numba import jit\n{decorator}\ndef f(x):\n    return x + 1"
    new = rewrite(source, "file.py", ["numba.jit", "numba.njit"])
    assert [(u.name, u.why) for u in new.unobserved] == [("f", why)]
    assert ast.unparse(new.tree) == ast.unparse(ast.parse(source))


def test_sites_stand_where_the_operation_is_written() -> None:
    (site,) = rewrite("y = 1\nx = (a +\n     3.5)\n", "file.py").sites.values()
    assert (site.line, site.column, site.end_line, site.end_column) == (2, 5, 3, 8)
    assert (site.kind, site.name, site.literals) == ("operator", "+", (None, 3.5))


def test_marks_of_different_files_do_not_meet() -> None:
    one, two = (set(rewrite("a + b\nc * d\n", path).sites) for path in ("one.py", "two.py"))
    assert not one & two


RUN = [
    "x = [i * 2 + j for i in range(3) for j in range(i)]",
    "x = 0\nfor i in range(5):\n    x += i * 2\n    x -= 1",
    "x = {'a': 1}\nx['a'] += 5\nx['b'] = -x['a'] ** 2",
    "def f(n, *, k=2 + 1):\n    return n if n < 2 else f(n - 1) * k + f(n - 2)\nx = f(10)",
    "class C:\n    y = 1\n    z = [y + 1]\n    def m(self):\n        self.y += 4\n"
    "        return self.y\nx = C().m(), C.z",
    "x = 5\nx **= 2\nx //= 3\nx <<= 1\nx = ~x & 0xff | 1 ^ 3",
    "x = (lambda a, b=4: a - b)(1), max(1, 2, key=lambda v: -v)",
    "x = [3, 1, 2]\nfor i in range(3000):\n    x[i % 3], x[0] = x[0], x[i % 3]",
]


@pytest.mark.parametrize("source", RUN)
def test_means_the_same(source: str) -> None:
    plain: dict[str, Any] = {}
    exec(source, plain)
    new: dict[str, Any] = {}
    exec(compile(rewrite(source, "file.py").tree, "file.py", "exec"), new)
    assert new["x"] == plain["x"]
    assert sorted(new) == sorted(plain)


@pytest.mark.parametrize("source", ["x = = 1", "return 1 +", "x = '\n"])
def test_what_is_no_python_is_refused_as_python_does(source: str) -> None:
    with pytest.raises(SyntaxError):
        rewrite(source, "file.py")
