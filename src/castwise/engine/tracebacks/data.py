"""What a reader of tracebacks has to know, as plain JSON.

There are two readers, the one in this folder and that of the interactive page. Both read the same
data: regular expressions of the kind that Python and JavaScript share, and tables of names.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Mapping
from typing import Any, TypeAlias

from castwise.rules.catalog import dialect_named
from castwise.rules.messages import Message, Messages, messages_of_frameworks
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.ops import OPS, SYMBOLS

Data: TypeAlias = "Mapping[str, Any]"
# A dtype as a word, "c10::Half", "unsigned char", or as Python shows its class.
_DTYPE = (
    r"(<class '[\w.\[\]]+'>|<dtype: '\w+'>"
    r"|(?:struct |unsigned |signed |long |short )?[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?:<\w+>)?)"
)
_SHAPES = {
    "op": r"([\w/]+(?:\.\w+)*)",
    "operands": r"(.+?)",
    "place": r"(\d{1,2})",
    "number": r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?j?)",
    "kind": "(bool|int|float|complex)",
    "any": r"\w+",
}
_SKIPPED = r"[\s\S]{0,4000}?"
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
# What kernels' names have after the op's.
_ENDINGS = (
    "all", "backward", "cpu", "cuda", "ext", "forward", "impl", "kernel", "lastdim", "mps", "out",
    "reduced", "float", "stub", "v2", "v3", "values", "vml", "with", "gemm",
)  # fmt: skip
# A Python number of a type, in notation.
_KINDS = {"bool": "True", "int": "i*", "float": "f*", "complex": "c*"}


@functools.lru_cache(maxsize=1)
def traceback_data() -> Data:
    """All that a reader needs, ready for `json.dumps`."""
    known = messages_of_frameworks()
    return {
        "patterns": [_pattern(m, own.framework) for own in known for m in own.messages],
        "frameworks": {own.framework: _names(own) for own in known},
        "packages": {folder: own.framework for own in known for folder in own.packages.split()},
        "signs": {text: dialect for own in known for text, dialect in own.signs.items()},
        "dtypes": sorted(CANONICAL),
        "ops": {
            name: {
                "operands": op.arity[0],
                "most": op.arity[1],
                "symbol": op.symbol,
                "condition_first": op.is_condition_first,
            }
            for name, op in OPS.items()
        },
        "symbols": {f"{symbol}{operands}": op for (symbol, operands), op in SYMBOLS.items()},
        "endings": list(_ENDINGS),
        "kinds": _KINDS,
    }


def _pattern(message: Message, framework: str) -> dict[str, Any]:
    pattern, groups = regular_expression(message.template)
    return {
        "pattern": pattern,
        "groups": groups,
        "framework": framework,
        "dialect": f"{framework}:{message.mode}" if message.mode else framework,
        "ops": message.op.split(),
        "form": message.form or None,
        "operands": message.operands.split(),
        "in_order": message.is_in_order,
    }


def regular_expression(template: str) -> tuple[str, list[str]]:
    """A template as a regular expression, and what its groups mean.

    >>> regular_expression("Found dtype {right} (at #{place})...")[1]
    ['right', 'place']
    """
    parts: list[str] = []
    groups: list[str] = []
    for text, name, _, _ in string.Formatter().parse(template):
        skips = [_literal(part) for part in text.split("...")]
        parts.append(_SKIPPED.join(skips))
        if name is not None:
            parts.append(_SHAPES.get(name, _DTYPE))
        if name not in (None, "any"):
            groups.append(str(name))
    return "".join(parts), groups


def _literal(text: str) -> str:
    """Text as it is, but for its spaces: a long message may be folded anywhere."""
    return re.sub(r"\s+", r"\\s+", _SPECIAL.sub(lambda found: f"\\{found[0]}", text))


def _names(own: Messages) -> dict[str, Any]:
    """How a framework spells dtypes and ops."""
    naming = dialect_named(own.framework).naming
    aliases = {alias: op for op, words in naming.aliases.items() for alias in words.split()}
    return {
        "dtypes": dict(own.dtypes),
        "ops": dict(own.ops),
        "calls": {**aliases, **own.calls},
        "prefixes": naming.prefixes.split(),
        "runs_on": own.runs_on.split(),
    }
