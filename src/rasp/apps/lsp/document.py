"""One open document: its text, what the text says by itself, and what running it has told."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import rasp.language.meaning
from rasp.apps.lsp.positions import Places
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.meaning.loader import Loader, read_source
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.bindings import Bindings, bindings_of, definitions_in, library_scope
from rasp.language.syntax.scopes import Binding
from rasp.language.syntax.tree import Load, Statement
from rasp.language.words import BUILT_IN_DOCS
from rasp.teaching.gallery.gallery_files import gallery_program

DEEPEST_LOAD = 10


@dataclass(eq=False)
class Document:
    """A text that the editor shows; a change makes a new one."""

    source: Source
    encoding: str = "utf-16"
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is known of each name that a statement bound; of the last text until this one ran."""

    @cached_property
    def places(self) -> Places:
        return Places(self.source.text, self.encoding)

    @cached_property
    def parsed(self) -> tuple[tuple[Statement, ...], list[RaspError]]:
        return parse_with_errors(self.source)

    @cached_property
    def bindings(self) -> Bindings:
        library = library_scope(library_definitions(), BUILT_IN_DOCS)
        name = self.source.name
        return bindings_of(self.parsed[0], library, lambda load: _loaded(load, name, name))

    def fact(self, definition: Binding | None) -> dict[str, Any]:
        """Return what running the program has told about a definition."""
        if definition is None:
            return {}
        if definition.place < 0:
            return self.facts.get(f"library:{definition.name}", {})
        return self.facts.get(f"{definition.statement}:{definition.name}", {})


@cache
def library_definitions() -> list[Binding]:
    """The library's definitions, in the file they are in."""
    path = os.path.join(os.path.dirname(rasp.language.meaning.__file__), "library.rasp")
    return definitions_in(parse_with_errors(read_source(path))[0], "library")


def _loaded(load: Load, beside: str, started: str, depth: int = 0) -> list[Binding]:
    """List the public definitions of a file that is loaded, and of those that it loads itself."""
    try:
        source = Loader(elsewhere=gallery_program).read(load.path, beside, started=started)
    except RaspError:
        return []
    statements, _ = parse_with_errors(source)
    bindings = definitions_in(statements, "loaded")
    if depth < DEEPEST_LOAD:
        for inner in statements:
            if isinstance(inner, Load):
                bindings = _loaded(inner, source.name, started, depth + 1) + bindings
    place = load.span.start
    return [
        Binding(binding.name, binding.span, "loaded", binding.tree, place, binding.doc)
        for binding in bindings
        if not binding.name.startswith("_")
    ]
