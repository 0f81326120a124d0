"""Under a dialect, on any backend, tensors compute what the dialect's framework computed.

Values recorded on a processor like the one at hand are executed, all with --all-cells, bit for
bit except for what castwise/conformance/values.py allows. What is deliberately otherwise
is listed in conformance/values/differences.tsv with its reason and count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from recorded_values import (
    RECORDED_ON,
    Difference,
    computed,
    disagrees,
    dtypes_in,
    listed_differences,
    of_processor,
    quietly,
    recorded,
    recorded_on,
    without_subnormals,
)

import castwise as cw
import cells
from castwise.arrays import apply as applying
from castwise.arrays import fusing
from castwise.arrays.apply import prepare
from castwise.arrays.backends import backend_named
from castwise.arrays.tensor import apply
from castwise.catalog import dialect_named
from castwise.conformance.recorder import Cell
from castwise.conformance.values import agrees, read_held
from castwise.errors import DivisionByZeroError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.rules.values import architecture
from processes import compiled_let_go

# Dask runs a graph, JAX and CuPy compile for each cell: of theirs one in so many is tried.
SAMPLED = {"dask": 10, "jax": 20, "cupy": 10}
SHARE = 29  # of the others, without --all-cells; and as much less of these
FLUSHES = {"jax", "cupy"}  # they take subnormal floats for zero
PAIRS = [
    *[("numpy", backend) for backend in ("numpy", "torch", "dask", "jax", "cupy")],
    ("numpy@1", "numpy"),
    *[("torch", backend) for backend in ("numpy", "torch", "dask", "jax", "cupy")],
    *[("jax", backend) for backend in ("numpy", "torch", "dask", "jax")],
    ("jax:x64", "numpy"),
    ("jax:x64", "torch"),
    ("torch:cuda", "numpy"),
]
DIFFERENCES = listed_differences()


def skip_without(backend: str) -> None:
    try:
        backend_named(backend)
    except UsageError as error:
        pytest.skip(str(error))


def difference_of(dialect: str, backend: str, cell: Cell) -> Difference | None:
    return next((d for d in DIFFERENCES if d.covers(dialect, backend, cell)), None)


def disagreements(dialect: str, backend: str) -> list[Cell]:
    held = backend_named(backend).dtypes
    names = {dtype.name for dtype in held}
    asked = [cell for cell in recorded(dialect, recorded_on(dialect)) if dtypes_in(cell) <= names]
    step = SAMPLED.get(backend, 1) * (1 if cells.takes_all else SHARE)
    tried: Iterable[Cell | None] = asked[::step]
    if backend in FLUSHES and dialect_named(dialect).values.casting.subnormals == "kept":
        tried = map(without_subnormals, filter(None, tried))
    with quietly():
        left = compiled_let_go(filter(None, tried))
        return [cell for cell in left if disagrees(cell, dialect, backend)]


@pytest.mark.parametrize(("dialect", "backend"), PAIRS)
def test_each_recorded_value_is_computed_or_a_listed_difference(dialect: str, backend: str) -> None:
    skip_without(backend)
    if architecture() not in RECORDED_ON:
        pytest.skip(f"no values were recorded on {architecture()}")
    found = [
        (cell, difference_of(dialect, backend, cell)) for cell in disagreements(dialect, backend)
    ]
    unlisted = [cell for cell, listed in found if listed is None]
    with quietly():
        answers = [computed(cell, dialect, backend) for cell in unlisted]
    cells.fail_where_different(f"{dialect} on {backend}", list(zip(unlisted, answers, strict=True)))
    # What differs from a device was counted on x86-64.
    is_counted = recorded_on(dialect) == architecture() or architecture() == "x86_64"
    if cells.takes_all and backend not in SAMPLED and is_counted:
        counted = Counter(listed for _, listed in found if listed)
        listed = [d for d in DIFFERENCES if d.names(dialect, backend)]
        assert {d: counted[d] for d in listed} == {d: d.cells for d in listed}


def test_a_result_one_bit_off_is_found() -> None:
    operands = [read_held("float32=1.0,2.0[2]"), read_held("float32=3.0,4.0[2]")]
    expected = read_held("float32=4.0,6.0[2]")
    assert agrees("add", operands, expected, expected)
    assert not agrees("add", operands, expected, read_held("float32=4.0,6.000000476837158[2]"))
    assert agrees("pow", operands, expected, read_held("float32=4.0,6.000000476837158[2]"))
    assert not agrees("pow", operands, expected, read_held("float32=4.0,6.000000953674316[2]"))
    assert not agrees("add", operands, expected, read_held("float64=4.0,6.0[2]"))
    assert agrees(
        "neg", operands, read_held("float32=-0.0,nan[2]"), read_held("float32=0.0,nan[2]")
    )


def test_a_sum_may_be_off_by_its_roundings_and_no_more() -> None:
    operands = [read_held("float16=2048.0,1.0,1.0,1.0[4]")]
    exact = read_held("float16=2052.0[]")
    assert agrees("sum", operands, exact, read_held("float16=2050.0[]"))
    assert not agrees("sum", operands, exact, read_held("float16=2048.0[]"))


def held(values: list[Any], dtype: str, dialect: str | Dialect) -> cw.Tensor:
    return cw.asarray(np.array(values).astype(dtype), dialect=dialect)


INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
# What the frameworks without recorded values answered when they were asked, on x86-64.
ASKED = [
    ("tensorflow", "bitwise_left_shift", "int32", [[3, 3, 3], [32, 33, -1]], [INT32_MIN] * 2 + [3]),
    ("tensorflow", "bitwise_right_shift", "uint8", [[200], [9]], [1]),
    ("tensorflow", "floor_divide", "float32", [[1.0, np.inf, 7.0], [0.1, 2.0, 0.0]],
     [10.0, np.inf, np.inf]),
    ("mlx", "bitwise_left_shift", "int32", [[3, 3, 3], [32, 33, -1]], [3, 6, INT32_MIN]),
    ("mlx", "bitwise_left_shift", "uint8", [[3, 3], [9, 33]], [0, 6]),
    ("mlx", "floor_divide", "int32", [[7, 0], [0, 0]], [0, 0]),
    ("mlx", "remainder", "int32", [[7, -7], [0, 3]], [7, 2]),
    ("mlx", "pow", "int32", [[1, -1, 0, 2, 3], [-1, -3, -1, -1, 21]], [0, 0, 0, 0, 1870418611]),
    ("mlx", "sign", "float32", [[np.nan, -2.0]], [0.0, -1.0]),
    ("paddle", "pow", "int32", [[2, -1, 0, 3], [-1, -3, -1, 64]], [0, -1, INT32_MIN, INT32_MIN]),
    ("oneflow", "floor_divide", "int32", [[-7], [2]], [-3]),
    ("oneflow", "remainder", "int32", [[-7], [3]], [-1]),
    ("oneflow", "remainder", "float32", [[-7.0, 7.0], [3.0, np.inf]], [-1.0, 7.0]),
    ("megengine", "round", "float32", [[0.5, 1.5, 2.5, -0.5, 0.4]], [1.0, 2.0, 3.0, -1.0, 0.0]),
    ("mindspore", "floor_divide", "int32", [[7, 0, -7], [0, 0, 0]], [INT32_MAX, 0, INT32_MIN]),
    ("mindspore", "floor_divide", "uint8", [[7], [0]], [255]),
    ("mindspore", "median", "float32", [[4.0, 1.0, 3.0, 2.0]], 2.0),
    ("keras", "floor_divide", "int32", [[7, 0], [0, 0]], [-2, -1]),
    ("keras", "floor_divide", "uint8", [[7], [0]], [255]),
    ("keras", "pow", "int32", [[5, 2, 0, 3], [-1, 64, -1, 21]], [1501274061, 1, 0, 1870418611]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "op", "dtype", "operands", "expected"), ASKED)
@pytest.mark.parametrize("backend", ["numpy", "torch", "cupy"])
def test_what_other_frameworks_answered(
    backend: str, dialect: str, op: str, dtype: str, operands: list[Any], expected: Any
) -> None:
    skip_without(backend)
    asked = of_processor(dialect, "x86_64")
    tensors = [cw.asarray(held(v, dtype, asked), backend=backend) for v in operands]
    with quietly():
        assert apply(op, *tensors, form="function").tolist() == expected


@pytest.mark.parametrize(
    ("dialect", "expected"), [("numpy", 1.2472191), ("torch", 1.5275252), ("paddle", 1.5275252)]
)
def test_a_standard_deviation_divides_by_what_the_framework_divides_by(
    dialect: str, expected: float
) -> None:
    sample = held([1.0, 2.0, 4.0], "float32", dialect)
    assert apply("std", sample).item() == pytest.approx(expected, rel=1e-6)
    assert apply("std", sample, correction=0).item() == pytest.approx(1.2472191, rel=1e-6)


@pytest.mark.parametrize(
    ("dialect", "expected"), [("torch", 0.8413447), ("jax", 0.841192), ("tinygrad", 0.841192)]
)
def test_gelu_is_the_framework_s(dialect: str, expected: float) -> None:
    assert apply("gelu", held([1.0], "float32", dialect)).tolist() == pytest.approx([expected])


@pytest.mark.parametrize("dialect", ["torch", "tensorflow", "paddle", "oneflow"])
@pytest.mark.parametrize("op", ["floor_divide", "remainder"])
def test_a_division_by_zero_raises_where_the_framework_raises(dialect: str, op: str) -> None:
    with pytest.raises(DivisionByZeroError, match=f"{op} of int32 by zero"):
        apply(op, held([7, 1], "int32", dialect), held([1, 0], "int32", dialect))


def test_truth_values_divided_by_false_raise_where_they_stay_truth_values() -> None:
    values = held([True, False], "bool", "paddle")
    assert apply("div", values, held([True, True], "bool", "paddle")).tolist() == [True, False]
    with pytest.raises(DivisionByZeroError, match="div of bool by zero"):
        apply("div", values, values)


def test_a_negative_power_raises_where_the_framework_raises() -> None:
    for dialect in ("numpy", "tensorflow"):
        with pytest.raises(ScalarRangeError, match="to a negative power"):
            apply("pow", held([2], "int32", dialect), held([-1], "int32", dialect))


def test_a_number_over_an_array_is_its_reciprocal_times_the_number() -> None:
    seven = [7.0]
    for dialect in ("torch", "oneflow"):
        assert (3 / held(seven, "float32", dialect)).tolist() == [0.4285714626312256]
    assert (3 / held(seven, "float32", "numpy")).tolist() == [0.4285714328289032]


def test_an_array_over_a_number_is_the_array_times_its_reciprocal_in_jax() -> None:
    assert (held([7.0], "float32", "jax") / 3).tolist() == [2.3333334922790527]
    assert (held([7.0], "float32", "numpy") / 3).tolist() == [2.3333332538604736]


def test_a_number_behind_a_small_float_keeps_its_precision_in_torch_alone() -> None:
    half, many = held([0.5], "float16", "torch"), held([-60000.0], "float16", "torch")
    with quietly():
        assert (half * 70000).tolist() == [35008.0]
        assert (70000 * half).tolist() == [35008.0]
        assert (many + 70000.0).tolist() == [np.inf]
        assert (held([0.5], "float16", "jax") * 70000.0).tolist() == [np.inf]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("weight", [0.3, 70000.0])
def test_a_weight_between_small_floats_keeps_its_precision_in_torch(
    backend: str, weight: float
) -> None:
    torch = pytest.importorskip("torch")
    start, end = np.array([[0.25, 3.0, -2.0], [0.5, 3.5, -1.75]], "float16")
    expected = torch.lerp(torch.from_numpy(start), torch.from_numpy(end), weight).tolist()
    tensors = [cw.asarray(a, dialect="torch", backend=backend) for a in (start, end)]
    assert apply("lerp", *tensors, weight).tolist() == expected


def test_casts_of_floats_out_of_range() -> None:
    far = [np.nan, np.inf, -np.inf, 300.7, -300.7, 3e9]
    with quietly():
        saturated = held(far, "float32", "jax").astype("int8").tolist()
        wrapped = held(far, "float32", "torch").astype("int8").tolist()
    assert saturated == [0, 127, -128, 127, -128, 127]
    beyond = -1 if architecture() == "aarch64" else 0
    assert wrapped == [0, beyond, 0, 44, -44, beyond]


def test_integers_of_unequal_signs_are_compared_as_numbers_in_numpy_alone() -> None:
    signed, unsigned = [2**62 + 1, -1], [2**62, 2**64 - 1]
    for dialect, expected in (("numpy", [True, False]), ("numpy@1", [False, False])):
        left = cw.asarray(np.array(signed, "int64"), dialect=dialect)
        right = cw.asarray(np.array(unsigned, "uint64"), dialect=dialect)
        assert (left > right).tolist() == expected
        assert (right < left).tolist() == expected


def test_a_function_stays_the_backend_s_own_where_the_rules_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fusing, "are_there", lambda: False)  # they look at the size first
    applying._known.clear()
    prepared = prepare("add", (held([1.0], "float32", "array-api"),) * 2, "operator")
    prepared.run(np.ones(1, "float32"), np.ones(1, "float32"))
    assert prepared.run is np.add
    same = prepare("floor_divide", (held([1], "int32", "numpy"),) * 2, "operator")
    same.run(np.ones(1, "int32"), np.ones(1, "int32"))
    assert same.run is np.floor_divide
