"""An exercise in, inputs and the answers that are right out: computed once, for every submission.

Inputs come shortest first: all of them up to a length, so that the first wrong answer is on a
shortest input there is, then longer ones at random, then the hidden ones. Inputs on which the
reference itself fails are not part of the exercise.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rasp.atoms import read_input
from rasp.equivalence.answering import Input, random_inputs, show_alphabet
from rasp.equivalence.choosing import choose_inputs
from rasp.equivalence.inputs import InputsToTry
from rasp.equivalence.sides import Side, answers_of
from rasp.errors import RaspError, RaspNameError, RaspTypeError, RaspValueError
from rasp.frontend.loader import read_source
from rasp.frontend.session import Session
from rasp.grading.exercise import GALLERY, LARGEST_FILE, Exercise
from rasp.graph import Node, SOp
from rasp.graph.portable import atom_to_json
from rasp.limits import DEFAULT_LIMITS
from rasp.programs import entry, load
from rasp.programs.catalogue import Entry
from rasp.programs.check import random_inputs as gallery_inputs
from rasp.reading import ABSENT, read_file
from rasp.token_lists import read_tokens

EXHAUSTIVE = 4_000
"""Inputs tried without leaving one out, where no length is asked for."""
MOST_INPUTS = 200_000
SEED = 0


@dataclass(frozen=True)
class GradedCases:
    """What an exercise asks: inputs, and the right answer to each."""

    exercise: Exercise
    inputs: list[Input]
    answers: list[list[Any]]
    shortest: int
    """How many of the inputs are in order of length, with none left out."""
    hidden: int
    """How many of the last ones are hidden."""
    described: str
    left_out: int = 0
    """Inputs on which the reference fails."""
    ignored: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return what a worker needs, as plain data."""
        exercise = self.exercise
        return {
            "name": exercise.output,
            "inputs": [[atom_to_json(atom) for atom in tokens] for tokens in self.inputs],
            "answers": [[atom_to_json(atom) for atom in answer] for answer in self.answers],
            "shortest": self.shortest,
            "hidden": self.hidden,
            "ignored": self.ignored,
            "layers": exercise.layers,
            "heads": exercise.heads,
            "partial": exercise.partial,
        }


def make_cases(exercise: Exercise) -> GradedCases:
    """Ask the reference for its answers.

    >>> cases = make_cases(Exercise("gallery:reverse"))
    >>> cases.inputs[5], cases.answers[5]
    (('a', 'c'), ['c', 'a'])
    """
    is_gallery = exercise.reference.startswith(GALLERY)
    member = entry(exercise.reference.removeprefix(GALLERY)) if is_gallery else None
    reference = member.wanted if member else _reference(exercise)
    shortest, longer, described = (
        _gallery_inputs(member, exercise) if member and exercise.alphabet is None else
        _inputs(exercise, load(member.name).node if member else reference)
    )  # fmt: skip
    hidden = _hidden(exercise)
    asked = [*shortest, *longer, *hidden]
    answers = answers_of(reference, asked)
    kept = [number for number, answer in enumerate(answers) if not isinstance(answer, RaspError)]
    if not kept:
        failed = answers[0]
        assert isinstance(failed, RaspError)
        raise RaspValueError(
            f"the reference `{exercise.reference}` fails on every input: {failed.message}",
            hint="say which tokens it is for: `--alphabet`",
        )
    return GradedCases(
        exercise,
        [asked[number] for number in kept],
        [list(answers[number]) for number in kept],  # type: ignore[arg-type]
        sum(number < len(shortest) for number in kept),
        sum(number >= len(asked) - len(hidden) for number in kept),
        described,
        len(asked) - len(kept),
        ignored=0 if exercise.bos is None else 1,
    )


def _reference(exercise: Exercise) -> Side:
    path, _, name = exercise.reference.rpartition(":")
    return _python_function(path, name) if path.endswith(".py") else _s_op(path, name)


def _s_op(path: str, name: str) -> Node:
    session = Session()
    _, errors = session.check(read_source(path), only_definitions=True)
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]
    try:
        node = session.find(name)
    except RaspNameError as error:
        raise RaspNameError(f"the reference `{path}` has no `{name}`", hint=error.hint) from None
    if not isinstance(node, SOp):
        raise RaspTypeError(f"`{name}` in `{path}` is not an s-op", hint="grade an s-op")
    return node


def _python_function(path: str, name: str) -> Callable[[list[Any]], Any]:
    spec = importlib.util.spec_from_file_location("rasp_specification", path)
    try:
        if spec is None or spec.loader is None or not os.path.isfile(path):
            raise FileNotFoundError
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function: Callable[[list[Any]], Any] = getattr(module, name)
    except FileNotFoundError:
        raise RaspValueError(f"there is no file `{path}`", hint="check the path") from None
    except AttributeError:
        raise RaspNameError(f"`{path}` has no function `{name}`", hint="check its name") from None
    except Exception as error:  # it is the teacher's own code: whatever it raises is told
        raise RaspValueError(
            f"`{path}` cannot be imported: {type(error).__name__}: {error}", hint="run it alone"
        ) from None
    return function


def _inputs(exercise: Exercise, reference: Side) -> tuple[list[Input], list[Input], str]:
    """All short inputs over the exercise's own alphabet, and longer ones at random."""
    nodes = [reference] if isinstance(reference, Node) else []
    if not nodes and exercise.alphabet is None:
        raise RaspValueError(
            "a Python function does not say which tokens it is for",
            hint="say it with `--alphabet abc`, or `alphabet` in the file of exercises",
        )
    chosen = choose_inputs(nodes, False, exercise.alphabet, exercise.bos)
    inputs = InputsToTry(chosen.alphabet, chosen.prefix)
    longest = max(1, inputs.longest(exercise.max_length, EXHAUSTIVE, MOST_INPUTS))
    every = [tokens for n in range(1, longest + 1) for tokens in inputs.of_length(n)]
    lengths = range(longest + 1, max(exercise.random_length, longest + 1) + 1)
    per_length = -(-exercise.random // len(lengths))
    drawn = (random_inputs(inputs.alphabet, length, per_length, SEED) for length in lengths)
    longer = [(*inputs.prefix, *tokens) for tokens in chain.from_iterable(drawn)]
    described = f"all inputs up to length {longest} over {show_alphabet(inputs.alphabet)}"
    return every, longer[: exercise.random], described


def _gallery_inputs(member: Entry, exercise: Exercise) -> tuple[list[Input], list[Input], str]:
    tiny = sorted((read_input(tokens) for tokens in member.inputs.tiny(EXHAUSTIVE)), key=len)
    if exercise.max_length is not None:
        tiny = [tokens for tokens in tiny if len(tokens) <= exercise.max_length]
    drawn = gallery_inputs(member, exercise.random, exercise.random_length, SEED)
    longer = sorted((read_input(tokens) for tokens in drawn), key=len)
    return tiny, longer, f"{len(tiny):,} short inputs that `{member.name}` is for"


def _hidden(exercise: Exercise) -> list[Input]:
    """Read the hidden inputs, a line each, written as everywhere."""
    if exercise.inputs is None:
        return []
    try:
        lines = read_file(exercise.inputs, LARGEST_FILE).decode().splitlines()
    except ABSENT:
        raise RaspValueError(f"there is no file `{exercise.inputs}`", hint="check it") from None
    except UnicodeDecodeError:
        raise RaspValueError(f"`{exercise.inputs}` is not UTF-8", hint="save it so") from None
    return [read_input(read_tokens(line), DEFAULT_LIMITS) for line in lines if line.strip()]
