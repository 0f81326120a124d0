"""What the ONNX ops accept, as the installed onnx lists it."""

from __future__ import annotations

import functools
from typing import Any

from castwise.graph.onnx.dtypes import LackingError, onnx_package, type_text
from castwise.vocab.dtypes import DType

# Which input has the compute dtype, if it is not the first.
MAIN_INPUT = {"Where": 1}


def is_listed(op: str, held: DType, opset: int, place: int = 0) -> bool:
    """Whether an op of an opset takes a dtype as one of its inputs.

    Raises LackingError if the opset has no such op.
    """
    return type_text(held) in _accepted_types(op, opset, place)


def first_listing(op: str, held: DType, opset: int, place: int) -> int | None:
    """The first later opset in which an op takes a dtype; None if there is none."""
    newest: int = onnx_package().defs.onnx_opset_version()
    return next((n for n in range(opset + 1, newest + 1) if is_listed(op, held, n, place)), None)


@functools.lru_cache(maxsize=4096)
def _accepted_types(op: str, opset: int, place: int) -> frozenset[str]:
    schema = _schema(op, opset)
    formal = schema.inputs[min(place, len(schema.inputs) - 1)]
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    return frozenset(allowed.get(formal.type_str, [formal.type_str]))


@functools.lru_cache(maxsize=4096)
def has_main_type(op: str, opset: int, place: int) -> bool:
    """Whether an input has the op's compute dtype."""
    inputs = _schema(op, opset).inputs
    main = inputs[MAIN_INPUT.get(op, 0)]
    return inputs[min(place, len(inputs) - 1)].type_str == main.type_str  # type: ignore[no-any-return]


def _schema(op: str, opset: int) -> Any:
    defs = onnx_package().defs
    try:
        return defs.get_schema(op, max_inclusive_version=opset, domain="")
    except defs.SchemaError:
        pass
    try:
        newest = defs.get_schema(op, domain="").since_version
    except defs.SchemaError:
        raise LackingError(f"the installed onnx has no op {op}; a newer one does") from None
    raise LackingError(f"it needs ONNX's op {op}: write opset={newest} or newer")
