"""Random programs: eager, graph and simplified graph agree in dtype and in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import (
    DIALECTS,
    INPUTS,
    PROGRAMS,
    UNCUT,
    At,
    Step,
    assert_same,
    done,
    made,
    run,
)

import castwise as cw
import cells

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@settings(max_examples=200 if cells.takes_all else 40, deadline=None)
@given(st.sampled_from(DIALECTS), INPUTS, PROGRAMS)
def test_eager_graph_and_simplified_graph_agree(
    dialect: str, inputs: list[Any], steps: list[Step]
) -> None:
    given = [made(dialect, *one) for one in inputs]
    with np.errstate(all="ignore"), cw.use(dialect):
        eager = run(steps, given)
        graph = cw.trace(lambda *xs: tuple(run(steps, list(xs))), *given, dialect=dialect)
        assert len(graph.outputs) == len(eager)
        plain, simplified = graph(*given), graph.simplify().graph(*given)
    for expected, *others in zip(eager, plain, simplified, strict=True):
        for got in others:
            assert_same(got, expected)
            assert got.weak_type is expected.weak_type


@settings(max_examples=60 if cells.takes_all else 20, deadline=None)
@given(st.sampled_from(DIALECTS), st.sampled_from(DIALECTS), INPUTS, PROGRAMS)
def test_a_simplified_graph_knows_what_another_dialect_changes(
    dialect: str, other: str, inputs: list[Any], steps: list[Step]
) -> None:
    given = [made(dialect, *one) for one in inputs]
    graph = cw.trace(lambda *xs: tuple(run(steps, list(xs))), *given, dialect=dialect)
    simplified = graph.simplify().graph
    assert told(simplified.redialect(other)) == told(graph.redialect(other))
    with np.errstate(all="ignore"):
        wanted = graph(*given)
        for one in (graph, simplified):
            try:
                kept = one.preserve(other)
            except cw.PromotionError:  # no cast keeps it there
                continue
            assert told(kept.redialect(other)) == []
            for got, expected in zip(kept(*given), wanted, strict=True):
                assert_same(got, expected)


def told(found: Any) -> list[Any]:
    return [(change.op, change.outcome, str(change)) for change in found.changes]


@settings(max_examples=60 if cells.takes_all else 20, deadline=None)
@given(st.sampled_from(UNCUT), st.sampled_from(DIALECTS), INPUTS, PROGRAMS)
def test_what_redialect_says_is_what_a_trace_there_decides(
    dialect: str, other: str, inputs: list[Any], steps: list[Step]
) -> None:
    given = [made(dialect, *one) for one in inputs]
    taken: list[tuple[Step, list[Any]]] = []  # the steps that are not refused here
    graph = cw.trace(lambda *xs: tuple(run(steps, list(xs), taken)), *given, dialect=dialect)
    changes = {change.node: change.there for change in graph.redialect(other).changes}
    foretold = [changes.get(node, node.decision) for node in graph.nodes if node.decision]
    specs = [f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in given]

    def again(*xs: Any) -> Any:
        values = list(xs)
        for step, places in taken:
            values.append(done(step, [values[o.n] if isinstance(o, At) else o for o in places]))
        return tuple(values)

    try:
        there = cw.trace(again, *specs, dialect=other)
    except cw.PromotionError:
        assert None in foretold
        return
    except cw.UsageError as refusal:  # by a rule about shapes, which a decision knows nothing of
        if "in this dialect" not in str(refusal):
            raise
        return
    assert [d and d.result for d in foretold] == [
        node.decision.result for node in there.nodes if node.decision
    ]
