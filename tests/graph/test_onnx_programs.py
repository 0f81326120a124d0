"""Random programs as ONNX models: the reference evaluator agrees with the graph in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx_judges import by_reference
from random_programs import DIALECTS, INPUTS, PROGRAMS, Step, assert_same, made, run

import castwise as cw

onnx = pytest.importorskip("onnx", minversion="1.23")
# The libraries of both sides compute these alike within an ulp or a few, and a program goes on
# from there; the sign of NaN, which copysign takes, is nobody's.
INEXACT = {"exp", "tanh", "sigmoid", "hypot", "atan2", "pow", "mean", "var", "prod", "copysign"}


def exact(steps: list[Step]) -> list[Step]:
    return [step for step in steps if step.op not in INEXACT]


def is_inexact(node: Any) -> bool:
    """The root of a complex number, which is not rounded once."""
    return node.op == "sqrt" and node.compute.kind == "complex"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DIALECTS), INPUTS, PROGRAMS.map(exact))
def test_the_reference_evaluator_agrees_on_programs(
    dialect: str, inputs: list[Any], steps: list[Step]
) -> None:
    arrays = [made(dialect, *one) for one in inputs]
    with np.errstate(all="ignore"), cw.use(dialect):
        graph = cw.trace(lambda *xs: tuple(run(steps, list(xs))), *arrays, dialect=dialect)
        assume(not any(map(is_inexact, graph.nodes)))
        for version in (graph, graph.simplify().graph):
            try:
                model = version.to_onnx(opset=onnx.defs.onnx_opset_version())
            except cw.UsageError as error:
                assume("cannot be written in ONNX" not in str(error))
                raise
            found = by_reference(model, [array.numpy() for array in arrays])
            for expected, got in zip(version(*arrays), found, strict=True):
                assert_same(cw.asarray(np.asarray(got)), expected)
