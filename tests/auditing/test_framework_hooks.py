"""Arrays of each framework, in a small program: what is found, and that all of it is understood."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit


def audited(place: Path, program: str) -> Audit:
    script = place / "program.py"
    script.write_text(textwrap.dedent(program))
    run = run_audited([str(script)])
    assert run.status == 0
    assert run.seen.counts.failures == {}
    return make_audit(run.seen)


def found(audit: Audit) -> list[str]:
    return [f"{f.operation.question} -> {f.result}" for f in audit.findings]


def the_fix(audit: Audit) -> str:
    """Of the worst origin."""
    (fix,) = audit.origins[0].fixes
    assert fix is not None
    return fix.text


def test_dask(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    program = """
    import dask.array as da
    import numpy as np
    def never(block):
        raise AssertionError("computed")
    x = da.ones((4, 4), chunks=2, dtype="float32")
    lazy = x.map_blocks(never, dtype="float32", meta=np.ones((0, 0), "float32"))
    bias = da.zeros(4)
    y = lazy + bias
    z = np.sin(lazy) * bias
    w = da.where(lazy > 0, lazy, bias)
    chosen = lazy[lazy > 0] * 2  # of unknown size
    a, b, c = lazy.mean(), da.concatenate([lazy, lazy]), lazy.reshape(16).rechunk(4)
    k = x.sum().compute()
    """
    audit = audited(tmp_path, program)
    assert found(audit) == [
        "float32[4,4] + float64[4] -> float64",
        "float32[4,4] * float64[4] -> float64",
        "where(bool[4,4], float32[4,4], float64[4]) -> float64",
    ]
    assert the_fix(audit) == "da.zeros(4).astype(da.float32)"
    assert audit.coverage.not_understood == {}


def test_dask_binds_the_name_to_a_new_array(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    program = """
    import dask.array as da
    x = da.ones(4, chunks=2, dtype="float32")
    x += da.zeros(4, chunks=2)
    """
    assert found(audited(tmp_path, program)) == ["float32[4] + float64[4] -> float64"]


def test_jax_binds_the_name_to_a_new_array(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    program = """
    import jax.numpy as jnp
    x = jnp.arange(3)
    x += jnp.ones(3)
    """
    audit = audited(tmp_path, program)
    assert found(audit) == ["int32[3] += float32[3] -> float32"]
    assert all(f.operation.is_expected for f in audit.findings)


def test_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    program = """
    import numpy as np
    import pandas as pd
    s = pd.Series(np.ones(5, dtype="float32"))
    t = pd.Series(np.zeros(5))
    u, v, w = s + t, np.exp(s) * t, s.add(t)
    s.mean(), s.sum(), s.abs(), s.clip(0, 1), s.to_numpy(), s.astype("float64")
    """
    audit = audited(tmp_path, program)
    assert found(audit) == [
        "float32[5] + float64[5] -> float64",
        "float32[5] * float64[5] -> float64",
        "add(float32[5], float64[5]) -> float64",
    ]
    assert the_fix(audit) == "np.zeros(5, dtype=np.float32)"
    assert audit.coverage.not_understood == {}


def test_a_frame_is_an_array_where_its_columns_are_of_one_dtype(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    program = """
    import numpy as np
    import pandas as pd
    one = pd.DataFrame({"a": np.ones(3, "float32"), "b": np.ones(3, "float32")})
    two = pd.DataFrame({"a": np.ones(3, "float32"), "b": np.arange(3)})
    wide = np.zeros(2)
    one * wide
    two * wide
    """
    assert found(audited(tmp_path, program)) == ["float32[3,2] * np.float64[2] -> float64"]


def test_xarray(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    program = """
    import numpy as np
    import xarray as xr
    class Lazy(np.lib.mixins.NDArrayOperatorsMixin):
        shape, dtype, ndim, size = (3,), np.dtype("float32"), 1, 3
        def __array__(self, *arguments, **keywords):
            raise AssertionError("computed")
        def __array_function__(self, *arguments):
            raise AssertionError("computed")
        def __array_ufunc__(self, *arguments, **keywords):
            return np.zeros(3)
    a = xr.DataArray(np.ones((2, 3), "float32"), dims=("i", "j"))
    o = xr.DataArray(np.zeros(3), dims=("j",))
    p = a * o
    a.mean(), a.sum("i"), np.sqrt(a), a.astype("float64"), a.isel(i=0)
    xr.Variable(("j",), Lazy()) * o.variable
    """
    audit = audited(tmp_path, program)
    assert found(audit) == [
        "float32[2,3] * float64[3] -> float64",
        "float32[3] * float64[3] -> float64",
    ]
    assert the_fix(audit) == "np.zeros(3, dtype=np.float32)"
    assert audit.coverage.not_understood == {}


def test_tensorflow(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    program = """
    import numpy as np
    import tensorflow as tf
    x, v = tf.ones((3, 4)), tf.Variable(tf.zeros(4))
    y = x * 2.0 + v
    z = x * np.zeros(4)
    i = tf.range(3)
    q = i / 2
    tf.where(x > 0, x, y), tf.reduce_sum(x, axis=0), tf.concat([x, x], 0), tf.nn.softmax(x)
    tf.cast(x, tf.float64), tf.reshape(x, (-1,)), tf.matmul(x, x, transpose_b=True)
    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def f(t):
        return t * 2 + tf.reduce_sum(t)
    f(x)
    """
    audit = audited(tmp_path, program)
    assert sorted(found(audit)) == [
        "float32[3,4] * np.float64[4] -> float32",
        "int32[3] / 2 -> float64",
    ]
    fixes = {fix.text for origin in audit.origins for fix in origin.fixes}
    assert fixes == {"np.zeros(4, dtype=np.float32)", "tf.cast(i, tf.float32) / 2"}
    assert audit.coverage.not_understood == {}


def test_paddle(tmp_path: Path) -> None:
    pytest.importorskip("paddle")
    program = """
    import numpy as np
    import paddle
    x = paddle.ones([3, 4])
    w = paddle.to_tensor(np.zeros(4))
    y, z = x + w, x.add(w)
    x.sum(), paddle.matmul(x, x, transpose_y=True), paddle.where(x > 0, x, x), x.astype("float64")
    paddle.concat([x, x]), paddle.nn.functional.softmax(x), paddle.nn.Linear(4, 2)(x)
    """
    audit = audited(tmp_path, program)
    assert found(audit) == [
        "float32[3,4] + float64[4] -> float64",
        "add(float32[3,4], float64[4]) -> float64",
    ]
    assert the_fix(audit) == "np.zeros(4, dtype=np.float32)"
    assert audit.coverage.not_understood == {}
