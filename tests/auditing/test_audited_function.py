"""@cw.audited: a function is observed, and is otherwise itself."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw
from processes import finished


def ones(dtype: str = "float32") -> Any:
    return np.ones(3, dtype=dtype)


@cw.audited
def scaled(x: Any, by: Any = 2.0, *rest: Any, plus: Any = None) -> Any:
    """Keeps its docstring."""
    y = x * by
    if plus is not None:
        y = y + plus
    return y


class Model:
    scale = np.full(3, 2.0)

    @cw.audited
    def forward(self, x: Any) -> Any:
        return x * self.scale

    @staticmethod
    @cw.audited
    def double(x: Any) -> Any:
        return x + x.astype("float64")

    @cw.audited
    @classmethod
    def made(cls, x: Any) -> Any:
        return x * cls.scale


class Finer(Model):
    @cw.audited
    def forward(self, x: Any) -> Any:
        return super().forward(x) + 1.0


def counter() -> tuple[Callable[[Any], Any], Callable[[], int]]:
    count = 0

    @cw.audited
    def add(x: Any) -> Any:
        nonlocal count
        count += 1
        return x + np.ones(3)

    return add, lambda: count


@cw.audited
def steps(x: Any) -> Iterator[Any]:
    for _ in range(2):
        sent = yield x
        x = x + (ones("float64") if sent is None else sent)


@cw.audited
async def waits(x: Any) -> Any:
    await asyncio.sleep(0)
    return x + ones("float64")


@cw.audited
async def streams(x: Any) -> AsyncIterator[Any]:
    yield x + ones("float64")


def lines_of(log: Any) -> list[str]:
    return [str(finding.operation.question) for finding in log.findings]


def test_a_function_is_the_same_object_with_all_it_had() -> None:
    assert scaled.__doc__ == "Keeps its docstring."
    assert str(inspect.signature(scaled)).startswith("(x: 'Any', by: 'Any' = 2.0, *rest")
    assert inspect.getsource(scaled).startswith("@cw.audited\ndef scaled")
    assert scaled.__code__.co_varnames == ("x", "by", "plus", "rest", "y")
    assert scaled(ones()).dtype == "float32"
    assert scaled(ones(), plus=ones("float64")).dtype == "float64"


def test_what_it_does_is_seen_in_a_block_alone() -> None:
    scaled(ones(), plus=ones("float64"))
    with cw.audit() as log:
        scaled(ones(), plus=ones("float64"))
    scaled(ones("int8"), np.float64(2))
    (finding,) = log.findings
    assert str(finding.operation.question) == "float32[3] + float64[3]"
    assert finding.place.file == __file__
    assert Path(__file__).read_text().splitlines()[finding.place.line - 1].strip() == "y = y + plus"


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (lambda: Model().forward(ones()), ["float32[3] * float64[3]"]),
        (lambda: Model.double(ones()), ["float32[3] + float64[3]"]),
        (lambda: Model.made(ones()), ["float32[3] * float64[3]"]),
        (lambda: Finer().forward(ones()), ["float32[3] * float64[3]"]),
        (lambda: list(steps(ones())), ["float32[3] + float64[3]"]),
        (lambda: asyncio.run(waits(ones())), ["float32[3] + float64[3]"]),
    ],
    ids=["method", "static", "class", "super", "generator", "coroutine"],
)
def test_functions_of_every_kind(run: Callable[[], Any], asked: list[str]) -> None:
    asyncio.run(asyncio.sleep(0))
    with cw.audit() as log:
        run()
    assert lines_of(log) == asked


def test_a_generator_takes_what_is_sent() -> None:
    running = steps(ones())
    next(running)
    assert running.send(ones("int64")).dtype == "float64"
    running.close()


def test_an_asynchronous_generator() -> None:
    async def run() -> list[Any]:
        return [x async for x in streams(ones())]

    with cw.audit() as log:
        assert asyncio.run(run())[0].dtype == "float64"
    assert lines_of(log) == ["float32[3] + float64[3]"]


def test_closures_are_shared() -> None:
    add, count = counter()
    with cw.audit() as log:
        add(ones())
        add(ones())
    assert count() == 2
    assert [finding.count for finding in log.findings] == [2]


def test_a_function_below_other_decorators_is_found() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args)

        return wrapper

    @cw.audited
    @logged
    def add(x: Any) -> Any:
        return x + np.ones(3)

    with cw.audit() as log:
        add(ones())
    assert lines_of(log) == ["float32[3] + float64[3]"]


def test_what_is_no_python_function_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="rewrites a Python function"):
        cw.audited(len)


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(x): return x + 1", "<no file>", "exec"), names)
    with pytest.raises(cw.UsageError, match="source of f cannot be read"):
        cw.audited(names["f"])


def test_a_traceback_points_at_the_source() -> None:
    with pytest.raises(ValueError, match="broadcast") as raised:
        scaled(ones(), np.ones(4))
    assert str(raised.traceback[-1].statement).strip() == "y = x * by"


def test_tasks_of_one_thread_are_told_apart() -> None:
    async def watched(name: str, both: asyncio.Barrier) -> list[str]:
        with cw.audit() as log:
            await both.wait()
            scaled(ones(), plus=ones(name))
            await both.wait()
        return lines_of(log)

    async def run() -> list[list[str]]:
        both = asyncio.Barrier(2)
        return await asyncio.gather(watched("float64", both), watched("complex128", both))

    if sys.version_info < (3, 11):
        pytest.skip("asyncio has no barriers")
    assert asyncio.run(run()) == [["float32[3] + float64[3]"], ["float32[3] + complex128[3]"]]


def test_where_nothing_is_observed_the_command_is_named() -> None:
    code = "import castwise as cw\nwith cw.audit(): pass"
    done = finished([sys.executable, "-c", code])
    assert "UsageError" in done.stderr
    assert "castwise audit script.py" in done.stderr
    assert "@cw.audited" in done.stderr


def test_a_port_of_a_block() -> None:
    with cw.audit() as log:
        scaled(ones(), plus=np.arange(3))
    (change,) = log.port("torch").changes
    assert (change.before, change.after) == ("float64", "float32")
    assert log.port("numpy@2").changes == ()


def test_no_array_is_kept_alive() -> None:
    import weakref

    with cw.audit():
        x = ones()
        alive = weakref.ref(scaled(x, plus=ones("float64")))
        assert alive() is None
