"""The readme of the package: README.md with links that also work outside of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


class Readme(MetadataHookInterface):
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        base = f"{metadata['urls']['Repository']}/blob/main"
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        linked = _RELATIVE.sub(rf"]({base}/\1)", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": linked}
