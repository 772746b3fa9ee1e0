"""Tokens of a statement that cannot be read in, where the next one begins and what it bound out.

One mistake should be told once: what comes after is read, and the names that the statement
would have bound are known to be broken, so that nobody is told that they are missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rasp.base.source import Source
from rasp.language.syntax.lexer import Token

BLOCKS = ("def", "for", "while", "if", "else", "elif", "class", "try", "with")
"""Words, also those of other languages, after which braces or deeper lines are a body."""
GOING_ON = ("else", "elif", "except", "finally")
"""Words of other languages that go on with the statement whose body has just ended."""
_ASSIGNMENT = re.compile(r"[ \t]*(\*\*|//|[-+*/%^&|])?=(?!=)")
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")


def end_of_statement(source: Source, tokens: Sequence[Token], first: int, at: int) -> int:
    """Return where to go on after a statement that begins at one token and fails at another.

    It ends with its `;`, or with the body that it opened; or before a line that begins, not
    further in than the statement does, as statements do.
    """
    if tokens[at].text == ";" and at == first:
        return at + 1
    is_block = tokens[first].text in BLOCKS
    if is_block and tokens[at].kind == "end":
        return _end_of_unclosed(source, tokens, first)
    margin = _column(source, tokens[first])
    depth = 0
    for place in range(first, len(tokens) - 1):
        text = tokens[place].text if tokens[place].kind == "symbol" else ""
        is_past = place >= at and place > first
        is_outside = depth <= 0 or not is_block
        if (
            is_past
            and is_outside
            and begins_line(source, tokens, place)
            and _column(source, tokens[place]) <= margin
            and begins_statement(source, tokens, place)
        ):
            return place
        if text == "{":
            depth += 1
        elif text == "}":
            if depth <= 0:
                return place
            depth -= 1
            goes_on = is_block and tokens[place + 1].text in GOING_ON
            if (
                depth == 0
                and is_past
                and not goes_on
                and (is_block or tokens[place + 1].text == ";")
            ):
                return place + 1 + (tokens[place + 1].text == ";")
        elif text == ";" and is_past and is_outside:
            return place + 1
    return len(tokens) - 1


def _end_of_unclosed(source: Source, tokens: Sequence[Token], first: int) -> int:
    """Where a body that is never closed ends by its looks: where lines are no longer indented."""
    end = len(tokens) - 1
    margin = _column(source, tokens[first])
    opening = next((place for place in range(first, end) if tokens[place].text == "{"), end)
    starts = [place for place in range(opening + 1, end) if begins_line(source, tokens, place)]
    if not starts or _column(source, tokens[starts[0]]) <= margin:
        return end
    for place in starts:
        if _column(source, tokens[place]) <= margin:
            return place + (tokens[place].text == "}")
    return end


def begins_line(source: Source, tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a token is the first of its line."""
    before = tokens[place - 1].end if place else 0
    return not place or "\n" in source.text[before : tokens[place].start]


def begins_statement(source: Source, tokens: Sequence[Token], place: int) -> bool:
    """Tell whether tokens look like the beginning of a definition, a loop or a load."""
    token = tokens[place]
    if token.text in ("def", "for", "load", "return"):
        return True
    return _begins_assignment(source, tokens, place)


def names_bound(source: Source, tokens: Sequence[Token]) -> list[Token]:
    """List the names that a statement, and those inside it, seem to bind, each once."""
    names: list[Token] = []
    depth = 0
    for place, token in enumerate(tokens[:-1]):
        if token.kind == "symbol":
            depth += (token.text in OPENING) - (token.text in CLOSING)
        after = tokens[place + 1]
        if token.text in ("def", "import") and after.kind == "name":
            names.append(after)
        elif token.text == "for":
            names += _names_with_commas(tokens, place + 1)
        elif token.kind == "name" and _begins_assignment(source, tokens, place):
            is_first = begins_line(source, tokens, place) or tokens[place - 1].text in "{};"
            if depth <= 0 or is_first:
                names += _names_with_commas(tokens, place)
    return list({token.text: token for token in reversed(names)}.values())[::-1]


def _names_with_commas(tokens: Sequence[Token], place: int) -> list[Token]:
    names: list[Token] = []
    while place < len(tokens) and tokens[place].kind == "name":
        names.append(tokens[place])
        if place + 1 >= len(tokens) or tokens[place + 1].text != ",":
            break
        place += 2
    return names


def _begins_assignment(source: Source, tokens: Sequence[Token], place: int) -> bool:
    """Tell whether `=`, `+=` or the like follows the names that begin here."""
    names = _names_with_commas(tokens, place)
    return bool(names) and _ASSIGNMENT.match(source.text, names[-1].end) is not None


def _column(source: Source, token: Token) -> int:
    return source.line_and_column(token.start)[1]
