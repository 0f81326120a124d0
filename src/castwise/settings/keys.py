"""The keys of [tool.castwise]."""

from __future__ import annotations

from typing import NamedTuple

# What a key takes, and how to say so.
TEXT, TEXTS, FLAG, FILE, AMOUNT = "a text", "a list of texts", "true or false", "a file", "a size"


class Key(NamedTuple):
    """A key, and the commands whose default it is. Others leave it alone."""

    name: str
    takes: str
    commands: tuple[str, ...]
    about: str
    default: str | bool | int | tuple[str, ...] | None = None


_AUDIT = ("audit",)
ASKING = ("explain", "resolve", "table", "lattice")  # the commands that are about one dialect

KEYS = {
    key.name: key
    for key in (
        Key("include", TEXTS, ("audit", "port"), "packages to audit too", ()),
        Key("dialect", TEXT, ASKING, "the dialect of a command that names none"),
        Key("target", TEXT, _AUDIT, "what the program is meant to compute in"),
        Key("fail-on", TEXTS, _AUDIT, "hazards that make an audit fail; any is every finding", ()),
        Key("ignore", TEXTS, _AUDIT, "hazards that are accepted everywhere", ()),
        Key("baseline", FILE, _AUDIT, "the file with the findings that are accepted"),
        Key("min-bytes", AMOUNT, _AUDIT, "findings with smaller results are hidden", 0),
        Key("all", FLAG, _AUDIT, "whether expected casts are listed too", False),
        Key("deep", FLAG, _AUDIT, "whether libraries and backward passes are audited", False),
        Key("check-values", FLAG, _AUDIT, "whether lost values are looked for", False),
        Key("compiled", FLAG, _AUDIT, "whether compiled functions run uncompiled, too", False),
        Key("try-fixes", FLAG, _AUDIT, "whether fixes are tried in further runs", False),
        Key("json", FILE, _AUDIT, "where the findings go as JSON"),
        Key("sarif", FILE, _AUDIT, "where the findings go as SARIF"),
        Key("html", FILE, _AUDIT, "where the findings go as a web page"),
        Key("save", FILE, _AUDIT, "where the operations go for castwise port"),
        Key("enforce", TEXT, _AUDIT, "the dialect whose refusals are raised"),
        Key("differs", TEXT, _AUDIT, "raise or report, where it gives another dtype", "report"),
        Key("allow", TEXTS, _AUDIT, "ops and lines that are not enforced", ()),
        Key("enforceable", FLAG, _AUDIT, "whether cw.enforce checks imported modules", False),
    )
}
