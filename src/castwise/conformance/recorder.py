"""What a recorder is, and how its framework's answers become cells, in memory and on disk."""

from __future__ import annotations

import functools
import gzip
import importlib
import importlib.metadata
import json
import pkgutil
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from castwise.conformance import recorders
from castwise.conformance.grid import GridQuestion, Operands, Scope, questions
from castwise.vocab.cell_words import NO_KERNEL

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
    files = [file.name for file in pkgutil.iter_modules(recorders.__path__)]
    return tuple(f.replace("_", "-") for f in files if not f.endswith(("_errors", "_values")))


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
    file = framework.replace("-", "_")
    return importlib.import_module(f"castwise.conformance.recorders.{file}").recorder


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
