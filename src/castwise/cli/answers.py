"""The commands that answer questions, that list what can be asked about, and that are about
castwise itself."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

import click

from castwise.cli.options import (
    DONE,
    FOUND,
    chosen_here,
    chosen_or_missing,
    complete_dialects,
    complete_dialects_or_ops,
    deliver,
    dialect_argument,
    dialect_first,
    dialect_option,
    echo,
    format_option,
    json_option,
    missing,
    op_option,
    output_option,
    page_width,
)
from castwise.errors import UsageError, did_you_mean
from castwise.report.terminal import paint_for_stdout, terminal_width
from castwise.rules.dialect import Dialect

# What a dialect answers: an expression or a traceback with its steps, or a stream of questions.

_OPTION = re.compile(r"--[a-z-]+")
_NEGATED = re.compile(r"-[A-Za-z]\w*[\[(.*=]")  # -double[3] is an expression, and not -d ouble[3]


class _ExpressionCommand(click.Command):
    """A command whose arguments may begin with a minus."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = [name for parameter in self.get_params(ctx) for name in parameter.opts]
        for given in args[: args.index("--")] if "--" in args else args:
            if _OPTION.fullmatch(given) and given not in known:
                hint = did_you_mean(given, known)
                raise click.UsageError(f"No such option {given!r}.{hint}", ctx)
        return super().parse_args(ctx, [f" {a}" if _NEGATED.match(a) else a for a in args])


@click.command(cls=_ExpressionCommand, context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="[DIALECT] EXPRESSION", nargs=-1, shell_complete=complete_dialects)
@dialect_option("The dialect, in place of the argument.")
@click.option(
    "--traceback", type=click.File(encoding="utf-8", errors="replace"), metavar="FILE",
    help="Read the op and its dtypes from the error in this file; - is stdin.",
)  # fmt: skip
@json_option
def explain(
    words: tuple[str, ...], dialect: str | None, traceback: TextIO | None, as_json: bool
) -> int:
    """Explain how a dialect arrives at a result, step by step.

    EXPRESSION is a call, a method or operators with their operands, nested as in Python. DIALECT
    may also come after it. The exit status is 1 if the dialect refuses it, or promotes it and has
    no kernel to run it. DIALECT may be left out where [tool.castwise] or CASTWISE_DIALECT names
    one.

    With --traceback the expression is read from an error message, or from the traceback that ends
    in it, of any framework. So is the dialect, unless one is given.

    \b
    Examples:
      castwise explain torch "int32[3] + 5.5"
      castwise explain numpy "(uint8[3] + 1).mean() * 300"
      castwise explain -d jax "sum(int8[3], dtype=int8)"
      python train.py 2>&1 | castwise explain --traceback -
    """
    from castwise.catalog import nearest_named
    from castwise.engine.explain import taken_apart
    from castwise.report.answers import explained, explanation_json, explanation_text

    if traceback is not None:
        if traceback.isatty():
            what_to_do = "paste the traceback, then press Ctrl-D on a line alone."
            click.echo(f"castwise: {what_to_do}", err=True)
        return _explain_traceback(traceback.read(), _dialect_alone(words, dialect), as_json)
    name, expression = _asked(words, dialect)
    found = explained(taken_apart(expression, name))
    echo(
        explanation_json(found, nearest_named(name).note)
        if as_json
        else explanation_text(found, paint_for_stdout(), page_width())
    )
    return DONE if found.is_run else FOUND


def _explain_traceback(text: str, dialect: str | None, as_json: bool) -> int:
    from castwise.catalog import DEFAULT
    from castwise.engine.explain import taken_apart
    from castwise.engine.tracebacks import read_traceback
    from castwise.report.answers import (
        accepted_text,
        asked_in,
        explained,
        explanation_json,
        explanation_text,
        read_text,
    )

    read = read_traceback(text)
    name = dialect or read.dialect or chosen_here() or DEFAULT
    found = explained(taken_apart(asked_in(read, name), name))
    paint, width = paint_for_stdout(), page_width()
    if as_json:
        echo({"read": read.as_json(), **explanation_json(found)})
    else:
        click.echo(f"{read_text(read, paint, width)}\n\n{explanation_text(found, paint, width)}")
        if found.is_run:
            click.echo(f"\n{accepted_text(found.question.dialect.name, width)}")
    return DONE if found.is_run else FOUND


def _dialect_alone(words: tuple[str, ...], dialect: str | None) -> str | None:
    """The dialect that is given beside a traceback, if any."""
    from castwise.catalog import is_dialect_name

    given = [*words, *([dialect] if dialect else [])]
    if len(given) > 1 or not all(map(is_dialect_name, words)):
        raise UsageError("with --traceback, give no expression and at most one dialect.")
    return given[0] if given else None


def _asked(words: tuple[str, ...], dialect: str | None) -> tuple[str, str]:
    """The name of the dialect, and the expression, which may be several words where it was typed
    without quotes."""
    from castwise.catalog import is_dialect_name

    is_named = bool(words) and is_dialect_name(words[0])
    if not words or (is_named and len(words) == 1 and dialect is None):
        raise missing("EXPRESSION")
    if dialect is not None:
        if is_named and len(words) > 1:
            raise UsageError("the dialect is given twice: leave out --dialect or the argument.")
        return dialect, " ".join(words)
    if len(words) > 1:
        name, _ = dialect_first(words[0], words[-1])
        return name, " ".join(words[1:] if name is words[0] else words[:-1])
    return chosen_or_missing(repr(words[0])), words[0]


@click.command()
@dialect_option(
    "The dialect for lines that name none. Default: that of CASTWISE_DIALECT, or of "
    "[tool.castwise]."
)
def resolve(dialect: str | None) -> int:
    """Answer questions from stdin, one line of JSON each.

    Each line of stdin is a JSON object, and gets one line of JSON on stdout, in the same order. The
    object has op and args. It may also have dialect, form ("operator", "function", or "augmented"
    for x += y), inplace, out (a dtype), alpha, and other keyword arguments of the call: dtype,
    casting, where, initial, rounding_mode, value, delta.

    Blank lines are skipped. A line that makes no sense is answered with a UsageError, and the next
    lines are still answered. The exit status is then 1.

    \b
    Example:
      echo '{"op": "add", "args": ["int32[3]", 5.5]}' | castwise resolve --dialect torch
    """
    from castwise.catalog import dialect_named
    from castwise.report.answers import TwoProcesses, answer_stream

    dialect = chosen_here() if dialect is None else dialect
    if dialect is not None:
        dialect_named(dialect)  # an unknown one is wrong usage, not an error on every line
    if sys.stdin.isatty():
        click.echo(_waiting(dialect), err=True)
    answer = TwoProcesses(dialect).answer_lines
    is_well_formed = answer_stream(sys.stdin.buffer, sys.stdout.buffer, answer)
    return DONE if is_well_formed else FOUND


def _waiting(dialect: str | None) -> str:
    """What a person at a terminal can type."""
    from castwise.catalog import DEFAULT

    named = "" if dialect else f'"dialect": "{DEFAULT}", '
    example = f'{{{named}"op": "add", "args": ["int32[3]", 5.5]}}'
    return f"castwise: waiting for questions, a line of JSON each: {example}. Ctrl-D ends."


# The commands that show one dialect, and the one that lists them all.


@click.command()
@json_option
def dialects(as_json: bool) -> int:
    """List the dialects, with their version and evidence.

    \b
    Example:
      castwise dialects --json
    """
    from castwise.report.lists import dialects_json, dialects_text

    echo(dialects_json() if as_json else dialects_text(paint_for_stdout(), page_width(120)))
    return DONE


@click.command()
@click.argument("dialect", required=False, shell_complete=complete_dialects_or_ops)
@click.argument("named_op", metavar="[OP]", required=False, shell_complete=complete_dialects_or_ops)
@op_option("The op, by any of its names. Default: add.")
@click.option(
    "--form", type=click.Choice(["operator", "function", "augmented"]), help="How the op is called."
)
@click.option(
    "--with", "columns", type=click.Choice(["arrays", "0-d", "scalars"]), multiple=True,
    default=("arrays", "scalars"), show_default=True,
    help="What the columns show. Can be repeated.",
)  # fmt: skip
@format_option("text", "md", "csv", "json", "html", "svg", "png")
@output_option
def table(
    dialect: str | None,
    named_op: str | None,
    op: str | None,
    form: str | None,
    columns: tuple[str, ...],
    format_: str | None,
    output: Path | None,
) -> int:
    """Show an op's result dtype for every pair of dtypes.

    DIALECT and OP may come in either order.

    \b
    Examples:
      castwise table torch div
      castwise table numpy --with 0-d --with scalars -o add.svg
    """
    from castwise.catalog import dialect_named
    from castwise.comparing.table import table as make_table
    from castwise.report.table import FORMATS, table_text

    if dialect is None or (named_op is None and _is_op(dialect)):
        dialect, named_op = chosen_or_missing(dialect or ""), dialect
    if named_op is not None:
        if op is not None:
            raise UsageError("the op is given twice: leave out --op or the argument.")
        dialect, op = dialect_first(dialect, named_op)
    made = make_table(op or "add", dialect_named(dialect), form=form, columns=columns)
    deliver(made, FORMATS, format_, output, partial(table_text, made, width=terminal_width()))
    return DONE


def _is_op(name: str) -> bool:
    from castwise.catalog import is_dialect_name
    from castwise.vocab.ops import known_op

    return not is_dialect_name(name) and known_op(name) is not None


@click.command()
@dialect_argument
@format_option("text", "json", "dot", "html", "svg", "png")
@output_option
def lattice(dialect: str, format_: str | None, output: Path | None) -> int:
    """Show which dtypes promote to which, as text or as a picture.

    \b
    Examples:
      castwise lattice numpy
      castwise lattice torch -o torch.svg
    """
    from castwise.comparing.table import lattice as make_lattice
    from castwise.report.lattice import LATTICE_FORMATS, lattice_text

    made = make_lattice(dialect)
    text = partial(lattice_text, made, width=page_width())
    deliver(made, LATTICE_FORMATS, format_, output, text)
    return DONE


# The commands that list ops and dtypes, all or those of a dialect.


def _dialect_twice(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the dialect, which may be given as an argument or as an option."""
    command = dialect_option("List only what this dialect has.")(command)
    return click.argument(
        "named", metavar="[DIALECT]", required=False, shell_complete=complete_dialects
    )(command)


@click.command()
@_dialect_twice
@json_option
def ops(named: str | None, dialect: str | None, as_json: bool) -> int:
    """List the ops, with their symbols, operands and other names.

    With a dialect, lists the ops that were recorded of its framework, and what they are called
    there.

    \b
    Examples:
      castwise ops
      castwise ops --dialect torch --json
    """
    from castwise.report.lists import ops_json, ops_text

    chosen = _chosen(named, dialect)
    echo(ops_json(chosen) if as_json else ops_text(chosen, paint_for_stdout(), page_width(120)))
    return DONE


@click.command()
@_dialect_twice
@json_option
def dtypes(named: str | None, dialect: str | None, as_json: bool) -> int:
    """List the dtypes, with their short forms, bits and ranges.

    \b
    Examples:
      castwise dtypes
      castwise dtypes --dialect array-api --json
    """
    from castwise.report.lists import dtypes_json, dtypes_text

    chosen = _chosen(named, dialect)
    paint, width = paint_for_stdout(), page_width(120)
    echo(dtypes_json(chosen) if as_json else dtypes_text(chosen, paint, width))
    return DONE


def _chosen(named: str | None, dialect: str | None) -> Dialect | None:
    from castwise.catalog import dialect_named

    if named is not None and dialect is not None:
        raise UsageError("the dialect is given twice: leave out --dialect or the argument.")
    name = dialect if named is None else named
    return None if name is None else dialect_named(name)


# The commands about castwise itself: its settings here, what it finds here, its explorer.


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
    paint, width = paint_for_stdout(), page_width()
    echo(settings_json(found) if as_json else settings_text(found, paint, width))
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
    "-o", "--output", type=click.Path(path_type=Path), required=True,
    help="The folder to write: a new one, or that of an earlier explorer.",
)  # fmt: skip
@click.option(
    "-d", "--dialect", "chosen", multiple=True, shell_complete=complete_dialects,
    help="Show only this dialect, or also a custom one from a TOML file. Can be repeated.",
)  # fmt: skip
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
    from castwise.catalog import dialects as all_dialects
    from castwise.progress import progress_to
    from castwise.report.explorer import build_explorer

    names = chosen or all_dialects()
    with progress_to(f"Asking {len(names)} dialects", len(names)) as on_progress:
        files = build_explorer(output, names, docs, on_progress)
    size = f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB in {len(files)} files"
    click.echo(f"{output / 'index.html'}: {len(names)} dialects, {size}")
    return DONE
