"""Rewritten code is kept on disk by all that it depends on, and a broken cache does no harm."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from castwise.auditing import compile, loading
from castwise.auditing.loading import Finder, is_users_own, rewritten
from castwise.auditing.log import UNOBSERVED
from processes import started

SOURCE = b"x = 1\ndef f(a, b):\n    return a + b\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the cache, empty."""
    monkeypatch.delenv("CASTWISE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "cache" / "castwise"


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def names_of(source: bytes, path: str = "m.py") -> tuple[str, ...]:
    code, *_ = rewritten(source, path)
    return code.co_names


def test_the_second_time_comes_from_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rewritten(SOURCE, "m.py")
    assert len(files(cache)) == 1
    monkeypatch.setattr(compile, "rewrite", None)  # it is not asked again
    assert rewritten(SOURCE, "m.py") == first


def test_the_cache_is_keyed_by_all_that_the_code_depends_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(SOURCE, "m.py")
    rewritten(SOURCE + b"y = 2\n", "m.py")
    rewritten(SOURCE, "other.py")
    rewritten(SOURCE, "m.py", is_main=True)
    monkeypatch.setattr(compile, "__version__", "99")
    rewritten(SOURCE, "m.py")
    monkeypatch.setattr(sys, "version", "3.99")
    rewritten(SOURCE, "m.py")
    assert len(files(cache)) == 6


@pytest.mark.parametrize("broken", [b"", b"x", b"\0" * 100, None])
def test_a_broken_cache_file_is_written_anew(cache: Path, broken: bytes | None) -> None:
    first = rewritten(SOURCE, "m.py")
    (kept,) = files(cache)
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-7] if broken is None else broken)
    assert rewritten(SOURCE, "m.py") == first
    assert kept.read_bytes() == whole


def test_a_changed_byte_is_noticed(cache: Path) -> None:
    first = rewritten(SOURCE, "m.py")
    (kept,) = files(cache)
    whole = bytearray(kept.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    kept.write_bytes(whole)
    assert rewritten(SOURCE, "m.py") == first


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rewritten(SOURCE, "m.py")[0].co_filename == "m.py"


def test_nothing_is_written_where_python_writes_no_code_unless_a_directory_is_chosen(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = rewritten(SOURCE, "m.py")
    assert files(cache) == []
    monkeypatch.setenv("CASTWISE_CACHE_DIR", str(tmp_path / "chosen"))
    assert rewritten(SOURCE, "m.py") == first
    assert files(cache) == []
    assert len(files(tmp_path / "chosen")) == 1
    monkeypatch.setattr(compile, "rewrite", None)
    assert rewritten(SOURCE, "m.py") == first


def test_what_no_run_needs_is_removed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten(SOURCE, "m.py")
    (kept,) = files(cache)
    month = 30 * 24 * 3600
    for name, age in ("old", 3 * month), ("newer", month):
        (kept.parent / name).write_bytes(b"")
        os.utime(kept.parent / name, (0, kept.stat().st_mtime - age))
    os.utime(kept, (0, kept.stat().st_mtime - month))
    assert rewritten(SOURCE, "m.py")  # a read renews it
    assert time.time() - kept.stat().st_mtime < month / 2
    kept.unlink()
    rewritten(SOURCE, "m.py")
    assert {file.name for file in files(cache)} == {kept.name, "newer"}


def test_many_processes_may_write_at_once(cache: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from castwise.auditing.loading import rewritten\n"
        f"for n in range(50):\n    rewritten({SOURCE!r} + b'#' * (n % 5), 'm.py')\n"
    )
    environment = {**os.environ, "CASTWISE_CACHE_DIR": str(tmp_path / "shared")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", code]
    with ExitStack() as stack:
        running = [stack.enter_context(started(command, env=environment)) for _ in range(4)]
        assert [process.wait() for process in running] == [0] * 4
    found = files(tmp_path / "shared")
    assert len(found) == 5
    assert all(compile._read_entry(file) for file in found)


@pytest.fixture
def finder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Finder]:
    """A finder for what lies in a directory, which is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    found = Finder()
    sys.meta_path.insert(0, found)
    before = set(sys.modules)
    yield found
    sys.meta_path.remove(found)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_module_of_the_user_s_gets_its_code_and_keeps_its_loader(
    finder: Finder, tmp_path: Path
) -> None:
    (tmp_path / "castwise_own_module.py").write_bytes(SOURCE)
    spec = importlib.util.find_spec("castwise_own_module")
    assert spec is not None
    assert type(spec.loader) is SourceFileLoader
    names = spec.loader.get_code("castwise_own_module").co_consts[1].co_names
    assert any(name.startswith("_@cw_") for name in names)


def test_a_module_that_cannot_be_read_fails_as_it_would_and_is_listed(
    finder: Finder, tmp_path: Path
) -> None:
    path = tmp_path / "castwise_broken_module.py"
    path.write_text("x = = 1\n")
    with pytest.raises(SyntaxError) as caught:
        importlib.import_module("castwise_broken_module")
    frames = []
    trace = caught.tb
    while trace:
        frames.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert not any("castwise/auditing" in name.replace(os.sep, "/") for name in frames)
    assert "not rewritten" in UNOBSERVED[str(path)][0].why


def test_installed_modules_are_left_alone() -> None:
    import numpy

    assert not is_users_own(os.__file__)
    assert not is_users_own(numpy.__file__)
    assert not is_users_own(loading.__file__)


def test_what_an_installed_name_links_to_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, elsewhere = tmp_path / "library", tmp_path / "etc" / "linked.py"
    library.mkdir()
    elsewhere.parent.mkdir()
    elsewhere.write_text("")
    (library / "linked.py").symlink_to(elsewhere)
    monkeypatch.setattr(loading, "_installed", lambda: (f"{library}{os.sep}",))
    assert not is_users_own(str(library / "linked.py"))
    assert is_users_own(str(elsewhere))
    assert not is_users_own("<string>")
    assert is_users_own(os.path.join(os.sep, "home", "me", "mine.py"))
