"""cw.enforce: refused before it runs, at the user's line; no result is changed."""

from __future__ import annotations

import asyncio
import builtins
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.auditing import rewriting
from castwise.cli.main import main
from processes import finished


@cw.audited
def add_to(x: Any, y: Any) -> Any:
    x += y
    return x


@cw.audited
def mixed(x: Any, y: Any) -> Any:
    return np.multiply(x, y)


@cw.audited
def total(x: Any) -> Any:
    return x.mean()


@cw.audited
def total_in(x: Any, dtype: Any) -> Any:
    return x.mean(dtype=dtype)


@cw.audited
def plain(n: Any) -> Any:
    for _ in range(2000):
        n = n + 1
    return n


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


FLOATS = np.ones(3, dtype="float32")
INTS = np.arange(3, dtype="int32")


def test_what_the_dialect_refuses_is_raised_at_the_line_before_it_runs() -> None:
    x = np.ones(3, dtype="float32")
    with cw.enforce("tensorflow:safe"), pytest.raises(cw.PromotionError) as raised:
        add_to(x, INTS)
    assert x.tolist() == [1, 1, 1]
    assert isinstance(raised.value, TypeError)
    message = str(raised.value)
    assert f"test_enforce.py:{line_of('x += y')}: float32[3] += int32[3]" in message
    assert "tensorflow:safe" in message
    add_to(x, INTS)  # outside the block it is as it was
    assert x.tolist() == [1, 2, 3]


def test_strict_refuses_every_implicit_cast_of_the_framework_that_runs() -> None:
    with cw.enforce(strict=True):
        assert mixed(FLOATS, FLOATS).dtype == "float32"
        assert mixed(FLOATS, 2.0).dtype == "float32"
        with pytest.raises(cw.PromotionError, match="implicit cast float32 -> float64"):
            mixed(FLOATS, INTS)
        with pytest.raises(cw.PromotionError, match="implicit cast int32 -> float64"):
            total(INTS)


@cw.audited
def joined(function: Any, *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda y: joined(np.einsum, "i,i", FLOATS, y), "einsum(float32[3], float64[3]) mixes"),
        (lambda y: joined(np.average, FLOATS, weights=y), "average(float32[3], float64[3]) mixes"),
        (lambda y: joined(np.vstack, [FLOATS, y]), "concat(float32[3], float64[3]) is not defined"),
        (lambda y: joined(sum, [FLOATS, y]), "sum(float32[3], float64[3]) mixes"),
        (lambda y: joined(divmod, FLOATS, y), "float32[3] // float64[3] is not defined"),
        (lambda y: mixed(np.ma.array(FLOATS), y), "mul(float32[3], np.float64[3]) is not defined"),
    ],
)
def test_strict_refuses_mixes_of_calls_without_a_rule(call: Any, says: str) -> None:
    wide = np.ones(3)
    call(wide)
    with cw.enforce(strict=True):
        call(FLOATS)
        with pytest.raises(cw.PromotionError, match=re.escape(says)):
            call(wide)
    with cw.enforce("numpy"):  # it only follows its own rules
        call(wide)


def test_casts_that_a_call_asks_for_are_not_refused() -> None:
    with cw.enforce(strict=True):
        assert total_in(INTS, "float32").dtype == "float32"


def test_a_call_is_judged_before_it_runs() -> None:
    out = np.zeros(3)
    ran = []

    @cw.audited
    def write() -> None:
        np.add(FLOATS, INTS, out=out, where=[ran.append(1) or True] * 3)

    with cw.enforce("paddle"), pytest.raises(cw.PromotionError, match="add"):
        write()
    assert out.tolist() == [0, 0, 0]
    assert ran == [1]  # its arguments were evaluated, as Python does


def test_another_dtype_is_reported_at_the_line() -> None:
    with cw.enforce("torch") as held, pytest.warns(cw.PromotionWarning) as said:
        result = mixed(FLOATS, INTS)
    assert result.dtype == "float64"  # never changed
    (warning,) = said
    assert warning.filename == __file__
    assert warning.lineno == line_of("return np.multiply(x, y)")
    assert "is float32 in torch, but float64 in numpy." in str(warning.message)
    assert len(held.differences) == 1


def test_another_dtype_is_raised_where_that_is_asked_for() -> None:
    with cw.enforce("torch", differs="raise"), pytest.raises(cw.PromotionError, match="torch"):
        mixed(FLOATS, INTS)


@pytest.mark.parametrize(
    "allowed", ["mul", "multiply", "test_enforce.py:{}", "auditing/test_enforce.py:{}"]
)
def test_what_is_allowed_passes(allowed: str) -> None:
    entry = allowed.format(line_of("return np.multiply(x, y)"))
    if entry == "multiply":  # a name of the dialect's own is taken too
        entry = "np.multiply"
    with cw.enforce("tensorflow:safe", allow=[entry]):
        assert mixed(FLOATS, INTS).dtype == "float64"
        with pytest.raises(cw.PromotionError):
            add_to(np.ones(3, dtype="float32"), INTS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "needs a dialect"),
        ({"dialect": "tensorflw"}, "unknown dialect"),
        ({"dialect": "torch", "differs": "ignore"}, "differs must be"),
        ({"dialect": "torch", "allow": ["addd"]}, "unknown op"),
        ({"dialect": "torch", "allow": "add"}, "list of ops"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(cw.UsageError, match=says):
        cw.enforce(**arguments)


def test_values_count() -> None:
    small = np.ones(3, dtype="uint8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.PromotionWarning)
        with cw.enforce("numpy@2"):
            mixed(small, 200)
            with pytest.raises(cw.ScalarRangeError):
                mixed(small, 300)


def test_a_site_that_was_about_plain_numbers_is_judged_all_the_same() -> None:
    assert plain(0) == 2000
    with cw.enforce("numpy:strict=True"), pytest.raises(cw.PromotionError):
        plain(np.ones(3, dtype=bool))


def test_other_threads_are_not_held() -> None:
    results = []
    with cw.enforce("tensorflow:safe"):
        thread = threading.Thread(target=lambda: results.append(mixed(FLOATS, INTS).dtype))
        thread.start()
        thread.join()
    assert results == ["float64"]


def test_threads_that_come_and_go_do_not_disturb_each_other() -> None:
    wrong: list[object] = []

    def held() -> None:
        for _ in range(50):
            with cw.enforce("tensorflow:safe"):
                try:
                    wrong.append(mixed(FLOATS, INTS))
                except cw.PromotionError:
                    mixed(FLOATS, FLOATS)

    def logged() -> None:
        for _ in range(50):
            with cw.audit() as log:
                mixed(FLOATS, INTS)
            if [finding.count for finding in log.findings] != [1] or log.coverage.failures:
                wrong.append(log.coverage)

    threads = [threading.Thread(target=target) for target in (held, held, logged, logged)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_tasks_are_not_held() -> None:
    async def held(begun: asyncio.Event, done: asyncio.Event) -> str:
        with cw.enforce("tensorflow:safe"):
            begun.set()
            await done.wait()
            with pytest.raises(cw.PromotionError):
                mixed(FLOATS, INTS)
        return "held"

    async def free(begun: asyncio.Event, done: asyncio.Event) -> str:
        await begun.wait()
        mixed(FLOATS, INTS)
        done.set()
        return "free"

    async def run() -> list[str]:
        events = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(held(*events), free(*events))

    assert asyncio.run(run()) == ["held", "free"]


def test_a_decorated_function_is_held_while_it_runs() -> None:
    @cw.enforce("tensorflow:safe")
    def held(x: Any) -> Any:
        return mixed(x, INTS)

    for _ in range(2):
        with pytest.raises(cw.PromotionError):
            held(FLOATS)
    mixed(FLOATS, INTS)
    assert held.__name__ == "held"


def test_a_decorated_generator_does_not_hold_its_caller() -> None:
    @cw.enforce("tensorflow:safe")
    def held() -> Iterator[Any]:
        yield mixed(FLOATS, FLOATS)
        yield mixed(FLOATS, INTS)

    running = held()
    next(running)
    mixed(FLOATS, INTS)
    with pytest.raises(cw.PromotionError):
        next(running)


def test_a_decorated_coroutine_and_asynchronous_generator() -> None:
    @cw.enforce("tensorflow:safe")
    async def held() -> Any:
        await asyncio.sleep(0)
        return mixed(FLOATS, INTS)

    @cw.enforce("tensorflow:safe")
    async def stream() -> Any:
        yield 1
        yield mixed(FLOATS, INTS)

    async def run() -> None:
        with pytest.raises(cw.PromotionError):
            await held()
        streaming = stream()
        await anext(streaming)
        mixed(FLOATS, INTS)  # the caller is not held
        with pytest.raises(cw.PromotionError):
            await anext(streaming)

    asyncio.run(run())


def test_when_it_is_off_the_observers_are_the_ones_from_before() -> None:
    before = getattr(builtins, rewriting.LEFT)
    with cw.enforce("torch"):
        inside = getattr(builtins, rewriting.LEFT)
        with cw.enforce("paddle"):
            pass
        assert getattr(builtins, rewriting.LEFT) is inside
    assert inside is not before
    assert getattr(builtins, rewriting.LEFT) is before


def test_where_nothing_is_instrumented_the_command_is_named() -> None:
    code = "import castwise as cw\nwith cw.enforce('torch'): pass"
    done = finished([sys.executable, "-c", code])
    assert "castwise audit --enforceable script.py" in done.stderr


PROGRAM = """\
import numpy as np
x = np.ones(3, dtype=np.float32)
i = np.arange(3, dtype=np.int32)
try:
    x += i
except TypeError:
    print("refused", x)
y = x * i
"""


def run_cli(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return exit_.value.code, out, err


def test_a_program_is_held_to_a_dialect(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    status, out, err = run_cli(capfd, "audit", "--enforce", "tensorflow:safe", script)
    assert status == 1
    assert out == "refused [1. 1. 1.]\n"
    assert f"{script}:8: float32[3] * int32[3] is not defined in tensorflow:safe" in err
    assert "Enforced tensorflow:safe" in err
    assert "2 refused" in err


def test_what_differs_in_a_program_is_in_the_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    status, _, err = run_cli(capfd, "audit", "--enforce", "torch", script)
    assert status == 0
    assert "float32[3] * int32[3]: float64 -> float32" in err
    assert "Warning" not in err
    status, _, err = run_cli(capfd, "audit", "--enforce", "torch", "--differs", "raise", script)
    assert status == 1
    assert "PromotionError" in err


def test_a_program_may_hold_a_part_of_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "program.py"
    held = PROGRAM.replace("y = x * i", "with cw.enforce(strict=True):\n    y = x * i")
    script.write_text(f"import castwise as cw\n{held}")
    status, _, err = run_cli(capfd, "audit", "--enforceable", script)
    assert status == 1
    assert f"{script}:10: float32[3] * int32[3] is not defined in numpy" in err
    assert ":strict=True" in err
    status, _, err = run_cli(capfd, "audit", script)
    assert status == 1
    assert "--enforceable" in err  # loaded for an audit, nothing can be judged before it runs


def test_the_audit_of_other_threads_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import threading\nimport numpy as np\nimport castwise as cw\n"
        "def f():\n    x = np.ones(3, np.float32)\n    y = np.ones(3)\n    return x * y\n"
        "with cw.enforce(strict=True):\n"
        "    t = threading.Thread(target=f)\n    t.start()\n    t.join()\n"
    )
    status, _, err = run_cli(capfd, "audit", "--enforceable", script)
    assert status == 0
    assert "float32[3] * float64[3]" in err


def test_wrong_options_are_said_before_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "program.py"
    script.write_text("print('ran')\n")
    status, out, err = run_cli(capfd, "audit", "--enforce", "nosuch", script)
    assert (status, out) == (2, "")
    assert "unknown dialect" in err
