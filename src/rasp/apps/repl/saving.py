"""Definitions in, a program file out: `save "mine"` at the prompt."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rasp.base.errors import RaspValueError
from rasp.base.file_writing import replace_file
from rasp.language.syntax.printer import print_program
from rasp.language.syntax.tree import Statement


def save_definitions(path: str, statements: Sequence[Statement], saved: set[str]) -> str:
    """Write definitions to a file, and return its name.

    `saved` holds the files that this conversation wrote: only those are written over.
    """
    place = path if os.path.splitext(path)[1] else f"{path}.rasp"
    if not path:
        raise RaspValueError("`save` needs the name of a file", hint='write `save "mine"`')
    if not statements:
        raise RaspValueError("there is nothing to save yet", hint="define something first")
    if os.path.exists(place) and place not in saved:
        raise RaspValueError(
            f"`{place}` is there already", hint="choose another name, or remove that file first"
        )
    replace_file(place, print_program(statements).encode())
    saved.add(place)
    return place
