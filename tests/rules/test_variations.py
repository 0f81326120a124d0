"""Variations of any dialect, and custom dialects from a file."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import castwise as cw
from castwise.rules.rule import Rule


def result(expression: str, dialect: cw.Dialect) -> str:
    op, *operands = expression.replace("(", ";").replace(")", "").replace(", ", ";").split(";")
    return cw.resolve(op, *operands, dialect=dialect).result.name


@pytest.mark.parametrize(
    ("base", "changes", "expression", "expected"),
    [
        # TF-NumPy's allow_float64=False: results are cut, even of float64 with float64.
        ("numpy", {"cap_float": 32}, "add(float64[3], float64[3])", "float32"),
        ("numpy", {"cap_float": 32}, "add(int64[3], float32[3])", "float32"),
        ("numpy", {"cap_float": 32}, "div(int64[3], int64[3])", "float32"),
        ("numpy", {"cap_float": 32}, "add(complex128[3], 1)", "complex64"),
        ("numpy", {"cap_float": 32}, "add(int8[3], 1.5)", "float32"),
        ("numpy", {"cap_float": 32}, "add(int64[3], int32[3])", "int64"),
        ("torch", {"cap_float": 16}, "add(float32[3], float16[3])", "float16"),
        ("torch", {"default_float": "float64"}, "add(int32[3], 1.5)", "float64"),
        ("torch", {"default_int": "int32"}, "add(bool[3], 1)", "int32"),
        ("torch", {"default_int": "int32"}, "sum(bool[3])", "int64"),
        ("numpy", {"default_int": "int32"}, "add(bool[3], 1)", "int32"),
        ("jax", {"default_int": "int16"}, "add(bool[3], 1)", "int16"),
        ("tinygrad", {"default_int": "int64"}, "add(bool[3], 1)", "int64"),
        ("tinygrad", {"default_int": "int64"}, "add(int8[3], 1)", "int8"),
        ("tinygrad", {"default_int": "int64"}, "sum(int64*[3])", "int32"),
        # MEP 3's open points.
        ("torch", {"scalars": "as tensors"}, "add(int8[3], 1)", "int64"),
        ("torch", {"scalars": "as tensors"}, "add(float16[3], 1.5)", "float32"),
        ("torch", {"scalars": "by value"}, "add(uint8[3], 50000)", "int32"),
        ("torch", {"scalars": "by value"}, "add(int8[3], 1)", "int8"),
        ("torch", {"scalars": "by value"}, "add(uint8[3], 1099511627776)", "int64"),
        ("torch", {"scalars": "by value"}, "add(uint16[3], 5)", "uint16"),
        ("torch", {"scalars": "by value"}, "add(bool[3], 1)", "uint8"),
        ("torch", {"scalars": "by value"}, "lerp(float32[3], float32[3], 2.5)", "float32"),
        ("numpy", {"scalars": "by value"}, "add(int8[3], 300)", "int16"),
        ("numpy", {"scalars": "by value"}, "add(uint8[3], 300)", "uint16"),
        ("jax", {"scalars": "by value"}, "add(int8[3], 300)", "int16"),
        ("paddle", {"scalars": "by value"}, "add(int8[3], 300)", "int16"),
        ("torch", {"scalars": "by value within kind"}, "add(bool[3], 1)", "int64"),
        ("torch", {"scalars": "by value within kind"}, "add(uint8[3], 1099511627776)", "int64"),
        ("numpy", {"scalars": "by value within kind"}, "add(int8[3], 1.5)", "float64"),
        ("torch", {"scalars": "as 0-d tensors"}, "add(int8[], 1)", "int64"),
        ("torch", {"scalars": "as 0-d tensors"}, "add(int8[3], 1)", "int8"),
        ("numpy", {"scalars": "as 0-d tensors"}, "add(int8[3], 1)", "int64"),
        # The wish of the article on OneFlow: 0-d arrays are arrays, scalars are apart.
        ("oneflow", {"zero_d": "as arrays"}, "mul(int8[3], float64[])", "float64"),
        ("oneflow", {"zero_d": "as arrays"}, "mul(int8[3], int64[])", "int64"),
        ("oneflow", {"zero_d": "as arrays"}, "mul(int8[3], 1)", "int8"),
        ("torch", {"zero_d": "as arrays"}, "mul(int8[3], int64[])", "int64"),
        ("torch", {"zero_d": "as arrays"}, "mul(int8[3], 1)", "int8"),
        ("numpy@1", {"zero_d": "as arrays"}, "add(int8[3], int64=1[])", "int64"),
        ("paddle", {"zero_d": "as arrays"}, "add(float32[3], float64[])", "float64"),
        ("numpy@1", {"scalars": "weak"}, "add(uint8[3], 1)", "uint8"),
        ("numpy", {"promote_64": False}, "add(int64[3], int64[3])", "int64"),
        ("numpy", {"promote_64": False}, "add(int16[3], int32[3])", "int32"),
        ("numpy", {"promote_64": False}, "sum(int8[3])", "int64"),
        ("torch", {"promote_64": True}, "add(int32[3], int64[3])", "int64"),
        ("torch", {"strict": True}, "add(int32[3], int32[3])", "int32"),
        ("torch", {"strict": True}, "add(float16[3], 1.5)", "float16"),
        ("torch", {"strict": False}, "add(int32[3], 1.5)", "float32"),
        ("numpy", {"safe": True}, "add(int8[3], uint8[3])", "int16"),
        ("numpy", {"safe": True}, "add(float32[3], float64[3])", "float64"),
    ],
)
def test_a_variation_decides(
    base: str, changes: dict[str, Any], expression: str, expected: str
) -> None:
    assert result(expression, cw.dialect(base).vary(**changes)) == expected


@pytest.mark.parametrize(
    ("base", "changes", "expression", "reason"),
    [
        ("numpy", {"promote_64": False}, "add(int32[3], float32[3])", "promotion to float64"),
        ("numpy", {"promote_64": False}, "div(int32[3], int32[3])", "promotion to float64"),
        ("numpy", {"strict": True}, "add(int8[3], int16[3])", "implicit cast int8 -> int16"),
        ("numpy", {"strict": True}, "add(int32[3], 1.5)", "implicit cast int32 -> float64"),
        ("torch", {"safe": True}, "add(int64[3], float32[3])", "int64 -> float32 is exact up to"),
        ("torch", {"safe": True}, "add(uint8[3], 300)", "wraps"),
    ],
)
def test_a_variation_refuses(
    base: str, changes: dict[str, Any], expression: str, reason: str
) -> None:
    with pytest.raises(cw.PromotionError, match=reason):
        result(expression, cw.dialect(base).vary(**changes))


def test_a_scalar_that_a_safe_dialect_refuses_is_a_range_error() -> None:
    with pytest.raises(cw.ScalarRangeError):
        cw.resolve("add", "uint8[3]", 300, dialect="torch:safe=True")


def test_a_guard_sees_what_is_written_in_place() -> None:
    assert cw.resolve("add", "int8[3]", "int16[3]", dialect="numpy", inplace=True)
    with pytest.raises(cw.PromotionError, match="int16 -> int8"):
        cw.resolve("add", "int8[3]", "int16[3]", dialect="numpy:safe=True", inplace=True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("numpy:cap_float=32", "numpy:cap_float=32"),
        ("numpy:strict=true", "numpy:strict=True"),
        ("numpy@1:scalars=weak", "numpy@1:scalars=weak"),
        ("torch:scalars=by value", "torch:scalars=by value"),
        ("torch:default_float=f64:safe=True", "torch:default_float=float64:safe=True"),
        ("torch:promote_64=False", "torch:promote_64=False"),
        ("torch:promote_64=True", "torch"),
    ],
)
def test_variations_may_stand_in_the_name(name: str, told: str) -> None:
    assert cw.dialect(name).name == told


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cap_float": 64}, "cap_float is 16 or 32"),
        ({"scalars": "heavy"}, "scalars is 'by value'"),
        ({"zero_d": "as scalars"}, "zero_d is 'as arrays'"),
        ({"strict": "yes"}, "strict is True or False"),
        ({"strickt": True}, "no variation 'strickt'. Did you mean 'strict'"),
        ({"default_float": "int8"}, "default_float must be a float dtype"),
        ({"default_int": "float32"}, "default_int must be an integer dtype"),
        ({"default_int": "int4"}, "has no default int int4"),
    ],
)
def test_a_variation_that_makes_no_sense_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.dialect("numpy").vary(**changes)


OWN = """
name = "pocket"
about = "Three dtypes for a small device."
order = "bool int8 int16 float16"
reaches = "bool -> int8; int8 -> int16; int16 -> float16"
casts = "safe"
becomes.lifts = "int -> float16"

[python]
bool = "bool"
int = "int16"
float = "float16"

[ops."*"]
scalars = "weak"
writes.into = "same dtype"

[ops."sub neg"]
accepts.refuses = "bool"
because = "booleans have no sign"
"""


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_dialect_from_a_file(written: Any) -> None:
    path = written(OWN)
    pocket = cw.load_dialect(path)
    assert pocket.name == "pocket"
    assert result("add(int8[3], 1.5)", pocket) == "float16"
    assert result("div(int8[3], int16[3])", pocket) == "float16"
    assert cw.result_type("int8", "int16", dialect=str(path)).name == "int16"
    with pytest.raises(cw.PromotionError, match="booleans have no sign"):
        result("sub(bool[3], bool[3])", pocket)
    with pytest.raises(cw.PromotionError, match="takes no Python complex"):
        result("add(int8[3], 1j)", pocket)


def test_a_file_may_begin_from_another_dialect(written: Any) -> None:
    careful = cw.load_dialect(
        written(
            """
            name = "careful"
            base = "numpy"
            about = "NumPy without float64 and without lossy casts."
            [vary]
            cap_float = 32
            safe = true
            """
        )
    )
    assert careful.name == "careful:cap_float=32:safe=True"
    assert result("add(int16[3], float32[3])", careful) == "float32"
    with pytest.raises(cw.PromotionError, match="exact up to"):
        result("add(int64[3], float32[3])", careful)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('"pocket"', '"pocket', "is not TOML"),
        ('name = "pocket"', "", "it has no name"),
        ("about =", "abuot =", "a dialect has no field 'abuot'. Did you mean 'about'"),
        ('casts = "safe"', "", "it has no casts"),
        ('casts = "safe"', 'casts = "saef"', "'saef' is not a rule of can_cast. Did you mean"),
        ('order = "bool int8', 'order = "bool itn8', "unknown dtype 'itn8'"),
        ("int16 -> float16", "int16 -> float32", "float32 has an edge but is not in order"),
        ("bool -> int8; ", "", "bool is unreachable.*alone"),
        ("bool -> int8;", "bool -> int8; int8 -> bool;", "in a circle: bool -> int8 -> bool"),
        ('"bool int8 int16', '"bool int16 int8', "int8 reaches int16, which comes before it"),
        ('int = "int16"', 'int = "int64"', "a Python int is int64, which is not in order"),
        ('int = "int16"', 'itn = "int16"', "'itn' is not a kind of Python number"),
        ("scalars =", "scalar =", "has no field 'scalar'. Did you mean 'scalars'"),
        ('scalars = "weak"', 'scalars = "week"', "'week' is not a choice for .*mean 'weak'"),
        ("sub neg", "subb neg", "'subb' is not an op. Did you mean 'sub'"),
        ("sub neg", "sub neg/inline", "'inline' is not a form of neg"),
        ('refuses = "bool"', 'refuses = "boole"', "unknown dtype 'boole'"),
    ],
)
def test_a_mistake_in_a_file_is_told(written: Any, before: str, after: str, reason: str) -> None:
    path = written(OWN.replace(before, after, 1))
    with pytest.raises(cw.UsageError, match=reason) as error:
        cw.load_dialect(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('base = "{path}"', r"its base leads back to .*mine\.toml: start from an existing dialect"),
        ("base = 1", "base names a dialect: write base = 'numpy'"),
        ("evidence.surprises = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("x = " + "{a = " * 3000 + "1" + "}" * 3000, "nested too deeply"),
        ("[" + ".".join("a" * 5000) + "]", "nested too deeply"),
        ("evidence.surprises = [[[]]]", r"an entry of .*surprises is a list: write text in quotes"),
        ("surprises = []", "no field 'surprises'. Did you mean 'evidence.surprises'"),
        ("guards = []", "no field 'guards'. Did you mean 'joining.guards'"),
        ("evidence = 'a guide'", "evidence. is 'a guide'.* such as `evidence.source = ...`"),
        ("joining.folds = " + "9" * 5000, "a number in it has more than 64 bits"),
        ("[vary]\ncap_float = 0x" + "f" * 5000, "a number in it has more than 64 bits"),
        ('[ops."*"]\nscalars = 5', r"ops\.'\*'\.scalars is 5: write text in quotes"),
        ("[ops.add]\naccepts.needs_rank = true", r"needs_rank is true: write a whole number"),
        ("[ops.add]\nrefuses = 'bool'", "no field 'refuses'. Did you mean 'accepts.refuses' or"),
        ("[ops.add]\ncomposes = [{}]", "has no program, which it needs"),
        ("[ops.add]\nborrows = 'nmpy'", "borrows: unknown dialect 'nmpy'. Did you mean 'numpy'"),
        ("ops = 1", "ops is 1: write a table"),
        ("vary = ['safe']", r"vary is a table of variations: write \[vary\]"),
        ("[vary]\nscalars = ['weak']", "scalars is 'by value'.* not "),
        ("evidence.laws.associativity_witness = ['int8']", "is a list of 3, not of 1"),
        ("assigns.values = 'always'", "'always' is not a rule of assignment"),
        ("mode = 1", "mode is 1: write text in quotes"),
        ('version = "1\\n2"', r"version is '1\\n2': write it on one line"),
        ('joining.refusal = "\\u001b[2J"', r"refusal has the control character '\\x1b'"),
        (
            "[values.reducing]\ncorrection = 1.0",
            r"\[values\]\.reducing\.correction is 1\.0: write a whole number",
        ),
        ("x\0 = 1", "is not TOML"),
    ],
    ids=lambda text: text[:30],
)
def test_what_makes_no_sense_in_a_file_is_told(written: Any, text: str, reason: str) -> None:
    path = written("")
    base = "" if text.startswith("base") else 'base = "numpy"\n'
    written(f'name = "mine"\n{base}{text.replace("{path}", str(path))}')
    with pytest.raises(cw.UsageError, match=reason) as error:
        cw.load_dialect(path)
    assert str(path) in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("name", "reason"),
    [("1", "name is 1: write text in quotes"), ('""', "its name is empty"),
     ("['a']", "name is a list"), ('"a\\u0007"', r"name has the control character '\\x07'")],
)  # fmt: skip
def test_a_name_that_is_none_is_told(written: Any, name: str, reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.load_dialect(written(f"name = {name}\nbase = 'numpy'"))


def test_files_that_begin_from_one_another_are_told(tmp_path: Path) -> None:
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text(f"name = 'one'\nbase = '{other}'", encoding="utf-8")
    other.write_text(f"name = 'other'\nbase = '{one}'", encoding="utf-8")
    with pytest.raises(cw.UsageError, match="its base leads back to"):
        cw.load_dialect(one)
    other.write_text("name = 'other'\nbase = 'numpy'", encoding="utf-8")
    assert cw.load_dialect(one).name == "one"


FIELDS = st.sampled_from([f.name for f in fields(cw.Dialect)] + ["name", "base", "vary", "x"])
RULES = st.sampled_from([f.name for f in fields(Rule)] + ["x"])
PLAIN = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["int8", "int8 -> int16", "weak", "numpy", "common dtype", "add(x, y)"]),
)  # fmt: skip
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=2)
)


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


@given(
    st.dictionaries(FIELDS, ANY, max_size=3),
    st.dictionaries(st.sampled_from(["*", "add", "sum/out", "x"]),
                    st.dictionaries(RULES, ANY, max_size=2), max_size=2),
)  # fmt: skip
def test_whatever_a_file_says_it_is_loaded_or_told(
    tmp_path_factory: Any, given: dict[str, Any], ops: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    said = {"name": "mine", "base": "numpy", "ops": ops, **given}
    path.write_text("\n".join(f"{key} = {toml(v)}" for key, v in said.items()), encoding="utf-8")
    with contextlib.suppress(cw.UsageError):
        assert isinstance(cw.load_dialect(path), cw.Dialect)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(cw.UsageError, match=r"none\.toml: No such file"):
        cw.dialect(str(tmp_path / "none.toml"))
