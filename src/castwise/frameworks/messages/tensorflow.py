"""TensorFlow's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

# As C++ spells them in messages, "float tensor", and as the protocol does, DT_HALF.
_OF_CPP = {"half": "float16", "float": "float32", "double": "float64"}
_OF_PROTOCOL = {
    "DT_HALF": "float16",
    "DT_FLOAT": "float32",
    "DT_DOUBLE": "float64",
    **{
        f"DT_{name.upper()}": name
        for name in (
            "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "bfloat16", "complex64", "complex128",
        )
    },
}  # fmt: skip

MESSAGES = Messages(
    "tensorflow",
    (
        Message(
            "cannot compute {op} as input #{place}(zero-based) was expected to be a {expected}"
            " tensor but is a {found} tensor"
        ),
        Message(
            "cannot compute {op} as input #{place}(zero-based) was expected to be an {expected}"
            " tensor but is a {found} tensor",
            "InvalidArgumentError: cannot compute Mul as input #1(zero-based) was expected to be an"
            " int32 tensor but is a float tensor [Op:Mul]",
        ),
        Message(
            "Value for attr 'T' of {each} is not in the list of allowed values: ... Op<name={op};"
        ),
        Message(
            "Value for attr 'TI' of {left} is not in the list of allowed values: ... Op<name={op};"
        ),
        Message(
            "Value for attr 'Tlabels' of {right} is not in the list of allowed values: ..."
            " Op<name={op};"
        ),
        Message(
            "Value passed to parameter '{any}' has DataType {computed} not in list of allowed"
            " values",
            "TypeError: Value passed to parameter 'x' has DataType bool not in list of allowed"
            " values: bfloat16, float16, float32, float64",
        ),
        Message("Could not find device for node: {{{{node {any}}}}} = {op}[T={each}]"),
        Message("must have the same dtype, got {left} != {right}", op="div"),
        Message(
            "Input '{any}' of '{op}' Op has type {right} that does not match type {left} of"
            " argument"
        ),
        Message(
            "Input 'condition' of '{op}' Op has type {left} that does not match expected type of"
            " bool"
        ),
        Message("Input '{any}' of '{op}' Op has type {left} that does not match expected type"),
        Message("Tensor conversion requested dtype {target} for Tensor with dtype {right}"),
        Message("Cannot convert {number} to EagerTensor of dtype {left}"),
    ),
    dtypes={**_OF_CPP, **_OF_PROTOCOL},
    ops={
        "MatMul": "matmul",
        "BatchMatMulV2": "matmul",
        "Pack": "stack",
        "SelectV2": "where",
        "Select": "where",
        "FloorDiv": "floor_divide floor_div",
        "RealDiv": "div real_div",
        "Invert": "bitwise_not",
        "AddN": "add",
        "BiasAdd": "add",
        "SparseSoftmaxCrossEntropyWithLogits": "cross_entropy",
        "SoftmaxCrossEntropyWithLogits": "cross_entropy",
    },
    calls={"assign_add": "add_", "assign_sub": "sub_"},
    packages="tensorflow",
    signs={"InvalidArgumentError": "tensorflow"},
)
