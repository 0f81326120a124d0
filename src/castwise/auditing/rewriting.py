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
import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from castwise.auditing.records import Literal, Site, Unobserved

# New nodes of a syntax tree.

_Node = TypeVar("_Node", bound=ast.AST)


def at(place: ast.AST, node: _Node) -> _Node:
    """A new node at the position of an old one, so that tracebacks point at the user's source."""
    return ast.copy_location(node, place)


def name_of(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def observed_by(place: ast.AST, observer: str, mark: int, *arguments: ast.expr) -> ast.expr:
    """A call to an observer, at the position of an expression."""
    return at(place, ast.Call(name_of(observer), [ast.Constant(mark), *arguments], []))


def is_quiet(mark: int, quiet: str) -> ast.expr:
    """Whether a site is quiet; `quiet` is the name of the set of quiet sites."""
    return ast.Compare(ast.Constant(mark), [ast.In()], [name_of(quiet)])


def first_statement(body: list[ast.stmt]) -> int:
    """The first position for a new statement: after the docstring and __future__ imports."""
    for place, statement in enumerate(body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_future or (is_text and place == 0)):
            return place
    return len(body)


# The built-in functions whose calls are not observed like others.

# These inspect the calling frame, or must be called by that name.
UNTOUCHED = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
RUNNING = frozenset({"eval", "exec"})  # of these: what runs code that is not rewritten
# Builtins that neither create nor cast arrays: not worth observing.
PLAIN = frozenset(
    {
        "print", "len", "range", "isinstance", "issubclass", "hasattr", "getattr", "setattr",
        "delattr", "enumerate", "zip", "type", "id", "repr", "str", "list", "dict", "set",
        "frozenset", "tuple", "open", "iter", "next", "callable", "hash", "input", "ord", "chr",
        "format", "bytes", "bytearray", "memoryview", "object", "property", "staticmethod",
        "classmethod", "sorted", "reversed", "map", "filter", "breakpoint",
    }
)  # fmt: skip

# The marks by which rewritten source names its sites: integers, different in every file.

SITES_PER_FILE = 1 << 20


def full_path(path: str) -> str:
    """A file's absolute path; a name such as "<stdin>" stays unchanged."""
    return path if path.startswith("<") else os.path.abspath(path)


def first_mark(path: str) -> int:
    """The mark of a file's first site; the marks of different files do not overlap."""
    digest = hashlib.sha1(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:5], "big") * SITES_PER_FILE


# Questions about expressions in source.

_NUMBERS = (bool, int, float, complex)
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip


def operand(node: ast.expr, field: str) -> ast.expr:
    found = getattr(node, field)
    return found[0] if isinstance(found, list) else found  # type: ignore[no-any-return]


def set_operand(node: ast.expr, field: str, operand: ast.expr) -> None:
    is_list = isinstance(getattr(node, field), list)
    setattr(node, field, [operand] if is_list else operand)


def literal(node: ast.expr) -> Literal:
    """The Python number of a literal expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in _NUMBERS:
        return node.value  # type: ignore[return-value]
    return None


def is_text(node: ast.expr) -> bool:
    """Whether an operand is a string literal, as in formatting: the result is not an array."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and type(node.value) not in _NUMBERS
    )


def is_observed(name: int | str | None, argument: ast.expr) -> bool:
    """Whether an argument of a call is observed: a string only if it names a dtype."""
    return name == "dtype" or not is_text(argument)


def observed_arguments(call: ast.Call) -> int:
    """How many arguments of a call are observed."""
    named = [(keyword.arg, keyword.value) for keyword in call.keywords]
    given = [*enumerate(call.args), *named]
    return sum([is_observed(name, argument) for name, argument in given])


def is_plain(node: ast.expr) -> bool:
    """Whether an expression consists only of operators, names and numbers. Arrays in it show in its
    result."""
    if isinstance(node, ast.BinOp):
        return is_plain(node.left) and is_plain(node.right)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_plain(node.operand)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and is_plain(node.left) and is_plain(node.comparators[0])
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and is_plain(node.slice)
    return isinstance(node, (ast.Name, ast.Constant))


def is_fixed(node: ast.expr) -> bool:
    """Whether an index is a name or a number: evaluating it again runs no code."""
    return isinstance(node, ast.Name) or literal(node) is not None


def dotted(node: ast.expr) -> str | None:
    """A callee's text if it is a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else None
    return None


def suspends(node: ast.expr) -> bool:
    """Whether other code may run within an expression, at an await or a yield."""
    return any(isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


def unchanged_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The parameters that no statement rebinds, in a function and those nested in it."""
    parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    bound: set[str] = set()
    for statement in function.body:
        for node in ast.walk(statement):
            bound |= _bound_by(node)
    return frozenset(parameters - bound)


def _bound_by(node: ast.AST) -> set[str]:
    """The names that a syntax node itself binds."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, (ast.Nonlocal, ast.Global)):
        return set(node.names)
    names = [getattr(node, field, None) for field in ("name", "asname", "rest")]
    return {name.partition(".")[0] for name in names if isinstance(name, str)}


# Leaves alone the one method that counts references: `x.resize(n)` becomes `release(x).resize(n)`.
#
# NumPy changes the size of an array in place only if nothing else refers to it, not even weakly.
# An observer of the call would hold its method, and so the array. Only statements are meant: the
# method returns nothing, while the functions of that name in libraries return what they made.

RELEASE = "_@cw_release"  # a name that no Python source can contain
_COUNTING = "resize"


def rewritten_statement(rewriter: ast.NodeTransformer, node: ast.Expr) -> ast.AST:
    """Rewrites such a statement, and any other as it would be."""
    match node.value:
        case ast.Call(func=ast.Attribute(attr=name) as method) as call if name == _COUNTING:
            rewriter.generic_visit(call)  # what it is made of is observed, the call itself is not
            owner = method.value
            method.value = at(owner, ast.Call(name_of(RELEASE), [owner], []))
            return node
    return rewriter.generic_visit(node)


# Observes what an index takes from an array: `x[i]` becomes `took(7, x[i], x)`.
#
# NumPy's views name the array they belong to; a copy, as `x[mask]` makes, does not, and where its
# dtype comes from would be lost. `f()[i]` becomes `took(7, base(7, f())[i])`.

TOOK, BASE = "_@cw_took", "_@cw_base"  # names that no Python source can contain


def may_copy(node: ast.Subscript) -> bool:
    """Whether an index may take a copy of some elements: it is neither a number nor a slice."""
    if not isinstance(node.ctx, ast.Load):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return not all(_is_basic(part) for part in parts)


def _is_basic(part: ast.expr) -> bool:
    is_nothing = isinstance(part, ast.Constant) and part.value in (None, ...)
    return isinstance(part, ast.Slice) or is_nothing or literal(part) is not None


def observed_item(
    node: ast.Subscript, mark: int, visit: Callable[[ast.expr], ast.expr]
) -> ast.expr:
    """The expression with its observers; `visit` rewrites an expression in it."""
    if isinstance(node.value, ast.Name) and is_plain(node.slice):
        node.slice = visit(node.slice)
        return observed_by(node, TOOK, mark, node, copy.copy(node.value))
    node.value = observed_by(node.value, BASE, mark, visit(node.value))
    node.slice = visit(node.slice)
    return observed_by(node, TOOK, mark, node)


# Functions that another compiler reads: decorated by it, or passed to it.


class CompiledFunctions:
    """Which functions of a module are compiled, and by what."""

    def __init__(self, tree: ast.Module, compilers: Collection[str]) -> None:
        self._compilers = frozenset(compilers)
        self._imported = imported_names(tree)
        self._passed = dict(self._passed_to_compilers(tree))

    def compiler_of(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
        """The dotted name of the compiler that reads a function, or None."""
        for decorator in node.decorator_list:
            parts = [decorator]
            if isinstance(decorator, ast.Call):
                parts = [decorator.func, *decorator.args]  # @partial(compiler, ...)
            for part in parts:
                name = self._compiler(part)
                if name:
                    return name
        return self._passed.get(node.name)

    def _passed_to_compilers(self, tree: ast.Module) -> Iterator[tuple[str, str]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
                name = self._compiler(node.func)
                if name:
                    yield node.args[0].id, name

    def _compiler(self, node: ast.expr) -> str | None:
        """The compiler that an expression refers to through the module's imports."""
        name_in_source = dotted(node)
        if not name_in_source:
            return None
        first, dot, rest = name_in_source.partition(".")
        name = f"{self._imported.get(first, first)}{dot}{rest}"
        is_one = name in self._compilers or f"{name.partition('.')[0]}.*" in self._compilers
        return name if is_one else None


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The names that a module's imports bind, with what they refer to."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


# Observes what a program writes into arrays: `x[i] = value` becomes `x[i] = write(7, value, x)`.
#
# The observer returns the value, and Python itself writes it. `f()[i] = value` becomes `into(7,
# f())[i] = write(7, value)`, and so does each part of an assignment to several targets: `x[i],
# y[j] = value, 3` becomes `into(7, x)[i], into(8, y)[j] = write(7, value), write(8, 3)`. Each
# part runs once and in Python's order. What `f()` gives to `x[i], y = f()` shows only if it is a
# list or a tuple, which can be read without side effects: `into(7, x)[i], y = part(7, f(), 0,
# 2)`.

WRITE, INTO, PART = "_@cw_write", "_@cw_into", "_@cw_part"  # names that no source can contain

# Values that are neither an array nor a number, and comparisons, whose result fits everywhere.
_HARMLESS = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.Lambda, ast.Compare)

_Visit = Callable[[ast.expr], ast.expr]
_Mark = Callable[[ast.AST], int]  # makes the mark of a write


def is_write(node: ast.Assign) -> bool:
    """Whether an assignment may write into an array: `x[i] = value`, where the index is not a
    text."""
    return any(_may_write(target, node.value) for target in node.targets)


def _may_write(target: ast.expr, value: ast.expr) -> bool:
    targets, values = _elements(target), _elements(value)
    if targets is None:
        return _is_item(target) and not (is_text(value) or isinstance(value, _HARMLESS))
    if values is None or len(values) != len(targets):
        return any(_is_item(element) for element in targets)
    return any(_may_write(t, v) for t, v in zip(targets, values, strict=True))


def _elements(node: ast.expr) -> list[ast.expr] | None:
    """The elements of a tuple or list, if all of them show."""
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    return None if any(isinstance(e, ast.Starred) for e in node.elts) else node.elts


def _is_item(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and not is_text(target.slice)


def is_simple(node: ast.Assign) -> bool:
    """Whether an assignment consists only of operators, names and numbers."""
    return all(_is_plain(part) for part in (*node.targets, node.value))


def _is_plain(node: ast.expr) -> bool:
    elements = _elements(node)
    return is_plain(node) if elements is None else all(map(_is_plain, elements))


def are_quiet(marks: Sequence[int], quiet: str) -> ast.expr:
    """Whether all these sites are quiet; `quiet` is the name of the set of quiet sites."""
    tests = [is_quiet(mark, quiet) for mark in marks]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def observed_write(node: ast.Assign, mark: _Mark, visit: _Visit) -> ast.Assign:
    """The assignment with its observers; `visit` rewrites an expression in it."""
    target, *others = node.targets
    if others or not isinstance(target, ast.Subscript):
        value = visit(node.value)
        for target in node.targets:
            value = _observed(target, value, target, mark, visit)
        node.value = value
    elif isinstance(target.value, ast.Name):
        value, target.slice = visit(node.value), visit(target.slice)
        again = copy.copy(target.value)
        node.value = observed_by(node.value, WRITE, mark(node), value, again)
    else:
        node.value = _observed(target, visit(node.value), node, mark, visit)
    return node


def _observed(
    target: ast.expr, value: ast.expr, place: ast.AST, mark: _Mark, visit: _Visit
) -> ast.expr:
    """A value with the observers of what it is written to; the target gets its own. `place` is
    where the write is."""
    if not _may_write(target, value):
        visit(target)
        return value
    targets, values = _elements(target), _elements(value)
    if targets is None:
        number = _into(target, mark(place), visit)
        return observed_by(value, WRITE, number, value)
    if values is not None and len(values) == len(targets):
        pairs = zip(targets, values, strict=True)
        values[:] = [_observed(t, v, t, mark, visit) for t, v in pairs]
        return value
    for n, element in enumerate(targets):
        if not _is_item(element):
            visit(element)
            continue
        of, count = ast.Constant(n), ast.Constant(len(targets))
        value = observed_by(value, PART, _into(element, mark(element), visit), value, of, count)
    return value


def _into(target: ast.expr, mark: int, visit: _Visit) -> int:
    """Observes what is written to; gives its mark."""
    assert isinstance(target, ast.Subscript)  # by _is_item
    target.value = observed_by(target.value, INTO, mark, visit(target.value))
    target.slice = visit(target.slice)
    return mark


PREFIX = "_@cw_"
# Names that no Python source can contain, looked up among the builtins.
LEFT, RIGHT, POST, BEGIN = "_@cw_left", "_@cw_right", "_@cw_post", "_@cw_begin"
CALLEE, ARGUMENT, RETURNED = "_@cw_callee", "_@cw_argument", "_@cw_returned"
SETTLE, PEEK, QUIET, TEXT = "_@cw_settle", "_@cw_peek", "_@cw_quiet", "_@cw_text"
KEPT, KEY, FORGET, INDEX = "_@cw_kept", "_@cw_key", "_@cw_forget", "_@cw_index"

_ALL = (
    LEFT, RIGHT, POST, CALLEE, ARGUMENT, RETURNED, SETTLE, PEEK, QUIET, KEPT, KEY, FORGET, INDEX,
    TEXT, TOOK, BASE, WRITE, INTO, PART, RELEASE,
)  # fmt: skip

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
    visit_Expr = rewritten_statement  # noqa: N815 -- ast's name

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
            result = observed_by(node, WRITE, write, result, copy.copy(target.value))
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
        if not is_write(node):
            return self.generic_visit(node)
        marks: list[int] = []

        def mark(place: ast.AST) -> int:
            marks.append(self._mark(place, "write", "=", ()))
            return marks[-1]

        plain, observed = self._switched(node, is_simple(node), observed_write, mark)
        quiet = are_quiet(marks, QUIET)
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
