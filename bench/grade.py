"""How long grading takes: a class of 80 against a reference, 15 of the submissions hostile.

    python bench/grade.py

Prints the wall time, the number of cores and what came of each kind of submission.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.grading.hostile import write_class

from rasp.teaching.grading import find_submissions, grade, read_exercises

SIZE = 80
REFERENCE = "hist = selector_width(select(tokens, tokens, ==));"


def main() -> None:
    """Write the class, grade it, and say how long that took."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = write_class(Path(folder) / "class", SIZE)
        reference = Path(folder) / "reference.rasp"
        reference.write_text(REFERENCE)
        began = time.perf_counter()
        exercises = read_exercises(f"{reference}:hist", points=10, layers=1, heads=2)
        grades = grade(find_submissions(f"{folder}/class"), exercises)
        seconds = time.perf_counter() - began
    verdicts = Counter((kinds[name], marks[0].verdict) for name, marks in grades.marks.items())
    print(f"{len(grades.marks)} submissions in {seconds:.1f} s on {os.cpu_count()} cores")
    for (kind, verdict), count in sorted(verdicts.items()):
        print(f"  {kind:8} {verdict:11} {count}")


if __name__ == "__main__":
    main()
