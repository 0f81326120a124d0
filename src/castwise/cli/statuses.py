"""The exit statuses of the command line."""

from __future__ import annotations

DONE = 0
FOUND = 1  # a refusal, a difference, drift, a malformed line
WRONG_USAGE = 2
INTERRUPTED = 130
