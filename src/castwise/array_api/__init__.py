"""The Python Array API standard, 2025.12, as a namespace of castwise tensors.

Its dialect is the standard's own. Under `cw.use` and with `asarray(..., dialect=...)` the same
functions follow another dialect. Functions beyond the standard are in `beyond` and `layers`. All
other ops get a function made from their rows.

>>> from castwise import array_api as xp
>>> xp.sum(xp.asarray([1, 2, 3], dtype=xp.int8)).dtype
int64
"""

from castwise.array_api import fft as fft
from castwise.array_api import linalg as linalg
from castwise.array_api.beyond import *  # noqa: F403
from castwise.array_api.beyond import functions_from_rows as _functions_from_rows
from castwise.array_api.constants import *  # noqa: F403
from castwise.array_api.creation import *  # noqa: F403
from castwise.array_api.functions import *  # noqa: F403
from castwise.array_api.inspection import *  # noqa: F403
from castwise.array_api.layers import *  # noqa: F403
from castwise.arrays.operators import VERSION

__array_api_version__ = VERSION
globals().update(_functions_from_rows(globals()))
