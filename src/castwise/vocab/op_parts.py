"""The parts of an op's row: how it is called, its switches, and what it has to do with shapes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallForm:
    """How an op is called, in every framework that has it."""

    operands: tuple[str, ...] = ()  # the names by which operands may be given, from the first
    parameters: tuple[str, ...] = ()  # what may follow the operands: it has no say in the dtype
    takes: tuple[str, ...] = ()  # what else it may be given by name, which has a say in the dtype
    takes_alpha: bool = False  # the second operand may have a factor
    arrays_only: bool = False  # no operand is a Python number
    along_axis: bool = False  # it works along one axis, and the result keeps its length
    # The place and the name of what stands among the operands and is none: einsum's equation.
    between: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Switches:
    """How an op treats its operands and its output.

    The switches are those of torch's TensorIteratorConfig and OneFlow's TensorProcessor; what each
    does is in docs/how-it-works.md.
    """

    promotes: bool = True  # False: each operand keeps its dtype
    lowest: str | None = None  # no operand enters below this dtype
    lowest_per_input: tuple[str | None, ...] = ()
    same_dtype: bool = False  # operands, Python numbers and out= of two dtypes are refused
    same_device: bool = True  # where it runs, arrays of two devices are refused
    casts_to_output: bool = True  # False: out= must already have the result dtype
    safe_output: bool = True  # False: the result is cast to any dtype

    @property
    def has_lowest(self) -> bool:
        return bool(self.lowest or self.lowest_per_input)


@dataclass(frozen=True, slots=True)
class Shapes:
    """What an op has to do with the shapes of its operands, besides broadcasting them."""

    counts_dimensions: bool = False  # a rule may tell vectors from matrices
    counts_elements: bool = False  # a rule may tell whether there are any
    gives_one: bool = False  # one answer, whatever the shapes
    gives_pair: bool = False  # values and their places
