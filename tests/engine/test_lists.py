"""Lists of Python numbers as operands: how each dialect converts them."""

# ruff: noqa: RUF005 -- a tensor and a list are added, not strung together

from __future__ import annotations

import pytest

import castwise as cw
from castwise.engine.ask import resolve
from castwise.errors import PromotionError, ScalarRangeError, UsageError
from castwise.vocab.notation import describe, parse_expression, parse_operand
from castwise.vocab.operands import Role


@pytest.mark.parametrize(
    ("text", "shape", "kind"),
    [
        ("[1, 2.5]", (2,), "float"),
        ("[]", (0,), "float"),
        ("[[True, False], [True, True]]", (2, 2), "bool"),
        ("[1, 1+2j]", (2,), "complex"),
        ("[[], []]", (2, 0), "float"),
    ],
)
def test_a_list_is_read_and_written(text: str, shape: tuple[int, ...], kind: str) -> None:
    found = parse_operand(text)
    assert (found.role, found.shape, found.kind) == (Role.LIST, shape, kind)
    assert parse_operand(str(found)) == found


@pytest.mark.parametrize("thing", [[[1, 2], [3]], [1, [2]], ["a"], [[1], "b"]])
def test_a_list_that_is_no_array_is_refused(thing: list[object]) -> None:
    with pytest.raises(UsageError, match=r"ragged|holds Python numbers, not a str"):
        describe(thing)


@pytest.mark.parametrize("text", ["[1", "[1, int8]", "[1,, 2]", "[1]]", "[" * 100 + "]" * 100])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_operand(text)


def test_lists_stand_on_either_side_of_an_operator() -> None:
    left = parse_expression("[1, 2] + int32[2]")
    right = parse_expression("int32[2] * [[1, 2], [3, 4]]")
    assert [o.role for o in left.operands] == [Role.LIST, Role.ARRAY]
    assert right.operands[1].shape == (2, 2)


def test_a_long_list_is_cut_short_in_words() -> None:
    assert str(describe(list(range(1000)))) == "[0, 1, 2, ... 1000 numbers]"


def test_a_list_is_an_array_of_its_own_dtype_in_numpy() -> None:
    assert resolve("add", "float32[3]", [1.5, 2, 3], dialect="numpy").result.name == "float64"
    assert resolve("add", "float32[3]", 1.5, dialect="numpy").result.name == "float32"
    assert resolve("sum", [True, True], dialect="numpy").result.name == "int64"
    decision = resolve("add", "float32[3]", (1, 2, 3), dialect="numpy")
    assert [str(cast) for cast in decision.casts] == ["float32 -> float64", "int64 -> float64"]


def test_a_list_takes_the_dtype_of_the_tensor_in_tensorflow() -> None:
    assert resolve("add", "float16[3]", [1, 2.5, 3], dialect="tensorflow").result.name == "float16"
    with pytest.raises(PromotionError, match="a Python float cannot be converted to int32"):
        resolve("add", "int32[3]", [1, 2.5, 3], dialect="tensorflow")
    assert resolve("sum", [1, 2], dialect="tensorflow").result.name == "int32"
    with pytest.raises(PromotionError, match="bools with other numbers"):
        resolve("sum", [True, 2], dialect="tensorflow")


def test_a_list_is_cast_to_the_tensor_in_megengine() -> None:
    assert resolve("add", "int32[3]", [1.5, 2, 3], dialect="megengine").result.name == "int32"
    x = cw.asarray([1, 2], dtype="int32").under("megengine")
    assert (x + [1.5, 2]).tolist() == [2, 4]
    with pytest.raises(PromotionError, match="no operand has a dtype"):
        resolve("add", [1], [2], dialect="megengine")
    with pytest.raises(ScalarRangeError):
        resolve("add", "int32[1]", [2**63], dialect="megengine")


def test_a_list_is_not_cast_to_a_number_that_mindspore_does_not_take() -> None:
    with pytest.raises(PromotionError, match="takes no Python complex"):
        resolve("add", 1j, [1, 2], dialect="mindspore")


def test_a_list_is_cast_for_the_function_in_mindspore() -> None:
    x = cw.asarray([1, 2], dtype="int32").under("mindspore")
    assert (x + [1.5, 2]).tolist() == ([1 + 2j, 2] + x).tolist() == [2, 4]
    assert (x + [2**53 + 1, -(2**63)]).dtype.name == "int32"
    assert (x.astype("float32") + [2**63, 1]).tolist() == [2.0**63, 3]
    assert ([2, 3] ** x).tolist() == [2, 9]
    before = x
    x -= [1, 1]
    assert (x.tolist(), before.tolist()) == ([0, 1], [1, 2])
    assert (x == [0, 1]) is False
    with pytest.raises(PromotionError, match="does not accept this list"):
        x += [1, 1]


def test_ints_that_an_int_tensor_does_not_hold_are_cast_all_the_same() -> None:
    x = cw.asarray([0, 0], dtype="int64").under("mindspore")
    assert (x + [-(2**63), 2**62]).tolist() == [-(2**63), 2**62]
    assert (x.astype("uint64") + [2**63, 1]).tolist() == [2**63, 1]
    assert (x.astype("int32") + [2**63, 1]).tolist()[1] == 1


def test_each_number_of_a_list_may_be_a_hazard() -> None:
    cast = resolve("add", "uint8[3]", [1, 300, 2], dialect="tensorflow").casts[1]
    assert cast is not None
    assert cast.hazards == ("wraps",)
    with pytest.raises(ScalarRangeError):
        resolve("add", "int64[2]", [1, 2**63], dialect="tensorflow")


@pytest.mark.parametrize("dialect", ["torch", "jax", "mlx", "array-api", "paddle", "oneflow"])
def test_other_frameworks_take_no_lists(dialect: str) -> None:
    with pytest.raises(
        PromotionError, match=r"does not accept this list\. Make an array of it first"
    ):
        resolve("add", "float32[3]", [1, 2, 3], dialect=dialect)


def test_a_list_is_not_written_into() -> None:
    with pytest.raises(UsageError, match="a list cannot be changed in place"):
        resolve("add", [1, 2], "int64[2]", dialect="numpy", form="augmented")


def test_the_steps_say_what_a_list_becomes() -> None:
    steps = resolve("mul", "float32[2]", [1, 2], dialect="numpy").steps
    assert steps[0] == "[1, 2] is a list, which becomes an array of int64."


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"])
def test_tensors_compute_with_lists(backend: str) -> None:
    if backend != "numpy":
        pytest.importorskip(backend)
    x = cw.asarray([1, 2, 3], dtype="float32", backend=backend)
    added = x.under("numpy") + [1.5, 2, 3]
    assert (added.dtype.name, added.tolist(), added.backend) == ("float64", [2.5, 4, 6], backend)
    assert ([1, 2, 3] * x.under("tensorflow")).tolist() == [1, 4, 9]
    assert (x.under("numpy") == [[1, 2, 0]]).tolist() == [[True, True, False]]
    assert cw.apply("clamp", x.under("numpy"), min=[2, 2, 2]).tolist() == [2, 2, 3]


def test_numbers_of_a_list_wrap_as_one_number_does() -> None:
    x = cw.asarray([1, 2], dtype="uint8").under("tensorflow")
    assert (x + [300, -1]).tolist() == [45, 1]


def test_a_list_in_place_is_cast_to_the_array() -> None:
    x = cw.asarray([1, 2], dtype="float32").under("numpy")
    x += [1, 2]
    assert (x.dtype.name, x.tolist()) == ("float32", [2, 4])


def test_the_result_follows_the_context_as_the_tensor_does() -> None:
    x = cw.asarray([1, 2], dtype="int8")
    with cw.use("tensorflow"):
        found = x + [1, 2]
    assert (found.dtype.name, found.dialect.name) == ("int8", "numpy")


def test_weak_lists_stay_weak() -> None:
    with cw.use("tensorflow:np-all"):
        found = cw.apply("add", [1, 2], [3, 4.5])
    assert (found.dtype.name, found.weak_type, found.tolist()) == ("float32", True, [4, 6.5])


def test_a_list_equals_no_tensor_of_torch() -> None:
    x = cw.asarray([1, 2]).under("torch")
    assert (x == [1, 2]) is (x.under("mlx") == [1, 2]) is False
    assert x != [3]
    with pytest.raises(PromotionError, match="does not accept this list"):  # as JAX's own arrays do
        x.under("jax") == [1, 2]  # noqa: B015
    with pytest.raises(PromotionError, match="does not accept this list"):
        x < [1, 2]  # noqa: B015
    with pytest.raises(UsageError, match="ragged"):
        x + [[1], [1, 2]]


def test_a_graph_takes_a_list_as_a_constant() -> None:
    graph = cw.trace(lambda x: x + [1, 2, 3], "float32[3]", dialect="numpy")
    assert graph(cw.asarray([1, 1, 1], dtype="float32")).tolist() == [2, 3, 4]


def test_a_cast_takes_a_list_as_asarray_does() -> None:
    assert cw.apply("cast", [1, 2], "int8").dtype.name == "int8"


@pytest.mark.parametrize("name", ["add", "pow"])
def test_jax_makes_an_array_of_a_list_before_it_writes(name: str) -> None:
    """`x.at[...].power([2**40])` raises OverflowError, although a single exponent may not."""
    with pytest.raises(cw.ScalarRangeError, match="out of range for the conversion to int32"):
        cw.resolve(name, "int32[2]", [2**40, 2], dialect="jax", inplace=True)
    assert cw.resolve(name, "int32[2]", [2, 2], dialect="jax", inplace=True).result.name == "int32"
