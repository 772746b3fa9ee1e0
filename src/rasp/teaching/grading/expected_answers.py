"""An exercise in, inputs and the answers that are right out: computed once, for every submission.

Inputs come shortest first: all of them up to a length, so that the first wrong answer is on a
shortest input there is, then longer ones at random, then the hidden ones. Inputs on which the
reference itself fails are not part of the exercise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from rasp.base.atoms import read_input, show_input
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file
from rasp.base.input_text import read_tokens
from rasp.base.limits import DEFAULT_LIMITS
from rasp.insight.equivalence.answering import Input, random_inputs, show_alphabet
from rasp.insight.equivalence.choosing import choose_inputs
from rasp.insight.equivalence.sides import Answer, Side, answers_of
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.language.graph import Node
from rasp.language.graph.portable import atom_to_json
from rasp.teaching.gallery import entry, load
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_check import random_inputs as gallery_inputs
from rasp.teaching.grading.exercise import GALLERY, LARGEST_FILE, Exercise
from rasp.teaching.grading.reference import kept_in_bounds, read_reference

EXHAUSTIVE = 4_000
"""Inputs tried without leaving one out, where no length is asked for."""
MOST_INPUTS = 200_000
SECONDS = 10.0
"""For one submission, and for the answers of one reference."""
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
            "answers": [[_value_to_json(value) for value in answer] for answer in self.answers],
            "shortest": self.shortest,
            "hidden": self.hidden,
            "ignored": self.ignored,
            "layers": exercise.layers,
            "heads": exercise.heads,
            "partial": exercise.partial,
        }


def make_cases(exercise: Exercise, seconds: float = SECONDS) -> GradedCases:
    """Ask the reference for its answers, which may take it some seconds.

    >>> cases = make_cases(Exercise("gallery:reverse"))
    >>> cases.inputs[5], cases.answers[5]
    (('a', 'c'), ['c', 'a'])
    """
    is_gallery = exercise.reference.startswith(GALLERY)
    member = entry(exercise.reference.removeprefix(GALLERY)) if is_gallery else None
    reference = member.wanted if member else read_reference(exercise.reference, seconds)
    shortest, longer, described = (
        _gallery_inputs(member, exercise) if member and exercise.alphabet is None else
        _inputs(exercise, load(member.name).node if member else reference)
    )  # fmt: skip
    hidden = _hidden(exercise)
    asked = [*shortest, *longer, *hidden]
    with kept_in_bounds(exercise.reference, seconds):
        answers = answers_of(reference, asked)
    kept = [number for number, answer in enumerate(answers) if not isinstance(answer, RaspError)]
    if not asked:
        raise RaspValueError(
            "there is no input to try", hint="give a greater `--max-length` or `--random`"
        )
    if not kept:
        failed = answers[0]
        assert isinstance(failed, RaspError)
        raise RaspValueError(
            f"the reference `{exercise.reference}` fails on every input: {failed.message}",
            hint="say which tokens it is for: `--alphabet`",
        )
    _refuse_lists(exercise, asked, answers)
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


def _refuse_lists(exercise: Exercise, asked: list[Input], answers: list[Answer]) -> None:
    """Refuse a Python function that answers as a selector does."""
    for tokens, answer in zip(asked, answers, strict=True):
        if isinstance(answer, list) and any(isinstance(value, list) for value in answer):
            raise RaspTypeError(
                f"the reference `{exercise.reference}` gives a list of lists on "
                f"{show_input(tokens)}, and an s-op does not",
                hint="return a list with a bool, number or string, or `None`, for each position",
            )


def _value_to_json(value: Any) -> Any:
    """An atom with its kind; a float, and `None` where anything will do, as they are."""
    return value if value is None or isinstance(value, float) else atom_to_json(value)


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
