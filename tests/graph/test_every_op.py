"""Every op of every dialect: what runs eagerly is traced too, and the graph gives the same bits."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import castwise as cw
import cells
from castwise.vocab.ops import OPS
from onnx_support import computing_ops, count_of_operands

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
MASK = np.asarray([True, False, True])
FLOATS, INTS = np.asarray([0.5, -1.75, 3.0], "float32"), np.asarray([3, 1, -2], "int32")
HALVES = FLOATS.astype("float16")
# The first two operands: arrays, then what is treated on its own, with one half among them, an
# exponent that some libraries take the square root for.
PAIRS = [
    (FLOATS, HALVES),
    (INTS, INTS**2),
    (MASK, FLOATS),
    (FLOATS, 0.5),
    (HALVES, 0.5),
    (INTS, 2),
    (2.5, FLOATS),
    (FLOATS, np.float32(0.5)),
    (FLOATS, np.asarray(0.5, "float32")),
]
# Layers, which need other shapes, are in test_layer_graphs.py.
FORMS = [(name, "function") for name in computing_ops()]
FORMS += [(name, "operator") for name in ("mul", "div", "pow")]


def every_op(x: Any, y: Any) -> dict[str, Any]:
    """The result of each op and operator, except those that castwise refuses."""
    found = {}
    for name, form in FORMS:
        row, count = OPS[name], count_of_operands(name)
        needs_arrays = count == 1 or row.family in ("products", "joining")
        if needs_arrays and () in (np.shape(x), np.shape(y)):
            continue
        operands = [MASK, x, y] if row.is_condition_first else [x, y, x][:count]
        with contextlib.suppress(cw.CastwiseError):
            found[f"{name}/{form}"] = cw.apply(name, *operands, form=form)
    return found


def bits(tensor: Any) -> tuple[Any, ...]:
    return tensor.dtype, tensor.shape, tensor.weak_type, tensor.numpy().tobytes()


def check(x: Any, y: Any) -> None:
    """That a graph of all ops gives what eager ones do; arrays are its inputs."""
    pair = {"x": x, "y": y}
    arrays = {name: cw.asarray(x) for name, x in pair.items() if isinstance(x, np.ndarray)}
    eager = every_op(**{**pair, **arrays})

    def what_eager_gives(**given: Any) -> list[Any]:
        found = every_op(**{**pair, **given})
        assert found.keys() >= eager.keys()
        return [found[name] for name in eager]

    got = cw.trace(what_eager_gives, **arrays)(**arrays)
    for (name, expected), tensor in zip(eager.items(), got, strict=True):
        assert bits(tensor) == bits(expected), (name, pair)


@pytest.mark.parametrize(("number", "dialect"), [*enumerate(cw.dialects())])
def test_a_graph_gives_what_eager_gives(number: int, dialect: str) -> None:
    """Without --all-cells for a seventh of the pairs, in each dialect another."""
    with cw.use(dialect):
        for pair in PAIRS if cells.takes_all else PAIRS[number % 9 :: 9]:
            check(*pair)
