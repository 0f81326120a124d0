"""castwise on an NVIDIA GPU, beside torch: pairs of dtypes, a chain, and first calls.

    python benchmarks/gpu.py [--size N] [--minutes N] [--quick] [--json FILE]

It needs torch with CUDA, Triton, NumPy and array_api_compat (pure Python, as castwise is: a copy of
both on PYTHONPATH will do). Times are medians of triton.testing.do_bench, which clears the GPU's
cache between calls; every call allocates its result. "share" is the share of a copy's bandwidth, by
the bytes that have to be read and written once. "equal" says whether the bits are those of castwise
without kernels on the same GPU, for everyday values and values with any bits; all NaN are the same.
torch.compile is compared with torch eager, which divides by a number on a GPU in another way than
on a CPU: it multiplies by the reciprocal. castwise divides, as torch on a CPU.
A step that fails is named, and the others go on. The pairs come last, and end when the time is
over; the results are written after each step.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from measure import in_child, options, print_table, write_json
from peers import (
    PAIRS,
    compile_at_once,
    library,
    moved,
    print_summaries,
    stored,
    stored_hard,
    sum_dtype,
    summaries,
    torch_tensor,
)

import castwise as cw

torch: Any = library("torch")
triton: Any = library("triton.testing") and library("triton")
DEVICE = "cuda"
SIZE, QUICK_SIZE = 1 << 28, 1 << 24
BLOCK = 1 << 20  # elements of random values; a large array repeats them
CHECKED = (1 << 22) + 3  # elements whose bits are compared; from about there on kernels are used
DIALECTS = ("torch", "jax:x64")
CHAIN = ("int8", "float16", "bfloat16")
NAME = "(int8 * float16 + bfloat16) / 3"
SIGNATURES = [
    ("int8", "float32"), ("int8", "bfloat16"), ("int16", "float32"), ("int32", "float64"),
    ("uint8", "int16"), ("float16", "float32"),
]  # fmt: skip
LIMIT = 150  # seconds of a child
Case = Callable[[], Any]
if importlib.util.find_spec("ml_dtypes") is None:
    # It gives NumPy the dtypes that NumPy lacks; all arrays here are torch's, so none is needed.
    sys.modules["ml_dtypes"] = ModuleType("ml_dtypes")


def large(dtype: str, size: int, seed: int) -> Any:
    """A tensor with everyday values."""
    block = torch_tensor(stored(dtype, min(BLOCK, size), seed), dtype, DEVICE)
    return block.repeat(-(-size // len(block)))[:size]


@functools.cache
def checked(dtype: str, seed: int) -> Any:
    """A tensor with everyday values, and with values of any bits."""
    half = CHECKED // 2
    parts = [stored(dtype, half, seed), stored_hard(dtype, CHECKED - half, seed)]
    return torch_tensor(np.concatenate(parts), dtype, DEVICE)


def ours(tensors: list[Any], dialect: str) -> list[Any]:
    """The same memory as tensors of castwise."""
    return [cw.asarray(tensor, dialect=dialect) for tensor in tensors]


def seconds(case: Case, *, is_quick: bool = False) -> float:
    """The median time on the GPU."""
    found = triton.testing.do_bench(case, rep=20 if is_quick else 60, return_mode="median")
    return float(found) / 1000


def checksum(result: Any) -> str:
    """The dtype and a sum over all bits by their places; all NaN are the same."""
    tensor = result.array if isinstance(result, cw.Tensor) else result
    if tensor.is_floating_point():
        tensor = torch.where(tensor.isnan(), torch.full_like(tensor, float("nan")), tensor)
    held = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    bits = tensor.view(held[tensor.element_size()]).to(torch.int64)
    place = torch.arange(1, bits.numel() + 1, device=DEVICE)
    # Odd factors, mixed from the place: integers wrap, so the sum is the same in every order.
    factors = (place * 0x1E3779B97F4A7C15) ^ (place << 23) | 1
    # The upper halves count once more: a changed sign alone would be lost in every other place.
    sums = [int((part * factors).sum()) for part in (bits, bits >> 32)]
    return f"{tensor.dtype} {sums}"


def chain(x: Any, y: Any, z: Any) -> Any:
    """The chain that is measured."""
    return (x * y + z) / 3


def chain_operands(size: int | None) -> list[Any]:
    """Large ones, or those whose bits are compared."""
    return [
        large(dtype, size, seed) if size else checked(dtype, seed)
        for seed, dtype in enumerate(CHAIN)
    ]


def plain_checksums() -> dict[str, str]:
    """The bits of castwise without kernels; a child calls it."""
    found = {
        f"chain {dialect}": checksum(chain(*ours(chain_operands(None), dialect)))
        for dialect in DIALECTS
    }
    for a, b in PAIRS:
        tensors = [checked(a, 1), checked(b, 2)]
        for dialect in DIALECTS:
            x, y = ours(tensors, dialect)
            found[f"{dialect} {a} {b}"] = checksum(x + y)
    return found


def torch_compiled(size: int) -> dict[str, Any]:
    """torch.compile of the chain: the time of its first call, of others, and its bits; a child
    calls it, with an empty cache."""
    operands = chain_operands(size)
    eager = seconds(lambda: chain(*operands))
    compiled = torch.compile(chain)
    start = time.perf_counter()
    compiled(*operands)
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    found = seconds(lambda: compiled(*operands))
    torch.compiler.reset()
    small = chain_operands(None)
    is_equal = checksum(torch.compile(chain)(*small)) == checksum(chain(*small))
    return {"first call s": first, "seconds": found, "torch eager s": eager, "equal": is_equal}


def first_calls() -> dict[str, Any]:
    """The time of new signatures, the first of them with Triton's start; a child calls it."""
    compile_at_once("gpu")
    pairs = [ours([checked(a, 1), checked(b, 2)], "torch") for a, b in SIGNATURES]
    found = []
    for x, y in pairs:
        torch.cuda.synchronize()
        start = time.perf_counter()
        x + y
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    first, *others = found
    return {"first s": first, "others s": statistics.median(others), "slowest s": max(others)}


class Benchmark:
    """The steps of a run, and what they have found."""

    def __init__(self, size: int, minutes: float, path: Path | None, *, is_quick: bool) -> None:
        self.size, self.is_quick, self.path = size, is_quick, path
        self.ends = time.monotonic() + 60 * minutes
        gpu = torch.cuda.get_device_name()
        self.figures: dict[str, Any] = {"gpu": gpu, "size": size, "failed": {}}
        self.plain: dict[str, str] = {}
        self.copied = 0.0  # bytes per second

    def run(self) -> None:
        """All steps."""
        for step in (
            self.copy, self.first_calls, self.bits, self.chain, self.torch_compile, self.pairs,
        ):  # fmt: skip
            name = step.__name__
            left = self.ends - time.monotonic()
            print(f"\n{name} ({left:.0f} s left)", flush=True)
            with self.goes_on(name):
                step()
            gc.collect()
            torch.cuda.empty_cache()
            write_json(self.path, self.figures, "numpy", "torch", "triton")

    @contextlib.contextmanager
    def goes_on(self, name: str) -> Iterator[None]:
        """Says what fails in a step, and lets the others go on."""
        try:
            yield
        except Exception as error:
            self.figures["failed"][name] = f"{type(error).__name__}: {error}"[:500]
            print(f"FAILED: {name}")
            traceback.print_exc(limit=-3, file=sys.stdout)

    def limit(self) -> float:
        """The seconds that a child may take."""
        return max(min(LIMIT, self.ends - time.monotonic()), 1)

    def seconds(self, case: Case) -> float:
        return seconds(case, is_quick=self.is_quick)

    def share(self, bytes_each: int, time_taken: float) -> float | None:
        """The share of a copy's bandwidth."""
        return self.size * bytes_each / time_taken / self.copied if self.copied else None

    def copy(self) -> None:
        """The bandwidth of a copy, which everything is compared with."""
        source = large("float32", self.size, 1)
        target = torch.empty_like(source)
        self.copied = 2 * 4 * self.size / seconds(lambda: target.copy_(source))
        self.figures["copy GB/s"] = self.copied / 1e9
        print(f"copy of float32: {self.copied / 1e9:,.0f} GB/s", flush=True)

    def bits(self) -> None:
        """The results without kernels, from a child."""
        self.plain = in_child(
            "gpu", "plain_checksums", limit=self.limit(), CASTWISE_KERNELS="off"
        )  # fmt: skip
        print(f"{len(self.plain)} results without kernels", flush=True)

    def equal(self, key: str, bits: str) -> bool | None:
        """Whether bits are those without kernels; None if those are not known."""
        return bits == self.plain[key] if key in self.plain else None

    def chain(self) -> None:
        """castwise and torch eager on the chain."""
        dialect, rows = "torch", []
        operands = chain_operands(self.size)
        mine, my_small = (ours(held, dialect) for held in (operands, chain_operands(None)))
        compiled = cw.compile(chain, dialect=dialect)
        for name, function, given in (
            ("castwise compiled", compiled, mine),
            ("castwise eager", chain, mine),
            ("torch eager", chain, operands),
        ):
            is_ours = name.startswith("castwise")
            equal = self.equal("chain torch", checksum(function(*my_small))) if is_ours else True
            taken = self.seconds(lambda function=function, given=given: function(*given))
            rows.append(self.chain_row(name, taken, equal))
        self.figures["chain"] = rows
        self.print_chain(rows)

    def chain_row(
        self, name: str, taken: float, equal: bool | None, **others: Any
    ) -> dict[str, Any]:
        return {
            "chain": NAME, "system": name, "seconds": taken,
            "share": self.share(moved(*CHAIN, "float32"), taken),
            "equal": equal, **others,
        }  # fmt: skip

    def torch_compile(self) -> None:
        """torch.compile of the chain, in a child with a limit."""
        with tempfile.TemporaryDirectory() as cache:
            found = in_child(
                "gpu", "torch_compiled", self.size, limit=self.limit(),
                TORCHINDUCTOR_CACHE_DIR=cache, TRITON_CACHE_DIR=f"{cache}/triton",
            )  # fmt: skip
        more = {key: found[key] for key in ("first call s", "torch eager s")}
        row = self.chain_row("torch.compile", found["seconds"], found["equal"], **more)
        self.figures.setdefault("chain", []).append(row)
        self.print_chain([row])
        print(f"torch.compile took {found['first call s']:.1f} s before its first result; torch "
              f"eager in the same process: {1000 * found['torch eager s']:.3f} ms")  # fmt: skip

    def print_chain(self, rows: list[dict[str, Any]]) -> None:
        lines = [
            [row["system"], f"{1000 * row['seconds']:.3f}", _percent(row["share"]),
             _yes_or_no(row["equal"])]
            for row in rows
        ]  # fmt: skip
        print_table([NAME, "ms", "share", "equal"], lines)

    def first_calls(self) -> None:
        """New signatures: compiled, and in a second process from the disk."""
        with tempfile.TemporaryDirectory() as cache:
            found = {
                name: in_child("gpu", "first_calls", limit=self.limit(), CASTWISE_CACHE=cache)
                for name in ("compiled", "from disk")
            }
        self.figures["first calls"] = found
        lines = [
            [name, *[f"{1000 * number:.1f}" for number in row.values()]]
            for name, row in found.items()
        ]  # fmt: skip
        print_table(["new signature, ms", "first, with Triton's start", "others", "slowest"], lines)

    def pairs(self) -> None:
        """All pairs, until the time is over."""
        rows: list[dict[str, Any]] = []
        self.figures["pairs"] = rows
        print(f"{'pair':42}{'castwise ms':>12}{'torch ms':>12}{'ratio':>7}{'share':>7}"
              f"{'torch':>7}  equal")  # fmt: skip
        for a, b in PAIRS:
            if time.monotonic() > self.ends:
                print(f"the time is over: {2 * len(PAIRS) - len(rows)} pairs are left out")
                break
            tensors = [large(a, self.size, 1), large(b, self.size, 2)]
            small = [checked(a, 1), checked(b, 2)]
            for dialect in DIALECTS:
                with self.goes_on(f"{dialect}: {a} + {b}"):
                    rows.append(self.pair(dialect, (a, b), tensors, small))
                    print_row(rows[-1])
            del tensors, small
        self.figures["summaries"] = summaries(rows)
        print_summaries(self.figures["summaries"], "torch eager")

    def pair(
        self, dialect: str, dtypes: tuple[str, str], tensors: list[Any], small: list[Any]
    ) -> dict[str, Any]:
        """A row of the table."""
        a, b = dtypes
        result = sum_dtype(dialect, a, b)
        cases = {"castwise on torch": _by_castwise, "torch": _by_torch}
        key, taken, equal = f"{dialect} {a} {b}", {}, {}
        for name, make in cases.items():
            equal[name] = self.equal(key, checksum(make(small, dialect, result)()))
            taken[name] = self.seconds(make(tensors, dialect, result))
        each = moved(a, b, result)
        return {
            "dialect": dialect, "a": a, "b": b, "result": result, "seconds": taken,
            "ratio": {"castwise on torch": taken["torch"] / taken["castwise on torch"]},
            "share": {name: self.share(each, time_taken) for name, time_taken in taken.items()},
            "equal": equal,
        }  # fmt: skip


def _by_castwise(tensors: list[Any], dialect: str, _: str) -> Case:
    x, y = ours(tensors, dialect)
    return lambda: x + y


def _by_torch(tensors: list[Any], _: str, result: str) -> Case:
    """As torch promotes, where that is the same; otherwise with casts before."""
    x, y = tensors
    target = getattr(torch, result)
    if torch.result_type(x, y) == target:
        return lambda: x + y
    return lambda: x.to(target) + y.to(target)


def print_row(row: dict[str, Any]) -> None:
    mine, theirs = (row["seconds"][name] for name in ("castwise on torch", "torch"))
    name = f"{row['dialect']}: {row['a']} + {row['b']} = {row['result']}"
    shares = "".join(f"{_percent(row['share'][name]):>7}" for name in row["seconds"])
    print(f"{name:42}{1000 * mine:12.3f}{1000 * theirs:12.3f}{theirs / mine:7.2f}{shares}  "
          f"{_yes_or_no(row['equal']['castwise on torch'])}", flush=True)  # fmt: skip


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.0%}"


def _yes_or_no(equal: bool | None) -> str:
    return "?" if equal is None else "yes" if equal else "NO"


def main() -> None:
    """Runs all steps."""
    parser = options(__doc__)
    parser.add_argument("--size", type=int, help=f"elements (default {SIZE})")
    parser.add_argument("--minutes", type=float, default=7.5, help="the pairs end after these")
    chosen = parser.parse_args()
    size = chosen.size or (QUICK_SIZE if chosen.quick else SIZE)
    if not torch or not triton or not torch.cuda.is_available():
        raise SystemExit("gpu.py needs torch with CUDA, and Triton.")
    compile_at_once("gpu")
    Benchmark(size, chosen.minutes, chosen.json, is_quick=chosen.quick).run()


if __name__ == "__main__":
    main()
