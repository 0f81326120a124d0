"""PyTorch's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages
from castwise.vocab.spellings import SCALAR_TYPES, SPELLINGS

# C++'s names, which messages have where a template printed the type.
_OF_CPP = {
    "unsigned char": "uint8",
    "signed char": "int8",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "short int": "int16",
    "long int": "int64",
    "long long": "int64",
    "int64_t": "int64",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "complex<Half>": "complex32",
}
_PRODUCTS = "matmul"
_CONVOLUTIONS = "conv2d conv1d"

MESSAGES = Messages(
    "torch",
    (
        Message(
            "expected m1 and m2 to have the same dtype, but got: {left} != {right}", op=_PRODUCTS
        ),
        Message(
            "expected mat1 and mat2 to have the same dtype, but got: {left} != {right}",
            "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float !="
            " c10::BFloat16",
            op=_PRODUCTS,
        ),
        Message("mat1 and mat2 must have the same dtype, but got {left} and {right}", op=_PRODUCTS),
        Message(
            "self and mat2 must have the same dtype, but got {left} and {right}",
            op=_PRODUCTS,
            is_in_order=False,
        ),
        Message(
            "mat1 and mat2 must have the same dtype",
            "RuntimeError: mat1 and mat2 must have the same dtype",
            op=_PRODUCTS,
        ),
        Message(
            "addmv input tensors must have the same dtype, but got {any}, {left}, and {right}",
            op=_PRODUCTS,
        ),
        Message(
            "dot : expected both vectors to have same dtype, but found {left} and {right}", op="dot"
        ),
        Message("both inputs should have same dtype", op="inner"),
        Message(
            "Expected out tensor to have dtype {result}, but got {target} instead",
            op=_PRODUCTS,
            form="out",
        ),
        Message("result type {result} can't be cast to the desired output type {target}"),
        Message("Input type ({left}) and bias type ({right}) should be the same", op=_CONVOLUTIONS),
        Message(
            "Input type ({left}) and weight type ({right}) should be the same",
            "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type"
            " (torch.cuda.FloatTensor)"
            " should be the same",
            op=_CONVOLUTIONS,
        ),
        Message(
            "Expected object of scalar type {left} but got scalar type {right} for argument #2"
            " 'mat2'",
            "RuntimeError: Expected object of scalar type Double but got scalar type Float for"
            " argument"
            " #2 'mat2'",
            op=_PRODUCTS,
        ),
        Message(
            "Expected object of scalar type {left} but got scalar type {right} for argument",
            "RuntimeError: Expected object of scalar type Long but got scalar type Float for"
            " argument"
            " #2 'other'",
        ),
        Message(
            "Expected object of type {left} but found type {right} for argument",
            "RuntimeError: Expected object of type torch.FloatTensor but found type"
            " torch.DoubleTensor for argument #3 'other'",
        ),
        Message(
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument"
            " #2 'weight'; but type {left} does not equal {right} (while checking arguments for",
            "RuntimeError: Expected tensor for argument #1 'input' to have the same type as tensor"
            " for argument #2 'weight'; but type torch.cuda.HalfTensor does not equal"
            " torch.cuda.FloatTensor (while checking arguments for cudnn_convolution)",
        ),
        Message("expected scalar type {left} but found {right}", is_in_order=False),
        Message(
            "Found dtype {right} but expected {left}",
            "RuntimeError: Found dtype Double but expected Float",
        ),
        Message("expected dtype {left} for `end` but got dtype {right}", op="lerp"),
        Message("expected dtype {left} for `weight` but got dtype {third}", op="lerp"),
        Message("expected target dtype to be Long or Byte, but got {right}", op="cross_entropy"),
        Message(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {left}"
            " key.dtype: {right} and value.dtype: {third} instead",
            op="scaled_dot_product_attention",
        ),
        Message(
            "where expected condition to be a boolean tensor, but got a tensor with dtype {left}",
            op="where",
        ),
        Message(
            "Promotion for Float8 Types is not supported, attempted to promote {left} and {right}"
        ),
        Message(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote"
            " {left} and {right}"
        ),
        Message(
            "Subtraction, the `-` operator, with two bool tensors is not supported",
            op="sub",
            operands="bool bool",
        ),
        Message(
            "Subtraction, the `-` operator, with a bool tensor is not supported",
            op="sub",
            operands="? bool",
            is_in_order=False,
        ),
        Message(
            "Negation, the `-` operator, on a bool tensor is not supported",
            op="neg",
            operands="bool",
        ),
        Message(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
            op="bitwise_not",
        ),
        Message("RuntimeError: Integers to negative integer powers are not allowed", op="pow"),
        Message(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or"
            " complex dtype. Got: {left}",
            op="mean",
        ),
        Message("std and var only support floating point and complex dtypes", op="std var"),
        Message(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {left}",
            op="norm",
        ),
        Message("{op} not implemented for complex tensors"),
        Message("{op} is not supported for complex types"),
        Message(
            "mixed dtype (CPU): expect parameter to have scalar type of {left}", op="layer_norm"
        ),
        Message(
            "to have one of the following scalar types: Long, Int; but got {left} instead (while"
            " checking arguments for embedding)",
            op="embedding",
        ),
        Message("one_hot is only applicable to index tensor", op="one_hot"),
        Message("value cannot be converted to type {left} without overflow"),
        Message("\"{op}\" not implemented for '{computed}'"),
        Message("{left} did not match {right}", op="isclose allclose"),
    ),
    dtypes={
        **SPELLINGS["torch"],
        **SCALAR_TYPES,
        **{f"{name}Tensor": dtype for name, dtype in SCALAR_TYPES.items()},
        **_OF_CPP,
    },
    ops={
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
        "div_floor": "floor_divide",
        "div_true": "div",
        "addmm": _PRODUCTS,
        "baddbmm": _PRODUCTS,
        "gemm": _PRODUCTS,
        "mse": "mse_loss",
        "slow_conv2d": "conv2d",
        "max_elementwise": "maximum",
        "min_elementwise": "minimum",
        "add_cpu/sub_cpu": "add sub",
        "LayerNormKernelImpl": "layer_norm",
    },
    calls={
        **dict.fromkeys(("mm", "bmm", "mv", "addmm", "baddbmm", "linear"), _PRODUCTS),
        "vdot": "dot",
        "nll_loss": "cross_entropy",
    },
    packages="torch",
)
