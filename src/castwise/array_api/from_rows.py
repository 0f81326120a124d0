"""Functions for the ops that no chapter defines, made from their rows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature
from typing import Any

from castwise.array_api.calls import Operand, op
from castwise.arrays.functions import standard_name
from castwise.arrays.tensor import Tensor
from castwise.vocab.ops import OPS, Op

_NOT_COMPUTED = "questions"  # the family of ops that return a dtype


def functions_from_rows(known: Collection[str]) -> dict[str, Callable[..., Tensor]]:
    """A function for each op that is missing from a namespace with these names.

    >>> [*functions_from_rows({standard_name(op) for op in OPS if op != "erf"})]
    ['erf']
    """
    return {
        name: _function(row)
        for name, row in OPS.items()
        if row.family != _NOT_COMPUTED and {name, standard_name(name)}.isdisjoint(known)
    }


def _function(row: Op) -> Callable[..., Tensor]:
    def computed(*operands: Operand, **options: Any) -> Tensor:
        return op(row.name, *operands, **options)

    count = row.arity[0]
    names = ["x"] if count == 1 else [f"x{place + 1}" for place in range(count)]
    given = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    options = Parameter("options", Parameter.VAR_KEYWORD)
    computed.__name__ = computed.__qualname__ = row.name
    computed.__doc__ = f"The op {row.name}; its result has the dtype that the dialect decides."
    computed.__signature__ = Signature([*given, options])  # type: ignore[attr-defined]
    return computed
