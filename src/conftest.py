"""Leaves out, of the examples in docstrings, the backends whose library is not installed."""

from importlib.util import find_spec
from pathlib import Path

_BACKENDS = Path(__file__).parent / "castwise" / "arrays" / "backends"
collect_ignore = [
    str(place)
    for place in _BACKENDS.iterdir()
    if not place.name.startswith("_") and find_spec(place.stem.partition("_")[0]) is None
]
