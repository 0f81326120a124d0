"""float8_e8m0fnu holds only powers of two: what negative numbers and zero become."""

from __future__ import annotations

import numpy as np
import pytest

import castwise as cw

NAN, LEAST = float("nan"), 2.0**-127
CAST = {"torch": [2.0, LEAST, LEAST, NAN, 4.0], "jax": [NAN, NAN, NAN, NAN, 4.0]}


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dialect", CAST)
def test_a_cast_gives_what_the_framework_makes_of_it(backend: str, dialect: str) -> None:
    pytest.importorskip(backend)
    data = np.array([-2.0, -0.0, 0.0, NAN, 3.0], "float32")
    found = cw.asarray(data, dialect=dialect, backend=backend).astype("float8_e8m0fnu")
    np.testing.assert_array_equal(found.numpy().astype("float32"), CAST[dialect])


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_what_an_op_gives_below_zero_is_nan(backend: str) -> None:
    pytest.importorskip(backend)
    one, two = (
        cw.asarray(np.array([n], "float32"), dialect="jax", backend=backend).astype(
            "float8_e8m0fnu"
        )
        for n in (1, 2)
    )
    assert np.isnan((one - two).numpy().astype("float32")).all()
    assert np.isnan((-one).numpy().astype("float32")).all()
    assert (two - one).numpy().astype("float32") == 1


def test_the_framework_casts_so() -> None:
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    data = np.array([-2.0, -0.0, 0.0, NAN, 3.0], "float32")
    by_torch = torch.asarray(data).to(torch.float8_e8m0fnu).to(torch.float32)
    by_jax = jnp.asarray(data).astype(jnp.float8_e8m0fnu).astype("float32")
    np.testing.assert_array_equal(by_torch.numpy(), CAST["torch"])
    np.testing.assert_array_equal(np.asarray(by_jax), CAST["jax"])
