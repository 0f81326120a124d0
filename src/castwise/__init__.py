"""castwise decides, explains and executes dtype promotion as each tensor framework does.

>>> import castwise as cw
>>> cw.resolve("add", "int32[3]", 5.5, dialect="torch").result
float32

Importing castwise imports neither NumPy nor any framework; names load when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from castwise.auditing.enforcing.contexts import audit as audit
    from castwise.auditing.enforcing.decorated import audited as audited
    from castwise.auditing.enforcing.enforce import enforce as enforce
    from castwise.engine.ask import resolve as resolve
    from castwise.engine.decision import Cast as Cast
    from castwise.engine.decision import Decision as Decision
    from castwise.engine.explain import explain as explain
    from castwise.engine.types import can_cast as can_cast
    from castwise.engine.types import promote_types as promote_types
    from castwise.engine.types import result_type as result_type
    from castwise.errors import CastwiseError as CastwiseError
    from castwise.errors import PromotionError as PromotionError
    from castwise.errors import PromotionWarning as PromotionWarning
    from castwise.errors import ScalarRangeError as ScalarRangeError
    from castwise.errors import UsageError as UsageError
    from castwise.execute.calling.apply import apply as apply
    from castwise.execute.calling.counting import count_casts as count_casts
    from castwise.execute.tensor import Tensor as Tensor
    from castwise.execute.tensor import asarray as asarray
    from castwise.execute.variable import Variable as Variable
    from castwise.frameworks.implicit_promotion import ImplicitPromotion as ImplicitPromotion
    from castwise.graph.graph import Graph as Graph
    from castwise.graph.graph import load_graph as load_graph
    from castwise.graph.tracing.compile import compile as compile
    from castwise.graph.tracing.trace import trace as trace
    from castwise.report.diff.diff import diff as diff
    from castwise.report.table.table import table as table
    from castwise.rules.catalog import dialect_named as dialect  # noqa: F401
    from castwise.rules.catalog import dialects as dialects
    from castwise.rules.catalog import load_dialect as load_dialect
    from castwise.rules.default import current as current
    from castwise.rules.default import set_default as set_default
    from castwise.rules.default import use as use
    from castwise.rules.dialect import Dialect as Dialect
    from castwise.rules.rule import Rule as Rule
    from castwise.vocab.describing import describe as describe
    from castwise.vocab.dtypes import DType as DType
    from castwise.vocab.live import to_dtype as dtype  # noqa: F401
    from castwise.vocab.operands import Operand as Operand
    from castwise.vocab.ops import declare_op as declare_op
    from castwise.vocab.ops import ops as ops

__version__ = "0.2.0"

# public name -> module and name there
_NAMES = {
    "CastwiseError": "errors.CastwiseError",
    "PromotionError": "errors.PromotionError",
    "PromotionWarning": "errors.PromotionWarning",
    "ScalarRangeError": "errors.ScalarRangeError",
    "UsageError": "errors.UsageError",
    "DType": "vocab.dtypes.DType",
    "Operand": "vocab.operands.Operand",
    "describe": "vocab.describing.describe",
    "dtype": "vocab.live.to_dtype",
    "declare_op": "vocab.ops.declare_op",
    "ops": "vocab.ops.ops",
    "Dialect": "rules.dialect.Dialect",
    "Rule": "rules.rule.Rule",
    "ImplicitPromotion": "frameworks.implicit_promotion.ImplicitPromotion",
    "Tensor": "execute.tensor.Tensor",
    "Variable": "execute.variable.Variable",
    "apply": "execute.calling.apply.apply",
    "asarray": "execute.tensor.asarray",
    "count_casts": "execute.calling.counting.count_casts",
    "current": "rules.default.current",
    "dialect": "rules.catalog.dialect_named",
    "dialects": "rules.catalog.dialects",
    "load_dialect": "rules.catalog.load_dialect",
    "set_default": "rules.default.set_default",
    "use": "rules.default.use",
    "audit": "auditing.enforcing.contexts.audit",
    "audited": "auditing.enforcing.decorated.audited",
    "enforce": "auditing.enforcing.enforce.enforce",
    "Cast": "engine.decision.Cast",
    "Decision": "engine.decision.Decision",
    "can_cast": "engine.types.can_cast",
    "diff": "report.diff.diff.diff",
    "explain": "engine.explain.explain",
    "Graph": "graph.graph.Graph",
    "compile": "graph.tracing.compile.compile",
    "load_graph": "graph.graph.load_graph",
    "promote_types": "engine.types.promote_types",
    "resolve": "engine.ask.resolve",
    "result_type": "engine.types.result_type",
    "trace": "graph.tracing.trace.trace",
    "table": "report.table.table.table",
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
    return sorted([*_NAMES, "__version__"])
