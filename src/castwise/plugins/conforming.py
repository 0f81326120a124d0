"""`pytest --castwise-conform module:function`: a compiler's dtypes as tests, one for each op."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from castwise.catalog.dialects import dialect_named
from castwise.comparing.verify import NOT_ABOUT_DTYPES, Difference, compare_through, prepared
from castwise.conformance.recorder import Recorder
from castwise.conformance.transformations import Transformation, questions_through
from castwise.report.verify import through_text

Known = tuple[str, ...]  # a difference in a baseline: op, form, operands, both answers


class Baseline:
    """The differences that are accepted, by a file, and those that were found."""

    def __init__(self, file: Path | None, *, is_written: bool) -> None:
        self._file, self._is_written = file, is_written
        self._found: set[Known] = set()
        self._accepted: set[Known] = set()
        if file and not is_written:
            self._accepted = {tuple(row) for row in json.loads(file.read_text("utf-8"))}

    def new(self, differences: Iterable[Difference]) -> list[Difference]:
        """Those that the file does not accept; none where it is being written."""
        found = {known(one): one for one in differences}
        self._found |= found.keys()
        if self._is_written:
            return []
        return [one for name, one in found.items() if name not in self._accepted]

    def write(self) -> None:
        """Writes the file, if that was asked for."""
        if self._file and self._is_written:
            rows = ",\n".join(json.dumps(row) for row in sorted(self._found))
            self._file.write_text(f"[\n{rows}\n]\n" if rows else "[]\n", encoding="utf-8")


def known(one: Difference) -> Known:
    """A difference as a baseline has it."""
    op, form, operands = one.found.question
    return op, form, ";".join(operands), one.found.plain, one.found.answer


class _DifferentError(Exception):
    """What differs in an op, to be shown as the failure of its test."""


class ConformanceItem(pytest.Item):
    """The test of an op: the transformed function answers as the framework itself."""

    def __init__(
        self,
        *,
        recorder: Recorder,
        transformation: Transformation,
        baseline: Baseline,
        most: int | None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._recorder, self._transformation = recorder, transformation
        self._baseline, self._most = baseline, most

    def runtest(self) -> None:
        asked = questions_through(self._recorder, [self.name], self._most)
        found = compare_through(self._recorder, self._transformation, asked)
        about_dtypes = [one for one in found.differences if one.kind not in NOT_ABOUT_DTYPES]
        new = self._baseline.new(about_dtypes)
        if new:
            raise _DifferentError(through_text(replace(found, differences=tuple(new))))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, _DifferentError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        name = f"{self._recorder.name} through {self._transformation.name}: {self.name}"
        return self.path, None, name


def conformance_items(
    session: pytest.Session, through: str, dialect: str, most: int | None, baseline: Baseline
) -> list[ConformanceItem]:
    """A test for each op that the framework of a dialect has.

    Raises UsageError where the framework or the transformation is not there.
    """
    recorder, transformation = prepared(dialect_named(dialect), through)
    ops = dict.fromkeys(question.op for question in questions_through(recorder, None, 1))
    return [
        ConformanceItem.from_parent(
            session,
            name=op,
            nodeid=f"{through}::{op}",
            recorder=recorder,
            transformation=transformation,
            baseline=baseline,
            most=most,
        )
        for op in ops
    ]
