"""Inputs of a command in, answers out: given as words, or one a line from standard input.

An input that fails is told, and the others go on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import read_given
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspError, error_record


def answer_inputs(
    arguments: argparse.Namespace,
    answer_many: Callable[[list[Any]], Iterator[Any]],
    write: Callable[[Any, Any], None],
    answer_alone: Callable[[Any], None] | None = None,
) -> int:
    """Answer each input; return the exit code.

    `answer_many` gives an answer or an error for each of several inputs, and `write` takes an
    answer and its input. `answer_alone`, if there is one, does both for an input that is a word.
    """
    if not arguments.input and sys.stdin.isatty():
        print("no input was given: type one a line; Ctrl-D ends it", file=sys.stderr)
    failed = 0
    read = partial(_read, arguments)
    words = arguments.input or ["-"]
    for number, text in enumerate(words, start=1):
        if text == "-":
            failed += _answer_lines(read, answer_many, write, arguments.json)
            continue
        try:
            if answer_alone is not None:
                answer_alone(read(text))
            else:
                _answer_word(read(text), answer_many, write)
        except RaspError as error:
            failed += 1
            _report(error, "input", number if len(words) > 1 else None, arguments.json)
    return 1 if failed else 0


def _answer_word(
    given: Any,
    answer_many: Callable[[list[Any]], Iterator[Any]],
    write: Callable[[Any, Any], None],
) -> None:
    """Answer an input that is a word, or raise the error that it ends in."""
    with working("computing"):
        [answer] = answer_many([given])
    if isinstance(answer, RaspError):
        raise answer
    write(answer, given)


def _read(arguments: argparse.Namespace, text: str) -> Any:
    """Read an input; with `--words`, a text's tokens are its words."""
    given = read_given(text, arguments.text)
    is_words = getattr(arguments, "words", False) and isinstance(given, str)
    return given.split() if is_words else given


def _answer_lines(
    read: Callable[[str], Any],
    answer_many: Callable[[list[Any]], Iterator[Any]],
    write: Callable[[Any, Any], None],
    as_json: bool,
) -> int:
    """Answer standard input, a line each, as fast as it comes; return how many lines failed."""
    from rasp.apps.cli.streams import (  # threads are not for inputs given as words
        LinesProgress,
        waiting,
    )

    failed = 0
    with LinesProgress(sys.stdin) as progress:
        for chunk in waiting(numbered_inputs(progress.counting(sys.stdin), read)):
            answers = answer_many([given for _, given in chunk if not _is_error(given)])
            for number, given in chunk:
                answer = given if _is_error(given) else next(answers)
                if _is_error(answer):
                    failed += 1
                    _report(answer, "line", number, as_json)
                else:
                    write(answer, given)
                progress.advance()
            sys.stdout.flush()
    if failed:
        print(f"{failed:,} of {progress.inputs:,} inputs failed", file=sys.stderr)
    return failed


def numbered_inputs(lines: Iterable[str], read: Callable[[str], Any]) -> Iterator[tuple[int, Any]]:
    """Number the lines from 1 and read those that hold something; a mistake is its error."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, read(line.rstrip("\r\n"))
            except RaspError as error:
                yield number, error


def _is_error(answer: Any) -> bool:
    return isinstance(answer, RaspError)


def _report(error: RaspError, what: str, number: int | None, as_json: bool) -> None:
    """Say which input failed; in JSON in the place of its answer, so that lines stay aligned."""
    if as_json:
        place = {} if number is None else {what: number}
        print_json_line(place | {"errors": [error_record(error)]})
        return
    if number is not None:
        error.about = (f"{what} {number}", *error.about)
    tell(error, sys.stderr)
