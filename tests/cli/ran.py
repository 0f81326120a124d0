"""A command of the command line, run in this process."""

from __future__ import annotations

import pytest

from castwise.cli.main import main


class Ran:
    """What a command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        self.status = exit_.value.code
        self.out, self.err = capsys.readouterr()
