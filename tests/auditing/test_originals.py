"""The original code of rewritten functions."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from castwise.auditing.loading import audited_code
from castwise.auditing.patches.originals import original_code

SOURCES = {
    "functions": """
        def f(x, y=2):
            '''The docstring.'''
            z = x * y + 1
            z += y
            return [q - 1 for q in z if q > 0]
        async def g(x):
            async for y in x: yield await y + 1
    """,
    "nested": """
        def outer(k):
            def inner(x):
                return (lambda y: lambda z: x + y + z + k)
            return inner
        class C:
            step = 1 + len("ab")
            @property
            def p(self): return -self.x
            class D:
                def m(self): self.x[0] += 1; return super().m() * 2
    """,
    "lambdas on one line": """
        f, g, h = (lambda t: t * 2), (lambda t: t - 3), (lambda: 1)
        k, m = (lambda t: t * 2), (lambda t: t * 2)
    """,
    "a function in finally, which Python compiles twice": """
        def f(x):
            try: return x()
            finally: x.then(lambda y: y + 1)
    """,
    "a function in a branch that Python removes": """
        def f(x):
            if -(1 - 1): return lambda: x + 1  # a branch that never runs
            return lambda: x + 2
    """,
    "generators and comprehensions": """
        def f(x):
            return sum(a * 2 for a in x), {a: b + 1 for a, b in x}, {a - 1 for a in x}
    """,
    "no operations": """
        def f(x): return x
    """,
    "annotations as text": """
        from __future__ import annotations
        def f(x: 1 + 1) -> 2 * 3:
            y: 4 + 5 = x + 1
            return y
    """,
}


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


_APART = ("co_consts", "co_lnotab")  # the second is deprecated


def content(code: types.CodeType) -> tuple[object, ...]:
    constants = [content(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    names = [name for name in dir(code) if name.startswith("co_") and name not in _APART]
    fields = [(name, getattr(code, name)) for name in names]
    return tuple([(n, field) for n, field in fields if not callable(field)]), tuple(constants)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_function_has_its_original(source: str, tmp_path: Path) -> None:
    text = dedent(source).encode()
    path = str(tmp_path / "module.py")
    plain = {content(code) for code in nested(compile(text, path, "exec", dont_inherit=True))}
    originals = {content(original_code(code)) for code in nested(audited_code(text, path))}
    # Some versions of Python remove a branch that the rewriter keeps; it never runs.
    assert originals >= plain if "branch" in source else originals == plain


def test_lambdas_on_one_line_are_told_apart(tmp_path: Path) -> None:
    path, text = str(tmp_path / "module.py"), dedent(SOURCES["lambdas on one line"]).encode()
    plain: dict[str, types.FunctionType] = {}
    rewritten: dict[str, types.FunctionType] = {}
    exec(compile(text, path, "exec", dont_inherit=True), plain)
    exec(audited_code(text, path), rewritten)
    for name in "fghkm":
        assert content(original_code(rewritten[name].__code__)) == content(plain[name].__code__)


def test_the_file_may_change_and_the_module_be_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    first = audited_code(b"def f(x): return x + 1\n", str(path)).co_consts[0]
    second = audited_code(b"def f(x): return x + 2\n", str(path)).co_consts[0]
    path.write_text("something else")
    assert original_code(first).co_consts == (None, 1)
    assert original_code(second).co_consts == (None, 2)


def test_code_that_has_run_often_has_its_original(tmp_path: Path) -> None:
    """Python changes the instructions of such code in memory."""
    code = audited_code(b"def f(x): return [y for y in x]\n", str(tmp_path / "m.py")).co_consts[0]
    function = types.FunctionType(code, {})
    for _ in range(1000):
        function([1])
    assert original_code(code) is not code


def test_other_code_stays_as_it_is() -> None:
    code = content.__code__
    assert original_code(code) is code


def test_the_program_sees_no_warning_of_the_compiler_again(tmp_path: Path) -> None:
    source = b"def f(x): return x + 1 if x is 3 else '\\d'\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = audited_code(source, str(tmp_path / "module.py")).co_consts[0]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        assert original_code(code) is not code
        assert warnings.filters == before
    assert seen == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no columns in code")
def test_positions_are_those_of_the_source(tmp_path: Path) -> None:
    path = str(tmp_path / "module.py")
    text = b"def f(x):\n    return x + (x *\n        2)\n"
    code = original_code(audited_code(text, path).co_consts[0])
    plain = compile(text, path, "exec", dont_inherit=True).co_consts[0]
    assert list(code.co_positions()) == list(plain.co_positions())
