"""What the shell completes: the names of dialects and of ops."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def complete_dialects(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The dialects whose names begin so, with what each is."""
    from castwise.rules.catalog import abouts, other_names

    known = {name: about.partition(":")[0] for name, about in abouts().items()}
    others = {name: framework for name, framework in other_names().items() if name != framework}
    return [
        CompletionItem(name, help=about)
        for name, about in {**known, **others}.items()
        if name.startswith(incomplete)
    ]


def complete_ops(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ops whose names begin so, with the family of each."""
    from castwise.vocab.ops import op, ops

    return [
        CompletionItem(name, help=op(name).family) for name in ops() if name.startswith(incomplete)
    ]


def complete_dialects_or_ops(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Both, where either may come first."""
    found = complete_dialects(context, parameter, incomplete)
    return [*found, *complete_ops(context, parameter, incomplete)]
