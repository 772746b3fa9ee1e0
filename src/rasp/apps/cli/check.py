"""`rasp check FILE…`: every mistake at once, and what deserves a second look."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rasp.apps.cli.arguments import PROGRAMS, CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import new_session, programs_of, read_program
from rasp.apps.cli.prose import tell
from rasp.base.errors import RaspError, Warned, error_record, excerpt, span_record
from rasp.language.meaning.mistakes import check


def configure(parser: CommandParser) -> None:
    parser.take("files", PROGRAMS, nargs="+")
    parser.take_json("one object a file")
    parser.flag("--strict", "warnings count as mistakes")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    mistakes = 0
    unread: list[RaspError] = []
    for path in programs_of(arguments.files):
        try:
            source = read_program(path, arguments.limits)
        except RaspError as failed:  # the other files are checked all the same
            unread.append(failed)
            continue
        with working(f"checking {source.name}"):
            errors, warnings = check(source, new_session(arguments))
        mistakes += len(errors) + (len(warnings) if arguments.strict else 0)
        if arguments.json:
            print(json.dumps({"file": source.name, "errors": [error_record(e) for e in errors],
                              "warnings": [warning_record(w) for w in warnings]}))  # fmt: skip
            continue
        for error in errors:
            tell(f"{error}\n")
        for warned in warnings:
            tell("\n".join([f"warning: {warned.message}", *excerpt(warned.span),
                            f"hint: {warned.hint}", ""]))  # fmt: skip
        print(
            f"{source.name}: {_count(len(errors), 'mistake')}, {_count(len(warnings), 'warning')}"
        )
    if unread:
        unread[0].others = tuple(unread[1:])
        raise unread[0]
    return 1 if mistakes else 0


def warning_record(warned: Warned) -> dict[str, Any]:
    """Return a warning as JSON-able data."""
    return {"message": warned.message, "hint": warned.hint} | span_record(warned.span)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else f"no {word}s"
