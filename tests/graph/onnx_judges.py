"""What ONNX's runtimes compute, compared to what castwise computes: arrays, judges and rules."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from castwise.arrays.backends import backend_named
from castwise.graph.program import Program
from castwise.graph.run import run_program
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import OPS
from onnx_support import count_of_operands

NUMPY = backend_named("numpy")
# Families in which castwise's values are rounded once, or not at all: bit-equal.
EXACT_FAMILIES = {"arithmetic", "comparison", "logic", "bits", "extrema", "selection", "joining",
                  "predicates"}  # fmt: skip
EXACT = {"abs", "neg", "positive", "square", "conj", "sign", "floor", "ceil", "round", "trunc",
         "relu", "threshold", "sqrt", "real", "imag", "heaviside", "nextafter", "copysign",
         "max", "min"}  # fmt: skip
ULPS = {"pow": 1, "float_power": 1}  # others: a few
# onnxruntime has no Tan of float64, which is written as Sin / Cos; and its Cos of float64 is off by
# 1e-16 where it is nearly zero: 4 units in the last place at 1.5, more towards the pole.
TAN_BY_COS = 8


def is_exact(name: str, held: DType) -> bool:
    """Whether values must be bit-equal: everything that is not float, or is rounded once."""
    if name in ULPS and held.kind in ("float", "complex"):
        return False
    if name == "sqrt" and held.kind == "complex":  # which no library rounds once
        return False
    has_int_result = held.kind in ("bool", "int") or OPS[name].result in ("bool", "index")
    return has_int_result or name in EXACT or OPS[name].family in EXACT_FAMILIES


def samples(held: DType) -> Any:
    """Values of a dtype, with its limits and special values."""
    if held.kind == "bool":
        return np.array([True, False, True])
    if held.kind == "int":
        numbers = [0, 1, 2, 3, 5, 7, 31, 40, 70, held.max, held.max - 1, held.min, held.min + 1,
                   -1, -2, -3, -7]  # fmt: skip
        kept = [number for number in numbers if held.min <= number <= held.max]
        return cast(np.array(kept, np.uint64 if held.max > 2**63 else np.int64), held)
    if held.kind == "complex":
        return np.array([0, 1, -1, 1j, -1j, 1 + 2j, -3.5 + 0.25j, 2 - 2j], np.complex128).astype(
            held.name
        )
    if held.specials == "fnu":
        return cast(np.array([0.25, 0.5, 1, 2, 4, 8, 16, np.nan]), held)
    numbers = [0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -3.0, 7.0, 1e-3, -9.0, 100.0,
               held.max, held.min, held.smallest]  # fmt: skip
    specials = [] if held.specials == "finite" else [np.inf, -np.inf, np.nan]
    return cast(np.array([*numbers, *specials]), held)


def cast(array: Any, held: DType) -> Any:
    return NUMPY.cast(array, held)


def arrays_for(name: str, held: DType) -> list[Any]:
    """Operands: every pair of samples for elementwise ops, otherwise moderate ones."""
    row, values, count = OPS[name], samples(held), count_of_operands(name)
    if row.family in ("reductions", "products", "losses") or name in ("softmax", "log_softmax"):
        matrix = np.resize(moderate(values, held), (4, 3) if name == "cross" else (4, 5))
        is_turned = name in ("matmul", "dot", "outer", "kron")  # others sum over the same places
        return [matrix, matrix.T.copy() if is_turned else np.flip(matrix)][:count]
    if name == "signbit":  # the sign of NaN is nobody's
        return [values[values == values]]
    if count == 1:
        return [values]
    if name == "pow" and held.kind == "int":  # negative ones are refused
        exponents = values[values.astype(object) >= 0]
        return [np.repeat(values, len(exponents)), np.tile(exponents, len(values))]
    if name == "copysign":  # the sign of NaN is nobody's, and formats without -0 have none of it
        signs = values[~np.isnan(values.astype(np.float64))]
        sizes = values[values != 0]
        return [np.repeat(sizes, len(signs)), np.tile(signs, len(sizes))]
    if row.is_condition_first:
        pairs = len(values) ** 2
        return [np.resize([True, False], pairs), np.repeat(values, len(values)),
                np.tile(values, len(values))]  # fmt: skip
    if count == 2:
        return [np.repeat(values, len(values)), np.tile(values, len(values))]
    return [grid.ravel() for grid in np.meshgrid(*[values[::2]] * 3)]


def moderate(values: Any, held: DType) -> Any:
    """Without what makes every sum infinite, or NaN."""
    if held.kind != "float":
        return values
    wide = values.astype(np.float64)
    return values[np.isfinite(wide) & (np.abs(wide) < 50)]


def by_reference(model: Any, arrays: list[Any]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    names = [value.name for value in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))


def runtime_session(model: Any) -> Any:
    """A session without optimisations, which leave out roundings; None if a kernel is missing."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error) or "not currently registered" in str(error):
            return None
        raise


def by_runtime(session: Any, arrays: list[Any]) -> list[Any]:
    names = [value.name for value in session.get_inputs()]
    found: list[Any] = session.run(None, dict(zip(names, arrays, strict=True)))
    return found


def outside_of(held: DType) -> DType | None:
    """What arrays a runtime is given in the place of those it cannot be given."""
    is_native = held.bits >= 8 if held.kind == "int" else held.name in ("float16", "bool")
    if is_native or held.bits >= 32:
        return None
    return dtype("float32" if held.kind == "float" else "int32")


def own_result(program: Program, arrays: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(run_program(program, arrays).numpy())


def difference(name: str, held: DType, wanted: Any, found: Any, arrays: list[Any]) -> str:
    """How a result breaks the rules; nothing if it keeps them."""
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return f"{found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}"
    if name == "pow" and held.kind == "complex":  # by NumPy in float32, which adds up
        with np.errstate(all="ignore"):
            return _apart(wanted, found, 32, np.abs(wanted))
    ulps = 0 if is_exact(name, held) else ULPS.get(name, 4)
    if (name, held.name) == ("tan", "float64"):
        ulps = TAN_BY_COS
    return _apart(wanted, found, ulps, _scale(name, arrays))


def _scale(name: str, arrays: list[Any]) -> Any:
    """How large the numbers were that a result was added up from."""
    sizes = [np.abs(array.astype(np.complex128)) for array in arrays]
    sizes = [np.where(np.isfinite(size), size, 0) for size in sizes]
    if name in ("gelu", "logaddexp"):
        return np.maximum.reduce(sizes)
    if OPS[name].family in ("reductions", "products", "losses") or name == "log_softmax":
        largest = max(float(size.max(initial=0)) for size in sizes)
        return largest**2 if name in ("var", "matmul", "dot", "mse_loss") else largest
    return 0.0


def _apart(wanted: Any, found: Any, ulps: float, scale: Any) -> str:
    if wanted.dtype.kind == "c":
        return _apart(wanted.real, found.real, ulps, scale) or _apart(
            wanted.imag, found.imag, ulps, scale
        )
    if wanted.dtype.kind in "biu" or "int" in str(wanted.dtype):
        is_bad = wanted != found
    else:
        is_bad = ~_are_near(wanted, found, ulps, scale)
    if not is_bad.any():
        return ""
    return f"{is_bad.sum()} differ: {found[is_bad][:4]}, not {wanted[is_bad][:4]}"


def _are_near(wanted: Any, found: Any, ulps: float, scale: Any) -> Any:
    limits = ml_dtypes.finfo(wanted.dtype)
    eps, least = float(limits.eps), float(limits.smallest_subnormal)
    one, other = wanted.astype(np.float64), found.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(one), scale)
        ulp = np.maximum(2.0 ** np.floor(np.log2(size)) * eps, least)
        are_near = np.abs(one - other) <= ulps * ulp
    return (one == other) | (np.isnan(one) & np.isnan(other)) | are_near
