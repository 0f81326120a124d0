"""What people try in the first ten minutes, with the answer that users of NumPy or PyTorch expect.

Each try stands alone: it knows `cw`, `np`, Python's operators and json, and nothing else.
"""

from __future__ import annotations

import json
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.cli.main import main

# what is typed -> what the REPL shows, or how the error begins
IN_PYTHON = {
    # Live arrays
    'cw.resolve("add", np.zeros(3, "int32"), 5.5).result': "float64",
    "cw.result_type(np.zeros(3, 'float32'), np.float64(1))": "float64",
    "cw.result_type(np.zeros(3, 'float32'), 1.5)": "float32",
    "cw.asarray(np.zeros(2, 'uint8')) / 255": (
        "Tensor([0., 0.], dtype=float64, dialect=numpy, backend=numpy)"
    ),
    "cw.apply(np.add, np.ones(2, 'int8'), 1)": (
        "Tensor([2, 2], dtype=int8, dialect=numpy, backend=numpy)"
    ),
    # Dtypes
    'cw.resolve("add", "int8[3]", "uint8[3]").result == "int16"': "True",
    'cw.result_type("int8[3]", "uint8[3]") == np.int16': "True",
    'np.int16 == cw.result_type("int8[3]", "uint8[3]")': "True",
    'np.dtype("int16") == cw.result_type("int8[3]", "uint8[3]")': "True",
    'np.dtype(cw.dtype("bf16"))': "dtype(bfloat16)",
    'np.zeros(2, dtype=cw.dtype("half"))': "array([0., 0.], dtype=float16)",
    'np.zeros(2).astype(cw.promote_types("int8", "uint8")).dtype': "dtype('int16')",
    '{"float32": 4}[cw.dtype("f32")]': "4",
    'json.dumps({"dtype": str(cw.dtype("f32"))})': '\'{"dtype": "float32"}\'',
    'pickle.loads(pickle.dumps(cw.dtype("f32"))) is cw.dtype("f32")': "True",
    'cw.dtype("f32").to("numpy")': "dtype('float32')",
    'cw.dtype("double"), cw.dtype("half"), cw.dtype("long")': "(float64, float16, int64)",
    'cw.dtype("float")': "UsageError: 'float' has several readings: float32 in torch",
    'cw.dtype("i8")': "UsageError: 'i8' has two readings: int8, in bits, or int64, in bytes",
    "cw.dtype(np.float32)": "float32",
    # Names
    "cw.resolve(np.add, 'int32[3]', 5.5).result": "float64",
    "cw.resolve(operator.add, 'int32[3]', 5.5, dialect='pytorch').result": "float32",
    "cw.resolve('+', 'int32[3]', 5.5, dialect='pytorch').result": "float32",
    "cw.resolve('-', 'int8[3]').result": "int8",
    "cw.result_type(np.float32, np.int64)": "float64",
    "cw.resolve('plus', 'int8[3]', 1)": "UsageError: unknown op 'plus'. Did you mean 'add'?",
    "cw.dialect('torch:strict')": (
        "UsageError: unknown dialect 'torch:strict'. strict is an option: write torch:strict=True."
    ),
    "cw.dialect('tf').name": "'tensorflow'",
    "cw.table('torch', 'add')": "Table(row + column in torch, 525 answers, 245 refused)",
    "cw.explain('torch', 'int32[3] + 5.5').splitlines()[-1].strip()": "'The result is float32.'",
    # What a person sees
    'cw.resolve("add", "int32[3]", 5.5, dialect="torch")': (
        "Decision(int32[3] + 5.5 in torch -> float32, casts int32 -> float32, loses-precision)"
    ),
    'cw.dialect("torch")': "Dialect('torch', PyTorch, version 2.13, 21 dtypes)",
    'cw.diff("numpy@1", "numpy", op="add")': (
        "Diff(numpy@1 vs numpy: 270 of 1,875 questions about add differ"
    ),
    'cw.trace(lambda x: x * 2, "int8[n]", dialect="torch")': (
        "Graph(lambda(x: int8[n]) -> int8[n] under torch, 3 nodes, 0 casts)"
    ),
    # Tensors with methods
    "cw.asarray([[3, 1], [2, 4]]).sum(axis=0).tolist()": "[5, 5]",
    "cw.asarray([3, 1, 2], dtype='int8').mean()": (
        "Tensor(2., dtype=float64, dialect=numpy, backend=numpy)"
    ),
    "cw.asarray([[3, 1, 2]], dialect='torch').max(1).indices.tolist()": "[0]",
    "cw.asarray([3, 1, 2], dialect='torch').float().dtype": "float32",
    "cw.asarray([1, 2, 3, 4]).reshape(2, 2).T.tolist()": "[[1, 3], [2, 4]]",
    "cw.asarray([1.0]).half()": "AttributeError: ",
}

WITH_TORCH = {
    'cw.resolve("add", torch.ones(3, dtype=torch.int32), 5.5).result == torch.float32': "True",
    "cw.result_type(torch.ones(3), torch.ones(3, dtype=torch.float16)) == torch.float32": "True",
    "cw.asarray(torch.ones(2, dtype=torch.int32)) + 5.5": (
        "Tensor([6.5, 6.5], dtype=float32, dialect=torch, backend=torch)"
    ),
    "cw.resolve(torch.add, torch.ones(2, dtype=torch.int8), 1).result": "int8",
    "cw.resolve('mul', torch.ones(2), np.ones(2)).question.dialect.name": "'torch'",
    "cw.promote_types(torch.float16, torch.bfloat16)": "float32",
    'torch.zeros(2, dtype=cw.dtype("f16").to("torch")).dtype': "torch.float16",
    "cw.asarray(torch.ones(2, dtype=torch.int8)).sum().dtype == torch.int64": "True",
    "cw.asarray(torch.ones(2, 3)).softmax(dim=1).dtype": "float32",
}

# what is typed -> the exit status, and how what is printed begins
AT_THE_SHELL = {
    ("explain", "torch", "int32[3] + 5.5"): (0, "int32[3] + 5.5 in torch is float32\n"),
    ("explain", "int32[3] + 5.5", "torch"): (0, "int32[3] + 5.5 in torch is float32\n"),
    ("explain", "pytorch", "(int8[3] + int16[3]) * 1.5"): (
        0, "(int8[3] + int16[3]) * 1.5 in torch is float32\n\nPart 1: int8[3] + int16[3] is int16"),
    ("explain", "np", "float32[3].mean()"): (0, "mean(float32[3]) in numpy is float32\n"),
    ("explain", "torch", "softmax(int32[3])"): (1, "softmax(int32[3]) in torch fails to run: "),
    ("explain", "torch", "bool[3] - bool[3]"): (1, "bool[3] - bool[3] in torch is refused\n"),
    ("explain", "trch", "int8[3] + 1"): (
        2, "castwise: unknown dialect 'trch'. Did you mean 'torch'"),
    ("explain", "torch@2.99", "int8[3] + 1"): (
        0, "castwise: torch@2.99 is not recorded: torch@2.15 (recorded from 2.15.0) answers"),
    ("explain", "torch", "int[3] + 1"): (2, "castwise: 'int' has several readings: int32 in torch"),
    ("table", "torch", "add"): (0, "row + column in torch\n"),
    ("table", "add", "torch"): (0, "row + column in torch\n"),
    ("lattice", "array-api"): (0, "What reaches what in array-api\n"),
    ("diff", "numpy@1", "numpy", "--op", "add"): (1, "numpy@1 and numpy were asked 1,875"),
    ("dialects",): (0, "array-api "),
    ("ops",): (0, "  op "),
    ("dtypes",): (0, "  dtype "),
    ("config",): (0, ""),
    ("doctor",): (0, "castwise "),
    ("--version",): (0, f"castwise {cw.__version__}\n"),
    ("audti", "x.py"): (2, "castwise: unknown command 'audti'. Did you mean 'audit'?"),
}  # fmt: skip


def shown(text: str, **names: Any) -> str:
    """What the REPL shows for an expression: its repr, or the last line of the traceback."""
    try:
        return repr(eval(text, {"cw": cw, "np": np, **names}))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(("typed", "expected"), IN_PYTHON.items())
def test_in_python(typed: str, expected: str) -> None:
    assert shown(typed, operator=operator, json=json, pickle=pickle).startswith(expected)


@pytest.mark.parametrize(("typed", "expected"), WITH_TORCH.items())
def test_with_torch(typed: str, expected: str) -> None:
    assert shown(typed, torch=pytest.importorskip("torch")).startswith(expected)


@pytest.mark.parametrize(("typed", "expected"), AT_THE_SHELL.items())
def test_at_the_shell(
    typed: tuple[str, ...], expected: tuple[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed)
    said = capsys.readouterr()
    assert (ended.value.code or 0, (said.err + said.out)[: len(expected[1])]) == expected


def test_there_are_sixty() -> None:
    assert len(IN_PYTHON) + len(WITH_TORCH) + len(AT_THE_SHELL) >= 60
