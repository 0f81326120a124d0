"""How each framework is asked, a file per framework, and which of them is asked under a name.

A file has `recorder`, what asks the framework for dtypes; and where it can, `values_recorder`, what
asks for values, `speaker`, what runs programs in it, and `TRANSFORMATIONS`, its own compilers,
exporters, tracers and batchers by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, cast

from castwise.conformance.programs import Framework
from castwise.conformance.recorder import Recorder, ValueRecorder
from castwise.conformance.transformations import Transformation


def frameworks() -> tuple[str, ...]:
    """The names of the frameworks there is a recorder for, installed or not."""
    return tuple(f.name.replace("_", "-") for f in pkgutil.iter_modules(__path__))


def find_recorder(framework: str, mode: str = "") -> Recorder:
    """The recorder of a framework in a mode such as "default_float=float64".

    Raises ImportError where the framework is not installed, ValueError where there is no
    recorder for it.
    """
    recorder = cast(Recorder, _recorder_class(framework)(mode))
    recorder.scope = recorder.scope.without(_lacking(recorder))
    return recorder


def _lacking(recorder: Recorder) -> set[str]:
    """The dtypes that a recorder asks about and the installed version does not have."""
    lacking = set()
    with recorder.session():
        for dtype in (*recorder.scope.dtypes, *recorder.scope.rare):
            try:
                recorder.make(f"{dtype}[3]")
            except Exception:  # an attribute, a type or a value that is not there
                lacking.add(dtype)
    return lacking


def recorded_dialects(framework: str) -> tuple[str, ...]:
    """The dialects a framework can be asked about, which need not be installed for this.

    Raises ValueError where there is no recorder for it.
    """
    return cast("tuple[str, ...]", _recorder_class(framework).dialects)


def find_value_recorder(framework: str, mode: str = "") -> ValueRecorder:
    """The recorder of a framework's values in a mode.

    Raises ImportError where the framework is not installed, ValueError where none records it.
    """
    known = valued_frameworks()
    if framework not in known:
        raise ValueError(f"no values are recorded of {framework!r}, only of {', '.join(known)}.")
    return cast(ValueRecorder, _framework_file(framework).values_recorder(mode))


def valued_frameworks() -> tuple[str, ...]:
    """The frameworks whose values can be recorded, installed or not."""
    return tuple(name for name in frameworks() if hasattr(_framework_file(name), "values_recorder"))


def find_speaker(framework: str, mode: str = "") -> Framework:
    """The speaker of a framework in a mode.

    Raises ImportError where it is not installed, ValueError where no programs run in it.
    """
    known = program_frameworks()
    if framework not in known:
        raise ValueError(f"no programs run in {framework!r}, only in {', '.join(known)}.")
    return cast(Framework, _framework_file(framework).speaker(mode))


def program_frameworks() -> tuple[str, ...]:
    """The frameworks in which programs can run, installed or not."""
    return tuple(name for name in frameworks() if hasattr(_framework_file(name), "speaker"))


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
    if framework not in frameworks():
        return {}
    return getattr(_framework_file(framework), "TRANSFORMATIONS", {})


def _recorder_class(framework: str) -> Any:
    if framework not in frameworks():
        raise ValueError(f"no recorder for {framework!r}; there are {', '.join(frameworks())}.")
    return _framework_file(framework).recorder


def _framework_file(framework: str) -> Any:
    """The module that asks a framework; it imports the framework only when it asks."""
    return importlib.import_module(f"{__name__}.{framework.replace('-', '_')}")
