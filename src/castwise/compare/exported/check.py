"""Compares every output of an exported model with what the function returns."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from castwise.compare.exported.model import (
    Input,
    Origin,
    casts,
    model_inputs,
    origin,
    read_model,
    sized,
)
from castwise.compare.exported.reference import Reference, called
from castwise.conformance.through.onnx_models import model_session, require_packages, run_session
from castwise.conformance.values.apart import ulps_apart
from castwise.errors import UsageError

_ULPS = 16  # that an output may be off, because sums are added up in another order
_INTEGERS = 5  # inputs hold integers below, which are places of small arrays, too
_PACKAGES = ("onnx", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Checking:
    """How a model is checked."""

    sizes: Mapping[str, int] = field(default_factory=dict)  # of dimensions that have a name
    seed: int = 0
    inputs: Path | None = None  # an .npz file
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the model beside that of the function; None for one that is not there."""

    name: str
    model: str | None  # as float32[2,3]
    reference: str | None
    ulps: float | None = None  # the largest distance between values of one dtype and shape
    differing: int = 0  # elements that are further apart than is allowed
    origin: Origin | None = None  # the node from which a dtype differs
    problem: str = ""  # missing, extra, dtype, shape, values


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """What differs between a model and the function it was exported from."""

    model: str
    reference: str
    framework: str
    versions: dict[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[Output, ...]
    casts: tuple[Origin, ...]

    @property
    def agrees(self) -> bool:
        """Whether no output differs."""
        return not any(output.problem for output in self.outputs)


def check_export(path: Path, reference: Reference, checking: Checking) -> ExportCheck:
    """Runs both on the same inputs.

    Raises UsageError where one of them cannot be run.
    """
    import numpy as np

    model = read_model(path)
    inputs = sized(model_inputs(model), checking.sizes)
    arrays = _read(checking.inputs, inputs) if checking.inputs else _made(inputs, checking.seed)
    expected = called(reference, arrays)
    try:
        results = run_session(model_session(model), arrays)
    except Exception as error:  # its errors have no other class in common
        raise UsageError(f"onnxruntime does not run {path}: {error}") from error
    names = [value.name for value in model.graph.output]
    outputs = []
    with np.errstate(all="ignore"):
        for name, result, wanted in zip_longest(names, results, expected):
            outputs.append(_compared(model, arrays, name, (result, wanted), checking.is_exact))
    return ExportCheck(
        str(path),
        reference.name,
        reference.backend.name,
        {name: importlib.metadata.version(name) for name in _PACKAGES},
        tuple(f"{one.name} {_text(array)}" for one, array in zip(inputs, arrays, strict=True)),
        tuple(outputs),
        tuple(casts(model)),
    )


def require_runtime() -> None:
    """Checks that onnx and onnxruntime are there.

    Raises UsageError, which names the missing ones.
    """
    try:
        require_packages(*_PACKAGES)
    except ImportError as error:
        raise UsageError(f"check-export: {error}") from None


def _compared(
    model: Any, arrays: Sequence[Any], name: str | None, pair: tuple[Any, Any], is_exact: bool
) -> Output:
    """An output beside what is expected, with the first thing in which it differs."""
    result, wanted = pair
    if name is None:
        return Output("", None, _text(wanted), problem="missing")
    if wanted is None:
        return Output(name, _text(result), None, problem="extra")
    texts = (name, _text(result), _text(wanted))
    if result.dtype != wanted.dtype:
        return Output(*texts, origin=origin(model, arrays, name), problem="dtype")
    if result.shape != wanted.shape:
        return Output(*texts, problem="shape")
    ulps = ulps_apart(result, wanted)
    far = _have_other_bits(result, wanted) if is_exact else _are_far(result, wanted)
    count = int(far.sum())
    most = float(ulps.max(initial=0))
    return Output(*texts, most, count, problem="values" if count else "")


def _have_other_bits(result: Any, wanted: Any) -> Any:
    """Which elements differ in their bits; NaNs are equal."""
    import numpy as np

    one, other = (np.array(x)[..., None].view("uint8") for x in (result, wanted))
    are_nan = (result != result) & (wanted != wanted)
    return (one != other).any(axis=-1) & ~are_nan


def _are_far(result: Any, wanted: Any) -> Any:
    """Which elements differ by more than the dtype's precision explains: by more than some units
    in the last place of the number, or of the output's typical size where that is larger."""
    import ml_dtypes
    import numpy as np

    if wanted.dtype.kind in "biu" or "int" in wanted.dtype.name:
        return result != wanted
    is_complex = wanted.dtype.kind == "c"
    wide = "complex128" if is_complex else "float64"
    one, other = result.astype(wide), wanted.astype(wide)
    finite = other[np.isfinite(other)]
    typical = np.sqrt(np.mean(np.abs(finite) ** 2)) if finite.size else 0.0
    unit = float(ml_dtypes.finfo(wanted.real.dtype if is_complex else wanted.dtype).eps)
    near = np.abs(one - other) <= _ULPS * unit * np.maximum(np.abs(other), typical)
    return ~(near & np.isfinite(other) | (one == other) | (np.isnan(one) & np.isnan(other)))


def _text(array: Any) -> str:
    return f"{array.dtype.name}[{','.join(map(str, array.shape))}]"


def _made(inputs: Sequence[Input], seed: int) -> list[Any]:
    """Inputs of random numbers: floats around zero, and small integers."""
    import numpy as np

    random = np.random.default_rng(seed)
    made = []
    for one in inputs:
        if one.dtype.kind == "c":
            numbers = random.standard_normal(one.shape) + 1j * random.standard_normal(one.shape)
        elif one.dtype.name == "bool" or "int" in one.dtype.name:
            most = 2 if one.dtype.name == "bool" else _INTEGERS
            numbers = random.integers(0, most, one.shape)
        else:
            numbers = random.standard_normal(one.shape)
        made.append(np.asarray(numbers).astype(one.dtype))
    return made


def _read(file: Path, inputs: Sequence[Input]) -> list[Any]:
    """The arrays of a file, by the names of the inputs, or else in order."""
    import numpy as np

    try:
        stored = dict(np.load(file))
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{file} is not an .npz file: {error}") from None
    if len(stored) != len(inputs):
        raise UsageError(f"{file} has {len(stored)} arrays; the model has {len(inputs)} inputs.")
    has_names = all(one.name in stored for one in inputs)
    arrays = [stored[one.name] for one in inputs] if has_names else list(stored.values())
    for one, array in zip(inputs, arrays, strict=True):
        if array.dtype != one.dtype:
            raise UsageError(
                f"{file}: the input {one.name!r} is {one.dtype.name}, the array {array.dtype.name}."
            )
    return arrays
