"""A document, a cursor and a new name in, edits out; or the reason why the meaning would change.

The new text is resolved again: unless every name in it means what it meant before, nothing is
renamed.
"""

from __future__ import annotations

from lsprotocol import types as lsp

from rasp.apps.lsp.document import Document
from rasp.base.errors import RaspError, RaspNameError, RaspSyntaxError, RaspUnsupportedError
from rasp.base.source import Source
from rasp.language.syntax.bindings import Bindings, Occurrence
from rasp.language.words import KEYWORDS


def renameable(document: Document, offset: int) -> Occurrence:
    """Return the name under the cursor, or say why it cannot be renamed here."""
    occurrence = document.bindings.at(offset)
    if occurrence is None or not occurrence.variable.definitions:
        raise RaspNameError("there is no name here that the program defines", hint=None)
    name = occurrence.name
    for definition in occurrence.variable.definitions:
        if definition.kind in ("library", "built in"):
            raise RaspUnsupportedError(f"`{name}` belongs to the language, not to this program")
        if definition.kind == "loaded":
            file = definition.span.source.name
            raise RaspUnsupportedError(f"`{name}` comes from {file}: rename it there")
        if definition.kind == "parameter" and name in document.bindings.unclear_keywords:
            raise RaspUnsupportedError(
                f"some call says `{name}=` to a function that only running the program tells"
            )
    return occurrence


def rename(document: Document, offset: int, new_name: str) -> list[lsp.TextEdit]:
    """Return the edits that give a variable another name everywhere in the text."""
    if document.parsed[1]:
        raise RaspSyntaxError("the program has mistakes: fix them first, then rename")
    occurrence = renameable(document, offset)
    if not new_name.isidentifier() or new_name in KEYWORDS:
        raise RaspNameError(f"`{new_name}` cannot be a name")
    places = document.bindings.of(occurrence.variable)
    if new_name != occurrence.name:
        _refuse_changes(document, places, new_name)
    return [
        lsp.TextEdit(document.places.range(place.start, place.end), new_name) for place in places
    ]


def _refuse_changes(document: Document, places: list[Occurrence], new_name: str) -> None:
    old = document.source
    ends = [0, *(place.end for place in places)]
    starts = [*(place.start for place in places), len(old.text)]
    kept = [old.text[end:start] for end, start in zip(ends, starts, strict=True)]
    after = Document(Source(old.name, new_name.join(kept)))
    try:
        same = not after.parsed[1] and _partition(after.bindings) == _partition(document.bindings)
    except RaspError:
        same = False
    if not same:
        raise RaspNameError(f"`{new_name}` is taken: with it, the program would mean another thing")


def _partition(bindings: Bindings) -> list[int]:
    """Number each occurrence by the variable it means, in order of appearance."""
    numbers: dict[int, int] = {}
    return [
        numbers.setdefault(id(occurrence.variable), len(numbers))
        for occurrence in bindings.occurrences
    ]
