"""An ONNX model of any exporter: its inputs, its casts, and where a dtype comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from castwise.conformance.through.onnx_models import model_session, run_session
from castwise.errors import UsageError
from castwise.graph.onnx.dtypes import onnx_package

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


def read_model(path: Path) -> Any:
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


def model_inputs(model: Any) -> list[Input]:
    """The inputs that a model has to be given.

    Raises UsageError for one that is not a tensor.
    """
    weights = {tensor.name for tensor in model.graph.initializer}
    return [_input(value) for value in model.graph.input if value.name not in weights]


def _input(value: Any) -> Input:
    if not value.type.HasField("tensor_type"):
        raise UsageError(f"the model's input {value.name!r} is not a tensor.")
    tensor = value.type.tensor_type
    dims = enumerate(tensor.shape.dim)
    shape = tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or f"{value.name}.{at}"
        for at, dim in dims
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
    return [
        one._replace(
            shape=tuple(d if isinstance(d, int) else sizes.get(d, _SIZE) for d in one.shape)
        )
        for one in inputs
    ]


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
    name, dtype = output, types.get(output)
    while name in makers:
        same = [given for given in makers[name].input if types.get(given) == dtype]
        before = [given for given in same if given in makers or _is_input(model, given)]
        if not before:
            return _origin(makers[name], types)
        name = before[0]
    return None


def _is_input(model: Any, name: str) -> bool:
    return any(value.name == name for value in model.graph.input)


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
    return types | {
        name: str(result.dtype.name) for name, result in zip(names, results, strict=True)
    }


def _numpy_dtype(element: int) -> Any:
    return onnx_package().helper.tensor_dtype_to_np_dtype(element)


def _name(element: int) -> str:
    return str(_numpy_dtype(element).name)
