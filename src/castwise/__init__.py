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

if TYPE_CHECKING:
    from castwise import array_api
    from castwise.auditing.enforcing.contexts import audit
    from castwise.auditing.enforcing.decorated import audited
    from castwise.auditing.enforcing.enforce import enforce
    from castwise.engine.ask import resolve
    from castwise.engine.decision import Cast, Decision
    from castwise.engine.explaining.explain import explain
    from castwise.engine.types import can_cast, promote_types, result_type
    from castwise.errors import (
        CastwiseError,
        NearestVersionWarning,
        PromotionError,
        PromotionWarning,
        ScalarRangeError,
        UsageError,
    )
    from castwise.execute.calling.apply import apply
    from castwise.execute.calling.counting import count_casts
    from castwise.execute.tensor import Tensor, asarray
    from castwise.execute.variable import Variable
    from castwise.frameworks.implicit_promotion import ImplicitPromotion
    from castwise.graph.graph import Graph, load_graph
    from castwise.graph.tracing.compile import compile
    from castwise.graph.tracing.trace import trace
    from castwise.kernels.threads import get_threads, set_threads
    from castwise.report.diff.diff import diff
    from castwise.report.lattice.lattice import lattice
    from castwise.report.table.table import table
    from castwise.rules.catalog import dialect_named as dialect
    from castwise.rules.catalog import dialects, load_dialect
    from castwise.rules.default import current, set_default, use
    from castwise.rules.dialect import Dialect
    from castwise.rules.rule import Rule
    from castwise.vocab.describing import describe
    from castwise.vocab.dtypes import DType
    from castwise.vocab.live import to_dtype as dtype
    from castwise.vocab.operands import Operand
    from castwise.vocab.ops import declare_op, ops

__version__ = "0.2.0"

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

# Public name -> module and name there.
_NAMES = {
    "resolve": "engine.ask.resolve",
    "explain": "engine.explaining.explain.explain",
    "result_type": "engine.types.result_type",
    "promote_types": "engine.types.promote_types",
    "can_cast": "engine.types.can_cast",
    "dialects": "rules.catalog.dialects",
    "dialect": "rules.catalog.dialect_named",
    "ops": "vocab.ops.ops",
    "dtype": "vocab.live.to_dtype",
    "describe": "vocab.describing.describe",
    "table": "report.table.table.table",
    "diff": "report.diff.diff.diff",
    "lattice": "report.lattice.lattice.lattice",
    "use": "rules.default.use",
    "set_default": "rules.default.set_default",
    "current": "rules.default.current",
    "load_dialect": "rules.catalog.load_dialect",
    "ImplicitPromotion": "frameworks.implicit_promotion.ImplicitPromotion",
    "asarray": "execute.tensor.asarray",
    "Tensor": "execute.tensor.Tensor",
    "Variable": "execute.variable.Variable",
    "apply": "execute.calling.apply.apply",
    "count_casts": "execute.calling.counting.count_casts",
    "set_threads": "kernels.threads.set_threads",
    "get_threads": "kernels.threads.get_threads",
    "trace": "graph.tracing.trace.trace",
    "compile": "graph.tracing.compile.compile",
    "Graph": "graph.graph.Graph",
    "load_graph": "graph.graph.load_graph",
    "audit": "auditing.enforcing.contexts.audit",
    "audited": "auditing.enforcing.decorated.audited",
    "enforce": "auditing.enforcing.enforce.enforce",
    "declare_op": "vocab.ops.declare_op",
    "Dialect": "rules.dialect.Dialect",
    "Rule": "rules.rule.Rule",
    "Decision": "engine.decision.Decision",
    "Cast": "engine.decision.Cast",
    "Operand": "vocab.operands.Operand",
    "DType": "vocab.dtypes.DType",
    "CastwiseError": "errors.CastwiseError",
    "PromotionError": "errors.PromotionError",
    "ScalarRangeError": "errors.ScalarRangeError",
    "UsageError": "errors.UsageError",
    "PromotionWarning": "errors.PromotionWarning",
    "NearestVersionWarning": "errors.NearestVersionWarning",
}


def __getattr__(name: str) -> Any:
    if name == "array_api":  # a whole namespace, imported when first used like the other names
        return importlib.import_module("castwise.array_api")
    place = _NAMES.get(name)
    if place is None:
        raise AttributeError(f"module 'castwise' has no attribute {name!r}")
    module, _, attribute = place.rpartition(".")
    value = getattr(importlib.import_module(f"castwise.{module}"), attribute)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """Adds the magic %%audit; `%load_ext castwise` calls this."""
    importlib.import_module("castwise.plugins.ipython").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
