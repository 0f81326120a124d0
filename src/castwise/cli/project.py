"""The commands about castwise itself: its settings here, what it finds here, its explorer."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import DONE, FOUND, complete_dialects, echo, json_option, page_width
from castwise.report.terminal import paint_for_stdout


@click.command()
@json_option
def config(as_json: bool) -> int:
    """Show the settings: every key of [tool.castwise], its value here, and where it comes from.

    The settings are in the nearest pyproject.toml with this table, from the working directory
    upwards. An option of a command wins over them, and CASTWISE_DIALECT over the key dialect.

    \b
    Example:
      castwise config --json
    """
    from castwise.report.lists import settings_json, settings_text
    from castwise.settings import project_settings

    found = project_settings(Path.cwd())
    echo(
        settings_json(found) if as_json else settings_text(found, paint_for_stdout(), page_width())
    )
    return DONE


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Show what castwise finds here, and whether something is wrong.

    Lists the installed frameworks with the dialect that answers for each, the backends, the extras,
    the plugins and the settings. It reads the metadata of installed packages, and imports no
    framework. The exit status is 1 if something is broken; the last lines then say what to do.

    \b
    Example:
      castwise doctor --json
    """
    from castwise.health import checkup
    from castwise.report.lists import checkup_json, checkup_text

    found = checkup(Path.cwd())
    echo(checkup_json(found) if as_json else checkup_text(found, paint_for_stdout(), page_width()))
    return FOUND if found.problems else DONE


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder to write: a new one, or that of an earlier explorer.",
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
    differences between two dialects, lattices and distances. Every view has its own address to
    share.

    All questions the page can answer are asked now, on all cores: this takes a few minutes.

    \b
    Examples:
      castwise explorer -o site/
      castwise explorer -o mine/ -d torch -d jax -d mine.toml
    """
    from castwise.catalog.dialects import dialects as all_dialects
    from castwise.progress import progress_to
    from castwise.report.explorer.site import build_explorer

    names = chosen or all_dialects()
    with progress_to(f"Asking {len(names)} dialects", len(names)) as on_progress:
        files = build_explorer(output, names, docs, on_progress)
    size = sum(file.stat().st_size for file in files)
    click.echo(
        f"{output / 'index.html'}: {len(names)} dialects, {size / 1e6:.1f} MB in {len(files)} files"
    )
    return DONE
