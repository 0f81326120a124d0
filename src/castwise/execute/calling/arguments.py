"""The arguments of a call, positional and by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from castwise.engine.ask import factor_of, named_of
from castwise.engine.decision import NOTHING, Named
from castwise.engine.op_names import find_op
from castwise.execute.calling.operands import common_dialect
from castwise.execute.calling.questions import without_lists
from castwise.execute.functions.alike import LIKE
from castwise.execute.tensor import Tensor
from castwise.rules.default import DEFAULT
from castwise.vocab.operands import Scalar

# Options that both the decision and the backend use.
_COMPUTED_WITH = ("where", "initial", "value", "delta")


class CallArguments(NamedTuple):
    """The arguments of an op: operands in order, and options for the backend."""

    operands: tuple[Any, ...]
    options: dict[str, Any]
    named: Named = NOTHING  # options that the decision depends on

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
    """The operands and options of a call, given by position or by name. A list becomes the tensor
    that the dialect converts it to in this form."""
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
    """An option in the form that the backend takes."""
    return option._array if isinstance(option, Tensor) else option
