"""Writes a program to a file: tables of dialects, decisions, tensors and nodes, which refer to each
other by position, and the program itself. docs/reference/graph.md describes the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

import castwise
from castwise.engine.decision import Cast, Decision
from castwise.execute.tensor import Tensor
from castwise.execute.variable import Variable
from castwise.graph.program import CONSTANT, Node, Program, Shape, in_order
from castwise.graph.saving.values import to_json
from castwise.rules.catalog import definition
from castwise.vocab.operands import Operand
from castwise.vocab.ops import Op, known_op

FORMAT, VERSION = "castwise graph", 1


def save_program(program: Program, path: str | PathLike[str]) -> None:
    """Writes the file.

    Raises UsageError if something in the program cannot be saved.
    """
    Path(path).write_text(_laid_out(_TableWriter().file_of(program)), "utf-8")


def _laid_out(file: Mapping[str, Any]) -> str:
    """JSON with one line per entry of a table."""
    lines = []
    for key, value in file.items():
        text = _json(value)
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(map(_json, value)) + "\n]"
        lines.append(f"{_json(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


class _Table:
    """The entries of a table, without duplicates."""

    def __init__(self, to_entry: Callable[[Any], Any]) -> None:
        self.entries: list[Any] = []
        self._places: dict[int, int] = {}
        self._things: list[Any] = []  # kept alive so that their ids stay unique
        self._to_entry = to_entry

    def place(self, thing: Any) -> int:
        """The position of something in the table; it is added if it is new."""
        if id(thing) not in self._places:
            entry = self._to_entry(thing)
            self._places[id(thing)] = len(self.entries)
            self._things.append(thing)
            self.entries.append(entry)
        return self._places[id(thing)]


class _TableWriter:
    def __init__(self) -> None:
        self._dialects = _Table(definition)
        self._decisions = _Table(self._decision)
        self._tensors = _Table(self._tensor)
        self._nodes = _Table(self._node)
        self._calls: dict[tuple[object, ...], int] = {}
        self._declared: dict[str, dict[str, Any]] = {}

    def file_of(self, program: Program) -> dict[str, Any]:
        """The contents of the file."""
        for version in (program.traced, program):
            ends = version.nodes if version else ()
            for node in in_order(ends, lambda node: (*node.inputs, *node.operands)):
                self._nodes.place(node)
        said = self._program(program)
        return {
            "format": FORMAT,
            "version": VERSION,
            "castwise": castwise.__version__,
            "ops": list(self._declared.values()),
            "dialects": self._dialects.entries,
            "decisions": self._decisions.entries,
            "tensors": self._tensors.entries,
            "nodes": self._nodes.entries,
            "graph": said,
        }

    def _program(self, program: Program) -> dict[str, Any]:
        return {
            "name": program.name,
            "dialect": self._dialects.place(program.dialect),
            "inputs": self._places(program.inputs),
            "outputs": self._places(program.outputs),
            "structure": to_json(program.structure),
            "state": [
                {
                    "before": self._nodes.place(state.before),
                    "after": self._nodes.place(state.after),
                    "tensor": None if state.tensor is None else self._tensors.place(state.tensor),
                }
                for state in program.state
            ],
            "calls": [
                [self._decisions.place(call.decision), list(map(_shape, call.operands)),
                 _shape(call.result)]
                for call in program.calls
            ],
            "traced": None if program.traced is None else self._program(program.traced),
        }  # fmt: skip

    def _places(self, nodes: Iterable[Node]) -> list[int]:
        return [self._nodes.place(node) for node in nodes]

    def _node(self, node: Node) -> dict[str, Any]:
        self._op(node.op)
        origin = node.origin
        said = {
            "op": node.op,
            "inputs": self._places(node.inputs),
            "dtype": node.dtype.name,
            "shape": _shape(node.shape),
            "options": {key: to_json(option) for key, option in node.options.items()},
            "name": node.name,
            "weak": node.is_weak,
            "cast": _cast(node.cast),
            "compute": node.compute and node.compute.name,
            "part": node.part,
            "call": node.part if node.part is None else self._call(node),
            "decision": node.decision and self._decisions.place(node.decision),
            "operands": self._places(node.operands),
            "origin": origin and [origin.file, origin.line, origin.text],
        }  # fmt: skip
        kept = {key: value for key, value in said.items() if _says_something(value)}
        return {**kept, "value": to_json(node.value)} if node.op == CONSTANT else kept

    def _call(self, node: Node) -> int:
        return self._calls.setdefault(node.call, len(self._calls))

    def _decision(self, decision: Decision) -> dict[str, Any]:
        question = decision.question
        self._op(question.op.name)
        return {
            "op": question.op.name,
            "operands": [_operand(operand) for operand in question.operands],
            "dialect": self._dialects.place(question.dialect),
            "form": question.form,
            "inplace": question.inplace,
            "out": question.out and question.out.name,
            "alpha": to_json(question.alpha),
            "result": decision.result.name,
            "compute": decision.compute.name,
            "casts": [_cast(cast) for cast in decision.casts],
            "result_cast": _cast(decision.result_cast),
            "weak": decision.is_weak,
            "notes": list(decision.notes),
        }

    def _op(self, name: str) -> None:
        """Records an op that the user declared; its kernel is not saved."""
        row = known_op(name)
        if row is not None and row.family == "declared":
            self._declared[name] = declaration(row)

    def _tensor(self, tensor: Tensor) -> dict[str, Any]:
        kind = tensor._kind
        return {
            "variable": isinstance(tensor, Variable),
            "values": to_json(tensor.numpy()),
            "weak": kind.is_weak,
            "dialect": None if kind.dialect is None else self._dialects.place(kind.dialect),
            "home": kind.home,
            "backend": kind.backend.name,
        }


def _says_something(value: Any) -> bool:
    """Whether a field is written: not if it is empty, but 0 counts as a value."""
    return bool(value) or (value == 0 and value is not False)


# The kernel, what only castwise's own ops have, and the part that is written field by field.
_NOT_DECLARED = ("compute", "call", "ulps", "shapes", "switches")


def declaration(row: Op) -> dict[str, Any]:
    """What an op was declared with, except its kernel."""
    own = {f.name: getattr(row, f.name) for f in fields(row) if f.name not in _NOT_DECLARED}
    said = {**own, **asdict(row.switches)}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in said.items()}


def _cast(cast: Cast | None) -> list[Any] | None:
    if cast is None:
        return None
    return [cast.source and cast.source.name, cast.target.name, list(cast.hazards)]


def _shape(shape: Shape) -> list[int | str]:
    return [size if isinstance(size, int) else str(size) for size in shape]


def _operand(operand: Operand) -> list[Any]:
    shape = None if operand.shape is None else _shape(operand.shape)
    dtype = operand.dtype and operand.dtype.name
    return [operand.role.value, dtype, shape, to_json(operand.value), operand.is_weak]
