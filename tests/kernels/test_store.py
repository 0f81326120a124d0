"""Kernels on disk: private, whole or not there, and never in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from castwise.kernels.resources import CACHE_VARIABLE, keep_code, kept_code


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def test_what_is_written_is_read(place: Path) -> None:
    assert kept_code("a") is None
    keep_code("a", b"code")
    assert kept_code("a") == b"code"
    assert [file.name for file in place.iterdir()] == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_nobody_else_can_read_it(place: Path) -> None:
    keep_code("a", b"code")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (place, place / "a")]
    assert modes == [0o700, 0o600]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_what_others_can_write_is_not_run(place: Path) -> None:
    keep_code("a", b"code")
    (place / "a").chmod(0o622)
    assert kept_code("a") is None
    (place / "a").chmod(0o600)
    place.chmod(0o777)
    assert kept_code("a") is None


def test_a_damaged_file_counts_as_none(place: Path) -> None:
    keep_code("a", b"code")
    (place / "a").write_bytes((place / "a").read_bytes()[:-1])
    assert kept_code("a") is None


def test_off_writes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "off")
    keep_code("a", b"code")
    assert kept_code("a") is None
    assert not place.exists()


def test_a_directory_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    keep_code("a", b"code")
    assert kept_code("a") is None


def test_the_oldest_go_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.kernels.resources._MOST_BYTES", 100)
    for number, name in enumerate("abc"):
        keep_code(name, bytes(20))
        os.utime(place / name, (number, number))
    keep_code("d", bytes(20))
    assert sorted(file.name for file in place.iterdir()) == ["d"] or kept_code("a") is None
    assert kept_code("d") is not None
