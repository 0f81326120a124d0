"""Questions about expressions in source."""

from __future__ import annotations

import ast

from castwise.auditing.records.places import Literal

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
