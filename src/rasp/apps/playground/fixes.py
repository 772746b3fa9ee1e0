"""A mistake with a hint in, the change that its hint describes out, where that can be trusted.

A hint such as "add `;`" or "did you mean `tokens`?" holds the words to write. They are tried at
the mistake's place; only a change after which fewer mistakes are left is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rasp.apps.playground.budgets import LIMITS
from rasp.apps.playground.page_records import utf16_length
from rasp.base.errors import RaspError, RaspNameError, RaspSyntaxError
from rasp.base.source import Source
from rasp.language.syntax import parse_with_errors

WORDS = re.compile(r"^(?:add|use|write|did you mean)[^`]*`([^`…]+)`")
LONGEST_PROGRAM = 20_000
"""Letters of a program in which changes are tried."""


def fix_of(error: RaspError, source: Source) -> dict[str, Any] | None:
    """Return the change that a hint describes: where, and the text that goes there.

    >>> source = Source("program", "x = indices")
    >>> [error] = parse_with_errors(source, LIMITS)[1]
    >>> fix_of(error, source)
    {'start': 11, 'end': 11, 'text': ';'}
    """
    matched = WORDS.match(error.hint or "")
    if matched is None or error.span is None or error.span.source is not source:
        return None
    text, words = source.text, matched.group(1)
    if isinstance(error, RaspNameError):
        start, end = error.span.start, error.span.end
        is_word = re.fullmatch(r"\w+", text[start:end]) and re.fullmatch(r"\w+", words)
        return _record(text, start, end, words) if is_word else None
    if not isinstance(error, RaspSyntaxError) or len(text) > LONGEST_PROGRAM:
        return None
    before = _mistakes(text)
    for start, end in _places(text, error.span.start, error.span.end):
        if _mistakes(text[:start] + words + text[end:]) < before:
            return _record(text, start, end, words)
    return None


def _places(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """In place of the mistake, right after it, before it, or at the end of the code before it."""
    yield start, end
    yield end, end
    yield start, start
    written = len(text[:start].rstrip())
    yield written, written


def _mistakes(text: str) -> int:
    return len(parse_with_errors(Source("program", text), LIMITS)[1])


def _record(text: str, start: int, end: int, words: str) -> dict[str, Any]:
    first = utf16_length(text[:start])
    return {"start": first, "end": first + utf16_length(text[start:end]), "text": words}
