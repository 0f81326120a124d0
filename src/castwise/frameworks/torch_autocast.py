"""PyTorch under autocast: some ops cast their floats before they compute. The CPU's lists."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.torch import FLOAT8, TORCH
from castwise.rules.dialect import Dialect
from castwise.rules.parts import Accepts, Composed
from castwise.rules.rule import Rule

# Of the ops castwise knows, those that torch.amp's documentation lists for the CPU.
# float64 and dtypes that are not floats are not cast.
LOWER = "matmul vecdot"  # computes in autocast's dtype
SINGLE = "mse_loss l1_loss huber_loss poisson_nll_loss prod"  # computes in float32
WIDEST = "concat stack"  # computes in the widest of its floats, but handles only two of them
_FLOATS = (*FLOAT8.split(), "float16", "bfloat16", "float32")


def _casts(op: str, target: str) -> tuple[Composed, ...]:
    """The compositions of an op that casts each operand of another float dtype to the target, and
    then works as without autocast."""
    others = " ".join(name for name in _FLOATS if name != target)
    elsewhere = TORCH.ops.get(op, Rule()).composes or ()
    if op == "prod":
        return (Composed(f"prod(cast(x, {target}))", others), *elsewhere)
    first = Composed(f"{op}(cast(x, {target}), y)", others)
    second = Composed(f"{op}(x, cast(y, {target}))", exponent_kinds=others)
    return (first, second, *elsewhere)


def _autocast(target: str, other: str) -> Dialect:
    targets = {**dict.fromkeys(LOWER.split(), target), **dict.fromkeys(SINGLE.split(), "float32")}
    rules = dict(TORCH.ops)
    for op, computed in targets.items():
        rules[op] = replace(rules.pop(op, Rule()), composes=_casts(op, computed))
    # A complex32 first operand is not cast, and its exp has no kernel, whatever the other float is.
    loss = rules["poisson_nll_loss"]
    composes = (Composed("exp(x)", "complex32", exponent_kinds="float"), *(loss.composes or ()))
    rules["poisson_nll_loss"] = replace(loss, composes=composes)
    rules["prod/dtype"] = Rule(composes=())  # what dtype= casts is not cast to float32 first
    narrow = f"{FLOAT8} {other}"
    rules[WIDEST] = Rule(
        accepts=Accepts(refuses=narrow),
        because=f"autocast to {target} does not support {other} here",
    )
    return TORCH.vary(
        mode=f"autocast={target}",
        about=f"PyTorch in torch.autocast('cpu', dtype=torch.{target}).",
        ops=rules,
        evidence=replace(
            TORCH.evidence,
            surprises=(
                "float32[3,3] @ float32[3,3]",
                f"matmul({other}[3], float32[3])",
                f"mse_loss({target}[3], {target}[3])",
                f"prod({target}[3])",
            ),
        ),
    )


AUTOCAST_BFLOAT16 = _autocast("bfloat16", "float16")
AUTOCAST_FLOAT16 = _autocast("float16", "bfloat16")
