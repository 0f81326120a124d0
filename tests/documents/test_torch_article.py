"""The article "Demystifying Dtype Promotion in PyTorch", statement by statement.

Not checked, for they say nothing about what PyTorch does: the title, the date, the category and
the summary, the note that a translation is missing, the advice to read another article, the
announcements of what comes next, and the references.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from ways import Way

import castwise as cw
from asking import result
from castwise.frameworks.torch import FLOAT8


@pytest.fixture(params=["torch@2.1", "torch"])
def dialect(request: pytest.FixtureRequest) -> Any:
    """PyTorch as it was when the article was written, and as it is."""
    return request.param


def ones(way: Way, dtype: str, dialect: str) -> cw.Tensor:
    """torch.ones(1, dtype=...)."""
    return way.tensor(np.ones(1), f"torch.{dtype}", dialect=dialect)


def add(way: Way, *operands: Any, dialect: str) -> Any:
    return way.run(operator.add, *operands, dialect=dialect)


# 0. Introduction

MADE = {
    "float_tensor": ("float", (1,), "float32"),
    "double_tensor": ("double", (1,), "float64"),  # made twice in the article
    "complex_float_tensor": ("complex64", (1,), "complex64"),
    "complex_double_tensor": ("complex128", (1,), "complex128"),
    "int_tensor": ("int", (1,), "int32"),
    "long_tensor": ("long", (1,), "int64"),
    "uint_tensor": ("uint8", (1,), "uint8"),
    "bool_tensor": ("bool", (1,), "bool"),
    "long_zerodim": ("long", (), "int64"),
    "int_zerodim": ("int", (), "int32"),  # no question is about it
}


def made(way: Way, name: str, dialect: str) -> cw.Tensor:
    spelling, shape, _ = MADE[name]
    return way.tensor(np.ones(shape), f"torch.{spelling}", dialect=dialect)


def test_the_tensors_of_the_introduction(way: Way, dialect: str) -> None:
    """ "float_tensor = torch.ones(1, dtype=torch.float)" and the nine others."""
    for name, (_, shape, dtype) in MADE.items():
        tensor = made(way, name, dialect)
        assert (tensor.shape, tensor.dtype.name) == (shape, dtype)


# The questions that follow there are asked again, with their answers, in section 3.

# 1. Basic Rules of Dtype Promotion


def test_inputs_of_different_dtypes_are_promoted(way: Way, dialect: str) -> None:
    """ "when the dtypes of inputs ... (such as `add`, `sub`, etc.) are different" """
    narrow, wide = ones(way, "int", dialect), ones(way, "long", dialect)
    for op in (operator.add, operator.sub, operator.mul):
        assert way.run(op, narrow, wide, dialect=dialect).dtype.name == "int64"
        assert way.run(op, narrow, narrow, dialect=dialect).dtype.name == "int32"
    assert cw.resolve("add", "int32[1]", "int64[1]", dialect=dialect).casts[0]
    assert cw.resolve("add", "int32[1]", "int32[1]", dialect=dialect).casts == (None, None)


@pytest.mark.parametrize(
    ("tensor", "scalar", "expected"),
    [
        ("bool", 5, "int64"),
        ("bool", 5.5, "float32"),
        ("uint8", 5.5, "float32"),
        ("long", 5.5, "float32"),
        ("int", 2j, "complex64"),
        ("double", 2j, "complex128"),
    ],
)
def test_a_scalar_of_a_higher_category_promotes(
    way: Way, tensor: str, scalar: complex, expected: str, dialect: str
) -> None:
    """ "If the dtype of a scalar is of a higher category than that of a tensor" """
    found = add(way, ones(way, tensor, dialect), scalar, dialect=dialect)
    assert found.dtype.name == expected
    assert found.tolist() == [1 + scalar]


def test_the_categories_are_ordered(dialect: str) -> None:
    """ "`complex` > `floating` > `integral` > `boolean`" """
    scalars = {"bool": "True", "int": "5", "float": "5.5", "complex": "2j"}
    tensors = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"}
    ranks = list(scalars)
    for tensor, scalar in itertools.product(ranks, ranks):
        kind = cw.dtype(result(f"{tensors[tensor]}[1] + {scalars[scalar]}", dialect)).kind
        assert kind == max(tensor, scalar, key=ranks.index)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[1] + True", "int32"),
        ("uint8[1] + 5", "uint8"),
        ("float16[1] + 5", "float16"),
        ("bfloat16[1] + 5.5", "bfloat16"),
        ("float64[1] + 5.5", "float64"),
        ("complex64[1] + 5.5", "complex64"),
        ("complex128[1] + 2j", "complex128"),
    ],
)
def test_any_other_scalar_leaves_the_tensors_dtype(
    question: str, expected: str, dialect: str
) -> None:
    """The same sentence, where the scalar is not "of a higher category"."""
    assert result(question, dialect) == expected


def test_the_promoted_dtype_does_not_depend_on_the_scalars_value(way: Way, dialect: str) -> None:
    """ "large enough to contain all scalar values": not so, by section 2.2 and in PyTorch.

    A float is the default dtype whatever its value, which may become inf.
    """
    found = add(way, ones(way, "int", dialect), 1e300, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("float32", [float("inf")])


@pytest.mark.parametrize(
    ("dimensioned", "zero_d", "expected"),
    [
        ("bool", "uint8", "uint8"),
        ("int", "double", "float64"),
        ("long", "half", "float16"),
        ("int", "complex128", "complex128"),
    ],
)
def test_a_0d_tensor_of_a_higher_category_promotes(
    way: Way, dimensioned: str, zero_d: str, expected: str, dialect: str
) -> None:
    """ "If a zero-dimensional (0-dim) tensor operand has a higher category" """
    other = way.tensor(np.ones(()), f"torch.{zero_d}", dialect=dialect)
    found = add(way, ones(way, dimensioned, dialect), other, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == (expected, [2])


def test_the_promoted_dtype_may_not_hold_a_complex_0d_tensor(way: Way, dialect: str) -> None:
    """ "promoted to a dtype that can hold the 0-dim tensor": not so beside a float.

    By combine_categories in section 2.2, and in PyTorch, the float keeps its width.
    """
    other = way.tensor(np.array(1e300j), "torch.complex128", dialect=dialect)
    found = add(way, ones(way, "float", dialect), other, dialect=dialect)
    assert found.dtype.name == "complex64"
    assert found.tolist()[0].imag == float("inf")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[1] + int64[]", "int8"),
        ("float32[1] + float64[]", "float32"),
        ("complex64[1] + complex128[]", "complex64"),
        ("result_type(int8[1], int16[1], int64[])", "int16"),
        ("result_type(uint8[1], int8[1], float32[1], float64[])", "float32"),
    ],
)
def test_else_the_dimensioned_operands_decide(question: str, expected: str, dialect: str) -> None:
    """ "In cases where there are no higher-category 0-dim tensor operands" """
    assert result(question, dialect) == expected


def test_the_promoted_dtype_may_not_hold_an_integer(way: Way, dialect: str) -> None:
    """ "one that can accommodate all dimensioned operands": by kind, not by range.

    The table of section 2.2 has float16 for int64 with float16.
    """
    large = way.tensor(np.array([70000]), "torch.long", dialect=dialect)
    found = add(way, large, ones(way, "half", dialect), dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("float16", [float("inf")])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "short", "int", "long"])
def test_an_integer_divided_by_an_integer_is_a_float(way: Way, dtype: str, dialect: str) -> None:
    """ "dividing an integer tensor by an integer scalar results in a `float` dtype" """
    tensor = ones(way, dtype, dialect)
    for divisor in (2, way.tensor([2], "torch.int", dialect=dialect)):
        found = way.run(operator.truediv, tensor, divisor, dialect=dialect)
        assert (found.dtype.name, found.tolist()) == ("float32", [0.5])


# 2.1 Wrapped Tensor


def test_a_scalar_is_wrapped_into_a_tensor_of_int64(dialect: str) -> None:
    """ "the scalar `5` is wrapped into a tensor with a dtype of `int64`" """
    steps = cw.resolve("add", "int32[1]", 5, dialect=dialect).steps
    assert any("Arrays are int32, Python scalars are int64" in step for step in steps)
    assert result("result_type(5)", dialect) == "int64"


def test_one_add_serves_tensors_and_scalars(way: Way, dialect: str) -> None:
    """ "there is no need to maintain separate `add.Tensor` and `add.Scalar` operators" """

    def in_three_forms(tensor: Any, other: Any) -> Any:
        changed = tensor * 1
        changed.add_(other)
        return tensor + other, cw.apply("torch.add", tensor, other), changed

    for other in (5, way.tensor(np.array(5), "torch.long", dialect=dialect)):
        found = way.run(in_three_forms, ones(way, "int", dialect), other, dialect=dialect)
        assert [(f.dtype.name, f.tolist()) for f in found] == [("int32", [6])] * 3


def test_add_scalar_is_registered_by_now_and_still_not_used() -> None:
    """ "the `add.Scalar` interface is not registered to the **dispatcher**": in 2.13 it is."""
    torch = pytest.importorskip("torch")
    from torch.fx.experimental.proxy_tensor import make_fx

    assert "Scalar" in torch.ops.aten.add.overloads()
    called = [node.target for node in make_fx(lambda a: a + 5)(torch.ones(1)).graph.nodes]
    assert torch.ops.aten.add.Tensor in called
    assert torch.ops.aten.add.Scalar not in called


def test_the_deprecated_signature_has_alpha_second(way: Way, dialect: str) -> None:
    """ "add(Scalar alpha, Tensor other)|deprecated" """
    one, other = ones(way, "int", dialect), way.tensor([5], "torch.long", dialect=dialect)
    found = way.run(lambda a, b: cw.apply("torch.add", a, 2, b), one, other, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("int64", [11])


def test_alpha_is_a_keyword_and_1_if_it_is_not_given(way: Way, dialect: str) -> None:
    """ "add(Tensor other, *, Scalar alpha=1)" """
    one, other = ones(way, "int", dialect), way.tensor([5], "torch.long", dialect=dialect)

    def added(a: Any, b: Any) -> Any:
        return cw.apply("torch.add", a, b), cw.apply("torch.add", a, b, alpha=2)

    found = way.run(added, one, other, dialect=dialect)
    assert [(f.dtype.name, f.tolist()) for f in found] == [("int64", [6]), ("int64", [11])]
    for alpha in (1, 2):
        decision = cw.resolve("add", "int32[1]", "int64[1]", alpha=alpha, dialect=dialect)
        assert decision.result.name == "int64"


def test_alpha_is_a_scalar_that_an_integer_result_can_hold(dialect: str) -> None:
    """ "Scalar alpha": it takes no part in promotion, so an integer result wants an integer."""
    assert cw.resolve("add", "int32[1]", 5.5, alpha=0.5, dialect=dialect).result.name == "float32"
    with pytest.raises(cw.PromotionError, match="alpha"):
        cw.resolve("add", "int32[1]", 5, alpha=0.5, dialect=dialect)


def test_a_wrapped_scalar_is_like_a_0d_tensor(way: Way, dialect: str) -> None:
    """ "The crucial step is `_r.tensor(0)`, where the scalar is converted into a 0-dim tensor." """
    zero_d = way.tensor(np.array(5), "torch.long", dialect=dialect)
    for dtype in ("uint8", "int", "double", "complex64", "bool"):
        tensor = ones(way, dtype, dialect)
        wrapped = add(way, tensor, 5, dialect=dialect)
        given = add(way, tensor, zero_d, dialect=dialect)
        assert wrapped.shape == given.shape == (1,)
        assert wrapped.dtype is given.dtype
        assert wrapped.tolist() == given.tolist()


def test_an_argument_that_is_not_given_is_an_undefined_tensor(way: Way, dialect: str) -> None:
    """ "if (!obj) { return at::Tensor(); }" """
    tensor = way.tensor([1, 2, 3], "torch.int8", dialect=dialect)

    def clamped(t: Any) -> Any:
        return cw.apply("torch.clamp", t, None, 2), cw.apply("torch.clamp", t, max=2)

    for found in way.run(clamped, tensor, dialect=dialect):
        assert (found.dtype.name, found.tolist()) == ("int8", [1, 2, 2])


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [("True", "bool"), ("5", "int64"), ("5.5", "float32"), ("2j", "complex64")],
)
def test_a_wrapped_scalar_has_the_dtype_of_its_type(
    scalar: str, expected: str, dialect: str
) -> None:
    """ "PyBool_Check(obj)" stands before "THPUtils_checkLong(obj)": True is no integer here.

    "THPUtils_unpackDouble" makes a double; which float it counts as is told in section 2.2.
    """
    assert result(f"result_type({scalar})", dialect) == expected


def test_a_wrapped_float_is_a_double(way: Way, dialect: str) -> None:
    """ "scalar = at::Scalar(THPUtils_unpackDouble(obj))": a double beside it gets all its bits."""
    found = add(way, way.tensor([0.0], "torch.double", dialect=dialect), 0.1, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("float64", [0.1])


def test_a_wrapped_number_ranks_below_a_0d_tensor(way: Way, dialect: str) -> None:
    """ "tensor.unsafeGetTensorImpl()->set_wrapped_number(true)" """
    zero_d = way.tensor(np.array(1), "torch.int8", dialect=dialect)
    assert add(way, zero_d, 5, dialect=dialect).dtype.name == "int8"
    other = way.tensor(np.array(5), "torch.long", dialect=dialect)
    assert add(way, zero_d, other, dialect=dialect).dtype.name == "int64"


def test_a_scalar_becomes_a_tensor_by_fill(way: Way, dialect: str) -> None:
    """ "the process of converting scalar to tensor is through `fill`" """

    def filled(t: Any) -> Any:
        changed = t * 1
        changed.fill_(5)
        return changed, cw.apply("torch.fill", t, 5)

    for found in way.run(filled, ones(way, "int", dialect), dialect=dialect):
        assert (found.dtype.name, found.tolist()) == ("int32", [5])


def test_the_filled_tensor_has_no_dimension_and_the_scalars_type(way: Way, dialect: str) -> None:
    """ "at::detail::empty_cpu({}, dtype_opt, ...)" with "s.type()" """
    for scalar, dtype in ((True, "bool"), (5, "int64"), (5.5, "float32"), (2j, "complex64")):
        tensor = way.tensor(scalar, dialect=dialect)
        assert (tensor.shape, tensor.dtype.name) == ((), dtype)


def test_a_function_in_place_wraps_its_scalar_alike(way: Way, dialect: str) -> None:
    """ "return self.add_(wrapped_scalar_tensor(other), alpha);" """

    def changed(t: Any) -> Any:
        t = t * 1
        t.add_(5, alpha=2)
        return t

    found = way.run(changed, ones(way, "int", dialect), dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("int32", [11])
    with pytest.raises(cw.PromotionError, match="cannot be written into int32"):
        way.run(lambda t: t.add_(5.5), ones(way, "int", dialect), dialect=dialect)


def test_a_scalar_on_either_side_is_a_constant_of_a_symmetric_kernel(
    way: Way, dialect: str
) -> None:
    """ "("f(a, b) == f(b,a)") ... treating them as ordinary constant values" """
    bits = way.tensor([12, 10, 7], "torch.int", dialect=dialect)
    six = way.tensor(np.array(6), "torch.int", dialect=dialect)
    for other in (6, six):
        for pair in ((bits, other), (other, bits)):
            found = way.run(operator.and_, *pair, dialect=dialect)
            assert (found.dtype.name, found.tolist()) == ("int32", [4, 2, 6])


def test_bitwise_and_computes_in_integers_and_bool(dialect: str) -> None:
    """ "AT_DISPATCH_INTEGRAL_TYPES_AND(kBool, iter.dtype(), "bitwise_and_cuda"" """
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "bool"):
        assert result(f"{dtype}[1] & True", dialect) == dtype
        assert cw.resolve("bitwise_and", dtype, dtype, dialect=dialect).notes == ()
    for dtype in ("float16", "float32", "complex64"):
        noted = cw.resolve("bitwise_and", dtype, dtype, dialect=dialect)
        assert f"has no CPU kernel for {dtype}" in noted.notes[0]


def test_the_constant_has_the_wider_dtype_that_is_computed_in(way: Way, dialect: str) -> None:
    """ "scalar_val = iter.scalar_value<opmath_arg_t>(1)": a half is multiplied in float32.

    So the constant is more exact than the same number as a tensor of halves.
    """
    halves = way.tensor([3.0, 7.0], "torch.half", dialect=dialect)
    constant = way.run(operator.mul, halves, 0.1, dialect=dialect)
    tenths = way.tensor([0.1, 0.1], "torch.half", dialect=dialect)
    cast = way.run(operator.mul, halves, tenths, dialect=dialect)
    assert constant.dtype.name == cast.dtype.name == "float16"
    assert constant.tolist() == [float(np.float16(v)) for v in (0.3, 0.7)]
    assert cast.tolist() == [float(np.float16(v)) for v in (0.2998, 0.6997)]


# 2.2 Computing the dtypes: compute_types


def test_the_dtype_is_computed_before_anything_runs(dialect: str) -> None:
    """ "compute the result dtype and device": from dtypes and dimensions, without values."""
    graph = cw.trace(operator.add, "int32[1]", "float16[1]", dialect=dialect)
    added = str(graph).splitlines()[2]
    assert added.split("#")[0].split() == ["%1", "=", "add(%0,", "b)", "float16[1]"]


def test_operands_on_two_devices_are_refused(way: Way, dialect: str) -> None:
    """ "compute the result dtype and device", "config.check_all_same_device_" """
    torch = pytest.importorskip("torch")
    other = Way("torch" if way.backend == "numpy" else "numpy", is_traced=way.is_traced)
    with pytest.raises(cw.UsageError, match="do not mix"):
        ones(way, "int", dialect) + ones(other, "int", dialect)
    elsewhere = cw.asarray(torch.ones(1, device="meta"), dialect=dialect)
    with pytest.raises(RuntimeError, match="not on the expected device meta"):
        elsewhere + cw.asarray(torch.ones(1), dialect=dialect)


def test_a_custom_op_wants_one_device_unless_it_is_told_otherwise(dialect: str) -> None:
    """ "config.check_all_same_device_" """
    torch = pytest.importorskip("torch")
    here, there = (cw.asarray(torch.ones(1, device=d), dialect=dialect) for d in ("cpu", "meta"))
    cw.declare_op("one_device", compute=lambda a, b: a)
    cw.declare_op("any_device", compute=lambda a, b: a, same_device=False)
    with pytest.raises(cw.UsageError, match="move them to one device"):
        cw.apply("one_device", here, there)
    assert cw.apply("any_device", here, there).tolist() == [1.0]


def test_a_static_dtype_is_the_result_whatever_the_inputs(way: Way, dialect: str) -> None:
    """ "op.target_dtype = config.static_dtype_.value();" """
    cw.declare_op("static_op", compute=lambda a, b: a < b, result="bool")
    found = way.run(
        lambda a, b: cw.apply("static_op", a, b),
        ones(way, "int8", dialect),
        way.tensor([1.5], "torch.half", dialect=dialect),
        dialect=dialect,
    )
    assert (found.dtype.name, found.tolist()) == ("bool", [True])
    decision = cw.resolve("static_op", "int8[1]", "float16[1]", dialect=dialect)
    assert (decision.result.name, decision.compute.name) == ("bool", "float16")


def test_inputs_of_one_dtype_have_it_as_their_common_dtype(dialect: str) -> None:
    """ "if (common_dtype_ == ScalarType::Undefined) { common_dtype_ = op.target_dtype;" """
    for dtype in SHORT.values():
        decision = cw.resolve("mul", f"{dtype}[1]", f"{dtype}[1]", dialect=dialect)
        assert decision.compute.name == dtype
        assert decision.casts == (None, None)


def test_without_any_switch_no_common_dtype_is_inferred(dialect: str) -> None:
    """ "Invalidates common_dtype_ if it could not be inferred" """
    switches = ("same_device", "promotes", "casts_to_output", "safe_output")
    cw.declare_op("as_it_is", **dict.fromkeys(switches, False))
    decision = cw.resolve("as_it_is", "int32[1]", "float64[1]", out="float64", dialect=dialect)
    assert decision.casts == (None, None)
    assert decision.result.name == "float64"


def test_scalars_alone_are_computed_too(dialect: str) -> None:
    """ "(has_different_input_dtypes || all_ops_are_scalars_)": a lone 5.5 is no double."""
    assert result("add(5.5, 5.5)", dialect) == "float32"
    assert result("add(5, 5.5)", dialect) == "float32"
    assert result("int8[] + 5", dialect) == "int8"


def test_promote_integer_inputs_to_float_gives_the_default_dtype(way: Way, dialect: str) -> None:
    """ "Promotes common dtype to the default float scalar type ... for operators like `div`" """
    cw.declare_op("float_op", compute=lambda a, b: a / b, integers_become_float=True)
    for dtype, expected in (("bool", "float32"), ("long", "float32"), ("half", "float16")):
        tensors = ones(way, dtype, dialect), ones(way, "int8", dialect)
        found = way.run(lambda a, b: cw.apply("float_op", a, b), *tensors, dialect=dialect)
        assert (found.dtype.name, found.tolist()) == (expected, [1.0])
    for a, b in itertools.product(SHORT.values(), SHORT.values()):
        ours = cw.resolve("float_op", a, b, dialect=dialect).result
        assert ours is cw.resolve("div", a, b, dialect=dialect).result


def test_an_output_that_is_not_defined_gets_the_common_dtype(dialect: str) -> None:
    """ "if (!is_type_defined) { op.target_dtype = common_dtype_; }" """
    decision = cw.resolve("add", "int32[1]", "float16[1]", dialect=dialect)
    assert decision.result is decision.compute
    defined = cw.resolve("add", "int32[1]", "float16[1]", out="float64", dialect=dialect)
    assert (defined.result.name, defined.compute.name) == ("float64", "float16")


def test_an_output_is_allocated_or_resized(way: Way, dialect: str) -> None:
    """ "stored in `op.target_dtype`, which is later used in `allocate_or_resize_outputs`" """
    one, two = ones(way, "int", dialect), way.tensor([1.0, 2.0], "torch.half", dialect=dialect)
    allocated = add(way, one, two, dialect=dialect)
    assert (allocated.dtype.name, allocated.shape) == ("float16", (2,))

    def written(a: Any, b: Any, out: Any) -> Any:
        return cw.apply("torch.add", a, b, out=out), out

    for size in (0, 2):  # the first is resized
        out = way.tensor(np.zeros(size), "torch.double", dialect=dialect)
        for found in way.run(written, one, two, out, dialect=dialect):
            assert (found.dtype.name, found.tolist()) == ("float64", [2.0, 3.0])


def test_outputs_are_cast_and_checked_as_the_configuration_says(dialect: str) -> None:
    """ "config.cast_common_dtype_to_outputs_", "config.enforce_safe_casting_to_output_" """
    cw.declare_op("strict_out", casts_to_output=False)
    cw.declare_op("safe_out", safe_output=True)
    cw.declare_op("any_out", safe_output=False)
    inputs = ("float32[1]", "float32[1]")
    for name in ("strict_out", "safe_out"):
        with pytest.raises(cw.PromotionError):
            cw.resolve(name, *inputs, out="int32", dialect=dialect)
    with pytest.raises(cw.PromotionError):
        cw.resolve("strict_out", *inputs, out="float64", dialect=dialect)
    assert cw.resolve("safe_out", *inputs, out="float16", dialect=dialect).result.name == "float16"
    assert cw.resolve("any_out", *inputs, out="int32", dialect=dialect).result.name == "int32"


def test_an_unsafe_output_is_refused_when_it_runs_too(way: Way, dialect: str) -> None:
    """ "config.enforce_safe_casting_to_output_" """
    one, out = ones(way, "float", dialect), ones(way, "int", dialect)
    with pytest.raises(cw.PromotionError, match="cannot be written into int32"):
        way.run(lambda a, o: cw.apply("torch.add", a, a, out=o), one, out, dialect=dialect)


def test_without_promote_inputs_to_common_dtype_nothing_is_cast(way: Way, dialect: str) -> None:
    """ "The `promote_inputs_to_common_dtype_` must be set to `True`" """
    cw.declare_op("keeps_inputs", compute=lambda a, b: a, promotes=False)
    cw.declare_op("promotes_inputs", compute=lambda a, b: a, promotes=True)
    kept = cw.resolve("keeps_inputs", "int32[1]", "float64[1]", dialect=dialect)
    assert kept.casts == (None, None)
    cast = cw.resolve("promotes_inputs", "int32[1]", "float64[1]", dialect=dialect)
    assert cast.compute.name == "float64"
    assert [str(c) if c else None for c in cast.casts] == ["int32 -> float64", None]
    tensors = ones(way, "int", dialect), ones(way, "double", dialect)
    for name, expected in (("keeps_inputs", "int32"), ("promotes_inputs", "float64")):
        found = way.run(lambda a, b, name=name: cw.apply(name, a, b), *tensors, dialect=dialect)
        assert found.dtype.name == expected


def test_the_configuration_of_float_ops(dialect: str) -> None:
    """ "the configuration of TensorIterator is determined by macros such as
    `BINARY_FLOAT_OP_CONFIG`": promote, integers to float, cast to outputs, safely."""
    cw.declare_op(
        "binary_float_op",
        promotes=True,
        integers_become_float=True,
        casts_to_output=True,
        safe_output=True,
    )
    for a, b in itertools.product(("bool", "int64", "float16", "float64"), repeat=2):
        for out in (None, "float32", "int32"):
            found = [
                answered(name, a, b, out, dialect) for name in ("binary_float_op", "div", "atan2")
            ]
            assert len(set(found)) == 1


def answered(name: str, a: str, b: str, out: str | None, dialect: str) -> str:
    try:
        return cw.resolve(name, a, b, out=out, dialect=dialect).result.name
    except cw.PromotionError:
        return "!"


# compute_common_dtype, update_result_type_state


def test_an_output_takes_no_part_in_the_common_dtype(dialect: str) -> None:
    """ "if (op.is_output) { continue; }" """
    for out in ("float64", "float32", "complex128"):
        decision = cw.resolve("mul", "float16[1]", "int32[1]", out=out, dialect=dialect)
        assert decision.compute.name == "float16"


def test_an_undefined_tensor_leaves_the_state(dialect: str) -> None:
    """ "if (!tensor.defined()) { return in_state; }" """
    assert cw.result_type("int8[3]", None, dialect=dialect).name == "int8"
    assert cw.result_type(None, "int8[3]", "float16[]", dialect=dialect).name == "float16"


@pytest.mark.parametrize(
    ("default", "of_float", "of_complex"),
    [
        ("float16", "float16", "complex32"),
        ("float32", "float32", "complex64"),
        ("float64", "float64", "complex128"),
    ],
)
def test_wrapped_floats_and_complexes_take_the_default_dtype(
    default: str, of_float: str, of_complex: str, dialect: str
) -> None:
    """ "if wrapped tensor, use the default dtype for complex/float" """
    varied = f"{dialect}:default_float={default}"
    assert result("int32[1] + 5.5", varied) == of_float
    assert result("int32[1] + 2j", varied) == of_complex
    assert result("int32[1] / 5", varied) == default
    assert result("int32[1] + 5", varied) == "int32"


def test_the_default_is_a_single_float(dialect: str) -> None:
    """ "default: complex<float>", "default: float" """
    assert result("int32[1] + 2j", dialect) == "complex64"
    assert result("int32[1] + 5.5", dialect) == "float32"


def test_each_operand_counts_in_one_of_three_results(dialect: str) -> None:
    """ "`dimResult` (for normal tensors), `zeroResult` (for 0-dim tensors that are not wrapped) and
    `wrappedResult` (for wrapped tensors)" """
    steps = cw.resolve("result_type", "int32[1]", "int64[]", 5, dialect=dialect).steps
    told = "Arrays are int32, 0-d arrays are int64, Python scalars are int64"
    assert any(step.startswith(told) for step in steps)


def test_operands_of_one_tier_are_promoted_together(dialect: str) -> None:
    """ "new_state.dimResult = promote_skip_undefined(in_state.dimResult, current);" and so on"""
    assert result("result_type(uint8[1], int8[1], int64[])", dialect) == "int16"
    assert result("result_type(bool[1], uint8[], int8[])", dialect) == "int16"
    assert result("result_type(bool[1], True, 5)", dialect) == "int64"


# result_type, combine_categories

KINDS = {"b": "bool", "u": "int", "i": "int", "f": "float", "c": "complex"}
COMPLEX_OF = {"f2": "c2", "f4": "c4", "f8": "c8", "bf": "c4"}
WRAPPED = {"True": "b1", "5": "i8", "5.5": "f4", "2j": "c4"}


def kind(short: str | None) -> str:
    if short is None:
        return "undefined"
    return "float" if short == "bf" else KINDS[short[0]]


def promote_skip_undefined(a: str | None, b: str | None) -> str | None:
    """As the article prints it, with None for an undefined dtype."""
    return CELLS[a, b] if a and b else a or b


def combine_categories(higher: str | None, lower: str | None) -> str | None:
    """As the article prints it."""
    if kind(higher) == "complex":
        return higher
    if kind(lower) == "complex":
        return COMPLEX_OF.get(higher or "", lower)
    if kind(higher) == "float":
        return higher
    if kind(higher) == "bool" or kind(lower) == "float":
        return promote_skip_undefined(higher, lower)
    return higher or lower


def test_the_three_results_are_combined(dialect: str) -> None:
    """ "combine_categories(in_state.dimResult, combine_categories(in_state.zeroResult,
    in_state.wrappedResult))", over every choice of the three."""
    tiers = itertools.product([None, *SHORT], [None, *SHORT], [None, *WRAPPED])
    for dimensioned, zero_d, wrapped in tiers:
        operands = [f"{SHORT[dimensioned]}[1]"] if dimensioned else []
        operands += [f"{SHORT[zero_d]}[]"] if zero_d else []
        operands += [wrapped] if wrapped else []
        if operands:
            lower = combine_categories(zero_d, WRAPPED.get(wrapped or ""))
            expected = SHORT[combine_categories(dimensioned, lower) or ""]
            assert result(f"result_type({', '.join(operands)})", dialect) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("complex64[1] + complex128[]", "complex64"),  # "return higher;"
        ("float16[1] + complex128[]", "complex32"),  # "preserve value type of higher"
        ("float64[1] + 2j", "complex128"),
        ("bfloat16[1] + 2j", "complex64"),  # there is no complex of bfloat16s
        ("int64[1] + complex32[]", "complex32"),  # "lower complex takes precedence"
        ("float16[1] + float64[]", "float16"),  # "else if (isFloatingType(higher))"
        ("bool[1] + int16[]", "int16"),  # "if (higher == ScalarType::Bool"
        ("int64[1] + float16[]", "float16"),  # "|| isFloatingType(lower))"
        ("int8[1] + int64[]", "int8"),  # "if (higher != ScalarType::Undefined)"
        ("result_type(int64[])", "int64"),  # "return lower;"
    ],
)
def test_each_branch_of_combine_categories(question: str, expected: str, dialect: str) -> None:
    assert result(question, dialect) == expected


def test_in_most_cases_the_dimensioned_come_first(dialect: str) -> None:
    """ "`dimResult` > `zeroResult` > `wrappedResult`" """
    assert result("result_type(int8[1], int16[], 5)", dialect) == "int8"
    assert result("result_type(int16[], 5)", dialect) == "int16"


def test_a_bool_or_a_float_below_is_looked_up(dialect: str) -> None:
    """ "If the higher result dtype is a `bool` or the lower result dtype is a `FloatingType`" """
    reals = [short for short in SHORT if kind(short) != "complex"]
    for higher, lower in itertools.product(reals, reals):
        is_looked_up = kind(higher) == "bool" or (kind(higher) == "int" and kind(lower) == "float")
        expected = CELLS[higher, lower] if is_looked_up else higher
        assert result(f"{SHORT[higher]}[1] * {SHORT[lower]}[]", dialect) == SHORT[expected]


# promote_skip_undefined, promoteTypes


def test_an_undefined_dtype_is_skipped(dialect: str) -> None:
    """ "if (a == ScalarType::Undefined) { return b; }" and the other way round"""
    for dtype in SHORT.values():
        assert cw.result_type(f"{dtype}[1]", None, dialect=dialect).name == dtype
        assert cw.result_type(None, f"{dtype}[1]", dialect=dialect).name == dtype


SHORT = {
    "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c2": "complex32", "c4": "complex64", "c8": "complex128",
    "b1": "bool", "bf": "bfloat16",
}  # fmt: skip
ALIASES = {
    "Byte": "u1", "Char": "i1", "Short": "i2", "Int": "i4", "Long": "i8", "Half": "f2",
    "Float": "f4", "Double": "f8", "ComplexHalf": "c2", "ComplexFloat": "c4", "ComplexDouble": "c8",
    "Bool": "b1", "BFloat16": "bf",
}  # fmt: skip
SPELLED = {"Byte": "uint8", "Char": "int8", "ComplexHalf": "chalf", "ComplexFloat": "cfloat",
           "ComplexDouble": "cdouble"}  # fmt: skip


def test_the_short_names_are_dtypes_of_pytorch(dialect: str) -> None:
    """ "constexpr auto u1 = ScalarType::Byte;" and the twelve others"""
    for name, short in ALIASES.items():
        assert cw.dtype(f"torch.{SPELLED.get(name, name.lower())}").name == SHORT[short]
        assert SHORT[short] in {dtype.name for dtype in cw.dialect(dialect).dtypes}


def test_the_table_is_not_numpys(dialect: str) -> None:
    """ "This is generated according to NumPy's promote_types": but 14 of 121 cells differ.

    NumPy widens the float beside an integer; PyTorch keeps it.
    """
    shared = [short for short in SHORT if short not in ("c2", "bf")]
    unlike = {
        (a, b): (SHORT[CELLS[a, b]], np.promote_types(SHORT[a], SHORT[b]).name)
        for a, b in itertools.product(shared, shared)
        if SHORT[CELLS[a, b]] != np.promote_types(SHORT[a], SHORT[b]).name
    }
    assert len(unlike) == 14
    assert {frozenset((kind(a), kind(b))) for a, b in unlike} == {
        frozenset(("int", "float")),
        frozenset(("int", "complex")),
    }
    for (a, b), (ours, _) in unlike.items():
        assert cw.promote_types(SHORT[a], SHORT[b], dialect=dialect).name == ours


def test_equal_dtypes_need_no_table(dialect: str) -> None:
    """ "if (a == b) { return a; }" """
    for dtype in cw.dialect(dialect).dtypes:
        assert cw.promote_types(dtype, dtype, dialect=dialect) is dtype


TABLE = """
         u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf
    u1   u1  i2  i2  i4  i8  f2  f4  f8  c2  c4  c8  u1  bf
    i1   i2  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  i1  bf
    i2   i2  i2  i2  i4  i8  f2  f4  f8  c2  c4  c8  i2  bf
    i4   i4  i4  i4  i4  i8  f2  f4  f8  c2  c4  c8  i4  bf
    i8   i8  i8  i8  i8  i8  f2  f4  f8  c2  c4  c8  i8  bf
    f2   f2  f2  f2  f2  f2  f2  f4  f8  c2  c4  c8  f2  f4
    f4   f4  f4  f4  f4  f4  f4  f4  f8  c4  c4  c8  f4  f4
    f8   f8  f8  f8  f8  f8  f8  f8  f8  c8  c8  c8  f8  f8
    c2   c2  c2  c2  c2  c2  c2  c4  c8  c2  c4  c8  c2  c4
    c4   c4  c4  c4  c4  c4  c4  c4  c8  c4  c4  c8  c4  c4
    c8   c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8
    b1   u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf
    bf   bf  bf  bf  bf  bf  f4  f4  f8  c4  c4  c8  bf  bf
"""
_HEAD, *_ROWS = [line.split() for line in TABLE.split("\n") if line.strip()]
CELLS = {
    (row, column): cell for row, *cells in _ROWS for column, cell in zip(_HEAD, cells, strict=True)
}


def test_each_cell_of_the_lookup_table(dialect: str) -> None:
    """ "_promoteTypesLookup", 13 by 13"""
    assert len(CELLS) == 13 * 13
    for (row, column), cell in CELLS.items():
        a, b, expected = SHORT[row], SHORT[column], SHORT[cell]
        assert cw.promote_types(a, b, dialect=dialect).name == expected
        assert result(f"{a}[1] * {b}[1]", dialect) == expected


def test_the_axes_of_the_table_are_alike(dialect: str) -> None:
    """ "This table axes must be consistent with index2dtype" """
    assert [row for row, *_ in _ROWS] == _HEAD == list(SHORT)
    names = {dtype.name for dtype in cw.dialect(dialect).dtypes}
    newer = {*FLOAT8.split(), "uint16", "uint32", "uint64"}
    assert names - set(SHORT.values()) == (newer if dialect == "torch" else set())


# 3. Review the answer

ANSWERS = [
    # "5 is wrapped to a int64 tensor, but doesn't have higher precedence than dim-tensor"
    (operator.add, ("int_tensor", 5), "int32", [6]),
    # "then get the default `float` in `update_result_type_state`"
    (operator.add, ("int_tensor", 5.5), "float32", [6.5]),
    # "since `promote_integer_inputs_to_float` is set for `div` op"
    (operator.truediv, ("int_tensor", 5), "float32", [float(np.float32(0.2))]),
    # "zerodim's precedence is lower than int_tensor, so no dtype promotion here"
    (operator.add, ("int_tensor", "long_zerodim"), "int32", [2]),
    # "dtype promotion to long"
    (operator.add, ("long_tensor", "int_tensor"), "int64", [2]),
    # "dtype promotion to long"
    (operator.add, ("bool_tensor", "long_tensor"), "int64", [2]),
    # "dtype promotion to uint8"
    (operator.add, ("bool_tensor", "uint_tensor"), "uint8", [2]),
    # "dtype promotion to double"
    (operator.add, ("float_tensor", "double_tensor"), "float64", [2]),
    # "dtype promotion to complex128"
    (operator.add, ("complex_float_tensor", "complex_double_tensor"), "complex128", [2]),
    # "dtype promotion to int"
    (operator.add, ("bool_tensor", "int_tensor"), "int32", [2]),
]


@pytest.mark.parametrize(("op", "operands", "expected", "values"), ANSWERS)
def test_the_answers(
    way: Way, op: Any, operands: tuple[Any, ...], expected: str, values: Any, dialect: str
) -> None:
    """ "let's revisit and answer the questions posed earlier" """
    given = [made(way, o, dialect) if isinstance(o, str) else o for o in operands]
    found = way.run(op, *given, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == (expected, values)


def test_the_answer_about_the_function(way: Way, dialect: str) -> None:
    """ "torch.add(long_tensor, float_tensor).dtype": "dtype promotion to float" """
    tensors = [made(way, name, dialect) for name in ("long_tensor", "float_tensor")]
    found = way.run(lambda a, b: cw.apply("torch.add", a, b), *tensors, dialect=dialect)
    assert (found.dtype.name, found.tolist()) == ("float32", [2.0])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            ("add", "int32[1]", 5),
            "Arrays are int32, Python scalars are int64. No other operand has a higher kind",
        ),
        (("add", "int32[1]", 5.5), "Python scalars are float32. The kind float is higher than int"),
        (
            ("div", "int32[1]", 5),
            "Arrays are int32, Python scalars are int64. No other operand has a higher kind",
        ),
        (("div", "int32[1]", 5), "div does not compute in int32, which becomes float32"),
        (
            ("add", "int32[1]", "int64[]"),
            "No other operand has a higher kind, so the arrays decide",
        ),
    ],
)
def test_the_answers_give_their_reasons(
    question: tuple[str, Any, Any], words: str, dialect: str
) -> None:
    """The comments: "5 is wrapped to a long tensor, we get a `int` after `compute_common_dtype`"
    and the like."""
    assert any(words in step for step in cw.resolve(*question, dialect=dialect).steps)
