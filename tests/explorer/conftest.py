"""The explorer in Chromium: pages that may ask for nothing but their own files, without errors.

`CASTWISE_EXPLORER` names the folder that `castwise explorer -o FOLDER` wrote.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Without these, Chromium itself looks for updates. Those it does not obey name no host.
OPTIONS = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the explorer."""
    named = os.environ.get("CASTWISE_EXPLORER")
    if not named:
        pytest.skip("CASTWISE_EXPLORER names no explorer: its tests need one that is built")
    found = Path(named).resolve()
    assert (found / "index.html").exists(), f"{found} has no index.html"
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not CHROMIUM:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(folder: Path, browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens the explorer at an address: `opened("#view=table", color_scheme="dark")`.

    At the end, no page may have logged an error or asked for something else than its files.
    """
    contexts, wrong = [], []
    start = (folder / "index.html").as_uri()

    def check(request: Any) -> None:
        if not request.url.startswith((folder.as_uri(), "data:,")):
            wrong.append(f"asked for {request.url}")

    def open_page(address: str = "", **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "console", lambda said: said.type in ("error", "warning") and wrong.append(said.text)
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        page.on("request", check)
        page.goto(start + address)
        settled(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def page(opened: Callable[..., Any]) -> Any:
    """The explorer as a person finds it."""
    return opened()


def settled(page: Any) -> None:
    """Waits until the page has drawn what its address says."""
    page.wait_for_selector("main[data-view]:not([aria-busy])")
