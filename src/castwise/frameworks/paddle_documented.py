"""PaddlePaddle as its guide to type promotion describes it: two tables, 32 APIs, three rules.

The guide contradicts itself in a few cells, where its text is followed: equal dtypes need no
promotion, promotion is commutative, and a Python float is float32.
"""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.paddle import CONDITION, MIXES, PADDLE
from castwise.rules.parts import Accepts, Joins, Numbers, NumPyOperands, Writes
from castwise.rules.rule import Rule

_ANY = "bool int float complex"

_OPS = {
    # An API the guide does not list promotes nothing.
    "*": Rule(
        scalars="weak",
        computes=_ANY,
        accepts=Accepts(same_dtype=True),
        because="this API is not among those that promote",
        writes=Writes(into="rebinds"),
        numpy=NumPyOperands(
            scalars="float64 -> float; complex128 -> complex",  # subclasses of Python's own
        ),
    ),
    "*/augmented": Rule(writes=Writes(rebinds="always")),
    # The Common Rule, whatever else the op does with its operands.
    "add sub mul div floor_divide pow remainder where fmax fmin logaddexp maximum minimum"
    " huber_loss nextafter atan2 poisson_nll_loss l1_loss mse_loss result_type": Rule(
        accepts=Accepts(same_dtype=False),
        joins=Joins(mixes=MIXES),
        integers_become_float=False,
        result="same",
        because="",
    ),
    "fmax fmin logaddexp maximum minimum huber_loss nextafter atan2 poisson_nll_loss l1_loss"
    " mse_loss": Rule(
        numbers=Numbers(refused_with=_ANY), because="this API promotes tensors, and takes no scalar"
    ),
    "float_power": Rule(computes="float complex"),  # not listed in the guide
    "nextafter": Rule(computes="float"),  # no other number has a next one
    "floor_divide remainder": Rule(
        accepts=Accepts(refuses="complex"),
        because="a complex number has no floor, and so no remainder",
    ),
    # The Divide Rule: nothing smaller than a float. Listed for scalars, it holds for tensors too.
    "div": Rule(integers_become_float=True),
    # The Logic Rule.
    "eq ne lt le gt ge logical_and logical_or logical_xor": Rule(
        accepts=Accepts(same_dtype=False, refuses="complex"),
        joins=Joins(mixes=MIXES),
        because="logic ops do not take complex numbers",
    ),
    "bitwise_and bitwise_or bitwise_xor": Rule(
        computes="bool int",
        because="bitwise APIs take tensors of one dtype, bool or integer",
    ),
    "where": Rule(accepts=Accepts(condition=CONDITION)),
    # The larger of two dtypes, as for a tensor and a scalar. The check that refuses two tensors
    # comes later.
    "promote_types": Rule(accepts=Accepts(same_dtype=False), because=""),
}

PADDLE_DOCUMENTED = PADDLE.vary(
    mode="documented",
    version="2.6",
    about="PaddlePaddle's guide to type promotion: its tables, its 32 APIs and their rules.",
    order="bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128",
    joining=replace(PADDLE.joining, alone=""),
    becomes=replace(PADDLE.becomes, lifts="bool int -> default_float"),
    no_kernel={},
    ops=_OPS,
    evidence=replace(
        PADDLE.evidence,
        source='the guide "Introduction to Data Type Promotion", which is about Paddle 2.6',
        laws=replace(PADDLE.evidence.laws, one_sided=""),
        surprises=(
            "int64[3] + float32[3]",
            "int32[3] + int64[3]",
            "1.0 + int64[3]",
            "complex64[3] + float64[3]",
            "int32[3] / 1",
            "complex64[3] == complex64[3]",
            "maximum(float32[3], 1.0)",
            "bool[3] & 1",
        ),
    ),
)
