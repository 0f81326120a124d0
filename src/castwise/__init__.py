"""castwise decides, explains and executes dtype promotion as each tensor framework does.

>>> import castwise as cw
>>> cw.resolve("add", "int32[3]", 5.5, dialect="torch").result
float32

What there is; help(castwise.resolve) tells more about a name:

    Ask                     resolve, explain, result_type, promote_types, can_cast
    Look up                 dialects, dialect, ops, dtype, describe, table, diff, lattice
    Choose the rules        use, set_default, current, load_dialect, ImplicitPromotion
    Compute                 asarray, Tensor, Variable, apply, count_casts, array_api,
                            set_threads, get_threads
    Write it down           trace, compile, Graph, load_graph
    Find casts in programs  audit, audited, enforce
    Extend                  declare_op, Dialect, Rule
    Answers                 Decision, Cast, Operand, DType
    Errors and warnings     CastwiseError, PromotionError, ScalarRangeError, UsageError,
                            PromotionWarning, NearestVersionWarning

The command line does the same: `castwise --help`. Importing castwise imports neither NumPy nor any
framework; names load when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from castwise import above

if TYPE_CHECKING:
    from castwise import array_api
    from castwise.arrays.fast_path import count_casts
    from castwise.arrays.tensor import Tensor, Variable, apply, asarray
    from castwise.auditing.blocks import audit, audited, enforce
    from castwise.catalog import current, dialects, load_dialect, set_default, use
    from castwise.catalog import dialect_named as dialect
    from castwise.comparing.diff import diff
    from castwise.comparing.table import lattice, table
    from castwise.engine.ask import can_cast, promote_types, resolve, result_type
    from castwise.engine.decision import Cast, Decision
    from castwise.engine.explain import explain
    from castwise.errors import (
        CastwiseError,
        NearestVersionWarning,
        PromotionError,
        PromotionWarning,
        ScalarRangeError,
        UsageError,
    )
    from castwise.frameworks.implicit_promotion import ImplicitPromotion
    from castwise.graph.compile import compile
    from castwise.graph.graph import Graph, load_graph, trace
    from castwise.kernels.resources import get_threads, set_threads
    from castwise.rules.dialect import Dialect
    from castwise.rules.rule import Rule
    from castwise.version import __version__
    from castwise.vocab.dtypes import DType
    from castwise.vocab.live import to_dtype as dtype
    from castwise.vocab.notation import describe
    from castwise.vocab.operands import Operand
    from castwise.vocab.ops import declare_op, ops

# In the groups of the text above.
__all__ = [  # noqa: RUF022
    "resolve", "explain", "result_type", "promote_types", "can_cast",
    "dialects", "dialect", "ops", "dtype", "describe", "table", "diff", "lattice",
    "use", "set_default", "current", "load_dialect", "ImplicitPromotion",
    "asarray", "Tensor", "Variable", "apply", "count_casts", "array_api",
    "set_threads", "get_threads",
    "trace", "compile", "Graph", "load_graph",
    "audit", "audited", "enforce",
    "declare_op", "Dialect", "Rule",
    "Decision", "Cast", "Operand", "DType",
    "CastwiseError", "PromotionError", "ScalarRangeError",
    "UsageError", "PromotionWarning", "NearestVersionWarning",
    "__version__",
]  # fmt: skip

# Module -> the public names that it defines.
_MODULES = {
    "engine.ask": "resolve result_type promote_types can_cast",
    "engine.explain": "explain",
    "engine.decision": "Decision Cast",
    "catalog": "dialects use set_default current load_dialect",
    "rules.dialect": "Dialect",
    "rules.rule": "Rule",
    "frameworks.implicit_promotion": "ImplicitPromotion",
    "vocab.dtypes": "DType",
    "vocab.notation": "describe",
    "vocab.operands": "Operand",
    "vocab.ops": "ops declare_op",
    "comparing.diff": "diff",
    "comparing.table": "table lattice",
    "arrays.tensor": "asarray Tensor Variable apply",
    "arrays.fast_path": "count_casts",
    "kernels.resources": "set_threads get_threads",
    "graph.compile": "compile",
    "graph.graph": "trace Graph load_graph",
    "auditing.blocks": "audit audited enforce",
    "errors": "CastwiseError PromotionError ScalarRangeError UsageError PromotionWarning"
    " NearestVersionWarning",
    "version": "__version__",
}
_NAMES = {name: f"{module}.{name}" for module, names in _MODULES.items() for name in names.split()}
# Those that have another name there.
_NAMES |= {"dialect": "catalog.dialect_named", "dtype": "vocab.live.to_dtype"}


def __getattr__(name: str) -> Any:
    if name == "array_api":  # a whole namespace, imported when first used like the other names
        return importlib.import_module("castwise.array_api")
    if name not in _NAMES:
        raise AttributeError(f"module 'castwise' has no attribute {name!r}")
    value = globals()[name] = _loaded(_NAMES[name])
    return value


def _loaded(place: str) -> Any:
    """What a module defines, by its place in the package: `report.table.table`."""
    module, _, attribute = place.rpartition(".")
    return getattr(importlib.import_module(f"castwise.{module}"), attribute)


# What low rooms know of high ones.
above.report_text = lambda result: _loaded("report.showing.report_text")(result)
above.report_html = lambda result: _loaded("report.showing.report_html")(result)
above.cast_inputs = lambda *asked: _loaded("arrays.calls.cast_inputs")(*asked)
above.array_namespace = lambda: importlib.import_module("castwise.array_api")


def load_ipython_extension(shell: Any) -> None:
    """Adds the magic %%audit; `%load_ext castwise` calls this."""
    importlib.import_module("castwise.plugins.ipython").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
