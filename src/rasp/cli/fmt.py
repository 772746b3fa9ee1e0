"""`rasp fmt FILE…`: lay programs out; comments stay, and what the program means stays."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from rasp.cli.files import as_error, read_program
from rasp.syntax import parse, print_program


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", help="programs; `-` reads standard input")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a file is not laid out so"
    )
    parser.add_argument("--stdout", action="store_true", help="print instead of changing the file")


def run(arguments: argparse.Namespace) -> int:
    untidy = 0
    for path in arguments.files:
        source = read_program(path)
        tidy = print_program(parse(source))
        if path == "-" or arguments.stdout:
            sys.stdout.write(tidy)
        elif tidy != source.text:
            untidy += 1
            if arguments.check:
                print(f"{path} is not laid out")
            else:
                replace_file(Path(path), tidy)
                print(f"{path} laid out")
    return 1 if arguments.check and untidy else 0


def replace_file(path: Path, text: str) -> None:
    """Put a new text in place of a file in one step: a crash leaves the old one whole."""
    real = path.resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, real.stat().st_mode & 0o777)
            os.replace(temporary, real)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise as_error(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            "check the folder's permissions and the free space; the file is unchanged",
        ) from None
