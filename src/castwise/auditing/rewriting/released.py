"""Leaves alone the one method that counts references: `x.resize(n)` becomes `release(x).resize(n)`.

NumPy changes the size of an array in place only if nothing else refers to it, not even weakly. An
observer of the call would hold its method, and so the array. Only statements are meant: the method
returns nothing, while the functions of that name in libraries return what they made.
"""

from __future__ import annotations

import ast

from castwise.auditing.rewriting.building import at, name_of

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
