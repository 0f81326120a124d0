"""Reads a program from a file that `save_program` wrote.

Nothing in a file is executed, and errors name the place in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Generic

from castwise.engine.decide import steps_of
from castwise.engine.decision import Decision, Question
from castwise.errors import UsageError, did_you_mean
from castwise.execute.backend import backend_named
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor
from castwise.execute.variable import stand_in
from castwise.graph.pictures.text import program_text
from castwise.graph.program import Call, Node, P, State
from castwise.graph.saving import parts
from castwise.graph.saving.fields import Fields, telling
from castwise.graph.saving.values import from_json, read_shape
from castwise.graph.saving.writing import FORMAT, VERSION
from castwise.graph.structure import slots_in
from castwise.rules.catalog import defined, dialect_named
from castwise.rules.dialect import Dialect
from castwise.rules.rule import FORMS

_FORMS = (*FORMS, "augmented")
_DECISION = "op operands dialect form inplace out alpha result compute casts result_cast weak notes"
_NODE = (
    "op inputs dtype shape options value name weak cast compute part call decision operands origin"
)


def read_program(path: str | PathLike[str], made: type[P]) -> P:
    """The program that `save_program` wrote to a file, as an instance of a class.

    Raises UsageError that names the file and what is wrong with it, or an op that is not declared.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise _no_graph(path) from None
    try:
        file = json.loads(text, parse_constant=_refused_constant)
    except (ValueError, RecursionError):
        raise _no_graph(path) from None
    if not isinstance(file, dict) or file.get("format") != FORMAT:
        raise _no_graph(path)
    with telling(path):
        return _TableReader(file, made).program


def _no_graph(path: object) -> UsageError:
    return UsageError(f"{path} is not a saved graph: g.save(path) writes one.")


def _refused_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity, which JSON lacks


class _TableReader(Generic[P]):
    """The tables of a file, read in the order in which they refer to each other."""

    def __init__(self, file: Mapping[str, Any], made: type[P]) -> None:
        self._made = made
        said = Fields(file, "format version castwise ops dialects decisions tensors nodes graph")
        version = said.get("version", int)
        if version > VERSION:
            raise UsageError(
                f"it was saved in version {version} of the format, by castwise "
                f"{str(file.get('castwise'))[:20]}, but this castwise reads {VERSION}: install a "
                "newer one."
            )
        for entry in said.get("ops", list):
            parts.check_declared(entry)
        self._calls: dict[int, Mapping[str, Any]] = {}
        self._dialects: list[Dialect] = self._all(said, "dialect", defined)
        self._decisions: list[Decision] = self._all(said, "decision", self._decision)
        self._tensors: list[Tensor] = self._all(said, "tensor", self._tensor)
        self._nodes: list[Node] = []
        for number, entry in enumerate(said.get("nodes", list)):
            with telling(f"node {number}"):
                self._nodes.append(self._node(entry))
        with telling("graph"):
            self.program = self._program(said.get("graph", dict))
            program_text(self.program)  # checks that each kind of node has what it needs

    def _all(self, said: Fields, name: str, reader: Callable[[Any], Any]) -> list[Any]:
        found = []
        for number, entry in enumerate(said.get(f"{name}s", list)):
            with telling(f"{name} {number}"):
                found.append(reader(entry))
        return found

    def _decision(self, entry: Any) -> Decision:
        said = Fields(entry, _DECISION)
        form = said.get("form", str)
        if form not in _FORMS:
            raise UsageError(f"unknown form {form[:40]!r}.{did_you_mean(form, _FORMS)}")
        question = Question(
            parts.op_named(said.get("op", str)),
            tuple([parts.operand(operand) for operand in said.get("operands", list)]),
            parts.entry_at(self._dialects, said.get("dialect", int)),
            form,
            said.get("inplace", bool),
            said.dtype_or_none("out"),
            said.value("alpha"),
        )
        notes = tuple([parts.text(note) for note in said.get("notes", list)])
        return Decision(
            question,
            said.dtype("result"),
            said.dtype("compute"),
            tuple([parts.cast(cast) for cast in said.get("casts", list)]),
            parts.cast(said.get("result_cast", list, None)),
            said.get("weak", bool),
            notes,
            not notes,
            steps_of,
        )

    def _tensor(self, entry: Any) -> Tensor:
        said = Fields(entry, "variable values weak dialect home backend")
        values = said.value("values")
        backend = backend_named(said.get("backend", str))
        number = said.get("dialect", int, None)
        own = None if number is None else parts.entry_at(self._dialects, number)
        home = dialect_named(said.get("home", str)).name
        array = backend.make(values, None, copy=True, device=None)
        weak = said.get("weak", bool)
        held = backend.dtype_of(array)
        kind = interned(Kind(backend, held, not array.shape, weak, own, home))
        return stand_in(array, kind) if said.get("variable", bool) else Tensor._of(array, kind)

    def _node(self, entry: Any) -> Node:
        said = Fields(entry, _NODE)
        name, compute = said.get("op", str), said.dtype_or_none("compute")
        inputs = self._before(said, "inputs")
        decision = said.get("decision", int, None)
        part = said.get("part", int, None)
        made = Node(
            name, inputs, said.dtype("dtype"), read_shape(said.get("shape", list, [])),
            self._options(said, part), said.value("value"), said.get("name", str, ""),
            parts.origin(said.get("origin", list, None)),
            parts.cast(said.get("cast", list, None)), compute, part,
            None if decision is None else parts.entry_at(self._decisions, decision),
            self._before(said, "operands"), said.get("weak", bool, False),
        )  # fmt: skip
        parts.check_node(made)
        return made

    def _before(self, said: Fields, name: str) -> tuple[Node, ...]:
        return tuple([parts.entry_at(self._nodes, number) for number in said.get(name, list, [])])

    def _options(self, said: Fields, part: int | None) -> Mapping[str, Any]:
        """The options of a node, which the results of one call share."""
        options = {key: from_json(option) for key, option in said.get("options", dict, {}).items()}
        if part is None:
            return options
        return self._calls.setdefault(said.get("call", int), options)

    def _program(self, entry: Any) -> P:
        said = Fields(entry, "name dialect inputs outputs structure state calls traced")
        traced = said.get("traced", dict, None)
        outputs = self._before(said, "outputs")
        structure = said.value("structure")
        if sorted(slots_in(structure)) != list(range(len(outputs))):
            raise UsageError("its structure must name each of its outputs once.")
        return self._made(
            said.get("name", str),
            parts.entry_at(self._dialects, said.get("dialect", int)),
            parts.inputs(self._before(said, "inputs")),
            outputs,
            structure,
            tuple([self._state(state) for state in said.get("state", list)]),
            tuple([self._call(*call) for call in said.get("calls", list)]),
            None if traced is None else self._program(traced),
        )

    def _state(self, entry: Any) -> State:
        said = Fields(entry, "before after tensor")
        number = said.get("tensor", int, None)
        (before,) = parts.inputs((parts.entry_at(self._nodes, said.get("before", int)),))
        after = parts.entry_at(self._nodes, said.get("after", int))
        return State(
            before, after, None if number is None else parts.entry_at(self._tensors, number)
        )

    def _call(self, decision: int, operands: list[Any], result: list[Any]) -> Call:
        shapes = tuple([read_shape(shape) for shape in operands])
        return Call(parts.entry_at(self._decisions, decision), shapes, read_shape(result))
