"""PyTorch under autocast: some ops cast their floats before they compute. The CPU's lists."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.torch import FLOAT8, TORCH
from castwise.rules.dialect import Dialect
from castwise.rules.parts import Accepts, Composed
from castwise.rules.rule import Rule

# Of the ops castwise knows, those that torch.amp's documentation lists for the CPU.
# float64 and dtypes that are not floats are not cast.
LOWER = "matmul vecdot einsum conv1d conv2d"  # computes in autocast's dtype
LOWER += " scaled_dot_product_attention"
SINGLE = "mse_loss l1_loss huber_loss poisson_nll_loss prod cross_entropy"  # computes in float32
WIDEST = "concat stack"  # computes in the widest of its floats, but handles only two of them
_OF_THREE = ["einsum", "conv1d", "conv2d", "scaled_dot_product_attention"]
_FLOATS = (*FLOAT8.split(), "float16", "bfloat16", "float32")


def _casts(op: str, target: str) -> tuple[Composed, ...]:
    """The compositions of an op that casts each operand of another float dtype to the target, and
    then works as without autocast."""
    others = " ".join(name for name in _FLOATS if name != target)
    elsewhere = TORCH.ops.get(op, Rule()).composes or ()
    if op == "prod":
        return (Composed(f"prod(cast(x, {target}))", others), *elsewhere)
    first = Composed(f"{op}(cast(x, {target}), y)", others, count=2)
    second = Composed(f"{op}(x, cast(y, {target}))", exponent_kinds=others, count=2)
    of_three = (
        Composed(f"{op}(cast(x, {target}), y, z)", others, count=3),
        Composed(f"{op}(x, cast(y, {target}), z)", second_kinds=others, count=3),
        Composed(f"{op}(x, y, cast(z, {target}))", exponent_kinds=others, count=3),
    )
    # What cross_entropy does with classes, which take no part.
    of_one = (Composed(f"log_softmax(cast(x, {target}))", others, count=1),)
    more = (of_one if op == "cross_entropy" else ()) + (of_three if op in _OF_THREE else ())
    return (first, second, *more, *elsewhere)


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
