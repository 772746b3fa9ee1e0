"""`rasp grade SUBMISSIONS REFERENCE`: points for each submission, and why.

Exit code 0: all are right; 1: some submissions are not; 2: the exercise itself is at fault.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from rasp.cli.parser import CommandParser
from rasp.cli.patience import ProgressLine
from rasp.errors import RaspValueError
from rasp.grading import Grades, find_submissions, grade, read_exercises
from rasp.grading.marking import SECONDS
from rasp.limits import GRADING_LIMITS
from rasp.replacing import replace_file


def configure(parser: CommandParser) -> None:
    parser.add_argument(
        "submissions", help="a folder: each `.rasp` file and each folder in it is one; or one file"
    )
    parser.add_argument(
        "reference",
        help="FILE.rasp:NAME, gallery:NAME, FILE.py:FUNCTION, or a FILE.toml of exercises",
    )
    asked = parser.add_argument_group("the exercise")
    asked.add_argument("--name", help="the s-op in submissions (default: as in the reference)")
    asked.add_argument("--points", type=float, help="for a right answer (default: 1)")
    asked.add_argument(
        "--size-points", type=float, metavar="N",
        help="how many of them are for keeping to the size (default: all)",
    )  # fmt: skip
    asked.add_argument("--layers", type=int, metavar="N", help="the most layers (default: any)")
    asked.add_argument(
        "--heads", type=int, metavar="N", help="the most heads in a layer (default: any)"
    )
    parser.take_alphabet("tokens of inputs (default: what the reference knows)", into=asked)
    asked.add_argument("--bos", help="a token that every input begins with (default: none)")
    asked.add_argument(
        "--max-length", type=int, metavar="N",
        help="try all inputs up to this length (default: some 4,000 inputs)",
    )  # fmt: skip
    asked.add_argument(
        "--random", type=int, metavar="N", help="how many longer inputs to try (default: 300)"
    )
    asked.add_argument(
        "--inputs", metavar="FILE", help="hidden inputs to try too, one a line (default: none)"
    )
    asked.add_argument(
        "--partial", action="store_const", const=True,
        help="a wrong answer earns the share of the hidden inputs that it gets right",
    )  # fmt: skip
    _configure_run(parser.add_argument_group("the run"))
    parser.take_limits(GRADING_LIMITS)


def _configure_run(run_: argparse._ArgumentGroup) -> None:
    run_.add_argument("--one", action="store_true", help="the folder is one submission")
    run_.add_argument(
        "--file", metavar="NAME",
        help="the program in a submission that is a folder (default: main.rasp, or the only one)",
    )  # fmt: skip
    run_.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="N", help="for one submission"
    )
    run_.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    run_.add_argument("--json", action="store_true", help="everything as one JSON value")
    run_.add_argument(
        "--gradescope", metavar="OUT",
        help="write Gradescope's results.json: a file for one submission, a folder for several "
        "(default: nowhere)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    names = ("name", "points", "size_points", "layers", "heads", "alphabet", "bos", "max_length",
             "random", "inputs", "partial")  # fmt: skip
    options = {name: getattr(arguments, name) for name in names}
    if arguments.seconds <= 0 or (arguments.workers or 1) < 1:
        raise RaspValueError("`--seconds` and `--workers` are above 0", hint="give more")
    exercises = read_exercises(arguments.reference, **options)
    submissions = find_submissions(arguments.submissions, arguments.one)
    with ProgressLine() as line:
        grades = grade(
            submissions,
            exercises,
            workers=arguments.workers,
            seconds=arguments.seconds,
            limits=arguments.limits,
            file=arguments.file,
            progress=lambda done, total: line.show(lambda: f"{done:,} of {total:,} submissions"),
        )
    if arguments.gradescope:
        _write_gradescope(grades, arguments.gradescope)
    for cases in grades.exercises:
        if cases.left_out:
            print(f"note: {cases.exercise.reference} fails on {cases.left_out:,} inputs, which are "
                  "left out", file=sys.stderr)  # fmt: skip
    print(json.dumps(grades.as_dict(), ensure_ascii=False) if arguments.json else grades)
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
