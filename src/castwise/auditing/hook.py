"""The record of a hook: what the auditor knows about a framework beyond its dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

# dtype, shape, whether it is weak, and the value if it is free to read
Read: TypeAlias = "tuple[Any, tuple[int, ...], bool, Any]"


class CannotRunPlainlyError(Exception):
    """A compiled function cannot run without its compiler; the message says why."""


def read_array(array: Any) -> Read:
    """Reads an array that has the usual attributes."""
    return array.dtype, array.shape, False, None


@dataclass(frozen=True, eq=False)
class Arrays:
    """How to recognise its arrays, and what can be read of one."""

    types: str = ""  # the exact types of its arrays
    traced: str = ""  # those used as placeholders while a function is traced
    scalars: str = ""  # types whose subclasses are its scalars
    read: Callable[[Any], Read] = read_array
    values: Callable[[Any], Sequence[float]] | None = None  # an array's numbers, flat
    held_values: Callable[[Any], Any] | None = None  # an array's values; None if not readable now
    owner: str = ""  # the attribute of a view that holds its base array
    held: Callable[[Any], Iterable[Any]] | None = None  # the arrays inside an array that hold it
    held_in: str = ""  # the dicts in which its objects hold arrays as attributes
    # Its own names of the dtype that `read` gives, if castwise's name does not say it.
    own_names: Callable[[Any], tuple[str, ...]] | None = None
    rebinds: bool = False  # `x += y` means `x = x + y` for its arrays, regardless of its dialect


@dataclass(frozen=True, eq=False)
class Callables:
    """How to recognise its functions and their operands."""

    types: str = ""  # types of its functions, besides Python's function types
    random: str = ""  # its modules whose functions draw random numbers
    renamed: str = ""  # a pattern for the extra parts of its internal function names
    operands: dict[str, int] = field(default_factory=dict)  # keyword -> the operand's position
    updates: dict[str, str] = field(default_factory=dict)  # type -> what its methods update


@dataclass(frozen=True, eq=False)
class Calls:
    """What its calls do with dtypes."""

    casts: str = ""  # calls that cast on request
    value_casts: str = ""  # calls whose result holds the same values in another dtype
    makes: str = ""  # calls that create an array of a default dtype unless one is given
    files: str = ""  # those of `makes` that take the dtype from a file
    keeps: str = ""  # calls that move or select elements without casts
    like: dict[str, str] = field(default_factory=dict)  # an op -> calls that cast as it does
    indices: str = ""  # calls that give positions or counts, whatever dtype they are given
    unlike: str = ""  # calls that cast in another way than the op of that name
    mixes: str = ""  # calls whose arrays may have several dtypes, because none of them is cast
    # Calls that write a value into an array, or into one of its dtype: the places of the array and
    # of the value, and the value's keyword.
    writes: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    writes_all: str = ""  # those of `writes` that write every element of the value
    cuts: str = ""  # calls that keep an array's dtype, unless the framework's mode has none so wide
    becomes_array: str = ""  # ops that make an array of a Python number before they promote


@dataclass(frozen=True, eq=False)
class OwnRules:
    """Calls whose result dtype no dialect says."""

    observes: str = ""  # calls whose result dtype only the framework itself decides
    computes: str = ""  # calls that compute a lazy array, whose dtype was only declared
    declares: str = ""  # calls whose result has the dtype that the program declares
    dtype_words: dict[str, str] = field(default_factory=dict)  # its own word -> castwise's


@dataclass(frozen=True, eq=False)
class Spelling:
    """How user code names its dtypes and casts: what a fix may write."""

    names: str = ""  # the module users import
    alias: str = ""  # its usual import alias
    cast: str = ".astype({0})"  # how user code casts an array; {code} is the array's source text
    # Those that its module has a name for; "" where it has none, and a dtype is a string.
    dtypes: str = "float16 bfloat16 float32 float64 complex64 complex128"
    takes_dtype_names: bool = True  # a dtype may be given as a string
    takes_dtype_first: str = ""  # calls whose first argument is a dtype
    takes_dtype: str = ""  # other calls with dtype=
    dtype_places: dict[str, int] = field(default_factory=dict)  # call -> where dtype may be given
    makes_without_dtype: str = ""  # those of `Calls.makes` that take no dtype=
    functions: dict[str, str] = field(default_factory=dict)  # operator -> function with dtype=


@dataclass(frozen=True, eq=False)
class Compiling:
    """What it compiles, and for which arguments."""

    name: str = ""  # what a program calls its compiler
    compilers: str = ""  # decorators that compile the function themselves
    compiled: str = ""  # the types of functions that it compiles for dtypes and shapes
    compilations: Callable[[Any], int] | None = None  # how often such a function was compiled
    # Calls such a function without its compiler, with its arguments and keywords.
    plainly: Callable[[Any, Sequence[Any], dict[str, Any]], Any] | None = None
    # The parts of an argument as its compiler sees them: path, value, dtype, shape, is it weak.
    leaves: Callable[[Any], Sequence[tuple[str, Any, Any, tuple[int, ...], bool]]] | None = None


@dataclass(frozen=True, eq=False)
class Inside:
    """What it does that the program does not ask for."""

    casts: str = ""  # its internal name for a cast, explicit or not
    # Calls whose operands it casts when autocast is on, by its list that says to what.
    autocasts: dict[str, str] = field(default_factory=dict)
    dtype_errors: tuple[str, ...] = ()  # patterns of its messages that are about dtypes
    # A dialect -> one that refuses more, to which parts of a program may switch; and a pattern of
    # the messages that it causes.
    stricter: dict[str, str] = field(default_factory=dict)
    strict_error: str = "(?!)"
    states: str = ""  # calls that return the state of an optimizer
    rounds_sums: str = ""  # ops that round every partial sum of 16 bits, not only the result
    makes_temporaries: bool = False  # copies cast operands to new arrays before computing
    # Whether it computed on a GPU, whose kernels cast operands without such arrays.
    used_gpu: Callable[[], bool] | None = None


@dataclass(frozen=True, eq=False)
class Watching:
    """What the auditor runs in it to see its calls."""

    # A mode in which the framework reports every call before it runs; its method leave returns
    # whether the mode has ended. `dispatch` lists the framework's modules between caller and mode.
    mode: Callable[[Callable[..., Any]], Any] | None = None
    dispatch: str = ""
    shows_inside: bool = False  # a patch logs what runs inside its libraries


@dataclass(frozen=True, eq=False)
class Hook:
    """A framework's modules and dialect, and its parts, each with what one kind of reader needs.
    Names are separated by spaces."""

    framework: str  # the module of its types
    rules: str = ""  # the framework whose rules its arrays follow
    modes: str = ""  # dialects that parts of a program may switch to
    modules: str = ""  # other top-level modules with its types and functions
    related: str = ""  # frameworks whose functions accept its arrays and apply their own rules
    is_guest: bool = False  # its arrays take part in operations of other frameworks
    arrays: Arrays = Arrays()
    callables: Callables = Callables()
    calls: Calls = Calls()
    own_rules: OwnRules = OwnRules()
    spelling: Spelling = Spelling()
    compiling: Compiling = Compiling()
    inside: Inside = Inside()
    watching: Watching = Watching()
