"""OneFlow as the article on its type promotion describes it, and as recorded where it does not."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.oneflow import ONEFLOW
from castwise.rules.parts import Arrays
from castwise.rules.rule import Rule, combined

ARTICLE = ONEFLOW.vary(
    mode="article",
    version="",
    about="OneFlow as the article on its TensorProcessor describes it: a 0-d tensor counts as a"
    " scalar; sum has int64 as its lowest dtype.",
    ops={
        **ONEFLOW.ops,
        "*": combined(
            ONEFLOW.ops["*"],
            Rule(
                scalars="tiers",  # the array's dtype if a scalar is of its family, else promotion
                arrays=Arrays(
                    lowest_promoted=False,  # Apply() does the one or the other
                ),
            ),
        ),
        # AddInputs({x}, /*lowest_dtype=*/DType::Int64()): "any integer", and 0-d ones too.
        "sum": Rule(converts="int16 uint64 -> int64", composes=()),
    },
    evidence=replace(
        ONEFLOW.evidence,
        source="the article on type promotion in PyTorch and OneFlow (OneFlow's pull request 6380);"
        " what it does not cover, the table and the ops, is as in oneflow 0.9.0",
        surprises=(
            "int8[3] * float64[]",
            "int8[3] * int64[]",
            "int16[3] + 2.0",
            "sum(int8[])",
            "sum(int16[3])",
        ),
    ),
)
