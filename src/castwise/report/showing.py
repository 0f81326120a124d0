"""Which report shows which result: looked up by name, so that only what is shown is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

# The class of a result -> the function in castwise.report that writes it.
_TEXTS = {
    "Audit": "audit.cards.audit_words",
    "AuditLog": "audit.cards.log_words",
    "Decision": "answers.explanation.decision_text",
    "Dialect": "dialect_list.dialect_text",
    "DtypeOrigin": "audit.cards.origin_words",
    "Port": "port.text.port_text",
}
_CARDS = {
    "Audit": "audit.cards.audit_card",
    "AuditLog": "audit.cards.log_card",
    "CastCounts": "cast_counts.counts_card",
    "Decision": "answers.cards.decision_card",
    "Dialect": "dialect_list.dialect_card",
    "DtypeOrigin": "audit.cards.origin_card",
    "Explained": "answers.cards.explained_card",
    "Finding": "audit.cards.finding_card",
    "Graph": "graphs.graph_card",
    "Port": "port.html.port_card",
    "Redialect": "graphs.redialect_card",
    "Simplification": "graphs.simplification_card",
}


def text_of(result: object) -> str:
    """A result as the command line prints it."""
    return _written(_TEXTS, result)


def html_of(result: object) -> str:
    """A result as a notebook shows it."""
    return _written(_CARDS, result)


def _written(writers: Mapping[str, str], result: object) -> str:
    classes = [cls.__name__ for cls in type(result).__mro__]
    module, _, name = next(writers[cls] for cls in classes if cls in writers).rpartition(".")
    written: str = getattr(importlib.import_module(f"castwise.report.{module}"), name)(result)
    return written
