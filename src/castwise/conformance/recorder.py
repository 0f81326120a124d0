"""What a recorder is, and how its framework's answers become cells, in memory and on disk."""

from __future__ import annotations

import functools
import gzip
import importlib
import importlib.metadata
import json
import operator
import pkgutil
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from castwise.conformance import recorders
from castwise.conformance.questions import JOINS, OPS, GridQuestion, Operands, Scope, questions
from castwise.conformance.values import CAST, Held, read_held, value_questions
from castwise.vocab.architecture import architecture
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE
from castwise.vocab.ops import LAYERS

Header = dict[str, str]


class NoKernelError(Exception):
    """The dtypes were promoted but this build cannot compute; `dtype` is the result's, if known."""

    def __init__(self, dtype: str | None) -> None:
        super().__init__(dtype)
        self.answer = f"{NO_KERNEL}:{dtype}" if dtype else NO_KERNEL


class LostDeviceError(Exception):
    """A recorder's way to say that no later question of this process would get an answer."""


class Cell(NamedTuple):
    """A question and what the framework answered."""

    op: str
    form: str
    operands: Operands
    answer: str


class NoAnswer(NamedTuple):
    """Why a call told nothing about dtypes: an error of the framework, or of the recorder."""

    error: str  # the kind of the error; "" where the result has no dtype
    text: str


class Recorder(Protocol):
    """A framework that can be asked."""

    name: str  # the framework
    dialects: tuple[str, ...]  # what castwise calls its rules, at each version and in each mode
    dialect: str  # the one of them that is asked here
    scope: Scope

    def versions(self) -> Header:
        """The versions the answers depend on."""

    def session(self) -> AbstractContextManager[None]:
        """The settings the questions are asked under, undone at its end."""

    def make(self, notation: str) -> Any:
        """The live operand a piece of notation names."""

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the framework returns, or None where it is not asked; its errors pass through."""

    def dtype_of(self, result: Any) -> str | None:
        """The dtype of a result, or None where the framework did not answer in its own arrays."""

    def classify(self, error: Exception) -> str | None:
        """The answer an error amounts to, or None where it is not about dtypes or values."""


def frameworks() -> tuple[str, ...]:
    """The names of the frameworks there is a recorder for, installed or not."""
    return tuple(f.name.replace("_", "-") for f in pkgutil.iter_modules(recorders.__path__))


def find_recorder(framework: str, mode: str = "") -> Recorder:
    """The recorder of a framework in a mode such as "default_float=float64".

    Raises ImportError where the framework is not installed, ValueError where there is no
    recorder for it.
    """
    recorder = cast(Recorder, _recorder_class(framework)(mode))
    recorder.scope = recorder.scope.without(_lacking(recorder))
    return recorder


def _lacking(recorder: Recorder) -> set[str]:
    """The dtypes that a recorder asks about and the installed version does not have."""
    lacking = set()
    with recorder.session():
        for dtype in (*recorder.scope.dtypes, *recorder.scope.rare):
            try:
                recorder.make(f"{dtype}[3]")
            except Exception:  # an attribute, a type or a value that is not there
                lacking.add(dtype)
    return lacking


def recorded_dialects(framework: str) -> tuple[str, ...]:
    """The dialects a framework can be asked about, which need not be installed for this.

    Raises ValueError where there is no recorder for it.
    """
    return cast("tuple[str, ...]", _recorder_class(framework).dialects)


def _recorder_class(framework: str) -> Any:
    if framework not in frameworks():
        raise ValueError(f"no recorder for {framework!r}; there are {', '.join(frameworks())}.")
    return recorder_file(framework).recorder


def recorder_file(framework: str) -> Any:
    """The module that asks a framework; it imports the framework only when it asks."""
    return importlib.import_module(f"{recorders.__name__}.{framework.replace('-', '_')}")


def versions_of(version: str, *packages: str) -> Header:
    """The versions of a framework, of the packages it is used with, and of Python."""
    others = {name: importlib.metadata.version(name) for name in packages}
    return {"version": version, **others, "python": platform.python_version()}


def ask(
    recorder: Recorder, question: GridQuestion, make: Callable[[str], Any] | None = None
) -> str | None:
    """The framework's answer, or None where the call failed for another reason than dtypes.

    `make` replaces the recorder's own, for example with one that caches what it made.
    """
    found = answer_or_why_not(recorder, question, make or recorder.make)
    return found if isinstance(found, str) else None


def answer_or_why_not(
    recorder: Recorder, question: GridQuestion, make: Callable[[str], Any]
) -> str | NoAnswer | None:
    """The framework's answer, or why there is none; None where the recorder did not ask."""
    try:
        operands = [make(notation) for notation in question.operands]
        result = recorder.call(question.op, question.form, operands)
        if result is None:
            return None
        answer = recorder.dtype_of(result)
        why = "", f"the result is a {type(result).__name__}"
    except Exception as error:  # whatever a framework raises is an answer to judge
        answer = recorder.classify(error)
        why = type(error).__name__, str(error)[:200]
    return NoAnswer(*why) if answer is None else answer


def cells(
    recorder: Recorder,
    ops: Iterable[str] | None = None,
    on_question: Callable[[GridQuestion], object] | None = None,
) -> Iterator[Cell]:
    """Asks every question of the grid and yields those that have an answer.

    `on_question` is called before each question, as often as `count` says.
    """
    make = functools.cache(recorder.make)  # an op that writes into an operand is given a copy
    with recorder.session():
        for question in questions(recorder.scope, ops):
            if on_question is not None:
                on_question(question)
            answer = ask(recorder, question, make)
            if answer is not None:
                yield Cell(*question, answer)


def count(recorder: Recorder, ops: Iterable[str] | None = None) -> int:
    """How many questions `cells` will ask."""
    return sum(1 for _ in questions(recorder.scope, ops))


def header(recorder: Recorder) -> Header:
    """The first line of a cell file: what was asked, and where."""
    return {"dialect": recorder.dialect, "framework": recorder.name, **recorder.versions()}


def header_of_both(before: Header, now: Header) -> Header | None:
    """The header of cells of two recordings; None where they are of different versions.

    The last number of Python's makes no difference to a framework, so both are named. Not every
    machine that can run an old framework has the same one.

    >>> header_of_both({"version": "2", "python": "3.10.13"}, {"version": "2", "python": "3.10.9"})
    {'version': '2', 'python': '3.10.9 3.10.13'}
    """
    pythons = {*before.get("python", "").split(), *now.get("python", "").split()}
    if len({python.rpartition(".")[0] for python in pythons}) > 1:
        return None
    listed = " ".join(sorted(pythons, key=lambda python: int(python.rpartition(".")[2])))
    joint = {**now, "python": listed} if pythons else now
    return joint if {**before, "python": listed} == {**now, "python": listed} else None


def write_cells(path: Path, header: Header, recorded: Iterable[Cell]) -> None:
    """Writes a cell file; equal cells give equal bytes."""
    lines = [f"# {json.dumps(header)}"]
    lines += sorted("\t".join((c.op, c.form, ";".join(c.operands), c.answer)) for c in recorded)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_packed(path, "".join(f"{line}\n" for line in lines))


def write_packed(path: Path, text: str) -> None:
    """Writes a compressed file; equal text gives equal bytes."""
    # The name and the time, which gzip would store, are left out.
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def read_header(path: Path) -> Header:
    """The header of a cell file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return cast(Header, json.loads(file.readline().removeprefix("# ")))


def read_counts(path: Path) -> Counter[str]:
    """How many cells a cell file has of each op."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)  # the header
        return Counter(line.partition("\t")[0] for line in file)


def read_cells(path: Path) -> tuple[Header, list[Cell]]:
    """The header and the cells of a cell file.

    There are hundreds of thousands of cells, and few words in them: each is held once.
    """
    word, operands = sys.intern, functools.cache(lambda text: tuple(map(word, text.split(";"))))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        first = json.loads(file.readline().removeprefix("# "))
        rows = (line.rstrip("\n").split("\t") for line in file)
        recorded = [
            Cell(word(op), word(form), operands(ops), word(answer))
            for op, form, ops, answer in rows
        ]
    return first, recorded


# The calls that look the same in every framework: Python's operators, and questions on dtypes.

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
    "bitwise_not": operator.invert,
    "neg": operator.neg,
    "positive": operator.pos,
}

# `a += b` and the others. Where an array has no such method Python takes `a + b`.
AUGMENTED_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
    "matmul": operator.imatmul,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
    "bitwise_left_shift": operator.ilshift,
    "bitwise_right_shift": operator.irshift,
}


def assigned(op: str, operands: Sequence[Any], copy: Callable[[Any], Any]) -> Any:
    """What the name is bound to after `a += b`. An array `a` is copied first, NumPy's by its own
    method and others by `copy`, since more is asked about it."""
    import numpy as np

    first, second = operands
    if isinstance(first, np.ndarray):
        first = first.copy()
    elif not isinstance(first, (int, float, complex, np.generic)):
        first = copy(first)
    return AUGMENTED_OPERATORS[op](first, second)


class RefusalError(TypeError):
    """A framework's plain no, where it answers a question instead of raising."""


def refusing(question: Callable[..., bool], yes: Any) -> Callable[..., Any]:
    """A yes-or-no function as the cells see it: `yes`, or a refusal."""

    def call(*operands: Any) -> Any:
        if not question(*operands):
            raise RefusalError
        return yes

    return call


def of_dtypes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of dtypes, called with arrays that have them."""
    return lambda *arrays: function(*(array.dtype for array in arrays))


def of_sequence(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a sequence of arrays, called with the arrays."""
    return lambda *arrays, **named: function(arrays, **named)


# Which function of a framework computes each op.
#
# The `aliases` in a framework's data file list its names for the ops; a recorder says in which
# of the framework's modules to look, and what it calls otherwise.

Rooms = Mapping[str, Any]  # modules, or a class with methods, by the name a program has for them


class FoundFunction(NamedTuple):
    """A function, and how a program writes it."""

    path: str  # such as jax.nn.relu
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def found_functions(
    rooms: Rooms, aliases: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> dict[str, FoundFunction]:
    """The function of each op that a framework has, in the first room that has one by castwise's
    name of the op or by an alias. `instead` names the path of another. A layer must be named
    there, since no two frameworks call it alike.

    >>> import math, operator
    >>> rooms = {"math": math, "operator": operator}
    >>> found = found_functions(rooms, {"neg": "minus", "abs": "absolute fabs"}, {"exp": "math.e"})
    >>> [found[op].path for op in ("pow", "neg", "abs", "exp")]
    ['math.pow', 'operator.neg', 'math.fabs', 'math.e']

    An op of which the framework has the name for another op is not found by it.

    >>> "sqrt" in found_functions(rooms, {"pow": "power sqrt"})
    False
    """
    framework_names = {name for names in aliases.values() for name in names.split()}
    found = {}
    for op in OPS:
        path = (instead or {}).get(op) or (
            None if op in framework_names or op in LAYERS else _path(rooms, aliases, op)
        )
        function = None if path is None else _at(rooms, path)
        if path is not None and function is not None:
            found[op] = FoundFunction(path, function)
    return found


def called_with_operands(found: Mapping[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    """The functions as they are called: with the operands, those too that take a sequence."""
    return {
        op: of_sequence(each.function) if op in JOINS else each.function
        for op, each in found.items()
    }


def _path(rooms: Rooms, aliases: Mapping[str, str], op: str) -> str | None:
    names = (op, *aliases.get(op, "").split())
    paths = (f"{room}.{name}" for room in rooms for name in names if hasattr(rooms[room], name))
    return next(paths, None)


def _at(rooms: Rooms, path: str) -> Any:
    """What a path leads to; None where an older version does not have it."""
    room, _, name = path.rpartition(".")
    if room in rooms:
        return getattr(rooms[room], name, None)
    root, *parts = path.split(".")
    return reduce(lambda found, part: getattr(found, part, None), parts, rooms[root])


# What a recorder of values is, and how a framework's results become value cells.
#
# A value cell is in a cell file like any other, but its operands and its answer show what
# they hold. A call that a framework refuses for its dtypes gives none: the other cells tell that.

ZERO_DIVISION = "!zero"  # it raised, since an integer was divided by zero


class ValueRecorder(Protocol):
    """A framework that can be asked what it computes."""

    name: str
    dialect: str
    scope: Scope
    dtypes: tuple[str, ...]  # of the operands it is asked with

    def versions(self) -> Header:
        """The versions the answers depend on."""

    def session(self) -> AbstractContextManager[None]:
        """The settings the questions are asked under, undone at its end."""

    def hold(self, held: Held) -> Any:
        """The live operand that holds these values."""

    def cast(self, array: Any, dtype: str) -> Any:
        """The array in another dtype, as an explicit cast gives it."""

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the framework returns; its errors pass through."""

    def held_by(self, result: Any) -> Held | None:
        """What a result holds, or None where the framework did not answer in its own arrays."""

    def is_division_by_zero(self, error: Exception) -> bool:
        """Whether an error says that an integer was divided by zero."""

    def classify(self, error: Exception) -> str | None:
        """The answer an error amounts to, or None where it is not about dtypes or values."""


def valued_frameworks() -> tuple[str, ...]:
    """The frameworks whose values can be recorded, installed or not."""
    return tuple(name for name in frameworks() if hasattr(recorder_file(name), "values_recorder"))


def find_value_recorder(framework: str, mode: str = "") -> ValueRecorder:
    """The recorder of a framework's values in a mode.

    Raises ImportError where the framework is not installed, ValueError where none records it.
    """
    known = valued_frameworks()
    if framework not in known:
        raise ValueError(f"no values are recorded of {framework!r}, only of {', '.join(known)}.")
    return cast(ValueRecorder, recorder_file(framework).values_recorder(mode))


def value_header(recorder: ValueRecorder) -> Header:
    """The first line of the file: what was asked, and where; processors differ in casts."""
    machine = {"machine": architecture()}
    return {
        "dialect": recorder.dialect, "framework": recorder.name, **recorder.versions(), **machine
    }  # fmt: skip


def ask_values(recorder: ValueRecorder, question: GridQuestion) -> str | None:
    """What the framework computes, or None where it refuses or fails for another reason."""
    try:
        operands = [recorder.hold(read_held(notation)) for notation in question.operands]
        if question.op == CAST:
            result = recorder.cast(operands[0], question.form.removeprefix("to="))
        else:
            result = recorder.compute(question.op, question.form, operands)
    except Exception as error:  # whatever a framework raises is an answer to judge
        if recorder.is_division_by_zero(error):
            return ZERO_DIVISION
        return OUT_OF_RANGE if recorder.classify(error) == OUT_OF_RANGE else None
    held = recorder.held_by(result)
    return None if held is None else str(held)


def value_cells(
    recorder: ValueRecorder,
    ops: Iterable[str] | None = None,
    on_question: Callable[[GridQuestion], object] | None = None,
) -> Iterator[Cell]:
    """Asks every question on values and yields those that have an answer."""
    with recorder.session():
        for question in value_questions(recorder.scope.forms, recorder.dtypes, ops):
            if on_question is not None:
                on_question(question)
            answer = ask_values(recorder, question)
            if answer is not None:
                yield Cell(*question, answer)
