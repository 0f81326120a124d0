"""Rewrites a module so that its operands and results are observed; the program behaves the same.

`x + y` becomes `post(7, x + y, x, y)`, and `f(x) + y` becomes `post(7, left(7, f(x)) + y, ..., y)`:
an observer returns its argument, so the operation itself still runs in the user's frame. NumPy
reuses temporaries whose only reference is on that frame's stack, and tracebacks, stacklevels and
local variables stay the same. A name is read again after the operation; other operands are recorded
before it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from castwise.auditing.records.places import Literal, Site, Unobserved
from castwise.auditing.rewriting import released, writes
from castwise.auditing.rewriting.building import at, first_statement, is_quiet, name_of, observed_by
from castwise.auditing.rewriting.builtin_names import PLAIN, RUNNING, UNTOUCHED
from castwise.auditing.rewriting.compiled import CompiledFunctions
from castwise.auditing.rewriting.expressions import (
    SYMBOLS,
    dotted,
    is_fixed,
    is_observed,
    is_plain,
    is_text,
    literal,
    observed_arguments,
    operand,
    set_operand,
    suspends,
    unchanged_parameters,
)
from castwise.auditing.rewriting.items import BASE, TOOK, may_copy, observed_item
from castwise.auditing.rewriting.marks import first_mark

PREFIX = "_@cw_"
# Names that no Python source can contain, looked up among the builtins.
LEFT, RIGHT, POST, BEGIN = "_@cw_left", "_@cw_right", "_@cw_post", "_@cw_begin"
CALLEE, ARGUMENT, RETURNED = "_@cw_callee", "_@cw_argument", "_@cw_returned"
SETTLE, PEEK, QUIET, TEXT = "_@cw_settle", "_@cw_peek", "_@cw_quiet", "_@cw_text"
KEPT, KEY, FORGET, INDEX = "_@cw_kept", "_@cw_key", "_@cw_forget", "_@cw_index"

_ALL = (
    LEFT, RIGHT, POST, CALLEE, ARGUMENT, RETURNED, SETTLE, PEEK, QUIET, KEPT, KEY, FORGET, INDEX,
    TEXT, TOOK, BASE, writes.WRITE, writes.INTO, writes.PART, released.RELEASE,
)  # fmt: skip

_Node = TypeVar("_Node", bound=ast.AST)
_New = TypeVar("_New", bound=ast.AST)
_FunctionNode = TypeVar("_FunctionNode", ast.FunctionDef, ast.AsyncFunctionDef)


class Rewritten(NamedTuple):
    """A module's new syntax tree, and the sites of its marks."""

    tree: ast.Module
    sites: dict[int, Site]
    unobserved: list[Unobserved]


def rewrite(
    source: str | bytes,
    path: str,
    compilers: Collection[str] = (),
    *,
    is_main: bool = False,
    checks: bool = False,
) -> Rewritten:
    """The rewritten module. `compilers` are dotted names of decorators that compile the function
    themselves; a function under one stays unchanged. The main script reports when it starts. With
    `checks` all operands are recorded before the operation, so that it can be judged before it
    runs.

    Raises SyntaxError as compiling the source would.
    """
    new = rewrite_tree(ast.parse(source, path), path, compilers, checks=checks)
    if is_main:
        body = new.tree.body
        body.insert(first_statement(body), ast.Expr(ast.Call(name_of(BEGIN), [], [])))
        ast.fix_missing_locations(new.tree)
    return new


def rewrite_tree(
    tree: ast.Module, path: str, compilers: Collection[str] = (), *, checks: bool = False
) -> Rewritten:
    """Like rewrite, but from a syntax tree."""
    rewriter = _Rewriter(path, CompiledFunctions(tree, compilers), checks)
    tree = rewriter.visit(tree)
    ast.fix_missing_locations(tree)
    return Rewritten(tree, rewriter.sites, rewriter.unobserved)


class _Rewriter(ast.NodeTransformer):
    visit_Expr = released.rewritten_statement  # noqa: N815 -- ast's name

    def __init__(self, path: str, compiled: CompiledFunctions, checks: bool) -> None:
        self._checks = checks
        self.sites: dict[int, Site] = {}
        self.unobserved: list[Unobserved] = []
        self._first = first_mark(path)
        self._compiled = compiled
        self._repeats = False  # whether this code may run more than once
        self._unchanged: frozenset[str] = frozenset()  # parameters that are never rebound

    # ---- scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: _FunctionNode) -> _FunctionNode:
        compiler = self._compiled.compiler_of(node)
        if compiler:
            self.unobserved.append(Unobserved(node.lineno, node.name, compiler))
            return node
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self._defaults(node.args)
        outside = self._repeats, self._unchanged
        self._repeats, self._unchanged = True, unchanged_parameters(node)
        node.body = self._statements(node.body)  # annotations stay as they are
        self._repeats, self._unchanged = outside
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        body = self._statements(node.body)
        # A metaclass may give the body a custom namespace: observers bypass it.
        body.insert(first_statement(body), ast.Global(list(_ALL)))
        node.body = body
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        outside, self._repeats = self._repeats, True
        node.body = self.visit(node.body)
        self._repeats = outside
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._repeating(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._repeating(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._repeating(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._repeating(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._repeating(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self._repeating(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._repeating(node)

    def _repeating(self, node: ast.AST) -> ast.AST:
        outside, self._repeats = self._repeats, True
        self.generic_visit(node)
        self._repeats = outside
        return node

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            statements.extend(new if isinstance(new, list) else [new])
        return statements

    # ---- syntax that is not evaluated in place

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self.visit(node.guard)
        node.body = self._statements(node.body)
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node

    # ---- operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if is_text(node.left) or is_text(node.right):
            return self.generic_visit(node)
        if literal(node.left) is not None and literal(node.right) is not None:
            return node
        return self._operation(node, SYMBOLS[type(node.op)], ("left", "right"))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        if literal(node) is not None or isinstance(node.operand, ast.Constant):
            return node
        return self._operation(node, SYMBOLS[type(node.op)], ("operand",))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        symbol = SYMBOLS.get(type(node.ops[0]))
        if len(node.ops) > 1 or symbol is None or is_text(node.left):
            return self.generic_visit(node)
        return self._operation(node, symbol, ("left", "comparators"))

    def _operation(self, node: ast.expr, symbol: str, fields: tuple[str, ...]) -> ast.AST:
        """An operation with its observers. If arrays can only come from variables, a copy without
        observers takes over once the site has only seen plain numbers."""
        operands = [operand(node, name) for name in fields]
        is_switched = self._repeats and is_plain(node)
        plain = copy.deepcopy(node) if is_switched else None
        mark = self._mark(node, "operator", symbol, tuple(literal(o) for o in operands))
        outside, self._repeats = self._repeats, self._repeats and not is_switched
        is_steady = is_plain(operands[-1])
        known: list[ast.expr] = []
        for name, given, observer in zip(fields, operands, (LEFT, RIGHT), strict=False):
            observed, again = self._observed(given, observer, mark, is_steady or observer == RIGHT)
            set_operand(node, name, observed)
            known.append(again)
        self._repeats = outside
        whole = observed_by(node, SETTLE if outside else POST, mark, node, *known)
        if plain is None:
            return whole
        peeked = observed_by(node, PEEK, mark, plain)
        return at(node, ast.IfExp(is_quiet(mark, QUIET), peeked, whole))

    def _observed(
        self, given: ast.expr, observer: str, mark: int, is_steady: bool = True
    ) -> tuple[ast.expr, ast.expr]:
        """An operand as evaluated, and how to get it afterwards: a number, or a name that nothing
        rebinds in between, is read again; anything else is recorded before the operation."""
        if self._reads_again(given, is_steady) and not self._checks:
            return given, copy.copy(given)
        number = literal(given)
        if number is not None:
            return given, ast.Constant(number)
        return observed_by(given, observer, mark, self.visit(given)), ast.Constant(...)

    def _reads_again(self, node: ast.expr, is_steady: bool) -> bool:
        """Whether an expression is a name with the same value before and after the other operand:
        no code runs there, or the name is a parameter that is never rebound."""
        return isinstance(node, ast.Name) and (is_steady or node.id in self._unchanged)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if is_text(node.value) or suspends(node.value):
            return self.generic_visit(node)
        mark = self._mark(
            node, "augmented", SYMBOLS[type(node.op)] + "=", (None, literal(node.value))
        )
        if not isinstance(node.target, ast.Name):
            return self._aug_assign_part(node, node.target, mark)
        is_switched = self._repeats and is_plain(node.value)
        plain = copy.deepcopy(node) if is_switched else None
        outside, self._repeats = self._repeats, self._repeats and not is_switched
        node.value, value = self._observed(node.value, RIGHT, mark)
        self._repeats = outside
        target = at(node.target, ast.Name(node.target.id, ast.Load()))
        before = at(node, ast.Expr(observed_by(node, LEFT, mark, target)))
        logged = observed_by(
            node, SETTLE if outside else POST, mark, target, ast.Constant(...), value
        )
        steps: list[ast.stmt] = [before, node, at(node, ast.Expr(logged))]
        if plain is None:
            return steps
        quietly = [plain, at(node, ast.Expr(observed_by(node, PEEK, mark, target)))]
        return [at(node, ast.If(is_quiet(mark, QUIET), quietly, steps))]

    def _aug_assign_part(
        self, node: ast.AugAssign, target: ast.Attribute | ast.Subscript, mark: int
    ) -> list[ast.stmt]:
        """`a.b += c` or `a[i] += c` in steps, each part evaluated once and in Python's order."""
        is_switched = self._repeats and is_plain(target) and is_plain(node.value)
        plain = copy.deepcopy(node) if is_switched else None
        outside, self._repeats = self._repeats, self._repeats and not is_switched
        steps: list[ast.stmt] = []

        def kept(part: str, context: ast.expr_context) -> ast.expr:
            key = observed_by(target, KEY, mark, ast.Constant(part))
            return at(target, ast.Subscript(name_of(KEPT), key, context))

        def keep(part: str, value: ast.expr) -> ast.expr:
            steps.append(at(node, ast.Assign([kept(part, ast.Store())], value)))
            return kept(part, ast.Load())

        is_steady = is_plain(node.value)
        # Not `self.b = ...`: Python lists such assignments in a class's __static_attributes__.
        index = target.slice if isinstance(target, ast.Subscript) else None
        if not (index and self._reads_again(target.value, is_steady and is_plain(index))):
            target.value = keep("object", self.visit(target.value))
        if isinstance(target, ast.Subscript) and not (is_steady and is_fixed(target.slice)):
            index_object = ast.Subscript(name_of(INDEX), self.visit(target.slice), ast.Load())
            target.slice = keep("index", at(target, index_object))
        before = copy.copy(target)
        before.ctx = ast.Load()
        keep("value", observed_by(target, LEFT, mark, before))
        node.value, value = self._observed(node.value, RIGHT, mark)
        self._repeats = outside
        node.target = kept("value", ast.Store())  # type: ignore[assignment]
        observer = SETTLE if outside else POST
        result = observed_by(
            node, observer, mark, kept("value", ast.Load()), ast.Constant(...), value
        )
        if index and not is_text(index):
            write = self._mark(node, "write", "=", ())
            result = observed_by(node, writes.WRITE, write, result, copy.copy(target.value))
        steps += [node, at(node, ast.Assign([target], result))]
        forget = at(node, ast.Expr(observed_by(node, FORGET, mark)))
        observed = at(node, ast.Try(steps, [], [], [forget]))
        if plain is None:
            return [observed]
        plain.value = observed_by(plain.value, PEEK, mark, plain.value)
        return [at(node, ast.If(is_quiet(mark, QUIET), [plain], [observed]))]

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not may_copy(node):
            return self.generic_visit(node)
        mark = self._mark(node, "item", "[]", ())
        plain, observed = self._switched(node, is_plain(node), observed_item, mark)
        return at(node, ast.IfExp(is_quiet(mark, QUIET), plain, observed)) if plain else observed

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if not writes.is_write(node):
            return self.generic_visit(node)
        marks: list[int] = []

        def mark(place: ast.AST) -> int:
            marks.append(self._mark(place, "write", "=", ()))
            return marks[-1]

        plain, observed = self._switched(node, writes.is_simple(node), writes.observed_write, mark)
        quiet = writes.are_quiet(marks, QUIET)
        return at(node, ast.If(quiet, [plain], [observed])) if plain else observed

    def _switched(
        self, node: _Node, is_simple: bool, observe: Callable[..., _New], mark: object
    ) -> tuple[_Node | None, _New]:
        """A node with its observers, and a copy without any for when the site is quiet."""
        plain = copy.deepcopy(node) if self._repeats and is_simple else None
        outside, self._repeats = self._repeats, self._repeats and plain is None
        observed = observe(node, mark, self.visit)
        self._repeats = outside
        return plain, observed

    # ---- calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        callee = dotted(node.func)
        if callee in UNTOUCHED or callee in PLAIN:
            self.generic_visit(node)
            if callee in RUNNING and node.args and not isinstance(node.args[0], ast.Starred):
                mark = self._mark(node, "call", callee, ())
                node.args[0] = observed_by(node.args[0], TEXT, mark, node.args[0])
            return node
        mark = self._mark(node, "call", callee or "a call", (), observed_arguments(node))
        node.func = observed_by(node.func, CALLEE, mark, self.visit(node.func))
        node.args = [self._argument(mark, place, a) for place, a in enumerate(node.args)]
        for keyword in node.keywords:
            keyword.value = self._observe_as(mark, keyword.arg or "**", keyword.value)
        return observed_by(node, RETURNED, mark, node)

    def _argument(self, mark: int, place: int, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._observe_as(mark, "*", node.value)
            return node
        return self._observe_as(mark, place, node)

    def _observe_as(self, mark: int, name: int | str, node: ast.expr) -> ast.expr:
        if not is_observed(name, node):
            return self.visit(node)  # type: ignore[no-any-return]
        return observed_by(node, ARGUMENT, mark, ast.Constant(name), self.visit(node))

    def _mark(
        self,
        node: ast.AST,
        kind: str,
        name: str,
        literals: tuple[Literal, ...],
        arguments: int = 0,
    ) -> int:
        mark = self._first + len(self.sites)
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        self.sites[mark] = Site(*place, kind, name, literals, arguments)
        return mark
