"""`castwise check-export`: an ONNX model beside the function it was exported from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ran import Ran

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper, T = onnx.helper, onnx.TensorProto

REFERENCE = """
import ml_dtypes
import numpy as np

def grown(x):
    return np.exp(x) + x

def both(x):
    return np.exp(x) + x, x

def named(x):
    return {"z": np.exp(x) + x}

def of_two(x, y):
    return x + y

def shorter(x):
    return (np.exp(x) + x)[1:]

def other(x):
    return np.exp(x) + x * np.float32(1.01)

def nothing(x):
    return "nothing"

def failing(x):
    raise KeyError("weights")

def doubled(x):
    return x + x

constant = 3
"""

EXP = helper.make_node("Exp", ["x"], ["y"], name="exp")
ADD = helper.make_node("Add", ["y", "x"], ["z"], name="sum")
NARROW = helper.make_node("Cast", ["z"], ["narrowed"], name="narrow", to=T.FLOAT16)
TWICE = helper.make_node("Add", ["narrowed", "narrowed"], ["out"], name="twice")


def saved(file: Path, nodes: list[Any], output: str, given: int = T.FLOAT, made: int = 0) -> str:
    inputs = [helper.make_tensor_value_info("x", given, ["n", 4])]
    outputs = [helper.make_tensor_value_info(output, made or given, ["n", 4])]
    graph = helper.make_graph(nodes, "tested", inputs, outputs)
    opsets = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), file)
    return str(file)


@pytest.fixture
def reference(tmp_path: Path) -> str:
    file = tmp_path / "reference.py"
    file.write_text(REFERENCE, "utf-8")
    return str(file)


@pytest.fixture
def agreeing(tmp_path: Path) -> str:
    return saved(tmp_path / "agreeing.onnx", [EXP, ADD], "z")


Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("function", ["grown", "named"])
def test_a_model_that_agrees(
    capsys: Captured, agreeing: str, reference: str, function: str
) -> None:
    ran = Ran(capsys, "check-export", agreeing, f"{reference}:{function}", "--dim", "n=5")
    assert ran.status == 0
    assert "Inputs: x float32[5,4]." in ran.out
    assert "All outputs agree: 1 output." in ran.out
    assert "cast" not in ran.out.partition("All outputs")[2]


def test_a_wrong_cast_is_named(capsys: Captured, tmp_path: Path, reference: str) -> None:
    nodes = [EXP, ADD, NARROW, TWICE]
    model = saved(tmp_path / "narrow.onnx", nodes, "out", made=T.FLOAT16)
    ran = Ran(capsys, "check-export", model, f"{reference}:grown")
    assert ran.status == 1
    assert "out: function float32[3,4], model float16[3,4]" in ran.out
    assert "from node narrow (Cast): float32 → float16" in ran.out
    assert "1 cast in the model:" in ran.out
    data = json.loads(Ran(capsys, "check-export", model, f"{reference}:grown", "--json").out)
    assert data["outputs"][0]["problem"] == "dtype"
    cast = {"node": "narrow", "op": "Cast", "source": "float32", "target": "float16"}
    assert data["outputs"][0]["origin"] == cast
    assert data["casts"] == [cast]


def test_an_output_that_is_missing(capsys: Captured, agreeing: str, reference: str) -> None:
    ran = Ran(capsys, "check-export", agreeing, f"{reference}:both")
    assert ran.status == 1
    assert "output 1: float32[3,4] in the function; the model has no such output" in ran.out


def test_other_shapes_and_values(capsys: Captured, agreeing: str, reference: str) -> None:
    shorter = Ran(capsys, "check-export", agreeing, f"{reference}:shorter")
    assert shorter.status == 1
    assert "z: function float32[2,4], model float32[3,4]" in shorter.out
    other = Ran(capsys, "check-export", agreeing, f"{reference}:other")
    assert other.status == 1
    assert "elements differ, at most" in other.out


def test_small_floats_go_in_and_out(capsys: Captured, tmp_path: Path, reference: str) -> None:
    """onnxruntime has no arrays of bfloat16 in NumPy: its bits are handed over."""
    double = helper.make_node("Cast", ["x"], ["z"], name="wide", to=T.FLOAT)
    model = saved(tmp_path / "small.onnx", [double], "z", T.BFLOAT16, T.FLOAT)
    ran = Ran(capsys, "check-export", model, f"{reference}:doubled")
    assert ran.status == 1
    assert "z: function bfloat16[3,4], model float32[3,4]" in ran.out
    assert "from node wide (Cast): bfloat16 → float32" in ran.out


def test_bits_are_compared_on_request(capsys: Captured, tmp_path: Path) -> None:
    """-0.0 is as good as 0.0, and has other bits."""
    file = tmp_path / "zero.py"
    file.write_text("def zero(x):\n    return -(x - x)\n", "utf-8")
    model = saved(tmp_path / "zero.onnx", [helper.make_node("Sub", ["x", "x"], ["z"])], "z")
    assert Ran(capsys, "check-export", model, f"{file}:zero").status == 0
    ran = Ran(capsys, "check-export", model, f"{file}:zero", "--exact")
    assert ran.status == 1
    assert "12 elements differ" in ran.out


def test_inputs_from_a_file(
    capsys: Captured, agreeing: str, reference: str, tmp_path: Path
) -> None:
    file, wrong = tmp_path / "inputs.npz", tmp_path / "wrong.npz"
    np.savez(file, x=np.zeros((2, 4), "float32"))
    np.savez(wrong, x=np.zeros((2, 4)))
    given = (agreeing, f"{reference}:grown", "--inputs")
    ran = Ran(capsys, "check-export", *given, str(file))
    assert ran.status == 0
    assert "x float32[2,4]" in ran.out
    refused = Ran(capsys, "check-export", *given, str(wrong))
    assert refused.status == 2
    assert "the input 'x' is float32, the array float64" in refused.err


def test_a_module_with_weights(capsys: Captured, agreeing: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "module.py"
    file.write_text(
        "import torch\n"
        "class Grown(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return torch.exp(x) + x\n"
        "net = Grown()\n",
        "utf-8",
    )
    ran = Ran(capsys, "check-export", agreeing, f"{file}:net")
    assert ran.status == 0
    assert "module.py:net on torch." in ran.out
    assert "is not a function" in Ran(capsys, "check-export", agreeing, f"{file}:Grown").err


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        ("grow", (), "has no 'grow'. Did you mean 'grown'?"),
        ("constant", (), "'constant' of"),
        ("of_two", (), "does not take the model's 1 input: missing a required argument: 'y'"),
        ("nothing", (), "returns a str, not an array"),
        ("failing", (), "raises with the model's inputs: KeyError: 'weights'"),
        ("grown", ("--dim", "m=3"), "--dim m: no input has it. Dimensions with a name: n."),
        ("grown", ("--dim", "n"), "--dim n: write NAME=N"),
        ("grown", ("--framework", "numpi"), "unknown backend 'numpi'. Did you mean 'numpy'?"),
    ],
)
def test_errors_name_what_is_wrong(
    capsys: Captured, agreeing: str, reference: str, function: str, options: tuple[str, ...],
    said: str,
) -> None:  # fmt: skip
    ran = Ran(capsys, "check-export", agreeing, f"{reference}:{function}", *options)
    assert ran.status == 2
    assert said in ran.err


def test_files_that_are_not_what_they_should_be(
    capsys: Captured, agreeing: str, reference: str
) -> None:
    not_a_model = Ran(capsys, "check-export", reference, f"{reference}:grown")
    assert not_a_model.status == 2
    assert "cannot be read as an ONNX model" in not_a_model.err
    assert "nowhere.py is not there" in Ran(capsys, "check-export", agreeing, "nowhere.py:f").err
    assert "write FILE.py:FUNCTION" in Ran(capsys, "check-export", agreeing, reference[:-3]).err


def test_a_missing_package_is_named(
    capsys: Captured, agreeing: str, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from castwise.conformance import onnx_models

    monkeypatch.setattr(onnx_models, "find_spec", lambda name: None)
    ran = Ran(capsys, "check-export", agreeing, f"{reference}:grown")
    assert ran.status == 2
    assert "check-export: not installed: onnx, onnxruntime." in ran.err
