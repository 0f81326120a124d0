"""The result of trying the fixes, for the terminal."""

from __future__ import annotations

from castwise.auditing.trying.trial import Trial
from castwise.report.amounts import counted, size_text


def trial_text(trial: Trial) -> str:
    """What the fixes change, measured."""
    if not trial.fixes:
        return "There are no fixes to try."
    lines = [f"With {counted(len(trial.fixes), 'fix', 'es')}, tried in memory:"]
    if trial.status:
        lines.append(f"  the program exits with status {trial.status}")
    before, after = (size_text(peak) for peak in trial.peak_memory)
    lines += [
        f"  findings     {trial.findings[0]:,} -> {trial.findings[1]:,}",
        f"  peak memory  {before} -> {after}",
    ]
    if trial.change:
        lines.append(f"  values       change by at most {trial.change.size:.1e} of their size"
                     f" ({trial.change.where})")  # fmt: skip
    return "\n".join(lines)
