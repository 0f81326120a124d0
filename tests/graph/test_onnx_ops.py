"""Every op in every dtype that ONNX can express, judged by its reference and by a runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_judges import (
    arrays_for,
    by_reference,
    by_runtime,
    cast,
    difference,
    outside_of,
    own_result,
    runtime_session,
)

from castwise.errors import UsageError
from castwise.graph.onnx.export import program_to_onnx
from castwise.graph.onnx.runtimes import current_opset
from castwise.rules.values import architecture
from castwise.vocab.dtypes import DType
from onnx_support import (
    REFERENCE_DIFFERS,
    RUNTIME_DIFFERS,
    cells,
    computing_ops,
    needed_options,
    one_op_program,
    support,
)

pytest.importorskip("onnx", minversion="1.23")
OPSETS = {"float6_e2m3fn": 28, "float6_e3m2fn": 28}  # the others: 26, the newest with a runtime
# onnxruntime's kernel for ARM has 0.001 or -0.004 for the error function of zero.
ON_PROCESSORS = {("erf", "float16")} if architecture() == "aarch64" else set()
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def written(name: str) -> list[DType]:
    found = []
    for op, held in cells():
        if op == name and support(name, held, OPSETS.get(held.name, 26)).how != "none":
            found.append(held)
    return found


def program_and_arrays(name: str, held: DType, outside: DType | None = None) -> Any:
    arrays = arrays_for(name, held)
    shapes = tuple([array.shape for array in arrays])
    program = one_op_program(name, held, shapes, needed_options(name), outside)
    if outside:
        arrays = [array if array.dtype == bool else cast(array, outside) for array in arrays]
    return program, arrays


@pytest.mark.parametrize("name", computing_ops())
def test_the_reference_evaluator_agrees(name: str) -> None:
    differing = {}
    for held in written(name):
        program, arrays = program_and_arrays(name, held)
        model = program_to_onnx(program, opset=OPSETS.get(held.name, 26))
        found = np.asarray(by_reference(model, arrays)[0])
        apart = difference(name, held, own_result(program, arrays), found, arrays)
        if apart:
            differing[(name, held.name)] = apart
    assert set(differing) == {key for key in REFERENCE_DIFFERS if key[0] == name}, differing


@pytest.mark.parametrize("name", computing_ops())
def test_the_runtime_agrees_where_it_has_kernels(name: str) -> None:
    pytest.importorskip("onnxruntime")
    if current_opset() < 26:
        pytest.skip("the installed onnxruntime loads older opsets alone")
    differing = {}
    for held in written(name):
        if held.kind == "complex" or held.name in OPSETS:  # of which it has nothing at all
            continue
        program, arrays = program_and_arrays(name, held, outside_of(held))
        session = runtime_session(program_to_onnx(program, opset=26))
        if session is None:
            continue
        found = by_runtime(session, arrays)[0]
        apart = difference(name, held, own_result(program, arrays), found, arrays)
        if apart:
            differing[(name, held.name)] = apart
    expected = {key for key in (*RUNTIME_DIFFERS, *ON_PROCESSORS) if key[0] == name}
    assert set(differing) == expected, differing


def test_what_is_not_written_says_so() -> None:
    for name, held in cells():
        found = support(name, held, 26)
        if found.how == "none":
            program, _ = program_and_arrays(name, held)
            with pytest.raises(UsageError, match="cannot be written in ONNX") as caught:
                program_to_onnx(program, opset=26)
            assert held.name in str(caught.value)
