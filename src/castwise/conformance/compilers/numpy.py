"""Dask's arrays, which take NumPy's functions: in this process, and on a cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from castwise.conformance.through import Function, Spread, Transformation, UnsupportedError

_CHUNK = 2  # elements; of three, so that there are two chunks, of different sizes
_WORKERS = 2
_TO_COMPUTE = 120  # seconds


def _dask(*, is_cluster: bool) -> Transformation:
    da = _dask_array()
    scheduler = _Cluster() if is_cluster else _Here()

    def run(function: Function, arrays: Sequence[Any]) -> list[Any]:
        try:
            lazy = function(*[da.from_array(array, chunks=_CHUNK) for array in arrays])
        except NotImplementedError as error:
            raise UnsupportedError(str(error)) from error
        if not arrays:
            return list(lazy)  # a call of numbers alone is NumPy's
        for result in lazy:
            if not isinstance(result, da.Array):
                kind = type(result).__name__
                raise UnsupportedError(f"Dask leaves it to NumPy, which returns {kind}.")
        blocks = [result.to_delayed().ravel().tolist() for result in lazy]
        computed = iter(scheduler.compute([*lazy, *(block for some in blocks for block in some)]))
        whole = [next(computed) for _ in lazy]
        parts = [[next(computed) for _ in some] for some in blocks]
        return list(map(_spread, lazy, whole, parts))

    return Transformation(
        "dask:cluster" if is_cluster else "dask",
        run,
        f"({{f}})(*[da.from_array(a, chunks={_CHUNK}) for a in ({{arrays}},)])",
        "import dask.array as da",
        session=scheduler.session,
        packages=("dask", "distributed") if is_cluster else ("dask",),
        computes=False,  # its parts have values, and only their dtypes are looked at
        dtypes_written="[(r.dtype, r.compute().dtype) for r in [{r}]]",
    )


def _spread(declared: Any, whole: Any, blocks: Sequence[Any]) -> Spread:
    parts = {f"block {number}": block for number, block in enumerate(blocks)}
    return Spread(declared.dtype, {"computed": whole, **parts})


class _Here:
    """This process computes."""

    session = nullcontext

    def compute(self, collections: Sequence[Any]) -> Sequence[Any]:
        import dask

        computed: Sequence[Any] = dask.compute(*collections, scheduler="synchronous")
        return computed


class _Cluster:
    """A few worker processes of Dask on this machine compute."""

    def __init__(self) -> None:
        try:
            import distributed
        except ImportError:
            needed = "pip install 'dask[distributed]'"
            raise ImportError(f"a cluster needs the package distributed: {needed}.") from None
        self._distributed: Any = distributed
        self._client: Any = None

    @contextmanager
    def session(self) -> Iterator[None]:
        """The processes have ended when this ends."""
        cluster = self._distributed.LocalCluster(
            n_workers=_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
        with cluster, self._distributed.Client(cluster) as self._client:
            self._client.run(warnings.simplefilter, "ignore")  # of values; dtypes are asked about
            yield

    def compute(self, collections: Sequence[Any]) -> Sequence[Any]:
        """What the workers compute. Raises TimeoutError where that takes too long."""
        futures = self._client.compute(collections)
        self._distributed.wait(futures, timeout=_TO_COMPUTE)
        computed: Sequence[Any] = self._client.gather(futures)
        return computed


def _dask_array() -> Any:
    try:
        import dask.array
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'dask[array]'.") from None
    return dask.array


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {
    "dask": partial(_dask, is_cluster=False),
    "dask:cluster": partial(_dask, is_cluster=True),
}
