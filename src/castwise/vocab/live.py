"""Live dtypes, arrays and frameworks, recognised by the module and name of a type.

With spellings.py the only file outside dialects, backends, hooks and recorders that names
frameworks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from castwise.errors import UsageError, did_you_mean
from castwise.vocab.dtypes import CANONICAL, DType, dtype, find_dtype
from castwise.vocab.operands import Operand, array_operand, numpy_scalar_operand
from castwise.vocab.spellings import (
    SCALAR_TYPES,
    SPELLINGS,
    is_live_dtype,
    live_names,
    out_of_scope,
    word_readings,
)

# Dtypes, by their names and as objects.

# The dtype objects seen, of which frameworks have few. By type, too: some frameworks' dtypes warn
# where they are compared with those of others.
_dtypes: dict[tuple[type, object], DType] = {}


def spelled_dtype(name: str) -> DType:
    """The dtype of a framework's own spelling.

    >>> spelled_dtype("torch.long"), spelled_dtype("tf.bfloat16"), spelled_dtype("Short")
    (int64, bfloat16, int16)

    Raises UsageError for an unknown prefix or name, and for a word that frameworks read
    differently.
    """
    prefix, _, tail = name.rpartition(".")
    if prefix and prefix not in SPELLINGS:
        raise UsageError(f"unknown prefix {prefix[:40]!r}.{did_you_mean(prefix, SPELLINGS)}")
    if name == "Undefined":
        raise UsageError("Undefined is torch's word for no dtype: leave the operand out.")
    own = SPELLINGS[prefix].get(tail) if prefix else SCALAR_TYPES.get(tail) or _word(tail)
    return dtype(own or tail)


def _word(name: str) -> str | None:
    """The dtype that every framework with such a word means by it; None where none has it."""
    readings = {} if find_dtype(name) else word_readings(name)
    if len(readings) > 1:
        texts = [f"{meant} in {' and '.join(owners)}" for meant, owners in readings.items()]
        raise UsageError(f"{name!r} has several readings: {', '.join(texts)}. Write one of these.")
    return next(iter(readings), None)


def to_dtype(thing: object) -> DType:
    """The dtype of a name, a framework's spelling or a live dtype object of any framework.

    >>> to_dtype("torch.float"), to_dtype("u16"), to_dtype("double")
    (float32, uint16, float64)

    Raises UsageError where it names no dtype.
    """
    if isinstance(thing, DType):
        return thing
    if isinstance(thing, str):
        return spelled_dtype(thing)
    try:
        known = _dtypes.get((type(thing), thing))
    except TypeError:  # it has no hash
        known = None
    return known or _live_dtype(thing)


def _live_dtype(thing: object) -> DType:
    """The dtype of a live dtype object, which is remembered."""
    for name in live_names(thing):
        if name in CANONICAL:
            if isinstance(thing, Hashable):
                _dtypes[type(thing), thing] = dtype(name)
            return dtype(name)
    if isinstance(thing, type) and thing in (int, float, complex):
        raise UsageError(
            f"the type {thing.__name__} has no one width: name a dtype, such as 'int64' or "
            "'float32', or pass a value, such as 1."
        )
    for name in (str(thing), *live_names(thing)):
        if unsupported := out_of_scope(name):
            raise unsupported
    raise UsageError(f"cannot tell the dtype of {str(thing)[:60]!r} ({type(thing).__name__}).")


# Arrays of every framework, and NumPy scalars.

Reader: TypeAlias = Callable[[Any], Operand]
_readers: WeakKeyDictionary[type, Reader | None] = WeakKeyDictionary()  # of the types seen


def read_live(thing: Any) -> Operand | None:
    """The operand an array or a NumPy scalar is, of any framework; None where it is neither.

    Raises UsageError for an array whose elements are not all there as numbers.
    """
    reader = _reader(type(thing))
    check_dense(thing)
    return None if reader is None else reader(thing)


def is_plain_array(thing: Any) -> bool:
    """Whether dtype, shape and the type itself are all that a rule can tell of an array's role."""
    reader = _reader(type(thing))
    return reader is _read_numpy or reader is _read_array


def has_own_dtypes(array: Any) -> bool:
    """Whether only its framework's one array type has the array's dtype objects."""
    return type(array.dtype).__module__.partition(".")[0] == "torch"


def _reader(kind: type) -> Reader | None:
    """How to read objects of a type, by the module and name of it or of one it derives from."""
    if kind not in _readers:
        _readers[kind] = _find_reader(kind)
    return _readers[kind]


def _short_name(kind: type) -> str:
    """The root module and the name of a type: "jax.Tracer"."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _find_reader(kind: type) -> Reader | None:
    for base in kind.__mro__:
        if reader := _READERS.get(_short_name(base)):
            return reader
        if base.__module__ == "numpy" and base.__name__ == "generic":
            return _read_numpy_scalar
    is_small_float = kind.__module__ == "ml_dtypes" and find_dtype(kind.__name__) is not None
    return _read_numpy_scalar if is_small_float else None


def _read_numpy(array: Any) -> Operand:
    value = array.item() if array.ndim == 0 and array.dtype.kind in "biufc" else None
    if array.ndim == 0 and value is None and find_dtype(array.dtype.name):
        value = _plain(array[()])
    return array_operand(to_dtype(array.dtype), tuple(array.shape), value=value, is_numpy=True)


def _read_numpy_scalar(scalar: Any) -> Operand:
    found = to_dtype(scalar.dtype if hasattr(scalar, "dtype") else type(scalar))
    return numpy_scalar_operand(found, _plain(scalar))


def _plain(scalar: Any) -> bool | int | float | complex:
    """A NumPy or ml_dtypes scalar as the Python number of its kind."""
    found = to_dtype(scalar.dtype if hasattr(scalar, "dtype") else type(scalar))
    convert = {"bool": bool, "int": int, "float": float, "complex": complex}[found.kind]
    return convert(scalar)  # type: ignore[no-any-return]


def _read_array(array: Any) -> Operand:
    """An array with .dtype and .shape; nothing is computed and no value is read."""
    return array_operand(to_dtype(array.dtype), _dims(array.shape))


def _read_weak_array(array: Any) -> Operand:
    """A JAX array, tracer or abstract value, or a TensorFlow weak tensor."""
    weak = bool(getattr(array, "weak_type", False))
    return array_operand(to_dtype(array.dtype), _dims(array.shape), is_weak=weak)


def _read_weak_tensor(tensor: Any) -> Operand:
    return array_operand(to_dtype(tensor.dtype), _dims(tensor.shape), is_weak=True)


def _read_tensor_of_weak_dtype(tensor: Any) -> Operand:
    """A tinygrad tensor, whose dtype itself may be weak: weakint, weakfloat."""
    is_weak = str(tensor.dtype).rpartition(".")[2].startswith("weak")
    return array_operand(to_dtype(tensor.dtype), _dims(tensor.shape), is_weak=is_weak)


def _dims(shape: Any) -> tuple[int | str, ...]:
    """A shape of ints; an unknown size (None, -1, NaN) becomes a name."""
    sizes = []
    for place, size in enumerate(shape):
        try:
            known = int(size)
        except (TypeError, ValueError):
            known = -1
        sizes.append(known if known >= 0 else f"d{place}")
    return tuple(sizes)


# The types that each function reads. Subclasses are found through their bases.
_READ_BY: dict[Reader, str] = {
    _read_numpy: "numpy.ndarray",
    _read_array: "torch.Tensor tensorflow.Tensor tensorflow.EagerTensor tensorflow.Variable"
    " tensorflow.BaseResourceVariable paddle.Tensor paddle.Value dask.Array cupy.ndarray"
    " array_api_strict.Array mlx.array oneflow.Tensor mindspore.Tensor megengine.Tensor"
    " keras.KerasTensor castwise.Tensor",
    _read_weak_array: "jax.Array jax.Tracer jax.ShapeDtypeStruct jax.ShapedArray jaxlib.Array"
    " jaxlib.ArrayImpl",
    _read_weak_tensor: "tensorflow.WeakTensor tensorflow.EagerWeakTensor"
    " tensorflow.GraphWeakTensor",
    _read_tensor_of_weak_dtype: "tinygrad.Tensor",
}
_READERS = {name: reader for reader, names in _READ_BY.items() for name in names.split()}


# Arrays that castwise does not compute with.

_MASKED = ("masked", "fill it, x.filled(0), or take what is not masked, x.compressed()")
_OF_SCIPY = ("scipy.sparray", "scipy.spmatrix", "scipy._spbase")
# The type -> what an array is that is not dense, and what to do
_NOT_DENSE: dict[str, tuple[str, str]] = {
    "numpy.MaskedArray": _MASKED,
    "torch.MaskedTensor": ("masked", "fill it, x.to_tensor(0)"),
    **dict.fromkeys(("jax.JAXSparse", "sparse.SparseArray"), ("sparse", "convert it, x.todense()")),
    **dict.fromkeys(_OF_SCIPY, ("sparse", "convert it, x.toarray()")),
    "tensorflow.SparseTensor": ("sparse", "convert it, tf.sparse.to_dense(x)"),
    "tensorflow.RaggedTensor": ("ragged", "convert it, x.to_tensor()"),
}
_reasons: WeakKeyDictionary[type, tuple[str, str] | None] = WeakKeyDictionary()  # of types seen


def check_dense(thing: Any) -> None:
    """Raises UsageError for an array whose elements are not all there as numbers: a masked, sparse,
    quantised or nested one."""
    kind = type(thing)
    if kind not in _reasons:
        found = filter(None, [_NOT_DENSE.get(_short_name(base)) for base in kind.__mro__])
        _reasons[kind] = next(found, None)
    why = _reasons[kind]
    if why is None:
        layout = getattr(thing, "layout", None)
        why = None if layout is None else _layout_reason(thing, str(layout))
    if why is not None:
        what, way = why
        raise UsageError(
            f"castwise computes with plain arrays, and this {kind.__name__} is {what}: {way}."
        )


def _layout_reason(tensor: Any, layout: str) -> tuple[str, str] | None:
    """Why a torch tensor is not dense, which its type does not tell."""
    if getattr(tensor, "is_nested", False):
        return "nested", "convert it, torch.nested.to_padded_tensor(x, 0)"
    if layout.startswith("torch.") and layout != "torch.strided":
        return layout.removeprefix("torch."), "convert it, x.to_dense()"
    is_quantised = getattr(tensor, "is_quantized", False)
    return ("quantised", "convert it, x.dequantize()") if is_quantised else None


# Frameworks: which one a live object belongs to, and which version and mode of it is loaded. A
# program under audit is asked for these, so this imports no rules.

GUEST = "numpy"  # whose arrays have a role of their own in the ops of every other framework
_frameworks: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()
# The root module of a type -> the framework whose rules it follows
_FOLLOWS = {
    **{name: name for name in ("numpy", "torch", "jax", "tensorflow", "paddle", "mlx", "tinygrad")},
    **{name: name for name in ("oneflow", "mindspore", "megengine", "keras")},
    "ml_dtypes": "numpy",
    "dask": "numpy",
    "cupy": "numpy",
    "jaxlib": "jax",
    "array_api_strict": "array-api",
}


def live_framework(thing: Any) -> str | None:
    """The framework whose rules a live array, NumPy scalar or dtype object follows; None where it
    is none of these, or belongs to castwise.

    A dtype object of NumPy counts as NumPy's, whichever framework's array it was taken from.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    if kind not in _frameworks:
        known = _reader(kind) or is_live_dtype(thing)
        roots = [base.__module__.partition(".")[0] for base in kind.__mro__] if known else []
        _frameworks[kind] = next((_FOLLOWS[root] for root in roots if root in _FOLLOWS), None)
    return _frameworks[kind]


def framework_module(framework: str) -> str:
    """The module that a framework's arrays are from."""
    if framework in _FOLLOWS:
        return framework
    return next((root for root, followed in _FOLLOWS.items() if followed == framework), framework)


def is_on_gpu(thing: Any) -> bool:
    """Whether a live array is on a GPU, which its framework names cuda:0 or gpu:0."""
    return str(getattr(thing, "device", "")).lower().startswith(("cuda", "gpu"))


def loaded_name(framework: str) -> str:
    """A framework with its version and mode here, as a dialect is named: torch@2.13.0."""
    version, mode = loaded_version(framework), loaded_mode(framework)
    return framework + (f"@{version}" if version else "") + (f":{mode}" if mode else "")


def loaded_version(framework: str) -> str:
    """The version of a loaded framework; nothing where it is not loaded or names none."""
    return str(getattr(sys.modules.get(framework_module(framework)), "__version__", ""))


def loaded_mode(framework: str) -> str:
    """The mode that a loaded framework is in now, as a dialect's name has it."""
    module, mode = sys.modules.get(framework_module(framework)), _MODES.get(framework)
    return mode(module) if module is not None and mode is not None else ""


def has_modes(framework: str) -> bool:
    """Whether a framework's mode may change while it runs."""
    return _MODES.get(framework) is not None


def _jax_mode(jax: Any) -> str:
    """Whether JAX promotes, and whether it has 64 bits."""
    config = jax.config
    if config.jax_numpy_dtype_promotion == "strict":
        return "strict" if config.jax_enable_x64 else "strict-x32"
    return "x64" if config.jax_enable_x64 else ""


_TENSORFLOW_MODES = {"ALL": "np-all", "SAFE": "np-safe"}


def _tensorflow_mode(tensorflow: Any) -> str:
    """Whether TensorFlow's NumPy behaviour is switched on, and which one."""
    ops = sys.modules["tensorflow.python.framework.ops"]
    chosen = getattr(ops, "get_dtype_conversion_mode", lambda: None)()
    return _TENSORFLOW_MODES.get(getattr(chosen, "name", ""), "")


def _torch_mode(torch: Any) -> str:
    """PyTorch's default dtype, where it is not float32."""
    default = str(torch.get_default_dtype()).rpartition(".")[2]
    return "" if default == "float32" else f"default_float={default}"


_MODES: dict[str, Callable[[Any], str]] = {  # a framework without one has one mode
    "jax": _jax_mode,
    "tensorflow": _tensorflow_mode,
    "torch": _torch_mode,
}
