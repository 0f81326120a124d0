"""The command that compares an exported model with the function it was made of."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import json_option
from castwise.cli.statuses import DONE, FOUND
from castwise.errors import UsageError
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json


@click.command("check-export")
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("reference")
@click.option(
    "--dim", "dims", multiple=True, metavar="NAME=N",
    help="The size of a dimension that has a name in the model. Can be repeated.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, help="Make other inputs.")
@click.option(
    "--inputs",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Take the inputs from this .npz file, by their names, or in order.",
)
@click.option(
    "--framework",
    metavar="NAME",
    help="The library whose arrays the function takes. Default: the first one that the file"
    " imports.",
)
@click.option("--exact", is_flag=True, help="Compare values bit for bit.")
@json_option
def check_export(
    model: Path,
    reference: str,
    dims: tuple[str, ...],
    seed: int,
    inputs: Path | None,
    framework: str | None,
    exact: bool,
    as_json: bool,
) -> int:
    """Compare an ONNX model with the function it was exported from.

    REFERENCE is FILE.py:FUNCTION; an object that can be called, such as a module with weights, does
    as well. Both get the same inputs, of the dtypes and shapes that the model declares, and the
    model runs in onnxruntime. Every output is compared: dtype, shape, and values within what the
    dtype's precision allows. For a dtype that differs, the node is named from which it does. All
    casts in the model are listed.

    The exit status is 1 if an output differs, and 2 if one of the two cannot be run.

    \b
    Examples:
      castwise check-export model.onnx model.py:forward
      castwise check-export model.onnx model.py:net --dim batch=8 --exact
      castwise check-export model.onnx model.py:net --inputs sample.npz --json
    """
    from castwise.compare.exported.check import Checking, require_runtime
    from castwise.compare.exported.check import check_export as checked
    from castwise.compare.exported.reference import load_reference
    from castwise.report.verify.exported import export_json, export_text

    require_runtime()
    checking = Checking(dict(map(_size, dims)), seed, inputs, exact)
    found = checked(model, load_reference(reference, framework), checking)
    if as_json:
        echo_json(export_json(found))
    else:
        click.echo(export_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal():
        raise UsageError(f"--dim {text}: write NAME=N, such as batch=8.")
    return name, int(size)
