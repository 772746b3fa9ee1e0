"""`rasp find EXAMPLES`: the smallest program that gives what is wanted. Exit code 1 for none."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.program_files import as_sent, find_handle, read_program
from rasp.apps.cli.prose import report
from rasp.base.errors import RaspValueError
from rasp.base.progress import ProgressLine
from rasp.insight.finding import Progress, find
from rasp.insight.finding.example_text import read_examples
from rasp.language.meaning.loader import read_source
from rasp.language.meaning.session import Session

GALLERY = "gallery:"
PATIENCE = 0.5


def configure(parser: CommandParser) -> None:
    parser.take("examples", "a file of lines `abc -> cba`, of JSON or CSV (`-` reads standard "
                "input), or gallery:NAME to imitate its specification", nargs="?")  # fmt: skip
    parser.take("--function", "imitate a Python function, which gets the tokens as a list: "
                "runs FILE (default: none)", metavar="FILE:NAME")  # fmt: skip
    parser.take_alphabet("those of the examples")
    parser.flag("--last", "only the last position counts, as for the next token")
    parser.take("--seconds", "seconds of work: stop after this much processor time",
                float, default=60.0)  # fmt: skip
    parser.take("--most-layers", "use at most N layers", int, default=4, metavar="N")
    parser.take("--most-heads", "use at most N heads", int, default=12, metavar="N")
    parser.take_length("a function is compared on every input up to it", default=7)
    parser.take("--using", "build with the definitions of this program too (default: none)",
                metavar="FILE")  # fmt: skip
    parser.take("--like", "look near this program: a file and a name in it (default: none)",
                nargs=2, metavar=("FILE", "NAME"))  # fmt: skip
    parser.take_seed("the choice of inputs", 0)
    parser.take_json("what was found")
    parser.take_limits()


def run(arguments: argparse.Namespace) -> int:
    wanted, more = _wanted(arguments)
    using = read_program(arguments.using, arguments.limits).text if arguments.using else ""
    with ProgressLine(PATIENCE, not arguments.json) as line:
        found = find(
            wanted,
            **options(arguments, "seconds most_layers most_heads max_length last seed"),
            **more,
            using=using,
            like=_program(*arguments.like) if arguments.like else None,
            progress=lambda told: line.show(lambda: _progress(told)),
        )
    report(found, found.as_dict, arguments.json)
    return 0 if found else 1


def _wanted(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """What to find, and which inputs to ask about."""
    if (arguments.examples is None) == (arguments.function is None):
        raise RaspValueError(
            "give one thing to find a program for: examples, or `--function FILE:NAME`",
            hint="`rasp find examples.txt`, where each line is such as `abc -> cba`",
        )
    more = {"alphabet": arguments.alphabet} if arguments.alphabet is not None else {}
    if arguments.function is not None:
        return _function(arguments.function), more
    if arguments.examples.startswith(GALLERY):
        return _specification(arguments.examples.removeprefix(GALLERY), more)
    if arguments.examples == "-":
        return read_examples(as_sent(sys.stdin.read(), "the examples")), more
    return read_examples(read_source(arguments.examples, arguments.limits).text), more


def _specification(name: str, more: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The specification of a program of the gallery, and inputs of the kind that it is for."""
    from random import Random

    from rasp.teaching import gallery

    entry = gallery.entry(name)
    random = Random(0)
    drawn = [entry.inputs.sample(random, random.randint(1, 9)) for _ in range(200)]

    def answer(tokens: list[Any]) -> list[Any]:
        if not entry.inputs.accepts(tokens):
            raise ValueError("no such input")
        return entry.specification(tokens)

    return answer, {"alphabet": entry.inputs.alphabet, "inputs": drawn} | more


def _function(where: str) -> Callable[[list[Any]], Any]:
    path, colon, name = where.rpartition(":")
    if not colon or not os.path.isfile(path):
        raise RaspValueError(f"`{where}` names no function", hint="write FILE.py:NAME")
    spec = importlib.util.spec_from_file_location("wanted", path)
    if spec is None or spec.loader is None:
        raise RaspValueError(f"`{path}` is not a Python file", hint="write FILE.py:NAME")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        function = getattr(module, name)
    except Exception as error:
        raise RaspValueError(
            f"`{where}` cannot be used: {type(error).__name__}: {error}",
            hint="the file is run, and must define the function",
        ) from None
    return function  # type: ignore[no-any-return]


def _program(path: str, name: str) -> Any:
    session = Session()
    session.run(read_program(path))
    return find_handle(session, name)


def _progress(told: Progress) -> str:
    best = f"; best so far {told.best.layers} layers, {told.best.heads} heads" if told.best else ""
    return f"layer {told.layer}: {told.candidates:,} candidates, {told.kept:,} kept{best}"
