"""pandas: what its own rules make of dtypes, as its results show it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit
from castwise.auditing.plans import stated_target
from castwise.auditing.records import Seen

# A line with a comment is a finding that reads so; all others are none.
_PROGRAM = """
    import numpy as np
    import pandas as pd

    whole = pd.Series(np.arange(5, dtype=np.int32))
    small = pd.Series(np.ones(5, dtype=np.float32))
    wide = pd.Series(np.ones(5, dtype=np.float64))
    frame = pd.DataFrame({"a": np.arange(3, dtype=np.int32), "b": np.ones(3, dtype=np.float32)})
    other = pd.DataFrame({"a": np.array([0, 7], dtype=np.int32), "k": [1, 2]})
    whole.reindex([0, 9])  # reindex(int32[5]) -> float64
    whole.where(whole > 2)  # where(int32[5], bool[5]) -> float64
    whole.shift(1)  # shift(int32[5]) -> float64
    pd.concat([whole, small])  # concat(int32[5], float32[5]) -> float64
    pd.concat([small, wide])  # concat(float32[5], float64[5]) -> float64
    frame.to_numpy()  # to_numpy((float32 and int32)[3,2]) -> float64
    frame.merge(other, how="left", on="a")  # (float32 and int32)[3,2], (int32 and int64)[2,2]
    small + wide  # float32[5] + float64[5] -> float64
    missing = pd.Series([1, 2, None], dtype="Int64")
    missing / 2  # Int64[3] / 2 -> Float64
    missing + 1
    pd.Series([1.5, None], dtype="Float32") * 2
    pd.Series([True, None], dtype="boolean") & True
    whole.reindex([0, 1])
    whole.where(whole > 2, 0)
    frame["c"] = 1
    frame["a"] = frame["a"] + 1
    whole + 1
    frame["name"] = "x"
    frame.sum(numeric_only=True)
    print(whole.mean())  # mean(
"""
_ARROW = """
    import pandas as pd

    column = pd.Series([1, 2], dtype="int32[pyarrow]")
    column + 1
    column / 2  # int32[pyarrow][2] / 2 -> double[pyarrow]
"""


def check(source: str, directory: Path) -> Seen:
    script = write(directory, script=source)
    lines = script.read_text().splitlines()
    planted = {n: line.split("  # ")[1] for n, line in enumerate(lines, 1) if "  # " in line}
    outcome, seen = audited(script.name, cwd=directory)
    assert outcome == plainly(script.name, cwd=directory)
    assert seen.counts.failures == {}
    audit = make_audit(seen)
    found = {finding.place.line: str(finding) for finding in audit.findings}
    assert found.keys() == planted.keys()
    assert [n for n, text in planted.items() if text not in found[n]] == []
    for fix in [fix for origin in audit.origins for fix in origin.fixes]:
        ast.parse(fix.text)
        assert "dtype=" not in fix.text or "np." in fix.text
    return seen


def test_what_pandas_makes(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    seen = check(_PROGRAM, tmp_path)
    # A column that becomes float64 because values are missing is not expected, arithmetic is.
    found = make_audit(seen, target=stated_target("float64")).findings
    expected = {str(finding) for finding in found if finding.is_expected}
    assert expected == {"Int64[3] / 2 -> Float64", "mean(np.int32[5]) -> float64"}


def test_what_pandas_makes_of_arrow_columns(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    check(_ARROW, tmp_path)
