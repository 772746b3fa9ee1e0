"""`rasp grade SUBMISSIONS REFERENCE`: points for each submission, and why.

Exit code 0: all are right; 1: some submissions are not; 2: the exercise itself is at fault.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspValueError
from rasp.base.file_writing import replace_file
from rasp.base.progress import ProgressLine
from rasp.teaching.grading import Grades, find_submissions, grade, read_exercises
from rasp.teaching.grading.expected_answers import SECONDS
from rasp.teaching.grading.marking import LIMITS

EXERCISE = "name points size_points layers heads alphabet bos max_length random inputs partial"
"""The options that say what is asked."""


def configure(parser: CommandParser) -> None:
    parser.take(
        "submissions", "a folder: each `.rasp` file and each folder in it is one; or one file"
    )
    parser.take(
        "reference",
        "FILE.rasp:NAME, gallery:NAME, FILE.py:FUNCTION, or a FILE.toml of exercises",
    )
    _take_exercise(parser)
    parser.heading("the run")
    parser.flag("--one", "the folder is one submission")
    parser.take("--file", "the program in a submission that is a folder (default: main.rasp, or "
                "the only one)", metavar="NAME")  # fmt: skip
    parser.take(
        "--seconds",
        "seconds of work: for one submission, and for the reference",
        float,
        default=SECONDS,
        metavar="N",
    )
    parser.take("--workers", "processes (default: one a core)", int, metavar="N")
    parser.take_json()
    parser.flag("--csv", "print a table for spreadsheets")
    parser.take("--gradescope", "write Gradescope's results.json: a file for one submission, a "
                "folder for several (default: nowhere)", metavar="OUT")  # fmt: skip
    parser.heading()
    parser.take_limits(LIMITS)


def _take_exercise(parser: CommandParser) -> None:
    parser.heading("the exercise")
    parser.take("--name", "the s-op in submissions (default: as in the reference)")
    parser.take("--points", "for a right answer (default: 1)", float)
    for_size = "how many of them are for keeping to the size (default: all)"
    parser.take("--size-points", for_size, float, metavar="N")
    parser.take("--layers", "how many layers: at most these (default: any)", int, metavar="N")
    parser.take(
        "--heads", "how many heads a layer has: at most these (default: any)", int, metavar="N"
    )
    parser.take_alphabet("what the reference and the submission know")
    parser.take_bos()
    parser.take_length("all up to it are tested (default: some 4,000 inputs)")
    parser.take("--random", "how many longer inputs to test (default: 300)", int, metavar="N")
    parser.take("--inputs", "hidden inputs to try too, one a line (default: none)", metavar="FILE")
    parser.flag(
        "--partial", "a wrong answer earns the share of the hidden inputs that it gets right"
    )


def run(arguments: argparse.Namespace) -> int:
    if not arguments.seconds > 0 or (arguments.workers or 1) < 1:
        raise RaspValueError("`--seconds` and `--workers` are above 0", hint="give more")
    exercises = read_exercises(arguments.reference, **options(arguments, EXERCISE))
    submissions = find_submissions(arguments.submissions, arguments.one)
    with ProgressLine() as line:
        grades = grade(
            submissions,
            exercises,
            **options(arguments, "workers seconds limits file"),
            progress=lambda done, total: line.show(lambda: f"{done:,} of {total:,} submissions"),
        )
    if arguments.gradescope:
        _write_gradescope(grades, arguments.gradescope)
    for cases in grades.exercises:
        if cases.left_out:
            print(f"note: {cases.exercise.reference} fails on {cases.left_out:,} inputs, which are "
                  "left out", file=sys.stderr)  # fmt: skip
    if arguments.json:
        print_json_line(grades.as_dict())
    elif arguments.csv:
        print(grades.as_csv(), end="")
    else:
        tell(grades)
    return 0 if grades.all_right else 1


def _write_gradescope(grades: Grades, out: str) -> None:
    if len(grades.marks) == 1:
        [name] = grades.marks
        replace_file(out, _record(grades, name))
        return
    os.makedirs(out, exist_ok=True)
    for name in grades.marks:
        replace_file(os.path.join(out, f"{name}.json"), _record(grades, name))


def _record(grades: Grades, name: str) -> bytes:
    return json.dumps(grades.for_gradescope(name), ensure_ascii=False, indent=1).encode() + b"\n"
