"""`rasp fmt FILE…`: format programs; comments stay, and what the program means stays."""

from __future__ import annotations

import argparse
import sys
from difflib import unified_diff

from rasp.apps.cli.arguments import PROGRAMS, CommandParser
from rasp.apps.cli.program_files import programs_of, read_program
from rasp.base.errors import RaspError, RaspValueError, all_of
from rasp.base.file_writing import replace_file
from rasp.base.source import Source
from rasp.base.terminal_text import write_exactly
from rasp.language.syntax import format_program
from rasp.teaching.gallery.gallery_files import GALLERY


def configure(parser: CommandParser) -> None:
    parser.take("files", PROGRAMS, nargs="+")
    parser.flag("--check", "write nothing; exit 1 if a file is not formatted")
    parser.flag("--diff", "write nothing; show what would change")
    parser.flag("--stdout", "print instead of changing the file")
    parser.take_limits()


def run(arguments: argparse.Namespace) -> int:
    untidy, failed = 0, list[RaspError]()
    for path in programs_of(arguments.files):
        try:
            source = read_program(path, arguments.limits)
            untidy += _format(path, source, arguments)
        except RaspError as error:  # the other files are formatted all the same
            failed += error.everything
    if failed:
        raise all_of(failed)
    return 1 if arguments.check and untidy else 0


def _format(path: str, source: Source, arguments: argparse.Namespace) -> bool:
    """Format one program; return whether that changes it."""
    tidy = format_program(source, arguments.limits)
    is_untidy = tidy != source.text
    if arguments.diff:
        sys.stdout.writelines(_difference(source, tidy))
    elif arguments.stdout or (path == "-" and not arguments.check):
        write_exactly(sys.stdout, tidy)
    elif is_untidy and arguments.check:
        print(f"{source.name} is not formatted")
    elif is_untidy and path.startswith(GALLERY):
        raise RaspValueError(
            f"`{path}` comes with rasp and is not changed", hint="use `--stdout` or `--diff`"
        )
    elif is_untidy:
        replace_file(path, tidy.encode())
        print(f"{path} formatted")
    return is_untidy


def _difference(source: Source, tidy: str) -> list[str]:
    before, after = (text.splitlines(keepends=True) for text in (source.text, tidy))
    lines = unified_diff(before, after, source.name, f"{source.name} (formatted)")
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]
