"""What an exercise names in, the side to compare with out: an s-op, or a teacher's Python function.

A function is run in this process, so that it may import what it likes. `kept_in_bounds` ends it
after some time and sends what it prints to standard error. It cannot end a function that catches
every exception (`except:`) or that stays inside a single call of C code, and Windows has no alarms.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator

from rasp.base.errors import RaspLimitError, RaspNameError, RaspTypeError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file
from rasp.base.limits import alarm
from rasp.insight.equivalence.sides import Side, Specification
from rasp.language.graph import Node, SOp
from rasp.language.meaning.loader import read_source
from rasp.language.meaning.session import Session
from rasp.teaching.grading.exercise import LARGEST_FILE


class _ReferenceTooSlow(BaseException):
    """The alarm went off; no `except Exception` of a teacher's takes it for an error."""


@contextlib.contextmanager
def kept_in_bounds(reference: str, seconds: float) -> Iterator[None]:
    """Give a reference some seconds; standard output stays free for the grades."""
    try:
        with contextlib.redirect_stdout(sys.stderr), alarm(seconds, _ReferenceTooSlow):
            yield
    except _ReferenceTooSlow:
        raise RaspLimitError(
            f"the reference `{reference}` takes more than {seconds:g} seconds",
            hint="does it end on every input? Give it more `--seconds`, or fewer inputs with "
            "`--max-length`",
        ) from None


def read_reference(reference: str, seconds: float) -> Side:
    """Read `FILE.rasp:NAME` or `FILE.py:FUNCTION`; a module of Python may take some seconds."""
    path, _, name = reference.rpartition(":")
    if not path.endswith(".py"):
        return _s_op(path, name)
    with kept_in_bounds(reference, seconds):
        return _python_function(path, name)


def _s_op(path: str, name: str) -> Node:
    session = Session()
    _, errors = session.check(read_source(path), only_definitions=True)
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]
    try:
        node = session.find(name)
    except RaspNameError as error:
        raise RaspNameError(f"the reference `{path}` has no `{name}`", hint=error.hint) from None
    if not isinstance(node, SOp):
        raise RaspTypeError(f"`{name}` in `{path}` is not an s-op", hint="grade an s-op")
    return node


def _python_function(path: str, name: str) -> Specification:
    try:
        read_file(path, LARGEST_FILE)  # a file, and not a device or a folder
    except ABSENT:
        raise RaspValueError(f"there is no file `{path}`", hint="check the path") from None
    try:
        # Not by Python's import: an alarm that goes off in there waits for its end.
        names = runpy.run_path(path, run_name="rasp_specification")
    except (Exception, SystemExit) as error:  # the teacher's own code: whatever it raises is told
        raise RaspValueError(
            f"`{path}` cannot be imported: {type(error).__name__}: {error}", hint="run it alone"
        ) from None
    function = names.get(name)
    if not callable(function):
        raise RaspNameError(f"`{path}` has no function `{name}`", hint="check its name")
    specification: Specification = function
    return specification
