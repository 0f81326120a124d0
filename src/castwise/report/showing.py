"""Which report shows which result: looked up by name, so that only what is shown is loaded."""

from __future__ import annotations

import importlib

# The class of a result -> the functions that write its text and its HTML, in castwise.report.
_REPORTS = {
    "Audit": ("audit.cards.audit_words", "audit.cards.audit_card"),
    "AuditLog": ("audit.cards.log_words", "audit.cards.log_card"),
    "Decision": ("answers.explanation.decision_text", "answers.cards.decision_card"),
    "Dialect": ("dialect_list.dialect_text", "dialect_list.dialect_card"),
    "DtypeOrigin": ("audit.cards.origin_words", "audit.cards.origin_card"),
    "Explained": ("", "answers.cards.explained_card"),
    "Finding": ("", "audit.cards.finding_card"),
    "Graph": ("", "graphs.graph_card"),
    "Port": ("port.text.port_text", "port.cards.port_card"),
    "Redialect": ("", "graphs.redialect_card"),
    "Simplification": ("", "graphs.simplification_card"),
}


def written(format_: str, thing: object) -> str:
    """A result as "text" or as "html"."""
    text, html = next(_REPORTS[c.__name__] for c in type(thing).__mro__ if c.__name__ in _REPORTS)
    module, _, name = (text if format_ == "text" else html).rpartition(".")
    report = getattr(importlib.import_module(f"castwise.report.{module}"), name)
    made: str = report(thing)
    return made
