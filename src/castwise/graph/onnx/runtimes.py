"""What ONNX and its runtimes have: kernels, names of dtypes, opsets, and what each op takes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from castwise.conformance.onnx_models import model_session
from castwise.errors import UsageError, did_you_mean
from castwise.graph.onnx import onnxruntime
from castwise.version import __version__
from castwise.vocab.dtypes import DType, dtype

# Runtimes: one data file for each, which tools/onnx_runtimes.py writes by testing it.


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime at a version: the newest opset it supports, and what it lacks on the CPU."""

    name: str
    version: str
    opset: int
    has_no: frozenset[str]  # dtypes that it has no arrays of
    lacks: Mapping[str, frozenset[str]]  # ONNX op -> dtypes without a kernel
    differs: Mapping[str, frozenset[str]]  # op -> dtypes in which it computes something different
    casts: frozenset[str]  # "float64:float16": casts that round or overflow differently

    def computes(self, op: str, held: DType) -> bool:
        """Whether it has a kernel for an op in a dtype that does what ONNX defines."""
        return held.name not in self.lacks.get(op, ()) and held.name not in self.differs.get(op, ())

    def casts_differently(self, source: DType, target: DType) -> bool:
        """Whether its cast between two dtypes differs from ONNX."""
        return f"{source}:{target}" in self.casts


_RUNTIMES = {"onnxruntime": onnxruntime}


@functools.cache
def runtime_named(name: str) -> Runtime:
    """The runtime of a name.

    Raises UsageError for an unknown one.
    """
    if name not in _RUNTIMES:
        hint = did_you_mean(str(name), _RUNTIMES)
        raise UsageError(
            f"castwise does not know the runtime {str(name)[:40]!r}.{hint} It knows "
            f"{', '.join(_RUNTIMES)}."
        )
    data = _RUNTIMES[name]
    lacks, differs = (
        {op: frozenset(dtypes.split()) for op, dtypes in table.items()}
        for table in (data.LACKS, data.DIFFERS)
    )
    has_no, casts = frozenset(data.HAS_NO.split()), frozenset(data.CASTS.split())
    return Runtime(name, data.VERSION, data.OPSET, has_no, lacks, differs, casts)


# The dtypes of castwise in ONNX: their names there, and their compute dtypes.

_SAME = "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64"
# castwise's name -> the name in onnx.TensorProto; ops use its lower case in their types
ONNX_NAMES = {
    **{name: name.upper() for name in [*_SAME.split(), "bfloat16", "float16"]},
    "float32": "FLOAT", "float64": "DOUBLE", "complex64": "COMPLEX64", "complex128": "COMPLEX128",
    "float4_e2m1fn": "FLOAT4E2M1", "float6_e2m3fn": "FLOAT6E2M3", "float6_e3m2fn": "FLOAT6E3M2",
    "float8_e4m3fn": "FLOAT8E4M3FN", "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8_e5m2": "FLOAT8E5M2", "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    "float8_e8m0fnu": "FLOAT8E8M0",
}  # fmt: skip
# The compute dtypes of small dtypes, which are then rounded, or wrapped, once.
_WIDER = {"bool": "int32", "int": "int32", "float": "float32"}


class LackingError(UsageError):
    """Raised for something that ONNX, or this opset, does not have."""


def onnx_package() -> Any:
    """The package onnx.

    Raises UsageError if it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        what = "writing ONNX needs the package onnx: pip install castwise[onnx]"
        raise UsageError(what) from error
    return onnx


def element_type(wanted: DType) -> int:
    """The number of a dtype in onnx.TensorProto.

    Raises LackingError if ONNX has no such dtype.
    """
    name = ONNX_NAMES.get(wanted.name)
    if name is None:
        raise LackingError(f"ONNX has no {wanted}")
    found: int | None = getattr(onnx_package().TensorProto, name, None)
    if found is None:
        raise LackingError(f"the installed onnx has no {wanted}; a newer one does")
    return found


def type_text(held: DType) -> str:
    """The type of a tensor, as ONNX lists it for its ops.

    Raises LackingError if ONNX has no such dtype.
    """
    if held.name not in ONNX_NAMES:
        raise LackingError(f"ONNX has no {held}")
    return f"tensor({ONNX_NAMES[held.name].lower()})"


def wider(small: DType) -> DType:
    """The compute dtype of a dtype that ONNX's op does not take; itself if it is wide.

    >>> wider(dtype("float8_e5m2")), wider(dtype("int4")), wider(dtype("float64"))
    (float32, int32, float64)
    """
    name = _WIDER.get(small.kind)
    return small if name is None or small.bits >= 32 else dtype(name)


# What the installed onnx and onnxruntime support: opsets and models.

OLDEST = 18  # the first opset with axes as inputs of reductions, and with bitwise ops


def current_opset() -> int:
    """The newest opset that onnx knows and, if installed, onnxruntime supports."""
    newest: int = onnx_package().defs.onnx_opset_version()
    return next((n for n in range(newest, OLDEST, -1) if _is_supported(n)), OLDEST)


@functools.cache
def _is_supported(opset: int) -> bool:
    """Whether the installed onnxruntime loads models of an opset; true if it is not installed."""
    helper = onnx_package().helper
    x, y = (helper.make_tensor_value_info(name, 1, ()) for name in ("x", "y"))
    body = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", [x], [y])
    return runtime_loads(stamped_model(body, opset)) is not False


def runtime_loads(model: Any) -> bool | None:
    """Whether the installed onnxruntime has everything a model needs; None if it is not
    installed."""
    try:
        runtime_session(model)
    except ImportError:
        return None
    except Exception:  # its errors have no other common class
        return False
    return True


def runtime_session(model: Any) -> Any:
    """A session of the installed onnxruntime on the CPU, without its optimisations."""
    return model_session(model, is_optimised=False)


def chosen_opset(opset: int | None, runtime: Runtime | None) -> int:
    """The requested opset, or the newest that is known and supported."""
    newest: int = onnx_package().defs.onnx_opset_version()
    if opset is None:
        return min(newest, runtime.opset) if runtime else current_opset()
    known = f"with {runtime.name} {runtime.version}" if runtime else "with the installed onnx"
    last = min(newest, runtime.opset) if runtime else newest
    if not OLDEST <= opset <= last:
        raise UsageError(f"opset must be {OLDEST} to {last} {known}, not {opset}.")
    return opset


def stamped_model(body: Any, opset: int) -> Any:
    """A model of an opset, in the oldest file format that has it."""
    helper = onnx_package().helper
    opsets = [helper.make_opsetid("", opset)]
    oldest = helper.find_min_ir_version_for(opsets)
    return helper.make_model(body, opset_imports=opsets, ir_version=oldest,
                             producer_name="castwise", producer_version=__version__)  # fmt: skip


# What the ONNX ops accept, as the installed onnx lists it.

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
