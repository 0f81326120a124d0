"""Compares every output of an exported model with what the function returns."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from castwise.arrays.backend import Backend
from castwise.arrays.backends import DEFAULT_BACKEND, array_backend, backend_named, backend_names
from castwise.conformance.onnx_models import model_session, require_packages, run_session
from castwise.conformance.values import ulps_apart
from castwise.errors import UsageError, did_you_mean
from castwise.graph.onnx.runtimes import onnx_package
from castwise.vocab.live import to_dtype

# An ONNX model of any exporter: its inputs, its casts, and where a dtype comes from.

_SIZE = 3  # of a dimension that has only a name
_CASTS = ("Cast", "CastLike")


class Input(NamedTuple):
    """An input of a model."""

    name: str
    dtype: Any  # NumPy's
    shape: tuple[int | str, ...]  # a name where the size is open


class Origin(NamedTuple):
    """A node, and the dtypes of its first input and of its result."""

    node: str
    op: str
    source: str
    target: str


def _read_model(path: Path) -> Any:
    """The model in a file.

    Raises UsageError where it is not a model.
    """
    onnx = onnx_package()
    try:
        model = onnx.load(path)
    except OSError:
        raise
    except Exception as error:  # that of protobuf, or of the file with the weights
        raise UsageError(f"{path} cannot be read as an ONNX model: {error}.") from None
    if not model.graph.output:
        raise UsageError(f"{path} is not an ONNX model: it has no outputs.")
    return model


def _model_inputs(model: Any) -> list[Input]:
    """The inputs that a model has to be given.

    Raises UsageError for one that is not a tensor.
    """
    weights = {tensor.name for tensor in model.graph.initializer}
    return [_input(value) for value in model.graph.input if value.name not in weights]


def _input(value: Any) -> Input:
    if not value.type.HasField("tensor_type"):
        raise UsageError(f"the model's input {value.name!r} is not a tensor.")
    tensor = value.type.tensor_type
    shape = tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or f"{value.name}.{at}"
        for at, dim in enumerate(tensor.shape.dim)
    )
    return Input(value.name, _numpy_dtype(tensor.elem_type), shape)


def sized(inputs: Sequence[Input], sizes: Mapping[str, int]) -> list[Input]:
    """The inputs with a size for every dimension.

    Raises UsageError for the size of a dimension that no input has.
    """
    known = {dim for one in inputs for dim in one.shape if isinstance(dim, str)}
    for name in sizes:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"--dim {name}: no input has it. Dimensions with a name: {listed}.")

    def size(dim: int | str) -> int:
        return dim if isinstance(dim, int) else sizes.get(dim, _SIZE)

    return [one._replace(shape=tuple(map(size, one.shape))) for one in inputs]


def casts(model: Any) -> list[Origin]:
    """Every node that casts, in the order of the model."""
    types = _inferred(model)
    return [_origin(node, types) for node in model.graph.node if node.op_type in _CASTS]


def origin(model: Any, arrays: Sequence[Any], output: str) -> Origin | None:
    """The node from which an output has its dtype; None where an input has it already.

    The model runs with every value as an output. From the output it goes back to nodes whose
    result has the same dtype, until none of a node's inputs has it.
    """
    types = _computed(model, arrays)
    makers = {name: node for node in model.graph.node for name in node.output}
    known = {*makers, *(value.name for value in model.graph.input)}
    name, dtype = output, types.get(output)
    while name in makers:
        given = makers[name].input
        before = next((v for v in given if types.get(v) == dtype and v in known), None)
        if before is None:
            return _origin(makers[name], types)
        name = before
    return None


def _origin(node: Any, types: Mapping[str, str]) -> Origin:
    source = types.get(node.input[0], "?") if node.input else ""
    return Origin(node.name or node.output[0], node.op_type, source, types.get(node.output[0], "?"))


def _inferred(model: Any) -> dict[str, str]:
    """The dtypes of values by name, as ONNX infers them."""
    onnx = onnx_package()
    graph = onnx.shape_inference.infer_shapes(model).graph
    types = {
        value.name: _name(value.type.tensor_type.elem_type)
        for value in (*graph.input, *graph.value_info, *graph.output)
        if value.type.tensor_type.elem_type
    }
    return {**{tensor.name: _name(tensor.data_type) for tensor in graph.initializer}, **types}


def _computed(model: Any, arrays: Sequence[Any]) -> dict[str, str]:
    """The dtypes of values by name, of which those of nodes are as onnxruntime computed them."""
    onnx = onnx_package()
    types = _inferred(model)
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    own = {value.name for value in model.graph.output}
    for node in model.graph.node:
        names = [name for name in node.output if name and name not in own]
        wide.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    names = [value.name for value in wide.graph.output]
    results = run_session(model_session(wide, is_optimised=False), arrays)
    return types | dict(zip(names, (str(r.dtype.name) for r in results), strict=True))


def _numpy_dtype(element: int) -> Any:
    return onnx_package().helper.tensor_dtype_to_np_dtype(element)


def _name(element: int) -> str:
    return str(_numpy_dtype(element).name)


# The function that a model was exported from, in a file of the user's.


class Reference(NamedTuple):
    """A function, and the arrays it is called with."""

    name: str  # as it was given, file.py:function
    function: Callable[..., Any]
    backend: Backend


def load_reference(name: str, framework: str | None = None) -> Reference:
    """The function of `file.py:function`; an object that can be called does as well.

    Its arrays are those of the first array library that the file imports besides NumPy, or of the
    framework that is named.

    Raises UsageError where the file or the function is not there.
    """
    path, _, function = name.rpartition(":")
    file = Path(path)
    if not path or not function.isidentifier():
        raise UsageError(f"{name!r} names no function: write FILE.py:FUNCTION.")
    if not file.is_file():
        raise UsageError(f"{file} is not there.")
    module = _imported(file)
    found = getattr(module, function, None)
    if found is None:
        raise UsageError(f"{file} has no {function!r}.{did_you_mean(function, vars(module))}")
    if not callable(found) or isinstance(found, type):
        raise UsageError(f"{function!r} of {file} is not a function: it cannot be called.")
    return Reference(name, found, backend_named(framework or _imports(file)))


def called(reference: Reference, arrays: Sequence[Any]) -> list[Any]:
    """What the function returns for NumPy arrays, as NumPy arrays.

    Raises UsageError where it raises, or returns something that is not an array.
    """
    backend = reference.backend
    given = [backend.make(x, to_dtype(x.dtype), copy=True, device=None) for x in arrays]
    _check_count(reference, len(given))
    try:
        results = reference.function(*given)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{reference.name} raises with the model's inputs: {said}") from error
    return [_to_numpy(result, reference) for result in _listed(results)]


def _check_count(reference: Reference, count: int) -> None:
    try:
        inspect.signature(reference.function).bind(*[None] * count)
    except TypeError as error:
        inputs = f"{count} input{'s' * (count != 1)}"
        raise UsageError(f"{reference.name} does not take the model's {inputs}: {error}.") from None
    except ValueError:  # a function that does not tell its parameters
        return


def _listed(results: Any) -> list[Any]:
    if isinstance(results, Mapping):
        return list(results.values())
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _to_numpy(result: Any, reference: Reference) -> Any:
    import numpy as np

    backend = array_backend(result)
    if backend is None:
        raise UsageError(f"{reference.name} returns a {type(result).__name__}, not an array.")
    return np.asarray(backend.to_numpy(result))


def _imported(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent.resolve()))  # for what lies beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _imports(file: Path) -> str:
    """The first array library that a file imports besides the default one."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
    others = {*backend_names()} - {DEFAULT_BACKEND}
    roots = (module.partition(".")[0] for module in modules)
    return next(filter(others.__contains__, roots), DEFAULT_BACKEND)


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

    model = _read_model(path)
    inputs = sized(_model_inputs(model), checking.sizes)
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
    most = float(ulps_apart(result, wanted).max(initial=0))
    far = _have_other_bits(result, wanted) if is_exact else _are_far(result, wanted)
    count = int(far.sum())
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
    for _, dtype, shape in inputs:
        if dtype.name == "bool" or "int" in dtype.name:
            numbers = random.integers(0, 2 if dtype.name == "bool" else _INTEGERS, shape)
        else:
            numbers = random.standard_normal(shape)
            if dtype.kind == "c":
                numbers = numbers + 1j * random.standard_normal(shape)
        made.append(np.asarray(numbers).astype(dtype))
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
