"""The parts of a dialect: what holds for every op, by subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Joining:
    """Which dtypes join, in every op of a dialect."""

    folds: bool = False  # the join goes pair by pair, from the left, not all at once
    keeps_kind: bool = False  # the join stays within the highest kind among the operands
    alone: str = ""  # dtypes that join with no other, on purpose
    apart: str = ""  # "uint8 / int8": dtypes of the two sides do not join
    only_absorbed: str = ""  # dtypes that join only where one operand reaches the other
    refusal: str = ""  # the reason that messages give for dtypes without a common one
    weak_arrays: str = "none"  # one of WEAK_ARRAYS
    guards: tuple[str, ...] = ()  # of GUARDS: promotions that are refused although dtypes join


@dataclass(frozen=True, slots=True)
class Becomes:
    """What dtypes and integers become, whatever op they are in.

    In the mappings and in a rule's `converts`, default_int, default_float and default_complex mean
    the dtypes of Python numbers.
    """

    truncates: str = ""  # "int64 -> int32": the dtypes that arrays really have
    lifts: str = ""  # "int -> default_float": what integers become where an op needs a float
    accumulates: str = ""  # "int8 -> int64": what small integers are summed in; "int*": weak ones
    caps: str = ""  # "float64 -> float32": what a compute dtype is cut to
    index: str = "int64"  # the dtype of indices and counts
    reads_ints: str = ""  # dtypes for Python ints beyond that of an int: the first that holds it


@dataclass(frozen=True, slots=True)
class Assigns:
    """What `x[i] = value` takes, in every op of a dialect."""

    values: str = "any"  # which dtypes: one of OUTPUTS
    limit: str = "none"  # one of LIMITS: a Python number beyond it is refused
    by_places: str = "cast"  # x[array] = array: one of ASSIGNS_BY_PLACES
    whole: str = "cast"  # x[...] = value: one of ASSIGNS_WHOLE


@dataclass(frozen=True, slots=True)
class Laws:
    """Properties of the join, which tests check."""

    is_commutative: bool = True
    one_sided: str = ""  # symmetric ops that nevertheless treat their operands differently
    associativity_witness: tuple[str, str, str] | None = None  # None: associative


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why the rules are believed, and what is shown of them. Only the layers decide."""

    source: str  # "recorded from ..."
    laws: Laws = Laws()
    surprises: tuple[str, ...] = ()  # the examples on its page
    # Files of recorded answers that count for more than the rules, the first for most.
    layers: tuple[str, ...] = ()
    lacks: str = ""  # dtypes of the rules, and ops, that what was recorded does not have
    has: str = ""  # dtypes that it has and the rules do not


@dataclass(frozen=True, slots=True)
class Naming:
    """The names by which a dialect and its framework's functions are known."""

    is_newest: bool = True  # the framework's bare name means this version
    names: str = ""  # what else the framework is called in a dialect's name: "np"
    last: str = ""  # the last release that an old dialect speaks for
    recorded: str = ""  # the release it was recorded from, where that says more than its version
    packages: str = ""  # what installs it, where that is not named as its module
    release: str = ""  # that of the package, where it is not numbered as the dialect is
    prefixes: str = ""  # the prefixes of the framework's names: "np numpy"
    aliases: Mapping[str, str] = field(default_factory=dict)  # castwise's op -> its names there
    cast: str = "{x}.astype('{dtype}')"  # how its users write a cast
    bool_name: str = "bool"  # what bool is called there
    casts: str = ""  # "byte:uint8 to:": its arrays' methods that cast; "": to the argument's dtype

    @property
    def dtypes_of_casts(self) -> dict[str, str]:
        """The methods of the framework's arrays that cast, and their dtypes.

        >>> Naming(casts="byte:uint8 to:").dtypes_of_casts
        {'byte': 'uint8', 'to': ''}
        """
        return {name: dtype for name, _, dtype in (w.partition(":") for w in self.casts.split())}
