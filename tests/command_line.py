"""The command line as tests use it: what a command prints, and a terminal to print to."""

import io
from typing import Any

from rasp.apps.cli import main


def call(capsys: Any, *words: object) -> tuple[int, str, str]:
    """Run a command; return its exit code, and what it prints to both streams."""
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True
