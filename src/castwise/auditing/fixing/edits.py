"""Small changes to a piece of source that keep the rest of the text."""

from __future__ import annotations

import ast


def with_dtype(code: str, dtype: str, place: int | None = None) -> str | None:
    """A call with this dtype, given by name unless the call has it at its place; None if the text
    is not a call, or if its arguments do not show.

    >>> with_dtype("np.zeros(3)", "np.float32", 1)
    'np.zeros(3, dtype=np.float32)'
    >>> with_dtype("np.zeros(3, dtype=float)", "np.float32", 1)
    'np.zeros(3, dtype=np.float32)'
    >>> with_dtype("np.zeros(3, float)", "np.float32", 1)
    'np.zeros(3, np.float32)'
    """
    call = _call(code)
    if call is None or _hides_arguments(call):
        return None
    given = dtype_argument(code, place)
    if given is not None:
        return _replaced(code, given, dtype)
    start = code.rstrip()[:-1].rstrip()
    comma = "" if start.endswith(("(", ",")) else ","
    space = "" if start.endswith("(") else " "
    return f"{start}{comma}{space}dtype={dtype})"


def dtype_argument(code: str, place: int | None) -> ast.expr | None:
    """The argument of a call that is its dtype, given by name or at its place."""
    call = _call(code)
    if call is None:
        return None
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return keyword.value
    is_given = place is not None and place < len(call.args)
    return call.args[place] if is_given else None  # type: ignore[index]


def _hides_arguments(call: ast.Call) -> bool:
    """Whether a call spreads a list or a dictionary, which may hold the dtype."""
    is_spread = any(isinstance(argument, ast.Starred) for argument in call.args)
    return is_spread or any(keyword.arg is None for keyword in call.keywords)


def operands_of(code: str) -> list[str] | None:
    """The source text of the operands of an expression with one operator.

    >>> operands_of("img / 255")
    ['img', '255']
    """
    nodes = _operand_nodes(code)
    parts = [ast.get_source_segment(code, node) for node in nodes or ()]
    return [part for part in parts if part] or None


def with_operand(code: str, place: int, text: str) -> str | None:
    """An operation, in place or not, with another text for one of its operands.

    >>> with_operand("a + b", 1, "float(b)")
    'a + float(b)'
    """
    nodes = _operand_nodes(code)
    return _replaced(code, nodes[place], text) if nodes else None


def followed_by(code: str, tail: str) -> str:
    """An expression followed by an attribute or a call, in brackets if needed.

    >>> followed_by("a + b", ".astype(int)")
    '(a + b).astype(int)'
    """
    tree = _expression(code)
    binds = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)
    return f"{code}{tail}" if isinstance(tree, binds) else f"({code}){tail}"


def is_simple(code: str) -> bool:
    """Whether an expression may be evaluated twice: a name, or an attribute of one."""
    tree = _expression(code)
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return isinstance(tree, ast.Name)


def _operand_nodes(code: str) -> list[ast.expr] | None:
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.AugAssign):
        return [statement.target, statement.value]
    tree = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(tree, ast.Compare):
        return [tree.left, *tree.comparators]
    return [tree.left, tree.right] if isinstance(tree, ast.BinOp) else None


def _call(code: str) -> ast.Call | None:
    tree = _expression(code)
    return tree if isinstance(tree, ast.Call) else None


def _expression(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def _replaced(code: str, node: ast.expr, text: str) -> str | None:
    """One line of code with another text for one of its nodes."""
    if node.lineno != 1 or node.end_lineno != 1 or node.end_col_offset is None:
        return None
    raw = code.encode()
    return (raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]).decode()
