"""The result of trying the fixes, for the terminal."""

from __future__ import annotations

from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.trying.trial import Trial
from castwise.report.amounts import counted, place_text, size_text
from castwise.report.terminal.folding import folded

_LEFT_OUT = 3  # that are named


def trial_text(trial: Trial, width: int = 80) -> str:
    """What the fixes change, measured, and which were withdrawn."""
    if trial.stopped:
        return folded(f"The fixes were not tried: {trial.stopped}.", width)
    if not trial.fixes and not trial.withdrawn:
        return "There are no fixes to try."
    lines = []
    if trial.fixes:
        runs = counted(trial.runs, "more run")
        lines += [f"With {counted(len(trial.fixes), 'fix', 'es')}, tried in memory, in {runs}:"]
        lines += _measured(trial, width)
    if trial.withdrawn:
        fixes = sum(len(origin.withdrawn.fixes) for origin in trial.withdrawn if origin.withdrawn)
        lines.append(f"Withdrawn: {counted(fixes, 'fix', 'es')}.")
        lines += [folded(f"  {_place(origin)}: {_why(origin)}.", width, 4)
                  for origin in trial.withdrawn]  # fmt: skip
    return "\n".join(lines)


def _measured(trial: Trial, width: int) -> list[str]:
    before, after = (size_text(peak) for peak in trial.peak_memory)
    lines = [
        f"findings     {trial.findings[0]:,} -> {trial.findings[1]:,}",
        f"peak memory  {before} -> {after}",
        f"results      {_results(trial)}",
    ]
    if trial.left_out and not trial.not_compared:
        named = "; ".join(trial.left_out[:_LEFT_OUT])
        more = f"; and {len(trial.left_out) - _LEFT_OUT:,} more"
        named += more if len(trial.left_out) > _LEFT_OUT else ""
        lines.append(f"left out     what differs between two plain runs: {named}")
    return [folded(f"  {line}", width, 15) for line in lines]


def _results(trial: Trial) -> str:
    if trial.not_compared:
        return f"cannot be compared: {trial.not_compared}"
    if not trial.change or not trial.change.size:
        return "do not change"
    return f"change by at most {trial.change.size:.1e} of their size ({trial.change.where})"


def _place(origin: DtypeOrigin) -> str:
    assert origin.withdrawn is not None  # only called for such origins
    return place_text(origin.withdrawn.fixes[0].place)


def _why(origin: DtypeOrigin) -> str:
    assert origin.withdrawn is not None
    texts = " and ".join(fix.text for fix in origin.withdrawn.fixes)
    return f"with {texts}, {origin.withdrawn.why}"
