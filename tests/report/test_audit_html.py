"""The page: self-contained, well-formed, with every finding in the table and at its line."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from castwise.report.audit_page import audit_html, lines_html
from report_example import PIPELINE, audited, line_of, pipeline

EMPTY = {"meta", "br", "link", "img", "input"}


class Page(HTMLParser):
    """What a browser would make of a page: its ids, links and cells, and whether tags match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        self.loaded += [given["src"] or ""] if "src" in given else []
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_well_formed_and_its_links_lead_somewhere() -> None:
    page = Page(audit_html(pipeline()))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_the_page_loads_nothing() -> None:
    text = audit_html(pipeline())
    assert Page(text).loaded == []
    addresses = set(re.findall(r"https?://[^\"' ]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_says_what_the_text_says() -> None:
    text = Page(audit_html(pipeline())).text
    assert "4 findings in 135 operations, caused by 1 line, cost 302 MB." in text
    assert "+ scaled = np.divide(image, 255, dtype=np.float32)" in text
    assert "Seen: " in text


def test_every_finding_has_a_row_and_a_note() -> None:
    text = audit_html(pipeline())
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr>") == 4
    assert text.count('class="note"') == 4
    assert text.count('class="note begin"') == 1


def test_the_source_stands_there_with_its_costs() -> None:
    text = audit_html(pipeline())
    line = line_of("image / 255", PIPELINE)
    found = re.search(
        rf'<b>{line}</b><i>(.*?)</i><span>(.*?)</span></div>(<div class="note)?', text
    )
    assert found is not None
    assert found[1] == "75.5 MB"
    assert re.sub("<.*?>", "", found[2]).strip() == "scaled = image / 255"
    assert found[3]


def test_bars_are_as_long_as_their_bytes() -> None:
    text = audit_html(pipeline())
    by_line = text.partition("Cost by line")[2].partition("</svg>")[0]
    lengths = [float(width) for width in re.findall(r'width="([\d.]+)" height', by_line)]
    assert lengths[0] == pytest.approx(2 * lengths[1], rel=0.01)  # two of the four on one line
    assert len(lengths) == 3


def test_source_is_escaped(tmp_path: Path) -> None:
    program = "bias = np.zeros(100)\ny = x + bias  # <script>alert('&')</script>\n"
    text = audit_html(audited(program, tmp_path))
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_a_page_without_findings_tells_the_coverage(tmp_path: Path) -> None:
    page = Page(audit_html(audited("y = x + x\n", tmp_path)))
    assert page.open == []
    assert "No findings in 3 operations on arrays." in page.text
    assert "<h2>Source" not in page.text


def test_lines_of_a_source_that_is_no_python_stay() -> None:
    assert lines_html('a = (1 <\n"""open')[0].startswith("a = (")
    assert len(lines_html("def f(:\n  ''\n\n")) == 3


def test_strings_over_several_lines_are_marked_on_each() -> None:
    assert lines_html('"""a\nb"""') == [
        '<span class="s">&quot;&quot;&quot;a</span>',
        '<span class="s">b&quot;&quot;&quot;</span>',
    ]
