"""The public names: all there, all documented, all loaded lazily."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import castwise

REQUIRED = {
    "resolve", "result_type", "promote_types", "can_cast", "explain", "dialect", "dialects", "use",
    "current", "describe", "dtype", "declare_op", "ops", "table", "diff", "Decision", "Cast",
    "Dialect", "DType", "ImplicitPromotion", "Operand", "Rule", "CastwiseError", "PromotionError",
    "ScalarRangeError", "UsageError", "__version__",
}  # fmt: skip
NAMES = [name for name in dir(castwise) if not name.startswith("__")]


def test_the_names_of_the_design_are_public() -> None:
    assert sorted(REQUIRED - set(dir(castwise))) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_imported_and_is_documented(name: str) -> None:
    value = getattr(castwise, name)
    text = inspect.getdoc(value)
    assert text
    assert text[0].isupper() or text[0] in "`'\""
    assert text.partition("\n\n")[0].endswith(".")
    namespace: dict[str, object] = {}
    exec(f"from castwise import {name}", namespace)
    assert namespace[name] is value


@pytest.mark.parametrize("name", [n for n in NAMES if inspect.isfunction(getattr(castwise, n))])
def test_every_public_function_is_typed_and_shows_an_example(name: str) -> None:
    function = inspect.unwrap(getattr(castwise, name))
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
    if signature.parameters:
        assert ">>>" in (function.__doc__ or "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'castwise' has no attribute 'nope'"):
        _ = castwise.nope
    with pytest.raises(ImportError):
        exec("from castwise import nope")


def test_the_lazy_names_and_those_for_type_checkers_are_the_same() -> None:
    tree = ast.parse(Path(castwise.__file__).read_text(encoding="utf-8"))
    guarded = next(n for n in tree.body if isinstance(n, ast.If))
    seen_by_checkers = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("castwise.")
        for node in guarded.body
        if isinstance(node, ast.ImportFrom) and node.module != "castwise"
        for alias in node.names
    }
    assert seen_by_checkers == castwise._NAMES


def test_all_names_are_listed_once_and_told_in_the_help_text() -> None:
    listed = set(castwise.__all__)
    assert len(castwise.__all__) == len(listed)
    assert listed == {*castwise._NAMES, "array_api", "__version__"}
    told = re.findall(r"^    \S.*?(?:\n {28}.*)*$", castwise.__doc__ or "", re.MULTILINE)
    assert {name for name in listed if any(re.search(rf"\b{name}\b", line) for line in told)} == (
        listed - {"__version__"}
    )


@pytest.mark.parametrize(("name", "where"), castwise._NAMES.items())
def test_a_public_name_is_the_object_of_its_module(name: str, where: str) -> None:
    module, _, attribute = where.rpartition(".")
    own = getattr(importlib.import_module(f"castwise.{module}"), attribute)
    assert getattr(castwise, name) is own


def test_the_version_is_a_release() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(dev|a|b|rc)\d+)?", castwise.__version__)


def test_the_package_is_typed() -> None:
    assert (Path(castwise.__file__).parent / "py.typed").is_file()
