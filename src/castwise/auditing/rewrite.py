"""Rewrites a module so that its operands and results pass observers; the program stays the same.

`x + y` becomes `post(notes, 7, left(notes, 7, x) + right(notes, 7, y))`. An observer returns what
it is given, so the operation itself is still run by the user's frame: NumPy reuses temporaries
whose only reference is on that frame's stack, tracebacks and stacklevels count the same frames.
The notes are a dict of the running function, so recursion, threads, generators and coroutines
each have their own.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from castwise.auditing.compiled import CompiledFunctions
from castwise.auditing.expressions import dotted, is_plain, is_text, literal, operand, set_operand
from castwise.auditing.sites import Literal, Site, Unobserved, first_mark

# Names no Python source can contain; a leading underscore keeps them out of `import *`.
NOTES = "_@cw"  # a local variable of each function that has sites
TOP_NOTES = "_@cw_top"  # for module level and class bodies
THREAD_NOTES = "_@cw_thread"  # for functions that look at their own local variables
LEFT, RIGHT, POST = "_@cw_left", "_@cw_right", "_@cw_post"
CALLEE, ARGUMENT, RETURNED = "_@cw_callee", "_@cw_argument", "_@cw_returned"
SETTLE, PEEK, QUIET = "_@cw_settle", "_@cw_peek", "_@cw_quiet"
INDEX = "_@cw_index"

_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip
# These look at the frame that calls them, or need to be called by that name.
_UNTOUCHED = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
_LOOKS_AT_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})
# Builtins that make no array and cast none; calling them is not worth observing.
_PLAIN = frozenset(
    {
        "print", "len", "range", "isinstance", "issubclass", "hasattr", "getattr", "setattr",
        "delattr", "enumerate", "zip", "type", "id", "repr", "str", "list", "dict", "set",
        "frozenset", "tuple", "open", "iter", "next", "callable", "hash", "input", "ord", "chr",
        "format", "bytes", "bytearray", "memoryview", "object", "property", "staticmethod",
        "classmethod", "sorted", "reversed", "map", "filter", "breakpoint",
    }
)  # fmt: skip
_NUMBERS = (bool, int, float, complex)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_FunctionNode = TypeVar("_FunctionNode", ast.FunctionDef, ast.AsyncFunctionDef)


class Rewritten(NamedTuple):
    """A module's new syntax tree, and what its marks mean."""

    tree: ast.Module
    sites: dict[int, Site]
    unobserved: list[Unobserved]


def rewrite(source: str | bytes, path: str, compilers: Collection[str] = ()) -> Rewritten:
    """The rewritten module. `compilers` are dotted names of decorators that read the function
    themselves, such as "numba.njit"; a function under one stays as it is.

    Raises SyntaxError as compiling the source would.
    """
    tree = ast.parse(source, path)
    rewriter = _Rewriter(path, CompiledFunctions(tree, compilers))
    tree = rewriter.visit(tree)
    ast.fix_missing_locations(tree)
    return Rewritten(tree, rewriter.sites, rewriter.unobserved)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, path: str, compiled: CompiledFunctions) -> None:
        self.sites: dict[int, Site] = {}
        self.unobserved: list[Unobserved] = []
        self._first = first_mark(path)
        self._compiled = compiled
        self._notes: Callable[[], ast.expr] = _top_notes
        self._repeats = False  # whether this code may run more than once

    # ---- scopes

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = self._statements(node.body)
        return node

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
        outside, before = (self._notes, self._repeats), len(self.sites)
        looks = any(isinstance(n, ast.Name) and n.id in _LOOKS_AT_LOCALS for n in ast.walk(node))
        self._notes, self._repeats = (_thread_notes if looks else _local_notes), True
        node.body = self._statements(node.body)
        if len(self.sites) > before and not looks:
            first = 1 if ast.get_docstring(node, clean=False) is not None else 0
            opening = ast.Assign([ast.Name(NOTES, ast.Store())], ast.Dict([], []))
            node.body.insert(first, _at(node.body[0], opening))
        self._notes, self._repeats = outside
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        outside, before = (self._notes, self._repeats), len(self.sites)
        looks = any(isinstance(n, ast.Name) and n.id in _LOOKS_AT_LOCALS for n in ast.walk(node))
        self._notes, self._repeats = (_thread_notes if looks else _local_notes), True
        node.body = self.visit(node.body)
        if len(self.sites) > before and not looks:  # an empty dict is false: `or` goes on
            opening = ast.NamedExpr(ast.Name(NOTES, ast.Store()), ast.Dict([], []))
            node.body = _at(node.body, ast.BoolOp(ast.Or(), [opening, node.body]))
        self._notes, self._repeats = outside
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [self.visit(b) for b in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.body = self._statements(node.body)
        return node

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

    # ---- what is never evaluated as it stands

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
        return self._operation(node, _SYMBOLS[type(node.op)], ("left", "right"))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        if literal(node) is not None or isinstance(node.operand, ast.Constant):
            return node
        return self._operation(node, _SYMBOLS[type(node.op)], ("operand",))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        symbol = _SYMBOLS.get(type(node.ops[0]))
        if len(node.ops) > 1 or symbol is None or is_text(node.left):
            return self.generic_visit(node)
        return self._operation(node, symbol, ("left", "comparators"))

    def _operation(self, node: ast.expr, symbol: str, fields: tuple[str, ...]) -> ast.expr:
        """An operation with its observers. Where arrays can come from variables alone, a copy
        without them takes over once the site has proved to be about plain numbers."""
        is_switched = self._repeats and is_plain(node)
        plain = copy.deepcopy(node) if is_switched else None
        outside, self._repeats = self._repeats, self._repeats and not is_switched
        operands = [operand(node, name) for name in fields]
        mark = self._mark(node, "operator", symbol, tuple(literal(o) for o in operands))
        for name, given, observer in zip(fields, operands, (LEFT, RIGHT), strict=False):
            is_literal = literal(given) is not None
            observed: ast.expr = self.visit(given)
            if not is_literal:
                observed = self._observe(observer, mark, observed)
            set_operand(node, name, observed)
        self._repeats = outside
        whole = self._observe(SETTLE if plain else POST, mark, node)
        if plain is None:
            return whole
        peeked = ast.Call(_name(PEEK), [ast.Constant(mark), plain], [])
        return _at(node, ast.IfExp(_is_quiet(mark), _at(node, peeked), whole))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if is_text(node.value):
            return self.generic_visit(node)
        number = literal(node.value)
        mark = self._mark(node, "inplace", _SYMBOLS[type(node.op)] + "=", (None, number))
        is_name = isinstance(node.target, ast.Name)
        is_switched = is_name and self._repeats and is_plain(node.value)
        plain = copy.deepcopy(node) if is_switched else None
        outside, self._repeats = self._repeats, self._repeats and not is_switched
        value = self.visit(node.value)
        self._repeats = outside
        node.value = value if number is not None else self._observe(RIGHT, mark, value)
        if not isinstance(node.target, ast.Name):
            return self._aug_assign_part(node, node.target, mark)
        target = _at(node.target, ast.Name(node.target.id, ast.Load()))
        before = _at(node, ast.Expr(self._observe(LEFT, mark, target)))
        after = _at(node, ast.Expr(self._observe(SETTLE if plain else POST, mark, target)))
        if plain is None:
            return [before, node, after]
        peeked = ast.Call(_name(PEEK), [ast.Constant(mark), target], [])
        quietly = [plain, _at(node, ast.Expr(_at(node, peeked)))]
        return [_at(node, ast.If(_is_quiet(mark), quietly, [before, node, after]))]

    def _aug_assign_part(
        self, node: ast.AugAssign, target: ast.Attribute | ast.Subscript, mark: int
    ) -> list[ast.stmt]:
        """`a.b += c` or `a[i] += c` in steps, each part evaluated once and in Python's order."""
        places = [ast.Constant(f"{part}{mark}") for part in ("object", "index", "value")]

        def kept(place: ast.Constant, context: ast.expr_context) -> ast.expr:
            return _at(target, ast.Subscript(self._notes(), place, context))

        def part(context: ast.expr_context) -> ast.expr:
            held = kept(places[0], ast.Load())
            if isinstance(target, ast.Attribute):
                return _at(target, ast.Attribute(held, target.attr, context))
            return _at(target, ast.Subscript(held, kept(places[1], ast.Load()), context))

        def keep(place: ast.Constant, value: ast.expr) -> ast.stmt:
            return _at(node, ast.Assign([kept(place, ast.Store())], value))

        steps = [keep(places[0], self.visit(target.value))]
        if isinstance(target, ast.Subscript):
            index = ast.Subscript(_name(INDEX), self.visit(target.slice), ast.Load())
            steps.append(keep(places[1], _at(target, index)))
        steps.append(keep(places[2], self._observe(LEFT, mark, part(ast.Load()))))
        node.target = kept(places[2], ast.Store())  # type: ignore[assignment]
        steps.append(node)
        result = self._observe(POST, mark, kept(places[2], ast.Load()))
        steps.append(_at(node, ast.Assign([part(ast.Store())], result)))
        forget: list[ast.stmt] = [_at(node, ast.Expr(self._forgotten(place))) for place in places]
        return [_at(node, ast.Try(steps, [], [], forget))]

    def _forgotten(self, place: ast.Constant) -> ast.expr:
        pop = ast.Attribute(self._notes(), "pop", ast.Load())
        return ast.Call(pop, [place, ast.Constant(None)], [])

    # ---- calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        written = dotted(node.func)
        if written in _UNTOUCHED or written in _PLAIN:
            return self.generic_visit(node)
        mark = self._mark(node, "call", written or "a call", ())
        node.func = self._observe(CALLEE, mark, self.visit(node.func))
        node.args = [self._argument(mark, place, a) for place, a in enumerate(node.args)]
        for keyword in node.keywords:
            name = "**" if keyword.arg is None else keyword.arg
            keyword.value = self._observe_as(mark, name, self.visit(keyword.value))
        return self._observe(RETURNED, mark, node)

    def _argument(self, mark: int, place: int, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._observe_as(mark, "*", self.visit(node.value))
            return node
        return self._observe_as(mark, place, self.visit(node))

    def _observe_as(self, mark: int, name: int | str, node: ast.expr) -> ast.expr:
        called = [self._notes(), ast.Constant(mark), ast.Constant(name), node]
        return _at(node, ast.Call(_name(ARGUMENT), called, []))

    # ---- marks

    def _mark(self, node: ast.AST, kind: str, name: str, literals: tuple[Literal, ...]) -> int:
        mark = self._first + len(self.sites)
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        self.sites[mark] = Site(*place, kind, name, literals)
        return mark

    def _observe(self, observer: str, mark: int, node: ast.expr) -> ast.expr:
        called = [self._notes(), ast.Constant(mark), node]
        return _at(node, ast.Call(_name(observer), called, []))


_Node = TypeVar("_Node", bound=ast.AST)


def _at(place: ast.AST, node: _Node) -> _Node:
    """A new node where an old one stands, so that tracebacks point at the user's source."""
    return ast.copy_location(node, place)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _top_notes() -> ast.expr:
    return _name(TOP_NOTES)


def _local_notes() -> ast.expr:
    return _name(NOTES)


def _thread_notes() -> ast.expr:
    return ast.Call(_name(THREAD_NOTES), [], [])


def _is_quiet(mark: int) -> ast.expr:
    return ast.Compare(ast.Constant(mark), [ast.In()], [_name(QUIET)])
