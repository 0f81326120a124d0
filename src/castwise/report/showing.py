"""Which report shows which result: looked up by name, so that only what is shown is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

# The class of a result -> the function in castwise.report that writes it.
_TEXTS = {
    "Audit": "audit_page.audit_words",
    "AuditLog": "audit_page.log_words",
    "Decision": "answers.decision_text",
    "Dialect": "lists.dialect_text",
    "Diff": "diff.diff_text",
    "Distances": "distances.distances_text",
    "DtypeOrigin": "audit_page.origin_words",
    "Lattice": "lattice.lattice_text",
    "Port": "port.port_text",
    "Table": "table.table_text",
}
_CARDS = {
    "Audit": "audit_page.audit_card",
    "AuditLog": "audit_page.log_card",
    "CastCounts": "cards.counts_card",
    "Decision": "answers.decision_card",
    "Dialect": "lists.dialect_card",
    "Diff": "diff.diff_card",
    "Distances": "distances.distances_card",
    "DtypeOrigin": "audit_page.origin_card",
    "Explained": "answers.explained_card",
    "Finding": "audit_page.finding_card",
    "Graph": "cards.graph_card",
    "Lattice": "lattice.lattice_card",
    "Port": "port.port_card",
    "Redialect": "cards.redialect_card",
    "Simplification": "cards.simplification_card",
    "Table": "table.table_card",
}


def report_text(result: object) -> str:
    """A result as the command line prints it."""
    return _written(_TEXTS, result)


def report_html(result: object) -> str:
    """A result as a notebook shows it."""
    return _written(_CARDS, result)


def _written(writers: Mapping[str, str], result: object) -> str:
    classes = [cls.__name__ for cls in type(result).__mro__]
    module, _, name = next(writers[cls] for cls in classes if cls in writers).rpartition(".")
    written: str = getattr(importlib.import_module(f"castwise.report.{module}"), name)(result)
    return written
