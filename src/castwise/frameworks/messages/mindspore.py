"""MindSpore's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

MESSAGES = Messages(
    "mindspore",
    (
        Message(
            "For '{op}', the type of 'x2' should be same as 'x1', but got 'x1' with type"
            " Tensor[{left}] and 'x2' with type Tensor[{right}]"
        ),
        Message(
            "For primitive[{op}], the input argument[{any}] must be a type of ... but got"
            " Tensor[{computed}]"
        ),
        Message(
            "For primitive[{op}], the input argument[{any}] must be a type of ... but got"
            " {computed}."
        ),
        Message(
            "For primitive[{op}], the input type must be same. name:[w]:Tensor[{right}]."
            " name:[x]:Tensor[{left}]"
        ),
        Message(
            "For primitive[{op}], the input type must be same. name:[{any}]:Tensor[{right}]."
            " name:[{any}]:Tensor[{left}]",
            is_in_order=False,
        ),
        Message("Select CPU operator[{op}] fail! ... but get input[[const vector]{{{operands}}}]"),
        Message("Select CPU operator[{op}] fail! ... but get input[{operands}]"),
    ),
    ops={
        "MatMul": "matmul",
        "MatMulExt": "matmul",
        "BatchMatMul": "matmul",
        "Select": "where",
        "FloorMod": "remainder",
        "BiasAdd": "add",
    },
    calls={"bmm": "matmul", "mm": "matmul"},
    packages="mindspore",
)
