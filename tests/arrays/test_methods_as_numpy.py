"""The methods of tensors under NumPy's dialect give what NumPy's arrays give."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from method_calls import DTYPES, IN_BOTH, IN_NUMPY, OTHERS, VALUES, calls, check_the_same

import castwise as cw
from loops import each

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def names(dtype: str, is_castwise: bool) -> dict[str, Any]:
    x, y = np.array(VALUES).astype(dtype), np.array(OTHERS).astype(dtype)
    made = {"x": x, "y": y, "v": x[0].copy(), "b": x != 0, "i": np.array([0, 2])}
    if is_castwise:
        return {name: cw.asarray(array, dialect="numpy") for name, array in made.items()}
    return made


@each(("dtype", "call"), itertools.product(DTYPES, calls(IN_BOTH) + calls(IN_NUMPY)))
def test_a_call_gives_what_it_gives_in_numpy(dtype: str, call: str) -> None:
    try:
        expected = eval(call, names(dtype, is_castwise=False))
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            eval(call, names(dtype, is_castwise=True))
        return
    check_the_same(eval(call, names(dtype, is_castwise=True)), expected)
