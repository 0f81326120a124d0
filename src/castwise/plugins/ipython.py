"""The IPython magic: `%load_ext castwise`, then `%%audit` at the top of a cell."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from castwise.auditing.blocks import AuditLog, code_like, unobserved_as
from castwise.auditing.calls import is_observed, observed_code, rewritten_files
from castwise.auditing.hooks import compilers
from castwise.auditing.loading import CHECKED, prepare, register_sites
from castwise.auditing.log import UNOBSERVED
from castwise.auditing.patches.originals import keep_source
from castwise.auditing.records import Unobserved
from castwise.auditing.rewriting import CompiledFunctions, full_path, rewrite_tree
from castwise.auditing.suppressions import without_ignored
from castwise.report.audit import SHORT, audit_text
from castwise.report.terminal import paint_for, terminal_width

# The functions that earlier cells of a notebook define, observed while an audited cell runs.

_new_codes: dict[int, tuple[CodeType, CodeType]] = {}  # by id: the code, and the one with observers


@contextmanager
def functions_observed(
    namespace: dict[str, Any], cells: Iterable[str], flags: int
) -> Iterator[None]:
    """Gives the functions of a notebook's namespace observers for a while. `cells` are all cells'
    sources, and `flags` those that cells are compiled with."""
    rewriting = _Rewriting(_namespace_compilers(namespace), cells, flags)
    changed: list[tuple[FunctionType, CodeType]] = []
    try:
        for function in _defined_functions(namespace):
            new = rewriting.code_of(function.__code__)
            if new is not None:
                changed.append((function, function.__code__))
                function.__code__ = new
        yield
    finally:
        for function, code in changed:
            function.__code__ = code


def _namespace_compilers(namespace: Mapping[str, Any]) -> frozenset[str]:
    """The names of compilers, also as the namespace calls them: cells share their imports."""
    found = set(compilers())
    places = {name: _dotted(thing) for name, thing in list(namespace.items())}
    for compiler in compilers():
        target = _resolved(compiler)
        package = compiler.removesuffix(".*")
        for name, place in places.items():
            if package != compiler and place.partition(".")[0] == package:
                found.add(f"{name}.*")
            elif target is not None and namespace[name] is target:
                found.add(name)
            elif isinstance(namespace[name], ModuleType) and compiler.startswith(f"{place}."):
                found.add(name + compiler.removeprefix(place))
    return frozenset(found)


def _dotted(thing: Any) -> str:
    if isinstance(thing, ModuleType):
        return thing.__name__
    is_plain = isinstance(thing, FunctionType | BuiltinFunctionType | type)
    return str(thing.__module__) if is_plain else ""


def _resolved(compiler: str) -> Any:
    """The compiler of a dotted name, if its framework is loaded."""
    first, *rest = compiler.split(".")
    try:
        return functools.reduce(getattr, rest, sys.modules.get(first))
    except AttributeError:
        return None


def _defined_functions(namespace: dict[str, Any]) -> list[FunctionType]:
    """The functions that cells have defined: by name, in classes, and below decorators."""
    found: dict[int, FunctionType] = {}
    waiting = list(namespace.values())
    met: set[int] = set()
    while waiting:
        thing = waiting.pop()
        if id(thing) in met:
            continue
        met.add(id(thing))
        if isinstance(thing, FunctionType) and thing.__globals__ is namespace:
            found[id(thing)] = thing
        waiting += _within(thing, namespace)
    return list(found.values())


def _within(thing: Any, namespace: dict[str, Any]) -> list[Any]:
    """What a thing of a notebook holds that may be a function of it."""
    if isinstance(thing, ModuleType):
        return []
    if isinstance(thing, type):
        is_own = thing.__module__ == namespace.get("__name__")
        return list(vars(thing).values()) if is_own else []
    if isinstance(thing, property):
        return [thing.fget, thing.fset, thing.fdel]
    if isinstance(thing, staticmethod | classmethod):
        return [thing.__func__]
    if isinstance(thing, functools.partial):
        return [thing.func]
    held = [inspect.getattr_static(thing, name, None) for name in ("__wrapped__", "func")]
    if isinstance(thing, FunctionType):
        held += [_content(cell) for cell in thing.__closure__ or ()]
    return [part for part in held if part is not None]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


class _Rewriting:
    """Rewrites the cells in which functions are defined."""

    def __init__(self, names: frozenset[str], cells: Iterable[str], flags: int) -> None:
        self._compilers = names
        self._flags = flags
        self._module = functools.cache(self._rewritten)
        trees = [tree for cell in cells if (tree := _parsed(cell))]
        self._passed = [CompiledFunctions(tree, names) for tree in trees]

    def code_of(self, old: CodeType) -> CodeType | None:
        """The code with observers; None if it has them, its source cannot be read, or a compiler
        reads the function."""
        if is_observed(old) or self._is_compiled(old):
            return None
        known = _new_codes.get(id(old))
        if known is None:
            module = self._module(old.co_filename)
            new = code_like(old, module) if module else None
            if new is None or unobserved_as(old, UNOBSERVED.get(full_path(old.co_filename), ())):
                return None
            observed_code(new)
            known = _new_codes[id(old)] = (old, new)
        return known[1]

    def _is_compiled(self, code: CodeType) -> bool:
        """Whether some cell passes the function to a compiler."""
        if not code.co_name.isidentifier():
            return False  # a lambda, or the like
        (definition,) = ast.parse(f"def {code.co_name}(): pass").body
        assert isinstance(definition, ast.FunctionDef)
        why = next(filter(None, (cell.compiler_of(definition) for cell in self._passed)), None)
        if why:
            left = Unobserved(code.co_firstlineno, code.co_name, why)
            _list_unobserved(code.co_filename, [left])
        return why is not None

    def _rewritten(self, file: str) -> CodeType | None:
        tree = _parsed("".join(linecache.getlines(file)))
        if tree is None:
            return None
        flags = self._flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        observed = _observed_tree(tree, file, self._compilers)
        code: CodeType = compile(observed, file, "exec", flags, dont_inherit=True)
        return code


def _observed_tree(tree: ast.Module, file: str, compilers: frozenset[str]) -> ast.Module:
    """A cell with its observers."""
    new = rewrite_tree(tree, file, compilers, checks=True)
    register_sites(file, {mark: tuple(site) for mark, site in new.sites.items()})
    _list_unobserved(file, new.unobserved)
    return new.tree


def _list_unobserved(file: str, functions: Iterable[Unobserved]) -> None:
    """Lists functions of a cell that stay unchanged, each once."""
    noted = UNOBSERVED.setdefault(full_path(file), [])
    noted += [function for function in functions if function not in noted]


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source) if source else None
    except (SyntaxError, ValueError):  # magics, or nothing that Python reads
        return None


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
    rewriting = _CellRewriting(name, _namespace_compilers(shell.user_ns))
    prepare()
    rewritten_files.add(name)
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


class _CellRewriting:
    """A transformer that IPython calls with the syntax tree of a cell."""

    def __init__(self, name: str, compilers: frozenset[str]) -> None:
        self._name = name
        self._compilers = compilers

    def visit(self, tree: ast.Module) -> ast.Module:
        """The cell with its observers."""
        shows_last = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
        tree.body = [_as_one(statement) for statement in tree.body]
        new = _observed_tree(tree, self._name, self._compilers)
        if not shows_last:
            new.body.append(ast.Pass())  # IPython shows the value of a last expression
        return ast.fix_missing_locations(new)


def _as_one(statement: ast.stmt) -> ast.stmt:
    """A statement that stays a single one when rewritten: IPython runs each in its own frame."""
    if not isinstance(statement, ast.AugAssign):
        return statement
    return ast.copy_location(ast.If(ast.Constant(True), [statement], []), statement)
