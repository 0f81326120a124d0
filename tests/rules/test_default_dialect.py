"""The default dialect of a process: `cw.set_default`, CASTWISE_DIALECT, and `cw.use`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import castwise as cw


@pytest.fixture(autouse=True)
def first_default() -> Iterator[None]:
    cw.set_default(None)
    yield
    cw.set_default(None)


def test_a_default_holds_for_everything_that_names_no_dialect() -> None:
    cw.set_default("tensorflow:safe")
    assert cw.current().name == "tensorflow:safe"
    assert cw.promote_types("int8", "int16").name == "int16"
    with pytest.raises(cw.PromotionError, match="tensorflow:safe"):
        cw.resolve("add", "int8[3]", "uint8[3]")
    assert cw.asarray([1.0]).dtype.name == "float32"
    assert cw.trace(lambda x: x + 1, "int8[2]").dialect.name == "tensorflow:safe"
    assert cw.array_api.zeros(2).dialect.name == "tensorflow:safe"


def test_what_was_known_under_the_old_default_is_forgotten() -> None:
    a, b = np.ones(3, dtype="int8"), np.ones(3, dtype="float16")
    t, u = cw.asarray(a), cw.asarray(np.ones(3, dtype="int32"))
    for _ in range(3):
        assert cw.result_type(a, b).name == "float16"
        assert (u + 0.5).dtype.name == "float64"
        assert (t + u).dtype.name == "int32"
    cw.set_default("torch")
    assert (u + 0.5).dtype.name == "float32"
    cw.set_default("tensorflow")
    for attempt in (lambda: cw.result_type(a, b), lambda: t + u, lambda: u + 0.5):
        with pytest.raises(cw.PromotionError, match="tensorflow"):
            attempt()


def test_threads_started_later_see_it() -> None:
    cw.set_default("torch")
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(cw.current().name))
    thread.start()
    thread.join(timeout=30)
    assert seen == ["torch"]


def test_use_and_a_tensors_own_dialect_go_first() -> None:
    cw.set_default("torch")
    own = cw.asarray([1], dialect="jax")
    assert own.dialect.name == "jax"
    with cw.use("numpy"):
        assert cw.current().name == "numpy"
    assert cw.current().name == "torch"


def test_an_unknown_default_changes_nothing() -> None:
    with pytest.raises(cw.UsageError, match="Did you mean 'torch'"):
        cw.set_default("trch")
    assert cw.current().name == "numpy"


def test_use_without_with_says_that_it_does_nothing() -> None:
    with pytest.warns(
        UserWarning, match=r"does nothing on its own: write `with cw.use\('torch'\):`"
    ):
        cw.use("torch")
    assert cw.current().name == "numpy"


def test_use_decorates_a_function() -> None:
    @cw.use("torch")
    def spoken() -> str:
        return cw.current().name

    assert (spoken(), spoken(), cw.current().name) == ("torch", "torch", "numpy")


@pytest.mark.parametrize(
    ("name", "said"),
    [("tensorflow:safe", "tensorflow:safe"), ("", "numpy"), ("trch", "variable CASTWISE_DIALECT")],
)
def test_the_environment_names_the_first_default(name: str, said: str) -> None:
    program = "import castwise as cw; print(cw.current().name)"
    ran = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "CASTWISE_DIALECT": name},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert said in ran.stdout + ran.stderr
