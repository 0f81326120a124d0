"""What the page knows besides answers: dtypes, ops, dialects, and the bounds between values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from castwise import __version__
from castwise.compare.lattice import lattice_data
from castwise.drawing.shades import shade
from castwise.engine.decision import HAZARDS
from castwise.engine.plan import reach_of
from castwise.report.explorer.groups import Asked, forms_of
from castwise.report.explorer.kinds import COMMON_DTYPES, weak_dtypes
from castwise.report.explorer.packing import chunk_of
from castwise.report.lattice.svg import lattice_svg
from castwise.report.table.text import short_name
from castwise.rules.dialect import Dialect
from castwise.rules.recorded import recorded_cells
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.operands import EXACT_VALUES, NAN_CLASS, VALUE_BOUNDS
from castwise.vocab.ops import OPS, Op
from castwise.vocab.spellings import SCALAR_TYPES, SPELLINGS


def facts(dialects: Iterable[Dialect]) -> dict[str, Any]:
    """All of it, as JSON."""
    chosen = list(dialects)
    return {
        "version": __version__,
        "dtypes": {d.name: _dtype(d) for d in DTYPES},
        "common": [d.name for d in COMMON_DTYPES],
        "spellings": _spellings(),
        "ops": {op.name: _op(op) for op in OPS.values()},
        "names": _names(chosen),
        "hazards": HAZARDS,
        "bounds": [_number(bound) for bound in VALUE_BOUNDS],
        "exact": [[value, place] for value, place in EXACT_VALUES.items()],
        "nan": NAN_CLASS,
        "dialects": {dialect.name: _dialect(dialect) for dialect in chosen},
    }


def _number(value: float) -> float | str:
    """A number as JSON has it, which knows no infinity."""
    return value if math.isfinite(value) else str(value)


def _dtype(dtype: DType) -> dict[str, Any]:
    is_whole = dtype.kind in ("bool", "int")
    return {
        "kind": dtype.kind,
        "short": short_name(dtype),
        "shade": shade(dtype),
        # As text: JSON's numbers do not hold the limits of 64 bits.
        "limits": [str(int(dtype.min)), str(int(dtype.max))] if is_whole else [],
    }


def _spellings() -> dict[str, str]:
    """How frameworks write dtypes, such as torch.half: the text and the dtype."""
    found = {
        f"{prefix}.{word}": name
        for prefix, words in SPELLINGS.items()
        for word, name in words.items()
    }
    plain = {f"{prefix}.{d}": d.name for prefix in SPELLINGS for d in DTYPES}
    return plain | found | SCALAR_TYPES


def _op(op: Op) -> dict[str, Any]:
    low, high = op.arity
    found: dict[str, Any] = {
        "family": op.family,
        "arity": [low, min(high, 3)],
        "forms": {form: chunk_of(Asked(op, form)) for form in forms_of(op)},
        "symbol": op.symbol,
        "operands": list(op.call.operands),
    }
    flags = {
        "conditionFirst": op.is_condition_first,
        "countsDimensions": op.shapes.counts_dimensions,
        "countsElements": op.shapes.counts_elements,
        "comparesDimensions": op.shapes.counts_dimensions and op.index is not None,
    }
    return found | {name: True for name, is_set in flags.items() if is_set}


def _names(dialects: Iterable[Dialect]) -> dict[str, str]:
    """What frameworks call ops, with their prefixes and without: `np.multiply` is mul."""
    found: dict[str, str] = {}
    for dialect in dialects:
        for name, aliases in dialect.naming.aliases.items():
            for alias in aliases.split():
                found.setdefault(alias, name)
                for prefix in dialect.naming.prefixes.split():
                    found[f"{prefix}.{alias}"] = name
    return {alias: name for alias, name in found.items() if name in OPS and alias not in OPS}


def _dialect(dialect: Dialect) -> dict[str, Any]:
    naming = dialect.naming
    return {
        "framework": dialect.framework,
        "version": dialect.version,
        "about": dialect.about,
        "evidence": dialect.evidence.source,
        "cells": recorded_cells().get(dialect.name, {}),
        "unrecorded": list(dialect.unrecorded),
        "dtypes": [d.name for d in dialect.dtypes],
        "weak": [d.name for d in weak_dtypes(dialect)],
        "cast": naming.cast,
        "boolName": naming.bool_name,
        "reaches": reaches(dialect),
    }


def reaches(dialect: Dialect) -> dict[str, list[str]]:
    """What each dtype and weak node of a dialect reaches, besides itself."""
    reach = reach_of(dialect)
    return {
        source.name: [t.name for t in reach.order if t is not source and reach.reaches(source, t)]
        for source in reach.order
    }


def lattice_pictures(dialects: Iterable[Dialect]) -> dict[str, str]:
    """The lattice of each dialect, as an SVG picture."""
    return {dialect.name: lattice_svg(lattice_data(dialect)) for dialect in dialects}
