"""`rasp test FILE…`: do programs give what their `#>` lines say? Exit code 0: yes; 1: no."""

from __future__ import annotations

import argparse
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import loader, new_session
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspError, RaspValueError
from rasp.teaching.gallery.gallery_files import gallery_program
from rasp.teaching.testing import Failure, Report, check_file, check_program, find_files


def configure(parser: CommandParser) -> None:
    what = "programs (`gallery:NAME` too), Markdown pages with `rasp` blocks, or folders of both"
    parser.take("paths", what, nargs="+", metavar="FILE")
    parser.take_json("one object a file")
    parser.take_running()
    parser.epilog = "\n".join([
        "what is compared:",
        '  hist("hello");              #> [1, 1, 2, 2, 1]    the value of an expression',
        "  #> heads per layer: hist 2                        the schedule of an s-op",
        "In a folder, the files with such lines are tested.",
    ])  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    files = find_files(arguments.paths)
    if not files:
        raise RaspValueError(
            "there is nothing to test: no file has `#>` lines",
            hint='write what an expression gives after it: `length("ab"); #> [2, 2]`',
        )
    reports = []
    for path in files:
        with working(f"testing {path}"):
            report = _tested(path, arguments)
        reports.append(report)
        _print(report, arguments.json)
    if not arguments.json:
        held, wrong = sum(r.held for r in reports), sum(len(r.failures) for r in reports)
        print(f"{_count(len(reports), 'file')}: {_count(held, 'line')} right, {wrong} wrong")
    return 0 if all(reports) else 1


def _tested(path: str, arguments: argparse.Namespace) -> Report:
    """Test a file; one that cannot be read is a failure of its own."""
    try:
        if (source := gallery_program(path)) is not None:
            return check_program(source, new_session(arguments))
        return check_file(path, arguments.limits, loader(arguments))
    except RaspError as error:
        return Report(path, failures=[Failure(None, str(error))])


def _print(report: Report, as_json: bool) -> None:
    if as_json:
        failures = [failure_record(failure) for failure in report.failures]
        record = {"file": report.name, "held": report.held, "failures": failures}
        print_json_line(record, flush=True)
        return
    for failure in report.failures:
        tell(f"{failure}\n")
    if not report.held and not report.failures:
        print(f"{report.name}: no `#>` lines")


def failure_record(failure: Failure) -> dict[str, Any]:
    """Return a failure as JSON-able data."""
    record: dict[str, Any] = {"message": str(failure)}
    if failure.expected or failure.got:
        record |= {"about": failure.about, "expected": failure.expected, "got": failure.got}
    if failure.span is not None:
        record |= {"line": failure.span.line, "column": failure.span.column}
    return record


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
