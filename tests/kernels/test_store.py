"""Kernels on disk: private, whole or not there, and never in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from castwise.kernels import disk


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(disk.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def test_what_is_written_is_read(place: Path) -> None:
    assert disk.read("a") is None
    disk.write("a", b"code")
    assert disk.read("a") == b"code"
    assert [file.name for file in place.iterdir()] == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_nobody_else_can_read_it(place: Path) -> None:
    disk.write("a", b"code")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (place, place / "a")]
    assert modes == [0o700, 0o600]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_what_others_can_write_is_not_run(place: Path) -> None:
    disk.write("a", b"code")
    (place / "a").chmod(0o622)
    assert disk.read("a") is None
    (place / "a").chmod(0o600)
    place.chmod(0o777)
    assert disk.read("a") is None


def test_a_damaged_file_counts_as_none(place: Path) -> None:
    disk.write("a", b"code")
    (place / "a").write_bytes((place / "a").read_bytes()[:-1])
    assert disk.read("a") is None


def test_off_writes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(disk.VARIABLE, "off")
    disk.write("a", b"code")
    assert disk.read("a") is None
    assert not place.exists()


def test_a_directory_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(disk.VARIABLE, str(tmp_path / "file"))
    disk.write("a", b"code")
    assert disk.read("a") is None


def test_the_oldest_go_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_MOST_BYTES", 100)
    for number, name in enumerate("abc"):
        disk.write(name, bytes(20))
        os.utime(place / name, (number, number))
    disk.write("d", bytes(20))
    assert sorted(file.name for file in place.iterdir()) == ["d"] or disk.read("a") is None
    assert disk.read("d") is not None
