"""Ask an exercise's reference for the right answers, once for every submission.

Inputs on which the reference itself fails are not part of the exercise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.insight.equivalence.answering import Input
from rasp.insight.equivalence.sides import Answer, Side, answers_of
from rasp.language.graph import SOp
from rasp.language.graph.portable import atom_to_json
from rasp.teaching.gallery import entry, load
from rasp.teaching.grading.exercise import GALLERY, Exercise
from rasp.teaching.grading.exercise_inputs import Alphabet, inputs_of
from rasp.teaching.grading.grading_job import too_large
from rasp.teaching.grading.reference import kept_in_bounds, read_reference

SECONDS = 10.0
"""For one submission, and for the answers of one reference."""


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
    alphabet: Alphabet | None = None
    """To be extended by a submission's own tokens; None if the exercise gives its alphabet."""

    def to_json(self) -> dict[str, Any]:
        """Return what a worker needs, as plain data."""
        exercise, alphabet = self.exercise, self.alphabet
        return {
            "alphabet": None
            if alphabet is None
            else {
                key: None if tokens is None else [atom_to_json(token) for token in tokens]
                for key, tokens in vars(alphabet).items()
            },
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


def make_cases(
    exercise: Exercise, seconds: float = SECONDS, wider: tuple[Atom, ...] = ()
) -> GradedCases:
    """Ask the reference for its answers, which may take it some seconds.

    A `wider` alphabet is that of submissions with tokens of their own.

    >>> cases = make_cases(Exercise("gallery:reverse"))
    >>> cases.inputs[5], cases.answers[5]
    (('a', 'c'), ['c', 'a'])
    """
    is_gallery = exercise.reference.startswith(GALLERY)
    member = entry(exercise.reference.removeprefix(GALLERY)) if is_gallery else None
    reference = member.wanted if member else read_reference(exercise.reference, seconds)
    node = load(member.name).node if member else reference
    _refuse_own_size(exercise, node)
    inputs = inputs_of(exercise, node, member, wider)
    asked = [*inputs.shortest, *inputs.longer, *inputs.hidden]
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
        sum(number < len(inputs.shortest) for number in kept),
        sum(number >= len(asked) - len(inputs.hidden) for number in kept),
        inputs.described,
        len(asked) - len(kept),
        0 if exercise.bos is None else 1,
        inputs.alphabet,
    )


def _refuse_own_size(exercise: Exercise, reference: Side) -> None:
    """Refuse limits that the reference itself does not keep, before anything is graded."""
    if isinstance(reference, SOp):
        note = too_large(reference, exercise.layers, exercise.heads)
        if note:
            raise RaspValueError(
                f"the reference `{exercise.reference}` breaks the exercise's own limits: {note}",
                hint="allow more layers or heads, or give a smaller reference",
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
