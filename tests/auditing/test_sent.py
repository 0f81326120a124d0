"""What processes tell each other about the arrays they send."""

from __future__ import annotations

from pathlib import Path

import pytest

from castwise.auditing import arrays


def test_arrays_that_look_alike_and_come_from_two_lines_have_no_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"_file": tmp_path / "sent", "_makers": {}, "_read": 0}.items():
        monkeypatch.setattr(arrays, name, value)
    assert arrays.find_sent_maker("float64 (3,)") == 0  # there is no file yet
    arrays.share_maker("float64 (3,)", 7)
    arrays.share_maker("float64 (2,)", 8)
    assert [arrays.find_sent_maker(f"float64 ({n},)") for n in (3, 2, 1)] == [7, 8, 0]
    with (tmp_path / "sent").open("a") as other:  # another process
        other.write("9 float64 (3,)\n8 float64 (2,)\n")
    assert [arrays.find_sent_maker(f"float64 ({n},)") for n in (3, 2, 1)] == [0, 8, 0]
    arrays.share_maker("float64 (2,)", 0)  # made where nobody looked
    assert arrays.find_sent_maker("float64 (2,)") == 0
