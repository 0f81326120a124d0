"""Shows the examples in docstrings as code: an extension of griffe, which reads the docstrings."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


class DoctestBlocks(Extension):
    """Puts a fence around each example, as Markdown needs one."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
