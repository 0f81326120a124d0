"""The Python Array API standard, 2025.12, as a namespace of castwise tensors.

Its dialect is the standard's own. Under `cw.use` and with `asarray(..., dialect=...)` the same
functions follow another dialect. Functions beyond the standard are in `beyond` and `layers`. All
other ops get a function made from their rows.

>>> from castwise import array_api as xp
>>> xp.sum(xp.asarray([1, 2, 3], dtype=xp.int8)).dtype
int64
"""

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from castwise.array_api import fft as fft
from castwise.array_api import linalg as linalg
from castwise.array_api.beyond import *  # noqa: F403
from castwise.array_api.beyond import functions_from_rows as _functions_from_rows
from castwise.array_api.creation import *  # noqa: F403
from castwise.array_api.creation import STANDARD_DTYPES as _STANDARD_DTYPES
from castwise.array_api.functions import *  # noqa: F403
from castwise.array_api.layers import *  # noqa: F403
from castwise.arrays.operators import VERSION

__array_api_version__ = VERSION

newaxis = None
(
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64,
    complex128,
) = _STANDARD_DTYPES  # fmt: skip

# Every other op.
globals().update(_functions_from_rows(globals()))
