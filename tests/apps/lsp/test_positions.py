"""Positions against an oracle that counts code units one character at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pygls", reason="needs the extra `lsp`")

from lsprotocol.types import Position

from rasp.apps.lsp.positions import Places

pytestmark = pytest.mark.slow

WIDTHS = {
    "utf-8": lambda c: len(c.encode()),
    "utf-16": lambda c: 1 + (ord(c) > 0xFFFF),
    "utf-32": lambda c: 1,
}
TEXTS = st.text(st.sampled_from('aé𝄞"\u2028\x0b\r\n'), max_size=30)


def counted(text: str, offset: int, encoding: str) -> Position:
    """Walk to an offset; `\\r\\n`, `\\n` and `\\r` end lines, and nothing else does."""
    line = column = 0
    for at in range(offset):
        character = text[at]
        if character == "\n" or (character == "\r" and text[at + 1 : at + 2] != "\n"):
            line, column = line + 1, 0
        else:
            column += WIDTHS[encoding](character)
    return Position(line, column)


@given(TEXTS, st.sampled_from(sorted(WIDTHS)))
def test_positions_count_the_units_of_the_encoding(text: str, encoding: str) -> None:
    places = Places(text, encoding)
    for offset in range(len(text) + 1):
        assert places.position(offset) == counted(text, offset, encoding)


@given(TEXTS, st.sampled_from(sorted(WIDTHS)))
def test_an_offset_comes_back_from_its_position(text: str, encoding: str) -> None:
    places = Places(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":  # inside a line end is not a place
            assert places.offset(places.position(offset)) == offset


@given(TEXTS, st.integers(0, 50), st.integers(0, 50))
def test_a_position_outside_the_text_is_brought_back_into_it(
    text: str, line: int, column: int
) -> None:
    assert 0 <= Places(text).offset(Position(line, column)) <= len(text)
