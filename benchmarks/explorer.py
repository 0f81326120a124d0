"""What the explorer's page reads, and how soon an answer follows a keystroke.

    python benchmarks/explorer.py FOLDER [--json FILE]

FOLDER is what `castwise explorer -o FOLDER` wrote. The page is opened from disk in Chromium, and
questions are typed key by key: the time is from the key to the frame that shows the answer. Each
question is typed on a page that has not seen its op, so its slowest key loads and unpacks data.
Needs `pip install playwright`, and `chromium` on the path.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from pathlib import Path
from statistics import median
from typing import Any

from measure import write_json
from playwright.sync_api import sync_playwright

TYPED = (
    "uint8[n] + 300",
    "int64[n] / float16[]",
    "where(bool[n], int8[n], 1.5)",
    "mean(int32[n])",
    "float32[n] += np.float64(2.0)",
    "matmul(int8[n,n], float16[n,n])",
)
# Resolves after the frame in which the page has drawn what its address says.
DRAWN = """async () => {
  const main = document.getElementById("main");
  while (main.hasAttribute("aria-busy")) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now();
}"""
KEYS = """() => {
  window.pressed = 0;
  addEventListener("keydown", () => (window.pressed = performance.now()), true);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    folder = given.folder.resolve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        found = {**sizes(browser, folder), "milliseconds to an answer": times(browser, folder)}
        chromium = browser.version
        browser.close()
    print(json.dumps(found, indent=1))
    write_json(given.json, {"chromium": chromium, **found})


def sizes(browser: Any, folder: Path) -> dict[str, Any]:
    """What lies there, and what a first answer reads, plain and as a web server sends it."""
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    page.evaluate(DRAWN)
    read = page.evaluate(
        "[...document.querySelectorAll('script[src], [rel=stylesheet]')].map(e => e.src || e.href)"
    )
    names = {address.removeprefix(folder.as_uri() + "/") for address in read}
    first = [(folder / name).read_bytes() for name in sorted(names | {"index.html"})]
    page.close()
    return {
        "files": sum(file.is_file() for file in folder.rglob("*")),
        "bytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        "files for a first answer": len(first),
        "bytes for a first answer": sum(map(len, first)),
        "the same, gzipped": sum(len(gzip.compress(data)) for data in first),
    }


def times(browser: Any, folder: Path) -> dict[str, dict[str, float]]:
    found = {}
    for text in TYPED:
        page = browser.new_page()
        page.goto((folder / "index.html").as_uri())
        page.evaluate(DRAWN)
        page.evaluate(KEYS)
        page.locator("#question").fill("")
        keys = []
        for char in text:
            page.keyboard.type(char)
            keys.append(page.evaluate(DRAWN) - page.evaluate("window.pressed"))
        page.close()
        found[text] = {"median": round(median(keys), 1), "slowest": round(max(keys), 1)}
    return found


if __name__ == "__main__":
    main()
