"""Takes the pictures of README.md: an audit's page in Chromium, in light and dark.

python docs/pictures.py   writes docs/pictures/audit-light.png and audit-dark.png

Needs `chromium` on the path. The pictures show versions, so take them again at a release.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
SIZE = "1060,540"  # the page down to the costs by line
SCHEMES = {"light": "1", "dark": "0"}  # Blink's numbers for them


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "audit.html"
        audit = [sys.executable, "-m", "castwise", "audit", "--html", str(page)]
        example = "examples/image_pipeline.py"
        subprocess.run([*audit, example], cwd=ROOT, check=True, timeout=120)
        for scheme, number in SCHEMES.items():
            _take(page, PICTURES / f"audit-{scheme}.png", number)


def _take(page: Path, picture: Path, scheme: str) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--force-device-scale-factor=1.5", f"--window-size={SIZE}"]
    options += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}"]
    subprocess.run(["chromium", *options, page.as_uri()], check=True, timeout=120)


if __name__ == "__main__":
    main()
