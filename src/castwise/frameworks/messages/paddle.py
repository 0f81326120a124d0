"""PaddlePaddle's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages

MESSAGES = Messages(
    "paddle",
    (
        Message(
            "Type promotion only support calculations between floating-point numbers and between"
            " complex and real numbers. But got different data type x: {left}, y: {right}."
        ),
        Message(
            "The kernel with key (...) of kernel `{op}` is not registered. Selected wrong DataType"
            " `{computed}`"
        ),
        Message(
            "The type of data we are trying to retrieve ({left}) does not match the type of data"
            " ({right}) currently contained in the container. ... [operator < {op} > error]",
            is_in_order=False,
        ),
        Message(
            "The type of data we are trying to retrieve ({left}) does not match the type of data"
            " ({right}) currently contained in the container",
            is_in_order=False,
        ),
        Message(
            "The data_type of input tensor in list isn't consistent, the first tensor is {left},"
            " but 1th tensor is {right}",
            op="concat stack",
        ),
        Message(
            "The `condition` is expected to be a boolean Tensor, but got a Tensor with dtype"
            " {left}",
            op="where",
        ),
        Message("embedding input only support int32 and int64, but get {left}", op="embedding"),
    ),
    ops={"linear": "matmul", "clip": "clamp"},
    calls=dict.fromkeys(("mm", "bmm", "addmm", "linear"), "matmul"),
    packages="paddle",
)
