"""What an op is called with, whether given by place or by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from castwise.engine.ask import factor_of, find_op, named_of
from castwise.engine.decision import NOTHING, Named
from castwise.execute.calling.operands import common_dialect
from castwise.execute.calling.questions import without_lists
from castwise.execute.functions.alike import LIKE
from castwise.execute.tensor import Tensor
from castwise.rules.default import DEFAULT
from castwise.vocab.operands import Scalar

# What the decision looks at and the backend computes with.
_COMPUTED_WITH = ("where", "initial", "value", "delta")


class CallArguments(NamedTuple):
    """What an op is called with: operands in their places, options for the backend."""

    operands: tuple[Any, ...]
    options: dict[str, Any]
    named: Named = NOTHING  # what the decision depends on

    @property
    def alpha(self) -> Scalar | None:
        """The factor of the second operand, which the decision depends on."""
        alpha: Scalar | None = self.options.get("alpha")
        return alpha


def arranged(
    name: str,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    home: str = DEFAULT,
    form: str = "function",
    *,
    inplace: bool = False,
) -> CallArguments:
    """The operands and options of a call, whether given by place or by name; a list is the tensor
    that the dialect makes of it in this form."""
    kinds = [o._kind for o in operands if isinstance(o, Tensor)]
    row = find_op(LIKE.get(name, name), common_dialect(kinds, home))
    given, others = row.arranged(operands, options)
    if row.family != "conversion":
        given = without_lists(name, given, form, home, inplace=inplace)
    if others.get("alpha") is not None:
        others["alpha"] = factor_of(others["alpha"])
    left = {key: raw_option(others[key]) for key in _COMPUTED_WITH if others.get(key) is not None}
    named = named_of(row, others)
    return CallArguments(given, {**others, **left} if named is not NOTHING else others, named)


def raw_option(option: Any) -> Any:
    """An option as the backend takes it."""
    return option._array if isinstance(option, Tensor) else option
