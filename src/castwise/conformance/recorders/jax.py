"""Asks JAX, on the CPU, in its five ways to treat 64 bits and mixed dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from castwise.conformance.programs import Menu, RecordedSpeaker, array_text, program_forms
from castwise.conformance.questions import (
    INITIALS,
    MASKS,
    OPS,
    PLAIN,
    REDUCTIONS,
    UNARY,
    Scope,
    Spec,
    named_forms,
    product_equation,
    words,
)
from castwise.conformance.recorder import (
    FoundFunction,
    FrameworkRecorder,
    Header,
    called_with_operands,
    existing_forms,
    found_functions,
    framework_versions,
)
from castwise.conformance.transformations import Function, Spread, Transformation, has_no_arrays
from castwise.conformance.values import DTYPES as VALUE_DTYPES
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.jax import JAX
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED
from castwise.vocab.ops import LAYERS

# What an error of JAX means.

_OUT_OF_RANGE = re.compile("Integers cannot be raised to negative powers")
_NOT_ABOUT_DTYPES = re.compile(
    "Cannot broadcast|must have ndim|Zero-dimensional arrays|axis -?[0-9]+ is out of bounds"
)


DTYPES = words(
    "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8_e4m3fn float8_e5m2 "
    "float16 bfloat16 float32 float64 complex64 complex128"
)
RARE = words(
    "int1 uint1 int2 uint2 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 "
    "float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
)
# No array on the CPU is of these, or it turns out to be of bool: jit can be asked all the same.
_NOT_HELD = words("int1 uint1 float6_e2m3fn float6_e3m2fn")
# NumPy operands count as JAX's own arrays; only pow distinguishes their ranks.
NUMPY = words(
    "np.bool[3] np.uint8[3] np.int64[3] np.uint64[3] np.float16[3] np.float64[3] np.complex128[3] "
    "np.bool[] np.int64[] np.float64[] np.bool(1) np.int64(1) np.float64(1)"
)
# Only the default int bounds a Python int, so a few values on either side of it are enough.
LITERALS = (
    *PLAIN,
    *words("-1 300 2147483648 -2147483649 9223372036854775808 18446744073709551616 1e39"),
)
# In place is `x.at[...].add(y)`; `power` is left out, for which a trace has no concrete exponent.
_AT_METHODS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "maximum": "max",
    "minimum": "min",
}  # fmt: skip
_TAKE_DTYPE = words("sum prod mean cumsum cumprod std var concat stack")
_TAKE_INITIAL = words("sum prod max min")
_TAKE_WHERE = words("sum prod mean std var any all max min")
_NO_START = words("max min")  # where=, which may leave nothing, needs an initial= too
# An operator calls its function: one of each family is enough.
_OPERATORS = words("add div floor_divide pow lt bitwise_and matmul neg positive bitwise_not")
# Enough of the binary ops to see what strict promotion refuses and what explicit x64 keeps.
_MODE_OPS = words(
    "add mul div floor_divide pow lt logical_and bitwise_and bitwise_left_shift maximum atan2 dot "
    "matmul outer inner vecdot cross kron where clamp concat result_type promote_types"
)
_NO_BIAS = words("conv1d conv2d")
_PARTLY_ASKED = ("strict", "strict-x32", "explicit-x64", "gpu")
_X64 = ("x64", "strict")
_KINDS = {"int": int, "float": float, "complex": complex}
_WEAK_32, _WEAK_64 = words("int32 float32 complex64"), words("int64 float64 complex128")


class _NotRun(NamedTuple):
    """What tracing says of a call that no device here could run."""

    traced: Any


class JaxRecorder(FrameworkRecorder):
    """The JAX installed here, in one of its modes."""

    name = "jax"
    dialects: tuple[str, ...] = words(
        "jax jax:x64 jax:strict jax:strict-x32 jax:explicit-x64 jax:gpu"
    )

    def __init__(self, mode: str = "") -> None:
        import jax

        self.dialect = self._dialect_in(mode)
        if mode == "gpu" and jax.default_backend() != "gpu":
            raise ValueError("JAX finds no GPU here.")
        self._jax: Any = jax
        self._mode = mode
        self.found = _found()
        self._functions = _functions(self.found)
        some = (*_MODE_OPS, *UNARY, *REDUCTIONS, *LAYERS)
        asked = some if mode in _PARTLY_ASKED else OPS
        self.scope = Scope(
            dtypes=DTYPES,
            rare=RARE,
            forms={op: _forms(op) for op in asked if op in self._functions},
            weak=_weak(mode),
            literals=LITERALS,
            foreign=NUMPY,
            has_bare_dtypes=True,
            is_left_out=lambda q: q.op in _NO_BIAS and len(q.operands) > 2,
        )

    @property
    def _has_x64(self) -> bool:
        return self._mode in _X64

    def versions(self) -> Header:
        return framework_versions(self._jax.__version__, "numpy", "ml_dtypes")

    @contextmanager
    def session(self) -> Iterator[None]:
        config = self._jax.config
        is_strict = self._mode.startswith("strict")
        settings = {
            "jax_enable_x64": self._has_x64,
            "jax_explicit_x64_dtypes": "allow" if self._mode == "explicit-x64" else "warn",
            "jax_numpy_dtype_promotion": "strict" if is_strict else "standard",
            "jax_traceback_filtering": "off",  # half the time goes into it where a third is refused
        }
        settings = {name: value for name, value in settings.items() if hasattr(config, name)}
        before = {name: getattr(config, name) for name in settings}
        try:
            for name, value in settings.items():
                config.update(name, value)
            with super().session():
                yield
        finally:
            for name, value in before.items():
                config.update(name, value)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the op would return: its shape and dtype, without compiling it.

        JAX compiles anew for every signature, so that to run all would take hours. The operands
        are concrete, as they are in eager code: `x ** 2` looks at the exponent.
        """
        if any(isinstance(operand, self._jax.ShapeDtypeStruct) for operand in operands):
            return self._traced(op, form, operands)
        called = partial(self.bare_call, op, form, operands)
        if op in ("result_type", "promote_types"):
            return called()
        result = self._jax.eval_shape(called)
        is_one = not isinstance(result, tuple)
        if is_one and not hasattr(result, "weak_type"):  # as in 0.4.20: a shape and a dtype only
            (result,) = self._jax.make_jaxpr(called)().out_avals
        if op in UNARY or op in REDUCTIONS or self._mode == "gpu":
            self._jax.jit(called).lower()  # some refuse only here: argmax of complex numbers
        return result

    def _traced(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """The same where an operand can be traced, but no array is like it."""
        is_traced = [isinstance(operand, self._jax.ShapeDtypeStruct) for operand in operands]
        if op in ("result_type", "promote_types"):
            return self.bare_call(op, form, [getattr(o, "dtype", o) for o in operands])

        def called(*tracers: Any) -> Any:
            left = iter(tracers)
            mixed = zip(operands, is_traced, strict=True)
            return self.bare_call(op, form, [next(left) if traced else o for o, traced in mixed])

        given = [o for o, traced in zip(operands, is_traced, strict=True) if traced]
        return _NotRun(self._jax.eval_shape(called, *given))

    def dtype_of(self, result: Any) -> str | None:
        import numpy as np

        if isinstance(result, _NotRun):
            return f"{NO_KERNEL}:{self.dtype_of(result.traced)}"
        dtype = getattr(result, "dtype", result)
        if not isinstance(dtype, np.dtype):
            return None
        # A weak bool counts as any bool does.
        is_weak = getattr(result, "weak_type", False) and dtype.name != "bool"
        return f"{dtype.name}*" if is_weak else str(dtype.name)

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        # "only supports 16, 32, and 64-bit types" is said of the dtype, on any device.
        if isinstance(error, (TypeError, ValueError, NotImplementedError)):
            return None if _NOT_ABOUT_DTYPES.search(text) else REFUSED
        return None

    def bare_call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "inplace":
            return getattr(operands[0].at[...], _AT_METHODS[op])(*operands[1:])
        return super().call(op, form, operands)

    def _named(self, op: str, name: str, text: str) -> Any:
        return self._jax.numpy.dtype(text) if name == "dtype" else self.make(text)

    def _own(self, dtype: str, spec: Spec) -> Any:
        jnp = self._jax.numpy
        if not spec.is_array:
            return jnp.dtype(dtype)
        if spec.is_weak:  # what JAX makes of a Python number
            kind = _KINDS[dtype.rstrip("0123456789")]
            with _enable_x64(dtype in _WEAK_64):
                return jnp.full(spec.shape, kind(spec.value))
        if dtype in _NOT_HELD:
            return self._jax.ShapeDtypeStruct(spec.shape, dtype)
        return jnp.full(spec.shape, spec.value, dtype)


recorder = JaxRecorder


def _weak(mode: str) -> tuple[str, ...]:
    """The weak arrays asked about: those of Python's numbers, and where x64 is on, under strict
    promotion, also those that were made while it was off."""
    narrow = () if mode == "x64" else _WEAK_32
    return (*(_WEAK_64 if mode in _X64 else ()), *narrow)


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(op, operators=_OPERATORS, inplace=op in _AT_METHODS)
    return (*forms, *_named_forms(op))


def _named_forms(op: str) -> Iterator[str]:
    if op in _TAKE_DTYPE:
        yield from named_forms("dtype", DTYPES)
    if op in _TAKE_INITIAL:
        yield from named_forms("initial", INITIALS)
    if op in _TAKE_WHERE:
        start = "initial=1," if op in _NO_START else ""
        yield from (f"{start}{mask}" for mask in named_forms("where", MASKS))


def _found() -> dict[str, FoundFunction]:
    import jax
    import jax.numpy as jnp

    rooms = {
        "jnp": jnp, "jax.nn": jax.nn, "jax.scipy.special": jax.scipy.special, "jax.lax": jax.lax,
        "jnp.linalg": jnp.linalg,
    }  # fmt: skip
    instead = {
        "concat": "jnp.concatenate",  # jnp.concat takes no dtype=
        "einsum": "jnp.einsum",
        "pad": "jnp.pad",
        "one_hot": "jax.nn.one_hot",
        "topk": "jax.lax.top_k",
        "conv1d": "jax.lax.conv_general_dilated",
        "conv2d": "jax.lax.conv_general_dilated",
        "scaled_dot_product_attention": "jax.nn.dot_product_attention",
    }
    found = found_functions(rooms, JAX.naming.aliases, instead)
    del found["can_cast"]  # it is NumPy's, and knows nothing of JAX's lattice
    return found


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    functions = called_with_operands(found)
    return functions | _layers(functions) | {"promote_types": _promote_types}


def _layers(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The layers, given what is no operand."""
    einsum, top_k = functions["einsum"], functions["topk"]
    return {
        "einsum": lambda *arrays: einsum(product_equation(arrays), *arrays),
        "pad": partial(functions["pad"], pad_width=1),
        "one_hot": partial(functions["one_hot"], num_classes=3),
        "topk": lambda x: top_k(x, 1)[0],
        "linalg.matrix_power": partial(functions["linalg.matrix_power"], n=2),
        "tensordot": partial(functions["tensordot"], axes=1),
        "conv1d": partial(functions["conv1d"], window_strides=(1,), padding="VALID"),
        "conv2d": partial(functions["conv2d"], window_strides=(1, 1), padding="VALID"),
    }


def _promote_types(*things: Any) -> Any:
    """Of dtypes, or of those that arrays have, which x64 off has truncated."""
    import jax.numpy as jnp

    return jnp.promote_types(*(getattr(thing, "dtype", thing) for thing in things))


def _enable_x64(is_on: bool) -> AbstractContextManager[None]:
    import jax
    from jax import experimental

    # The old name went when the new one came, in 0.8.
    enable = jax.enable_x64 if hasattr(jax, "enable_x64") else experimental.enable_x64
    context: AbstractContextManager[None] = enable(is_on)
    return context


def _convert_element_type(array: Any, *, weak_type: bool) -> Any:
    """Public functions make weak arrays only of a single number."""
    from jax._src.lax.lax import _convert_element_type as convert

    return convert(array, weak_type=weak_type)


# Asks JAX what it computes, on the CPU.

_WIDE = ("int64", "uint64", "float64", "complex128")  # without x64 no array has them


class JaxValues(JaxRecorder):
    """The values of the JAX installed here."""

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        self.dtypes = tuple(d for d in VALUE_DTYPES if self._has_x64 or d not in _WIDE)
        # An operator calls its function, but is compiled anew.
        functions = {
            op: tuple(form for form in forms if form != "operator")
            for op, forms in self.scope.forms.items()
        }
        self.scope = self.scope._replace(forms=functions)

    def hold(self, held: Held) -> Any:
        dtype = held.dtype
        if dtype is not None and dtype.endswith("*"):
            strong = self.hold(held._replace(dtype=dtype.rstrip("*")))
            return _convert_element_type(strong, weak_type=True)
        made = numpy_array(held)
        return made if dtype is None else self._jax.numpy.asarray(made)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.bare_call(op, form, operands)  # not call, which computes nothing

    def held_by(self, result: Any) -> Held | None:
        return numpy_held(result) if self.dtype_of(result) else None

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = JaxValues

# Programs in JAX, on the CPU.


class JaxSpeaker(RecordedSpeaker):
    """The JAX installed here, in one of its modes."""

    prelude = (
        "import jax\nimport jax.numpy as jnp\nfrom math import inf, nan\n"
        "from jax._src.lax.lax import _convert_element_type"
    )

    def __init__(self, mode: str = "") -> None:
        values = JaxValues(mode)
        super().__init__(values)
        self.menu = Menu(
            dtypes=values.dtypes,
            forms=program_forms(JaxRecorder(mode).scope.forms),
            literals=LITERALS,
            along_axes=words(
                "sum prod mean any all max min argmax argmin std var median logsumexp"
            ),
            need_axes=words("cumsum cumprod count_nonzero"),
            has_assignment=False,
        )

    def array(self, held: Held) -> str:
        dtype = str(held.dtype)
        named = f'dtype="{dtype.rstrip("*")}"'
        strong = array_text(held, "jnp.zeros", "jnp.array", named)
        # Public functions make weak arrays only of a single number.
        return f"_convert_element_type({strong}, weak_type=True)" if dtype.endswith("*") else strong

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}")'


speaker = JaxSpeaker


# JAX's compiler and batcher, and its arrays on several devices.

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
