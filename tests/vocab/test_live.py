"""Live dtypes and arrays of the frameworks installed here; spellings of those that are not."""

from __future__ import annotations

import enum
import sys
from typing import Any

import array_api_strict as xp
import ml_dtypes
import numpy as np
import pytest
from expecting import expect

from castwise.errors import UsageError
from castwise.vocab.dtypes import DTYPES, dtype
from castwise.vocab.live import is_plain_array, spelled_dtype, to_dtype
from castwise.vocab.notation import describe, parse_operand
from castwise.vocab.operands import Role
from processes import finished

SPELLINGS = {
    "torch.long": "int64", "torch.int": "int32", "torch.short": "int16", "torch.half": "float16",
    "torch.float": "float32", "torch.double": "float64", "torch.bool": "bool",
    "torch.chalf": "complex32", "torch.cfloat": "complex64", "torch.cdouble": "complex128",
    "torch.float8_e4m3fn": "float8_e4m3fn", "torch.uint16": "uint16",
    "np.intc": "int32", "np.int_": "int64", "np.bool_": "bool", "np.half": "float16",
    "np.single": "float32", "np.double": "float64", "np.csingle": "complex64",
    "np.ubyte": "uint8", "np.uintp": "uint64", "numpy.longlong": "int64", "np.float_": "float64",
    "ml_dtypes.bfloat16": "bfloat16", "ml_dtypes.int4": "int4",
    "jnp.bfloat16": "bfloat16", "jnp.float8_e5m2": "float8_e5m2", "jax.numpy.int8": "int8",
    "tf.half": "float16", "tf.double": "float64", "tf.bfloat16": "bfloat16", "tf.bool": "bool",
    "tf.dtypes.int32": "int32", "tensorflow.complex64": "complex64",
    "paddle.float16": "float16", "paddle.bool": "bool", "paddle.complex128": "complex128",
    "oneflow.long": "int64", "flow.float": "float32", "oneflow.int128": "int128",
    "mx.bool_": "bool", "mx.bfloat16": "bfloat16", "mlx.core.float16": "float16",
    "dtypes.half": "float16", "dtypes.uchar": "uint8", "dtypes.ulong": "uint64",
    "dtypes.fp8e4m3": "float8_e4m3fn", "tinygrad.dtypes.half": "float16",
    "mindspore.float16": "float16", "ms.bool_": "bool", "ms.int32": "int32",
    "cupy.float32": "float32", "cp.half": "float16", "keras.float32": "float32",
    "xp.float32": "float32", "array_api_strict.complex64": "complex64",
    "bf16": "bfloat16", "u16": "uint16", "float64": "float64",
    # torch's ScalarType.
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Half": "float16", "Float": "float32", "Double": "float64", "ComplexHalf": "complex32",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128", "Bool": "bool",
    "BFloat16": "bfloat16", "UInt16": "uint16", "Float8_e4m3fn": "float8_e4m3fn",
}  # fmt: skip


@pytest.mark.parametrize(("text", "name"), SPELLINGS.items())
def test_a_frameworks_spelling_names_the_dtype(text: str, name: str) -> None:
    assert spelled_dtype(text) is dtype(name)
    assert to_dtype(text) is dtype(name)


def numpy_spellings() -> dict[str, type]:
    """Every name that NumPy has for a number type on this machine."""
    found = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    concrete = {n: t for n, t in found.items() if isinstance(t, type) and issubclass(t, np.generic)}
    kinds = {n: t for n, t in concrete.items() if issubclass(t, (np.number, np.bool_))}
    wide = (np.longdouble, np.clongdouble)  # no dtype of castwise
    abstract = (np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact)
    abstract += (np.floating, np.complexfloating)
    return {n: t for n, t in kinds.items() if t not in (*wide, *abstract, np.timedelta64)}


@pytest.mark.parametrize(("name", "kind"), numpy_spellings().items())
def test_every_name_of_numpys_number_types(name: str, kind: type) -> None:
    expected = dtype(np.dtype(kind).name)
    assert to_dtype(f"np.{name}") is expected
    assert to_dtype(kind) is expected
    assert to_dtype(np.dtype(kind)) is expected
    assert to_dtype(np.dtype(kind).newbyteorder()) is expected


ML_NAMES = [d.name for d in DTYPES if hasattr(ml_dtypes, d.name)]


@pytest.mark.parametrize("name", ML_NAMES)
def test_every_type_of_ml_dtypes(name: str) -> None:
    kind = getattr(ml_dtypes, name)
    assert to_dtype(kind) is dtype(name)
    assert to_dtype(np.dtype(kind)) is dtype(name)
    assert to_dtype(f"ml_dtypes.{name}") is dtype(name)


XP_NAMES = [d.name for d in DTYPES if hasattr(xp, d.name)]


@pytest.mark.parametrize("name", XP_NAMES)
def test_every_dtype_of_array_api_strict(name: str) -> None:
    assert to_dtype(getattr(xp, name)) is dtype(name)


def test_the_vocabulary_of_the_standard_is_not_empty() -> None:
    assert len(XP_NAMES) >= 13


def test_a_dtype_is_itself() -> None:
    assert to_dtype(dtype("int8")) is dtype("int8")


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        ("flaot32", "Did you mean 'float32'"),
        ("trch.int8", "unknown prefix 'trch'.*Did you mean 'torch'"),
        ("torch.nope", "unknown dtype 'nope'"),
        ("", "unknown dtype"),
        ("i4", "two readings: int4, in bits, or int32, in bytes as NumPy counts. Write its"),
        ("np.i4", "two readings"),
        ("Undefined", "word for no dtype"),
        ("nope", "unknown dtype"),
        ("float", "several readings: float32 in torch and tinygrad, float64 in NumPy. Write one"),
        ("int", "several readings: int32 in torch and tinygrad, int64 in NumPy"),
        ("byte", "several readings: uint8 in torch, int8 in NumPy"),
        ("complex", "several readings: complex64 in torch, complex128 in NumPy"),
        (int, "name a dtype"),
        (float, "name a dtype"),
        (complex, "name a dtype"),
        (str, "out of scope"),
        (None, "cannot tell the dtype"),
        (5, "cannot tell the dtype"),
        ([1, 2], "cannot tell the dtype"),
        (np.array([1, 2]), "cannot tell the dtype"),
        (np.longdouble, "out of scope"),
        (np.dtype("U1"), "out of scope"),
        (np.dtype("U8"), "out of scope"),
        (np.dtype("S1"), "out of scope"),
        (np.dtype("M8[s]"), "out of scope"),
        (np.dtype(object), "out of scope"),
        (np.dtype([("a", "i4")]), "out of scope"),
        (np.number, "cannot tell the dtype"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_what_is_no_dtype_is_refused(thing: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        to_dtype(thing)


def test_pythons_own_bool_is_the_dtype_bool() -> None:
    assert to_dtype(bool) is dtype("bool")


class Colour(enum.IntEnum):
    RED = 3


class Metres(float):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, bool), (0, int), (-1, int), (2**63, int), (10**400, int), (-(10**5000), int),
        (0.5, float), (float("inf"), float), (1j, complex), (Colour.RED, int), (Metres(2), float),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_a_python_number_is_a_python_scalar(value: Any, kind: type) -> None:
    operand = describe(value)
    assert (operand.role, operand.dtype) == (Role.SCALAR, None)
    assert type(operand.value) is kind
    assert operand.value == value
    assert operand.kind == kind.__name__


def test_nan_is_described() -> None:
    assert str(describe(float("nan"))) == "nan"


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros(3, "int8"), "np.int8[3]"),
        (np.zeros((2, 0), "float16"), "np.float16[2,0]"),
        (np.zeros(3, ">i4"), "np.int32[3]"),
        (np.array(300), "np.int64=300[]"),
        (np.array(True), "np.bool=True[]"),
        (np.array(1.5, "float32"), "np.float32=1.5[]"),
        (np.array(1 + 2j), "np.complex128=1+2j[]"),
        (np.array(2.5, ml_dtypes.bfloat16), "np.bfloat16=2.5[]"),
        (np.array(3, ml_dtypes.int4), "np.int4=3[]"),
        (np.array(1.5, ml_dtypes.float8_e5m2), "np.float8_e5m2=1.5[]"),
        (np.zeros(3, ml_dtypes.float4_e2m1fn), "np.float4_e2m1fn[3]"),
        (np.int8(7), "np.int8(7)"),
        (np.bool_(True), "np.bool(True)"),
        (np.float64(1.5), "np.float64(1.5)"),  # a Python float too, by inheritance
        (np.complex128(1j), "np.complex128(1j)"),  # a Python complex too
        (np.uint64(2**64 - 1), "np.uint64(18446744073709551615)"),
        (ml_dtypes.bfloat16(2), "np.bfloat16(2.0)"),
        (ml_dtypes.float8_e4m3fn(448), "np.float8_e4m3fn(448.0)"),
        (ml_dtypes.int4(-8), "np.int4(-8)"),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_numpy_and_ml_dtypes(array: Any, text: str) -> None:
    expect(describe(array), text)


@pytest.mark.parametrize("name", [d.name for d in DTYPES if d.name != "int128"])
def test_every_dtype_numpy_can_hold_is_described_in_each_role(name: str) -> None:
    kind = getattr(ml_dtypes, name, None) or np.dtype(name).type
    one = -1 if name == "int1" else 1
    expect(describe(np.full(3, one).astype(kind)), f"np.{name}[3]")
    expect(describe(np.array(one).astype(kind)), f"np.{name}={one}[]")
    expect(describe(np.array(one).astype(kind)[()]), f"np.{name}({one})")


@pytest.mark.parametrize(
    "array",
    [
        np.array(["ab"]), np.array("x"), np.array(["12345678"]), np.array([b"x"]),
        np.array([None]), np.array([object()]), np.array(0, "M8[s]"), np.zeros(2, "m8[s]"),
        np.zeros(2, [("a", "i4")]), np.zeros(2, np.longdouble), np.longdouble(1),
        np.datetime64(0, "s"), np.bytes_(b"x"), np.void(b"x"),
    ],
    ids=lambda a: f"{type(a).__name__}-{a.dtype}",
)  # fmt: skip
def test_numpy_objects_of_no_number_dtype_are_refused(array: Any) -> None:
    with pytest.raises(UsageError, match="out of scope"):
        describe(array)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (xp.zeros(3, dtype=xp.int8), "int8[3]"),
        (xp.asarray(5.0), "float64[]"),
        (xp.zeros((2, 2), dtype=xp.complex64), "complex64[2,2]"),
        (xp.asarray(True), "bool[]"),
    ],
    ids=str,
)
def test_array_api_strict_arrays(array: Any, text: str) -> None:
    expect(describe(array), text)


def test_notation_dtypes_and_operands_are_taken_as_they_are() -> None:
    assert describe("int32[3]") == parse_operand("int32[3]")
    assert describe(dtype("int8")) == parse_operand("int8")
    operand = parse_operand("np.int8(3)")
    assert describe(operand) is operand


@pytest.mark.parametrize(
    "thing",
    [{1}, {"a": 1}, None, b"int8", object(), range(3), int, print, ...],
    ids=lambda thing: type(thing).__name__,
)
def test_other_things_are_refused_with_what_can_be_passed(thing: object) -> None:
    kind = type(thing).__name__
    with pytest.raises(UsageError, match=f"cannot describe an? {kind}.*'int32"):
        describe(thing)


@pytest.mark.parametrize("text", ["hello world", "the answer", "[1, 2", "1,2"])
def test_a_string_that_is_no_notation_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        describe(text)


def test_a_class_that_only_shares_a_name_with_an_array_is_refused() -> None:
    for name in ("Tensor", "ndarray", "Array"):
        imposter = type(name, (), {"__module__": "somewhere", "dtype": "int8", "shape": ()})
        with pytest.raises(UsageError, match="cannot describe"):
            describe(imposter())


FOREIGN = [
    # module and name of the type, weak, text
    ("tensorflow.python.framework.ops", "EagerTensor", "float32[2]"),
    ("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable", "float32[2]"),
    ("tensorflow.python.framework.weak_tensor", "WeakTensor", "float32*[2]"),
    ("paddle", "Tensor", "float32[2]"),
    ("cupy", "ndarray", "float32[2]"),
    ("mlx.core", "array", "float32[2]"),
    ("tinygrad.tensor", "Tensor", "float32[2]"),
    ("oneflow", "Tensor", "float32[2]"),
    ("mindspore.common.tensor", "Tensor", "float32[2]"),
    ("megengine.tensor", "Tensor", "float32[2]"),
]


@pytest.mark.parametrize(("module", "name", "text"), FOREIGN)
def test_arrays_of_frameworks_not_installed_are_known_by_their_type(
    module: str, name: str, text: str
) -> None:
    """Stand-ins with the module, name and attributes of the real types, and a subclass of each."""
    real = type(name, (), {"__module__": module, "dtype": np.dtype("float32"), "shape": (2,)})
    expect(describe(real()), text)
    expect(describe(type("Mine", (real,), {"__module__": "mine"})()), text)


@pytest.mark.parametrize(
    ("size", "shown"), [(None, "d0"), (-1, "d0"), (float("nan"), "d0"), (4, 4)]
)
def test_an_unknown_size_becomes_a_name(size: object, shown: object) -> None:
    kind = type("Tensor", (), {"__module__": "paddle", "dtype": "float32", "shape": (size, 3)})
    assert describe(kind()).shape == (shown, 3)


@pytest.mark.parametrize(
    ("thing", "plain"),
    [(np.zeros(3), True), (np.int8(3), False), (5, False), ("int8", False)],
    ids=lambda v: type(v).__name__,
)
def test_plain_arrays_are_told_from_the_rest(thing: object, plain: bool) -> None:
    assert is_plain_array(thing) is plain


def test_recognising_notation_and_spellings_imports_no_framework() -> None:
    code = (
        "import sys; from castwise.vocab.notation import describe;"
        "from castwise.vocab.live import to_dtype;"
        "describe('torch.int8[3]'); to_dtype('np.intc'); describe(5);"
        "print([m for m in ('numpy', 'torch', 'jax', 'ml_dtypes', 'dask') if m in sys.modules])"
    )
    done = finished([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "[]"
