"""A program's name in, its text out: the gallery's files are part of the package."""

from __future__ import annotations

from functools import cache

from rasp.base.errors import RaspNameError
from rasp.base.source import Source
from rasp.base.spelling import did_you_mean

SUFFIX = ".rasp"
GALLERY = "gallery:"
"""What begins the name of a program of the gallery where a file is named."""


@cache
def program_names() -> tuple[str, ...]:
    """List the programs of the gallery in alphabetical order.

    >>> "reverse" in program_names()
    True
    """
    from importlib.resources import files  # starting is to be quick

    files_there = (file.name for file in files("rasp.teaching.gallery").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in files_there if name.endswith(SUFFIX)))


def read_program(name: str) -> Source:
    """Return the text of a program of the gallery, or say which ones there are."""
    if name not in program_names():
        hint = did_you_mean(name, program_names(), "`rasp gallery list` names them all")
        raise RaspNameError(f"the gallery has no program `{name}`", hint=hint)
    from importlib.resources import files

    text = files("rasp.teaching.gallery").joinpath(name + SUFFIX).read_text(encoding="utf-8")
    return Source(name + SUFFIX, text)


def gallery_program(path: str) -> Source | None:
    """Return the program that `gallery:NAME` names; None for any other path.

    >>> gallery_program("gallery:reverse").name, gallery_program("reverse.rasp")
    ('gallery:reverse', None)
    """
    if not path.startswith(GALLERY):
        return None
    return Source(path, read_program(path.removeprefix(GALLERY)).text)
