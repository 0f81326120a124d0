"""Random programs with views, aliases, writes in place and ops that raise, run in four ways: eager,
as a traced graph, as that graph saved and loaded, and compiled.

The same bits must be returned, the same errors raised, and the same be in the arguments afterwards;
and results must share memory with the arguments, and with each other, as those of the function do.
A graph may refuse, with its own errors, what it cannot do as the function does. A compiled function
never refuses. `python tests/graph/aliasing.py --programs 10000 --backend torch` searches further.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.graph.run import OtherMemoryError
from castwise.graph.traced import UnsureMemoryError, UntraceableError

DIALECTS = ("torch", "numpy", "torch", "numpy", "paddle", "jax:x64", "mlx", "tensorflow:all",
            "keras", "tinygrad", "oneflow")  # fmt: skip
DTYPES = ("int32", "int64", "float32", "float64", "uint8", "bool", "float16", "complex64")
SHAPES = ((4,), (4,), (2, 3), (2, 2), (3, 1), (), (2, 2, 2), (0,), (1,))
LAYOUTS = ("rows", "rows", "rows", "rows", "transposed", "strided")
NUMBERS = (0, 1, 2, -1, 3, 0.5, -2.0, True)
UNARY = ("neg", "abs", "sqrt", "log1p", "exp", "square", "logical_not", "positive", "real", "imag",
         "conj", "bitwise_not", "tanh")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "eq",
          "lt", "bitwise_and", "atan2")  # fmt: skip
REDUCTIONS = ("sum", "prod", "mean", "max", "argmax", "any", "var", "cumsum", "cumprod", "std")
IN_PLACE = ("add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "bitwise_and",
            "sqrt", "neg", "cumsum", "fmod")  # fmt: skip


@dataclass
class Program:
    """A program: the arrays that it takes, its statements, and which values it returns."""

    dialect: str
    arrays: list[tuple[Any, ...]]  # dtype, shape, layout, and which other argument it is
    statements: list[tuple[Any, ...]] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)

    def __call__(self, *arguments: Any) -> Any:
        values = list(arguments)
        for statement in self.statements:
            do(statement, values)
        return tuple([values[n] for n in self.returned])


def do(statement: tuple[Any, ...], values: list[Any]) -> None:
    """Does one statement, whose result is a new value if it has one."""
    word, *parts = statement
    DOING[word](values, *parts)


def _operand(values: list[Any], what: Any) -> Any:
    return values[what[1]] if isinstance(what, tuple) else what


def _view(values: list[Any], n: int, how: str, *how_far: Any) -> None:
    x = values[n]
    if how == "getitem":
        values.append(x[_key(values, how_far[0])])
    elif how in ("T", "mT", "real", "imag"):
        values.append(getattr(x, how))
    elif how == "unbind":
        values.extend(x.unbind(0))
    elif how == "diagonal":
        values.append(x.diagonal())
    elif how == "under":
        values.append(x.under(x.dialect))
    elif how == "astype":
        values.append(x.astype(how_far[0], copy=how_far[1]))
    else:
        values.append(getattr(x, how)(*how_far))


def _key(values: list[Any], key: Any) -> Any:
    """A key, in which ("at", n) is a mask of a value, and lists are arrays of indices."""
    if isinstance(key, tuple) and key[:1] == ("above",):
        return values[key[1]] > 0
    return key


def _apply(values: list[Any], op: str, *operands: Any) -> None:
    values.append(cw.apply(op, *[_operand(values, o) for o in operands]))


def _reduce(values: list[Any], op: str, n: int, axis: Any) -> None:
    options = {} if axis == "none" else {"axis": axis}
    values.append(cw.apply(op, values[n], **options))


def _augment(values: list[Any], op: str, n: int, other: Any) -> None:
    values[n] = cw.apply(op, values[n], _operand(values, other), form="augmented")


def _method(values: list[Any], op: str, n: int, *others: Any) -> None:
    getattr(values[n], f"{op}_")(*[_operand(values, o) for o in others])


def _assign(values: list[Any], n: int, key: Any, other: Any) -> None:
    values[n][_key(values, key)] = _operand(values, other)


def _out(values: list[Any], op: str, first: Any, second: Any, n: int) -> None:
    cw.apply(op, _operand(values, first), _operand(values, second), out=values[n])


DOING: dict[str, Callable[..., None]] = {
    "view": _view, "apply": _apply, "reduce": _reduce, "augment": _augment, "method": _method,
    "assign": _assign, "out": _out,
}  # fmt: skip


# Random programs: statements that raise end them, and most of those are left out.


def made(seed: int, backend: str) -> Program:
    """The program of a number."""
    draw = random.Random(seed)
    program = Program(draw.choice(DIALECTS), [])
    for n in range(draw.randint(1, 3)):
        same = draw.randrange(n) if n and draw.random() < 0.1 else None
        program.arrays.append(
            (draw.choice(DTYPES), draw.choice(SHAPES), draw.choice(LAYOUTS), same,
             draw.choice(("itself", "view")))
        )  # fmt: skip
    values = arguments(program, backend, 0)
    most = draw.randint(1, 8)
    for _ in range(60):
        if len(program.statements) >= most:
            break
        statement = _statement(draw, values)
        try:
            do(statement, values)
        except Exception:
            if draw.random() < 0.97:
                # A statement may have written before it raised, so all is done again.
                values = arguments(program, backend, 0)
                for one in program.statements:
                    do(one, values)
                continue
            program.statements.append(statement)
            break
        program.statements.append(statement)
    count = len(values)
    chosen = draw.sample(range(count), min(count, draw.randint(1, 4)))
    program.returned = chosen if draw.random() < 0.9 else list(range(count))
    return program


def _statement(draw: random.Random, values: list[Any]) -> tuple[Any, ...]:
    n = draw.randrange(len(values))
    # The newest value, or an argument, is the most interesting one.
    n = draw.choice((n, len(values) - 1, 0))
    other = draw.choice(NUMBERS) if draw.random() < 0.5 else ("value", draw.randrange(len(values)))
    kind = draw.random()
    if kind < 0.35:
        return ("view", n, *_some_view(draw, values[n]))
    if kind < 0.5:
        return ("augment", draw.choice(IN_PLACE[:8]), n, other)
    if kind < 0.62:
        return ("assign", n, _some_key(draw, values, n, writes=True), other)
    if kind < 0.7:
        op = draw.choice((*IN_PLACE, "fill"))
        return ("method", op, n, *([] if op in ("sqrt", "neg", "cumsum") else [other]))
    if kind < 0.74:
        return ("out", draw.choice(BINARY), ("value", draw.randrange(len(values))), other, n)
    if kind < 0.82:
        return ("apply", draw.choice(UNARY), ("value", n))
    if kind < 0.92:
        pair = [("value", n), other]
        draw.shuffle(pair)
        return ("apply", draw.choice(BINARY), *pair)
    return ("reduce", draw.choice(REDUCTIONS), n, draw.choice((None, 0, -1, "none")))


def _some_view(draw: random.Random, x: Any) -> tuple[Any, ...]:
    how = draw.choice((
        "getitem", "getitem", "getitem", "getitem", "T", "mT", "reshape", "reshape", "permute",
        "squeeze", "unsqueeze", "flatten", "ravel", "swapaxes", "flip", "broadcast_to", "real",
        "imag", "contiguous", "clone", "astype", "under", "unbind", "diagonal", "view", "t", "conj",
    ))  # fmt: skip
    if how == "getitem":
        return how, _some_key(draw, [x], 0)
    if how in ("reshape", "view"):
        return how, draw.choice(((-1,), (2, -1), (1, -1), (-1, 1), tuple(x.shape)[::-1]))
    if how == "permute":
        order = list(range(x.ndim))
        draw.shuffle(order)
        return how, tuple(order)
    if how == "swapaxes":
        return how, 0, -1
    if how == "unsqueeze":
        return how, draw.choice((0, -1))
    if how == "broadcast_to":
        return how, (2, *x.shape)
    if how == "astype":
        return how, draw.choice((x.dtype.name, "float64", "int32")), draw.random() < 0.3
    return (how,)


def _some_key(draw: random.Random, values: list[Any], n: int, *, writes: bool = False) -> Any:
    one = draw.choice((
        slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), 0, -1, ...,
        None, slice(0, 2), [0, 1], 7,
    ))  # fmt: skip
    kind = draw.random()
    if kind < 0.6:
        return one
    if kind < 0.8:
        return (slice(None), draw.choice((0, slice(1, None), slice(None, None, -1), None)))
    if kind < 0.9:
        return (..., draw.choice((0, slice(None, 1))))
    return ("above", n) if writes else 0


def arguments(program: Program, backend: str, seed: int) -> list[Any]:
    """The arguments of a program, new ones each time."""
    draw = np.random.default_rng(seed)
    found: list[Any] = []
    dialect = cw.dialect(program.dialect)
    for name, shape, layout, same, how in program.arrays:
        if same is not None:
            other = found[same]
            found.append(other if how == "itself" or not other.ndim else other[1:])
            continue
        least = -3 if cw.dtype(name).is_signed else 0
        values = draw.integers(least, 4, shape).astype("float64")
        if cw.dtype(name).kind in ("float", "complex"):
            values = values + draw.choice((0, 0.25, 0.1))
        raw = _laid(values.astype(name if name != "bool" else "bool"), layout, backend)
        found.append(cw.asarray(raw, dialect=dialect, backend=backend))
    return found


def _laid(values: Any, layout: str, backend: str) -> Any:
    """The values in an array of a backend that lies in memory in one way."""
    if layout == "strided" and values.ndim:
        wide = np.repeat(values, 2, axis=-1)
    else:
        wide = np.array(values.T, order="C") if layout == "transposed" else values
    if backend == "torch":
        import torch

        wide = torch.from_numpy(np.array(wide))
    if layout == "strided" and values.ndim:
        return wide[..., ::2]
    if layout == "transposed" and values.ndim > 1:
        return wide.permute(*range(values.ndim)[::-1]) if backend == "torch" else wide.T
    return wide


# What a way of running gives.


@dataclass(frozen=True)
class Outcome:
    """What was returned or raised, what the arguments have afterwards, and what shares memory."""

    found: tuple[Any, ...]
    after: tuple[Any, ...]
    shared: tuple[Any, ...] = ()


def outcome(run: Callable[..., Any], given: list[Any]) -> Outcome:
    results: list[Any] = []
    try:
        results = list(run(*given))
        found: tuple[Any, ...] = ("gives", *map(bits, results))
    except Exception as error:
        found = ("raises", type(error), str(error))
    return Outcome(found, tuple(map(bits, given)), sharing([*given, *results], len(given)))


def bits(x: Any) -> tuple[Any, ...]:
    array = np.asarray(x.numpy())
    if array.dtype.kind in "fc":  # which NaN it is, is nobody's promise
        array = np.where(array != array, np.full_like(array, np.nan), array)
    return x.dtype.name, tuple(x.shape), x.weak_type, array.tobytes()


def sharing(tensors: list[Any], arguments: int) -> tuple[Any, ...]:
    """The pairs that share memory; not of two arguments."""
    arrays = [t.numpy() for t in tensors]
    return tuple([
        (a, b) for b in range(arguments, len(arrays)) for a in range(b)
        if arrays[a].size and np.shares_memory(arrays[a], arrays[b])
    ])  # fmt: skip


REFUSALS = (UnsureMemoryError, UntraceableError, OtherMemoryError)


def differences(program: Program, backend: str) -> list[str]:
    """How the ways differ; "refused" if a graph says that it cannot do what the function does."""
    found = []
    compiled = cw.compile(program, dialect=program.dialect)
    for seed in (0, 1, 0):  # the first call traces, others meet what it left
        expected = outcome(program, arguments(program, backend, seed))
        got = outcome(compiled, arguments(program, backend, seed))
        if got.found[:2] == ("raises", UntraceableError):
            return ["refused"]
        found += told("compiled", expected, got)
    try:
        given = arguments(program, backend, 0)
        graph = cw.trace(program, *given, dialect=program.dialect)
    except Exception as error:
        expected = outcome(program, arguments(program, backend, 0))
        if isinstance(error, REFUSALS):
            return [*found, "refused"]
        same = (type(error), str(error)) == expected.found[1:]
        # What never runs, a trace says in its own words.
        is_static = expected.found[0] == "raises" and isinstance(error, (ValueError, TypeError))
        return found if same or is_static else [*found, f"trace: {error!r}, not {expected.found}"]
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph.json")
        loaded = cw.load_graph(Path(folder) / "graph.json")
    for name, one in (("traced", graph), ("saved", loaded), ("simple", graph.simplify().graph)):
        for seed in (0, 1):
            expected = outcome(program, arguments(program, backend, seed))
            got = outcome(one, arguments(program, backend, seed))
            if got.found[0] == "raises" and issubclass(got.found[1], REFUSALS):
                found.append("refused")
                continue
            found += told(name, expected, got)
    return found


def told(way: str, expected: Outcome, got: Outcome) -> list[str]:
    for part in ("found", "after", "shared"):
        if getattr(expected, part) != getattr(got, part):
            return [f"{way}: {part} {getattr(got, part)}, not {getattr(expected, part)}"]
    return []


def search(programs: range, backend: str, *, shows: int = 0) -> tuple[Counter[str], list[str]]:
    """How many programs agree, differ or are refused, and what differs."""
    counts: Counter[str] = Counter()
    differ: list[str] = []
    backend_named(backend)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in programs:
            program = made(seed, backend)
            found = differences(program, backend)
            wrong = [one for one in found if one != "refused"]
            counts["differ" if wrong else "refused" if found else "agree"] += 1
            if wrong:
                differ.append(f"{seed}: {program}\n    {wrong[0]}")
                if len(differ) <= shows:
                    sys.stdout.write(f"{differ[-1]}\n")
                    sys.stdout.flush()
    return counts, differ


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--shows", type=int, default=10)
    chosen = parser.parse_args()
    numbers = range(chosen.first, chosen.first + chosen.programs)
    counted, wrong = search(numbers, chosen.backend, shows=chosen.shows)
    sys.stdout.write(f"{chosen.backend}: {dict(counted)}\n")
    sys.exit(bool(wrong))
