"""Every dtype castwise knows, one row of facts each; no framework's opinion."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from castwise.errors import ArgumentError, UsageError, did_you_mean
from castwise.vocab.spellings import (
    TWO_READINGS,
    is_live_dtype,
    live_dtype,
    live_names,
    numpy_dtype,
    out_of_scope,
)

KINDS = ("bool", "int", "float", "complex")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """One dtype: its name, kind and layout. Interned, so there is one object per dtype.

    It equals its name and the dtype objects of all frameworks, has the hash of its name, and goes
    where NumPy, JAX and TensorFlow take a dtype. It is no text: `str(dtype)` is its name.

    >>> dtype("i32").max
    2147483647
    >>> dtype("float16").largest_exact_int
    2048
    >>> dtype("f32") == "float32"
    True
    """

    name: str
    kind: str  # one of KINDS
    bits: int
    is_signed: bool = True
    exponent_bits: int = 0
    mantissa_bits: int = 0  # explicit fraction bits; of one part where complex
    bias: int = 0
    specials: str = "none"  # what the top codes mean, see _FLOATS

    rank: int = field(init=False)  # the place of the kind: bool 0, int 1, float 2, complex 3
    max: int | float = field(init=False)  # the largest finite value (of one part where complex)
    min: int | float = field(init=False)
    smallest: int | float = field(init=False)  # the smallest positive value, subnormals included

    def __post_init__(self) -> None:
        for name, value in zip(("min", "max", "smallest"), _limits(self), strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rank", KINDS.index(self.kind))

    @property
    def dtype(self) -> Any:
        """NumPy's dtype, which np.dtype() looks for; AttributeError where NumPy has none."""
        try:
            return numpy_dtype(self.name)
        except UsageError as error:
            raise AttributeError(str(error)) from None

    @property
    def itemsize(self) -> int:
        """The bytes an element takes in an array: one at least, as arrays are not packed."""
        return max(self.bits, 8) // 8

    @property
    def is_weak(self) -> bool:
        """Whether it is a node for weakly typed operands, which no array has as its dtype."""
        return self.name.endswith("*")

    @property
    def part(self) -> DType:
        """The float dtype of one part of a complex dtype; itself otherwise."""
        return _TYPES[_PART_OF[self.name]] if self.kind == "complex" else self

    @property
    def of_parts(self) -> DType:
        """The complex dtype for values of this one, with parts of 32 or 64 bits; itself if complex.

        >>> dtype("float64").of_parts, dtype("float16").of_parts
        (complex128, complex64)
        """
        if self.kind == "complex":
            return self
        return _TYPES["complex128" if self.bits == 64 else "complex64"]

    @property
    def has_inf(self) -> bool:
        return self.specials == "ieee"

    @property
    def largest_exact_int(self) -> int:
        """Every integer from 0 to this one is held exactly."""
        if self.kind in ("bool", "int"):
            return int(self.max)
        return min(1 << (self.mantissa_bits + 1), int(self.max))

    def holds(self, other: DType) -> bool:
        """Whether every finite value of the other dtype is held exactly."""
        return self.keeps_range(other) and self.keeps_precision(other)

    def holds_all(self, other: DType) -> bool:
        """Whether it holds every value of the other, infinities, NaN and signs of zero included."""
        if other.kind not in ("float", "complex"):
            return self.holds(other)
        return self.holds(other) and _SPECIALS[other.specials] <= _SPECIALS[self.specials]

    def keeps_precision(self, other: DType) -> bool:
        """Whether it keeps all digits of the other dtype's values, whatever their range."""
        if self.rank < other.rank:
            return False
        if self.kind in ("bool", "int"):
            return True
        if other.kind in ("bool", "int"):
            return self.mantissa_bits >= other.bits - other.is_signed - 1 and self.smallest <= 1
        return self.mantissa_bits >= other.mantissa_bits and self.smallest <= other.smallest

    def keeps_range(self, other: DType) -> bool:
        """Whether every finite value of the other dtype lies within this one's range."""
        return self.max >= other.max and self.min <= other.min

    def to(self, framework: str) -> Any:
        """The framework's own object for this dtype, such as torch.float32.

        >>> dtype("f32").to("numpy")
        dtype('float32')

        Raises UsageError where the framework is not installed or has no such dtype.
        """
        return live_dtype(self.name, framework)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return self.name == other
        return self.name in live_names(other) if is_live_dtype(other) else NotImplemented

    # That of the name. The dtype objects of frameworks have hashes of their own: none can agree
    # with all of them.
    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def __format__(self, form: str) -> str:
        return format(self.name, form)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return dtype, (self.name,)  # unpickling and copying give back the interned object


def _limits(dtype: DType) -> tuple[float, float, float]:
    """The least, the greatest and the smallest positive finite value; 0 for the weak node of a
    whole kind."""
    if dtype.bits == 0:
        return 0, 0, 0
    if dtype.kind in ("bool", "int"):
        most: int = (1 << (dtype.bits - dtype.is_signed)) - 1
        return (-most - 1 if dtype.is_signed else 0), most, 1
    bits, specials = dtype.mantissa_bits, dtype.specials
    if specials == "fnu":  # only powers of two; the top code is NaN
        least = 2.0**-dtype.bias
        return least, 2.0 ** ((1 << dtype.exponent_bits) - 2 - dtype.bias), least
    top = (1 << dtype.exponent_bits) - 1 - (specials == "ieee") - dtype.bias
    greatest = (2 - (1 + (specials == "fn")) * 2.0**-bits) * 2.0**top
    return -greatest, greatest, 2.0 ** (1 - dtype.bias - bits)


# name, bits, exponent bits, mantissa bits, bias, specials. The specials: "ieee" has inf and NaN in
# the top exponent; "fn" one NaN and no inf; "finite" neither; "fnuz" NaN in the place of -0;
# "fnu" unsigned powers of two with one NaN. Checked against ml_dtypes.finfo in the tests.
_FLOATS = """
float4_e2m1fn       4   2   1    1   finite
float6_e2m3fn       6   2   3    1   finite
float6_e3m2fn       6   3   2    3   finite
float8_e3m4         8   3   4    3   ieee
float8_e4m3         8   4   3    7   ieee
float8_e4m3b11fnuz  8   4   3   11   fnuz
float8_e4m3fn       8   4   3    7   fn
float8_e4m3fnuz     8   4   3    8   fnuz
float8_e5m2         8   5   2   15   ieee
float8_e5m2fnuz     8   5   2   16   fnuz
float8_e8m0fnu      8   8   0  127   fnu
bfloat16           16   8   7  127   ieee
float16            16   5  10   15   ieee
float32            32   8  23  127   ieee
float64            64  11  52 1023   ieee
"""
# What each of these has in addition to finite numbers that are not -0; integers have nothing.
_SPECIALS = {
    "ieee": frozenset({"inf", "nan", "-0"}),
    "fn": frozenset({"nan", "-0"}),
    "finite": frozenset({"-0"}),
    "fnuz": frozenset({"nan"}),
    "fnu": frozenset({"nan"}),
    "none": frozenset[str](),
}
_PART_OF = {
    "complex32": "float16", "bcomplex32": "bfloat16", "complex64": "float32",
    "complex128": "float64",
}  # fmt: skip
_INT_BITS = (1, 2, 4, 8, 16, 32, 64, 128)


def _rows() -> dict[str, DType]:
    rows = [DType("bool", "bool", 1, is_signed=False)]
    rows += [DType(f"int{bits}", "int", bits) for bits in _INT_BITS]
    rows += [DType(f"uint{bits}", "int", bits, is_signed=False) for bits in _INT_BITS if bits < 128]
    for line in _FLOATS.strip().splitlines():
        name, *numbers, specials = line.split()
        bits, exponent, mantissa, bias = map(int, numbers)
        rows.append(
            DType(name, "float", bits, specials != "fnu", exponent, mantissa, bias, specials)
        )
    floats = {row.name: row for row in rows}
    for name, part in _PART_OF.items():
        bits = 2 * floats[part].bits
        rows.append(replace(floats[part], name=name, kind="complex", bits=bits))
    return {row.name: row for row in rows}


_TYPES = _rows()
DTYPES: tuple[DType, ...] = tuple(_TYPES.values())
CANONICAL = frozenset(_TYPES)

# What integers are compared in where none of them is cast; no array has it.
EXACT = DType("exact", "int", 1 << 12)


def _weak_rows() -> dict[str, DType]:
    """`int*` for every weak integer, `int32*` for the weak int32, and so on.

    A dialect's order may have either: frameworks differ in whether a weak dtype has a width.
    """
    kinds = [DType(f"{kind}*", kind, 0) for kind in KINDS if kind != "bool"]
    twins = [replace(row, name=f"{row.name}*") for row in DTYPES if row.kind != "bool"]
    return {node.name: node for node in (*kinds, *twins)}


_WEAK = _weak_rows()


def strong_twin(node: DType) -> DType | None:
    """The strong dtype of a weak node; None for the node of a whole kind."""
    return _TYPES.get(node.name.rstrip("*"))


def weak_node(name: str) -> DType:
    """The weak node of a kind or of a dtype.

    >>> weak_node("int"), weak_node("int32")
    (int*, int32*)
    """
    return _WEAK[f"{name}*"]


def weak_nodes(dtype: DType) -> tuple[DType, ...]:
    """The possible nodes of a weak array of a dtype: its own, or its kind's; no bool is weak.

    >>> weak_nodes(dtype("int32")), weak_nodes(dtype("bool"))
    ((int32*, int*), ())
    """
    return tuple([_WEAK[name] for name in (f"{dtype.name}*", f"{dtype.kind}*") if name in _WEAK])


def _short_forms() -> dict[str, str]:
    """i32, u16, f16, bf16, c64 and the bare tail of a small float (e4m3fn)."""
    short = {"b1": "bool", "bool_": "bool", "bf16": "bfloat16", "bc32": "bcomplex32"}
    # As a table in bytes has them.
    short |= {"bf": "bfloat16", "f2": "float16", "c2": "complex32", "c16": "complex128"}
    for row in DTYPES:
        letter = {"int": "i" if row.is_signed else "u", "float": "f", "complex": "c"}.get(row.kind)
        if "_" in row.name:
            short[row.name.partition("_")[2]] = row.name
        elif letter and not row.name.startswith("b"):
            short[f"{letter}{row.bits}"] = row.name
    return {form: name for form, name in short.items() if form not in TWO_READINGS}


_SHORT = _short_forms()


@functools.lru_cache(maxsize=4096)
def find_dtype(name: str) -> DType | None:
    """The dtype of a canonical name or short form, or None."""
    return _TYPES.get(name) or _TYPES.get(_SHORT.get(name, ""))


def dtype(name: str) -> DType:
    """The dtype of a canonical name or a short form.

    >>> dtype("bf16")
    bfloat16

    Raises UsageError for an unknown name, one that is out of scope, and one that may mean two
    dtypes.
    """
    found = find_dtype(name)
    if name in TWO_READINGS:
        raise UsageError(f"{name!r} has two readings: {TWO_READINGS[name]}. Write its whole name.")
    if found is None:
        if unsupported := out_of_scope(name):
            raise unsupported
        raise ArgumentError(f"unknown dtype {name[:64]!r}.{did_you_mean(name, [*_TYPES, *_SHORT])}")
    return found


@functools.lru_cache(maxsize=4096)
def dtypes_named(names: str) -> tuple[DType, ...]:
    """The dtypes of a list of names or kinds, in the order of the rows within a kind.

    >>> dtypes_named("bool float16 complex")
    (bool, float16, complex32, bcomplex32, complex64, complex128)
    """
    found: dict[DType, None] = {}
    for name in names.split():
        group = [row for row in DTYPES if row.kind == name] if name in KINDS else []
        if name in _WEAK:
            group = [_WEAK[name]]
        found.update(dict.fromkeys([dtype(name)] if name == "bool" else group or [dtype(name)]))
    return tuple(found)


def exact_int_text(target: DType) -> str:
    """How far a float dtype holds integers exactly, as a power of two where it is one."""
    n = target.largest_exact_int
    return f"2**{int(math.log2(n))}" if n & (n - 1) == 0 else str(n)


# kind of the array API standard -> whether a dtype is of it
STANDARD_KINDS: dict[str, Callable[[DType], bool]] = {
    "bool": lambda d: d.kind == "bool",
    "signed integer": lambda d: d.kind == "int" and d.is_signed,
    "unsigned integer": lambda d: d.kind == "int" and not d.is_signed,
    "integral": lambda d: d.kind == "int",
    "real floating": lambda d: d.kind == "float",
    "complex floating": lambda d: d.kind == "complex",
    "numeric": lambda d: d.kind != "bool",
}
