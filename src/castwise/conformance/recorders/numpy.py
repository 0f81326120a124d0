"""Asks NumPy, 1 or 2, with ml_dtypes' bfloat16 as a guest dtype, where there is one."""

from __future__ import annotations

import copy
import importlib
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from typing import Any

from castwise.conformance.programs import Menu, RecordedSpeaker, array_text, program_forms
from castwise.conformance.questions import (
    CASTINGS,
    INITIALS,
    LITERALS,
    MASKS,
    OPS,
    OUT_OPS,
    REDUCTIONS,
    Scope,
    Spec,
    foreign_operand,
    named_forms,
    numpy_operands,
    product_equation,
    words,
)
from castwise.conformance.recorder import (
    FoundFunction,
    FrameworkRecorder,
    Header,
    called_with_operands,
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.conformance.transformations import Function, Spread, Transformation, UnsupportedError
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.numpy import NUMPY
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
)
# What takes dtype= besides the ufuncs, and which of these take casting= too.
_TAKE_DTYPE = words("sum prod mean cumsum cumprod std var concat stack clamp einsum")
_TAKE_CASTING = words("concat stack clamp einsum")
_TAKE_WHERE = words("sum prod mean std var any all max min add lt sqrt")
_TAKE_INITIAL = words("sum prod max min")
_NO_START = words("max min")  # where=, which may leave nothing, needs an initial= too
# Enough ufuncs to see what casting= does to dtype= and out=.
_CAST_OPS = words("add lt sqrt concat")
# ml_dtypes' way to say that a Python int does not fit a C long.
_OUT_OF_RANGE = re.compile("negative integer powers|expected number, got int")
# In an array of objects it is Python that refuses, and names only its own types.
_BY_PYTHON = re.compile(r"(unsupported operand|not supported between)(?!.*(numpy|bfloat16))")


class NumpyRecorder(FrameworkRecorder):
    """The NumPy installed here."""

    name = "numpy"
    dialects: tuple[str, ...] = ("numpy", "numpy@1")

    def __init__(self, mode: str = "") -> None:
        import numpy as np

        if mode:
            raise ValueError(f"numpy has no mode {mode!r}.")
        self._np: Any = np
        self._has_guest = find_spec("ml_dtypes") is not None  # there is none for NumPy 1.19
        if self._has_guest:
            importlib.import_module("ml_dtypes")  # registers bfloat16
        asked = tuple(d for d in DTYPES if self._has_guest or d != "bfloat16")
        self.dialect = "numpy@1" if np.__version__.startswith("1.") else "numpy"
        self.found = _found()
        self._functions = _functions(self.found)
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op, f) for op in OPS if (f := self._functions.get(op))},
            scalars=numpy_operands(asked, "(1)"),
            by_value=True,
        )

    def versions(self) -> Header:
        if self._has_guest:
            return framework_versions(self._np.__version__, "ml_dtypes")
        return {**framework_versions(self._np.__version__), "unasked": "bfloat16"}

    @contextmanager
    def session(self) -> Iterator[None]:
        with super().session(), self._np.errstate(all="ignore"):
            yield

    def _own(self, dtype: str, spec: Spec) -> Any:
        return foreign_operand(spec)

    def _copied(self, array: Any) -> Any:
        # A list becomes an array. What takes NumPy's functions stays what it is.
        return self._np.copy(array) if isinstance(array, list) else copy.copy(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        if name == "out":
            is_single = op == "matmul" or op in set(REDUCTIONS) - {"cumsum", "cumprod"}
            return self._np.empty(() if is_single else (3,), text)
        if name == "dtype":
            return self._np.dtype(text)
        return text if name == "casting" else self.make(text)

    def dtype_of(self, result: Any) -> str | None:
        dtype = getattr(result, "dtype", result)
        # NumPy 1 leaves a Python int of 65 bits to Python: an array of objects, or an object.
        is_own = isinstance(dtype, self._np.dtype) and dtype.name in DTYPES
        return str(dtype.name) if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        if isinstance(error, TypeError) and not _BY_PYTHON.search(text):
            return REFUSED
        if text.startswith("unsupported keyword arguments"):  # np.pad's
            return REFUSED
        return None


recorder = NumpyRecorder


def _forms(op: str, function: Any) -> tuple[str, ...]:
    outs = named_forms("out", DTYPES) if op in OUT_OPS else ()
    return (*existing_forms(op), *outs, *_named_forms(op, function))


def _named_forms(op: str, function: Any) -> Iterator[str]:
    is_ufunc = hasattr(function, "nin")
    if op == "can_cast":
        return  # castwise answers it apart from the ops
    # One of each is enough to see that an op does not take it.
    yield from named_forms("dtype", DTYPES if is_ufunc or op in _TAKE_DTYPE else ["float64"])
    yield from named_forms("casting", CASTINGS if is_ufunc or op in _TAKE_CASTING else ["safe"])
    if op in _CAST_OPS:
        for casting in named_forms("casting", CASTINGS):
            others = () if op == "concat" else named_forms("out", DTYPES)
            yield from (f"{casting},{other}" for other in (*named_forms("dtype", DTYPES), *others))
    if op in _TAKE_INITIAL:
        yield from named_forms("initial", INITIALS)
    else:
        yield "initial=1"
    if op not in _TAKE_WHERE:
        yield "where=bool[3]"
    else:
        start = "initial=1," if op in _NO_START else ""
        yield from (f"{start}{mask}" for mask in named_forms("where", MASKS))


def _found() -> dict[str, FoundFunction]:
    import numpy as np

    layers = {"einsum": "np.einsum", "pad": "np.pad"}
    return found_functions({"np": np, "np.linalg": np.linalg}, NUMPY.naming.aliases, layers)


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    import numpy as np

    functions = called_with_operands(found)
    # Told an axis it answers an array; otherwise a Python int, which has no dtype.
    functions["count_nonzero"] = partial(np.count_nonzero, axis=-1)
    functions["einsum"] = lambda *a, **named: np.einsum(product_equation(a), *a, **named)
    functions["pad"] = partial(np.pad, pad_width=1)
    functions["tensordot"] = partial(np.tensordot, axes=1)
    for op in ("linalg.eig", "linalg.eigvals"):
        functions[op] = partial(_of_a_cycle, functions[op])
    functions["linalg.matrix_power"] = partial(np.linalg.matrix_power, n=2)
    functions["promote_types"] = dtype_function(np.promote_types)
    functions["can_cast"] = refusing(dtype_function(np.can_cast), yes=np.dtype(bool))
    functions["allclose"] = lambda *arrays: _of_numpy(np.allclose(*arrays))
    return functions


def _of_a_cycle(function: Callable[..., Any], matrix: Any) -> Any:
    """What a function says of a matrix of the same dtype with eigenvalues that are not real: up to
    NumPy 2.4 it returns real numbers where all are."""
    import numpy as np

    return function(np.roll(np.eye(3, dtype=matrix.dtype), 1, axis=0))


def _of_numpy(answer: Any) -> Any:
    """A Python bool as NumPy's, which has a dtype."""
    import numpy as np

    return np.bool_(answer) if isinstance(answer, bool) else answer


# Asks NumPy what it computes.


class NumpyValues(NumpyRecorder):
    """The values of the NumPy installed here."""

    dtypes = DTYPES

    def hold(self, held: Held) -> Any:
        return numpy_array(held)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        return numpy_held(result) if self.dtype_of(result) else None

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = NumpyValues

# Programs in NumPy, 1 or 2.


class NumpySpeaker(RecordedSpeaker):
    """The NumPy installed here."""

    prelude = "import numpy as np\nfrom ml_dtypes import bfloat16\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        import numpy as np

        values = NumpyValues(mode)
        super().__init__(values)
        self._np: Any = np
        self.menu = Menu(
            dtypes=values.dtypes,
            forms=program_forms(values.scope.forms),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var median"),
            need_axes=words("cumsum cumprod count_nonzero"),
        )

    def array(self, held: Held) -> str:
        return array_text(held, "np.zeros", "np.array", _dtype(str(held.dtype)))

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.astype({_dtype(dtype)})"

    def bound(self, result: Any) -> Any:
        """What Python answers, such as a bool, as a 0-d array. A scalar of NumPy stays one: what is
        written to it is bound to the name alone."""
        return result if isinstance(result, self._np.generic) else self._np.asarray(result)


speaker = NumpySpeaker


def _dtype(name: str) -> str:
    return name if name == "bfloat16" else f'"{name}"'


# Dask's arrays, which take NumPy's functions: in this process, and on a cluster.

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
