"""What the benchmarks of generated kernels share: the dtypes, arrays of them in every library,
whether two results have the same bits, and what is said about many pairs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import itertools
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
from measure import geometric_mean, print_table

import castwise as cw
from castwise.arrays import fusing

DTYPES = (
    "bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip
PAIRS = tuple(itertools.product(DTYPES, DTYPES))
# jax:x64 is JAX with its 64-bit dtypes; without them half of the pairs would be others twice.
DIALECTS = ("torch", "numpy", "jax:x64")
OURS = ("castwise", "castwise on torch")
SLOWER = 1 / 1.05  # pairs below this are listed
HARD = (1 << 17) + 3  # elements of the arrays with all sorts of bits; no multiple of any step
_BYTES = {"bool": 1, "bfloat16": 2}
_SIGNIFICANT = {"float16": 0x7C00, "bfloat16": 0x7F80}  # the bits of infinity


def itemsize(dtype: str) -> int:
    """The bytes of an element."""
    return _BYTES.get(dtype) or np.dtype(dtype).itemsize


def moved(*dtypes: str) -> int:
    """The bytes that an op reads and writes per element, if it does so once."""
    return sum(itemsize(dtype) for dtype in dtypes)


@functools.cache
def library(name: str) -> ModuleType | None:
    """A library that is measured if it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed", flush=True)
        return None


def stored(dtype: str, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Everyday values: small whole numbers, and floats around zero; bfloat16 as its bits."""
    random = np.random.default_rng([seed, DTYPES.index(dtype)])
    if dtype == "bool":
        return random.integers(0, 2, size, dtype="uint8").view(bool)
    if dtype.startswith(("int", "uint")):
        return random.integers(0 if dtype == "uint8" else -100, 100, size, dtype=dtype)
    floats = random.standard_normal(size, dtype="float64" if dtype == "float64" else "float32")
    if dtype == "bfloat16":
        return (floats.view("uint32") >> np.uint32(16)).astype("uint16")
    return floats.astype(dtype, copy=False)


def stored_hard(dtype: str, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Values with any bits, so infinities, NaN and subnormal numbers among them."""
    if dtype == "bool":
        return stored(dtype, size, seed)
    held = f"uint{8 * itemsize(dtype)}"
    random = np.random.default_rng([seed, 100 + DTYPES.index(dtype)])
    bits = random.integers(0, np.iinfo(held).max, size, dtype=held, endpoint=True)
    return bits if dtype == "bfloat16" else bits.view(dtype)


def numpy_array(held: np.ndarray[Any, Any], dtype: str) -> Any:
    """What is stored, as a NumPy array of the dtype."""
    if dtype != "bfloat16":
        return held
    return held.view(importlib.import_module("ml_dtypes").bfloat16)


def torch_tensor(held: np.ndarray[Any, Any], dtype: str, device: str = "cpu") -> Any:
    """What is stored, as a tensor of the dtype; on the CPU it has the same memory."""
    torch = importlib.import_module("torch")
    if dtype != "bfloat16":
        return torch.from_numpy(held).to(device)
    return torch.from_numpy(held.view("int16")).to(device).view(torch.bfloat16)


def digest(array: Any) -> str:
    """The dtype and bits of a result of any library; all NaN are the same."""
    dtype, bits = _bits(array)
    return f"{dtype} {hashlib.sha256(np.ascontiguousarray(bits)).hexdigest()[:32]}"


def _bits(array: Any) -> tuple[str, np.ndarray[Any, Any]]:
    if isinstance(array, cw.Tensor):
        array = array.array
    dtype = str(array.dtype).removeprefix("torch.")
    if type(array).__module__.startswith("torch"):
        array = array.view(_torch_int16()) if dtype == "bfloat16" else array
        array = array.cpu().numpy()
    array = np.asarray(array)
    if dtype not in ("float16", "bfloat16"):
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
        return dtype, array.view("uint8")
    bits = array.view("uint16")
    is_nan = (bits & 0x7FFF) > _SIGNIFICANT[dtype]
    return dtype, np.where(is_nan, np.uint16(0x7FFF), bits)


def _torch_int16() -> Any:
    return importlib.import_module("torch").int16


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Values with any bits overflow, and libraries warn about it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def compile_at_once(device: str) -> None:
    """Has every kernel compiled when it is first needed, not after some work without it. Says so
    where there are none."""
    if fusing.generator_for(device) is None:
        package = {"cpu": "llvmlite", "gpu": "triton"}[device]
        print(f"castwise has no kernels here: {package} is not installed, or they are off")
    fusing.COSTS[device] = fusing.COSTS[device]._replace(work=0)


def copying(size: int, threads: int) -> tuple[Callable[[], object], int]:
    """A copy of float32 on that many threads, and the bytes that it moves. It is into memory that
    was written before: new memory would cost more than the copy. torch copies it, if it is there:
    its threads still wait for work on the processors when it is a copy's turn."""
    torch: Any = library("torch")
    if torch:
        torch.set_num_threads(threads)
        tensor, other = torch.ones(size), torch.ones(size)
        return lambda: other.copy_(tensor), 2 * 4 * size
    source = np.ones(size, "float32")
    target = np.ones_like(source)
    cuts = [size * n // threads for n in range(threads + 1)]
    pool = ThreadPoolExecutor(threads)

    def copied() -> object:
        parts = [slice(*cut) for cut in itertools.pairwise(cuts)]
        list(pool.map(lambda part: np.copyto(target[part], source[part]), parts))
        return target

    return copied, 2 * source.nbytes


def sum_dtype(dialect: str, a: str, b: str) -> str:
    """The dtype that a dialect gives a sum."""
    return str(cw.resolve("add", f"{a}[3]", f"{b}[3]", dialect=dialect).result)


def summaries(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per dialect and kind of array: the mean, the slowest, and those that are slower."""
    found = []
    for dialect in dict.fromkeys(row["dialect"] for row in rows):
        for name in OURS:
            ratios = {
                f"{row['a']} + {row['b']}": row["ratio"][name]
                for row in rows if row["dialect"] == dialect and name in row["ratio"]
            }  # fmt: skip
            if ratios:
                slowest = min(ratios, key=ratios.__getitem__)
                found.append({
                    "dialect": dialect, "system": name,
                    "geometric mean": geometric_mean(ratios.values()),
                    "slowest": {slowest: ratios[slowest]},
                    "slower": {pair: r for pair, r in ratios.items() if r < SLOWER},
                    "not equal": [
                        f"{row['a']} + {row['b']}" for row in rows
                        if row["dialect"] == dialect and row["equal"].get(name) is False
                    ],
                })  # fmt: skip
    return found


def print_summaries(found: list[dict[str, Any]], peers: str) -> None:
    """The summaries, and each pair that is slower or has other bits."""
    print(f"\ncastwise beside {peers} (above 1: castwise is faster)")
    print_table(
        ["dialect, arrays", "mean", "slowest", "pair", f"below {SLOWER:.2f}", "not equal"],
        [
            [
                f"{s['dialect']}, {s['system']}", f"{s['geometric mean']:.2f}",
                f"{min(s['slowest'].values()):.2f}", *s["slowest"], str(len(s["slower"])),
                str(len(s["not equal"])),
            ]
            for s in found
        ],
    )  # fmt: skip
    for summary in found:
        of = f"{summary['dialect']}, {summary['system']}"
        for pair, ratio in sorted(summary["slower"].items(), key=lambda item: item[1]):
            print(f"slower: {of}: {pair}: {ratio:.2f}")
        for pair in summary["not equal"]:
            print(f"NOT EQUAL: {of}: {pair}")
