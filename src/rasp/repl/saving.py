"""Definitions in, a program file out: `save "mine"` at the prompt."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rasp.errors import RaspError, RaspValueError
from rasp.replacing import replacing
from rasp.syntax.printer import print_program
from rasp.syntax.tree import Statement


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
    try:
        with replacing(place) as file:
            file.write(print_program(statements).encode())
    except OSError as error:
        raise _unwritable(place, error) from None
    saved.add(place)
    return place


def _unwritable(place: str, error: OSError) -> RaspError:
    why = (error.strerror or "unknown reason").lower()
    return RaspValueError(
        f"`{place}` cannot be written: {why}", hint="choose a folder that is there and yours"
    )
