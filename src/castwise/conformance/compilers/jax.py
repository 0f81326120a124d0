"""JAX's compiler and batcher, and its arrays on several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from castwise.conformance.through import Function, Spread, Transformation, has_no_arrays

_MANY = 100
_DEVICES = 3  # as many as an array has elements: JAX only makes parts of the same size


def _jit() -> Transformation:
    import jax

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return jax.jit(lambda *x: function(*x))(*arrays)

    return Transformation("jit", run, "jax.jit({f})({arrays})", "", _MANY, _declines)


def _eval_shape() -> Transformation:
    """What `jit` traces, without compiling it: a dtype is known before there is a program."""
    import jax

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return jax.eval_shape(lambda *x: function(*x), *arrays)

    written = "jax.eval_shape({f}, {arrays})"
    return Transformation("eval_shape", run, written, "", 1, computes=False)


def _vmap() -> Transformation:
    import jax

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        # A new axis, not a copy: a stacked array is not weakly typed any more.
        batched = jax.vmap(lambda *x: function(*x))(*[array[None] for array in arrays])
        return [result[0] for result in batched]

    written = "jax.vmap({f})(*[a[None] for a in ({arrays},)])"
    return Transformation("vmap", run, written, "", 1, leaves_out=has_no_arrays)


def _sharded(*, is_compiled: bool) -> Transformation:
    import jax

    place = _placing()

    def run(function: Function, arrays: Sequence[Any]) -> list[Spread]:
        placed = list(map(place, arrays))
        if is_compiled:
            declared = jax.eval_shape(lambda *x: function(*x), *placed)
            results = jax.jit(lambda *x: function(*x))(*placed)
        else:
            # Their values are known, as in eager code: `x ** 2` looks at the exponent.
            declared = jax.eval_shape(lambda: function(*placed))
            results = function(*placed)
        return list(map(_spread, declared, results))

    imports = f"""\
jax.config.update("jax_num_cpu_devices", {_DEVICES})  # before the first array
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(jax.devices("cpu"), ("parts",))
place = lambda a: jax.device_put(
    a, NamedSharding(mesh, PartitionSpec("parts") if a.ndim else PartitionSpec())
)"""
    called = "jax.jit({f})" if is_compiled else "({f})"
    return Transformation(
        "sharded:jit" if is_compiled else "sharded",
        run,
        f"{called}(*map(place, ({{arrays}},)))",
        imports,
        _MANY if is_compiled else 1,
        _declines if is_compiled else lambda function, arrays: None,
        computes=False,  # its parts have values, and only their dtypes are looked at
        dtypes_written="[(r.aval, [s.data.aval for s in r.addressable_shards]) for r in [{r}]]",
    )


def _placing() -> Callable[[Any], Any]:
    """What puts an array on several devices, each a part, or the whole where it has no axis.

    Raises ValueError where JAX has started with fewer.
    """
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    with suppress(RuntimeError, AttributeError):  # it has started; an older one has flags alone
        jax.config.update("jax_num_cpu_devices", _DEVICES)
    devices = jax.devices("cpu")
    if len(devices) < _DEVICES:
        raise ValueError(
            f"JAX has started with {len(devices)} of the {_DEVICES} CPU devices that it needs."
            f" Set XLA_FLAGS=--xla_force_host_platform_device_count={_DEVICES} before it starts."
        )
    mesh = Mesh(np.array(devices[:_DEVICES]), ("parts",))

    def place(array: Any) -> Any:
        split = PartitionSpec("parts") if array.ndim else PartitionSpec()
        return jax.device_put(array, NamedSharding(mesh, split))

    return place


def _spread(declared: Any, result: Any) -> Spread:
    """A result, and its part on each device."""
    parts = {f"device {each.device.id}": each.data for each in result.addressable_shards}
    return Spread(declared, {"whole": result, **parts})


def _declines(function: Function, arrays: Sequence[Any]) -> Exception | None:
    """What tracing raises, before anything is compiled."""
    import jax

    try:
        jax.eval_shape(lambda *x: function(*x), *arrays)
    except Exception as error:
        return error
    return None


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {
    "jit": _jit,
    "eval_shape": _eval_shape,
    "vmap": _vmap,
    "sharded": partial(_sharded, is_compiled=False),
    "sharded:jit": partial(_sharded, is_compiled=True),
}
