"""A program in a file, written by `save_program` and read by `read_program`.

The file has tables of dialects, decisions, tensors and nodes, which refer to each other by
position, and the program itself; docs/reference/graph.md describes the format. Nothing in a file
is executed, and errors name the place in the file.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Generic

from castwise.arrays.backends import DEFAULT_BACKEND, backend_named
from castwise.arrays.functions import LIKE
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.tensor import Tensor, Variable, stand_in
from castwise.catalog import defined_dialect, dialect_definition, dialect_named
from castwise.engine.decide import decision_steps
from castwise.engine.decision import HAZARDS, Cast, Decision, Question
from castwise.errors import UsageError, did_you_mean
from castwise.graph.pictures import program_text
from castwise.graph.program import (
    CAST,
    CHECK,
    CONSTANT,
    INPUT,
    Call,
    Check,
    Given,
    Node,
    P,
    Program,
    Shape,
    Slot,
    SourceLine,
    State,
    given_numbers,
    in_order,
    slots_in,
)
from castwise.graph.recording import LAYOUT_OPS
from castwise.graph.sizes import Size, size_terms, terms_text
from castwise.rules.dialect import Dialect
from castwise.rules.rule import FORMS
from castwise.version import __version__
from castwise.vocab.dtypes import DTYPES, EXACT, DType
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Operand, Role
from castwise.vocab.ops import Op, known_op

# Writing.

FORMAT, VERSION = "castwise graph", 2


def save_program(program: Program, path: str | PathLike[str]) -> None:
    """Writes the file.

    Raises UsageError if something in the program cannot be saved.
    """
    Path(path).write_text(_laid_out(_TableWriter().contents(program)), "utf-8")


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
        self._dialects = _Table(dialect_definition)
        self._decisions = _Table(self._decision)
        self._tensors = _Table(self._tensor)
        self._nodes = _Table(self._node)
        self._calls: dict[object, int] = {}
        self._declared: dict[str, dict[str, Any]] = {}

    def contents(self, program: Program) -> dict[str, Any]:
        """The contents of the file."""
        for version in (program.traced, program):
            ends = version.nodes if version else ()
            passed = [n for check in version.checks for n in check.state] if version else []
            for node in in_order((*ends, *passed), lambda node: (*node.inputs, *node.operands)):
                self._nodes.place(node)
        entry = self._program(program)
        return {
            "format": FORMAT, "version": VERSION, "castwise": __version__,
            "ops": list(self._declared.values()), "dialects": self._dialects.entries,
            "decisions": self._decisions.entries, "tensors": self._tensors.entries,
            "nodes": self._nodes.entries, "graph": entry,
        }  # fmt: skip

    def _program(self, program: Program) -> dict[str, Any]:
        return {
            "name": program.name,
            "dialect": self._dialects.place(program.dialect),
            "inputs": self._places(program.inputs),
            "outputs": self._places(program.outputs),
            "structure": _to_json(program.structure),
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
            "checks": [
                [self._nodes.place(check.node), self._places(check.state)]
                for check in program.checks
            ],
            "shares_memory": program.shares_memory,
            "needs_rows": program.needs_rows,
            "traced": None if program.traced is None else self._program(program.traced),
        }  # fmt: skip

    def _places(self, nodes: Iterable[Node]) -> list[int]:
        return [self._nodes.place(node) for node in nodes]

    def _node(self, node: Node) -> dict[str, Any]:
        self._op(node.op)
        origin, call = node.origin, None
        if node.part is not None:
            call = self._calls.setdefault(node.call, len(self._calls))
        entry = {
            "op": node.op,
            "inputs": self._places(node.inputs),
            "dtype": node.dtype.name,
            "shape": _shape(node.shape),
            "options": {key: _to_json(option) for key, option in node.options.items()},
            "name": node.name,
            "weak": node.is_weak,
            "cast": _cast(node.cast),
            "compute": node.compute and node.compute.name,
            "part": node.part,
            "call": call,
            "decision": node.decision and self._decisions.place(node.decision),
            "operands": self._places(node.operands),
            "origin": origin and [origin.file, origin.line, origin.text],
        }  # fmt: skip
        # An empty field is left out, but 0 counts as a value.
        kept = {k: v for k, v in entry.items() if v or (v == 0 and v is not False)}
        return {**kept, "value": _to_json(node.value)} if node.op == CONSTANT else kept

    def _decision(self, decision: Decision) -> dict[str, Any]:
        question = decision.question
        self._op(question.op.name)
        return {
            "op": question.op.name,
            "operands": [_operand(operand) for operand in question.operands],
            "dialect": self._dialects.place(question.dialect), "form": question.form,
            "inplace": question.inplace, "out": question.out and question.out.name,
            "alpha": _to_json(question.alpha), "result": decision.result.name,
            "compute": decision.compute.name, "casts": [_cast(cast) for cast in decision.casts],
            "result_cast": _cast(decision.result_cast), "weak": decision.is_weak,
            "notes": list(decision.notes), "program": decision.program,
            "inside": [_cast(cast) for cast in decision.inside],
        }  # fmt: skip

    def _op(self, name: str) -> None:
        """Records an op that the user declared; its kernel is not saved."""
        row = known_op(name)
        if row is not None and row.family == "declared":
            self._declared[name] = _declaration(row)

    def _tensor(self, tensor: Tensor) -> dict[str, Any]:
        kind = tensor._kind
        return {
            "variable": isinstance(tensor, Variable), "values": _to_json(tensor.numpy()),
            "weak": kind.is_weak,
            "dialect": None if kind.dialect is None else self._dialects.place(kind.dialect),
            "home": kind.home, "backend": kind.backend.name,
        }  # fmt: skip


# The kernel, what only castwise's own ops have, and the part that is written field by field.
_NOT_DECLARED = ("compute", "call", "ulps", "shapes", "switches")


def _declaration(row: Op) -> dict[str, Any]:
    """What an op was declared with, except its kernel."""
    names = [f.name for f in dataclasses.fields(row) if f.name not in _NOT_DECLARED]
    own = {name: getattr(row, name) for name in names}
    entry = {**own, **dataclasses.asdict(row.switches)}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in entry.items()}


def _cast(cast: Cast | None) -> list[Any] | None:
    if cast is None:
        return None
    return [cast.source and cast.source.name, cast.target.name, list(cast.hazards), cast.is_read]


def _shape(shape: Shape) -> list[int | str]:
    return [size if isinstance(size, int) else str(size) for size in shape]


def _operand(operand: Operand) -> list[Any]:
    shape = None if operand.shape is None else _shape(operand.shape)
    dtype = operand.dtype and operand.dtype.name
    return [operand.role.value, dtype, shape, _to_json(operand.value), operand.is_weak]


# Reading.

_FORMS = (*FORMS, "augmented")
_DECISION = (
    "op operands dialect form inplace out alpha result compute casts result_cast weak notes program"
    " inside"
)
_PROGRAM = (
    "name dialect inputs outputs structure state calls traced checks shares_memory needs_rows"
)
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
    with _located(path):
        return _TableReader(file, made).program


def _no_graph(path: object) -> UsageError:
    return UsageError(f"{path} is not a saved graph: g.save(path) writes one.")


def _refused_constant(name: str) -> None:
    """Refuses NaN and Infinity, which JSON lacks."""
    raise ValueError(name)


class _TableReader(Generic[P]):
    """The tables of a file, read in the order in which they refer to each other."""

    def __init__(self, file: Mapping[str, Any], made: type[P]) -> None:
        self._made = made
        fields = _Fields(file, "format version castwise ops dialects decisions tensors nodes graph")
        version = fields.get("version", int)
        if version > VERSION:
            raise UsageError(
                f"it was saved in version {version} of the format, by castwise "
                f"{str(file.get('castwise'))[:20]}, but this castwise reads {VERSION}: install a "
                "newer one."
            )
        for entry in fields.get("ops", list):
            _check_declared(entry)
        self._calls: dict[int, Mapping[str, Any]] = {}
        self._dialects: list[Dialect] = self._all(fields, "dialect", defined_dialect)
        self._decisions: list[Decision] = self._all(fields, "decision", self._decision)
        self._tensors: list[Tensor] = self._all(fields, "tensor", self._tensor)
        self._nodes: list[Node] = []
        for number, entry in enumerate(fields.get("nodes", list)):
            with _located(f"node {number}"):
                self._nodes.append(self._node(entry))
        with _located("graph"):
            self.program = self._program(fields.get("graph", dict))
            program_text(self.program)  # checks that each kind of node has what it needs

    def _all(self, fields: _Fields, name: str, reader: Callable[[Any], Any]) -> list[Any]:
        found = []
        for number, entry in enumerate(fields.get(f"{name}s", list)):
            with _located(f"{name} {number}"):
                found.append(reader(entry))
        return found

    def _decision(self, entry: Any) -> Decision:
        fields = _Fields(entry, _DECISION)
        form = fields.get("form", str)
        if form not in _FORMS:
            raise UsageError(f"unknown form {form[:40]!r}.{did_you_mean(form, _FORMS)}")
        name = fields.get("op", str)
        row = known_op(name)
        if row is None:
            raise UsageError(f"this castwise has no op {name[:40]!r}.")
        question = Question(
            row, tuple([_read_operand(operand) for operand in fields.get("operands", list)]),
            _entry_at(self._dialects, fields.get("dialect", int)), form,
            fields.get("inplace", bool), fields.dtype_or_none("out"), fields.value("alpha"),
        )  # fmt: skip
        notes = tuple([_read_text(note) for note in fields.get("notes", list)])
        compute = fields.get("compute", str)
        return Decision(
            question, fields.dtype("result"), EXACT if compute == "exact" else _read_dtype(compute),
            tuple([_read_cast(cast) for cast in fields.get("casts", list)]),
            _read_cast(fields.get("result_cast", list, None)), fields.get("weak", bool),
            notes, not notes, fields.get("program", str, ""),
            tuple(filter(None, map(_read_cast, fields.get("inside", list, [])))),
            tell=decision_steps,
        )  # fmt: skip

    def _tensor(self, entry: Any) -> Tensor:
        fields = _Fields(entry, "variable values weak dialect home backend")
        values = fields.value("values")
        backend = backend_named(fields.get("backend", str))
        number = fields.get("dialect", int, None)
        own = None if number is None else _entry_at(self._dialects, number)
        home = dialect_named(fields.get("home", str)).name
        array = backend.make(values, None, copy=True, device=None)
        weak = fields.get("weak", bool)
        held = backend.dtype_of(array)
        kind = interned(Kind(backend, held, not array.shape, weak, own, home))
        return stand_in(array, kind) if fields.get("variable", bool) else Tensor._of(array, kind)

    def _node(self, entry: Any) -> Node:
        fields = _Fields(entry, _NODE)
        name, compute = fields.get("op", str), fields.dtype_or_none("compute")
        inputs = self._before(fields, "inputs")
        decision = fields.get("decision", int, None)
        part = fields.get("part", int, None)
        made = Node(
            name, inputs, fields.dtype("dtype"), _read_shape(fields.get("shape", list, [])),
            self._options(fields, part), fields.value("value"), fields.get("name", str, ""),
            _read_origin(fields.get("origin", list, None)),
            _read_cast(fields.get("cast", list, None)), compute, part,
            None if decision is None else _entry_at(self._decisions, decision),
            self._before(fields, "operands"), fields.get("weak", bool, False),
        )  # fmt: skip
        _check_node(made)
        return made

    def _before(self, fields: _Fields, name: str) -> tuple[Node, ...]:
        return tuple([_entry_at(self._nodes, number) for number in fields.get(name, list, [])])

    def _options(self, fields: _Fields, part: int | None) -> Mapping[str, Any]:
        """The options of a node, which the results of one call share."""
        given = fields.get("options", dict, {})
        options = {key: _from_json(option) for key, option in given.items()}
        if part is None:
            return options
        return self._calls.setdefault(fields.get("call", int), options)

    def _program(self, entry: Any) -> P:
        fields = _Fields(entry, _PROGRAM)
        traced = fields.get("traced", dict, None)
        outputs = self._before(fields, "outputs")
        structure = fields.value("structure")
        if sorted(slots_in(structure)) != list(range(len(outputs))):
            raise UsageError("its structure must name each of its outputs once.")
        return self._made(
            fields.get("name", str), _entry_at(self._dialects, fields.get("dialect", int)),
            _read_inputs(self._before(fields, "inputs")), outputs, structure,
            tuple([self._state(state) for state in fields.get("state", list)]),
            tuple([self._call(*call) for call in fields.get("calls", list)]),
            None if traced is None else self._program(traced),
            tuple([self._check(*check) for check in fields.get("checks", list, [])]),
            fields.get("shares_memory", bool, False), fields.get("needs_rows", bool, False),
        )  # fmt: skip

    def _state(self, entry: Any) -> State:
        fields = _Fields(entry, "before after tensor")
        number = fields.get("tensor", int, None)
        (before,) = _read_inputs((_entry_at(self._nodes, fields.get("before", int)),))
        after = _entry_at(self._nodes, fields.get("after", int))
        return State(before, after, None if number is None else _entry_at(self._tensors, number))

    def _check(self, node: int, state: list[Any]) -> Check:
        values = tuple([_entry_at(self._nodes, number) for number in state])
        return Check(_entry_at(self._nodes, node), values)

    def _call(self, decision: int, operands: list[Any], result: list[Any]) -> Call:
        shapes = tuple([_read_shape(shape) for shape in operands])
        return Call(_entry_at(self._decisions, decision), shapes, _read_shape(result))


# The entries of a table: typed fields, and errors that name the place in the file.

# What reading a malformed table raises if no check has found the problem.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_NEEDED = object()


@contextmanager
def _located(place: object) -> Iterator[None]:
    """A block whose errors name their place in the file."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    except RecursionError:
        raise UsageError(f"{place}: its values are nested too deeply.") from None
    except _MALFORMED as error:
        raise UsageError(f"{place} is malformed: {type(error).__name__}: {error}.") from None


class _Fields:
    """The fields of an entry, checked for their types."""

    def __init__(self, entry: Any, known: str) -> None:
        if not isinstance(entry, dict):
            raise UsageError(f"an entry must be a table of fields, not {str(entry)[:40]!r}.")
        for key in entry:
            if key not in known.split():
                hint = did_you_mean(key, known.split())
                raise UsageError(f"there is no field {key[:40]!r}.{hint}")
        self._entry = entry

    def get(self, name: str, kind: type, default: Any = _NEEDED) -> Any:
        """A field, which is required unless it has a default."""
        value = self._entry.get(name, default)
        if value is _NEEDED:
            raise UsageError(f"the field {name} is missing.")
        is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if value is not default and not is_right:
            raise UsageError(f"{name} must be of type {kind.__name__}, not {str(value)[:40]!r}.")
        return value

    def value(self, name: str) -> Any:
        """A field of any type, as a value."""
        return _from_json(self._entry.get(name))

    def dtype(self, name: str) -> DType:
        """A field that names a dtype."""
        return _read_dtype(self.get(name, str))

    def dtype_or_none(self, name: str) -> DType | None:
        """A field that may name a dtype."""
        return self.dtype(name) if self._entry.get(name) is not None else None


# The parts of a saved graph, checked.


def _entry_at(table: list[Any], number: Any) -> Any:
    """The entry with a number, which must come before those that refer to it."""
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(table):
        raise UsageError(f"{str(number)[:40]!r} is not the position of an earlier entry.")
    return table[number]


def _read_text(thing: Any) -> str:
    """A value that must be text."""
    if not isinstance(thing, str):
        raise UsageError(f"{str(thing)[:40]!r} is not text.")
    return thing


def _check_declared(entry: Any) -> None:
    """Raises UsageError if an op that the user declared is missing or different."""
    name = _read_text(entry["name"])
    found = known_op(name)
    if found is None or found.family != "declared":
        raise UsageError(
            f"it uses {name[:40]!r}, a custom op, whose kernel is not saved: declare "
            f"it before loading, cw.declare_op({name[:40]!r}, compute=...)."
        )
    here = _declaration(found)
    apart = [key for key in here if here[key] != entry.get(key)]
    if apart:
        said = ", ".join(f"{key}={entry.get(key)!r}" for key in apart)
        raise UsageError(f"it uses {name[:40]!r}, which was declared differently: {said[:200]}.")


def _check_node(node: Node) -> None:
    """Raises UsageError for a node that castwise never makes, so that a file cannot run anything
    else.
    """
    if node.compute is not None:
        is_known = known_op(node.op) is not None or node.op in LIKE
    else:
        is_known = node.op in (INPUT, CONSTANT, CAST, CHECK, *LAYOUT_OPS)
    if not is_known:
        raise UsageError(f"this castwise has no function {node.op[:40]!r}.")
    if node.op == CAST and len(node.inputs) != 1:
        raise UsageError("a cast must have one input.")
    if any(not 0 <= number < len(node.inputs) for number in given_numbers(node.options)):
        raise UsageError("an option names an input that the node does not have.")
    if node.op == CONSTANT:
        _check_constant(node)


def _check_constant(node: Node) -> None:
    array = node.value
    if isinstance(array, (bool, int, float, complex)):
        is_right = node.shape == ()
    else:
        is_right = tuple(array.shape) == node.shape and _read_dtype(str(array.dtype)) is node.dtype
    if not is_right:
        raise UsageError(f"the value of a constant is not {node.type}.")


def _read_inputs(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Nodes that must be inputs."""
    for node in nodes:
        if node.op != INPUT or not node.name:
            raise UsageError(f"a {node.op} is not an input.")
    return nodes


def _read_cast(parts: Any) -> Cast | None:
    """The cast described by a list of its parts; None if there is none."""
    if parts is None:
        return None
    source, target, hazards, *is_read = parts
    if not all(hazard in HAZARDS for hazard in hazards):
        raise UsageError(f"a cast has unknown hazards: {str(hazards)[:80]}.")
    own = source and _read_dtype(source)
    return Cast(own, _read_dtype(target), tuple(hazards), bool(is_read and is_read[0]))


def _read_operand(parts: Any) -> Operand:
    """The operand described by a list of its parts."""
    role, held, shape, value, weak = parts
    if not isinstance(weak, bool):
        raise UsageError(f"an operand's weak flag must be true or false, not {str(weak)[:40]!r}.")
    sizes = None if shape is None else _read_shape(shape)
    return Operand(held and _read_dtype(held), Role(role), _from_json(value), sizes, weak)


def _read_origin(parts: Any) -> SourceLine | None:
    """The source line described by a list of its parts."""
    if parts is None:
        return None
    file, line, source = parts
    if not isinstance(line, int):
        raise UsageError(f"a line must be a number, not {str(line)[:40]!r}.")
    return SourceLine(_read_text(file), line, _read_text(source))


# Values: JSON, with a tag for what JSON lacks, such as {"tuple": [1, 2]}.

_DTYPES = {held.name: held for held in DTYPES}


def _to_json(value: Any) -> Any:
    """A value as JSON.

    Raises UsageError if it cannot be saved.
    """
    if type(value) in (type(None), bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [_to_json(part) for part in value]
    for kind, (tag, content) in _TO_JSON.items():
        if type(value) is kind:
            return {tag: content(value)}
    return _base_to_json(value)


def _base_to_json(value: Any) -> Any:
    """A library's subclass of a number, an array or a tuple."""
    import numpy as np

    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [_to_json(part) for part in value]
        return {"named tuple": [type(value).__name__, list(value._fields), parts]}
    if isinstance(value, np.ndarray):
        return {"array": _array_to_json(value)}
    if isinstance(value, np.generic):
        return _to_json(value.item())
    raise UsageError(
        f"a {type(value).__name__} cannot be saved: results of the traced function, and options, "
        "may only contain numbers, text, lists, tuples and dicts."
    )


def _from_json(value: Any) -> Any:
    """The value that JSON represents.

    Raises UsageError if it does not represent one.
    """
    if isinstance(value, list):
        return [_from_json(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise UsageError(f"a value must have one tag, not {len(value)}.")
    tag, content = next(iter(value.items()))
    if tag not in _FROM_JSON:
        hint = did_you_mean(tag, _FROM_JSON)
        raise UsageError(f"a value has the unknown tag {tag[:40]!r}.{hint}")
    return _FROM_JSON[tag](content)


def _read_dtype(name: Any) -> DType:
    """The dtype with a name, which must be spelled in full."""
    if name in _DTYPES:
        return _DTYPES[name]
    raise UsageError(f"unknown dtype {str(name)[:40]!r}.{did_you_mean(str(name), _DTYPES)}")


def _read_size(size: Any) -> int | Size:
    """A size: a non-negative number, or text."""
    if isinstance(size, str):
        found = terms_text(size_terms(size))
        if found == size:
            return Size(size)
    elif isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    raise UsageError(f"{str(size)[:40]!r} is not a size.")


def _read_shape(sizes: Any) -> tuple[int | str, ...]:
    return tuple([_read_size(size) for size in sizes])


def _array_to_json(array: Any) -> dict[str, Any]:
    """An array as the bytes of its elements, in little-endian order."""
    held = to_dtype(array.dtype)
    plain = array.astype(backend_named(DEFAULT_BACKEND).native(held), order="C")
    laid = plain if sys.byteorder == "little" else plain.byteswap()
    text = base64.b64encode(laid.tobytes()).decode("ascii")
    return {"dtype": held.name, "shape": list(array.shape), "base64": text}


def _read_array(content: Any) -> Any:
    import numpy as np

    data = base64.b64decode(content["base64"], validate=True)
    native = np.dtype(backend_named(DEFAULT_BACKEND).native(_read_dtype(content["dtype"])))
    shape = [int(size) for size in _read_shape(content["shape"])]
    if math.prod(shape) * native.itemsize != len(data):
        raise UsageError(f"{len(data)} bytes do not fill an array of shape {shape}.")
    made = np.frombuffer(data, native).reshape(shape)
    return made.copy() if sys.byteorder == "little" else made.byteswap()


def _read_named_tuple(content: Any) -> Any:
    name, names, parts = content
    return namedtuple(name, names)(*_from_json(parts))


_TO_JSON: dict[type, tuple[str, Callable[[Any], Any]]] = {
    complex: ("complex", lambda z: [repr(z.real), repr(z.imag)]),
    tuple: ("tuple", lambda parts: [_to_json(part) for part in parts]),
    dict: ("dict", lambda pairs: [[_to_json(key), _to_json(part)] for key, part in pairs.items()]),
    slice: ("slice", lambda s: [_to_json(s.start), _to_json(s.stop), _to_json(s.step)]),
    type(Ellipsis): ("ellipsis", lambda _: None),
    Size: ("size", str),
    Given: ("input", lambda given: given.number),
    Slot: ("output", lambda slot: slot.number),
    DType: ("dtype", str),
}
_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "complex": lambda parts: complex(*map(float, parts)),
    "tuple": lambda parts: tuple([_from_json(part) for part in parts]),
    "named tuple": _read_named_tuple,
    "dict": lambda pairs: {_from_json(key): _from_json(part) for key, part in pairs},
    "slice": lambda parts: slice(*[_from_json(part) for part in parts]),
    "ellipsis": lambda _: ...,
    "size": _read_size,
    "input": lambda number: Given(int(number)),
    "output": lambda number: Slot(int(number)),
    "dtype": _read_dtype,
    "array": _read_array,
}
