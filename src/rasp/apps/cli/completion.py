"""`rasp completion SHELL`: a script with which a shell completes commands, options and files."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.base.installing import missing

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
USE = """\
Load the script where the shell starts, for example:
  bash   rasp completion bash > ~/.local/share/bash-completion/completions/rasp
  zsh    rasp completion zsh > ~/.zfunc/_rasp    (with ~/.zfunc in fpath, before compinit)
  fish   rasp completion fish > ~/.config/fish/completions/rasp.fish"""
FILES = ("file", "other_file", "files", "paths", "folder", "submissions", "output")
"""Arguments that are files or folders."""


def configure(parser: CommandParser) -> None:
    parser.take("shell", "the shell to write it for", choices=SHELLS)
    parser.epilog = USE


def run(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise missing("shtab", "completion", "shell completion") from None
    sys.stdout.write(shtab.complete(every_command(shtab.FILE), arguments.shell) + "\n")
    return 0


def every_command(files: Any) -> argparse.ArgumentParser:
    """Return one parser of all commands; `files` marks the arguments that are files."""
    from rasp.apps.cli import COMMANDS

    whole = argparse.ArgumentParser(prog="rasp")
    whole.add_argument("-i", "--interactive", metavar="FILE", help="the prompt, after a program")
    whole.add_argument("-V", "--version", action="store_true", help="say which rasp this is")
    commands = whole.add_subparsers(parser_class=CommandParser)
    for name, summary in COMMANDS.items():
        parser = commands.add_parser(name, description=summary, help=summary)
        importlib.import_module(f"rasp.apps.cli.{name}").configure(parser)
        for action in parser._actions:
            if action.dest in FILES:
                action.complete = files  # type: ignore[attr-defined]
    return whole
