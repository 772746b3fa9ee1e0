"""A command's words in, its arguments out; and the options that several commands share."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from typing import Any, NoReturn

from rasp.base.errors import RaspValueError
from rasp.base.input_text import HELP
from rasp.base.limits import DEFAULT_LIMITS, Limits, read_limit
from rasp.base.spelling import did_you_mean

MOST_COLUMNS = 100
"""Columns of a terminal: help, messages and tables are no wider."""
THEMES = ("auto", "light", "dark")
PROGRAMS = "programs or folders of them; `gallery:NAME`, or `-` for standard input"
PROGRAM = "the program: a file, `gallery:NAME`, or `-` for standard input"


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Writes a command's help: at most 100 columns wide, with the default of every option."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size().columns
        super().__init__(prog, max_help_position=28, width=min(columns, MOST_COLUMNS) - 2)

    def _get_help_string(self, action: argparse.Action) -> str:
        text = action.help or ""
        is_told = "default:" in text or action.default in (None, argparse.SUPPRESS, [])
        is_option = bool(action.option_strings) and action.nargs != 0
        is_settable = is_option or action.nargs == argparse.OPTIONAL
        return f"{text} (default: %(default)s)" if is_settable and not is_told else text


class CommandParser(argparse.ArgumentParser):
    """Reads a command's words; says what is wrong with them as every other error is said."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description=description, formatter_class=Formatter)
        self._place: argparse.ArgumentParser | argparse._ArgumentGroup = self

    def error(self, message: str) -> NoReturn:
        raise RaspValueError(message, hint=self._way_out(message))

    def _way_out(self, message: str) -> str:
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        taken = usage if len(usage) <= MOST_COLUMNS else f"`{self.prog} --help` says what it takes"
        _, is_unknown, words = message.partition("unrecognized arguments: ")
        if not is_unknown or not words.startswith("-"):
            return taken
        if not words.startswith("--"):
            return f"{taken}; `--` goes before inputs that begin with `-`"
        name = words.split()[0].partition("=")[0]
        return did_you_mean(name, self._option_string_actions, taken, f"{self.prog} … ")

    def heading(self, title: str | None = None) -> None:
        """List what is taken from here on below a heading of its own; None: among all options."""
        self._place = self if title is None else self.add_argument_group(title)

    def take(self, names: str, what: str, kind: Callable[[str], Any] = str, **rest: Any) -> None:
        """Take a word, or an option with one behind it; blanks separate its names."""
        self._place.add_argument(*names.split(), help=what, type=kind, **rest)

    def flag(self, name: str, what: str) -> None:
        """Take an option that is on or off."""
        self._place.add_argument(name, action="store_true", help=what)

    def take_program(self, what: str = "the s-op or selector", several: bool = False) -> None:
        """Take a program and a name in it: `arguments.file` and `arguments.name`."""
        self.take("file", PROGRAM)
        names: dict[str, Any] = {"nargs": "+"} if several else {}
        more = "; several with commas or blanks between" if several else ""
        self.take("name", what + more, **names)

    def take_program_or_model(self, **rest: Any) -> None:
        """Take a program, or a model that was compiled: `arguments.file`."""
        what = "the program: a file, `gallery:NAME`, `-` for standard input, or a compiled model"
        self.take("file", what, **rest)

    def take_inputs(self) -> None:
        """Take inputs as words: `arguments.input`; with `--text`, as they are."""
        more = "`-`, or none, reads one a line from standard input"
        failing = "the others are answered after one that fails, and the exit code is 1"
        self.take("input", f"{HELP}; {more}; {failing}", nargs="*")
        self.take_text()

    def take_text(self) -> None:
        """Let inputs be taken as they are: `arguments.text`."""
        self.flag("--text", "take inputs as plain characters, even `[1, 2]`")

    def take_json(self, what: str = "everything as one value") -> None:
        """Let the command be asked for JSON: `arguments.json`."""
        self.flag("--json", f"print JSON: {what}")

    def take_alphabet(self, usual: str = "", **rest: Any) -> None:
        """Let the command be told which tokens there are: `arguments.alphabet`."""
        told = f"the tokens of inputs: {HELP}" + (f" (default: {usual})" if usual else "")
        self.take("--alphabet", told, metavar="TOKENS", **rest)

    def take_length(self, what: str, **rest: Any) -> None:
        """Let the command be told how long inputs are: `arguments.max_length`."""
        self.take("--max-length", f"most tokens of an input: {what}", int, metavar="N", **rest)

    def take_bos(self, what: str = "") -> None:
        """Let the command be told of a first token: `arguments.bos`."""
        more = f"; {what}" if what else ""
        told = f"the token that every input begins with{more} (default: none)"
        self.take("--bos", told, metavar="TOKEN")

    def take_seed(self, what: str, usual: int | None = None) -> None:
        """Let the command be told a seed: `arguments.seed`."""
        self.take("--seed", f"seed of what is random: {what}", int, default=usual, metavar="N")

    def take_output(self, what: str, **rest: Any) -> None:
        """Let the command be told where its result goes: `arguments.output`."""
        self.take("-o --output", f"where the result goes: {what}", **rest)

    def take_engine(self, what: str) -> None:
        """Let the command use a cluster: `arguments.engine` and `arguments.address`."""
        told = f"where to compute: {what}"
        self.take("--engine", told, default="local", choices=["local", "ray"])
        self.take("--address", "a Ray cluster's address (default: this machine's)")

    def take_running(self) -> None:
        """Let a command that runs programs be told its budgets, and what `load` may read."""
        self.take_limits()
        self.take_loading()

    def take_limits(self, usual: Limits = DEFAULT_LIMITS) -> None:
        """Let the command be told how much a program may use: `arguments.limits`."""
        what = "change a budget, such as seconds=10 or steps=1000000; may be given several times"
        self.take(
            "--limit", f"{what} (default: those of docs/limits.md)", dest="limits", action=_Limit,
            default=usual, metavar="NAME=VALUE",
        )  # fmt: skip

    def take_loading(self) -> None:
        """Let the command be told what `load` may read."""
        self.flag("--no-load", "let programs `load` nothing")
        what = "let programs `load` files of this folder too; may be given several times"
        usual = "(default: only those in the program's own folder)"
        self.take("--load-from", f"{what} {usual}", action="append", default=[], metavar="DIR")


class _Limit(argparse.Action):
    """Adds one budget to those given before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, read_limit(values, getattr(namespace, self.dest)))


def options(arguments: argparse.Namespace, names: str) -> dict[str, Any]:
    """Several options, for a function that takes them by the same names.

    >>> options(argparse.Namespace(layers=2, heads=1, json=False), "layers heads")
    {'layers': 2, 'heads': 1}
    """
    return {name: getattr(arguments, name) for name in names.split()}
