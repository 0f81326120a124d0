"""NumPy arrays and scalars in another framework's op."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role, scalar_operand

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


def all_own(plan: Plan, operands: tuple[Operand, ...], say: Say = None) -> tuple[Operand, ...]:
    """The operands as the dialect takes them: each on its own or, where it adapts, with an array's
    dtype.

    Raises Refusal where it does not take one.
    """
    # NumPy operands that adapt are cast to the dtype of the first array of the framework itself.
    own_dtype = next((o.dtype for o in operands if o.dtype and not o.is_numpy), None)
    owned = tuple([_as_own(plan, o, own_dtype, is_left=not i) for i, o in enumerate(operands)])
    if say:
        for given, counted in zip(operands, owned, strict=True):
            if counted.dtype is not given.dtype:
                say(f"{given} counts as {counted.dtype or counted} here.")
    return owned


def _as_own(plan: Plan, operand: Operand, own_dtype: DType | None, *, is_left: bool) -> Operand:
    """An operand as the dialect takes it; a NumPy one as the framework's array or a Python number.

    Raises Refusal where it does not take it.
    """
    if not operand.is_numpy or operand.dtype is None or plan.numpy.arrays == "as scalars":
        return operand
    kind = _kind(plan, operand, is_left)
    if kind in _PYTHON:
        value = operand.value if kind == "complex" else (operand.value or 0).real
        return scalar_operand(_PYTHON[kind](value))
    native = operand.role.native
    numpy = plan.numpy.arrays_left if is_left and native is not operand.role else plan.numpy.arrays
    if own_dtype is not None and (kind == "array" or numpy == "adapts"):
        return replace(operand, dtype=own_dtype, role=native, value=None)
    if numpy != "refused" and kind != "refused":
        read = plan.numpy.reads.get(operand.dtype)
        operand = replace(operand, dtype=read, value=None) if read else operand
        return operand if native is operand.role else replace(operand, role=native)
    raise Refusal(
        f"{plan.op.name} does not accept {operand} here",
        "Make it an array of this framework first.",
    )


def _kind(plan: Plan, operand: Operand, is_left: bool) -> str | None:
    """What a NumPy scalar counts as, where the dialect has a rule for its dtype."""
    if operand.role is not Role.NUMPY_SCALAR or operand.dtype is None:
        return None
    return (plan.numpy.scalars_left if is_left else plan.numpy.scalars).get(operand.dtype)


def as_seen(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands as NumPy sees them, where it takes an array of one dtype for another.

    Raises Refusal for an array of a dtype that cannot be mixed with NumPy arrays.
    """
    for operand in operands:
        if operand.dtype in plan.numpy.refuses:
            raise Refusal(
                f"an array of {operand.dtype} cannot be mixed with NumPy arrays",
                "Make the NumPy array an array of this framework first.",
            )
    seen = plan.numpy.sees
    return tuple([replace(o, dtype=seen[o.dtype]) if o.dtype in seen else o for o in operands])


def is_native(plan: Plan) -> bool:
    """Whether NumPy's arrays are those of the framework itself."""
    return plan.numpy.arrays == "native"


def decider_of(plan: Plan, operands: tuple[Operand, ...]) -> str:
    """The dialect that decides with a NumPy array on the right, or any NumPy operand on the left;
    "" where this one does."""
    if plan.numpy.decider and operands[-1].role.native is not operands[-1].role:
        return plan.numpy.decider
    return plan.numpy.left_decider if operands[0].is_numpy else ""


def given_back(plan: Plan, result: DType) -> DType:
    """The dtype that the framework makes of NumPy's result."""
    return plan.numpy.result.get(result, result)
