"""What came of each submission in, points out: a table, plain data, and Gradescope's form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rasp.base.terminal_text import visibly
from rasp.teaching.grading.expected_answers import GradedCases

RIGHT, TOO_LARGE = "right", "too large"
LONGEST_NAME = 24
MOST_NAMED = 5
COLUMNS = ("submission", "exercise", "verdict", "points", "of", "layers", "heads", "note")
FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula."""
LONGEST_LINE = 1_000
"""A note quotes what a program gives, and one atom can have 100,000 characters."""


@dataclass(frozen=True)
class Mark:
    """What one submission earns in one exercise, and why.

    >>> Mark("hist", "right", 10, 10).is_full
    True
    """

    exercise: str
    verdict: str
    """right, wrong, too large, error, missing, stopped, or unreadable."""
    points: float
    most: float
    note: str = ""
    """Why it is not right, in a line."""
    text: str = ""
    """The error in full, as its author would have seen it."""
    layers: int | None = None
    heads: int | None = None
    counterexample: dict[str, Any] | None = None
    tried: str = ""
    """The inputs that it was tried on."""

    @property
    def is_full(self) -> bool:
        """True where nothing is to be said."""
        return self.verdict == RIGHT


def mark(cases: GradedCases, outcome: dict[str, Any]) -> Mark:
    """Turn what a worker found into points."""
    exercise = cases.exercise
    verdict, note = outcome["verdict"], outcome.get("note", "")
    points = 0.0
    if verdict == RIGHT:
        points = exercise.points
        if not outcome.get("fits", True):
            for_size = exercise.points if exercise.size_points is None else exercise.size_points
            verdict, note, points = TOO_LARGE, outcome["size_note"], exercise.points - for_size
    elif "share" in outcome:
        points = round(exercise.points * outcome["share"], 2)
    note = "; ".join(filter(None, (note, outcome.get("other_lines"))))
    shown = ("input", "wanted", "got", "is_shortest")
    example = {key: outcome[key] for key in shown} if "input" in outcome else None
    return Mark(
        exercise.output, verdict, points, exercise.points, note, outcome.get("text", ""),
        outcome.get("layers"), outcome.get("heads"), example, outcome.get("tried", cases.described),
    )  # fmt: skip


@visibly
@dataclass(frozen=True)
class Grades:
    """The marks of every submission, by its name. Print it to see the table.

    >>> print(Grades((), {"ada": (Mark("hist", "right", 1, 1),)}))
    submission  exercise  verdict  points
    ada         hist      right    1 of 1
    <BLANKLINE>
    1 submission: 1 all right; 1 point on average
    """

    exercises: tuple[GradedCases, ...]
    marks: dict[str, tuple[Mark, ...]]

    @property
    def all_right(self) -> bool:
        """True where every submission earns everything."""
        return all(mark.is_full for marks in self.marks.values() for mark in marks)

    def __str__(self) -> str:
        rows = [("submission", "exercise", "verdict", "points", "")]
        for name, marks in self.marks.items():
            for number, own in enumerate(marks):
                earned = f"{own.points:g} of {own.most:g}"
                shown = _cut(name, LONGEST_NAME) if number == 0 else ""
                rows.append((shown, own.exercise, own.verdict, earned, own.note))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row[:4], widths, strict=True)), row[4]])
            for row in rows
        ]
        return "\n".join(
            [*(_cut(line.rstrip(), LONGEST_LINE) for line in lines), "", self._summary(),
             *(_cut(line, LONGEST_LINE) for line in self._tried())]
        )  # fmt: skip

    __repr__ = __str__

    def _summary(self) -> str:
        full = sum(all(mark.is_full for mark in marks) for marks in self.marks.values())
        earned = [sum(mark.points for mark in marks) for marks in self.marks.values()]
        mean = sum(earned) / max(1, len(earned))
        submissions = f"{len(earned)} submission{'s' * (len(earned) != 1)}"
        points = f"{mean:.3g} point{'s' * (mean != 1)}"
        return f"{submissions}: {full} all right; {points} on average"

    def _tried(self) -> Iterator[str]:
        """Say of each exercise what was tried, and of which submissions more."""
        for number, cases in enumerate(self.exercises):
            name = cases.exercise.output
            yield f"{name}: {cases.described}"
            further: dict[str, list[str]] = {}
            for submission, marks in self.marks.items():
                if marks[number].tried not in ("", cases.described):
                    further.setdefault(marks[number].tried, []).append(submission)
            for tried, submissions in further.items():
                more = ["…"] if len(submissions) > MOST_NAMED else []
                listed = ", ".join([*submissions[:MOST_NAMED], *more])
                yield f"{name} of {listed}: {tried}, too"

    def as_csv(self) -> str:
        """Return a table as spreadsheets read it, with a line for each mark.

        >>> print(Grades((), {"ada": (Mark("hist", "right", 1, 1),)}).as_csv())
        submission,exercise,verdict,points,of,layers,heads,note
        ada,hist,right,1,1,,,
        <BLANKLINE>
        """
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, marks in self.marks.items():
            for own in marks:
                cells = (name, own.exercise, own.verdict, own.points, own.most, own.layers,
                         own.heads, own.note)  # fmt: skip
                writer.writerow(_as_text(cell) if isinstance(cell, str) else cell for cell in cells)
        return table.getvalue()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> marks = {"ada": (Mark("hist", "right", 1, 1),)}
        >>> Grades((), marks).as_dict()["submissions"][0]["points"]
        1
        """
        return {
            "exercises": [
                {
                    "name": cases.exercise.output,
                    "reference": cases.exercise.reference,
                    "points": cases.exercise.points,
                    "inputs": len(cases.inputs),
                    "tried": cases.described,
                    "left_out": cases.left_out,
                }
                for cases in self.exercises
            ],
            "submissions": [
                {
                    "name": name,
                    "points": sum(mark.points for mark in marks),
                    "of": sum(mark.most for mark in marks),
                    "marks": [asdict(mark) for mark in marks],
                }
                for name, marks in self.marks.items()
            ],
        }

    def for_gradescope(self, name: str) -> dict[str, Any]:
        """Return one submission's marks as Gradescope's `results.json` has them.

        >>> marks = {"ada": (Mark("hist", "right", 1, 1),)}
        >>> Grades((), marks).for_gradescope("ada")["score"]
        1
        """
        marks = self.marks[name]
        return {
            "score": sum(mark.points for mark in marks),
            "output": "Graded by rasp.",
            "stdout_visibility": "hidden",
            "tests": [
                {
                    "name": mark.exercise,
                    "score": mark.points,
                    "max_score": mark.most,
                    "status": "passed" if mark.is_full else "failed",
                    "output": mark.text or mark.note or mark.verdict,
                    "visibility": "visible",
                }
                for mark in marks
            ],
        }


def _as_text(cell: str) -> str:
    """A cell that no spreadsheet runs: the name of a file can hold anything."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _cut(text: str, most: int) -> str:
    """One line of at most so many columns; the name of a file can hold anything."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return line if len(line) <= most else line[: most - 1] + "…"
