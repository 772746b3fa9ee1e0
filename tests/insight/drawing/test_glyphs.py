"""Whatever a token holds, its picture can be seen, and fits."""

import unicodedata
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rasp.insight.drawing.glyphs import (
    clusters,
    columns,
    cut,
    in_cell,
    in_title,
    kept_in_place,
    printable,
    visible,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
any_atom = st.one_of(st.booleans(), st.integers(), st.fractions(), any_text)


@given(any_text)
def test_every_character_of_a_shown_text_can_be_seen(text: str) -> None:
    shown = visible(text)
    assert shown
    for character in shown:
        in_cluster = character == "\N{ZERO WIDTH JOINER}" or 0xE0020 <= ord(character) < 0xE0080
        assert in_cluster or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zs", "Zl")


@given(any_text)
def test_a_shown_text_is_never_nothing_but_invisible_joiners(text: str) -> None:
    assert columns(visible(text)) >= 1
    assert unicodedata.category(visible(text)[0]) != "Cf"


@given(any_atom)
def test_xml_can_hold_every_shown_atom(atom: bool | int | Fraction | str) -> None:
    from xml.sax.saxutils import escape

    for text in (in_cell(atom), in_title(atom), printable(str(atom))):
        assert ElementTree.fromstring(f"<a>{escape(text)}</a>").text in (text, text or None)


@given(any_atom, st.integers(1, 12))
def test_a_cell_never_overflows(atom: bool | int | Fraction | str, room: int) -> None:
    shown = in_cell(atom, room)
    assert shown
    # a single letter or emoji may be two columns wide; it is still shown rather than hidden
    assert columns(shown) <= max(room, 2)


@given(st.text(max_size=20), st.integers(1, 20))
def test_a_text_is_cut_only_where_it_does_not_fit(text: str, room: int) -> None:
    if columns(text) <= room:
        assert cut(text, room) == text
    else:
        assert cut(text, room).endswith("…")
        assert text.startswith(cut(text, room)[:-1])


@given(st.fractions(max_denominator=10**6).filter(lambda number: abs(number) < 10**9))
def test_a_float_with_room_is_shown_to_four_digits(number: Fraction) -> None:
    shown = in_cell(number, 12)
    assert abs(Fraction(shown) - number) <= abs(number) / 1000


@pytest.mark.parametrize(
    ("atom", "room", "shown"),
    [
        (Fraction(1, 3), 12, "1/3"),  # exact where that is short
        (Fraction(1, 4), 12, "0.25"),
        (Fraction(1, 3), 2, ".3"),
        (Fraction(-1, 3), 3, "-.3"),
        (Fraction(21, 2), 4, "10.5"),
        (Fraction(4, 1), 12, "4"),
        (True, 1, "T"),
        ("", 2, '""'),
        ("supercalifragilistic", 6, "super…"),
        ("\x00", 3, "␀"),
        (" ", 1, "␣"),
        ("\u202e", 6, "U+202E"),  # would turn the rest of the line round
    ],
)
def test_cells_show(atom: bool | int | Fraction | str, room: int, shown: str) -> None:
    assert in_cell(atom, room) == shown


def test_joined_emoji_stay_one_letter() -> None:
    family = "👩‍👩‍👧"
    assert clusters(f"a{family}b") == ["a", family, "b"]
    assert cut(family + family, 3) == family + "…"


def test_a_huge_number_does_not_fill_the_picture() -> None:
    assert columns(in_cell(10**3000, 6)) <= 6
    assert len(in_title(Fraction(10**3000, 7))) < 100


def test_text_after_a_right_to_left_token_stays_to_its_right() -> None:
    assert unicodedata.bidirectional(kept_in_place("שלום")[-1]) == "L"
    assert columns(kept_in_place("שלום")) == 4


def test_every_plain_character_takes_no_more_than_itself() -> None:
    # The way taken for plain text gives what the way for any text gives.
    for code in range(0x80):
        letter = chr(code)
        assert visible(letter) == visible(f"{letter}é").removesuffix("é")
        assert clusters(f"a{letter}b") == clusters(f"a{letter}bé")[:-1]
