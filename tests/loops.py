"""A test of many small cases as one test: `each` replaces `pytest.mark.parametrize`.

Thousands of tests take longer to collect and to report than to run.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Runs a test for every case, and reports all cases that failed with their errors.

    The fixtures of the test are the same in all cases, and none of them may skip.
    """
    kept, wanted = list(cases), (names,) if isinstance(names, str) else names

    def looped(test: Test) -> Test:
        taken = inspect.signature(test).parameters
        left = [taken[name] for name in taken if name not in wanted]

        @functools.wraps(test)
        def all_cases(*arguments: Any, **fixtures: Any) -> None:
            assert kept
            failures = []
            for case in kept:
                parts = (case,) if isinstance(names, str) else case
                given = dict(zip(wanted, parts, strict=True))
                try:
                    test(*arguments, **fixtures, **given)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(_told(given, error, test.__code__.co_filename))
            if failures:
                pytest.fail("\n".join([f"{len(failures)} of {len(kept)} cases", *failures]), False)

        all_cases.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
        return all_cases

    return looped


def _told(given: dict[str, Any], error: BaseException, file: str) -> str:
    here = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    case = ", ".join(f"{name}={value!s}" for name, value in given.items())
    return f"{case}\n  line {here[-1]}: {type(error).__name__}: {error}"
