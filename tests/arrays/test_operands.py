"""What an op is given is described once, however many parts of the call look at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays import apply, calls


@pytest.mark.parametrize(
    "call",
    [
        lambda t, array: t - array,
        lambda t, array: array - t,
        lambda t, array: cw.apply("hypot", t, array),
        lambda t, array: t.__imul__(array),
        lambda t, array: t.sub_(array),
        lambda t, array: cw.apply("add", t, array, out=t),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_an_array_beside_a_tensor_is_described_once(
    call: Callable[[Any, Any], object], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(backend)
    t = cw.asarray([1.0, 2.0, 3.0], backend=backend, dialect="numpy")
    monkeypatch.setattr(apply, "_known", {})  # so that it is prepared anew
    seen = []
    describe = calls.describe
    monkeypatch.setattr(calls, "describe", lambda thing: (seen.append(thing), describe(thing))[1])
    call(t, array := np.ones(3))
    assert len(seen) == 1
    assert seen[0] is array
