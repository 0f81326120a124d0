"""PaddlePaddle 3.3: what its tensors, 0-d tensors, numbers and NumPy operands make together."""

from __future__ import annotations

import pytest

import castwise as cw
from asking import result
from castwise.engine.decide import decide
from castwise.engine.recorded import cell_question
from cells import FILES, recorded


def answers(expression: str) -> str:
    return result(expression, "paddle")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int32[3] + int32[3]", "int32"),
        ("bool[3] * bool[3]", "bool"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("float32[3] - float64[3]", "float64"),
        ("complex64[3] + float64[3]", "complex128"),
        ("complex64[3] * int64[3]", "complex64"),
        ("bool[3] + complex128[3]", "complex128"),
        ("bool[3] + int32[3]", "!"),
        ("int32[3] + int64[3]", "!"),
        ("int64[3] + float32[3]", "!"),
        ("maximum(int32[3], float32[3])", "!"),
        ("float16[3] == float64[3]", "bool"),
        ("int32[3] == int64[3]", "!"),
        ("complex64[3] < complex64[3]", "bool"),
        ("logical_and(float32[3], complex64[3])", "bool"),
        ("uint32[3] + complex64[3]", "!"),
        ("float8_e4m3fn[3] + float32[3]", "!"),
        ("int32[1] + int64[1]", "!"),
    ],
)
def test_tensors_mix_among_floats_and_with_complex_alone(expression: str, expected: str) -> None:
    assert answers(expression) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("uint8", "int8", "int16"),
        ("uint8", "int16", "int16"),
        ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("float64", "complex64", "complex128"),
        ("bool", "int64", "int64"),
    ],
)
def test_the_table_behind_the_refusal(a: str, b: str, expected: str) -> None:
    assert cw.promote_types(a, b, dialect="paddle").name == expected
    assert cw.result_type(f"{a}[]", f"{b}[]", dialect="paddle").name == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("float32[3] + float64[]", "float32"),
        ("uint8[3] + int64[]", "uint8"),
        ("complex64[3] * complex128[]", "complex64"),
        ("int32[3] + float64[]", "float64"),
        ("bool[3] + int32[]", "int32"),
        ("complex64[3] + float64[]", "complex128"),
        ("int64[] + float16[]", "float16"),
        ("int32[3] / int64[]", "float32"),
        ("int32[3] == int64[]", "bool"),
        ("maximum(float32[3], float64[])", "float64"),
        ("maximum(int32[3], int64[])", "!"),
        ("where(bool[3], int32[3], float32[])", "!"),
        ("float32[3] // float64[]", "float64"),
        ("int32[3] // int64[]", "int64"),
        ("float64[] / 1j", "complex64"),
        ("float64[3] / 1j", "complex128"),
        ("float64[] + 1j", "complex128"),
    ],
)
def test_0d_tensors_adapt_within_their_kind(expression: str, expected: str) -> None:
    assert answers(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("bool[3] + 1", "int64"),
        ("uint8[3] + 300", "uint8"),
        ("int64[3] + 1.5", "float32"),
        ("1.5 + float16[3]", "float16"),
        ("float16[3] + 1j", "complex64"),
        ("float64[3] + 1j", "complex128"),
        ("int32[3] + True", "int32"),
        ("int32[3] / 2", "float32"),
        ("bool[3] / True", "bool"),
        ("bool[3] / 1", "float32"),
        ("uint32[3] + 1.5", "uint32"),
        ("int8[3] + 18446744073709551616", "int8"),
        ("pow(int32[3], 1.5)", "int32"),
        ("int32[3] ** 1.5", "float32"),
        ("pow(int32[3], 1j)", "!"),
        ("paddle.remainder(int32[3], 1.5)", "int32"),
        ("copysign(int32[3], 1.5)", "int32"),
        ("floor_divide(int32[3], 1)", "int64"),
        ("floor_divide(float16[3], 1.5)", "float32"),
        ("int32[3] // 1", "int32"),
        ("where(bool[3], float16[3], 1.5)", "float32"),
        ("where(bool[3], int32[3], 1)", "!"),
        ("where(bool[3], int64[3], 1)", "int64"),
        ("1 & bool[3]", "bool"),
        ("bool[3] & 1", "!"),
        ("int32[3] ^ True", "!"),
        ("int32[3] << 1", "int32"),
        ("18446744073709551616 & int32[3]", "!range"),
        ("hypot(float32[3], 1.5)", "!"),
    ],
)
def test_python_numbers(expression: str, expected: str) -> None:
    assert answers(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int32[3] + np.float32(1.5)", "int32"),
        ("int32[3] + np.float64(1.5)", "float32"),
        ("float32[3] + np.complex64(1)", "float32"),
        ("float32[3] + np.complex128(1)", "complex64"),
        ("int32[3] + np.int16(1)", "int32"),
        ("int32[3] < np.int16(1)", "!"),
        ("int32[3] / np.int16(1)", "float32"),
        ("np.int16(1) / int32[3]", "!"),
        ("int32[3] + np.int8(1)", "!"),
        ("int32[3] + np.int64[3]", "!"),
        ("int32[3] + np.int64[]", "int32"),
        ("float32[3] + np.uint16[3]", "float32"),
        ("bfloat16[3] + np.uint16[3]", "bfloat16"),
        ("add(float32[3], np.float32[3])", "!"),
    ],
)
def test_numpy_operands(expression: str, expected: str) -> None:
    assert answers(expression) == expected


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", "float32[3] float64[3]", "float64"),
        ("mul", "float32[3] complex64[3]", "complex64"),
        ("div", "int32[3] int32[3]", "float32"),
        ("lt", "float32[3] float32[3]", "bool"),
        ("add", "float32[3] float64[]", "float64"),
        ("add", "int32[3] int64[]", "!"),
        ("pow", "float32[3] 2", "float32"),
        ("pow", "float32[3] float32[3]", "!"),
        ("exp", "int32[3]", "float32"),
        ("cumsum", "int8[3]", "int8"),
    ],
)
def test_in_place_the_tensor_takes_the_dtype_of_the_result(
    op: str, operands: str, expected: str
) -> None:
    try:
        decided = cw.resolve(op, *operands.split(), dialect="paddle", inplace=True).result.name
    except cw.PromotionError:
        decided = "!"
    assert decided == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("bitwise_and(int32[3], int32[3])", "int32"),
        ("bitwise_and(int32[3], int64[3])", "!"),
        ("concat(float32[3], float64[3])", "!"),
        ("stack(complex64[3], float64[3])", "complex64"),
        ("stack(float64[3], complex64[3])", "!"),
        ("int32[3] @ float64[3]", "int32"),
        ("float64[3] @ complex64[3]", "complex128"),
        ("matmul(float32[3], int32[3])", "float32"),
        ("matmul(int32[3], float32[3])", "!"),
        ("heaviside(float32[3], float64[3])", "!"),
        ("isclose(complex64[3], float64[3])", "bool"),
        ("isclose(float32[3], float64[3])", "!"),
    ],
)
def test_other_ops_do_not_promote(expression: str, expected: str) -> None:
    assert answers(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sqrt(int8[3])", "float32"),
        ("cos(int8[3])", "float32"),
        ("degrees(int32[3])", "float32"),
        ("degrees(int8[3])", "int8"),
        ("ldexp(int8[3], int64[])", "float32"),
        ("ldexp(float16[3], complex128[3])", "float32"),
        ("ldexp(float64[], int8[3])", "float64"),
        ("ldexp(float32[3], 2)", "!"),
        ("floor(int32[3])", "int32"),
        ("sum(bool[3])", "int64"),
        ("sum(int32[3])", "int64"),
        ("sum(uint8[3])", "uint8"),
        ("cumsum(int8[3])", "int64"),
        ("mean(int32[3])", "int32"),
        ("mean(bool[3])", "bool"),
        ("prod(int32[3])", "int32"),
        ("std(int32[3])", "float32"),
        ("var(int32[3])", "int32"),
        ("median(complex128[3])", "float32"),
        ("atan2(int32[3], int32[3])", "float64"),
        ("abs(complex64[3])", "float32"),
        ("+bool[3]", "!"),
        ("clip(int32[3], 0, 1.5)", "float32"),
    ],
)
def test_other_surprises(expression: str, expected: str) -> None:
    assert answers(expression) == expected


def test_the_refusal_says_what_mixes_and_what_to_cast() -> None:
    with pytest.raises(cw.PromotionError) as refused:
        cw.resolve("add", "int64[3]", "float32[3]", dialect="paddle")
    assert str(refused.value) == (
        "int64[3] + float32[3] is not defined in paddle: tensors promote only among floats and"
        " with complex. Cast one: x.astype('float32')."
    )


def test_what_has_no_kernel_is_noted() -> None:
    assert cw.resolve("maximum", "float16[3]", "float16[3]", dialect="paddle").notes
    assert not cw.resolve("maximum", "float32[3]", "float32[3]", dialect="paddle").notes
    assert not cw.resolve("add", "float16[3]", 1.5, dialect="paddle").notes


@pytest.mark.parametrize(
    ("op", "operands", "has_kernel"),
    [
        # A number scales a tensor; two tensors are another kernel.
        ("add", ("float16[3]", "float16[3]"), False),
        ("add", ("float16[3]", "1"), True),
        ("add", ("1", "float16[3]"), True),
        ("add", ("float16[3]", "np.float64(1)"), True),
        ("add", ("float16[3]", "np.int64(1)"), True),
        ("add", ("float16[3]", "np.float32(1)"), False),
        ("mul", ("int8[3]", "int8[3]"), False),
        ("mul", ("int8[3]", "True"), False),
        ("mul", ("int8[3]", "3"), True),
        ("div", ("bfloat16[3]", "2.5"), True),
        ("div", ("2.5", "bfloat16[3]"), False),
        ("div", ("bfloat16[3]", "True"), False),
        ("pow", ("bfloat16[3]", "bfloat16[3]"), True),
        ("pow", ("bfloat16[3]", "2"), False),
    ],
)
@pytest.mark.parametrize("form", ["operator", "augmented"])
def test_two_tensors_lack_kernels_that_a_tensor_with_a_number_has(
    op: str, operands: tuple[str, ...], form: str, has_kernel: bool
) -> None:
    question = cell_question(op, form, operands, cw.dialect("paddle"))
    assert decide(question).has_kernel is has_kernel


def test_recorded_operators_have_the_kernels_that_are_told() -> None:
    (path,) = [path for path in FILES if path.name == "paddle.tsv.gz"]
    cells = [
        cell
        for cell in recorded(path).asked()
        if cell.form in ("operator", "augmented") and not cell.answer.startswith("!")
    ]
    assert len(cells) > 500
    for cell in cells:
        decision = decide(cell_question(cell.op, cell.form, cell.operands, cw.dialect("paddle")))
        assert decision.has_kernel is not cell.answer.startswith("no-kernel"), cell


def test_the_names_of_paddle_are_known() -> None:
    assert answers("paddle.subtract(float32[3], float64[3])") == "float64"
    assert answers("paddle.nn.functional.smooth_l1_loss(float32[3], float64[3])") == "float64"
    assert answers("floor_mod(float32[3], float64[3])") == "float64"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("add(int32[3], 1)", "!"),  # "argument 'y' (position 1) must be Tensor, but got int"
        ("add(1, int32[3])", "!"),
        ("divide(float32[3], 1.5)", "!"),
        ("not_equal(int32[3], 1)", "!"),
        ("maximum(float32[3], 1.5)", "!"),
        ("bitwise_and(int32[3], 1)", "!"),
        ("atan2(float32[3], True)", "!"),
        ("equal(int32[3], 1)", "bool"),
        ("equal(1, int32[3])", "!"),
        ("pow(int32[3], 1.5)", "int32"),
        ("pow(1.5, int32[3])", "!"),
        ("remainder(int32[3], 1.5)", "int32"),
        ("floor_divide(int32[3], 1)", "int64"),
        ("copysign(int32[3], 1.5)", "int32"),
        ("where(bool[3], 1.5, float32[3])", "float32"),
        ("int32[3] + 1", "int32"),  # operators take numbers
        ("1 == int32[3]", "bool"),
    ],
)
def test_most_functions_take_tensors_alone(expression: str, expected: str) -> None:
    assert answers(expression) == expected
