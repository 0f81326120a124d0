"""`cw.count_casts`: what is counted, in which block, thread and task."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays import fast_path


def tensor(dtype: str, shape: Any = 3, dialect: str | None = "torch") -> cw.Tensor:
    return cw.asarray(np.ones(shape), dtype=dtype, dialect=dialect)


def figures(counts: Any) -> dict[tuple[str, str, str, str], tuple[int, int, int]]:
    return {key: (c.casts, c.elements, c.bytes) for key, c in counts.by.items()}


def total(counts: Any) -> tuple[int, int, int]:
    return counts.total.casts, counts.total.elements, counts.total.bytes


def test_a_cast_is_counted_by_op_dtypes_and_hazard() -> None:
    a, b = tensor("int32", (2, 3)), tensor("float32", (2, 3))
    with cw.count_casts() as counts:
        _ = a + b
        _ = a + b
        _ = a * b
    assert figures(counts) == {
        ("add", "int32", "float32", "loses-precision"): (2, 12, 48),
        ("mul", "int32", "float32", "loses-precision"): (1, 6, 24),
    }
    assert total(counts) == (3, 18, 72)


def test_a_cast_with_two_hazards_stands_under_both_and_once_in_the_total() -> None:
    with cw.count_casts() as counts:
        _ = tensor("int32", dialect="numpy") + tensor("float64", dialect="numpy")
    assert figures(counts) == {
        ("add", "int32", "float64", "widens"): (1, 3, 24),
        ("add", "int32", "float64", "not-on-device"): (1, 3, 24),
    }
    assert total(counts) == (1, 3, 24)


def test_the_casts_of_an_expression() -> None:
    with cw.count_casts() as counts:
        _ = tensor("int8") + tensor("float64", ()) + tensor("bool")
    assert figures(counts) == {
        ("add", "int8", "float64", "widens"): (1, 3, 24),
        ("add", "int8", "float64", "not-on-device"): (1, 3, 24),
        ("add", "bool", "float64", "widens"): (1, 3, 24),
        ("add", "bool", "float64", "not-on-device"): (1, 3, 24),
    }
    assert total(counts) == (2, 6, 48)


def test_what_is_not_cast_is_not_counted() -> None:
    a = tensor("float32")
    with cw.count_casts() as counts:
        _ = a + a
        _ = a * 2.0
        _ = a.astype("float64")  # asked for
        _ = a[0]
    assert figures(counts) == {}
    assert total(counts) == (0, 0, 0)
    assert str(counts) == "no implicit casts"


def test_a_number_that_wraps_is_a_cast_of_a_python_scalar() -> None:
    with cw.count_casts() as counts:
        _ = tensor("uint8") + 300
    assert figures(counts) == {("add", "Python scalar", "uint8", "wraps"): (1, 1, 1)}


def test_numpy_arrays_are_cast_too() -> None:
    with cw.count_casts() as counts:
        _ = tensor("float32", 4) + np.ones(4, "int16")
    assert total(counts) == (1, 4, 16)


def test_the_cast_of_a_result_written_in_place() -> None:
    t = tensor("float16", 5)
    with cw.count_casts() as counts:
        t += tensor("float32", 5)
    assert ("add", "float32", "float16", "loses-precision") in figures(counts)
    assert counts.total.casts == 2  # float16 -> float32 before, float32 -> float16 after


def test_functions_reductions_and_variables_are_counted() -> None:
    with cw.count_casts() as counts:
        _ = cw.apply("exp", tensor("int16", 4))
        _ = cw.apply("sum", tensor("int8", 100))
        cw.Variable([1.0, 2.0], dtype="float32", dialect="torch").assign_add(tensor("int8", 2))
    assert {key[:3] for key in figures(counts)} == {
        ("exp", "int16", "float32"), ("sum", "int8", "int64"), ("add", "int8", "float32")
    }  # fmt: skip
    assert counts.by["sum", "int8", "int64", "widens"].elements == 100


def test_a_refused_op_is_not_counted() -> None:
    with cw.count_casts() as counts, pytest.raises(cw.PromotionError):
        _ = tensor("int32", dialect="tensorflow") + tensor("int64", dialect="tensorflow")
    assert counts.total.casts == 0


def test_the_text_has_a_line_for_each() -> None:
    with cw.count_casts() as counts:
        _ = tensor("int32") * tensor("float32")
        _ = tensor("int32") + tensor("float32")
    assert str(counts) == (
        "add: int32 -> float32 (loses-precision): 1 casts, 3 elements, 12 bytes\n"
        "mul: int32 -> float32 (loses-precision): 1 casts, 3 elements, 12 bytes"
    )


def test_nested_blocks_both_count() -> None:
    a, b = tensor("int32"), tensor("float32")
    with cw.count_casts() as outer:
        _ = a + b
        with cw.count_casts() as inner:
            _ = a + b
        _ = a + b
    assert (outer.total.casts, inner.total.casts) == (3, 1)


def test_nothing_is_counted_outside_and_the_fast_path_is_back() -> None:
    a, b = tensor("int32"), tensor("float32")
    with cw.count_casts() as counts:
        _ = a + b
        assert fast_path.known is fast_path._NONE
    _ = a + b
    assert counts.total.casts == 1
    assert fast_path.known is fast_path._by_kinds
    with pytest.raises(ZeroDivisionError), cw.count_casts():
        _ = 1 / 0
    assert fast_path.known is fast_path._by_kinds


def test_threads_count_apart() -> None:
    a, b = tensor("int32"), tensor("float32")
    inside, done = threading.Event(), threading.Event()
    counted = []

    def other() -> None:
        _ = a + b  # of no block
        with cw.count_casts() as counts:
            inside.set()
            done.wait(10)
            _ = a * b
        counted.append(figures(counts))

    thread = threading.Thread(target=other)
    with cw.count_casts() as counts:
        thread.start()
        inside.wait(10)
        _ = a + b
    _ = a + b  # the other block is still open
    done.set()
    thread.join()
    assert counts.total.casts == 1
    assert counted == [{("mul", "int32", "float32", "loses-precision"): (1, 3, 12)}]
    assert fast_path.known is fast_path._by_kinds


def test_tasks_count_apart() -> None:
    a, b = tensor("int32"), tensor("float32")

    async def counted(times: int) -> int:
        with cw.count_casts() as counts:
            for _ in range(times):
                await asyncio.sleep(0)
                _ = a + b
        return int(counts.total.casts)

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*[counted(n) for n in (1, 2, 3)])

    assert asyncio.run(all_of_them()) == [1, 2, 3]
