"""`rasp check FILE…`: every mistake at once, and what deserves a second look."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from rasp.cli import error_record, span_record
from rasp.cli.files import read_program
from rasp.errors import RaspError, excerpt
from rasp.frontend.session import Session
from rasp.source import Source
from rasp.syntax import parse_with_errors
from rasp.syntax.lint import Warned, misreadings, walk
from rasp.syntax.tree import Assign, Define, Name, Statement


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", help="programs; `-` reads standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    parser.add_argument("--strict", action="store_true", help="warnings count as mistakes")


def run(arguments: argparse.Namespace) -> int:
    mistakes = 0
    for path in arguments.files:
        source = read_program(path)
        errors, warnings = check(source)
        mistakes += len(errors) + (len(warnings) if arguments.strict else 0)
        if arguments.json:
            print(json.dumps({"file": source.name, "errors": [error_record(e) for e in errors],
                              "warnings": [warning_record(w) for w in warnings]}))  # fmt: skip
            continue
        for error in errors:
            print(error, end="\n\n")
        for warned in warnings:
            print("\n".join([f"warning: {warned.message}", *excerpt(warned.span),
                             f"hint: {warned.hint}"]), end="\n\n")  # fmt: skip
        print(
            f"{source.name}: {_count(len(errors), 'mistake')}, {_count(len(warnings), 'warning')}"
        )
    return 1 if mistakes else 0


def check(source: Source) -> tuple[list[RaspError], list[Warned]]:
    """Find every mistake of a program and everything worth a warning, in source order."""
    session = Session()
    _, errors = session.check(source)
    statements, _ = parse_with_errors(source)
    warnings = [warned for statement in statements for warned in misreadings(statement)]
    warnings += [
        Warned(each.message, each.span, "choose another name if you did not mean to")
        for each in session.warnings
    ]
    if not errors:
        warnings += unused(statements)
    return errors, sorted(warnings, key=lambda warned: warned.span.start)


def unused(statements: tuple[Statement, ...]) -> Iterator[Warned]:
    """Warn of private and local names that nothing reads; public ones are the program's result."""
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, Define):
                yield from _unused_in(node.body, lambda name: True)
    yield from _unused_in(statements, lambda name: name.startswith("_"))


def _unused_in(statements: tuple[Statement, ...], matters: Any) -> Iterator[Warned]:
    read = {
        node.name
        for statement in statements
        for node in walk(statement)
        if isinstance(node, Name) and not _is_target(node, statement)
    }
    for statement in statements:
        if isinstance(statement, Assign):
            for target in statement.targets:
                if target.name not in read and matters(target.name):
                    yield Warned(
                        f"`{target.name}` is never used", target.span, "remove it, or use it"
                    )


def _is_target(name: Name, statement: Statement) -> bool:
    return isinstance(statement, Assign) and any(name is target for target in statement.targets)


def warning_record(warned: Warned) -> dict[str, Any]:
    """Return a warning as JSON-able data."""
    return {"message": warned.message, "hint": warned.hint} | span_record(warned.span)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else f"no {word}s"
