"""The IPython magic: `%load_ext castwise`, then `%%audit` at the top of a cell."""

from __future__ import annotations

import ast
import functools
import sys
from typing import Any

from castwise.auditing.accepting.accepted import without_ignored
from castwise.auditing.enforcing.contexts import AuditLog
from castwise.auditing.noting.callees import observed_file
from castwise.auditing.observing.originals import keep_source
from castwise.auditing.rewriting.rewrite import rewrite_tree
from castwise.auditing.running.loading import CHECKED, prepare, register_sites
from castwise.plugins.cells import functions_observed, namespace_compilers, note_unobserved
from castwise.report.audit.text import SHORT, audit_text
from castwise.report.terminal.colour import paint_for
from castwise.report.terminal.printing import terminal_width

_LISTING = SHORT._replace(
    how_to_list_expected="%%audit NAME keeps {} in NAME.audit.expected_findings"
)


def load(shell: Any) -> None:
    """Adds the magic to a running IPython."""
    shell.register_magic_function(functools.partial(_audit, shell), "cell", "audit")


def _audit(shell: Any, line: str, cell: str) -> None:
    """Runs the cell and shows every implicit cast in it and in the functions of earlier cells:
    `%%audit`, or `%%audit NAME` to keep the audit under a name, as `with cw.audit() as NAME`
    would."""
    kept_as = line.strip()
    if kept_as and not kept_as.isidentifier():
        from IPython.core.error import UsageError  # only available under IPython

        raise UsageError(f"%%audit takes a name for the audit, or nothing, not {kept_as!r}.")
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    rewriting = _Rewriting(name, namespace_compilers(shell.user_ns))
    prepare()
    observed_file(name)
    keep_source(name, source.encode(), checks=True)
    CHECKED.add(name)
    shell.ast_transformers.append(rewriting)
    try:
        cells = [*shell.user_ns.get("_ih", ()), source]
        with functions_observed(shell.user_ns, cells, shell.compile.flags), AuditLog() as log:
            shell.run_cell(cell)
    finally:
        if rewriting in shell.ast_transformers:
            shell.ast_transformers.remove(rewriting)
    width = min(terminal_width(sys.stdout), 100)
    found = without_ignored(log.audit)
    sys.stdout.write(f"{audit_text(found, paint_for(sys.stdout), width, _LISTING)}\n")
    if kept_as:
        shell.user_ns[kept_as] = log


class _Rewriting:
    """A transformer that IPython calls with the syntax tree of a cell."""

    def __init__(self, name: str, compilers: frozenset[str]) -> None:
        self._name = name
        self._compilers = compilers

    def visit(self, tree: ast.Module) -> ast.Module:
        """The cell with its observers."""
        shows_last = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
        tree.body = [_as_one(statement) for statement in tree.body]
        new = rewrite_tree(tree, self._name, self._compilers, checks=True)
        register_sites(self._name, {mark: tuple(site) for mark, site in new.sites.items()})
        note_unobserved(self._name, new.unobserved)
        if not shows_last:
            new.tree.body.append(ast.Pass())  # IPython shows the value of a last expression
        return ast.fix_missing_locations(new.tree)


def _as_one(statement: ast.stmt) -> ast.stmt:
    """A statement that stays a single one when rewritten: IPython runs each in its own frame."""
    if not isinstance(statement, ast.AugAssign):
        return statement
    return ast.copy_location(ast.If(ast.Constant(True), [statement], []), statement)
