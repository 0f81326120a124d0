"""The result of a verification, for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from castwise.compare.verify import Drift, Verification
from castwise.conformance.recorder import Cell
from castwise.report.terminal.colour import Paint, plain
from castwise.vocab.cell_words import NO_KERNEL, OUT_OF_RANGE, REFUSED

_EXAMPLES = 3  # per op
_FORMS = {
    "function": "", "operator": " as an operator", "augmented": " as x op= y",
    "inplace": " in place",
}  # fmt: skip


def verification_text(found: Verification, paint: Paint = plain) -> str:
    """The versions, whether all answers agree, and the drift op by op."""
    lines = [*sentences(found, paint), *_of_ops(found, found.drift, paint)]
    if found.kernels:
        lines += ["", kernels_sentence(found)]
    return "\n".join([*lines, *_of_ops(found, found.kernels, paint)])


def sentences(found: Verification, paint: Paint = plain) -> list[str]:
    """The versions, the dtypes that only one of the two has, and whether all answers agree."""
    installed = ", ".join(_version(found, part) for part in found.versions)
    lines = [
        f"Installed: {installed}.",
        f"{found.dialect.name} is {found.dialect.evidence.source}.",
    ]
    lines += _of_dtypes(found, paint)
    known = f", except {found.listed:,} known differences" if found.listed else ""
    if not found.drift:
        lines.append(f"All {found.compared:,} answers agree{known}.")
    else:
        lines.append(f"{len(found.drift):,} of {found.compared:,} answers differ{known}.")
    return lines


def kernels_sentence(found: Verification) -> str:
    """How many answers differ in nothing but a kernel."""
    count = f"{len(found.kernels):,} answers have the same dtype"
    return f"{count}, but only one of the two has a kernel for it."


def _of_ops(found: Verification, drift: Iterable[Drift], paint: Paint) -> list[str]:
    """Answers that differ, op by op."""
    lines = []
    for op, drifted in by_op(drift).items():
        lines += ["", f"{len(drifted):7,}  {paint(op, 'title')}"]
        for one in drifted[:_EXAMPLES]:
            lines += [
                f"         {question_text(one.cell)}",
                f"           {_answers(found, one, paint)}",
            ]
    return lines


def _of_dtypes(found: Verification, paint: Paint) -> list[str]:
    """The dtypes that only one of the two has, one line each."""
    missing, not_taken = (", ".join(names) for names in found.dtypes)
    lines = []
    if missing:
        lines.append(
            f"Dtypes of {found.framework} that castwise lacks: {paint(missing, 'refused')}."
        )
    if not_taken:
        lines.append(f"Dtypes that {found.framework} does not promote here: {not_taken}.")
    return lines


def by_op(drift: Iterable[Drift]) -> dict[str, list[Drift]]:
    """The drift of each op, the op with the most first."""
    grouped: dict[str, list[Drift]] = {}
    for one in drift:
        grouped.setdefault(one.cell.op, []).append(one)
    return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))


def verification_json(found: Verification) -> dict[str, Any]:
    """The verification as a JSON object, with every answer that differs."""
    return {
        "dialect": found.dialect.name,
        "evidence": found.dialect.evidence.source,
        "framework": found.framework,
        "installed": found.versions,
        "compared": found.compared,
        "listed": found.listed,
        "dtypes": {name: list(names) for name, names in found.dtypes._asdict().items()},
        "drift": [_as_json(drift) for drift in found.drift],
        "kernels": [_as_json(drift) for drift in found.kernels],
    }


def _as_json(drift: Drift) -> dict[str, Any]:
    return {
        "op": drift.cell.op,
        "form": drift.cell.form,
        "operands": list(drift.cell.operands),
        "framework": drift.cell.answer,
        "castwise": drift.answer,
    }


def _version(found: Verification, part: str) -> str:
    name = found.framework if part == "version" else part
    return f"{name} {found.versions[part]}"


def question_text(cell: Cell) -> str:
    """A cell's question, with the form that it is asked in."""
    is_chain = cell.form.startswith("then ")
    form = f" {cell.form}" if is_chain else _FORMS.get(cell.form, f" with {cell.form}")
    return f"{cell.op}({', '.join(cell.operands)}){form}"


def _answers(found: Verification, drift: Drift, paint: Paint) -> str:
    theirs, ours = answer_words(drift.cell.answer), answer_words(drift.answer)
    return f"{found.framework}: {theirs}, castwise: {paint(ours, 'refused')}"


def answer_words(answer: str) -> str:
    """A cell's answer in words."""
    if answer.startswith(NO_KERNEL):
        return answer.replace(f"{NO_KERNEL}:", "no kernel for ").replace(NO_KERNEL, "no kernel")
    return {REFUSED: "refused", OUT_OF_RANGE: "refused by value"}.get(answer, answer)
