"""Values in a saved graph: JSON, with a tag for what JSON lacks, such as {"tuple": [1, 2]}."""

from __future__ import annotations

import base64
import math
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.execute.backend import backend_named
from castwise.execute.backends import DEFAULT
from castwise.graph.program import Given
from castwise.graph.shapes.sizes import Size
from castwise.graph.shapes.terms import terms_of, text_of
from castwise.graph.structure import Slot
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.live import to_dtype

_DTYPES = {held.name: held for held in DTYPES}


def to_json(value: Any) -> Any:
    """A value as JSON.

    Raises UsageError if it cannot be saved.
    """
    if type(value) in (type(None), bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [to_json(part) for part in value]
    for kind, (tag, content) in _TO_JSON.items():
        if type(value) is kind:
            return {tag: content(value)}
    return _base_to_json(value)


def _base_to_json(value: Any) -> Any:
    """A library's subclass of a number, an array or a tuple."""
    import numpy as np

    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [to_json(part) for part in value]
        return {"named tuple": [type(value).__name__, list(value._fields), parts]}
    if isinstance(value, np.ndarray):
        return {"array": _array_to_json(value)}
    if isinstance(value, np.generic):
        return to_json(value.item())
    raise UsageError(
        f"a {type(value).__name__} cannot be saved: results of the traced function, and options, "
        "may only contain numbers, text, lists, tuples and dicts."
    )


def from_json(said: Any) -> Any:
    """The value that JSON represents.

    Raises UsageError if it does not represent one.
    """
    if isinstance(said, list):
        return [from_json(part) for part in said]
    if not isinstance(said, dict):
        return said
    if len(said) != 1:
        raise UsageError(f"a value must have one tag, not {len(said)}.")
    tag, content = next(iter(said.items()))
    if tag not in _FROM_JSON:
        raise UsageError(
            f"a value has the unknown tag {tag[:40]!r}.{did_you_mean(tag, _FROM_JSON)}"
        )
    return _FROM_JSON[tag](content)


def read_dtype(name: Any) -> DType:
    """The dtype with a name, which must be spelled in full."""
    if name in _DTYPES:
        return _DTYPES[name]
    raise UsageError(f"unknown dtype {str(name)[:40]!r}.{did_you_mean(str(name), _DTYPES)}")


def read_size(size: Any) -> int | Size:
    """A size: a non-negative number, or text."""
    if isinstance(size, str):
        found = text_of(terms_of(size))
        if found == size:
            return Size(size)
    elif isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    raise UsageError(f"{str(size)[:40]!r} is not a size.")


def read_shape(sizes: Any) -> tuple[int | str, ...]:
    """A shape."""
    return tuple([read_size(size) for size in sizes])


def _array_to_json(array: Any) -> dict[str, Any]:
    """An array as the bytes of its elements, in little-endian order."""
    held = to_dtype(array.dtype)
    plain = array.astype(backend_named(DEFAULT).native(held), order="C")
    laid = plain if sys.byteorder == "little" else plain.byteswap()
    text = base64.b64encode(laid.tobytes()).decode("ascii")
    return {"dtype": held.name, "shape": list(array.shape), "base64": text}


def _read_array(said: Any) -> Any:
    import numpy as np

    data = base64.b64decode(said["base64"], validate=True)
    native = np.dtype(backend_named(DEFAULT).native(read_dtype(said["dtype"])))
    shape = [int(size) for size in read_shape(said["shape"])]
    if math.prod(shape) * native.itemsize != len(data):
        raise UsageError(f"{len(data)} bytes do not fill an array of shape {shape}.")
    made = np.frombuffer(data, native).reshape(shape)
    return made.copy() if sys.byteorder == "little" else made.byteswap()


def _read_named_tuple(said: Any) -> Any:
    name, names, parts = said
    return namedtuple(name, names)(*from_json(parts))


_TO_JSON: dict[type, tuple[str, Callable[[Any], Any]]] = {
    complex: ("complex", lambda z: [repr(z.real), repr(z.imag)]),
    tuple: ("tuple", lambda parts: [to_json(part) for part in parts]),
    dict: ("dict", lambda pairs: [[to_json(key), to_json(part)] for key, part in pairs.items()]),
    slice: ("slice", lambda s: [to_json(s.start), to_json(s.stop), to_json(s.step)]),
    type(Ellipsis): ("ellipsis", lambda _: None),
    Size: ("size", str),
    Given: ("input", lambda given: given.number),
    Slot: ("output", lambda slot: slot.number),
    DType: ("dtype", str),
}
_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "complex": lambda parts: complex(*map(float, parts)),
    "tuple": lambda parts: tuple([from_json(part) for part in parts]),
    "named tuple": _read_named_tuple,
    "dict": lambda pairs: {from_json(key): from_json(part) for key, part in pairs},
    "slice": lambda parts: slice(*[from_json(part) for part in parts]),
    "ellipsis": lambda _: ...,
    "size": read_size,
    "input": lambda number: Given(int(number)),
    "output": lambda number: Slot(int(number)),
    "dtype": read_dtype,
    "array": _read_array,
}
