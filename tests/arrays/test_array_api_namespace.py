"""The namespace has the standard's functions with their signatures, and says what it is."""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import Any

import pytest

import castwise as cw
from castwise import array_api as xp
from castwise.arrays.functions import LIKE, standard_name
from castwise.vocab.ops import EXTENSIONS, OPS

strict = pytest.importorskip("array_api_strict")


def functions(namespace: Any) -> list[str]:
    found = [n for n in namespace.__all__ if inspect.isfunction(getattr(namespace, n))]
    return sorted(n for n in found if "array_api_strict" not in n)


def parameters(function: Any, is_standard: bool) -> dict[str, Any]:
    found = inspect.signature(function).parameters.values()
    own = () if is_standard else ("dialect", "backend")
    return {p.name: (p.kind, p.default is not p.empty) for p in found if p.name not in own}


@pytest.mark.parametrize("name", functions(strict))
def test_a_function_of_the_standard_has_its_signature(name: str) -> None:
    ours, theirs = getattr(xp, name), getattr(strict, name)
    assert parameters(ours, is_standard=False) == parameters(theirs, is_standard=True)
    assert ours.__doc__


@pytest.mark.parametrize("name", functions(strict.linalg))
def test_a_function_of_linalg_has_its_signature(name: str) -> None:
    ours, theirs = getattr(xp.linalg, name), getattr(strict.linalg, name)
    assert parameters(ours, is_standard=False) == parameters(theirs, is_standard=True)


@pytest.mark.parametrize("name", functions(strict.fft))
def test_a_function_of_fft_has_its_signature(name: str) -> None:
    ours, theirs = getattr(xp.fft, name), getattr(strict.fft, name)
    assert parameters(ours, is_standard=False) == parameters(theirs, is_standard=True)


def test_a_tensor_names_the_namespace() -> None:
    x = cw.asarray([1, 2])
    assert x.__array_namespace__() is xp
    assert xp.__array_api_version__ == "2025.12" == strict.__array_api_version__
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(cw.UsageError, match=r"version 2025\.12, not '2030\.12': leave out"):
        x.__array_namespace__(api_version="2030.12")


def test_shapes_are_broadcast() -> None:
    assert xp.broadcast_shapes() == ()
    assert xp.broadcast_shapes((2, 1), (3,), (1, 1, 1)) == (1, 2, 3)
    assert xp.broadcast_shapes((0,), (1,)) == (0,)
    with pytest.raises(ValueError, match=r"shapes \(2,\), \(3,\) do not broadcast"):
        xp.broadcast_shapes((2,), (3,))


def test_several_arrays_come_in_tuples() -> None:
    x = xp.asarray([1, 2])
    assert [len(t) for t in (xp.meshgrid(x, x), xp.broadcast_arrays(x), xp.meshgrid())] == [2, 1, 0]
    for several in (
        xp.meshgrid(x, x),
        xp.broadcast_arrays(x),
        xp.__array_namespace_info__().devices(),
    ):
        assert isinstance(several, tuple)


@pytest.mark.parametrize("axis", [3, -4, (0, 0), (0, -4), (4,)])
def test_an_axis_that_is_none_is_refused(axis: Any) -> None:
    with pytest.raises(IndexError, match=r"expand_dims to . dimensions needs distinct axes from"):
        xp.expand_dims(xp.asarray([[1, 2]]), axis)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float32", "complex64"), ("float64", "complex128"), ("complex64", "complex64")],
)
def test_eigenvalues_are_complex_also_where_all_are_real(dtype: str, expected: str) -> None:
    x = xp.asarray([[2.0, 0.0], [0.0, 3.0]], dtype=dtype)
    values, vectors = xp.linalg.eig(x)
    assert values.dtype.name == vectors.dtype.name == xp.linalg.eigvals(x).dtype.name == expected
    assert values.tolist() == [2, 3]
    with pytest.raises(cw.PromotionError):
        xp.linalg.eig(xp.asarray([[1, 2], [3, 4]]))


def test_isin_is_decided_by_its_dialect() -> None:
    ints, floats = xp.asarray([1, 2, 3]), xp.asarray([2.0])
    with pytest.raises(cw.PromotionError, match="isin"):
        xp.isin(ints, floats)
    with cw.use("torch"):
        assert xp.isin(ints, floats).tolist() == [False, True, False]
    graph = cw.trace(lambda x: xp.isin(x, 2), "int32[3]", dialect="array-api")
    assert graph(xp.asarray([1, 2, 3], dtype="int32")).tolist() == [False, True, False]


def test_the_info_tells_the_dialect_s_default_dtypes() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_dtypes() == {
        "real floating": xp.float64,
        "complex floating": xp.complex128,
        "integral": xp.int64,
        "indexing": xp.int64,
    }
    with cw.use("torch"):
        assert info.default_dtypes()["real floating"] is xp.float32 is xp.zeros(2).dtype
    with cw.use("jax"):
        assert info.default_dtypes()["integral"] is xp.int32 is xp.asarray(1).dtype


def test_the_info_tells_devices_and_dtypes() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.dtypes(kind="real floating") == {"float32": xp.float32, "float64": xp.float64}
    assert len(info.dtypes()) == 13
    assert info.capabilities()["boolean indexing"]
    with pytest.raises(cw.UsageError, match="unknown kind 'float'"):
        info.dtypes(kind="float")


def test_every_op_that_computes_is_a_function_of_the_namespace() -> None:
    computing = [op.name for op in OPS.values() if op.family != "questions"]
    plain = [name for name in computing if name not in EXTENSIONS]
    assert [name for name in plain if not {name, standard_name(name)} & {*dir(xp)}] == []
    assert [name for name in EXTENSIONS if not callable(attrgetter(name)(xp))] == []


def test_what_is_decided_as_an_op_is_a_function_of_the_standard() -> None:
    assert set(LIKE.values()) <= set(OPS)
    assert set(LIKE) & set(OPS) == set()
    # clip without a lower bound, and what rules about values put in the place of ops
    written = ("clip_above", "gelu_tanh", "lower_median")
    named = [name for name in LIKE if name not in written]
    assert all(callable(attrgetter(name)(xp)) for name in named)


def test_what_is_no_tensor_is_refused_with_the_way_out() -> None:
    with pytest.raises(cw.UsageError, match="reshape takes a tensor, not a list: make one"):
        xp.reshape([1, 2], (2, 1))  # type: ignore[arg-type]
