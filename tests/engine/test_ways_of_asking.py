"""One question, one answer: whatever way an op is asked about, the same function or operator is
meant, and the same is said."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.engine.ask import answer
from castwise.engine.decision import Decision
from castwise.engine.explain import taken_apart
from castwise.report.answers import answer_line
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Role
from castwise.vocab.ops import OPS

# A product of matrices with a number or a 0-d array is a question of shapes.
OPERATORS = {
    name: row.symbol
    for name, row in OPS.items()
    if row.symbol and row.arity == (2, 2) and name != "matmul"
}
OPERANDS = [
    ("int32[3]", "float32[3]"), ("float32[3]", "float32[3]"), ("int32[3]", "1.5"),
    ("2.5", "int32[3]"), ("uint8[3]", "300"), ("float16[3]", "float32[]"),
    ("np.int32[3]", "float32[3]"), ("float32[3]", "np.float64(1.5)"), ("bool[3]", "True"),
]  # fmt: skip
# Without CASTWISE_WAYS=all, a share of the operands in each dialect.
SHARE = 1 if os.environ.get("CASTWISE_WAYS") == "all" else 4


def said(ask: Callable[[], Any]) -> str:
    """A dtype, or that there is none."""
    try:
        found = ask()
    except cw.PromotionError as error:
        return "fails to run" if "fails to run" in str(error) else "refused"
    if not isinstance(found, Decision):
        return str(found)
    return str(found.result) if found.has_kernel else "fails to run"


def live(notation: str) -> Any:
    operand = parse_operand(notation)
    if operand.is_scalar:
        return operand.value
    array = np.ones(operand.shape, str(operand.dtype))
    if operand.role is Role.NUMPY_SCALAR:
        return array.dtype.type(operand.value)
    return array if operand.is_numpy else cw.asarray(array)


def by_json(name: str, dialect: str, operands: tuple[str, str]) -> str:
    line = json.dumps({"op": name, "args": operands, "dialect": dialect})
    found = json.loads(answer_line(line.encode()).text)
    if "error" in found:
        assert found["error"]["type"] != "UsageError", found
        return "refused"
    return "fails to run" if any("kernel" in n for n in found["notes"]) else found["result"]


def applied(name: str, operands: tuple[str, str]) -> Any:
    return cw.apply(name, *map(live, operands)).dtype


def traced(name: str, operands: tuple[str, str]) -> Any:
    arrays = {f"x{n}": live(o) for n, o in enumerate(operands)}
    inputs = {key: x for key, x in arrays.items() if isinstance(x, cw.Tensor)}
    graph = cw.trace(lambda **given: cw.apply(name, *{**arrays, **given}.values()), **inputs)
    return graph.outputs[0].dtype


def ways(name: str, dialect: str, operands: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """What each way to ask about a written name gives."""
    yield "resolve", said(lambda: cw.resolve(name, *operands, dialect=dialect))
    yield "JSON", by_json(name, dialect, operands)
    explained = cw.explain(name, *operands, dialect=dialect)
    yield "explain", said(lambda: answer(explained.taken.last))
    with cw.use(dialect):
        yield "apply", said(lambda: applied(name, operands))
        yield "trace", said(lambda: traced(name, operands))


def cases(dialect: str) -> Iterator[tuple[str, str, tuple[str, str]]]:
    share = OPERANDS[cw.dialects().index(dialect) % SHARE :: SHARE]
    yield from ((name, symbol, pair) for name, symbol in OPERATORS.items() for pair in share)


def is_same(way: str, found: str, wanted: str) -> bool:
    """castwise computes some of what a framework has no kernel for."""
    return found == wanted or (
        wanted == "fails to run" and way in ("apply", "trace") and found != "refused"
    )


@pytest.mark.parametrize("dialect", cw.dialects())
def test_every_way_of_asking_gives_one_answer(dialect: str) -> None:
    naming = cw.dialect(dialect).naming
    prefix, differ = naming.prefixes.split()[0], []
    for name, symbol, pair in cases(dialect):
        function = f"{prefix}.{naming.aliases.get(name, name).split()[0]}"
        for names, text in (
            ((function,), f"{function}({', '.join(pair)})"),
            ((symbol, name), f"{pair[0]} {symbol} {pair[1]}"),
        ):
            asked = taken_apart(text, dialect).last
            wanted = said(lambda asked=asked: answer(asked))  # type: ignore[misc]
            for written in names:
                for way, found in ways(written, dialect, pair):
                    if not is_same(way, found, wanted):
                        differ.append(f"{way} {written} {pair}: {found}, {text}: {wanted}")
    assert differ == []


def test_a_name_with_a_prefix_is_the_function_and_a_bare_one_the_operator() -> None:
    pair = ("int32[3]", "1.5")
    assert str(cw.resolve("paddle.mod", *pair, dialect="paddle").question).startswith("remainder(")
    assert str(cw.resolve("remainder", *pair, dialect="paddle").question) == "int32[3] % 1.5"
    assert cw.table("paddle.mod", "paddle").form == "function"


def test_what_has_no_kernel_fails_to_run_in_the_same_words() -> None:
    decision = cw.resolve("torch.bitwise_and", "float32[3]", "float32[3]", dialect="torch")
    assert (str(decision.result), decision.has_kernel) == ("float32", False)
    assert "fails to run" in str(cw.explain(decision.question.op.name, *["float32[3]"] * 2,
                                            dialect="torch"))  # fmt: skip
    x = cw.asarray([1.0], dtype="float32", dialect="torch")
    with pytest.raises(cw.PromotionError, match=r"fails to run in torch: bitwise_and has no CPU"):
        cw.apply("torch.bitwise_and", x, x)
