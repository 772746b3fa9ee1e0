"""`rasp fmt FILE…`: format programs; comments stay, and what the program means stays."""

from __future__ import annotations

import argparse
import sys

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.program_files import read_program
from rasp.base.file_writing import replace_file
from rasp.base.terminal_text import write_exactly
from rasp.language.syntax import format_program


def configure(parser: CommandParser) -> None:
    parser.take("files", "programs; `-` reads standard input", nargs="+")
    parser.flag("--check", "change nothing; exit 1 if a file is not formatted")
    parser.flag("--stdout", "print instead of changing the file")
    parser.take_limits()


def run(arguments: argparse.Namespace) -> int:
    untidy = 0
    for path in arguments.files:
        source = read_program(path, arguments.limits)
        tidy = format_program(source, arguments.limits)
        if path == "-" or arguments.stdout:
            write_exactly(sys.stdout, tidy)
        elif tidy != source.text:
            untidy += 1
            if arguments.check:
                print(f"{path} is not formatted")
            else:
                replace_file(path, tidy.encode())
                print(f"{path} formatted")
    return 1 if arguments.check and untidy else 0
