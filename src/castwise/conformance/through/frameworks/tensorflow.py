"""TensorFlow's graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.conformance.through.transformation import Function, Transformation

_MANY = 100


def _function() -> Transformation:
    import tensorflow as tf

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return tf.function(lambda *x: function(*x), autograph=False)(*arrays)

    return Transformation("tf.function", run, "tf.function({f})({arrays})", "", _MANY)


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {"tf.function": _function}
