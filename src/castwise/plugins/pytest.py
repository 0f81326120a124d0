"""The pytest plugin: `pytest --castwise PACKAGE` audits a package while its tests run, and
`pytest --castwise-conform module:function` has a compiler's dtypes as tests, one for each op.

pytest loads this file whenever castwise is installed, so it imports no other part of castwise until
the option is used.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from castwise.auditing.origins import Audit
    from castwise.auditing.records import Seen
    from castwise.comparing.verify import Difference
    from castwise.conformance.recorder import Recorder
    from castwise.conformance.transformations import Transformation

_ALLOW = "castwise_allow"
_OPTION = "--castwise"
_ALL = "--castwise-all"
_CONFORM = "--castwise-conform"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("castwise", "implicit casts of arrays")
    group.addoption(
        _OPTION,
        action="append",
        default=[],
        metavar="PACKAGE",
        help="Audit this package while its tests run, and list its implicit casts at the end.",
    )
    group.addoption(
        "--castwise-fail-on",
        action="append",
        default=[],
        metavar="HAZARD,...",
        help="Fail if a cast has one of these hazards; `any` means every cast that is not "
        "expected.",
    )
    group.addoption(
        _ALL,
        action="store_true",
        help="List every cast; otherwise a long list is cut short, and expected casts are counted.",
    )
    group.addoption(
        _CONFORM,
        metavar="NAME",
        help="Add a test for each op: a function that NAME transforms, such as mine:compile, "
        "gives the dtypes that the framework itself gives.",
    )
    for name, metavar, type_, does in (
        ("--castwise-dialect", "DIALECT", str, "which framework."),
        ("--castwise-sample", "N", int, "at most N questions of each op and form."),
        ("--castwise-baseline", "FILE", str, "accept the differences that this file lists."),
        ("--castwise-write-baseline", "FILE", str,
         "list all differences in this file, and accept them."),
    ):  # fmt: skip
        group.addoption(name, metavar=metavar, type=type_, help=f"With {_CONFORM}: {does}")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Starts before any conftest can import the package."""
    asked = early_config.known_args_namespace
    if not asked.castwise:
        if asked.castwise_fail_on:
            raise pytest.UsageError(
                "--castwise-fail-on checks nothing without --castwise: add --castwise "
                "PACKAGE with the package to audit."
            )
        return
    from castwise.auditing.launch import check_names
    from castwise.auditing.loading import start
    from castwise.auditing.suppressions import hazards_named
    from castwise.errors import UsageError

    try:
        hazards_named(asked.castwise_fail_on)
        check_names(asked.castwise, _OPTION)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    for package in asked.castwise:
        if package in sys.modules:
            raise pytest.UsageError(
                f"--castwise: {package} was imported before the tests started, probably by a "
                "plugin, and cannot be audited. Turn that plugin off with -p no:NAME."
            )
    start(asked.castwise, checks=True, only_included=True)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, and joins the session if the option is given."""
    config.addinivalue_line(
        "markers",
        f"{_ALLOW}(*hazards): implicit casts with these hazards, or all, do not count while this "
        "test runs (castwise)",
    )
    if config.getoption("castwise"):
        config.pluginmanager.register(_Session(config), "castwise session")


class _Session:
    """What is seen in one session, or in one worker of it."""

    def __init__(self, config: pytest.Config) -> None:
        from castwise.auditing.suppressions import hazards_named

        self._packages: list[str] = config.getoption("castwise")
        self._hazards = hazards_named(config.getoption("castwise_fail_on"))
        self._output: dict[str, Any] | None = getattr(config, "workeroutput", None)
        self._allowed: list[Seen] = []  # what was seen in tests that allow casts
        self._workers: list[list[Seen]] = []
        self._audit: Audit | None = None
        self._missing: list[str] = []  # why a package was not audited

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Keeps the events of a test that allows casts separate."""
        marker = item.get_closest_marker(_ALLOW)
        if marker is None:
            yield
            return
        from castwise.auditing.log import LOG, Log
        from castwise.auditing.saved import seen_in
        from castwise.auditing.suppressions import ANY

        outside, LOG.events = LOG.events, {}
        try:
            yield
        finally:
            apart = Log()
            apart.events, LOG.events = LOG.events, outside
            seen = seen_in(apart)
            allowed = tuple(marker.args) or (ANY,)
            events = tuple([replace(event, allowed=allowed) for event in seen.events])
            self._allowed.append(replace(seen, events=events))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collects what a worker of pytest-xdist has seen."""
        output = getattr(node, "workeroutput", {}).get("castwise")
        if output:
            from castwise.auditing.saved import seen_from_json

            self._workers.append([seen_from_json(part) for part in json.loads(output)])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Audits what was seen, or, in a worker, passes it to the main session."""
        from castwise.auditing.launch import reasons_not_audited
        from castwise.auditing.log import LOG
        from castwise.auditing.origins import make_audit
        from castwise.auditing.saved import merge_seen, seen_in, seen_to_json
        from castwise.auditing.suppressions import (
            failing,
            without_allowed,
            without_expected,
            without_ignored,
        )

        own = [seen_in(LOG), *self._allowed]
        if self._output is not None:
            self._output["castwise"] = json.dumps([seen_to_json(part) for part in own])
            return
        parts = [*own, *itertools.chain.from_iterable(self._workers)]
        # Events that no marker allows come first, because a finding is like its first event.
        parts.sort(key=lambda part: any(event.allowed for event in part.events))
        seen = merge_seen(parts)
        facts = replace(seen.facts, processes=max(1, len(self._workers)))
        seen = replace(seen, facts=facts)
        self._audit = without_ignored(without_allowed(make_audit(seen)))
        if not session.config.getoption("castwise_all"):
            self._audit = without_expected(self._audit, self._hazards)
        if session.exitstatus != pytest.ExitCode.OK or session.config.option.collectonly:
            return
        self._missing = reasons_not_audited(self._packages, _OPTION, seen)
        if self._missing:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif failing(self._audit, self._hazards):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints the summary."""
        if self._audit is None:
            return
        from castwise.auditing.suppressions import failing
        from castwise.report.audit import SHORT, WHOLE, audit_text
        from castwise.report.terminal import coloured, plain, terminal_width

        terminalreporter.section(f"implicit casts in {', '.join(self._packages)}")
        for reason in self._missing:
            terminalreporter.write_line(reason, red=True)
        if not self._audit.coverage.files:
            terminalreporter.write_line("Nothing was audited.")
            return
        paint = coloured if terminalreporter.hasmarkup else plain
        width = min(terminal_width(sys.stdout), 100)
        short = SHORT._replace(
            how_to_list_all=f"{_ALL} lists them all", how_to_list_expected=f"{_ALL} lists {{}}"
        )
        listing = WHOLE if terminalreporter.config.getoption("castwise_all") else short
        terminalreporter.write_line(audit_text(self._audit, paint, width, listing))
        found = failing(self._audit, self._hazards)
        if found:
            failures = "1 finding fails" if len(found) == 1 else f"{len(found):,} findings fail"
            line = f"{failures} --castwise-fail-on {','.join(self._hazards)}."
            terminalreporter.write_line(f"\n{line}", red=True)


# The dtypes of a compiler, as tests.

_Known = tuple[str, ...]  # a difference in a baseline: op, form, operands, both answers


class _Baseline:
    """The differences that are accepted, by a file, and those that were found."""

    def __init__(self, file: Path | None, *, is_written: bool) -> None:
        self._file, self._is_written = file, is_written
        self._found: set[_Known] = set()
        self._accepted: set[_Known] = set()
        if file and not is_written:
            self._accepted = {tuple(row) for row in json.loads(file.read_text("utf-8"))}

    def new(self, differences: Iterable[Difference]) -> list[Difference]:
        """Those that the file does not accept; none where it is being written."""
        found = {_known(one): one for one in differences}
        self._found |= found.keys()
        if self._is_written:
            return []
        return [one for name, one in found.items() if name not in self._accepted]

    def write(self) -> None:
        """Writes the file, if that was asked for."""
        if self._file and self._is_written:
            rows = ",\n".join(json.dumps(row) for row in sorted(self._found))
            self._file.write_text(f"[\n{rows}\n]\n" if rows else "[]\n", encoding="utf-8")


def _known(one: Difference) -> _Known:
    """A difference as a baseline has it."""
    op, form, operands = one.found.question
    return op, form, ";".join(operands), one.found.plain, one.found.answer


class _DifferentError(Exception):
    """What differs in an op, to be shown as the failure of its test."""


class _ConformanceItem(pytest.Item):
    """The test of an op: the transformed function answers as the framework itself."""

    def __init__(
        self,
        *,
        asks: tuple[Recorder, Transformation],
        baseline: _Baseline,
        most: int | None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._recorder, self._transformation = asks
        self._baseline, self._most = baseline, most

    def runtest(self) -> None:
        from castwise.comparing.verify import NOT_ABOUT_DTYPES, compare_through
        from castwise.conformance.transformations import questions_through
        from castwise.report.verify import through_text

        asked = questions_through(self._recorder, [self.name], self._most)
        found = compare_through(self._recorder, self._transformation, asked)
        about_dtypes = [one for one in found.differences if one.kind not in NOT_ABOUT_DTYPES]
        new = self._baseline.new(about_dtypes)
        if new:
            raise _DifferentError(through_text(replace(found, differences=tuple(new))))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, _DifferentError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        name = f"{self._recorder.name} through {self._transformation.name}: {self.name}"
        return self.path, None, name


_baseline = pytest.StashKey[_Baseline]()


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds the tests of a transformation, if one is named."""
    through, dialect = config.getoption(_CONFORM), config.getoption("--castwise-dialect")
    if not through:
        return
    if not dialect:
        raise pytest.UsageError(
            f"{_CONFORM} needs --castwise-dialect: add --castwise-dialect DIALECT, whose framework "
            "is asked."
        )
    if config.getoption("--castwise-write-baseline") and hasattr(config, "workerinput"):
        raise pytest.UsageError("--castwise-write-baseline needs one process: leave out -n.")
    from castwise.catalog import dialect_named
    from castwise.comparing.verify import prepared
    from castwise.conformance.transformations import questions_through
    from castwise.errors import UsageError

    written = config.getoption("--castwise-write-baseline")
    named = written or config.getoption("--castwise-baseline")
    try:
        baseline = _Baseline(Path(named) if named else None, is_written=bool(written))
        asks = prepared(dialect_named(dialect), through)
        ops = dict.fromkeys(question.op for question in questions_through(asks[0], None, 1))
    except (UsageError, OSError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None
    most = config.getoption("--castwise-sample")
    for op in ops:
        given = {"nodeid": f"{through}::{op}", "asks": asks, "baseline": baseline, "most": most}
        items.append(_ConformanceItem.from_parent(session, name=op, **given))
    config.stash[_baseline] = baseline


def pytest_unconfigure(config: pytest.Config) -> None:
    """Writes the baseline, once all tests have run."""
    if baseline := config.stash.get(_baseline, None):
        baseline.write()
