"""What a teacher writes in, exercises out: options of the command line, or a TOML file.

[[exercise]]
reference = "hist.rasp:hist"    # or "gallery:dyck2", or "answers.py:hist"
points = 10
layers = 1
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file
from rasp.base.spelling import did_you_mean

GALLERY = "gallery:"
NUMBER, COUNT, TEXT = "a number from 0 on", "a whole number from 0 on", "a text in quotes"
YES_OR_NO = "`true` or `false`"
HINTS = {NUMBER: "for example 10", COUNT: "for example 2", TEXT: 'for example "hist"',
         YES_OR_NO: "for example `partial = true`"}  # fmt: skip
TYPES = {NUMBER: (int, float), COUNT: (int,), TEXT: (str,), YES_OR_NO: (bool,)}
VALUES = {
    **dict.fromkeys(("points", "size_points"), NUMBER),
    **dict.fromkeys(("layers", "heads", "max_length", "random", "random_length"), COUNT),
    **dict.fromkeys(("name", "inputs"), TEXT),
    "partial": YES_OR_NO,
}
"""What may be written for a key."""
LARGEST_FILE = 1_000_000
"""Bytes of a file with exercises, or with hidden inputs."""


@dataclass(frozen=True)
class Exercise:
    """One s-op that every submission should define, and what it is worth.

    >>> Exercise("gallery:dyck2", points=10).output
    'dyck2'
    """

    reference: str
    """`FILE.rasp:NAME`, `gallery:NAME` or `FILE.py:FUNCTION`."""
    name: str = ""
    """What the s-op is called in submissions; as in the reference, where nothing is said."""
    points: float = 1.0
    size_points: float | None = None
    """How many of the points are for keeping to the size; all of them, where nothing is said."""
    layers: int | None = None
    heads: int | None = None
    """The most layers, and the most heads in each layer."""
    alphabet: Any = None
    """The tokens that inputs are made of; where nothing is said, those of the reference and of the
    submission."""
    bos: str | None = None
    """A token that every input begins with; its position is not compared."""
    max_length: int | None = None
    """All inputs up to this length are tried; as many as are quick, where nothing is said."""
    random: int = 300
    random_length: int = 40
    """How many longer inputs are tried, and their greatest length."""
    inputs: str | None = None
    """A file of further inputs, one a line, that students do not see."""
    partial: bool = False
    """Whether a wrong answer earns the share of those inputs that it gets right."""
    place: str = field(default="", kw_only=True, compare=False, repr=False)
    """Where it was read, for errors: a file of exercises and its number in there."""

    @contextlib.contextmanager
    def naming_place(self) -> Iterator[None]:
        """Let errors say which exercise of a file they are about.

        >>> with Exercise("a.rasp:a", place="exercise 2 of `week.toml`").naming_place():
        ...     raise RaspValueError("`points` is a number from 0 on")
        Traceback (most recent call last):
        ...
        rasp.base.errors.RaspValueError: error: in exercise 2 of `week.toml`: `points` is a number
        ...
        """
        try:
            yield
        except RaspError as error:
            if self.place:
                error.about = (f"in {self.place}", *error.about)
            raise

    @property
    def output(self) -> str:
        """The name of the s-op in submissions."""
        return self.name or self.reference.removeprefix(GALLERY).rpartition(":")[2]


def read_exercises(reference: str, **options: Any) -> tuple[Exercise, ...]:
    """Read one exercise from a reference and options, or several from a TOML file.

    >>> [each.points for each in read_exercises("hist.rasp:hist", points=5)]
    [5]
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not reference.endswith(".toml"):
        return (_checked(Exercise(reference, **given)),)
    try:
        data = tomllib.loads(read_file(reference, LARGEST_FILE).decode())
    except ABSENT:
        raise RaspValueError(f"there is no file `{reference}`", hint="check the path") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RaspValueError(
            f"`{reference}` is not TOML: {error}", hint="begin each exercise with `[[exercise]]`"
        ) from None
    tables = data.get("exercise")
    if not isinstance(tables, list) or not tables or set(data) != {"exercise"}:
        raise RaspValueError(
            f"`{reference}` lists no exercises", hint="begin each exercise with `[[exercise]]`"
        )
    return tuple(
        _numbered(reference, number, table, given) for number, table in enumerate(tables, 1)
    )


def _numbered(path: str, number: int, table: Any, given: dict[str, Any]) -> Exercise:
    """Read one exercise of a file."""
    place = f"exercise {number} of `{path}`"
    with Exercise("", place=place).naming_place():
        if not isinstance(table, dict):
            raise RaspValueError(
                "it is not a table", hint="begin each exercise with `[[exercise]]`"
            )
        exercise = _from_table(table, given)
    return _beside(path, replace(exercise, place=place))


def _from_table(table: dict[str, Any], given: dict[str, Any]) -> Exercise:
    keys = [key.name for key in fields(Exercise) if key.name != "place"]
    for key in table:
        if key not in keys:
            hint = did_you_mean(key, keys, f"an exercise has {', '.join(keys)}")
            raise RaspValueError(f"an exercise has no `{key}`", hint=hint)
    if not isinstance(table.get("reference"), str):
        raise RaspValueError(
            "an exercise needs a reference", hint='for example `reference = "gallery:dyck2"`'
        )
    return _checked(Exercise(**(given | table)))


def _beside(path: str, exercise: Exercise) -> Exercise:
    """Look for the exercise's own files beside the file of exercises."""
    folder = os.path.dirname(path)
    if not exercise.reference.startswith(GALLERY):
        exercise = replace(exercise, reference=os.path.join(folder, exercise.reference))
    if exercise.inputs is not None:
        exercise = replace(exercise, inputs=os.path.join(folder, exercise.inputs))
    return exercise


def _checked(exercise: Exercise) -> Exercise:
    """Refuse what cannot be meant before anything is graded."""
    where, colon, name = exercise.reference.rpartition(":")
    if not colon or not name or not where.endswith((".rasp", ".py", "gallery")):
        raise RaspValueError(
            f"`{exercise.reference}` is not a reference",
            hint="write FILE.rasp:NAME, gallery:NAME or FILE.py:FUNCTION",
        )
    for key, wanted in VALUES.items():
        value = getattr(exercise, key)
        is_negative = isinstance(value, (int, float)) and not value >= 0  # or no number: nan
        if value is not None and (type(value) not in TYPES[wanted] or is_negative):
            raise RaspValueError(f"`{key}` is {wanted}", hint=HINTS[wanted])
    if (exercise.size_points or 0) > exercise.points:
        raise RaspValueError(
            "`size_points` are a part of the points, not more than all", hint="give fewer"
        )
    if exercise.partial and exercise.inputs is None:
        raise RaspValueError(
            "`partial` counts hidden inputs, but there are none",
            hint="give a file of them: `inputs`",
        )
    return exercise
