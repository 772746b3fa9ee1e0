"""`rasp generate FILE NAME INPUT…`: append what a next-token program gives until it stops."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.eval_answers import ModelAnswers, find_answers
from rasp.apps.cli.input_lines import answer_inputs
from rasp.apps.cli.program_files import find_handle, refuse_two_readers, run_program
from rasp.apps.cli.prose import print_json_line
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.insight.generation import MOST, Generation, Question, Rules, outcomes_of, rules_of, steps
from rasp.language.embedding.handles import Handle

Engine: TypeAlias = Callable[..., Iterator[Generation | RaspError]]


def configure(parser: CommandParser) -> None:
    parser.take_program_or_model()
    parser.take("name", "the s-op whose last value is the next token")
    parser.take_inputs()
    parser.flag("--words", "a text's tokens are its words")
    parser.take("--stop", "what ends it (default: an empty string)", default="", metavar="TOKEN")
    parser.flag("--never-stop", "go on to `--most` in any case")
    parser.take("--most", "how many tokens at most", int, default=MOST, metavar="N")
    place = "where the next token is read; -1 is the last position"
    parser.take("--at", place, int, default=-1, metavar="POSITION")
    parser.take_json("one object a line, with the steps")
    parser.take_engine("in this process, or on a Ray cluster")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    rules = rules_of(None if arguments.never_stop else arguments.stop, arguments.most, arguments.at)
    refuse_two_readers(arguments)
    handle = _asked(arguments)

    def write(generation: Generation, given: Any) -> None:
        _write(generation, arguments.json)

    stream = None
    if not arguments.json and arguments.engine == "local":
        stream = partial(_stream, handle, rules=rules)
    with _engine(arguments) as outcomes:
        return answer_inputs(arguments, partial(outcomes, handle, rules=rules), write, stream)


@dataclass(frozen=True)
class ModelQuestion(Question):
    """What a compiled model says at one position of its output."""

    answering: ModelAnswers | None = None

    def answers(self, inputs: Sequence[Sequence[Atom]]) -> list[Atom | RaspError]:
        """Run the weights on the whole inputs."""
        assert self.answering is not None
        answers = self.answering.answers(list(map(list, inputs)))
        return [
            answer if isinstance(answer, RaspError) else next(iter(answer.values()))[self.at]
            for answer in answers
        ]


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
    from rasp.base.cluster import Cluster, connected, require_ray
    from rasp.insight.generation.generation_cluster import outcomes_on_cluster

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


def _write(generation: Generation, as_json: bool) -> None:
    if as_json:
        record = {
            "input": list(generation.given),
            "output": generation.tokens,
            "ended": "stop" if generation.stopped else "most",
            "steps": [vars(step) for step in generation.steps],
        }
        print_json_line(record, flush=True)
        return
    print(generation, flush=True)
    if not generation.stopped:
        print(_cut_off(len(generation.tokens)), file=sys.stderr)


def _cut_off(most: int) -> str:
    return f"the program did not stop: cut off after {most} tokens (`--most` changes that)"
