"""A FOLDER OF SUBMISSIONS AND AN EXERCISE -> POINTS, AND WHY.

`exercise` reads what is asked, `reference` what it names (an s-op or a Python function), and
`expected_answers` computes what that answers on many inputs, once; `submissions` finds the files;
`grading_job` grades one submission in a worker process with limits; `results` are the points, as a
table, as data and in the form that Gradescope reads; `marking` puts it all together.
"""

from rasp.teaching.grading.exercise import Exercise, read_exercises
from rasp.teaching.grading.marking import grade
from rasp.teaching.grading.results import Grades, Mark
from rasp.teaching.grading.submissions import Submission, find_submissions

__all__ = [
    "Exercise",
    "Grades",
    "Mark",
    "Submission",
    "find_submissions",
    "grade",
    "read_exercises",
]
