"""Errors and places in, what JSON can hold out; a browser counts in UTF-16 units."""

from __future__ import annotations

from typing import Any

from rasp.base.errors import RaspError
from rasp.base.source import Source, Span


def error_record(error: RaspError, source: Source | None = None) -> dict[str, Any]:
    """Return an error as the page shows it, with its place if that lies in the program itself."""
    alone = type(error)(error.message, error.span, error.hint)
    record = {"kind": error.kind, "message": error.message, "hint": error.hint, "text": str(alone)}
    if error.span is not None and error.span.source is source:
        record |= place_record(error.span)
    return record


def place_record(span: Span) -> dict[str, Any]:
    """Return a stretch of the program: line and column for people, offsets for the editor.

    >>> place_record(Span(Source("program", "x = 😀;"), 5, 6))["end"]
    7
    """
    text = span.source.text
    start = utf16_length(text[: span.start])
    return {
        "line": span.line,
        "column": span.column,
        "start": start,
        "end": start + utf16_length(text[span.start : span.end]),
    }


def utf16_length(text: str) -> int:
    """Count a text as JavaScript does.

    >>> utf16_length("a😀")
    3
    """
    return len(text) + sum(character > "\uffff" for character in text)
