"""The text of a `%%rasp` cell and Python's names in, results and new names for Python out.

RASP and Python share names: before a cell runs, the names it mentions are looked up among
Python's, and after it, what it defined is there for Python. Whoever defined a name last wins.
"""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping
from fractions import Fraction
from typing import Any

from rasp.base.source import Source
from rasp.language.embedding.function_handles import FunctionHandle, from_handle, to_handle
from rasp.language.embedding.handles import Handle
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Result, Session
from rasp.language.meaning.value_kinds import BROKEN, MISSING
from rasp.language.syntax.lexer import lex
from rasp.teaching.gallery.gallery_files import gallery_program


class Cells:
    """The session behind a notebook's RASP cells."""

    def __init__(self) -> None:
        self.session = Session(loader=Loader(elsewhere=gallery_program))
        self.handed_over: dict[str, Any] = {}
        """What Python got from us under each name, to notice when it is given another meaning."""

    def run(self, source: Source, python_names: MutableMapping[str, Any]) -> list[Result]:
        """Run a cell; names cross over before it and after it, even if it fails."""
        self._take(source, python_names)
        before = dict(self.session.scope.names)
        try:
            return self.session.run(source)
        finally:
            self._give(before, python_names)

    def _take(self, source: Source, python_names: MutableMapping[str, Any]) -> None:
        mentioned = {token.text for token in lex(source).tokens if token.kind == "name"}
        for name in sorted(mentioned & python_names.keys()):
            held = python_names[name]
            if held is self.handed_over.get(name) or not self._can_cross(name, held):
                continue
            value = from_handle(held)
            if value is self.session.scope.find(name):
                continue
            with self.session.elaborator.notes.another_definition() as definition:
                if isinstance(held, (Handle, FunctionHandle)):
                    definition.refers_to.update(dict.fromkeys(held.program.definitions))
                self.session.elaborator.bind_name(name, value, self.session.scope)
            self.handed_over[name] = held

    def _can_cross(self, name: str, held: Any) -> bool:
        if isinstance(held, (Handle, FunctionHandle)):
            return True
        if self.session.library.find(name) is not MISSING:
            return False  # Python's own `max` or `select` is not meant
        if inspect.isfunction(held):
            return not (held.__module__ or "").startswith("rasp.")
        return _is_plain(held)

    def _give(self, before: dict[str, Any], python_names: MutableMapping[str, Any]) -> None:
        for name, value in self.session.scope.names.items():
            is_new = name not in before or before[name] is not value
            if is_new and value is not BROKEN and not name.startswith("_"):
                held = to_handle(value, self.session, self.session.program_of(name))
                python_names[name] = self.handed_over[name] = held


def _is_plain(held: Any) -> bool:
    """Atoms, and lists and dicts of what can cross."""
    if isinstance(held, (list, tuple)):
        return all(_is_plain(item) for item in held)
    if isinstance(held, dict):
        return all(_is_plain(item) for item in (*held, *held.values()))
    return isinstance(held, (bool, int, float, str, Fraction, Handle, FunctionHandle))
