"""Tests what the installed onnxruntime supports. For each op and dtype that ONNX lists, a model of
one node is loaded, run, and compared with ONNX's reference evaluator.

python tools/onnx_runtimes.py     writes src/castwise/graph/onnx/onnxruntime.py

Kernels depend on the processor, and a model is run on any. So the file has what fails on any of the
machines that were asked: run it on each, for the same version.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from castwise.arrays.backends import DEFAULT_BACKEND, backend_named
from castwise.graph.onnx import onnxruntime as known
from castwise.graph.onnx.runtimes import (
    MAIN_INPUT,
    ONNX_NAMES,
    current_opset,
    element_type,
    runtime_session,
    type_text,
)
from castwise.rules.values import architecture
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.live import to_dtype

# The ops that castwise writes, by their operands: T are arrays of the dtype, t is one number of it,
# b are bools, i and I are indices without and with a dimension, II are indices into a matrix.
ASKED_OPS = {
    "T": """Abs Acos Acosh ArgMax ArgMin Asin Asinh Atan Atanh BitCast BitwiseNot Ceil Cos Cosh Det
            Erf Exp Floor Gelu Identity IsInf IsNaN Log LogSoftmax Neg Not Reciprocal Relu Round
            Shape Sigmoid Sign Sin Sinh Softmax Sqrt Tan Tanh Transpose""",
    "T T": """Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Concat Div Einsum Equal Greater
              GreaterOrEqual Less LessOrEqual MatMul Max Min Mod Mul Or Pow Sub Xor""",
    "T I": """Expand Gather ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape
              TopK Unsqueeze""",
    "T i": "CumProd CumSum Trilu",
    "T I I I I": "Slice",
    "T II": "GatherElements",
    "T II T": "ScatterND",
    "b T T": "Where",
    "t t t": "Range",
}
_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "BitShift": {"direction": "LEFT"}, "Concat": {"axis": 0},
    "Einsum": {"equation": "ij,jk->ik"},
}  # fmt: skip
_INDICES = {
    "Expand": [1], "Gather": [1], "Reshape": [-1], "TopK": [4], "Unsqueeze": [0],
    "Slice": [1], "CumProd": 1, "CumSum": 1, "Trilu": 0,
}  # fmt: skip
# Ops that libraries compute within a few units in the last place.
_INEXACT = """
    Acos Acosh Asin Asinh Atan Atanh Cos Cosh Det Einsum Erf Exp Gelu Log LogSoftmax MatMul Pow
    ReduceL2 ReduceMean ReduceProd ReduceSum Reciprocal Sigmoid Sin Sinh Softmax Sqrt Tan Tanh
    CumProd CumSum
"""
_EXACT_NEAR_ZERO = "Sigmoid Softmax Exp Tanh Erf Sin Tan"
_ULPS = 16
_ARRAYS = backend_named(DEFAULT_BACKEND)


def main() -> None:
    """Writes the data file."""
    found = {(op, held): asked(op, held) for op, held in pairs()}
    has_no = [d for d in map(dtype, ONNX_NAMES) if not _casts(d)]
    lacks, differs = _table(found, "lacks", has_no), _table(found, "differs", has_no)
    casts, machines = set(differing_casts()), {architecture()}
    if onnxruntime.__version__ == known.VERSION:
        lacks, differs = _both(lacks, known.LACKS), _both(differs, known.DIFFERS)
        casts, machines = casts | {*known.CASTS.split()}, machines | {*known.MACHINES.split()}
    text = _FILE.format(
        version=onnxruntime.__version__, machines=" ".join(sorted(machines)),
        opset=current_opset(), has_no=" ".join(d.name for d in has_no), lacks=_entries(lacks),
        differs=_entries(differs), casts="".join(f"    {pair}\n" for pair in sorted(casts)),
    )  # fmt: skip
    Path(known.__file__).write_text(text, "utf-8")


def _both(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """The dtypes of two tables."""
    return {
        op: " ".join(d for d in ONNX_NAMES if d in f"{one.get(op)} {other.get(op)}".split())
        for op in sorted({*one, *other})
    }


def pairs() -> Iterator[tuple[str, DType]]:
    """Every op with every dtype that ONNX lists for it."""
    for ops in ASKED_OPS.values():
        for op in ops.split():
            schema = onnx.defs.get_schema(op, max_inclusive_version=current_opset())
            kind = schema.inputs[MAIN_INPUT.get(op, 0)].type_str
            allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
            for name in ONNX_NAMES:
                has_code = op != "BitCast" or name not in ("bool", "complex128")
                if has_code and type_text(dtype(name)) in allowed.get(kind, [kind]):
                    yield op, dtype(name)


def asked(op: str, held: DType) -> str:
    """How the runtime fails on an op in a dtype: "lacks", "differs", or not at all."""
    arrays = _operands(op, held)
    model = _model(op, arrays)
    try:
        session = runtime_session(model)
    except Exception:  # its errors have no other class in common
        return "lacks"
    given = {f"x{n}": array for n, array in enumerate(arrays)}
    if held.bits < 16 and held.kind == "float":  # it does not accept such arrays from NumPy
        return ""
    try:
        found = session.run(None, given)[0]
    except Exception:
        is_native = held.bits >= 8 and held.name != "bfloat16"
        return "lacks" if is_native else ""
    with np.errstate(all="ignore"):
        try:
            wanted = ReferenceEvaluator(model).run(None, given)[0]
        except TypeError:  # NumPy has no such function in the dtype
            return ""
        return "" if _are_alike(op, np.asarray(wanted), np.asarray(found)) else "differs"


def _casts(held: DType) -> bool:
    """Whether it casts a dtype to another, and so supports arrays of it."""
    try:
        runtime_session(_model("Cast", [_values(held)], to=element_type(dtype("float32"))))
    except Exception:
        return False
    return True


def differing_casts() -> list[str]:
    """The casts to floats, and from floats to bool, whose results differ from castwise's."""
    floats = [d for d in map(dtype, ONNX_NAMES) if d.kind == "float" and _casts(d)]
    wide = [d for d in map(dtype, ONNX_NAMES) if d.kind == "int" and d.bits >= 16]
    pairs = [(s, t) for s in floats for t in (*floats, dtype("bool")) if s is not t]
    pairs += [(s, t) for s in wide for t in floats if t.specials != "fnu"]
    return [f"{s}:{t}" for s, t in pairs if not _cast_agrees(s, t)]


def _cast_agrees(source: DType, target: DType) -> bool:
    """Whether a cast gives castwise's results, for all small floats and their neighbours."""
    is_taken = source.kind == "int" or source.name in ("float16", "float64")
    outside = source if is_taken else dtype("float32")
    values = _ARRAYS.cast(_edges(source), outside)
    chain = [outside, *([] if source is outside else [source]), target]
    shown = dtype("bool" if target.kind == "bool" else "float64")
    chain += [] if target is shown else [shown]
    helper = onnx.helper
    names = [f"x{n}" for n in range(len(chain))]
    nodes = []
    for (before, after), held in zip(itertools.pairwise(names), chain[1:], strict=True):
        said: dict[str, Any] = {"saturate": 0} if held.bits == 8 and held.kind == "float" else {}
        said |= {"round_mode": "nearest"} if held.specials == "fnu" and said else {}
        nodes.append(helper.make_node("Cast", [before], [after], to=element_type(held), **said))
    given = helper.make_tensor_value_info(names[0], element_type(outside), values.shape)
    result = helper.make_tensor_value_info(names[-1], element_type(chain[-1]), values.shape)
    body = helper.make_graph(nodes, "asked", [given], [result])
    found = runtime_session(_stamped_now(body)).run(None, {names[0]: values})[0]
    wanted = values
    with np.errstate(all="ignore"):
        for held in chain[1:]:
            wanted = _ARRAYS.cast(wanted, held)
    return bool(np.array_equal(wanted, found, equal_nan=target.kind == "float"))


def _edges(held: DType) -> Any:
    """The numbers of the small formats in a dtype, the midpoints between them, and neighbours."""
    found = []
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                 "float8_e8m0fnu", "bfloat16", "float16"):  # fmt: skip
        native = np.dtype(_ARRAYS.native(dtype(name)))
        codes = np.arange(2 ** (8 * native.itemsize), dtype=f"uint{8 * native.itemsize}")
        with np.errstate(all="ignore"):
            numbers = codes.view(native).astype(np.float64)
        numbers = np.sort(numbers[np.isfinite(numbers)])
        between = (numbers[1:] + numbers[:-1]) / 2
        beyond = numbers[-1] * np.asarray([1.01, 1.04, 1.06, 1.1, 1.25, 1.4, 1.6, 2.0])
        found += [numbers, between, np.nextafter(between, np.inf), np.nextafter(between, -np.inf),
                  beyond, -beyond]  # fmt: skip
    every = np.unique(np.concatenate(found))
    if held.kind == "int":
        whole = np.unique(np.rint(every[(every >= held.min) & (every < held.max)]))
        near = whole.astype(np.uint64 if held.max >= 2**63 else np.int64)
        return _ARRAYS.cast(np.concatenate([near, near[1:] - 1, near[:-1] + 1]), held)
    with np.errstate(all="ignore"):
        kept = _ARRAYS.cast(every, held)
    return kept if held.specials != "fnu" else kept[every > 0]


def _stamped_now(body: Any) -> Any:
    """A model of the opset under test."""
    opsets = [onnx.helper.make_opsetid("", current_opset())]
    version = onnx.helper.find_min_ir_version_for(opsets)
    return onnx.helper.make_model(body, opset_imports=opsets, ir_version=version)


def _operands(op: str, held: DType) -> list[Any]:
    letters = next(letters for letters, ops in ASKED_OPS.items() if op in ops.split())
    values = _values(held)
    second = values if held.kind == "float" else np.roll(np.where(values == 0, 1, values), 1)
    if op in ("Mod", "Div") and held.kind == "int":  # some processors trap on -1
        second = np.where(second.astype(object) == -1, 3, second)
    if op in ("Pow", "BitShift"):
        second = np.resize(np.asarray([0, 1, 2, 3]), values.shape)
    made: list[Any] = []
    for letter in letters.split():
        if letter == "T":
            made.append(values if not made or letters == "b T T" else second.astype(values.dtype))
        else:
            made.append(_index(op, letter, held))
    if op == "ScatterND":
        made[2] = made[2][:2]
    return made


def _index(op: str, letter: str, held: DType) -> Any:
    if letter == "t":
        return _ARRAYS.cast(np.asarray(2), held)
    if letter == "b":
        return np.resize([True, False, True], (4, 4))
    if letter == "II":
        return np.resize([[1, 0, 3, 2]], (4, 4)) if op != "ScatterND" else np.asarray([[0], [2]])
    return np.asarray(_INDICES.get(op, [1]), np.int64)


def _values(held: DType) -> Any:
    """A matrix of moderate numbers. Integers have their limits among them, and a row whose lower
    halves are in another order if their upper bits are taken for signs, as SSE does with int64."""
    if held.kind == "bool":
        return np.resize([True, False, False, True, True], (4, 4))
    if held.kind == "int":
        limits = [held.max, held.max - 1, held.max // 2 + 1, held.min]
        half = 2 ** (held.bits // 2)
        others = (0, 1, half - 1, half // 2, held.min + 1, 3, 5, 7, -1, -2)
        numbers = [number for number in (*limits, *others) if number >= held.min]
        kept = [number for number in numbers if number <= held.max]
        wide = np.asarray(kept, np.uint64 if held.max >= 2**63 else np.int64)
        return _ARRAYS.cast(np.resize(wide, (4, 4)), held)
    numbers = [0.0, 0.125, -0.25, 0.5, -0.75, 1.0, -1.0, 1.5, 3.0, -5.0, -9.0, -14.0, 2.0, 4.0, 6.0]
    table: Any = np.resize(numbers, (4, 4))
    return _ARRAYS.cast(table if held.specials != "fnu" else np.abs(table) + 1, held)


def _model(op: str, arrays: list[Any], **more: Any) -> Any:
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(f"x{n}", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in enumerate(arrays)
    ]
    outputs = ["y", "z"] if op == "TopK" else ["y"]
    said = {**_ATTRIBUTES.get(op, {}), **more}
    if op == "Mod" and arrays[0].dtype.kind not in "iu":
        said["fmod"] = 1
    if op == "BitCast":
        said["to"] = element_type(dtype(f"uint{to_dtype(arrays[0].dtype).bits}"))
    node = helper.make_node(op, [i.name for i in inputs], outputs, **said)
    result = onnx.ValueInfoProto()
    result.name = "y"
    return _stamped_now(helper.make_graph([node], "asked", inputs, [result]))


def _are_alike(op: str, wanted: Any, found: Any) -> bool:
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return False
    if wanted.dtype.kind != "f" or op not in _INEXACT.split():
        return bool(np.array_equal(wanted, found, equal_nan=wanted.dtype.kind == "f"))
    one, other = wanted.astype(np.float64), found.astype(np.float64)
    scale = np.abs(one) + (op not in _EXACT_NEAR_ZERO.split())
    are_near = np.abs(one - other) <= _ULPS * np.finfo(wanted.dtype).eps * scale
    return bool(np.all((one == other) | (np.isnan(one) & np.isnan(other)) | are_near))


def _table(asked: dict[tuple[str, DType], str], how: str, has_no: list[DType]) -> dict[str, str]:
    """The dtypes of each op that fail in a way, except those that fail everywhere."""
    found: dict[str, list[str]] = {}
    for (op, held), failed in sorted(asked.items(), key=lambda pair: pair[0][0]):
        if failed == how and held not in has_no:
            found.setdefault(op, []).append(held.name)
    return {op: " ".join(names) for op, names in found.items()}


def _entries(table: dict[str, str]) -> str:
    return "".join(f'    "{op}": "{names}",\n' for op, names in table.items())


_FILE = '''\
"""What onnxruntime {version} lacks, or computes differently from ONNX, on the CPU.

Written by python tools/onnx_runtimes.py: run it again for another version.
"""

# ruff: noqa: E501
from __future__ import annotations

VERSION = "{version}"
MACHINES = "{machines}"
OPSET = {opset}
HAS_NO = "{has_no}"
LACKS = {{
{lacks}}}
DIFFERS = {{
{differs}}}
CASTS = """
{casts}"""
'''


if __name__ == "__main__":
    main()
