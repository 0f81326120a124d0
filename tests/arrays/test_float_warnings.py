"""NumPy warns about floats that overflow or are undefined, if the dialect's framework does."""

import threading
import warnings

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp
from castwise.arrays.backends import numpy as numpy_arrays

SILENT = ["torch", "jax", "tensorflow", "paddle", "mlx", "keras", "tinygrad", "tensorflow:all"]


def undefined(dialect):
    """Calls of which each makes NumPy warn."""
    x = cw.asarray(np.array([1.0, 0.0], "float32"), dialect=dialect)
    big = cw.asarray(np.array([3e38, 3e38], "float32"), dialect=dialect)
    return {
        "by zero": lambda: x / 0.0,
        "remembered": lambda: (big * big, big * big),
        "0-d": lambda: x[0] / x[1],
        "in place": lambda: cw.asarray(big, copy=True).mul_(big),
        "log": lambda: cw.apply("log", x - 1.0),
        "product": lambda: cw.apply("matmul", big, big),
        "mean of nothing": lambda: cw.apply("mean", x[:0]),
        "sum with a dtype": lambda: xp.sum(big, dtype="float32"),
    }


@pytest.mark.parametrize("dialect", SILENT)
def test_nothing_is_said_where_the_framework_says_nothing(dialect):
    for compute in undefined(dialect).values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compute()


@pytest.mark.parametrize("dialect", ["numpy", "numpy@1", "array-api"])
def test_numpy_warns(dialect):
    for compute in undefined(dialect).values():
        with pytest.warns(RuntimeWarning):
            compute()


def test_an_op_that_casts_while_it_computes_is_silent_too():
    ones = cw.asarray(np.array([1], "int8"), dialect="torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (ones / cw.asarray(np.zeros(1, "float32"))).tolist() == [float("inf")]


def test_the_settings_of_numpy_are_left_alone():
    x = cw.asarray([1.0], dialect="torch")
    before = np.geterr()
    with np.errstate(divide="raise"):
        assert (x / 0.0).tolist() == [float("inf")]
        assert np.geterr()["divide"] == "raise"
        with pytest.raises(FloatingPointError):
            x.under("numpy") / 0.0
    assert np.geterr() == before


def test_threads_are_silent_side_by_side():
    x = cw.asarray(np.zeros(1 << 16, "float32"), dialect="torch")
    raised = []

    def divide():
        try:
            for _ in range(20):
                x / x
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=divide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised


def test_where_numpy_keeps_its_settings_in_no_context(monkeypatch):
    monkeypatch.setattr(numpy_arrays, "_silent_context", lambda: None)
    silent = numpy_arrays.NumPy().quiet(np.divide, "div")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert silent(np.ones(1), np.zeros(1)).tolist() == [float("inf")]


def test_chunks_of_dask_are_silent():
    da = pytest.importorskip("dask.array")
    x = cw.asarray(da.ones(4, chunks=2), dialect="torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (x / 0.0).numpy().tolist() == [float("inf")] * 4
