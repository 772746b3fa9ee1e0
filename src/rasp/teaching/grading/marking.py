"""Submissions and exercises in, grades out; each submission runs in a process that can be ended."""

from __future__ import annotations

import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rasp.base.errors import RaspError
from rasp.base.file_writing import replace_file
from rasp.base.limits import MEGABYTE, Limits
from rasp.language.graph.portable import atom_from_json
from rasp.teaching.grading.exercise import Exercise
from rasp.teaching.grading.expected_answers import SECONDS, GradedCases, make_cases
from rasp.teaching.grading.results import RIGHT, Grades, Mark, mark
from rasp.teaching.grading.submissions import Submission
from rasp.teaching.sandbox import Sandbox
from rasp.teaching.sandbox.job import Job

AHEAD = 3
"""Requests that wait for each worker."""
LIMITS = Limits(input_length=100_000, graph_size=200_000, dense_cells=2_000_000)
"""For a program that somebody hands in; its time is kept by whoever waits for its worker."""
TASK = "rasp.teaching.grading.grading_job:grade_submission"


def grade(
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    *,
    workers: int | None = None,
    seconds: float = SECONDS,
    memory: int = 512 * MEGABYTE,
    limits: Limits = LIMITS,
    file: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Grades:
    """Grade submissions; what one of them does is its own result alone.

    `seconds` and `memory` are for one submission; a reference has as many seconds. In a
    submission that is a folder, the program is called `file`, or else `main.rasp`, or else it is
    the only one there.

    >>> from rasp.teaching.grading import find_submissions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "ada.rasp"), "w") as text:
    ...         _ = text.write("turned = aggregate(select(indices, length - indices, ==), tokens);")
    ...     asked = Exercise("gallery:reverse", name="turned", points=10)
    ...     print(grade(find_submissions(folder), [asked], workers=1))
    submission  exercise  verdict  points
    ada         turned    wrong    0 of 10  on "a" it gives [0], not ["a"]
    <BLANKLINE>
    1 submission: 0 all right; 0 points on average
    turned: 3,279 short inputs that `reverse` is for over a, b, c; 300 longer ones
    """
    every = tuple(_cases(exercise, seconds) for exercise in exercises)
    count = min(workers or os.cpu_count() or 1, len(submissions))
    with tempfile.TemporaryDirectory() as folder:
        prepared = _Prepared(folder, every, seconds)
        warm = _request(Submission("", ""), prepared.path, limits) | {"name": "", "text": ""}
        with Sandbox(count, seconds=seconds, memory=memory, task=TASK, warm=warm) as box:
            box.start()
            grading = _Grading(box, prepared, limits, file)
            marks = grading.run(submissions, AHEAD * count, progress or (lambda *_: None))
    return Grades(every, marks)


class _Prepared:
    """The inputs and answers of every exercise, in files that workers read."""

    def __init__(self, folder: str, every: tuple[GradedCases, ...], seconds: float) -> None:
        self.folder, self.every, self.seconds = folder, every, seconds
        self.path = self._written("cases", every)
        self.wider: dict[tuple[int, str], tuple[str, str]] = {}

    def _written(self, name: str, every: Sequence[GradedCases]) -> str:
        path = os.path.join(self.folder, f"{name}.json")
        replace_file(path, json.dumps([cases.to_json() for cases in every]).encode())
        return path

    def of_wider(self, number: int, tokens: list[Any]) -> tuple[str, str]:
        """The file for one exercise over a wider alphabet, and what it holds in words.

        Both are empty where the reference is not for that alphabet, or takes too long on it.
        """
        key = number, json.dumps(tokens)
        if key not in self.wider:
            alphabet = tuple(map(atom_from_json, tokens))
            try:
                cases = make_cases(self.every[number].exercise, self.seconds, alphabet)
                name = f"wider {len(self.wider)}"
                self.wider[key] = self._written(name, [cases]), cases.described
            except RaspError:
                self.wider[key] = "", ""
        return self.wider[key]


def _cases(exercise: Exercise, seconds: float) -> GradedCases:
    with exercise.naming_place():
        return make_cases(exercise, seconds)


@dataclass(frozen=True)
class _Grading:
    """Submissions on their way: a few wait for each worker, and are read only then."""

    box: Sandbox
    prepared: _Prepared
    limits: Limits
    file: str | None

    def run(
        self, submissions: Sequence[Submission], most: int, progress: Callable[[int, int], None]
    ) -> dict[str, tuple[Mark, ...]]:
        every = self.prepared.every
        marks: dict[str, tuple[Mark, ...]] = {}
        waiting: deque[tuple[Submission, Job | RaspError]] = deque()
        left = deque(submissions)
        while left or waiting:
            while left and len(waiting) < most:
                submission = left.popleft()
                waiting.append((submission, self._sent(submission, self.prepared.path)))
            submission, job = waiting.popleft()
            outcomes = _outcomes(job, len(every))
            final = [self._tried_wider(submission, *each) for each in enumerate(outcomes)]
            marks[submission.name] = tuple(mark(*pair) for pair in zip(every, final, strict=True))
            progress(len(marks), len(submissions))
        return marks

    def _sent(self, submission: Submission, cases: str) -> Job | RaspError:
        try:
            source = submission.read(self.limits, self.file)
        except RaspError as error:
            return error
        request = _request(submission, cases, self.limits)
        text = {"name": source.name, "text": source.text}
        return self.box.submit(request | text, client=submission.name)

    def _tried_wider(
        self, submission: Submission, number: int, outcome: dict[str, Any]
    ) -> dict[str, Any]:
        """Try what is right so far on the submission's own tokens, too."""
        if outcome["verdict"] != RIGHT or "wider" not in outcome:
            return outcome
        path, described = self.prepared.of_wider(number, outcome["wider"])
        if not path:
            return outcome
        [further] = _outcomes(self._sent(submission, path), 1)
        kept = {key: further[key] for key in further if further["verdict"] != RIGHT}
        return outcome | kept | {"tried": described}


def _outcomes(job: Job | RaspError, count: int) -> list[dict[str, Any]]:
    """What came of each exercise; the same for all where nothing could be run."""
    if isinstance(job, RaspError):
        return [{"verdict": "unreadable", "note": job.message, "text": str(job)}] * count
    answer = job.result()
    error = answer.get("error")
    if error is not None:
        stopped = {"verdict": "stopped", "note": error["message"], "text": error.get("text", "")}
        return [stopped] * count
    outcomes: list[dict[str, Any]] = answer["outcomes"]
    return outcomes


def _request(submission: Submission, cases: str, limits: Limits) -> dict[str, Any]:
    folder = None if submission.folder is None else os.path.abspath(submission.folder)
    return {"cases": cases, "folder": folder, "limits": asdict(limits)}
