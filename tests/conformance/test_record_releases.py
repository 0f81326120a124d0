"""What conformance/record_releases.py hands to pip."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("tomllib")  # which the script reads its list with

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "conformance" / "record_releases.py"))
INSTALLS = {release.name: SCRIPT["_installs"](release) for release in SCRIPT["releases"]()}


def test_a_release_is_installed_together_with_what_castwise_needs() -> None:
    (words,) = INSTALLS["torch@2.8"]
    assert words[:2] == ["torch==2.8.0", "numpy==2.4.6"]
    assert "ml_dtypes" in words


def test_nothing_beside_a_release_that_is_built_brings_a_newer_one() -> None:
    *_, beside, last = INSTALLS["numpy@1.20"]
    assert beside == ["--no-deps", "ml_dtypes==0.5.4"]
    assert "ml_dtypes" not in last
    assert "ml_dtypes" not in str(INSTALLS["numpy@1.19"])


def test_ops_that_never_end_are_not_asked_about() -> None:
    without = {release.name: release.without for release in SCRIPT["releases"]()}
    assert (without["mlx@0.29"], without["torch@2.8"]) == (("pow",), ())
