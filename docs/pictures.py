"""Takes the pictures of README.md in Chromium, in light and dark: an audit's page, the explorer.

python docs/pictures.py           writes docs/pictures/audit-light.png and audit-dark.png
python docs/pictures.py DIR       also explorer-light.png and explorer-dark.png, of the explorer
                                  that `castwise explorer -o DIR` built

Needs `chromium` on the path. The pictures show versions, so take them again at a release.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
SCHEMES = {"light": "1", "dark": "0"}  # Blink's numbers for them
AUDIT_SIZE = "1060,540"  # the page down to the costs by line
EXPLORER_SIZE = "1160,940"
QUESTION = "#q=uint8[n]+%2B+300&ref=torch&open=numpy,torch&d=numpy,torch,numpy@1,jax,tensorflow"


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "audit.html"
        audit = [sys.executable, "-m", "castwise", "audit", "--html", str(page)]
        example = "examples/image_pipeline.py"
        subprocess.run([*audit, example], cwd=ROOT, check=True, timeout=120)
        _take("audit", page.as_uri(), AUDIT_SIZE)
    for explorer in arguments:
        address = (Path(explorer).resolve() / "index.html").as_uri()
        _take("explorer", f"{address}{QUESTION}", EXPLORER_SIZE)


def _take(name: str, address: str, size: str) -> None:
    for scheme, number in SCHEMES.items():
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--force-device-scale-factor=1.5", f"--window-size={size}"]
        options += ["--virtual-time-budget=10000"]  # until the answers are unpacked
        options += [f"--blink-settings=preferredColorScheme={number}"]
        picture = f"--screenshot={PICTURES / f'{name}-{scheme}.png'}"
        subprocess.run(["chromium", *options, picture, address], check=True, timeout=120)


if __name__ == "__main__":
    main(sys.argv[1:])
