"""What a teacher writes in, exercises out: options of the command line, or a TOML file.

[[exercise]]
reference = "hist.rasp:hist"    # or "gallery:dyck2", or "answers.py:hist"
points = 10
layers = 1
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields, replace
from typing import Any

from rasp.errors import RaspValueError
from rasp.reading import ABSENT, read_file
from rasp.spelling import did_you_mean

GALLERY = "gallery:"
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
    """The tokens that inputs are made of; from the reference, where nothing is said."""
    bos: str | None = None
    """A token that every input begins with; its position is not compared."""
    max_length: int | None = None
    """All inputs up to this length are tried; as many as are quick, where nothing is said."""
    random: int = 300
    random_length: int = 16
    """How many longer inputs are tried, and their greatest length."""
    inputs: str | None = None
    """A file of further inputs, one a line, that students do not see."""
    partial: bool = False
    """Whether a wrong answer earns the share of those inputs that it gets right."""

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
    folder = os.path.dirname(reference)
    return tuple(_checked(_from_table(table, folder, given)) for table in tables)


def _from_table(table: dict[str, Any], folder: str, given: dict[str, Any]) -> Exercise:
    keys = [field.name for field in fields(Exercise)]
    for key in table:
        if key not in keys:
            hint = did_you_mean(key, keys, f"an exercise has {', '.join(keys)}")
            raise RaspValueError(f"an exercise has no `{key}`", hint=hint)
    if not isinstance(table.get("reference"), str):
        raise RaspValueError(
            "an exercise needs a reference", hint='for example `reference = "gallery:dyck2"`'
        )
    exercise = Exercise(**(given | table))
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
    for field in ("points", "size_points", "random", "layers", "heads"):
        number = getattr(exercise, field)
        if number is not None and (not isinstance(number, (int, float)) or number < 0):
            raise RaspValueError(f"`{field}` is a number from 0 on", hint="for example 10")
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
