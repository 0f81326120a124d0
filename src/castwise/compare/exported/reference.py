"""The function that a model was exported from, in a file of the user's."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from castwise.errors import UsageError, did_you_mean
from castwise.execute.backend import Backend, backend_named, backend_names, backend_of
from castwise.execute.backends import DEFAULT
from castwise.vocab.live import to_dtype


class Reference(NamedTuple):
    """A function, and the arrays it is called with."""

    name: str  # as it was given, file.py:function
    function: Callable[..., Any]
    backend: Backend


def load_reference(name: str, framework: str | None = None) -> Reference:
    """The function of `file.py:function`; an object that can be called does as well.

    Its arrays are those of the first array library that the file imports besides NumPy, or of the
    framework that is named.

    Raises UsageError where the file or the function is not there.
    """
    path, _, function = name.rpartition(":")
    file = Path(path)
    if not path or not function.isidentifier():
        raise UsageError(f"{name!r} names no function: write FILE.py:FUNCTION.")
    if not file.is_file():
        raise UsageError(f"{file} is not there.")
    module = _imported(file)
    found = getattr(module, function, None)
    if found is None:
        raise UsageError(f"{file} has no {function!r}.{did_you_mean(function, vars(module))}")
    if not callable(found) or isinstance(found, type):
        raise UsageError(f"{function!r} of {file} is not a function: it cannot be called.")
    return Reference(name, found, backend_named(framework or _imports(file)))


def called(reference: Reference, arrays: Sequence[Any]) -> list[Any]:
    """What the function returns for NumPy arrays, as NumPy arrays.

    Raises UsageError where it raises, or returns something that is not an array.
    """
    backend = reference.backend
    given = [backend.make(x, to_dtype(x.dtype), copy=True, device=None) for x in arrays]
    _check_count(reference, len(given))
    try:
        results = reference.function(*given)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{reference.name} raises with the model's inputs: {said}") from error
    return [_to_numpy(result, reference) for result in _listed(results)]


def _check_count(reference: Reference, count: int) -> None:
    try:
        inspect.signature(reference.function).bind(*[None] * count)
    except TypeError as error:
        inputs = f"{count} input{'s' * (count != 1)}"
        raise UsageError(f"{reference.name} does not take the model's {inputs}: {error}.") from None
    except ValueError:  # a function that does not tell its parameters
        return


def _listed(results: Any) -> list[Any]:
    if isinstance(results, Mapping):
        return list(results.values())
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _to_numpy(result: Any, reference: Reference) -> Any:
    import numpy as np

    backend = backend_of(result)
    if backend is None:
        raise UsageError(f"{reference.name} returns a {type(result).__name__}, not an array.")
    return np.asarray(backend.to_numpy(result))


def _imported(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent.resolve()))  # for what lies beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _imports(file: Path) -> str:
    """The first array library that a file imports besides the default one."""
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    modules: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
    roots = [module.partition(".")[0] for module in modules]
    return next((r for r in roots if r in backend_names() and r != DEFAULT), DEFAULT)
