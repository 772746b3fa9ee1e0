"""The gallery: programs in RASP, each with a specification in Python that it agrees with.

One `.rasp` file a program, named as its output s-op. Beside the files, `specifications/` holds
one module a family with an `Entry` for each program; nothing here runs a program until asked.

>>> import rasp.teaching.gallery
>>> rasp.programs.load("reverse")("abc")
['c', 'b', 'a']
>>> rasp.programs.entry("reverse").heads_per_layer
(1, 1)
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from rasp.teaching.gallery.gallery_files import program_names as names
from rasp.teaching.gallery.gallery_files import read_program

if TYPE_CHECKING:
    from rasp.language.embedding.handles import Handle
    from rasp.models.testbed.many import StudyProgram
    from rasp.teaching.gallery.catalogue import Entry

__all__ = ["entries", "entry", "families", "load", "names", "source", "study_program"]


def load(name: str) -> Handle:
    """Run a program of the gallery and return its output s-op, ready to be applied.

    >>> load("hist")("hello")
    [1, 1, 2, 2, 1]
    """
    from rasp.language.embedding.namespace import run

    program = read_program(name)
    handle: Handle = run(program.text, program.name)[name]
    return handle


def source(name: str) -> str:
    """Return the text of a program of the gallery.

    >>> print(source("reverse").splitlines()[0])
    # Reverse the input.
    """
    return read_program(name).text


def entries() -> tuple[Entry, ...]:
    """Return every program's entry, family by family.

    >>> [each.name for each in entries() if "palindrome" in each.name][:2]
    ['palindrome', 'palindrome_faults']
    """
    from rasp.teaching.gallery.specifications import every_entry

    return every_entry()


def entry(name: str) -> Entry:
    """Return what is known of one program: its specification, inputs, example and heads.

    >>> entry("reverse").specification(["a", "b"])
    ['b', 'a']
    """
    read_program(name)  # the error for a name that is not there
    return next(member for member in entries() if member.name == name)


def families() -> dict[str, tuple[Entry, ...]]:
    """Return the entries of each family, by the family's name.

    >>> [each.name for each in families()["the paper's tasks"]][:2]
    ['reverse', 'hist']
    """
    together = groupby(entries(), key=attrgetter("family"))
    return {family: tuple(members) for family, members in together}


def study_program(name: str) -> StudyProgram:
    """Return a program as the test bed takes it, over the tokens of its smallest inputs.

    >>> study_program("dyck1").vocabulary
    ['(', ')', 'a']
    """
    from rasp.models.testbed.many import StudyProgram
    from rasp.teaching.gallery.gallery_inputs import BOS

    inputs = entry(name).inputs
    tokens = [token for token in inputs.alphabet if token != BOS]
    return StudyProgram(name, load(name), tokens, BOS if BOS in inputs.before else None)
