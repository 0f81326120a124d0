"""Recorded values, executed: what a tensor computes, in the notation of the recording."""

from __future__ import annotations

import csv
import functools
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from castwise.arrays.apply import update
from castwise.arrays.tensor import Tensor, apply, asarray
from castwise.catalog import dialect_named
from castwise.conformance.questions import JOINS, LOSSES, REDUCTIONS
from castwise.conformance.recorder import AUGMENTED_OPERATORS, OPERATORS, Cell
from castwise.conformance.values import (
    CAST,
    PRODUCTS,
    ZERO_DIVISION,
    Held,
    agrees,
    numpy_array,
    numpy_held,
    read_held,
)
from castwise.errors import CastwiseError, ScalarRangeError
from castwise.rules.dialect import Dialect
from castwise.rules.values import WRAPS_ON, architecture
from castwise.vocab.notation import OUT_OF_RANGE
from cell_files import read_cells

held_in = functools.cache(read_held)  # most operands are in many cells
FOLDER = Path(__file__).parents[2] / "conformance" / "values"
RECORDED_ON = ("x86_64", "aarch64")
OPTIONS = {"threshold": {"threshold": 1, "value": 1}}  # what the recorders pass


class Difference(NamedTuple):
    """Cells that are deliberately computed otherwise, and why."""

    dialect: str
    backend: str
    op: str
    form: str
    operands: str
    cells: int  # on this processor
    reason: str

    def names(self, dialect: str, backend: str) -> bool:
        return bool(re.fullmatch(self.dialect, dialect) and re.fullmatch(self.backend, backend))

    def covers(self, dialect: str, backend: str, cell: Cell) -> bool:
        asked = (dialect, backend, cell.op, cell.form, signature(cell))
        return all(re.fullmatch(p, text) for p, text in zip(self[:5], asked, strict=True))


def listed_differences() -> list[Difference]:
    with (FOLDER / "differences.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if not row[0].startswith("#")]
    found = [(row, _cells_here(row[5])) for row in rows]
    return [Difference(*row[:5], n, row[6]) for row, n in found if n is not None]  # type: ignore[call-arg]


def _cells_here(text: str) -> int | None:
    """How many cells a line is about on this processor, or None if it is about another.

    `5`, the same on all, or `x86_64=52 aarch64=13`.
    """
    if text.isdecimal():
        return int(text)
    counts = dict(part.split("=") for part in text.split())
    assert counts.keys() <= set(RECORDED_ON), text
    return int(counts[architecture()]) if architecture() in counts else None


def dtypes_in(cell: Cell) -> set[str]:
    """The dtypes of a cell's operands and answer."""
    return {text.partition("=")[0] for text in (*cell.operands, cell.answer) if "=" in text}


def signature(cell: Cell) -> str:
    """The operands without what arrays hold: `int8[37];300`."""
    return re.sub(r"=[^\[;]*\[", "[", ";".join(cell.operands))


def recorded_on(dialect: str) -> str:
    """Where the values of a dialect were recorded that tensors here are compared with: on a
    processor like this one, or on the device that the dialect is about."""
    return "cuda" if dialect.partition(":")[2] == "cuda" else architecture()


@functools.cache
def recorded(dialect: str, machine: str) -> list[Cell]:
    """What a framework computed on a kind of processor or device."""
    return read_cells(FOLDER / machine / f"{dialect.replace(':', '-')}.tsv.gz")[1]


def of_processor(name: str, machine: str) -> Dialect:
    """A dialect that casts as the given kind of processor does."""
    found = dialect_named(name)
    return replace(
        found,
        values=replace(
            found.values, casting=replace(found.values.casting, float_to_int=WRAPS_ON[machine])
        ),
    )


def without_subnormals(cell: Cell) -> Cell | None:
    """The cell without the elements that are subnormal floats; None if that is not enough.

    A processor that treats them as zero leaves no trace of them.
    """
    held = [held_in(text) for text in (*cell.operands, cell.answer) if not text.startswith("!")]
    if not any(_is_subnormal(h, v) for h in held for v in h.values):
        return cell
    sizes = {h.shape for h in held if h.shape}
    is_reduced = bool(sizes) and not held[-1].shape
    if len(held) == len(cell.operands) or len(sizes) > 1 or is_reduced:
        return None
    kept = [n for n in range(max(len(h.values) for h in held))
            if not any(_is_subnormal(h, h.values[n if h.shape else 0]) for h in held)]  # fmt: skip
    texts = [str(_chosen(h, kept)) if h.shape else str(h) for h in held]
    return cell._replace(operands=tuple(texts[:-1]), answer=texts[-1]) if kept else None


def _chosen(held: Held, kept: list[int]) -> Held:
    return Held(held.dtype, (len(kept),), tuple([held.values[n] for n in kept]))


def _is_subnormal(held: Held, value: Any) -> bool:
    least = _LEAST.get(held.dtype or "", 0)
    return any(0 < abs(part) < least for part in (value.real, value.imag))


_LEAST = {
    **dict.fromkeys(("bfloat16", "float32", "complex64"), 2.0**-126),
    **dict.fromkeys(("float64", "complex128"), 2.0**-1022),
}


@contextmanager
def quietly() -> Iterator[None]:
    """NumPy warns about overflows, which are what is recorded."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def disagrees(cell: Cell, dialect: str, backend: str) -> bool:
    """Whether a tensor's answer differs from the framework's, if the backend can compute it."""
    answer = computed(cell, dialect, backend)
    if isinstance(answer, str) and f"the backend {backend} has no " in answer:
        return False  # a dtype that it computes in
    if isinstance(answer, str) or cell.answer.startswith("!"):
        return answer != cell.answer
    return not agrees(cell.op, [*map(held_in, cell.operands)], held_in(cell.answer), answer)


def computed(cell: Cell, dialect: str | Dialect, backend: str) -> Held | str:
    """What a tensor computes, or the answer its error amounts to."""
    try:
        held = [held_in(notation) for notation in cell.operands]
        size = _size(cell, held) if backend in COMPILES else None
        given = [_filled(h) if h.shape else h for h in held] if size else held
        operands = [_tensor(h, dialect, backend) if h.dtype else h.values[0] for h in given]
        result = _result(cell, operands)
        values = numpy_held(result.numpy()[:size] if size else result.numpy()).values
        return Held(result.dtype.name, (size,) if size else result.shape, values)
    except ZeroDivisionError:
        return ZERO_DIVISION
    except ScalarRangeError:
        return OUT_OF_RANGE
    except (CastwiseError, ValueError) as error:  # a library's own words are none of its values
        return f"{type(error).__name__}: {error}"


# These compile anew for every shape: arrays of elementwise ops are filled up to one size.
COMPILES = ("jax",)
_FILLED = 64
_NOT_ELEMENTWISE = frozenset(
    (*REDUCTIONS, *JOINS, *PRODUCTS, *LOSSES, "softmax", "log_softmax", "allclose")
)


def _size(cell: Cell, held: Sequence[Held]) -> int | None:
    """How many elements the arrays of an elementwise op have; None if they are left unchanged."""
    sizes = {h.shape for h in held if h.shape}
    is_one = len(sizes) == 1 and cell.op not in _NOT_ELEMENTWISE
    size = min(sizes) if is_one else ()
    return size[0] if len(size) == 1 and size[0] <= _FILLED else None


def _filled(held: Held) -> Held:
    """An array with its elements again and again."""
    again = held.values * (_FILLED // len(held.values) + 1)
    return Held(held.dtype, (_FILLED,), again[:_FILLED])


def _tensor(held: Held, dialect: str | Dialect, backend: str) -> Tensor:
    return asarray(numpy_array(held), dialect=dialect, backend=backend)


def _result(cell: Cell, operands: list[Any]) -> Tensor:
    options = OPTIONS.get(cell.op, {})
    if cell.op == CAST:
        return operands[0].astype(cell.form.removeprefix("to="))  # type: ignore[no-any-return]
    if cell.form == "operator":
        return OPERATORS[cell.op](*operands)  # type: ignore[no-any-return]
    if cell.form == "augmented":
        return AUGMENTED_OPERATORS[cell.op](*operands)  # type: ignore[no-any-return]
    if cell.form == "inplace":
        return update(cell.op, *operands, **options)
    return apply(cell.op, *operands, form="function", **options)
