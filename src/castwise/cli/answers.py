"""The commands that answer questions."""

from __future__ import annotations

import sys

import click

from castwise.cli.options import HOW_TO_CHOOSE, chosen_here, json_option
from castwise.cli.statuses import DONE, FOUND
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json, terminal_width


@click.command(context_settings={"ignore_unknown_options": True})  # "-int32[3]" is not an option
@click.argument("dialect")
@click.argument("expression", required=False)
@json_option
def explain(dialect: str, expression: str | None, as_json: bool) -> int:
    """Explain how a dialect arrives at a result, step by step.

    EXPRESSION is a call, or one operator with its operands. The exit status is 1 if the dialect
    refuses it. DIALECT may be left out where [tool.castwise] or CASTWISE_DIALECT names one.

    \b
    Examples:
      castwise explain torch "add(int32[3], 5.5)"
      castwise explain numpy "uint8[3] + 300"
    """
    from castwise.engine.ask import question_in
    from castwise.report.answers.explanation import explained, explanation_json, explanation_text

    found = explained(question_in(*_expression_and_dialect(dialect, expression)))
    if as_json:
        echo_json(explanation_json(found))
    else:
        click.echo(explanation_text(found, paint_for_stdout(), min(terminal_width(), 100)))
    return FOUND if found.is_refused else DONE


def _expression_and_dialect(first: str, second: str | None) -> tuple[str, str]:
    """The arguments of explain, of which the first may be left out where the settings have it."""
    from castwise.rules.catalog import is_dialect_name

    if second is not None:
        return second, first
    chosen = None if is_dialect_name(first) else chosen_here()
    if chosen is None:
        ctx = click.get_current_context()
        is_expression = any(mark in first for mark in "[( ")
        name = "DIALECT" if is_expression else "EXPRESSION"
        message = HOW_TO_CHOOSE if is_expression else None
        raise click.MissingParameter(message, ctx, ctx.command.params[0], f"'{name}'")
    return first, chosen


@click.command()
@click.option("--dialect", metavar="DIALECT",
              help="The dialect for lines that name none. Default: that of CASTWISE_DIALECT, or of "
              "[tool.castwise].")  # fmt: skip
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
    from castwise.report.answers.json_lines import answer_stream
    from castwise.report.answers.two_processes import TwoProcesses
    from castwise.rules.catalog import dialect_named

    dialect = chosen_here() if dialect is None else dialect
    if dialect is not None:
        dialect_named(dialect)  # an unknown one is wrong usage, not an error on every line
    answer = TwoProcesses(dialect).answer_lines
    is_well_formed = answer_stream(sys.stdin.buffer, sys.stdout.buffer, answer)
    return DONE if is_well_formed else FOUND
