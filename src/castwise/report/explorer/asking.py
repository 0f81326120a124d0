"""Asks the engine for every answer that the page of a dialect can show, and keeps each once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any, NamedTuple

from castwise.engine.decide import told
from castwise.engine.decision import HAZARDS, Cast, Decision, cast_text, result_text
from castwise.errors import UsageError
from castwise.report.explorer.groups import Asked, marked
from castwise.report.explorer.kinds import Kind
from castwise.report.explorer.sentences import Templates
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

_HAZARDS = list(HAZARDS)
# What is filled in with the same text for two 0-d arrays of one dtype.
_OF_ARRAYS = re.compile(r"\{(?:size|role) \d\}")


class Table(NamedTuple):
    """The answers for all combinations of some kinds of operands."""

    axes: tuple[tuple[str, ...], ...]  # the keys of the kinds in each place
    cells: array[int]  # the numbers of the answers


class Answers:
    """The answers of a dialect, each different one once."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._templates: dict[object, Templates] = {}
        self.sentences: dict[str, int] = {}
        self.steps: dict[tuple[int, ...], int] = {}  # the numbers of the sentences
        self.answers: dict[tuple[Any, ...], int] = {}
        # Each different cast: its dtypes, what it may cost, and what it does, in words.
        self.casts: dict[tuple[Any, ...], int] = {}

    def table(self, asked: Asked, axes: Sequence[Sequence[Kind]]) -> Table:
        """The answers for all combinations of kinds, the last place changing fastest."""
        said = Asked(marked(asked.op), asked.form)
        keys = tuple([tuple([kind.key for kind in axis]) for axis in axes])
        operands = [[kind.operand(place) for kind in axis] for place, axis in enumerate(axes)]
        rank = asked.op.shapes.counts_dimensions  # an array of a key is written with its sizes
        asks = zip(product(*operands), product(*keys), strict=True)
        cells = [self.number(said, given, (rank, key)) for given, key in asks]
        return Table(keys, array("H", cells))

    def number(self, asked: Asked, operands: tuple[Operand, ...], key: Hashable) -> int:
        """The number of the answer to a question; operands with the same key are the same."""
        if key not in self._templates:
            self._templates[key] = Templates(operands)
        answer = self._answer(asked, operands, self._templates[key])
        return self.answers.setdefault(answer, len(self.answers))

    def without_sizes(self, table: Table) -> list[tuple[Any, ...]]:
        """The answers of a table in words, in which every array is written as a 0-d one."""
        sentences = [_OF_ARRAYS.sub("[]", sentence) for sentence in self.sentences]
        said = [tuple([sentences[number] for number in steps]) for steps in self.steps]
        shown = [(said[a[0]], *a[1:]) if len(a) > 1 else (sentences[a[0]],) for a in self.answers]
        return [shown[number] for number in table.cells]

    def _answer(
        self, asked: Asked, operands: tuple[Operand, ...], templates: Templates
    ) -> tuple[Any, ...]:
        """The answer as the page reads it: steps, then what it decides on, if it does."""
        try:
            found, steps = told(asked.question(self.dialect, operands))
        except UsageError as error:
            return (self._sentence(templates.of(str(error))),)
        decision = found if isinstance(found, Decision) else None
        usual = _usual(decision) if decision else {}
        said = tuple([self._sentence(usual.get(step) or templates.of(step)) for step in steps])
        number = self.steps.setdefault(said, len(self.steps))
        return (number, *self._decided(decision)) if decision else (number, None)

    def _sentence(self, template: str) -> int:
        return self.sentences.setdefault(template, len(self.sentences))

    def _decided(self, decision: Decision) -> tuple[Any, ...]:
        """The result, whether it is weak and runs, what it computes in, and the casts."""
        casts = tuple([self._cast(cast) for cast in decision.casts])
        written = self._cast(decision.result_cast)
        flags = decision.is_weak + 2 * (not decision.has_kernel)
        return _name(decision.result), flags, _name(decision.compute), casts, written

    def _cast(self, cast: Cast | None) -> int:
        """The number of a cast, -1 where there is none."""
        if cast is None:
            return -1
        costs = tuple([_HAZARDS.index(hazard) for hazard in cast.hazards])
        source = cast.source and _name(cast.source)
        fact = (source, _name(cast.target), costs, cast_text(cast))
        return self.casts.setdefault(fact, len(self.casts))


def _usual(decision: Decision) -> dict[str, str]:
    """The sentences that the page makes from the answer itself."""
    casts = dict(enumerate(decision.casts)) | {"result": decision.result_cast}
    said = {f"Cast: {cast_text(cast)}.": f"{{cast {at}}}" for at, cast in casts.items() if cast}
    return {**said, result_text(decision): "{result}"}


def _name(dtype: DType) -> str:
    return dtype.name
