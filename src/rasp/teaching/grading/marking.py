"""Submissions and exercises in, grades out; each submission runs in a process that can be ended."""

from __future__ import annotations

import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from rasp.base.errors import RaspError
from rasp.base.file_writing import replace_file
from rasp.base.limits import MEGABYTE, Limits
from rasp.teaching.grading.exercise import Exercise
from rasp.teaching.grading.expected_answers import SECONDS, GradedCases, make_cases
from rasp.teaching.grading.results import Grades, Mark, mark
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
    """
    every = tuple(_cases(exercise, seconds) for exercise in exercises)
    count = min(workers or os.cpu_count() or 1, len(submissions))
    with tempfile.TemporaryDirectory() as folder:
        cases = os.path.join(folder, "cases.json")
        replace_file(cases, json.dumps([prepared.to_json() for prepared in every]).encode())
        warm = _request(Submission("", ""), cases, limits) | {"name": "", "text": ""}
        with Sandbox(count, seconds=seconds, memory=memory, task=TASK, warm=warm) as box:
            box.start()
            grading = _Grading(box, every, cases, limits, file)
            marks = grading.run(submissions, AHEAD * count, progress or (lambda *_: None))
    return Grades(every, marks)


def _cases(exercise: Exercise, seconds: float) -> GradedCases:
    with exercise.naming_place():
        return make_cases(exercise, seconds)


class _Grading:
    """Submissions on their way: a few wait for each worker, and are read only then."""

    def __init__(
        self,
        box: Sandbox,
        every: tuple[GradedCases, ...],
        cases: str,
        limits: Limits,
        file: str | None,
    ) -> None:
        self.box, self.every, self.cases, self.limits, self.file = box, every, cases, limits, file

    def run(
        self, submissions: Sequence[Submission], most: int, progress: Callable[[int, int], None]
    ) -> dict[str, tuple[Mark, ...]]:
        marks: dict[str, tuple[Mark, ...]] = {}
        waiting: deque[tuple[Submission, Job | RaspError]] = deque()
        left = deque(submissions)
        while left or waiting:
            while left and len(waiting) < most:
                submission = left.popleft()
                waiting.append((submission, self._sent(submission)))
            submission, job = waiting.popleft()
            marks[submission.name] = self._marked(job)
            progress(len(marks), len(submissions))
        return marks

    def _sent(self, submission: Submission) -> Job | RaspError:
        try:
            source = submission.read(self.limits, self.file)
        except RaspError as error:
            return error
        request = _request(submission, self.cases, self.limits)
        text = {"name": source.name, "text": source.text}
        return self.box.submit(request | text, client=submission.name)

    def _marked(self, job: Job | RaspError) -> tuple[Mark, ...]:
        if isinstance(job, RaspError):
            outcomes = self._alike("unreadable", job.message, str(job))
        else:
            answer = job.result()
            error = answer.get("error")
            outcomes = answer["outcomes"] if error is None else self._alike(
                "stopped", error["message"], error.get("text", "")
            )  # fmt: skip
        return tuple(mark(*pair) for pair in zip(self.every, outcomes, strict=True))

    def _alike(self, verdict: str, note: str, text: str) -> list[dict[str, Any]]:
        """The same for every exercise: nothing could be run."""
        return [{"verdict": verdict, "note": note, "text": text}] * len(self.every)


def _request(submission: Submission, cases: str, limits: Limits) -> dict[str, Any]:
    folder = None if submission.folder is None else os.path.abspath(submission.folder)
    return {"cases": cases, "folder": folder, "limits": asdict(limits)}
