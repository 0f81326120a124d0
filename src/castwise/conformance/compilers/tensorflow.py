"""TensorFlow's graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.conformance.questions import GridQuestion
from castwise.conformance.through import Function, Transformation

_MANY = 100


def _function() -> Transformation:
    import tensorflow as tf

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return tf.function(lambda *x: function(*x), autograph=False)(*arrays)

    def leaves_out(question: GridQuestion) -> bool:
        return question.form == "inplace"  # a call would make a variable, which a graph may not

    return Transformation(
        "tf.function", run, "tf.function({f})({arrays})", "", _MANY, leaves_out=leaves_out
    )


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {"tf.function": _function}
