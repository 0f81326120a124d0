"""A framework beside itself through a transformation."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

from castwise.comparing.verify import (
    KINDS,
    ThroughComparison,
    compare_through,
    recorder_of_values,
    transformation_named,
)
from castwise.conformance import onnx_models
from castwise.conformance.recorders import find_recorder, known_transformations
from castwise.conformance.transformations import is_result, questions_through, sampled
from castwise.errors import UsageError
from castwise.report.verify import through_html, through_json, through_text


def compared(framework: str, through: str, *ops: str, most: int | None = None) -> ThroughComparison:
    recorder = find_recorder(framework)
    asked = questions_through(recorder, ops, most)
    return compare_through(recorder, transformation_named(framework, through), asked)


def compared_values(
    framework: str, through: str, *ops: str, most: int | None = None
) -> ThroughComparison:
    transformation = transformation_named(framework, through)
    recorder = recorder_of_values(find_recorder(framework), transformation)
    return compare_through(recorder, transformation, sampled(recorder.questions(ops), most))


def by_kind(found: ThroughComparison) -> dict[str, set[tuple[str, ...]]]:
    kinds: dict[str, set[tuple[str, ...]]] = {}
    for one in found.differences:
        kinds.setdefault(one.kind, set()).add(one.found.question.operands)
    return kinds


def test_what_changes_nothing_agrees() -> None:
    found = compared("numpy", "changing:unchanged", "add", "sub")
    assert found.asked > 1000
    assert found.differences == ()
    assert found.agrees
    assert through_text(found).endswith(f"All {found.asked:,} answers agree.")


def test_another_dtype_is_found_in_every_question_that_has_it() -> None:
    found = compared("numpy", "changing:narrowing", "add")
    assert by_kind(found).keys() == {"another dtype"}
    assert {one.found.plain for one in found.differences} == {"float64"}
    assert {one.found.answer for one in found.differences} == {"float32"}
    assert ("int32[3]", "1.5") in by_kind(found)["another dtype"]
    assert not found.agrees


def test_a_refusal_that_is_added_is_found_among_others() -> None:
    """All questions of a function fail with one: each is found."""
    found = by_kind(compared("numpy", "changing:refusing", "add"))
    assert found.keys() == {"refused"}
    recorder = find_recorder("numpy")
    asked = {q.operands for q in questions_through(recorder, ["add"])}
    has_int8 = {given for given in asked if any(o.startswith("int8[") for o in given)}
    assert found["refused"] == has_int8


def test_an_error_of_another_kind_is_told_from_a_refusal() -> None:
    found = compared("numpy", "changing:breaking", "add")
    assert by_kind(found).keys() == {"fails"}
    assert {one.found.answer for one in found.differences} == {"fails:KeyError"}
    assert "fails with KeyError ('uint64')" in through_text(found)


def test_a_result_that_is_no_array_is_named() -> None:
    found = compared("numpy", "changing:listing", "add", most=20)
    assert by_kind(found).keys() == {"fails"}
    assert "fails (The result is of type int.)" in through_text(found)


def test_a_refusal_that_is_taken_is_found() -> None:
    found = by_kind(compared("numpy", "changing:taking", "sub"))
    assert ("bool[3]", "bool[3]") in found["taken"]


def test_a_dtype_that_a_result_declares_and_a_part_of_it_has_not_is_found() -> None:
    """Where the framework refuses, too, there is nothing to declare."""
    found = compared("numpy", "changing:lying", "add", most=40)
    assert by_kind(found).keys() == {"declared"}
    assert {one.found.plain for one in found.differences} == {"float64"}
    assert {one.found.answer for one in found.differences} == {"float32"}
    assert not found.agrees
    said = "declares float64, has float64 (part 0), float32 (part 1)"
    assert f"changing:lying: {said}" in through_text(found)
    assert said in through_html(found)
    dtypes = {"declared": "float64", "part 0": "float64", "part 1": "float32"}
    assert through_json(found)["differences"][0]["dtypes"] == dtypes


def test_parts_that_all_have_what_is_declared_agree() -> None:
    found = compared("numpy", "changing:lying", "eq", most=40)
    assert found.differences == ()
    assert found.asked > 20


def test_what_a_transformation_lacks_is_no_difference_in_dtypes() -> None:
    found = compared("numpy", "changing:lacking", "add", most=10)
    assert by_kind(found).keys() == {"unsupported"}
    assert found.agrees
    assert "fails with UnsupportedError (there is no such op)" in through_text(found)


def test_a_session_of_a_transformation_ends_whatever_happens() -> None:
    told = []

    @contextmanager
    def session() -> Iterator[None]:
        told.append("begins")
        try:
            yield
        finally:
            told.append("ends")

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    recorder = find_recorder("numpy")
    transformation = replace(transformation_named("numpy", "changing:unchanged"), session=session)
    with pytest.raises(KeyboardInterrupt):
        compare_through(recorder, transformation, questions_through(recorder, ["exp"]), interrupted)
    assert told == ["begins", "ends"]


def test_a_function_that_is_called_apart_makes_the_same_calls() -> None:
    def apart(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        return pickle.loads(pickle.dumps(function))(*arrays)

    recorder = find_recorder("numpy")
    here = transformation_named("numpy", "changing:unchanged")
    elsewhere = replace(here, run=apart, is_apart=True)
    found = compare_through(recorder, elsewhere, questions_through(recorder, ["add", "where"], 20))
    assert found.asked > 50
    assert found.differences == ()


def test_the_same_bits_are_no_difference() -> None:
    found = compared_values(
        "numpy", "changing:unchanged", "add", "mul", "exp", "sum", "floor_divide"
    )
    assert found.asked > 3000
    assert found.differences == ()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rounding_that_is_dropped_between_two_ops_is_found() -> None:
    found = compared_values("numpy", "changing:widening", "add", "mul")
    values = [one for one in found.differences if one.kind == "values"]
    chained = {
        (one.found.question.op, one.found.question.form, one.found.plain.partition("=")[0])
        for one in values
        if one.found.question.form.startswith("then ")
    }
    assert {("add", "then sub", "float16"), ("mul", "then add", "bfloat16")} <= chained
    # One op on two arrays, computed in float64 and rounded once, has the same bits.
    alone = [one.found.question.operands for one in values if one.found.question.form == "function"]
    assert not any(len([o for o in given if "[" in o]) == 2 for given in alone)
    text = through_text(found)
    assert "add(float16[45], float16[45], float16[45]) then sub" in text
    assert "numpy: 0.1015625, changing:widening: 0.0999755859375 of 0.0999755859375, 5.3" in text
    assert "15 elements of the result, by at most 26 ulps" in text


def test_the_line_of_a_chain_shows_its_values() -> None:
    found = compared_values("numpy", "changing:widening", "mul", most=3)
    lines = {one.line: one.found.answer for one in found.differences if one.kind == "values"}
    names: dict[str, Any] = {}
    exec(found.imports, names)
    transformation = transformation_named("numpy", "changing:widening")
    recorder = recorder_of_values(find_recorder("numpy"), transformation)
    for line, answer in lines.items():
        # The made-up transformation takes functions that return lists.
        listing = str(line).replace(": np.", ": [np.", 1).replace(")(np.array", "])(np.array", 1)
        assert recorder.dtype_of(eval(listing, names)[0]) == answer
    assert len(lines) > 2


def test_values_need_something_that_computes_them() -> None:
    unasked: Any = SimpleNamespace(name="mindspore", dialect="mindspore", dialects=())
    transformation = transformation_named("numpy", "changing:unchanged")
    with pytest.raises(UsageError, match="no values are recorded of 'mindspore'"):
        recorder_of_values(unasked, transformation)
    recorder = find_recorder("numpy")
    with pytest.raises(
        UsageError, match="--values: changing:unchanged computes no values to compare"
    ):
        recorder_of_values(recorder, replace(transformation, computes=False))


def test_a_sample_is_spread_over_the_questions() -> None:
    recorder = find_recorder("numpy")
    every = questions_through(recorder, ["add"])
    some = questions_through(recorder, ["add"], 10)
    assert set(some) <= set(every)
    forms = {question.form for question in every}
    counts = {form: sum(q.form == form for q in some) for form in forms}
    assert all(5 <= count <= 10 for count in counts.values())


def run_lines(found: ThroughComparison) -> Iterator[tuple[str, str, str]]:
    """Each line of a comparison, what it should answer and what it answers."""
    recorder = find_recorder(found.framework)
    names: dict[str, object] = {}
    exec(found.imports, names)
    with recorder.session():
        for one in found.differences:
            if one.line is None:
                continue
            try:
                answer = recorder.dtype_of(eval(one.line, names)) or "?"
            except Exception as error:
                answer = f"{type(error).__name__}"
            yield one.line, one.found.answer, answer


def test_the_line_of_a_difference_shows_it() -> None:
    found = compared("numpy", "changing:narrowing", "add", "div", "exp", "concat", most=25)
    lines = list(run_lines(found))
    assert len(lines) > 40
    assert {line: answer for line, _, answer in lines} == {line: said for line, said, _ in lines}


def test_json_and_the_page_have_every_difference() -> None:
    found = compared("numpy", "changing:narrowing", "add", most=20)
    data = through_json(found)
    assert len(data["differences"]) == len(found.differences)
    assert {one["kind"] for one in data["differences"]} <= set(KINDS)
    assert through_html(found).count("<code>") == len(found.differences)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("torch.compile", "unknown transformation 'torch.compile'. numpy has dask, dask:cluster;"),
        ("nowhere:function", "No module named 'nowhere'"),
        ("changing:missing", "changing has no function 'missing'"),
        ("changing:not_a_function", "changing has no function 'not_a_function'"),
    ],
)
def test_an_unknown_transformation_is_named(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        transformation_named("numpy", name)
    assert said in str(caught.value)


def test_no_framework_is_imported_to_list_transformations() -> None:
    assert "torch.compile" in known_transformations("torch")
    assert "jit" in known_transformations("jax")
    assert known_transformations("paddle") == {}


needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
has_onnx = all(map(find_spec, ("torch", "onnx", "onnxscript", "onnxruntime")))
needs_onnx = pytest.mark.skipif(not has_onnx, reason="an exporter to ONNX is not installed")
needs_jax = pytest.mark.skipif(not find_spec("jax"), reason="jax is not installed")


@needs_torch
def test_meta_takes_no_condition_of_integers() -> None:
    found = compared("torch", "meta", "where")
    assert ("uint8[3]", "int8[3]", "int8[3]") in by_kind(found)["refused"]
    assert ("uint16[3]", "uint16[3]") in by_kind(compared("torch", "meta", "add"))["kernel"]


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ["meta", "vmap", "make_fx", "torch.compile:aot_eager"])
def test_lines_of_torch_show_what_they_say(name: str) -> None:
    found = compared("torch", name, "sub", "where", "exp", most=12)
    assert found.asked > 50
    for line, said, answer in run_lines(found):
        assert answer == said if is_result(said) else answer[0].isupper(), line


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_what_aot_autograd_writes_in_place_loses_its_refusal() -> None:
    """`x -= y` of an integer and a complex array becomes a subtraction and a copy."""
    found = compared("torch", "torch.compile:aot_eager", "sub", most=30)
    taken = [one.found.question for one in found.differences if one.kind == "taken"]
    assert {question.form for question in taken} >= {"augmented", "inplace"}
    assert any("complex" in q.operands[1] and "complex" not in q.operands[0] for q in taken)


@needs_torch
def test_vmap_gives_0_d_tensors_an_axis() -> None:
    """Operators do not see it, and `where` does. Without arrays there is nothing to batch."""
    found = compared("torch", "vmap", "add", "where")
    others = [one.found.question for one in found.differences if one.kind == "another dtype"]
    assert {question.op for question in others} == {"where"}
    assert ("bool[3]", "uint8[3]", "int8[]") in [question.operands for question in others]
    assert "fails" not in by_kind(found)
    assert found.left_out >= 16  # such as add(True, 1.5)


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_kernel_that_a_decomposition_lacks_is_no_refusal() -> None:
    """`all` becomes `logical_not`, which has no kernel for some dtypes."""
    found = by_kind(compared("torch", "make_fx", "all"))
    assert found.keys() == {"no kernel"}
    assert {("uint16[3]",), ("complex32[]",)} < found["no kernel"]


@needs_torch
def test_torch_script_is_given_source_text() -> None:
    found = compared("torch", "torch.jit.script", "add", "embedding", most=40)
    assert found.asked > 100
    assert found.left_out > 10
    assert f"{found.left_out} questions cannot be asked so." in through_text(found)
    assert by_kind(found).keys() <= {"refused"}


@needs_onnx
@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_says_what_it_lacks() -> None:
    """A dtype of which it has no kernel, and a model that is not valid, are no other dtypes."""
    found = compared("torch", "onnx:onnxruntime", "exp", most=9)
    assert {"onnx", "onnxscript", "onnxruntime"} <= found.versions.keys()
    kinds = by_kind(found)
    assert "another dtype" not in kinds
    answers = {one.kind: one.found for one in found.differences}
    assert answers["no kernel"].answer == "no-kernel"
    assert "NOT_IMPLEMENTED" in answers["no kernel"].error
    assert found.asked - len(found.differences) > 4


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = onnx_models.find_spec
    monkeypatch.setattr(
        onnx_models, "find_spec", lambda name: None if "onnx" in name else real(name)
    )
    with pytest.raises(UsageError, match="not installed: onnx, onnxscript, onnxruntime"):
        transformation_named("torch", "onnx:onnxruntime")


@needs_jax
def test_jit_drops_roundings_to_bfloat16() -> None:
    found = compared_values("jax", "jit", "add", most=8)
    forms = {one.found.question.form for one in found.differences if one.kind == "values"}
    assert "then sub" in forms


@needs_jax
@pytest.mark.parametrize("name", ["jit", "eval_shape"])
def test_jit_does_not_see_the_exponent(name: str) -> None:
    """Eager JAX keeps the base's dtype where the exponent is one integer that it can look at."""
    found = by_kind(compared("jax", name, "pow", most=80))
    exponents = {operands[1] for operands in found["another dtype"]}
    assert {"int" in exponent and exponent.endswith("[]") for exponent in exponents} == {True}
