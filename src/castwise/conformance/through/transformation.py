"""What a transformation is, and where it is found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from castwise.conformance.grid import GridQuestion
from castwise.conformance.through import frameworks

Function = Callable[..., Any]  # of arrays; it returns one result, or a list of them
TOGETHER = 64  # questions in one transformed function, where the transformation says nothing


class Spread(NamedTuple):
    """A result that is computed later or held in parts: its dtype is said before it is seen.

    Each is something whose dtype the framework tells: an array, or a dtype.
    """

    declared: Any
    parts: Mapping[str, Any]  # by where they are: "rank 1", "computed"


class UnsupportedError(Exception):
    """A transformation has no way to make a call, whatever the dtypes are."""


@dataclass(frozen=True)
class Transformation:
    """What makes another function of a function, and how it is asked."""

    name: str  # as a user names it: torch.compile
    # Transforms a function and calls it with arrays. What it returns for each result of the
    # function is an array, or a Spread. An error in the place of a result is the answer to that
    # question alone; one that is raised is found by asking fewer.
    run: Callable[[Function, Sequence[Any]], Any]
    # How a program writes it, with {f} for a function and {arrays} for what it is called with;
    # nothing where that takes more than a line.
    written: str
    imports: str = ""  # what that program imports besides the framework
    together: int = TOGETHER  # how many questions share one transformation
    # The error with which it refuses a function before it compiles anything, found at little cost;
    # what it refuses so is not asked together with other questions.
    declines: Callable[[Function, Sequence[Any]], Exception | None] = lambda function, arrays: None
    # What it needs as long as it is asked, such as other processes.
    session: Callable[[], AbstractContextManager[object]] = nullcontext
    is_apart: bool = False  # it calls its functions in other processes, so that they are pickled
    computes: bool = True  # whether results hold values that can be compared
    leaves_out: Callable[[GridQuestion], bool] = lambda question: False  # what it cannot be asked
    packages: tuple[str, ...] = ()  # besides the framework, on whose versions the answers depend
    # How a program writes the dtypes of a Spread, with {r} for the result.
    dtypes_written: str = "{r}"


def is_array(notation: str) -> bool:
    """Whether an operand is an array of the framework."""
    return notation.endswith("]") and not notation.startswith(("np.", "["))


def has_no_arrays(question: GridQuestion) -> bool:
    """Whether only Python numbers are asked about, which a batcher has nothing to do with."""
    return not any(map(is_array, question.operands))


def find_transformation(framework: str, name: str) -> Transformation:
    """The transformation that a name means: one of the framework's own, such as torch.compile, or
    `module:function`, a function that takes a function and returns one.

    Raises ValueError for an unknown name, ImportError where a module is not there.
    """
    own = known_transformations(framework)
    if name in own:
        return own[name]()
    module, colon, function = name.partition(":")
    if not colon or not function.isidentifier():
        listed = ", ".join(own) or "none"
        raise ValueError(
            f"unknown transformation {name!r}. {framework} has {listed}; your own is written as"
            " module:function."
        )
    transform = getattr(importlib.import_module(module), function, None)
    if not callable(transform):
        raise ValueError(f"{module} has no function {function!r}.")
    return Transformation(
        name,
        lambda f, arrays: transform(f)(*arrays),
        f"{module}.{function}({{f}})({{arrays}})",
        f"import {module}",
    )


def known_transformations(framework: str) -> dict[str, Callable[[], Transformation]]:
    """The transformations of a framework by name. None of them is imported for this."""
    stem = framework.replace("-", "_")
    if stem not in [file.name for file in pkgutil.iter_modules(frameworks.__path__)]:
        return {}
    module = importlib.import_module(f"{frameworks.__name__}.{stem}")
    return cast("dict[str, Callable[[], Transformation]]", module.TRANSFORMATIONS)
