"""A decision tells what happens: which casts are made, in which dtype the work is done, and by
which ops. `castwise verify --values` asks the frameworks; these are its classes, a case of each."""

from __future__ import annotations

import json

import pytest

import castwise as cw
from castwise.engine.decide import decide
from castwise.engine.decision import Decision
from castwise.engine.explain import taken_apart
from castwise.report.answers import decision_json


def decided(dialect: str, text: str) -> Decision:
    return decide(taken_apart(text, dialect).last)


def casts(decision: Decision) -> list[str | None]:
    """The casts in a word each: the target, with `read` for what copies nothing."""
    return [cast and f"{'read ' * cast.is_read}{cast.target}" for cast in decision.casts]


WIDE = [  # dialect, question, compute, casts
    ("torch", "float16[2] * float32[]", "float32", ["read float32", None]),
    ("torch", "float32[] * float16[2]", "float16", ["float16", None]),
    ("torch", "float16[2] * 70001", "float32", ["read float32", None]),
    ("torch", "70001 * float16[2]", "float32", [None, "read float32"]),
    ("torch", "bfloat16[2] // float32[]", "float32", ["read float32", None]),
    ("torch", "float16[2] + float32[]", "float16", [None, "float16"]),
    ("torch", "lerp(float16[2], float16[2], 0.3)", "float32", ["read float32"] * 2 + [None]),
    ("torch", "lerp(float16[2], float16[2], float32[])", "float32", [None, None, "float16"]),
    ("torch", "float32[3] ** 2.1", "float64", ["read float64", "float64"]),
    ("torch", "float32[3] ** 2", "float32", [None, None]),
    ("torch", "mean(int32[3], dtype=float16)", "float32", ["float32"]),
    ("torch", "sum(float16[3])", "float32", [None]),
    ("torch", "cumsum(float32[3])", "float64", [None]),
    ("torch", "cumsum(complex64[3])", "complex128", [None]),
    ("torch", "std(float16[3])", "float32", [None]),
    ("numpy", "sum(float16[3])", "float32", [None]),
    ("numpy", "int64[3] < uint64[3]", "exact", [None, None]),
    ("numpy", "uint8[3] < 300", "exact", [None, None]),
    ("numpy", "int8[3] < int16[3]", "int16", ["int16", None]),
    ("numpy", "ldexp(float32[3], int64[3])", "float32", [None, None]),
    ("tensorflow", "uint8[3] / 300", "float32", ["float32", None]),
    ("tensorflow", "mean(int16[3])", "int64", [None]),
    ("tensorflow", "sum(bfloat16[3])", "float32", [None]),
    ("mlx", "sum(float16[3])", "float32", [None]),
    ("mlx", "cumsum(float16[3], dtype=bool)", "int32", ["bool"]),
    ("paddle", "sum(float16[3])", "float32", [None]),
    ("paddle", "sum(float16[3], dtype=int32)", "float32", [None]),
    ("paddle", "sum(float32[3], dtype=float16)", "float16", ["float16"]),
    ("numpy", "ldexp(float16[3], 1048576)", "float16", [None, None]),
    ("numpy", "mean(int16[3], out=int8)", "float64", ["float64"]),
    ("numpy", "mean(float16[3], out=int8)", "float32", ["float32"]),
    ("numpy", "mean(float32[3], out=complex128)", "complex128", ["complex128"]),
    ("torch", "std(float32[3], out=float16)", "float32", ["float16"]),
    ("torch", "std(float64[3], out=float32)", "float64", [None]),
]


@pytest.mark.parametrize(("dialect", "text", "compute", "told"), WIDE)
def test_what_is_cast_and_what_it_computes_in(
    dialect: str, text: str, compute: str, told: list[str | None]
) -> None:
    found = decided(dialect, text)
    assert (str(found.compute), casts(found)) == (compute, told)


@pytest.mark.parametrize(
    ("dialect", "text", "program"),
    [
        ("torch", "2.5 / float32[3]", "*(reciprocal(y), x)"),
        (
            "torch",
            "poisson_nll_loss(float16[3], float32[3])",
            "mean(sub(cast(exp(x), float32), mul(y, cast(x, float32))))",
        ),
        ("torch", "ldexp(float32[3], float32[3])", "mul(x, pow(2.0, y))"),
        ("torch", "l1_loss(float16[3], float16[3])", "mean(abs(sub(x, y)))"),
        ("torch", "inner(float16[3], float32[])", "mul(x, y)"),
        ("numpy", "clip(uint8[3], 1000000.0, 300)", "maximum(x, y)"),
        ("numpy", "clip(uint8[3], -3, 200)", "minimum(x, z)"),
        ("numpy", "clip(uint8[3], 0, 200)", ""),
        ("paddle", "int32[3] + 2147483653", "add(x, cast(cast(y, float64), int32))"),
        ("paddle", "int64[3] + 9007199254740993", "add(x, cast(cast(y, float64), int64))"),
        ("paddle", "int64[3] + 5", ""),
        # Integers are summed as such, or as floats, before the mean is what it is.
        (
            "mlx",
            "mean(int32[3])",
            "mul(cast(sum(x), float32), reciprocal(cast(count(x), float32)))",
        ),
        ("mlx", "std(float32[3])", ""),
        ("mlx", "norm(int32[3])", "sqrt(cast(sum(square(x)), float32))"),
        ("paddle", "mean(int32[3])", "cast(mean(x), int32)"),
        (
            "paddle",
            "mean(float32[3], dtype=int32)",
            "cast(mean(cast(cast(x, int32), float32)), int32)",
        ),
        ("paddle", "std(int32[3])", "sqrt(cast(var(x), float32))"),
        # What adapts to another operand does so before the op converts that.
        ("tensorflow", "uint8[3] / 300", "div(x, cast(cast(y, uint8), float32))"),
        ("tensorflow", "int16[3] / np.uint64[3]", "div(x, cast(cast(y, int16), float32))"),
        ("mlx", "div(np.int8(3), bool[])", "div(cast(cast(x, bool), float32), y)"),
        ("mlx", "where(bool[3], np.int16[3], float16[3])", ""),  # the condition's dtype is apart
        ("megengine", "div(uint16[3], -1)", "div(x, cast(cast(y, uint16), float32))"),
        ("torch", "float32[3] / 2.5", ""),
        ("numpy", "mean(float64[3], out=int8)", "div(cast(sum(x), int8), n)"),
        ("numpy", "mean(float64[3], dtype=int8)", "div(cast(sum(x), int8), n)"),
        ("numpy", "mean(float64[3])", ""),
        (
            "numpy",
            "var(float64[3], out=float16)",
            "cast(div(cast(sum(square(sub(x, cast(div(sum(x), n), float64)))), float16), n),"
            " float16)",
        ),
        (
            "numpy",
            "std(float64[3], dtype=float32)",
            "sqrt(cast(div(sum(cast(square(sub(x, cast(div(sum(cast(x, float32)), n),"
            " float32))), float32)), n), float32))",
        ),
        (
            "torch",
            "std(complex64[3], out=float16)",
            "sqrt(add(var(cast(real(x), float16)), var(cast(imag(x), float16))))",
        ),
        (
            "torch",
            "cross_entropy(float16[3,3], float32[3,3])",
            "div(neg(sum(mul(log_softmax(x), y))), n)",
        ),
        ("torch", "cross_entropy(float32[3,3], float32[3,3])", ""),
        (
            "torch",
            "huber_loss(float16[3], float32[])",
            "mean(cast(where(lt(abs(sub(x, y)), 1), mul(mul(0.5, abs(sub(x, y))),"
            " abs(sub(x, y))), mul(1, sub(abs(sub(x, y)), 0.5))), float16))",
        ),
        (
            "numpy",
            "isclose(float32[3], float16[3])",
            "logical_or(logical_and(le(abs(sub(x, cast(y, float32))), cast(add(1e-08,"
            " mul(1e-05, abs(y))), float32)), isfinite(y)), eq(x, cast(y, float32)))",
        ),
        ("numpy", "isclose(float32[3], float32[3])", ""),
    ],
)
def test_by_which_ops_it_is_computed(dialect: str, text: str, program: str) -> None:
    assert decided(dialect, text).program == program


def test_a_read_costs_nothing_and_is_no_finding() -> None:
    assert decided("torch", "float16[2] * float32[]").hazards == ()
    assert decided("torch", "float16[2] + float32[]").hazards == ("loses-precision", "loses-range")
    assert decided("torch", "sum(float16[3])").hazards == ()


def test_what_is_lost_is_told() -> None:
    lost = decided("torch", "complex64[3] * np.complex64(1.5+2j)")
    assert "drops-imaginary" in lost.hazards
    assert "drops-imaginary" not in decided("torch", "complex64[3] * np.complex128(1.5+2j)").hazards
    assert "wraps" in decided("tensorflow", "uint8[3] / 300").hazards
    assert "wraps" in decided("paddle", "int32[3] + 2147483653").hazards
    assert decided("numpy", "int64[3] < uint64[3]").hazards == ()
    # What the steps of a program lose counts too.
    assert "loses-precision" in decided("torch", "poisson_nll_loss(int32[3], float16[3])").hazards


def test_what_is_written_into_loses_more_than_its_result_tells() -> None:
    lost = decided("numpy", "mean(float64[3], out=int8)")
    assert [str(cast) for cast in lost.inside] == ["float64 -> int8"]
    assert {"loses-range", "changes-kind"} <= set(lost.hazards)


def test_a_guard_looks_at_what_happens() -> None:
    strict = cw.dialect("torch").vary(strict=True)
    assert cw.resolve("mul", "float16[2]", "float32[]", dialect=strict).result == "float16"
    with pytest.raises(cw.PromotionError, match="float32 -> float16 is not allowed"):
        cw.resolve("add", "float16[2]", "float32[]", dialect=strict)


def test_inputs_are_cast_as_told() -> None:
    np = pytest.importorskip("numpy")
    found = decided("torch", "float16[2] * float32[]")
    halves, number = np.array([1e-4, 1e-4], "float16"), np.array(1e6, "float32")
    x, y = found.cast_inputs(halves, number)
    assert (x.dtype, y.dtype) == ("float32", "float32")
    assert np.isfinite((x * y).astype(str(found.result))).all()
    x, y = decided("numpy", "uint8[3] < 300").cast_inputs(np.array([1], "uint8"), 300)
    assert (x.dtype, y.dtype, y) == ("uint8", "int64", 300)


def test_json_and_words_say_it() -> None:
    asked = (
        ("torch", "float16[2] * float32[]"),
        ("numpy", "int64[3] < uint64[3]"),
        ("torch", "2.5 / float32[3]"),
    )
    read, exact, by_others = (json.loads(json.dumps(decision_json(decided(*q)))) for q in asked)
    told = {"from": "float16", "to": "float32", "hazards": [], "read": True}
    assert (read["compute"], read["casts"], read["hazards"]) == ("float32", [told, None], [])
    assert (exact["compute"], exact["casts"]) == ("exact", [None, None])
    assert by_others["program"] == "*(reciprocal(y), x)"
    words = str(cw.explain("float16[2] * float32[]", dialect="torch"))
    assert "float16 is read as float32, which copies nothing." in words
    words = str(cw.explain("int64[3] < uint64[3]", dialect="numpy"))
    assert "compares the exact values, without a cast" in words


def test_a_gpu_computes_in_other_dtypes() -> None:
    """Seen by value on an NVIDIA GPU; the dtypes of results are recorded cells."""
    computes = {
        "cumsum(float16[3])": ("float32", "float16"), "cumsum(float32[3])": ("float64", "float32"),
        "prod(float16[3])": ("float16", "float32"), "float16[3] + 1.5": ("float16", "float32"),
        "2.5 - float16[3]": ("float16", "float32"), "float16[3] * 1.5": ("float32", "float32"),
        "float16[3] * float32[]": ("float32", "float16"),
        "float32[3] ** 2.5": ("float64", "float32"),
        "2 // float16[]": ("float16", "float16"),
    }  # fmt: skip
    for text, (on_cpu, on_gpu) in computes.items():
        found = decided("torch", text), decided("torch:cuda", text)
        assert (found[0].compute, found[1].compute) == (on_cpu, on_gpu), text
