"""The command that builds the explorer."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.completing import complete_dialects
from castwise.cli.statuses import DONE


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder to write, new or an explorer's.",
)
@click.option(
    "-d",
    "--dialect",
    "chosen",
    multiple=True,
    shell_complete=complete_dialects,
    help="Show only this dialect, or also a custom one from a TOML file. Can be repeated.",
)
@click.option("--docs", default="", metavar="ADDRESS", help="Link to this documentation.")
def explorer(output: Path, chosen: tuple[str, ...], docs: str) -> int:
    """Build a page that looks up what every dialect answers.

    The page needs no server: open index.html from disk, or put the folder on any web server. It
    shows the answers of all dialects side by side with their steps and hazards, whole tables, the
    differences between two dialects, lattices and distances. Every state has an address to share.

    All questions the page can answer are asked now, on all cores: this takes a few minutes.

    \b
    Examples:
      castwise explorer -o site/
      castwise explorer -o mine/ -d torch -d jax -d mine.toml
    """
    from castwise.report.explorer.site import build_explorer
    from castwise.report.terminal.progress import progress_to
    from castwise.rules.catalog import dialects as all_dialects

    names = chosen or all_dialects()
    with progress_to(f"Asking {len(names)} dialects", len(names)) as on_progress:
        files = build_explorer(output, names, docs, on_progress)
    size = sum(file.stat().st_size for file in files)
    click.echo(
        f"{output / 'index.html'}: {len(names)} dialects, {size / 1e6:.1f} MB in {len(files)} files"
    )
    return DONE
