"""Products whose arrays have one dimension in some frameworks, and any shape in others."""

from __future__ import annotations

import numpy as np
import pytest

import castwise as cw


@pytest.mark.parametrize(
    ("op", "dialect"), [("dot", "torch"), ("outer", "torch"), ("outer", "array-api")]
)
@pytest.mark.parametrize("shapes", [((), (3,)), ((2, 3), (3,)), ((3,), ())])
@pytest.mark.parametrize("backend", ["numpy", "dask"])
def test_where_vectors_alone_are_taken_other_shapes_are_refused(
    op: str, dialect: str, shapes: tuple[tuple[int, ...], ...], backend: str
) -> None:
    pytest.importorskip(backend)
    ones = [np.ones(shape, "float32") for shape in shapes]
    arrays = [cw.asarray(one, dialect=dialect, backend=backend) for one in ones]
    with pytest.raises(cw.UsageError, match=f"{op} takes arrays with one dimension"):
        cw.apply(op, *arrays)
    with pytest.raises(cw.UsageError, match=f"{op} takes arrays with one dimension"):
        cw.trace(lambda x, y: cw.apply(op, x, y), *arrays, dialect=dialect)


def test_elsewhere_dot_takes_any_shape() -> None:
    for dialect in ("numpy", "jax"):
        x, y = (cw.asarray(np.ones(shape, "float32"), dialect=dialect) for shape in ((2, 3), (3,)))
        assert cw.apply("dot", x, y).shape == (2,)
        assert cw.apply("dot", x, cw.asarray(2.0, dialect=dialect)).shape == (2, 3)


def test_elsewhere_outer_takes_any_shape() -> None:
    for dialect in ("numpy", "jax", "mlx"):
        x, y = (cw.asarray(np.ones(shape, "float32"), dialect=dialect) for shape in ((2, 3), ()))
        assert cw.apply("outer", x, y).shape == (6, 1)
