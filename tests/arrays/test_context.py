"""`cw.use` and the dialect a tensor carries: which one is current, where and for how long."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import castwise as cw

# int32 + float32 has a different result in each of these dialects.
DTYPES = {"numpy": "float64", "torch": "float32", "mlx": "float32"}


def mixed(dialect: str | None = None) -> str:
    """The dtype of int32 + float32, here and now."""
    a = cw.asarray([1], dtype="int32", dialect=dialect)
    b = cw.asarray([1], dtype="float32")
    return (a + b).dtype.name


def test_a_block_decides_for_tensors_without_a_dialect() -> None:
    a, b = cw.asarray([1], dtype="int32"), cw.asarray([1], dtype="float32")
    assert (a + b).dtype.name == "float64"
    with cw.use("torch") as chosen:
        assert chosen is cw.current()
        assert ((a + b).dtype.name, a.dialect.name) == ("float32", "torch")
    assert ((a + b).dtype.name, a.dialect.name) == ("float64", "numpy")


def test_what_a_block_made_follows_the_next_one() -> None:
    with cw.use("torch"):
        made = cw.asarray([1], dtype="int32") + 1
    assert made.dialect.name == "numpy"
    with cw.use("jax"):
        assert made.dialect.name == "jax"


def test_blocks_nest() -> None:
    with cw.use("torch"):
        assert mixed() == "float32"
        with cw.use("numpy"):
            assert mixed() == "float64"
            with cw.use("torch"):
                assert mixed() == "float32"
            assert mixed() == "float64"
        assert mixed() == "float32"
    assert mixed() == "float64"


def test_a_block_ends_with_an_exception() -> None:
    a, b = cw.asarray([True]), cw.asarray([True])
    with pytest.raises(cw.PromotionError, match="torch"), cw.use("torch"):
        _ = a - b
    assert cw.current().name == "numpy"
    assert mixed() == "float64"


def test_a_block_decides_for_the_other_operators_too() -> None:
    t = cw.asarray([1, 2], dtype="int32")
    with cw.use("torch"):
        assert (t / 2).dtype.name == "float32"
        assert (2 / t).dtype.name == "float32"
        assert cw.apply("exp", t).dtype.name == "float32"
        with pytest.raises(cw.PromotionError):
            t += 1.5
    assert (t / 2).dtype.name == "float64"
    assert cw.apply("exp", t).dtype.name == "float64"


def test_a_refusal_is_not_remembered_beyond_the_block() -> None:
    a, b = cw.asarray([1], dtype="int32"), cw.asarray([1], dtype="float32")
    for _ in range(2):
        with cw.use("tensorflow"), pytest.raises(cw.PromotionError):
            _ = a + b
        assert (a + b).dtype.name == "float64"


def test_each_thread_has_its_own() -> None:
    together = threading.Barrier(len(DTYPES))

    def in_a_block(dialect: str) -> list[str]:
        found = []
        with cw.use(dialect):
            for _ in range(50):
                together.wait()
                found.append(mixed())
        return found

    with cw.use("tensorflow"), ThreadPoolExecutor(len(DTYPES)) as pool:
        found = dict(zip(DTYPES, pool.map(in_a_block, DTYPES), strict=True))
        assert pool.submit(mixed).result() == "float64"  # a new thread starts with the default
    assert found == {dialect: [dtype] * 50 for dialect, dtype in DTYPES.items()}


def test_each_asyncio_task_has_its_own() -> None:
    async def in_a_block(dialect: str) -> list[str]:
        found = []
        with cw.use(dialect):
            for _ in range(20):
                await asyncio.sleep(0)
                found.append(mixed())
        return found

    async def all_of_them() -> list[list[str]]:
        with cw.use("torch"):
            inherited = asyncio.create_task(asyncio.to_thread(mixed))
        assert await inherited == "float32"
        return await asyncio.gather(*[in_a_block(dialect) for dialect in DTYPES])

    assert asyncio.run(all_of_them()) == [[dtype] * 20 for dtype in DTYPES.values()]


def test_a_tensors_own_dialect_comes_before_the_block() -> None:
    with cw.use("numpy"):
        assert mixed("torch") == "float32"
    with cw.use("tensorflow"):
        assert mixed("torch") == "float32"


def test_a_result_carries_the_dialect_on() -> None:
    own = cw.asarray([1], dtype="int32", dialect="torch")
    free = cw.asarray([1], dtype="float32")
    for result in (own + free, free + own, own[0] * free, cw.apply("exp", own), own.astype("int8")):
        with cw.use("numpy"):
            assert result.dialect.name == "torch"


@pytest.mark.parametrize("form", ["operator", "function", "in place", "joined"])
def test_two_dialects_in_one_op_are_refused_with_the_way_out(form: str) -> None:
    a = cw.asarray([1], dtype="int32", dialect="torch")
    b = cw.asarray([1], dtype="int32", dialect="numpy")
    calls = {
        "operator": lambda: a + b,
        "function": lambda: cw.apply("add", a, b),
        "in place": lambda: a.add_(b),
        "joined": lambda: cw.apply("concat", a, b),
    }
    with pytest.raises(cw.UsageError, match=r"torch and numpy do not mix: choose one, x\.under"):
        calls[form]()
    assert (a + b.under("torch")).dialect.name == "torch"
    assert (a.under(None) + b).dialect.name == "numpy"


def test_one_dialect_by_two_names_is_one() -> None:
    a = cw.asarray([1], dialect="torch")
    b = cw.asarray([1], dialect="torch@2.13")
    assert (a + b).dialect.name == "torch"


def test_a_custom_dialect() -> None:
    strict = cw.dialect("torch").vary(strict=True)
    with cw.use(strict), pytest.raises(cw.PromotionError, match="implicit cast"):
        mixed()
    with pytest.raises(cw.UsageError, match="unknown dialect 'trch'"), cw.use("trch"):
        pass
