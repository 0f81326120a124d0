"""Hypothesis profiles: random locally, the same examples every time in CI, more with --all-cells; a
limit of time; the tests of the core; and the recorded cells."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import cells
from castwise.auditing import launch
from processes import limited

settings.register_profile("local", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# What the collected tests hold stays to the end: no pass of the garbage collector looks at it.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Many times as long as the longest test: a test that still hangs is reported and ends its process.
LIMIT = 1800


# Whether the heart is whole: `pytest -m core -n 2` runs these files in about a minute. The engine
# answers a share of the recorded cells, and a few paths that users take from end to end work:
# notation, a Tensor, an audit, the command line.
CORE = [
    Path(__file__).with_name(folder) / name
    for folder, names in {
        "architecture": "test_architecture.py",
        "arrays": "test_tensor.py",
        "auditing": "test_observe.py",
        "cli": "test_cli.py",
        "conformance": "test_recorded_cells.py",
        "engine": "test_accepts.py test_ranges.py test_refusals.py test_resolve.py "
        "test_rules_by_op.py test_types.py test_weak_nodes.py",
        "laws": "test_laws.py",
        "vocab": "test_operands_notation.py",
    }.items()
    for name in names.split()
]


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path in CORE and not item.get_closest_marker("slow"):
        item.add_marker("core")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-cells",
        action="store_true",
        help="ask about every recorded cell, not a share, and try more examples",
    )
    parser.addoption(
        "--but",
        type=Path,
        metavar="FILE",
        help="leave out the tests in FILE, which $CASTWISE_PASSED named when they passed: with "
        "other packages installed, those that were skipped are left, and those of new parameters",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.but:
        passed = set(config.option.but.read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


class NotesPassed:
    """Writes the tests that pass to a file, for `--but`."""

    def __init__(self, file: Path) -> None:
        self.file, self.passed = file, set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text("\n".join(sorted(self.passed)), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    names_no_files = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if config.option.markexpr == "core" and names_no_files:
        config.args = [str(path) for path in CORE]  # others are not even imported
    cells.takes_all = config.getoption("--all-cells")
    if cells.takes_all:
        settings.register_profile("all", settings.default, max_examples=200)
        settings.load_profile("all")
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        _keep_bytecode_elsewhere(config)
    if not hasattr(config, "workerinput"):
        _keep_kernels_elsewhere(config)
        if file := os.environ.pop("CASTWISE_PASSED", None):
            config.pluginmanager.register(NotesPassed(Path(file)))


def _keep_kernels_elsewhere(config: pytest.Config) -> None:
    """Kernels that tests compile are shared by the workers, and are not the user's."""
    folder = tempfile.TemporaryDirectory(prefix="castwise-kernels-", ignore_cleanup_errors=True)
    os.environ["CASTWISE_CACHE"] = folder.name
    config.add_cleanup(folder.cleanup)


def _keep_bytecode_elsewhere(config: pytest.Config) -> None:
    """If bytecode may not be written next to the source, the workers and the programs that tests
    start share a folder for it. Otherwise each of them would compile everything it imports."""
    folder = tempfile.TemporaryDirectory(prefix="castwise-bytecode-", ignore_cleanup_errors=True)
    os.environ["PYTHONPYCACHEPREFIX"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.fixture(params=cells.FILES, ids=lambda path: path.name[:-7], scope="session")
def cell_file(request: pytest.FixtureRequest) -> cells.Recorded:
    """Each cell file. pytest runs the tests of one after each other, and so it is read once."""
    return cells.recorded(request.param)


@pytest.fixture
def all_cells() -> None:
    """For tests that count cells, or look for one that may be anywhere."""
    if not cells.takes_all:
        pytest.skip("asks about all cells: pytest --all-cells")


@pytest.fixture(autouse=True, scope="session")
def _audited_programs_have_a_limit() -> Iterator[None]:
    """Whoever starts them: a test, the command line, or a trial of fixes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_wait", limited(launch._wait))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """No test waits forever."""
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
