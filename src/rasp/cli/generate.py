"""`rasp generate FILE NAME INPUT…`: append what a next-token program gives until it stops."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rasp.atoms import Atom
from rasp.cli.answering import ModelAnswers, find_answers
from rasp.cli.files import find_handle, read_given, run_program, take_running, take_text
from rasp.cli.lines import numbered_inputs, report_failures, report_line
from rasp.errors import RaspError, RaspUnsupportedError
from rasp.frontend.handles import Handle
from rasp.generation import MOST, Generation, Question, Rules, outcomes_of, rules_of, steps
from rasp.token_lists import HELP

Engine: TypeAlias = Callable[
    [Handle | Question, list[Any], Rules], Iterator[Generation | RaspError]
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        help="the program (`-` reads standard input), or a folder that `rasp compile` wrote",
    )
    parser.add_argument("name", help="the s-op whose last value is the next token")
    parser.add_argument(
        "input", nargs="*",
        help=f"{HELP}; `-`, or none, reads one a line from standard input, and goes on after a "
        "line that fails (the exit code is then 1)",
    )  # fmt: skip
    parser.add_argument("--words", action="store_true", help="a text's tokens are its words")
    take_text(parser)
    parser.add_argument(
        "--stop", default="", metavar="TOKEN", help="what ends it (default: an empty string)"
    )
    parser.add_argument("--never-stop", action="store_true", help="go on to `--most` in any case")
    parser.add_argument(
        "--most", type=int, default=MOST, metavar="N", help="how many tokens at most"
    )
    parser.add_argument("--at", type=int, default=-1, metavar="POSITION",
                        help="where the next token is read; -1 is the last position")  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, with the steps"
    )
    parser.add_argument("--engine", default="local", choices=["local", "ray"],
                        help="this process, or a Ray cluster")  # fmt: skip
    parser.add_argument("--address", help="a Ray cluster's address (default: this machine's)")
    take_running(parser)


def run(arguments: argparse.Namespace) -> int:
    rules = rules_of(None if arguments.never_stop else arguments.stop, arguments.most, arguments.at)
    handle = _asked(arguments)
    if not arguments.input and sys.stdin.isatty():
        print("no input was given: type one a line; Ctrl-D ends it", file=sys.stderr)
    failed = 0
    with _engine(arguments) as outcomes:
        for text in arguments.input or ["-"]:
            if text == "-":
                failed += _generate_lines(arguments, handle, rules, outcomes)
                continue
            given = _split(read_given(text, arguments.text), arguments.words)
            if arguments.json or arguments.engine == "ray":
                [outcome] = outcomes(handle, [given], rules)
                _write(outcome, arguments)
            else:
                _stream(handle, given, rules)
    return 1 if failed else 0


@dataclass(frozen=True)
class ModelQuestion(Question):
    """What a compiled model says at one position of its output."""

    answering: ModelAnswers | None = None

    def answer(self, tokens: Sequence[Atom]) -> Atom:
        """Run the weights on the whole input."""
        assert self.answering is not None
        [found] = self.answering.answers([list(tokens)])
        if isinstance(found, RaspError):
            raise found
        [values] = found.values()
        return values[self.place(len(tokens))]  # type: ignore[no-any-return]


def _asked(arguments: argparse.Namespace) -> Handle | Question:
    """A program's s-op, or an output of the model if there is a folder of that name."""
    if not os.path.isdir(arguments.file):
        return find_handle(run_program(arguments), arguments.name)
    if arguments.engine == "ray":
        raise RaspUnsupportedError(
            "a compiled model generates in this process alone",
            hint="leave `--engine ray` out, or name the program that it was compiled from",
        )
    answering = find_answers(arguments)
    assert isinstance(answering, ModelAnswers)
    return ModelQuestion(None, arguments.at, answering=answering)


@contextmanager
def _engine(arguments: argparse.Namespace) -> Iterator[Engine]:
    """Say how many inputs are generated for: in this process, or on a cluster."""
    if arguments.engine == "local":
        yield outcomes_of
        return
    from rasp.cluster import Cluster, connected, require_ray
    from rasp.generation.cluster import outcomes_on_cluster

    require_ray()
    cluster = Cluster(arguments.address, together=64)
    with connected(cluster):
        yield partial(outcomes_on_cluster, cluster=cluster)


def _stream(handle: Handle | Question, given: Any, rules: Rules) -> None:
    """Generate for one input, and print each token as it comes."""
    between, told = "" if isinstance(given, str) else " ", 0
    step = None
    try:
        for step in steps(handle, given, rules.stop, rules.most, rules.at):
            if step.token is not None:
                print(between * (told > 0) + str(step.token), end="", flush=True)
                told += 1
    finally:
        if told:
            print()
    if step is not None and step.token is not None:
        print(_cut_off(rules.most), file=sys.stderr)


def _generate_lines(
    arguments: argparse.Namespace, handle: Handle | Question, rules: Rules, engine: Engine
) -> int:
    """Generate for each line of standard input, as fast as they come; return how many failed."""
    from rasp.cli.streams import Progress, waiting  # threads are not for inputs given as words

    progress = Progress(sys.stdin)
    total = failed = 0
    try:
        for chunk in waiting(numbered_inputs(progress.counting(sys.stdin), arguments.text)):
            readable = [
                _split(given, arguments.words)
                for _, given in chunk
                if not isinstance(given, RaspError)
            ]
            outcomes = engine(handle, readable, rules)
            for number, given in chunk:
                outcome = given if isinstance(given, RaspError) else next(outcomes)
                if isinstance(outcome, RaspError):
                    failed += 1
                    report_line(outcome, number, arguments.json)
                else:
                    _write(outcome, arguments)
                progress.advance(1)
            total += len(chunk)
    finally:
        progress.finish()
    report_failures(failed, total)
    return failed


def _write(generation: Generation | RaspError, arguments: argparse.Namespace) -> None:
    if isinstance(generation, RaspError):
        raise generation
    if arguments.json:
        print(_json(generation), flush=True)
        return
    print(generation, flush=True)
    if not generation.stopped:
        print(_cut_off(len(generation.tokens)), file=sys.stderr)


def _json(generation: Generation) -> str:
    record = {
        "input": list(generation.given),
        "output": generation.tokens,
        "ended": "stop" if generation.stopped else "most",
        "steps": [
            {"step": step.step, "value": step.value, "token": step.token}
            for step in generation.steps
        ],
    }
    return json.dumps(record, ensure_ascii=False)


def _cut_off(most: int) -> str:
    return f"the program did not stop: cut off after {most} tokens (`--most` changes that)"


def _split(given: Any, as_words: bool) -> Any:
    return given.split() if as_words and isinstance(given, str) else given
