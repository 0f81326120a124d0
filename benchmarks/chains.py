"""Chains of ops with mixed dtypes on the CPU: castwise beside the libraries and compilers.

    python benchmarks/chains.py [--size N] [--threads N] [--quick] [--json FILE]

Each chain is three or five ops and the casts between them. Every call allocates its result. All
systems are measured in turns, round by round, so that a noisy machine slows them alike.

"share" is the share of a copy's bandwidth, by the bytes of the operands and the result: what one
loop has to move. "bits" says whether the result is that of castwise's eager ops without kernels,
under the dialect that the system follows; all NaN are the same. What numexpr and numba give is
compared with torch, whose dtypes theirs are here. Systems that are not installed, or that do not
know a dtype, are left out and named.
"""

from __future__ import annotations

import operator
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from measure import (
    ChildError,
    in_child,
    in_turns,
    median,
    options,
    print_table,
    times_as_fast,
    write_json,
)
from peers import (
    compile_at_once,
    copying,
    digest,
    library,
    moved,
    numpy_array,
    silent,
    stored,
    torch_tensor,
)

import castwise as cw
from castwise.kernels.resources import set_threads

SIZE, QUICK_SIZE = 1 << 23, 1 << 20
ROUNDS, QUICK_ROUNDS = 15, 5
DIALECTS = ("torch", "numpy", "jax")
CACHE = "TORCHINDUCTOR_CACHE_DIR"
COMPILE_LIMIT = 240  # seconds that torch.compile may take
Case = Callable[[], Any]


class Chain(NamedTuple):
    """Ops on x, y and z, as Python text, which numexpr takes too."""

    text: str
    dtypes: tuple[str, str, str]

    @property
    def name(self) -> str:
        """The text with dtypes instead of names."""
        return self.text.translate(dict(zip(map(ord, "xyz"), self.dtypes, strict=True)))

    @property
    def function(self) -> Callable[[Any, Any, Any], Any]:
        """What computes it, on arrays of any library."""
        found: Callable[[Any, Any, Any], Any] = eval(f"lambda x, y, z: {self.text}")
        return found


CHAINS = (
    Chain("(x * y + z) / 3", ("int8", "float32", "int32")),
    Chain("(x * y + z) / 3", ("int8", "float16", "bfloat16")),
    Chain("((x * y + z) / 3 - x) * y", ("int8", "float32", "int32")),
)


class System(NamedTuple):
    """One way to compute a chain, and the dialect whose results it should have."""

    dialect: str
    run: Case


Systems = dict[str, System]


def arrays(dtypes: tuple[str, ...], size: int) -> list[Any]:
    """The operands as they are stored."""
    return [stored(dtype, size, seed) for seed, dtype in enumerate(dtypes)]


def numpy_operands(dtypes: tuple[str, ...], size: int) -> list[Any]:
    pairs = zip(arrays(dtypes, size), dtypes, strict=True)
    return [numpy_array(held, dtype) for held, dtype in pairs]


def torch_operands(dtypes: tuple[str, ...], size: int) -> list[Any]:
    pairs = zip(arrays(dtypes, size), dtypes, strict=True)
    return [torch_tensor(held, dtype) for held, dtype in pairs]


def castwise_systems(chain: Chain, size: int) -> Systems:
    """Eager and compiled, in every dialect."""
    held = [(dialect, "", numpy_operands(chain.dtypes, size)) for dialect in DIALECTS]
    if library("torch"):
        held.append(("torch", ", torch arrays", torch_operands(chain.dtypes, size)))
    found: Systems = {}
    for dialect, what, operands in held:
        given = [cw.asarray(operand, dialect=dialect) for operand in operands]
        compiled = cw.compile(chain.function, dialect=dialect)
        for way, function in (("eager", chain.function), ("compiled", compiled)):
            found[f"castwise {way}, {dialect}{what}"] = System(dialect, _call(function, given))
    return found


def _call(function: Callable[..., Any], operands: list[Any]) -> Case:
    return lambda: function(*operands)


def numpy_systems(chain: Chain, size: int) -> Systems:
    """As NumPy promotes, and with torch's casts written by hand."""
    operands = numpy_operands(chain.dtypes, size)
    by_hand = [CastByHand(operand, "torch") for operand in operands]
    return {
        "NumPy": System("numpy", _call(chain.function, operands)),
        "NumPy, torch's casts by hand": System("torch", lambda: chain.function(*by_hand).array),
    }


class CastByHand:
    """A NumPy array whose operators cast as a dialect decides, and then compute in one dtype."""

    def __init__(self, array: Any, dialect: str) -> None:
        self.array, self.dialect = array, dialect

    def _computed(self, op: str, symbol: Callable[[Any, Any], Any], other: Any) -> CastByHand:
        is_array = isinstance(other, CastByHand)
        target = _result(op, self.array, other.array if is_array else other, self.dialect)
        y = other.array.astype(target, copy=False) if is_array else target.type(other)
        return CastByHand(symbol(self.array.astype(target, copy=False), y), self.dialect)

    def __add__(self, other: Any) -> CastByHand:
        return self._computed("add", operator.add, other)

    def __sub__(self, other: Any) -> CastByHand:
        return self._computed("sub", operator.sub, other)

    def __mul__(self, other: Any) -> CastByHand:
        return self._computed("mul", operator.mul, other)

    def __truediv__(self, other: Any) -> CastByHand:
        return self._computed("div", operator.truediv, other)


def _result(op: str, x: Any, y: Any, dialect: str) -> Any:
    """NumPy's dtype for what a dialect decides."""
    given = [f"{o.dtype}[3]" if hasattr(o, "dtype") else o for o in (x, y)]
    found = str(cw.resolve(op, *given, dialect=dialect).result)
    return numpy_operands((found,), 1)[0].dtype


def torch_systems(chain: Chain, size: int) -> Systems:
    """Eager, and compiled if a child could compile it: the code is in its cache then."""
    torch = library("torch")
    if not torch:
        return {}
    operands = torch_operands(chain.dtypes, size)
    found = {"torch eager": System("torch", _call(chain.function, operands))}
    if CACHE in os.environ:
        found["torch.compile"] = System("torch", _call(torch.compile(chain.function), operands))
    return found


def may_compile() -> bool:
    """Whether torch.compile has what it needs."""
    return any(shutil.which(name) for name in ("c++", "g++", "clang++", "cl"))


def torch_compile_seconds(number: int, size: int, threads: int) -> float:
    """How long the first call of a compiled function takes; a child calls it."""
    torch = library("torch")
    assert torch is not None
    torch.set_num_threads(threads)
    function = CHAINS[number].function
    operands = torch_operands(CHAINS[number].dtypes, size)
    function(*operands)
    start = time.perf_counter()
    torch.compile(function)(*operands)
    return time.perf_counter() - start


def jax_systems(chain: Chain, size: int) -> Systems:
    jax = library("jax")
    if not jax:
        return {}
    operands = [jax.numpy.asarray(operand) for operand in numpy_operands(chain.dtypes, size)]
    jitted = jax.jit(chain.function)
    return {"jax.jit": System("jax", lambda: jitted(*operands).block_until_ready())}


def numexpr_systems(chain: Chain, size: int) -> Systems:
    numexpr = library("numexpr")
    if not numexpr:
        return {}
    given = dict(zip("xyz", numpy_operands(chain.dtypes, size), strict=True))
    return {"numexpr": System("torch", lambda: numexpr.evaluate(chain.text, given))}


def numba_systems(chain: Chain, size: int) -> Systems:
    numba = library("numba")
    if not numba:
        return {}
    jitted = numba.njit(parallel=True)(chain.function)
    return {"numba": System("torch", _call(jitted, numpy_operands(chain.dtypes, size)))}


OTHERS = (numpy_systems, torch_systems, jax_systems, numexpr_systems, numba_systems)


def that_run(systems: Systems) -> Systems:
    """Those systems that know the dtypes, compiled; the others are named."""
    found = {}
    for name, system in systems.items():
        try:
            with silent():
                system.run()
        except Exception as error:  # each library has its own errors
            print(f"left out: {name}: {_first_line(error)}", flush=True)
        else:
            found[name] = system
    return found


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:120]


def plain_digests(size: int) -> dict[str, dict[str, str]]:
    """The bits of castwise's eager ops without kernels, by chain and dialect; a child calls it."""
    found = {}
    for chain in CHAINS:
        operands = numpy_operands(chain.dtypes, size)
        found[chain.name] = {
            dialect: digest(chain.function(*[cw.asarray(o, dialect=dialect) for o in operands]))
            for dialect in DIALECTS
        }
    return found


def measured(
    chain: Chain, size: int, rounds: int, threads: int, plain: dict[str, str]
) -> list[dict[str, Any]]:
    """A row per system."""
    systems = castwise_systems(chain, size)
    for others in OTHERS:
        systems |= that_run(others(chain, size))
    copied, copy_bytes = copying(size, threads)
    cases = {"copy": copied, **{name: system.run for name, system in systems.items()}}
    with silent():
        results = {name: digest(system.run()) for name, system in systems.items()}
        timed = in_turns(cases, rounds)
    rows = []
    for system, (dialect, _) in systems.items():
        result = results[system].split()[0]
        each = moved(*chain.dtypes, result)
        share = size * each / copy_bytes * times_as_fast(timed, system, "copy")
        rows.append({
            "chain": chain.name, "system": system, "dialect": dialect, "result": result,
            "seconds": median(timed, system), "share": share,
            "equal": results[system] == plain[dialect],
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["seconds"])


def compile_times(size: int, threads: int, cache: str) -> dict[str, float]:
    """What torch.compile takes for each chain, in children that leave what they compile behind."""
    if not library("torch") or not may_compile():
        print("left out: torch.compile needs torch and a C++ compiler")
        return {}
    found = {}
    for number, chain in enumerate(CHAINS):
        try:
            found[chain.name] = in_child(
                "chains", "torch_compile_seconds", number, size, threads, limit=COMPILE_LIMIT,
                **{CACHE: cache},
            )  # fmt: skip
        except ChildError as error:
            print(f"left out: torch.compile of {chain.name}: {error}")
            return {}
    os.environ[CACHE] = cache
    return found


def set_threads_of_others(threads: int) -> None:
    """The same number of threads for all; JAX takes all processors, and has no option for it."""
    for name in ("torch", "numexpr", "numba"):
        found = library(name)
        if found:
            found.set_num_threads(threads)


def print_rows(name: str, rows: list[dict[str, Any]], seconds: float | None) -> None:
    print(f"\n{name}")
    print_table(
        ["system", "ms", "share", "dialect", "result", "bits"],
        [
            [
                row["system"], f"{1000 * row['seconds']:.2f}", f"{row['share']:.0%}",
                row["dialect"], row["result"], "equal" if row["equal"] else "others",
            ]
            for row in rows
        ],
    )  # fmt: skip
    if seconds:
        print(f"torch.compile took {seconds:.1f} s before its first result")


def main() -> None:
    """Measures the chains, prints the tables and writes the results."""
    parser = options(__doc__)
    parser.add_argument("--size", type=int, help=f"elements (default {SIZE})")
    parser.add_argument("--threads", type=int, default=2, help="of each system (default 2)")
    chosen = parser.parse_args()
    size = chosen.size or (QUICK_SIZE if chosen.quick else SIZE)
    compile_at_once("cpu")
    set_threads(chosen.threads)
    set_threads_of_others(chosen.threads)
    rounds = QUICK_ROUNDS if chosen.quick else ROUNDS
    plain = in_child("chains", "plain_digests", size, CASTWISE_KERNELS="off")
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        compiling = compile_times(size, chosen.threads, cache)
        for chain in CHAINS:
            found = measured(chain, size, rounds, chosen.threads, plain[chain.name])
            print_rows(chain.name, found, compiling.get(chain.name))
            rows += found
    figures = {"size": size, "threads": chosen.threads, "torch.compile s": compiling, "rows": rows}
    write_json(chosen.json, figures, "numpy", "torch", "jax", "numexpr", "numba", "llvmlite")


if __name__ == "__main__":
    main()
