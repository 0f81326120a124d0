"""The explorer as a person uses it: typing, picking, pasting, sharing, on a phone, by keyboard."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from random_questions import RandomQuestions

import castwise as cw
from castwise.catalog import dialect_named
from castwise.engine.ask import question_in
from castwise.engine.decide import outcome_and_steps
from castwise.engine.decision import Decision
from castwise.engine.tracebacks import read_traceback
from conftest import settled
from recorded_messages import recorded

VIEWS = {
    "answers": "#q=uint8[n]+%2B+300&ref=torch&open=numpy,torch,jax",
    "table": "#view=table&dialect=torch&op=add",
    "diff": "#view=diff&a=numpy&b=torch&op=add",
    "lattice": "#view=lattice&dialect=jax&dtype=int32",
    "distances": "#view=distances",
    "embedded": "#q=int32[n]+%2B+5.5&d=numpy,torch&open=torch&embed=1",
}
Opened = Callable[..., Any]


def answer_of(page: Any, dialect: str) -> str:
    return page.locator(f'[data-dialect="{dialect}"] .outcome').inner_text()


def ask(page: Any, text: str) -> None:
    page.locator("#question").fill(text)
    settled(page)


def chosen(page: Any, label: str) -> Any:
    return page.get_by_role("combobox", name=label, exact=True)


def test_it_opens_with_an_answer_of_every_dialect(page: Any) -> None:
    shown = page.locator("button.answer").evaluate_all(
        "all => all.map((one) => one.dataset.dialect)"
    )
    assert sorted(shown) == sorted(page.evaluate("Object.keys(FACTS.dialects)"))
    assert page.locator("#question").input_value() == "int32[n] + 5.5"
    assert answer_of(page, "numpy") == "float64"


def test_typing_shows_answers(page: Any) -> None:
    ask(page, "int8[3] + uint8[3]")
    assert (answer_of(page, "numpy"), answer_of(page, "tensorflow")) == ("int16", "refused")
    ask(page, "torch.sub(bool[3], bool[3])")
    assert answer_of(page, "torch") == "refused"
    ask(page, "float32[n].add_(float64[n])")
    assert answer_of(page, "torch") == "float32"
    ask(page, "float32[n].multiply(np.float64(2.0))")
    assert answer_of(page, "torch") == "float32"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type an op with its operands"),
        ("int33[3] + 1", "There is no dtype int33. Did you mean int32?"),
        ("ad(int8[3], 1)", "There is no op ad here. Did you mean add?"),
        ("int8[3] + 1 + 2", "as one op"),
        ("(int8[3] + 1) * 2", "one op"),
        ("sum(int8[3], dtype=int32)", 'castwise explain numpy "sum(int8[3], dtype=int32)"'),
        ("add(int8[3])", "add takes 2 operands here, not 1."),
        ("<img src=x onerror=alert(1)>", "Cannot read"),
    ],
)
def test_what_cannot_be_read_is_told(page: Any, typed: str, said: str) -> None:
    ask(page, typed)
    assert said in page.locator("#problem").inner_text()
    assert page.locator("button.answer").count() == 0
    ask(page, "int8[3] + 1")
    assert page.locator("#problem").inner_text() == ""
    assert answer_of(page, "numpy") == "int8"


def test_picking_changes_the_question(page: Any) -> None:
    chosen(page, "op").select_option("mul")
    chosen(page, "dtype of x").select_option("uint8")
    chosen(page, "y is").select_option("array")
    chosen(page, "dtype of y").select_option("int8")
    settled(page)
    assert page.locator("#question").input_value() == "uint8[n] * int8[n]"
    chosen(page, "as").select_option("augmented")
    chosen(page, "y is").select_option("number")
    page.get_by_label("value of y").fill("300")
    settled(page)
    assert page.locator("#question").input_value() == "uint8[n] *= 300"
    assert (answer_of(page, "numpy"), answer_of(page, "torch")) == ("refused", "uint8")


@pytest.mark.parametrize("op", ["where", "softmax", "clamp", "einsum", "sum"])
def test_picking_an_op_asks_for_its_operands(page: Any, op: str) -> None:
    chosen(page, "op").select_option(op)
    settled(page)
    assert page.locator("#question").input_value().startswith(f"{op}(")
    assert page.locator("button.answer").count() == page.evaluate(
        "Object.keys(FACTS.dialects).length"
    )


def paste(page: Any, text: str) -> None:
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData("text", text);
          const event = new ClipboardEvent("paste", { clipboardData: data, cancelable: true });
          document.getElementById("question").dispatchEvent(event);
        }""",
        text,
    )


def test_a_pasted_traceback_asks_its_question(page: Any) -> None:
    paste(
        page,
        "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n'
        "    x += y\n"
        "RuntimeError: result type Float can't be cast to the desired output type Long\n",
    )
    page.wait_for_function("document.getElementById('read').textContent")
    settled(page)
    assert page.locator("#question").input_value() == "int64 += float32"
    assert "ref=torch" in page.url
    assert answer_of(page, "torch") == "refused"
    assert page.locator("#steps-of-torch").is_visible()


def test_recorded_tracebacks_are_answered(page: Any) -> None:
    """Those of every framework: a question is read, and that dialect's answer is shown."""
    names = page.evaluate("Object.keys(FACTS.dialects)")
    for case in random.Random(0).sample(recorded(), 40):
        read = read_traceback(case.traceback)
        page.evaluate("document.getElementById('read').textContent = ''")
        paste(page, case.traceback)
        page.wait_for_function("document.getElementById('read').textContent")
        settled(page)
        if read.nearest is None:
            continue
        assert page.locator("#question").input_value() == read.nearest, case
        problem = page.locator("#problem").inner_text()
        if problem:
            assert "castwise explain" in problem, case
        elif read.dialect in names:
            row = page.locator(f'[data-dialect="{read.dialect}"]')
            assert row.get_attribute("aria-expanded") == "true", case


def test_a_paste_without_a_message_about_dtypes_says_so(page: Any) -> None:
    paste(page, "Traceback (most recent call last):\nKeyError: 'x'\n")
    page.wait_for_function("document.getElementById('read').textContent")
    assert "No message about dtypes" in page.locator("#read").inner_text()
    assert answer_of(page, "numpy") == "float64"


@pytest.mark.parametrize("address", VIEWS.values(), ids=list(VIEWS))
def test_an_address_that_is_shared_shows_the_same(opened: Opened, address: str) -> None:
    first = opened(address)
    again = opened("#" + first.url.partition("#")[2])
    assert again.locator("main").inner_text() == first.locator("main").inner_text()


def test_typing_picking_and_opening_are_in_the_address(opened: Opened, page: Any) -> None:
    ask(page, "int16[n] / 2")
    page.locator('[data-dialect="jax"]').click()
    chosen(page, "Highlight what differs from").select_option("torch")
    settled(page)
    other = opened("#" + page.url.partition("#")[2])
    assert other.locator("#question").input_value() == "int16[n] / 2"
    assert other.locator("#steps-of-jax").inner_text() == page.locator("#steps-of-jax").inner_text()
    assert other.locator(".row.differs").count() == page.locator(".row.differs").count() > 0


def test_copy_link_copies_the_address(opened: Opened) -> None:
    page = opened("#q=int8[n]+%2B+1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("document.getElementById('said').textContent")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_views_are_switched_and_back_goes_back(page: Any) -> None:
    for name, title in [
        ("Table", "add in torch"),
        ("Difference", "add: numpy and torch"),
        ("Lattice", "What reaches what in jax"),
        ("Distances", "How far apart the dialects are"),
    ]:
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        settled(page)
        assert page.locator("h1").inner_text() == title
        assert page.locator("nav [aria-current]").inner_text() == name
    page.go_back()
    settled(page)
    assert page.locator("h1").inner_text() == "What reaches what in jax"


def test_steps_are_those_of_explain(opened: Opened) -> None:
    page = opened("#q=int32[3]+%2B+5.5&open=torch")
    steps = page.locator("#steps-of-torch ol li").all_inner_texts()
    assert steps == list(outcome_and_steps(question_in("int32[3] + 5.5", "torch"))[1])
    details = page.locator("#steps-of-torch").inner_text()
    assert "recorded from torch" in details
    assert re.search(r"[\d,]{4,} recorded answers about add", details)
    assert "loses-precision" in details


def test_the_cast_that_is_offered_keeps_the_meaning(page: Any) -> None:
    """The expression with its casts has, in the engine, the result that was shown."""
    chance, questions = random.Random(1), RandomQuestions(1)
    dialects = page.evaluate("Object.keys(FACTS.dialects)")
    asked = []
    for _ in range(3000):
        name = chance.choice(dialects)
        asked.append((name, questions.question(dialect_named(name))))
    offered = page.evaluate(
        """async (asked) => {
          const found = [];
          for (const [dialect, text] of asked) {
            const question = Notation.read(text);
            await Answers.load(question.op, question.form);
            const answer = Answers.look(dialect, question);
            const recast = Casts.recast(dialect, question, answer);
            const again = recast && Notation.writeQuestion({ ...question, operands: recast });
            found.push(again && [again, answer.result, answer.compute]);
          }
          return found;
        }""",
        asked,
    )
    pairs = [(one, found) for one, found in zip(asked, offered, strict=True) if found]
    assert len(pairs) > 300
    for (dialect, text), (recast, result, compute) in pairs:
        decision, _ = outcome_and_steps(question_in(recast, dialect))
        assert isinstance(decision, Decision), (dialect, text, recast)
        assert (str(decision.result), str(decision.compute)) == (result, compute), (text, recast)


def test_copying_a_cast(opened: Opened) -> None:
    options = {"permissions": ["clipboard-read", "clipboard-write"]}
    page = opened("#q=int32[n]+%2B+float16[n]&open=torch,numpy&ref=torch", **options)
    page.locator("#steps-of-torch").get_by_role("button", name="Copy the cast").click()
    page.wait_for_function("document.getElementById('said').textContent")
    assert page.evaluate("navigator.clipboard.readText()") == "x.to(torch.float16) + y"
    here = page.locator("#steps-of-numpy").get_by_role("button", name="Copy what gives torch's")
    here.click()
    page.wait_for_function("document.getElementById('said').textContent.includes('astype')")
    assert page.evaluate("navigator.clipboard.readText()") == "x.astype('float16') + y"


def test_a_table_lights_rows_and_columns_and_opens_answers(opened: Opened) -> None:
    page = opened("#view=table&dialect=numpy&op=add")
    shown = page.locator("tbody td").all_inner_texts()
    table = cw.table("add", "numpy")
    assert len(shown) == len(table.rows) * len(dialect_named("numpy").dtypes)
    cell = page.locator('td[data-q="int8[n] + uint8[n]"]')
    cell.hover()
    assert page.locator("th.lit").all_inner_texts() == ["u8", "i8"]
    assert page.locator("#readout").inner_text() == "int8[n] + uint8[n]: int16"
    cell.click()
    settled(page)
    assert page.locator("#question").input_value() == "int8[n] + uint8[n]"


def test_the_heads_of_a_table_stay_in_sight(opened: Opened) -> None:
    page = opened("#view=table&dialect=jax&op=add", viewport={"width": 700, "height": 500})
    page.locator("tbody td").last.scroll_into_view_if_needed()
    area = page.locator(".grid.scroll").bounding_box()
    row = page.locator("tbody tr").last.locator("th").bounding_box()
    head = page.locator("thead th").last.bounding_box()
    assert abs(row["x"] - area["x"]) < 8
    assert abs(head["y"] - area["y"]) < 8


def test_a_click_in_the_lattice_lights_what_is_reached(opened: Opened) -> None:
    page = opened("#view=lattice&dialect=jax")
    page.locator('[data-dtypes="int16"]').click()
    settled(page)
    assert "int16 reaches int32" in page.locator("#readout").inner_text()
    assert "dtype=int16" in page.url
    assert page.locator('[data-dtypes="float32"].lit').count() == 1
    assert page.locator('[data-dtypes="uint16"]:not(.lit)').count() == 1


def test_a_cell_of_the_map_opens_the_difference(opened: Opened) -> None:
    page = opened("#view=distances")
    page.get_by_label(re.compile("^numpy and torch: ")).click()
    settled(page)
    assert page.locator("h1").inner_text() == "add: numpy and torch"
    page.locator(".groups summary").first.click()
    page.locator(".groups li a").first.click()
    settled(page)
    assert page.locator("button.answer").count() == 2


def test_light_and_dark(opened: Opened) -> None:
    grounds = set()
    for scheme in ("light", "dark"):
        page = opened("", color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.get_by_role("button", name="Switch between light and dark").click()
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


@pytest.mark.parametrize("address", VIEWS.values(), ids=list(VIEWS))
def test_a_phone_shows_all_of_it(opened: Opened, address: str) -> None:
    page = opened(address, viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_embedded_view_is_small_and_leads_to_the_whole(opened: Opened) -> None:
    page = opened(VIEWS["embedded"])
    assert not page.locator("header").is_visible()
    assert not page.locator("#question").is_visible()
    assert page.locator("button.answer").count() == 2
    link = page.get_by_role("link", name="Open in the explorer")
    assert "embed" not in link.get_attribute("href")


def test_embedding_code_shows_the_view(opened: Opened) -> None:
    page = opened("#q=int8[n]+%2B+1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Embed").click()
    page.wait_for_function("document.getElementById('said').textContent")
    code = page.evaluate("navigator.clipboard.readText()")
    page.set_content(f"<!doctype html><title>a page</title>{code}")
    frame = page.frame_locator("iframe")
    frame.locator('[data-dialect="numpy"]').wait_for()
    assert not frame.locator("header").is_visible()


def focused(page: Any) -> str:
    return page.evaluate(
        "document.activeElement.dataset.dialect ?? document.activeElement.dataset.q"
        " ?? document.activeElement.id"
    )


def test_all_of_it_works_by_keyboard(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    assert focused(page) == "question"
    page.keyboard.press("Control+A")
    page.keyboard.type("uint8[n] + 300")
    settled(page)
    assert answer_of(page, "torch") == "uint8"
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused(page) == "torch":
            break
    page.keyboard.press("Enter")
    settled(page)
    assert focused(page) == "torch"
    assert page.locator("#steps-of-torch").is_visible()
    page.keyboard.press("Enter")
    settled(page)
    assert not page.locator("#steps-of-torch").is_visible()


def test_a_table_works_by_keyboard(opened: Opened) -> None:
    page = opened("#view=table&dialect=numpy&op=add")
    page.locator("td[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    first, _, third = [str(dtype) for dtype in dialect_named("numpy").dtypes[:3]]
    assert focused(page) == f"{third}[n] + {first}[n]"
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator("#question").input_value() == f"{third}[n] + {first}[n]"


def test_a_lattice_works_by_keyboard(opened: Opened) -> None:
    page = opened("#view=lattice&dialect=numpy")
    page.locator('[data-dtypes="int16"]').focus()
    page.keyboard.press("Enter")
    settled(page)
    assert "int16 reaches" in page.locator("#readout").inner_text()
    assert page.evaluate("document.activeElement.dataset.dtypes") == "int16"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_serious_is_in_the_way_of_anybody(opened: Opened, view: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(VIEWS[view], color_scheme=scheme)
    found = axe.run(page, options={"preload": False}).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    told = [(one["id"], [node["html"][:200] for node in one["nodes"][:5]]) for one in serious]
    assert told == [], json.dumps(told, indent=1)


def test_a_first_answer_reads_little_and_all_of_it_is_small(folder: Path, opened: Opened) -> None:
    page = opened()
    read = page.evaluate(
        "[...document.querySelectorAll('script[src], [rel=stylesheet]')].map(e => e.src || e.href)"
    )
    files = {folder / address.removeprefix(folder.as_uri() + "/") for address in read}
    first = sum(file.stat().st_size for file in files | {folder / "index.html"})
    whole = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert len(files) > 10
    assert first <= 2_000_000
    assert whole <= 10_000_000
