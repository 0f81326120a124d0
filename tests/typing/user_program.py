"""A user's file with every public name, for strict type checkers: `mypy` and pyright check it.

It is not run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import castwise as cw
from castwise import array_api as xp


def ask() -> None:
    decision: cw.Decision = cw.resolve("add", "int32[3]", 5.5, dialect="torch")
    result: cw.DType = decision.result
    name: str = result.name
    text: str = str(result)  # a dtype is no text itself
    casts: tuple[cw.Cast | None, ...] = decision.casts
    hazards: tuple[str, ...] = decision.hazards
    joined: cw.DType = cw.result_type("int8[3]", "uint8[3]")
    pair: cw.DType = cw.promote_types("int8", "uint8")
    is_allowed: bool = cw.can_cast("float32", "int32", dialect="torch")
    words: str = cw.explain("int8[3] + 1", dialect="numpy")
    print(name, text, casts, hazards, joined, pair, is_allowed, words)


def look_up() -> None:
    names: tuple[str, ...] = cw.dialects()
    torch: cw.Dialect = cw.dialect(names[0])
    ops: tuple[str, ...] = cw.ops()
    half: cw.DType = cw.dtype("half")
    operand: cw.Operand = cw.describe(5.5)
    table = cw.table("add", torch)
    diff = cw.diff("torch", "paddle", op="add")
    lattice = cw.lattice("jax")
    print(ops, half, operand, str(table), diff.count, len(lattice.edges))


@cw.audited
def scaled(x: cw.Tensor, factor: float) -> cw.Tensor:
    return x * factor


@cw.compile
def doubled(x: cw.Tensor) -> cw.Tensor:
    return x + x


def compute() -> None:
    with cw.use("tensorflow:safe") as chosen:
        dialect: cw.Dialect = chosen
    cw.set_default(cw.ImplicitPromotion.SAFE)
    now: cw.Dialect = cw.current()
    own: cw.Dialect = cw.load_dialect(Path("mine.toml"))
    t: cw.Tensor = cw.asarray([1, 2, 3], dtype="int32", dialect=own)
    total: cw.Tensor = (t + 5.5).sum(0) / t.max()
    mean: cw.Tensor = t.mean(axis=0, keepdims=True).reshape(1).abs().sqrt()
    number: float = total.item()
    shape: tuple[int, ...] = mean.shape
    larger: cw.Tensor = cw.apply("maximum", t, 1)
    named: cw.Tensor = xp.add(t, 1)
    v: cw.Variable = cw.Variable([1.0])
    v.assign_add(1.0)
    print(dialect, now, number, shape, larger, named, doubled(scaled(t, 2.0)))
    with cw.count_casts() as counted:
        print(t + 1.5)
    print(counted)


def write_down() -> cw.Graph:
    graph: cw.Graph = cw.trace(doubled, "int8[n]", dialect="torch")
    again: cw.Graph = cw.load_graph("graph.json")
    print(graph.text(), again)
    return graph


def find() -> None:
    with cw.audit() as log:
        pass
    findings = log.findings
    print(len(findings), log.port("paddle"))
    with cw.enforce("torch:strict=True"):
        pass


def extend(kernel: Any) -> None:
    cw.declare_op("mine", arity=(2, 2), compute=kernel)
    rule: cw.Rule = cw.Rule()
    print(rule)


def fail() -> None:
    try:
        ask()
    except cw.ScalarRangeError:
        pass
    except cw.PromotionError as error:
        why: str = error.why
        print(why)
    except (cw.UsageError, cw.CastwiseError):
        pass
    print(cw.PromotionWarning, cw.NearestVersionWarning, cw.__version__)
