"""What castwise costs on Dask: a sum of int8 * float32 + bfloat16 that is larger than memory.

    python benchmarks/dask_reduction.py [--gigabytes 20] [--rounds 3] [--json FILE]

Two worker processes with 2 GB each compute it in chunks of 64 MB, in turns with the same graph in
Dask alone, where each cast is written down. The size is that of the sum's float32 terms. Memory is
sampled every 20 ms; the dialect is chosen here and must not be known to a worker.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.array as da
import ml_dtypes
import numpy as np
import psutil
from distributed import Client, LocalCluster
from measure import machine, versions

import castwise as cw

WORKERS, LIMIT = 2, "2GB"
CHUNK = 1 << 24  # float32 elements of 64 MB
DIALECT = "torch"
VALUES = (3, 0.5, 0.25)  # of the operands; every sum of 3 * 0.5 + 0.25 is exact in float32


def operands(chunks: int) -> list[Any]:
    """Arrays of real memory: what `da.full` makes are views of one element."""
    dtypes = ("int8", "float32", ml_dtypes.bfloat16)
    return [_filled(v, np.dtype(d), chunks) for v, d in zip(VALUES, dtypes, strict=True)]


def _filled(value: float, dtype: Any, chunks: int) -> Any:
    views = da.full(chunks * CHUNK, value, dtype=dtype, chunks=CHUNK)
    return views.map_blocks(np.ascontiguousarray, dtype=dtype, meta=np.empty(0, dtype))


def with_castwise(a: Any, b: Any, c: Any) -> Any:
    """The sum as tensors, which cast as the dialect says."""
    with cw.use(DIALECT):
        x, y, z = (cw.asarray(array) for array in (a, b, c))
        return cw.apply("sum", x * y + z).array


def with_dask(a: Any, b: Any, c: Any) -> Any:
    """The sum with every cast written down."""
    return (a.astype("float32") * b + c.astype("float32")).sum(dtype="float32")


class Peaks:
    """The most memory that each process of a list was seen to hold."""

    def __init__(self, pids: list[int]) -> None:
        self._processes = [psutil.Process(pid) for pid in pids]
        self.bytes = [0] * len(pids)

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """Looks on while the block runs."""
        is_over = threading.Event()
        watcher = threading.Thread(target=self._sample, args=(is_over,))
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            watcher.join()

    def _sample(self, is_over: threading.Event) -> None:
        while not is_over.wait(0.02):
            seen = [process.memory_info().rss for process in self._processes]
            self.bytes = [max(pair) for pair in zip(self.bytes, seen, strict=True)]


def timed(total: Any, client: Client) -> tuple[float, Any]:
    """How long a sum takes, and the sum."""
    start = time.perf_counter()
    found = client.compute(total).result()
    return time.perf_counter() - start, found


def spilled(dask_worker: Any) -> float:
    """How many bytes a worker has written to disk since it started."""
    data = dask_worker.data
    return float(data.cumulative_metrics["disk-write", "bytes"]) + data.spilled_total.disk


def knows_a_dialect() -> bool:
    """Whether anything in this process chose or loaded the dialect."""
    from castwise.catalog import chosen_dialect

    return chosen_dialect.get() is not None or f"castwise.frameworks.{DIALECT}" in sys.modules


def measured(client: Client, chunks: int, rounds: int) -> dict[str, Any]:
    """Both sums in turns, after one of a chunk a worker that starts everything."""
    sums = {"castwise": with_castwise, "dask": with_dask}
    for total in sums.values():
        timed(total(*operands(WORKERS)), client)
    seconds: dict[str, list[float]] = {name: [] for name in sums}
    peaks = {name: Peaks(list(client.run(_pid).values())) for name in sums}
    found: dict[str, Any] = {}
    for n in range(rounds):
        for name in sorted(sums, reverse=n % 2 == 1):
            total = sums[name](*operands(chunks))
            with peaks[name].sampled():
                taken, found[name] = timed(total, client)
            seconds[name].append(round(taken, 2))
            print(f"{name:9} {taken:7.1f} s, {max(peaks[name].bytes) / 1e6:6.0f} MB at most")
    pairs = zip(seconds["castwise"], seconds["dask"], strict=True)
    return {
        "seconds": seconds,
        "ratio": round(statistics.median(one / other for one, other in pairs), 3),
        "peak_megabytes": {name: round(max(p.bytes) / 1e6) for name, p in peaks.items()},
        "spilled_bytes": sum(client.run(spilled).values()),
        "lazy_dtype": str(with_castwise(*operands(1)).dtype),
        "dtypes": {name: str(value.dtype) for name, value in found.items()},
        "values": {name: float(value) for name, value in found.items()},
        "exact": chunks * CHUNK * (VALUES[0] * VALUES[1] + VALUES[2]),
        "workers_that_know_a_dialect": sum(client.run(knows_a_dialect).values()),
    }


def _pid(dask_worker: Any) -> int:
    import os

    return os.getpid()


def main() -> None:
    """Measures, prints and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results there")
    chosen = parser.parse_args()
    chunks = max(round(chosen.gigabytes * 1e9 / (4 * CHUNK)), 1)
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": LIMIT}
    with (
        LocalCluster(processes=True, dashboard_address=":0", **options) as cluster,
        Client(cluster) as client,
    ):
        results = measured(client, chunks, chosen.rounds)
    print(f"castwise takes {results['ratio']:.2f} times as long as Dask alone")
    if chosen.json:
        run = {"machine": machine(), "versions": versions("dask", "distributed", "numpy")}
        size = {"gigabytes": chosen.gigabytes, "chunks": chunks, "workers": WORKERS, "limit": LIMIT}
        chosen.json.write_text(f"{json.dumps({**run, **size, **results}, indent=1)}\n")


if __name__ == "__main__":
    main()
