"""Builds the documentation site, with the explorer in it: pages that open from disk.

python docs/website.py            writes site/
python docs/website.py -o DIR     writes it elsewhere

Needs `pip install 'castwise[docs]'`. Warnings are errors, also about links and anchors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 3600  # seconds for each step; the explorer asks millions of questions
MOST_BYTES = 10_000_000  # of the explorer
# What Material for MkDocs brings, and this site does not use: other languages, debugging.
UNUSED = ("**/*.map", "assets/javascripts/lunr/**/*", "assets/images/favicon.png", "sitemap.xml*")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "site", metavar="DIR")
    site = parser.parse_args().output.resolve()
    _run("mkdocs", "build", "--strict", "--site-dir", str(site))
    _run("castwise", "explorer", "-o", str(site / "explorer"))
    for pattern in UNUSED:
        for file in list(site.glob(pattern)):
            if file.is_file():
                file.unlink()
    sizes = {name: _size(site / name) for name in ("explorer", "search", "assets", "dialects", "")}
    for name, size in sizes.items():
        print(f"{size / 1e6:6.2f} MB  {name or 'in all'}")
    return int(sizes["explorer"] > MOST_BYTES)


def _run(module: str, *arguments: str) -> None:
    command = [sys.executable, "-m", module, *arguments]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=quiet, check=True, timeout=LIMIT)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    sys.exit(main())
