"""Hypothesis profiles: random locally, the same examples every time in CI."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("local", max_examples=200, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
