"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

import importlib
import pkgutil
import sys

from castwise.arrays.backends import backend_names, when_found

# library -> the file beside this one that registers tensors with it
_REGISTERING = {
    file.name.partition("_")[0]: file.name
    for file in pkgutil.iter_modules(__path__)
    if file.name.startswith(tuple(f"{name}_" for name in backend_names()))
}


def _introduce_tensors(library: str) -> None:
    """Registers tensors with a library that needs it."""
    if library in _REGISTERING:
        importlib.import_module(f"{__name__}.{_REGISTERING[library]}").introduce()


when_found(_introduce_tensors)
for _library, _file in _REGISTERING.items():
    if _file.endswith("_compiled") and _library in sys.modules:
        _introduce_tensors(_library)  # compiled code may make the first tensor
