"""Every example of the documents runs in each of these ways."""

from __future__ import annotations

from typing import Any

import pytest
from ways import WAYS, Way


@pytest.fixture(params=WAYS, ids=str)
def way(request: pytest.FixtureRequest) -> Any:
    """A backend, eager or traced."""
    found: Way = request.param
    return found


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op that a test declares is known only to that test."""
    monkeypatch.setattr("castwise.vocab.ops._declared", {})
