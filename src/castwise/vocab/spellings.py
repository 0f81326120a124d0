"""The names that frameworks have for dtypes, in text and as live objects.

With live.py the only file outside dialects, backends, hooks and recorders that names frameworks.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from castwise.errors import UsageError, did_you_mean

_TORCH = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "bit": "uint1", "chalf": "complex32", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip
# torch's ScalarType, as its errors have it: "expected Float but found Short".
SCALAR_TYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64", "Half": "float16",
    "Float": "float32", "Double": "float64", "ComplexHalf": "complex32",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128", "Bool": "bool",
    "BFloat16": "bfloat16", "Float8_e5m2": "float8_e5m2", "Float8_e4m3fn": "float8_e4m3fn",
    "Float8_e5m2fnuz": "float8_e5m2fnuz", "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "Float8_e8m0fnu": "float8_e8m0fnu",
}  # fmt: skip
_NUMPY = {
    "bool_": "bool", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16",
    "intc": "int32", "uintc": "uint32", "int_": "int64", "uint": "uint64", "long": "int64",
    "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "intp": "int64",
    "uintp": "uint64", "half": "float16", "single": "float32", "double": "float64",
    "float_": "float64", "csingle": "complex64", "cdouble": "complex128", "complex_": "complex128",
}  # fmt: skip
_DOUBLE_HALF = {"double": "float64", "half": "float16"}
_OWN_NUMPY = {"pybfloat16": "bfloat16"}  # MegEngine's, a dtype of NumPy by type
# The prefix a dtype is written with -> the names that prefix gives another meaning.
SPELLINGS: dict[str, dict[str, str]] = {
    "torch": _TORCH, "np": _NUMPY, "numpy": _NUMPY, "ml_dtypes": {}, "jnp": _NUMPY,
    "jax.numpy": _NUMPY, "tf": _DOUBLE_HALF, "tf.dtypes": _DOUBLE_HALF,
    "tensorflow": _DOUBLE_HALF, "paddle": {}, "oneflow": _TORCH, "flow": _TORCH, "mx": {},
    "mx.core": {}, "mlx.core": {}, "array_api_strict": {},
    "dtypes": {"half": "float16", "float": "float32", "double": "float64", "char": "int8",
               "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32",
               "uint": "uint32", "long": "int64", "ulong": "uint64", "fp8e4m3": "float8_e4m3fn",
               "fp8e5m2": "float8_e5m2", "fp8e4m3fnuz": "float8_e4m3fnuz",
               "fp8e5m2fnuz": "float8_e5m2fnuz"},
    "mindspore": _TORCH, "ms": _TORCH, "cupy": _NUMPY, "cp": _NUMPY, "da": _NUMPY, "xp": {},
    "keras": {},
}  # fmt: skip
SPELLINGS["tinygrad.dtypes"] = SPELLINGS["dtypes"]
# Its live dtypes: a weak one counts as what it is stored as.
_WEAK = {"float8_e4m3": "float8_e4m3fn", "weakint": "int32", "weakfloat": "float32"}
SPELLINGS["tinygrad"] = {**SPELLINGS["dtypes"], **_WEAK}
# Who reads a word without a prefix as which dtype: NumPy where a dtype is given as text, torch in
# the names of its methods and dtypes, tinygrad in those of its dtypes.
_WORDS = {
    "torch": {**_TORCH, "byte": "uint8", "char": "int8", "complex": "complex64"},
    "NumPy": {**_NUMPY, "int": "int64", "uint": "uint64", "float": "float64",
              "complex": "complex128"},
    "tinygrad": SPELLINGS["dtypes"],
}  # fmt: skip
# Numbers in short forms are bits. NumPy and others count bytes: where castwise has both dtypes, a
# short form would silently mean one of them.
_IN_BYTES = "in bits, or {}, in bytes as NumPy counts"
TWO_READINGS = {
    **{f"i{n}": f"int{n}, {_IN_BYTES.format(f'int{8 * n}')}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"uint{n}, {_IN_BYTES.format(f'uint{8 * n}')}" for n in (1, 2, 4, 8)},
    "f4": f"float4_e2m1fn, {_IN_BYTES.format('float32')}",
    "f8": f"a float8 such as float8_e4m3fn, {_IN_BYTES.format('float64')}",
    "c4": "complex64, with 4 bytes per part, or complex32, with 4 bytes in all",
    "c8": "complex128, with 8 bytes per part, or complex64, with 8 bytes in all",
    "b": "bool, or int8, as NumPy reads it",
}
# Where the dtype objects of a framework are; NumPy's own are made from their names.
_MODULES = {
    "torch": "torch", "pytorch": "torch", "jax": "jax.numpy", "jnp": "jax.numpy",
    "tensorflow": "tensorflow", "tf": "tensorflow", "paddle": "paddle", "oneflow": "oneflow",
    "mindspore": "mindspore", "mlx": "mlx.core", "tinygrad": "tinygrad.dtypes",
    "array_api_strict": "array_api_strict", "array-api": "array_api_strict",
    **dict.fromkeys(("numpy", "np", "cupy", "dask", "megengine"), "numpy"),
}  # fmt: skip


def word_readings(word: str) -> dict[str, list[str]]:
    """The dtypes that a word without a prefix may mean, and who reads it so.

    >>> word_readings("half")
    {'float16': ['torch', 'NumPy', 'tinygrad']}
    >>> word_readings("float")
    {'float32': ['torch', 'tinygrad'], 'float64': ['NumPy']}
    """
    found: dict[str, list[str]] = {}
    for owner, words in _WORDS.items():
        if word in words:
            found.setdefault(words[word], []).append(owner)
    return found


def is_live_dtype(thing: object) -> bool:
    """Whether an object is a dtype of some framework, or a type such as np.float32."""
    name = type(thing).__name__.lower()
    return isinstance(thing, type) or name.endswith(("dtype", "datatype"))


def live_names(thing: object) -> list[str]:
    """The names a live dtype object may go by: its .name, its own name, the tail of its text."""
    names = [getattr(thing, attribute, None) for attribute in ("name", "__name__")]
    tail = str(thing).rpartition(".")[2].strip("'<>() ")  # torch.int32, mlx.core.int8
    root = (getattr(thing, "__module__", None) or type(thing).__module__).partition(".")[0]
    spelled = SPELLINGS.get(root, {})
    words = [word.rstrip("_").lower() for word in (*names, tail) if isinstance(word, str)]
    return [spelled.get(word, _OWN_NUMPY.get(word, word)) for word in words]


def live_dtype(name: str, framework: str) -> Any:
    """The dtype object that a framework has for a dtype.

    Raises UsageError where the framework is unknown, is not installed or has no such dtype.
    """
    module = _MODULES.get(framework)
    if module is None:
        raise UsageError(
            f"castwise knows no dtype objects of {framework[:40]!r}."
            f"{did_you_mean(framework, _MODULES)} Known: {', '.join(_MODULES)}."
        )
    place = _imported(module, framework)
    found = getattr(place, name, None) or getattr(place, f"{name}_", None)
    if module == "numpy":
        importlib.import_module("ml_dtypes")  # which makes NumPy read the names of small dtypes
        try:
            return place.dtype(name)
        except TypeError:
            found = None
    if found is None:
        raise UsageError(f"{framework} has no dtype {name}.")
    return found


def numpy_dtype(name: str) -> Any:
    """What NumPy has for a dtype."""
    return live_dtype(name, "numpy")


def _imported(module: str, framework: str) -> Any:
    """A module, or the class of that name in one."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        parent, _, last = module.rpartition(".")
        if parent and hasattr(importlib.import_module(parent), last):
            return getattr(importlib.import_module(parent), last)
        raise UsageError(f"{framework} is not installed here: {error}.") from None


# Dtypes that castwise does not support, why, and what to do with an array of them.

_WIDE = "its width depends on the machine, and no other framework has it"
# The names a dtype goes by, in full and as NumPy's codes -> why, and the way out.
_OUT_OF_SCOPE = {
    r"longdouble|float96|float128": (_WIDE, "Cast it: x.astype('float64')."),
    r"clongdouble|complex192|complex256": (_WIDE, "Cast it: x.astype('complex128')."),
    r"object_?|O": (
        "it holds Python objects, which decide for themselves",
        "Make an array of numbers of it: x.astype('float64').",
    ),
    r"(datetime64|timedelta64|[mM]8)(\[\w*\])?": (
        "it has a unit, and promotes by that",
        "Take its count of units: x.astype('int64').",
    ),
    r"(str|bytes)_?\d*|[SU]\d*": (
        "it holds text, which is not promoted",
        "Convert it to numbers: x.astype('float64').",
    ),
    r"void\d*|V\d*|\[\(.*": ("it is a structure of several dtypes", "Take one field: x['name']."),
}
_NAMES = {re.compile(names): facts for names, facts in _OUT_OF_SCOPE.items()}


def out_of_scope(name: str) -> UsageError | None:
    """The error for a dtype that is not supported on purpose; None for any other name.

    >>> str(out_of_scope("datetime64[D]"))[:51]
    "dtype 'datetime64[D]' is out of scope: it has a uni"
    """
    for names, (why, fix) in _NAMES.items():
        if names.fullmatch(name.lstrip("<>|=")):
            return UsageError(f"dtype {name[:64]!r} is out of scope: {why}. {fix}")
    return None
