"""Tensor: operators, indexing, conversions, text, copies."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
from typing import Any

import numpy as np
import pytest
from recorded_operands import live_operand

import castwise as cw
from castwise.conformance.recorder import OPERATORS


def tensor(values: Any, dtype: str, dialect: str | None = "torch") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, dialect=dialect)


BINARY = {
    op: call for op, call in OPERATORS.items() if op not in ("bitwise_not", "neg", "positive")
}
UNARY = {"neg": operator.neg, "positive": operator.pos, "bitwise_not": operator.invert,
         "abs": operator.abs}  # fmt: skip


# Operators.


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax", "paddle"])
def test_an_operator_is_the_op_of_the_engine(op: str, dialect: str) -> None:
    a, b = tensor([4, 5, 6], "int32", dialect), tensor([1, 2, 3], "int32", dialect)
    found = BINARY[op](a, b)
    expected = cw.resolve(op, "int32[3]", "int32[3]", dialect=dialect, form="operator")
    assert found.dtype is expected.result
    assert found.tolist() == BINARY[op](a.numpy(), b.numpy()).tolist()
    assert BINARY[op](a, b).tolist() == found.tolist()  # the second time it takes the fast path


@pytest.mark.parametrize("op", [op for op in BINARY if op not in ("matmul",)])
def test_a_number_may_stand_on_either_side(op: str) -> None:
    t = tensor([1, 2, 3], "int32")
    left, right = BINARY[op](t, 2), BINARY[op](2, t)
    assert left.tolist() == pytest.approx(BINARY[op](t.numpy(), 2).tolist())
    assert right.tolist() == pytest.approx(BINARY[op](2, t.numpy()).tolist())
    for found, asked in ((left, ("int32[3]", 2)), (right, (2, "int32[3]"))):
        if asked[0] == 2 and op in ("lt", "le", "gt", "ge"):
            continue  # Python turns 2 < t into t > 2
        expected = cw.resolve(op, *asked, dialect="torch", form="operator")
        assert found.dtype is expected.result, asked


@pytest.mark.parametrize("op", UNARY)
def test_operators_of_one_operand(op: str) -> None:
    t = tensor([1, -2, 3], "int16")
    found = UNARY[op](t)
    assert (found.tolist(), found.dtype.name) == (UNARY[op](t.numpy()).tolist(), "int16")


def test_mixed_dtypes_are_cast_before_the_backend_computes() -> None:
    found = tensor([1, 2, 3], "int32") * tensor([0.5, 0.5, 0.5], "float32")
    assert (found.dtype.name, found.tolist()) == ("float32", [0.5, 1, 1.5])  # NumPy says float64
    assert found.array.dtype == np.float32


def test_an_operator_keeps_the_dialect_and_the_backend() -> None:
    found = tensor([1], "int8") + 1
    assert (found.dialect.name, found.backend) == ("torch", "numpy")


@pytest.mark.parametrize("other", [None, "1", [1, 2, 3], {"a": 1}, object()])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "pow", "matmul", "bitwise_and", "lt"])
def test_what_is_no_operand_is_left_to_python(op: str, other: Any) -> None:
    t = tensor([1, 2, 3], "int32")
    for pair in ((t, other), (other, t)):
        with pytest.raises(TypeError):
            OPERATORS[op](*pair)


@pytest.mark.parametrize("other", [None, "1", object()])
def test_a_tensor_equals_nothing_it_cannot_be_compared_with(other: Any) -> None:
    t = tensor([1, 2, 3], "int32")
    assert (t == other) is False
    assert (other == t) is False
    assert (t != other) is True


def test_another_type_that_knows_tensors_is_asked() -> None:
    class Unit:
        def __radd__(self, other: cw.Tensor) -> str:
            return f"{other.dtype} with a unit"

    assert tensor([1], "int8") + Unit() == "int8 with a unit"


def test_a_refusal_tells_what_why_and_what_to_do() -> None:
    with pytest.raises(cw.PromotionError, match="refuses minus on booleans; use") as raised:
        tensor([True], "bool") - tensor([True], "bool")
    assert isinstance(raised.value, TypeError)


# Roles.


@pytest.mark.parametrize(
    ("other", "dtype"),
    [(5.5, "float32"), (5, "int32"), (True, "int32"), (1j, "complex64"),
     (np.ones(3), "float64"), (np.asarray(1.0), "float64"), (np.float64(1), "float32")],
)  # fmt: skip
def test_numbers_and_numpy_operands_keep_their_roles(other: Any, dtype: str) -> None:
    found = tensor([1, 2, 3], "int32") + other
    assert found.dtype.name == dtype
    assert found.dtype is cw.resolve("add", "int32[3]", other, dialect="torch").result


def test_a_0d_tensor_is_not_a_number() -> None:
    zero_d = tensor(1, "int64")
    assert (tensor([1], "int8") + zero_d).dtype.name == "int8"
    assert (tensor(1, "int8") + zero_d).dtype.name == "int64"
    assert (tensor(1, "int8") + 1).dtype.name == "int8"


def test_a_numpy_array_leaves_the_operator_to_the_tensor() -> None:
    found = np.ones(3, "float32") * tensor([1, 2, 3], "int8", "numpy")
    assert isinstance(found, cw.Tensor)
    assert found.dtype.name == "float32"
    with pytest.raises(cw.PromotionError, match=re.escape("np.float64[3] + int8 is not defined")):
        np.ones(3) + tensor([1, 2, 3], "int8")  # as torch's own tensors refuse it


def test_the_value_of_a_number_counts_where_the_dialect_looks_at_it() -> None:
    t = tensor([1, 2], "int8", "numpy@1")
    assert (t + 100).dtype.name == "int8"
    assert (t + 200).dtype.name == "int16"
    assert (t + tensor(200, "int64", "numpy@1")).dtype.name == "int16"
    assert (t + tensor(100, "int64", "numpy@1")).dtype.name == "int8"
    with pytest.raises(cw.ScalarRangeError, match="200"):
        tensor([1, 2], "int8", "numpy") + 200


def test_an_array_of_another_backend_is_refused() -> None:
    torch = pytest.importorskip("torch")
    t = tensor([1, 2, 3], "int32")
    other = cw.asarray(torch.ones(()))
    for mixed in (lambda: t + torch.ones(3), lambda: t + other, lambda: t.__setitem__(0, other)):
        with pytest.raises(cw.UsageError, match=re.escape("convert one first, cw.asarray")):
            mixed()
    assert (t + cw.asarray(torch.ones(3), backend="numpy")).dtype.name == "float32"


def test_the_sign_of_an_infinite_complex_number_is_numpys() -> None:
    values = np.array([complex(np.inf, 0), complex(0, -np.inf), 3 + 4j, 0j])
    found = cw.apply("sign", cw.asarray(values, dialect="numpy"))
    assert found.tolist() == np.sign(values).tolist()


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_logsumexp_and_poisson_nll_loss_of_complex_numbers_are_torchs(backend: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([[1 + 2j, 3 - 1j], [0.5j, -2]], dtype=torch.complex128)
    t = cw.asarray(x.numpy(), dialect="torch", backend=backend)
    sums = cw.apply("logsumexp", t, axis=-1)
    assert (sums.dtype.name, sums.shape) == ("complex128", (2,))
    assert sums.tolist() == pytest.approx(torch.logsumexp(x, dim=-1).tolist())
    loss = torch.nn.functional.poisson_nll_loss(x, x)
    assert cw.apply("poisson_nll_loss", t, t).item() == pytest.approx(loss.item())


# Making, indexing, conversions.


@pytest.mark.parametrize(
    ("dialect", "dtypes"),
    [("numpy", "bool int64 float64 complex128"), ("torch", "bool int64 float32 complex64"),
     ("jax", "bool int32 float32 complex64"), ("megengine:mep3", "bool int32 float32")],
)  # fmt: skip
def test_numbers_get_the_dialects_dtypes(dialect: str, dtypes: str) -> None:
    data: list[Any] = [[True, False], [1, 2], [1, 2.5], [1, 1j]]
    found = [cw.asarray(d, dialect=dialect).dtype.name for d in data[: len(dtypes.split())]]
    assert found == dtypes.split()


def test_a_dialect_that_cuts_dtypes_cuts_those_of_arrays() -> None:
    assert cw.asarray(np.ones(3, "int64"), dialect="jax").dtype.name == "int32"
    assert cw.asarray([1], dtype="float64", dialect="jax").dtype.name == "float32"
    assert cw.asarray([1], dtype="float64", dialect="jax:x64").dtype.name == "float64"


def test_an_array_is_shared_and_a_list_is_not() -> None:
    array = np.asarray([1, 2, 3])
    assert np.shares_memory(cw.asarray(array).array, array)
    assert not np.shares_memory(cw.asarray(array, copy=True).array, array)


def test_a_tensor_is_made_with_asarray() -> None:
    with pytest.raises(cw.UsageError, match=re.escape("make a tensor with cw.asarray")):
        cw.Tensor([1, 2])


def test_its_properties() -> None:
    t = tensor([[1, 2, 3], [4, 5, 6]], "int16")
    assert (t.shape, t.ndim, t.size, t.nbytes, len(t)) == ((2, 3), 2, 6, 12, 2)
    assert (t.dtype, t.dialect, t.backend) == (cw.dtype("int16"), cw.dialect("torch"), "numpy")
    with pytest.raises(AttributeError):
        t.dtype = cw.dtype("int8")  # type: ignore[misc]


def test_indexing() -> None:
    t = tensor([[1, 2, 3], [4, 5, 6]], "int16")
    assert t[0].tolist() == [1, 2, 3]
    assert t[..., 1].tolist() == [2, 5]
    assert t[t > 2].tolist() == [3, 4, 5, 6]
    assert t[cw.asarray([1, 0])].tolist() == [[4, 5, 6], [1, 2, 3]]
    assert t[tensor(1, "int64"), 2].item() == 6
    assert t[:, None, 1:].shape == (2, 1, 2)
    assert [row.tolist() for row in t] == t.tolist()
    assert (t[1, 1] + 1.5).dtype.name == "float32"  # 0-d, and known to be so
    with pytest.raises(IndexError):
        t[7]


def test_a_0d_result_of_indexing_takes_the_role_of_a_0d_tensor() -> None:
    t = tensor([1, 2, 3], "int64")
    assert (tensor([1, 2], "int8") + t[0]).dtype.name == "int8"
    assert (tensor([1, 2], "int8") + t[:1]).dtype.name == "int64"


def test_setting_elements() -> None:
    t = tensor([1, 2, 3], "int16")
    t[0] = 7
    t[1:] = tensor([8.9, 9.9], "float32")
    assert (t.tolist(), t.dtype.name) == ([7, 8, 9], "int16")
    t[t > 8] = np.asarray(0)
    assert t.tolist() == [7, 8, 0]


def with_element(t: cw.Tensor, key: Any, value: Any) -> cw.Tensor:
    """The tensor after x[key] = value, or a new one in a dialect where arrays never change."""
    if t.dialect.values.memory.assigned == "by at":
        return t.at[key].set(value)
    t[key] = value
    return t


@pytest.mark.parametrize("dialect", ["numpy", "torch", "jax"])
def test_a_complex_number_is_not_set_among_real_ones(dialect: str) -> None:
    t = tensor([1, 2, 3], "float32", dialect)
    with pytest.raises(cw.PromotionError, match=r"float32\[\.\.\.\] = 1j is not defined"):
        with_element(t, 0, 1j)
    assert t.tolist() == [1, 2, 3]


# What each framework gave for `x[0] = number`, x of int8; None if it raised.
SET_IN_INT8 = {
    "numpy": {300: None, -129: None, 2**70: None, 127.9: 127, 128.5: None, math.nan: None},
    "numpy@1": {300: 44, -129: 127, 2**70: None, 127.9: 127, math.nan: None},
    "torch": {300: None, -129: None, 2**70: None, 126.9: 126, 127.9: None, math.nan: None},
    "jax": {300: 44, -129: 127, 2**31: None, 1e10: 127, -1e10: -128, math.nan: 0},
}


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dialect", SET_IN_INT8)
def test_a_number_without_room_in_the_dtype_is_set_or_refused_as_in_the_framework(
    dialect: str, backend: str
) -> None:
    if backend != "numpy":
        pytest.importorskip(backend)
    for number, expected in SET_IN_INT8[dialect].items():
        t = cw.asarray([1, 2, 3], dtype="int8", dialect=dialect, backend=backend)
        if expected is None:
            with pytest.raises(cw.ScalarRangeError, match="Use a value from -128 to 127"):
                with_element(t, 0, number)
        else:
            found = with_element(t, 0, number)
            assert (number, found.tolist()) == (number, [expected, 2, 3])


def test_which_numbers_are_refused_depends_on_the_dtype() -> None:
    unsigned = tensor([1, 2], "uint8", "torch")
    unsigned[0] = -200  # torch lets them wrap, down to -255
    assert unsigned.tolist() == [56, 2]
    with pytest.raises(cw.ScalarRangeError):
        unsigned[0] = -256
    halves, floats = tensor([1.0], "float16", "torch"), tensor([1.0], "float32", "torch")
    halves[0] = 70000.0
    assert halves.tolist() == [math.inf]
    for number in (1e40, 2**63):
        with pytest.raises(cw.ScalarRangeError):
            floats[0] = number
    floats[0] = math.inf
    truths = tensor([False], "bool", "torch")
    truths[0] = 1j
    assert truths.tolist() == [True]


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_arrays_that_are_set_are_cast_as_the_dialect_casts(backend: str) -> None:
    if backend != "numpy":
        pytest.importorskip(backend)
    for value in (np.asarray(1e10), np.asarray([1e10]), np.float64(1e10)):
        t = cw.asarray([1, 2], dtype="int8", dialect="jax", backend=backend)
        assert t.at[:1].set(value).tolist() == [127, 2]


def test_a_dialect_may_refuse_to_set_what_it_would_cast() -> None:
    t = tensor([1, 2, 3], "int32", "array-api")
    with pytest.raises(cw.PromotionError, match="Write a number of"):
        t[0] = 2.5
    with pytest.raises(cw.PromotionError, match=re.escape("Cast the value: x.astype('int32')")):
        t[0] = tensor(2.5, "float64", "array-api")
    strict = tensor([1.0], "float64", "numpy:strict=True")
    with pytest.raises(cw.PromotionError, match="implicit cast"):
        strict[0] = tensor(1, "float32", "numpy:strict=True")


def test_casts_that_are_asked_for_are_made() -> None:
    t = tensor([1.7, -1.7, 300], "float32")
    assert (t.astype("int32").tolist(), t.dtype.name) == ([1, -1, 300], "float32")
    for spelled in ("f16", "torch.half", np.float16, np.dtype("float16")):
        assert t.cast(spelled).dtype.name == "float16"
    assert t.astype("float32") is not t
    assert t.astype("float32", copy=False) is t
    assert tensor([1 + 2j], "complex64").astype("float32").tolist() == [1]
    with pytest.raises(cw.UsageError, match=re.escape("unknown dtype 'flaot32'. Did you mean")):
        t.astype("flaot32")


def test_a_tensor_under_another_dialect_shares_its_array() -> None:
    t = tensor([1, 2], "int32")
    other = t.under("numpy")
    other += 1
    assert t.tolist() == [2, 3]
    assert (other + tensor([0.5], "float32", "numpy")).dtype.name == "float64"
    with cw.use("tensorflow"):
        assert (t.under(None).dialect.name, t.dialect.name) == ("tensorflow", "torch")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64",
                                   "complex64", "float8_e4m3fn", "int4"])  # fmt: skip
def test_the_one_element_is_a_python_number(dtype: str) -> None:
    t = tensor([1], dtype, None)
    kind = {"bool": bool, "int": int, "float": float, "complex": complex}[t.dtype.kind]
    assert type(t.item()) is type(t.tolist()[0]) is kind
    assert t.item() == t[0].item() == 1


def test_numbers_of_a_0d_tensor() -> None:
    t = tensor(3, "int32")
    assert (int(t), float(t), complex(t), bool(t), [10, 20, 30, 40][t]) == (3, 3.0, 3, True, 40)
    with pytest.raises(TypeError, match="index"):
        [1, 2][tensor(1.0, "float32")]
    with pytest.raises((TypeError, ValueError)):
        bool(tensor([1, 2], "int32"))
    with pytest.raises(TypeError, match="no length"):
        len(t)
    with pytest.raises(TypeError, match="unhashable"):
        hash(t)


def test_numpy_reads_a_tensor() -> None:
    t = tensor([1, 2, 3], "int16")
    assert np.shares_memory(np.asarray(t), t.array)
    assert np.shares_memory(t.numpy(), t.array)
    assert np.asarray(t, dtype="float32").dtype == np.float32
    assert not np.shares_memory(np.array(t, copy=True), t.array)
    assert np.stack([t, t]).shape == (2, 3)
    with pytest.raises(ValueError, match=r"can only become .* by a copy"):
        t.__array__("float32", copy=False)


def test_dlpack_hands_the_array_over() -> None:
    t = tensor([1, 2, 3], "float32")
    assert np.shares_memory(np.from_dlpack(t), t.array)
    assert t.__dlpack_device__() == (1, 0)


def test_dlpack_to_torch() -> None:
    torch = pytest.importorskip("torch")
    t = tensor([1, 2, 3], "float32")
    there = torch.from_dlpack(t)
    there += 1
    assert t.tolist() == [2, 3, 4]


# Text, pickles, copies.


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [(5, "int32", "Tensor(5, dtype=int32, dialect=torch, backend=numpy)"),
     ([1.5, 2], "float32", "Tensor([1.5, 2. ], dtype=float32, dialect=torch, backend=numpy)"),
     ([1.5, 2], "bfloat16", "Tensor([1.5, 2], dtype=bfloat16, dialect=torch, backend=numpy)"),
     (1.5, "bfloat16", "Tensor(1.5, dtype=bfloat16, dialect=torch, backend=numpy)"),
     ([], "int8", "Tensor([], dtype=int8, dialect=torch, backend=numpy)"),
     ([[], []], "int8", "Tensor([], shape=(2, 0), dtype=int8, dialect=torch, backend=numpy)"),
     ([[True], [False]], "bool",
      "Tensor([[ True],\n        [False]], dtype=bool, dialect=torch, backend=numpy)")],
)  # fmt: skip
def test_the_text_of_a_tensor(data: Any, dtype: str, text: str) -> None:
    assert repr(tensor(data, dtype)) == text


def test_the_text_of_a_large_tensor_is_short_and_tells_the_shape() -> None:
    text = repr(tensor(np.zeros((300, 400)), "float32"))
    assert len(text) < 500
    assert text.endswith("shape=(300, 400), dtype=float32, dialect=torch, backend=numpy)")


def test_the_text_tells_the_dtype_once_however_long_the_lines() -> None:
    for length in range(1, 60):
        text = repr(tensor(np.arange(length) / 3, "float32"))
        assert text.count("dtype") == 1, text


def test_the_text_of_a_weak_tensor_and_of_a_variable() -> None:
    weak = live_operand("int32*[]", cw.dialect("jax"))
    assert repr(weak) == "Tensor(1, dtype=int32, weak, dialect=jax, backend=numpy)"
    variable = cw.Variable([1, 2], dtype="int8")
    assert repr(variable) == "Variable([1, 2], dtype=int8, dialect=numpy, backend=numpy)"


def test_the_text_names_the_dialect_in_force() -> None:
    t = cw.asarray([1])
    with cw.use("torch"):
        assert "dialect=torch" in repr(t)
    assert "dialect=numpy" in repr(t)


TENSORS = {
    "own dialect": tensor([1, 2, 3], "int16"),
    "none of its own": tensor([1, 2, 3], "bfloat16", None),
    "varied dialect": tensor([1], "float32", "numpy:strict=True"),
    "0-d": tensor(5, "float64"),
    "weak": live_operand("float32*[3]", cw.dialect("jax")),
    "variable": cw.Variable([1.0, 2.0], dtype="float32", dialect="tensorflow:all"),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy"])
def test_copies_are_like_the_original(name: str, way: str) -> None:
    t = TENSORS[name]
    made = {"pickle": lambda: pickle.loads(pickle.dumps(t)), "copy": lambda: copy.copy(t),
            "deepcopy": lambda: copy.deepcopy(t)}[way]()  # fmt: skip
    assert type(made) is type(t)
    assert repr(made) == repr(t)
    assert made._kind is t._kind
    assert np.shares_memory(made.array, t.array) is (way == "copy")
    assert ((made + made).tolist(), (made + made).dtype) == ((t + t).tolist(), (t + t).dtype)


# What is remembered of operators on numbers.


@pytest.mark.parametrize(
    ("op", "number", "expected"),
    [("div", 0.0, "inf"), ("div", -0.0, "-inf"), ("add", float("nan"), "nan"),
     ("mul", True, "1.0"), ("mul", 1, "1.0"), ("mul", 0, "0.0"), ("mul", -0.0, "-0.0")],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_equal_numbers_are_told_apart(op: str, number: float, expected: str) -> None:
    t = tensor([1.0, 1.0], "float32", "numpy")
    for _ in range(3):
        for other in (0.0, -0.0, 1, True, 1.0):
            OPERATORS[op](t, other)
            OPERATORS["mul"](other, t)
        assert str(OPERATORS[op](t, number).tolist()[0]) == expected


def test_the_type_of_a_number_tells_its_role_however_often() -> None:
    t = tensor([1, 2], "int32")
    for _ in range(3):
        assert [(t + n).dtype.name for n in (1, 1.0, True, 0, 0.0, False)] == [
            "int32", "float32", "int32", "int32", "float32", "int32"
        ]  # fmt: skip
        assert [(n / t).tolist() for n in (1, 2.0)] == [[1, 0.5], [2, 1]]
        with cw.use("numpy"):
            assert (t.under(None) + 1.0).dtype.name == "float64"


def test_the_values_of_an_array_are_not_remembered() -> None:
    for value in range(5):
        t = tensor([value, value], "int32")
        assert (t + 1).tolist() == [value + 1] * 2
        assert (1 - t).tolist() == [1 - value] * 2
        assert (t + t).tolist() == [value * 2] * 2
        assert cw.apply("add", t, t).tolist() == [value * 2] * 2


def test_a_number_out_of_range_is_refused_however_often() -> None:
    t = tensor([1, 2], "int8", "numpy")
    for _ in range(3):
        assert (t + 100).dtype.name == "int8"
        with pytest.raises(cw.ScalarRangeError):
            t + 200
