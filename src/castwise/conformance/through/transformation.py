"""What a transformation is, and where it is found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from castwise.conformance.grid import GridQuestion
from castwise.conformance.through import frameworks

Function = Callable[..., Any]  # of arrays; it returns one result, or a list of them
TOGETHER = 64  # questions in one transformed function, where the transformation says nothing


@dataclass(frozen=True)
class Transformation:
    """What makes another function of a function, and how it is asked."""

    name: str  # as a user names it: torch.compile
    # Transforms a function and calls it with arrays. An error in the place of a result is the
    # answer to that question alone; one that is raised is found by asking fewer.
    run: Callable[[Function, Sequence[Any]], Any]
    # How a program writes it, with {f} for a function and {arrays} for what it is called with;
    # nothing where that takes more than a line.
    written: str
    imports: str = ""  # what that program imports besides the framework
    together: int = TOGETHER  # how many questions share one transformation
    # The error with which it refuses a function before it compiles anything, found at little cost;
    # what it refuses so is not asked together with other questions.
    declines: Callable[[Function, Sequence[Any]], Exception | None] = lambda function, arrays: None
    computes: bool = True  # whether results hold values
    leaves_out: Callable[[GridQuestion], bool] = lambda question: False  # what it cannot be asked
    packages: tuple[str, ...] = ()  # besides the framework, those whose versions matter


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
