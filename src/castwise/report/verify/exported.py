"""An exported model beside its function, for the terminal and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from castwise.compare.exported.check import ExportCheck, Output
from castwise.compare.exported.model import Origin
from castwise.report.amounts import counted
from castwise.report.terminal.colour import Paint, plain


def export_text(found: ExportCheck, paint: Paint = plain) -> str:
    """Every output, in what it differs, and every cast in the model."""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    lines = [
        f"{found.model} beside {found.reference} on {found.framework}.",
        f"Installed: {versions}.",
        f"Inputs: {', '.join(found.inputs) or 'none'}.",
        _sentence(found),
        "",
    ]
    for place, output in enumerate(found.outputs):
        name = output.name or f"output {place}"
        lines.append(f"  {name}: {_output(output, paint)}")
    if found.casts:
        lines += ["", f"{counted(len(found.casts), 'cast')} in the model:"]
        lines += [f"  {_cast(cast)}" for cast in found.casts]
    return "\n".join(lines)


def _sentence(found: ExportCheck) -> str:
    different = sum(bool(output.problem) for output in found.outputs)
    count = counted(len(found.outputs), "output")
    verb = "differs" if different == 1 else "differ"
    return f"{different} of {count} {verb}." if different else f"All outputs agree: {count}."


def _output(output: Output, paint: Paint) -> str:
    if output.problem in ("missing", "extra"):
        had, lacks = ("function", "model") if output.model is None else ("model", "function")
        held = output.reference or output.model
        return f"{held} in the {had}; {paint(f'the {lacks} has no such output', 'refused')}"
    if output.problem in ("dtype", "shape"):
        text = f"function {output.reference}, model {paint(str(output.model), 'refused')}"
        return f"{text}{_from(output)}"
    apart = _far(output.ulps or 0.0)
    if output.problem:
        said = f"{counted(output.differing, 'element')} differ, {apart}"
        return f"{output.model}, {paint(said, 'refused')}"
    return f"{output.model}, {apart}"


def _far(ulps: float) -> str:
    if math.isinf(ulps):
        return "finite in only one of them"
    return f"at most {counted(int(ulps), 'ulp')} apart" if ulps else "equal"


def _from(output: Output) -> str:
    if output.problem != "dtype":
        return ""
    if output.origin is None:
        return "; an input has that dtype already"
    return f"\n    from node {_cast(output.origin)}"


def _cast(cast: Origin) -> str:
    return f"{cast.node} ({cast.op}): {cast.source} → {cast.target}"


def export_json(found: ExportCheck) -> dict[str, Any]:
    """The comparison as a JSON object."""
    data = asdict(found)
    for output, row in zip(found.outputs, data["outputs"], strict=True):
        is_finite = output.ulps is None or math.isfinite(output.ulps)
        row["ulps"] = output.ulps if is_finite else "infinite"  # JSON has no infinity
        row["origin"] = output.origin._asdict() if output.origin else None
    casts = [cast._asdict() for cast in found.casts]
    return {"agrees": found.agrees, **data, "casts": casts}
