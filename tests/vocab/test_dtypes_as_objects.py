"""Dtypes in people's programs: as text, as NumPy's dtypes and as those of other frameworks."""

from __future__ import annotations

import json
import operator
import subprocess
import sys

import numpy as np
import pytest

from castwise.errors import UsageError
from castwise.vocab.dtypes import DTYPES, dtype
from castwise.vocab.live import to_dtype


def test_a_dtype_equals_its_name_and_is_no_text() -> None:
    found = dtype("f32")
    assert found == "float32"
    assert operator.eq("float32", found)
    assert not operator.ne(found, "float32")
    assert found != "float64"
    assert {found: 1}["float32"] == 1
    assert hash(found) == hash("float32")
    assert not isinstance(found, str)
    assert json.dumps({str(found): [found]}, default=str) == '{"float32": ["float32"]}'
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(found)
    assert f"{found:>8}" == " float32"
    assert repr(found) == "float32"
    assert (found == 3, found == None, found != object()) == (False, False, True)  # noqa: E711


def test_a_dtype_that_numpy_lacks_makes_no_array() -> None:
    assert not hasattr(dtype("int128"), "dtype")
    with pytest.raises(TypeError):
        np.dtype(dtype("int128"))


@pytest.mark.parametrize("name", [d.name for d in DTYPES if hasattr(np, d.name)])
def test_a_dtype_equals_numpys_and_makes_arrays(name: str) -> None:
    found, real = dtype(name), np.dtype(name)
    assert found == real
    assert real == found
    assert not operator.ne(found, real)
    assert not operator.ne(real, found)
    assert found == real.type
    assert real.type == found
    assert np.dtype(found) is real
    assert np.zeros(3, dtype=found).astype(found).dtype is real
    assert found.to("numpy") is real
    assert [other for other in DTYPES if other == real] == [found]


def test_numpy_takes_small_dtypes() -> None:
    """In a process of its own: here ml_dtypes is loaded already."""
    program = (
        "import sys, numpy as np, castwise as cw\n"
        "assert 'ml_dtypes' not in sys.modules\n"
        "found = cw.resolve('add', 'bfloat16[3]', 1, dialect='torch').result\n"
        "print(np.zeros(3, dtype=found).dtype, np.dtype(cw.dtype('e4m3fn')), found.to('np'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("bfloat16 float8_e4m3fn bfloat16\n", "")


@pytest.mark.parametrize(
    ("framework", "reason"),
    [
        ("torchh", "no dtype objects of 'torchh'. Did you mean 'torch'"),
        ("numpy", "has no dtype int128"),
    ],
)
def test_a_dtype_that_a_framework_lacks_is_said(framework: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        dtype("int128").to(framework)


@pytest.mark.parametrize("framework", ["torch", "jax", "tensorflow", "paddle", "mlx", "tinygrad"])
def test_a_dtype_becomes_and_equals_a_frameworks_object(framework: str) -> None:
    pytest.importorskip(framework)
    for name in ("bool", "int32", "float16", "bfloat16", "float32"):
        real = dtype(name).to(framework)
        assert dtype(name) == real
        assert [other for other in DTYPES if other == real] == [dtype(name)]
        assert to_dtype(real) is dtype(name)
