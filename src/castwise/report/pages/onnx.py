"""The page on what of castwise can be written in ONNX, made by trying every op in every dtype."""

from __future__ import annotations

import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, version

from castwise.graph.onnx.dtypes import ONNX_NAMES
from castwise.graph.onnx.installed import current_opset
from castwise.graph.onnx.runtimes import runtime_named
from castwise.graph.onnx.support import (
    REFERENCE_DIFFERS,
    RUNTIME_DIFFERS,
    Support,
    cells,
    computing_ops,
    lacking_dtypes,
    support,
)
from castwise.report.table.text import short_name
from castwise.vocab.dtypes import DType, dtype

_NOTICE = (
    "<!-- Written by docs/refresh.py, which tries every op: edit castwise.report.pages.onnx. -->"
)
_VERSIONS = re.compile(r"onnx (\S+), onnxruntime (\S+), opset (\d+)")
_INTRODUCTION = """\
# What can be written in ONNX

`g.to_onnx("model.onnx")` writes a traced graph as an ONNX model and returns it: standard ops, \
every cast explicit, so that no runtime promotes anything. Inputs are named after the function's \
parameters, outputs `out0`, `out1` and so on, and the size `n` of `float16[n]` is the model's `n`. \
[examples/export_onnx.py](../examples/export_onnx.py) shows it.

The opset is the newest that the installed onnx knows and, if onnxruntime is installed too, that \
it loads; `opset=` asks for another. What ONNX cannot say is an error that names each op and dtype \
with its place in the source.

## For a runtime

A runtime has kernels for some of what ONNX lists, and some of them round or wrap otherwise. \
`g.to_onnx("model.onnx", runtime="onnxruntime")` writes a model that onnxruntime {version} loads \
and computes to the values of this page: what has no kernel there is computed in a wider dtype \
(`bfloat16`, `int16`), functions of float64 are composed of others, sums and products of integers \
wrap, casts to small floats overflow as they should. What it has no arrays of is an error that \
names it: {has_no}; so is a determinant in float64, and nextafter in 8-bit floats. What it lacks \
is data in `castwise/graph/onnx/runtimes/`, with the script that asks it.

## How values are kept

- A small dtype that ONNX's op does not take, or that would be rounded between the ops of a \
composition, is cast to float32 or int32, computed, and cast back: rounded, or wrapped, once.
- Casts to 8-bit floats do not saturate: what is out of range becomes infinity or NaN.
- Integer division and remainders by zero are 0, shifts by too many bits shift everything out, \
integer powers wrap; ONNX leaves these undefined, so they are written out. Where the divisor or \
the exponent is a constant, the few ops that it needs are.
- The largest and smallest of an array with NaN is NaN, wherever it stands.
- complex64 is taken apart by its bits, computed in float32, or float64 where roundings would add \
up, and put together. complex128 can be \
moved and chosen from, no more.
- A negative power of integers, and a cast of a float that an integer dtype has no room for, is \
whatever the runtime makes of it. The sign of NaN is nobody's.
- x[i] = value is ScatterND, sorting TopK, with NaN as the largest; of an index that names a place \
twice, any one of the values may stay.
- Beside the ops below, what moves elements, sorts or takes them is written: reshape, \
permute_dims, broadcast_to, flip, roll, tile, repeat, concat, stack, indices, take, \
take_along_axis, sort, argsort, searchsorted, tril, triu, diagonal; so are tensordot, det \
and the norms. ONNX has no ops for the decompositions, solve, inv and the rest \
of linear algebra; Fourier transforms are not written.
- onnxruntime leaves out roundings between float16 ops unless its optimisations are off.
"""
_LEGEND = """\
`1` one op of ONNX, `c` composed of several; `w` computed in a wider dtype. Empty: the op is not \
computed in the dtype; `-`: ONNX cannot say it. Every cell but the last two sorts is judged by \
ONNX's reference evaluator; those with `·` by it alone, as onnxruntime has no kernels for them on \
the CPU. float6 is judged in opset 28. The tests compare values by castwise's rules: bit-equal for \
arithmetic, comparisons and all integers, 1 ulp for powers, a few for other functions; 32 of its \
size for a power of complex numbers, in which roundings add up.
"""


def installed_versions() -> tuple[str, str, str] | None:
    """Those of onnx and onnxruntime, and the opset; None where one of them is not installed."""
    try:
        return version("onnx"), version("onnxruntime"), str(current_opset())
    except PackageNotFoundError:
        return None


def versions_of(page: str) -> tuple[str, ...] | None:
    """The versions a page was written for."""
    found = _VERSIONS.search(page)
    return found.groups() if found else None


def onnx_page() -> str:
    """The page, for what is installed here."""
    found = {(name, held): _tried(name, held) for name, held in cells()}
    versions = installed_versions()
    assert versions is not None  # whoever asks for the page has looked
    said = "onnx {}, onnxruntime {}, opset {}".format(*versions)
    asked = runtime_named("onnxruntime")
    has_no = ", ".join(sorted(asked.has_no))
    introduction = _INTRODUCTION.format(version=asked.version, has_no=has_no)
    parts = [
        introduction.replace("\n\n", f"\n\n{_NOTICE}\n\n", 1),
        _differences(),
        f"## Every op in every dtype\n\nWith {said}. {_summary(found)}",
        _LEGEND,
        _table(found),
    ]
    return "\n".join(parts)


def _tried(name: str, held: DType) -> Support:
    opset = 28 if held.bits == 6 else current_opset()
    return support(name, held, opset, asks_runtime=held.kind != "complex" and held.bits != 6)


def _differences() -> str:
    lines = ["## Where a judge is not followed\n"]
    for judge, listed in (("The reference evaluator", REFERENCE_DIFFERS),
                          ("onnxruntime", RUNTIME_DIFFERS)):  # fmt: skip
        lines += [f"- {judge}, {op} in {held}: {why}." for (op, held), why in listed.items()]
    return "\n".join(lines) + "\n"


def _summary(found: dict[tuple[str, DType], Support]) -> str:
    counts = Counter(cell.how for cell in found.values())
    widened = sum(cell.is_widened for cell in found.values())
    twice = sum(cell.has_kernels for cell in found.values())
    lacking = ", ".join(held.name for held in lacking_dtypes())
    return (
        f"Of {len(found)} pairs of an op and a dtype, {counts['one op']} are one op of ONNX, "
        f"{counts['composed']} composed ({widened} of all in a wider dtype) and {counts['none']} "
        f"cannot be written; {twice} are judged by onnxruntime too. ONNX has no {lacking}.\n"
    )


def _table(found: dict[tuple[str, DType], Support]) -> str:
    dtypes = [dtype(name) for name in sorted(ONNX_NAMES, key=_order)]
    lines = [f"| op | {' | '.join(map(short_name, dtypes))} |", "|---" * (len(dtypes) + 1) + "|"]
    for name in computing_ops():
        row = [_mark(found.get((name, held))) for held in dtypes]
        lines.append(f"| {name} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _order(name: str) -> tuple[int, bool, int, str]:
    held = dtype(name)
    return held.rank, not held.is_signed, held.bits, name


def _mark(cell: Support | None) -> str:
    if cell is None:
        return ""
    if cell.how == "none":
        return "-"
    how = ("1" if cell.how == "one op" else "c") + "w" * cell.is_widened
    return how if cell.has_kernels else f"{how}·"
