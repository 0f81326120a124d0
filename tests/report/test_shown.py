"""How results show themselves: in a line, as the command line's text, and as HTML."""

from __future__ import annotations

import copy
import functools
import pickle
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from shown_program import scaled

import castwise as cw
from castwise.auditing.blocks import AuditLog
from castwise.cli.main import main
from castwise.comparing.diff import Distance, Distances
from castwise.comparing.table import lattice
from castwise.report.audit import audit_text
from castwise.report.showing import _CARDS, _TEXTS
from castwise.showing import Shown

NASTY = "<script>alert('&')</script>"


@functools.cache
def log() -> AuditLog:
    with cw.audit() as found:
        scaled(np.ones(3, "float32"))
    return found


def model(x: Any, y: Any) -> Any:
    return (x + y) * 2


def graph() -> cw.Graph:
    return cw.trace(model, "int32[n]", "float16[n]", dialect="torch")


def casts(dtype: str = "float32") -> Any:
    with cw.count_casts() as found:
        cw.asarray([1, 2], dtype="int32") + cw.asarray([3, 4], dtype=dtype)
    return found


RESULTS = {
    "decision": lambda: cw.resolve("add", "int32[3]", 5.5, dialect="torch"),
    "long decision": lambda: cw.resolve("concat", *["int8[3]", "float64[3]"] * 40),
    "long number": lambda: cw.resolve("add", "float64[3]", 10**300),
    "question": lambda: cw.resolve("add", "int32[3]", 5.5, dialect="torch").question,
    "op": lambda: cw.resolve("add", "int32[3]", 5.5, dialect="torch").question.op,
    "explanation": lambda: cw.explain("int32[3] + 5.5", dialect="torch"),
    "refusal": lambda: cw.explain("bool[3] - bool[3]", dialect="torch"),
    "casts": lambda: casts(),
    "no casts": lambda: casts("int32"),
    "dialect": lambda: cw.dialect("torch"),
    "variation": lambda: cw.dialect("torch").vary(about=NASTY * 30),
    "table": lambda: cw.table("add", "torch"),
    "unary table": lambda: cw.table("exp", "jax"),
    "diff": lambda: cw.diff("numpy@1", "numpy", op="add"),
    "equal": lambda: cw.diff("torch", "torch@2.1", op="add"),
    "group": lambda: cw.diff("numpy@1", "numpy", op="add").groups[0],
    "difference": lambda: cw.diff("numpy@1", "numpy", op="add").groups[0].differences[0],
    "lattice": lambda: lattice("jax"),
    "distances": lambda: Distances(
        ("add",), ("torch", "jax"), {frozenset({"torch", "jax"}): Distance(9, 4)}
    ),
    "graph": graph,
    "simplification": lambda: graph().simplify(),
    "redialect": lambda: graph().redialect("numpy"),
    "change of an op": lambda: graph().redialect("numpy").changes[0],
    "log": log,
    "empty log": cw.audit,
    "audit": lambda: log().audit,
    "finding": lambda: log().findings[0],
    "origin": lambda: log().audit.origins[0],
    "fix": lambda: log().audit.origins[0].fixes[0],
    "plan": lambda: log().audit.origins[0].plan,
    "operation": lambda: log().findings[0].operation,
    "coverage": lambda: log().coverage,
    "seen": lambda: log().seen,
    "port": lambda: log().port("paddle"),
    "change of a port": lambda: log().port("paddle").changes[0],
}  # fmt: skip
# Parts that people meet in a list or as an attribute; a line is enough for them.
PARTS = [
    "question", "op", "group", "difference", "change of an op", "fix", "plan", "operation",
    "coverage", "seen", "change of a port",
]  # fmt: skip
SHOWN = [name for name in RESULTS if name not in PARTS]


@functools.cache
def result(name: str) -> Any:
    return RESULTS[name]()


@pytest.mark.parametrize("name", RESULTS)
def test_a_repr_is_a_line_or_two(name: str) -> None:
    told = repr(result(name))
    assert told.startswith(f"{type(result(name)).__name__}(")
    assert told.count("\n") <= 1
    assert len(told) <= 200


def test_reprs_say_what_matters() -> None:
    told = [repr(result(name)) for name in ("decision", "explanation", "dialect", "diff")]
    assert told == [
        "Decision(int32[3] + 5.5 in torch -> float32, casts int32 -> float32, loses-precision)",
        "Explained(int32[3] + 5.5 in torch: The result is float32. print() shows the steps)",
        "Dialect('torch', PyTorch, version 2.13, 21 dtypes)",
        "Diff(numpy@1 vs numpy: 270 of 1,875 questions about add differ for 25 reasons)",
    ]
    told = [repr(result(name)) for name in ("table", "graph", "log", "port")]
    assert told == [
        "Table(row + column in torch, 525 answers, 245 refused)",
        "Graph(model(x: int32[n], y: float16[n]) -> float16[n] under torch, 8 nodes, 3 casts)",
        "AuditLog(2 findings in 4 operations, caused by 2 lines)",
        "Port(numpy to paddle, 2 changes (1 refused, 1 other dtype), 2 operations unchanged)",
    ]


class Page(HTMLParser):
    """What a browser would make of HTML: whether tags match, and what it loads or runs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.classes: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        addresses = [given.get(name) or "" for name in ("src", "href", "action", "xlink:href")]
        self.loads += [where for where in addresses if where and not where.startswith("#")]
        self.loads += [tag] if tag in ("script", "link", "iframe", "img") else []
        self.loads += [name for name in given if name.startswith("on")]
        self.classes += (given.get("class") or "").split() if not self.open else []
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SHOWN)
def test_html_is_whole_and_loads_nothing(name: str) -> None:
    html = result(name)._repr_html_()
    page = Page(html)
    assert page.open == []
    assert page.classes == ["castwise", "card"]  # one element, which holds all the others
    assert page.loads == []
    assert set(re.findall(r"https?://[^\"' ]+", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert NASTY not in html


def test_users_text_is_escaped() -> None:
    escaped = "&lt;script&gt;"
    for name in ("variation", "log", "port"):
        assert escaped in result(name)._repr_html_(), name


def test_the_style_is_about_the_result_alone() -> None:
    style = re.findall("<style>(.*?)</style>", result("decision")._repr_html_(), re.DOTALL)
    rules = re.sub(r"@media [^{]+|/\*.*?\*/", "", style[0])
    selectors = [s.strip() for s in re.findall(r"([^{}]+)\{", rules)]
    each = [part.strip() for s in selectors if s for part in s.split(",")]
    assert len(each) > 50
    assert [part for part in each if ".castwise.card" not in part] == []


COMMANDS = {
    "decision": ["explain", "torch", "int32[3] + 5.5"],
    "table": ["table", "torch"],
    "diff": ["diff", "numpy@1", "numpy", "--op", "add"],
    "lattice": ["lattice", "jax"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_result_prints_as_its_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(COMMANDS[name])
    assert f"{result(name)}\n" == capsys.readouterr().out


def test_a_dialect_prints_as_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["dialects"])
    listed = " ".join(capsys.readouterr().out.split())
    assert " ".join(str(cw.dialect("torch")).split()) in listed
    bare = cw.dialect("torch:default_float=float64:cap_float=32:promote_64=False").vary(about="")
    assert str(bare).startswith(bare.name)


def test_an_audit_prints_as_its_command() -> None:
    assert str(log()) == str(log().audit) == audit_text(log().audit)
    assert f"1. {log().audit.origins[0]}\n\n2. " in str(log())


def test_an_explanation_is_still_a_text() -> None:
    told = cw.explain("int32[3] + 5", dialect="torch")
    assert isinstance(told, str)
    assert told + "" == str(told)
    for again in (pickle.loads(pickle.dumps(told)), copy.copy(told)):
        assert again == told
        assert repr(again) == repr(told)


def test_every_class_that_is_shown_has_its_report() -> None:
    assert {cls.__name__ for cls in Shown.__subclasses__()} == set(_TEXTS)
    assert set(_TEXTS) <= set(_CARDS) <= {type(result(name)).__name__ for name in SHOWN}


def test_a_long_diff_shows_its_progress_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castwise.progress._PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    cw.diff("torch", "torch@2.1", op="add")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    cw.diff("torch", "torch@2.1", op="add")
    told = capsys.readouterr()
    assert "Comparing torch and torch@2.1" in told.err
    assert told.err.endswith("\x1b[2K")  # the last line is erased
    assert told.out == ""
