"""Standard input in, an input a line out; a line that fails is told, and the others go on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from rasp.cli.files import read_given
from rasp.cli.prose import tell
from rasp.errors import RaspError, error_record


def numbered_inputs(lines: Iterator[str], as_text: bool) -> Iterator[tuple[int, Any]]:
    """Number the lines from 1 and read those that hold something; a mistake is its error."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, read_given(line.rstrip("\r\n"), as_text)
            except RaspError as error:
                yield number, error


def report_line(error: RaspError, number: int, as_json: bool) -> None:
    """Say which line failed; in JSON in the place of its answer, so that lines stay aligned."""
    if as_json:
        print(json.dumps({"line": number, "errors": [error_record(error)]}, ensure_ascii=False))
        return
    error.message = f"line {number}: {error.message}"
    tell(error, sys.stderr)


def report_failures(failed: int, total: int) -> None:
    """Say at the end how many lines failed."""
    if failed:
        print(f"{failed:,} of {total:,} inputs failed", file=sys.stderr)
