"""The dialect of a question that names none: that of its live arrays, as loaded here."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.catalog import loaded_dialect


def dialect_of(*operands: Any, **parts: Any) -> str:
    return cw.resolve("add", *operands, **parts).question.dialect.name


class Fake:
    """An array of a framework, as far as castwise looks at it."""

    dtype = "float32"
    shape = (3,)


def fake(framework: str, name: str) -> Any:
    return type(name, (Fake,), {"__module__": framework})()


JAX, MLX = fake("jax", "Array"), fake("mlx.core", "array")


def test_live_arrays_choose_the_dialect_of_their_framework() -> None:
    assert dialect_of(MLX, 1.5) == dialect_of(1.5, MLX) == "mlx"
    assert dialect_of(np.zeros(3), 1.5) == dialect_of(np.float32(1), 1.5) == "numpy"
    assert cw.result_type(JAX, 1.5).name == cw.result_type(1.5, JAX).name == "float32"
    assert cw.result_type("float32[3]", 1).name == "float32"  # notation: the default


def test_numpys_arrays_keep_their_role_in_another_frameworks_op() -> None:
    decision = cw.resolve("add", MLX, np.zeros(3, dtype="int8"))
    assert (decision.question.dialect.name, decision.question.operands[1].is_numpy) == ("mlx", True)


def test_two_frameworks_are_refused_with_both_names() -> None:
    with pytest.raises(cw.UsageError, match=r"operands are of jax and mlx, .*dialect='jax'"):
        cw.resolve("add", JAX, MLX)
    with pytest.raises(cw.UsageError, match="operands are of jax and mlx"):
        cw.result_type(JAX, MLX)
    assert dialect_of(JAX, MLX, dialect="torch") == "torch"


def test_a_dialect_that_is_given_or_chosen_wins() -> None:
    assert dialect_of(MLX, 1, dialect="torch") == "torch"
    with cw.use("jax"):
        assert dialect_of(MLX, 1) == "jax"
    cw.set_default("torch")
    try:
        assert dialect_of(MLX, 1) == "torch"
    finally:
        cw.set_default(None)


def test_tensors_choose_their_own_dialect() -> None:
    t = cw.asarray([1, 2], dialect="torch")
    assert dialect_of(t, 1.5) == dialect_of(t, np.zeros(2)) == "torch"
    with pytest.raises(cw.UsageError, match="operands are of torch and mlx"):
        cw.resolve("add", t, MLX)


def test_a_function_of_a_framework_chooses_its_dialect() -> None:
    assert cw.resolve(np.add, "int8[3]", 1).question.dialect.name == "numpy"
    with pytest.raises(cw.UsageError, match="operands are of numpy and mlx"):
        cw.resolve(np.add, MLX, 1)


def test_an_explanation_says_which_dialect_decided_and_why() -> None:
    text = cw.explain("add", np.zeros(3, dtype="int8"), 1)
    assert re.search(
        rf"The arrays are of numpy {np.__version__}(: numpy decides\.|\. .* answers)", text
    )
    assert "The arrays are" not in cw.explain("add", "int8[3]", 1)


@pytest.mark.parametrize(
    ("framework", "version", "name", "note"),
    [
        ("torch", "2.13.1+cpu", "torch", ""),
        ("torch", "2.15.0", "torch@2.15", ""),
        ("torch", "2.99.0", "torch@2.15", "torch@2.99.0 is not recorded: torch@2.15 "),
        ("numpy", "1.26.4", "numpy@1.26", ""),
        ("numpy", "1.18.5", "numpy@1.19", "numpy@1.19 "),
        ("numpy", "2.5.0", "numpy@2.5", ""),
        ("torch", "unknown", "torch", ""),
    ],
)
def test_the_nearest_recorded_version_answers_for_the_loaded_one(
    framework: str, version: str, name: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.SimpleNamespace(__version__=version, get_default_dtype=lambda: "torch.float32")
    monkeypatch.setitem(sys.modules, framework, module)  # type: ignore[arg-type]
    found = loaded_dialect(framework)
    assert (found.dialect.name, note in found.note, bool(found.note)) == (name, True, bool(note))


def test_torch_chooses_by_its_default_dtype() -> None:
    torch = pytest.importorskip("torch")
    whole, half = torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.float16)
    assert cw.resolve("add", whole, 5.5).result == torch.float32
    assert cw.result_type(whole, 5.5) == (whole + 5.5).dtype
    assert cw.promote_types(torch.float16, torch.bfloat16) == torch.float32
    assert (cw.asarray(whole) + 5.5).array.dtype == torch.float32
    assert cw.apply("add", whole, 5.5).dtype == cw.apply(torch.add, whole, 5.5).dtype == "float32"
    assert cw.compile(lambda x: x * 0.5)(whole).dtype == "float32"
    assert cw.result_type(whole, half) == cw.result_type(whole, half) == torch.float16
    torch.set_default_dtype(torch.float64)
    try:
        assert cw.resolve("add", whole, 5.5).result == (whole + 5.5).dtype == torch.float64
        assert cw.result_type(whole, half) == torch.result_type(whole, half)
        assert (cw.asarray(whole) + 5.5).array.dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert cw.resolve("add", whole, 5.5).result == torch.float32


def test_jax_chooses_by_its_mode() -> None:
    jax = pytest.importorskip("jax")
    whole = jax.numpy.arange(3)
    assert cw.resolve("add", whole, 1.5).result == (whole + 1.5).dtype
    with jax.enable_x64(True):
        whole = jax.numpy.arange(3)
        assert dialect_of(whole, 1.5) == "jax:x64"
        assert cw.result_type(whole, whole) == whole.dtype == np.int64
        assert (cw.asarray(whole) + 1.5).dtype == (whole + 1.5).dtype
    with pytest.raises(cw.UsageError, match="operands are of jax and torch"):
        cw.resolve("add", whole, pytest.importorskip("torch").ones(3))
