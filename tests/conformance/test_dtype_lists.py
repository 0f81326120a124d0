"""Every dialect has the dtypes its framework takes; checked if the framework is installed."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import pytest

from castwise.catalog import dialect_named
from castwise.comparing.verify import unequal_dtypes
from castwise.conformance.questions import Scope
from castwise.conformance.recorder import dtypes_taken
from castwise.conformance.recorders import find_recorder, frameworks, recorded_dialects
from castwise.vocab.dtypes import DTYPES

DIALECTS = [name for framework in frameworks() for name in recorded_dialects(framework)]
# What a dialect has and the function that is asked does not take, by framework, and why.
NOT_TAKEN = {
    "keras": ("float8_e4m3fn float8_e5m2", "its result_type refuses what its layers compute in"),
    "paddle": ("uint16 uint32 uint64", "3.2 has no such tensors; the dialect is that of 3.3"),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_has_the_dtypes_its_framework_takes(name: str) -> None:
    dialect = dialect_named(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what some framework says when it is imported
            recorder = find_recorder(dialect.framework, dialect.mode)
    except (ImportError, ValueError) as error:  # it is not installed, or there is no GPU
        pytest.skip(str(error))
    if recorder.dialect != name:
        pytest.skip(f"what is installed here speaks {recorder.dialect}")
    found = unequal_dtypes(dialect, recorder)
    allowed = NOT_TAKEN.get(dialect.framework, ("", ""))[0].split()
    assert found.missing == ()
    assert set(found.not_taken) <= set(allowed)
    assert {d.name for d in dialect.dtypes} == {*recorder.scope.dtypes, *recorder.scope.rare}


class _Taking(NamedTuple):
    """A framework of two dtypes, which also stores a third that takes part in nothing."""

    scope: Scope
    name: str = "mine"

    def make(self, notation: str) -> str:
        found = notation.removesuffix("[3]")
        if found not in ("bool", "int8", "int4", "float8_e5m2"):
            raise AttributeError(found)
        return found

    def call(self, op: str, form: str, operands: list[str]) -> str:
        if operands[-1] == "int4":
            raise TypeError
        return operands[-1]

    def dtype_of(self, result: str) -> str:
        return "no-kernel:float8_e5m2" if result == "float8_e5m2" else result

    def classify(self, error: Exception) -> str | None:
        return "!" if isinstance(error, TypeError) else None

    def session(self) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.mark.parametrize(
    ("op", "taken"),
    [("promote_types", "bool int8 float8_e5m2"), ("where", "bool int8"), ("add", "")],
)
def test_what_is_refused_or_runs_nowhere_is_not_taken(op: str, taken: str) -> None:
    """A dtype that promote_types gives back is taken; one that no op runs in is only stored."""
    recorder = _Taking(Scope(dtypes=("bool", "int8"), forms={op: ("function",)}))
    names = [dtype.name for dtype in DTYPES]
    found = dtypes_taken(recorder, names)  # type: ignore[arg-type]
    assert sorted(found) == sorted(taken.split())
