"""The pages about releases: a page for each framework, and an index."""

from __future__ import annotations

from collections.abc import Sequence

from castwise.compare.history import history
from castwise.report.amounts import counted
from castwise.report.history.text import history_markdown, summary
from castwise.report.markdown import markdown_row

_MADE = "<!-- written by docs/refresh.py -->"


def history_page(framework: str) -> str:
    """What the recorded releases of a framework changed."""
    return "\n".join(
        [
            f"# What releases of {framework} changed",
            "",
            _MADE,
            "",
            "From the recorded answers of each release, the newest first."
            f" `castwise history {framework} --cells` lists every group, `--op` limits it to an op,"
            " and `--json` has every answer."
            " [How releases are recorded](../reference/releases.md).",
            "",
            history_markdown(history(framework)),
            "",
        ]
    )


def history_index(frameworks: Sequence[str]) -> str:
    """The frameworks, with how much their releases changed."""
    rows = [["framework", "releases", "the newest of them"], ["---"] * 3]
    for name in frameworks:
        found = history(name)
        newest = f"{found[0].version}: {summary(found[0])}"
        rows.append([f"[{name}]({name}.md)", counted(len(found) + 1, "release"), newest])
    return "\n".join(
        [
            "# What releases changed",
            "",
            _MADE,
            "",
            "Release notes seldom say which results get another dtype. These pages do: castwise"
            " asked each release the same questions and compared the answers.",
            "",
            *map(markdown_row, rows),
            "",
        ]
    )
