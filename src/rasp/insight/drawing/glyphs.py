"""An atom in, its text in a picture out, cut to the room there is.

Any token must come out as something a person can see and a picture may contain: XML forbids
some characters, others are invisible or turn the text around them. Room is counted in columns
of a fixed-width font; wide letters and emoji take two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction

from rasp.base.atoms import Atom, display

ELLIPSIS = "…"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
OPEN_BOX = "\N{OPEN BOX}"
DOTTED_CIRCLE = "\N{DOTTED CIRCLE}"
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
JOINER = "\N{ZERO WIDTH JOINER}"
LONGEST_TITLE = 300
SHORT_FRACTION = 5
"""Columns up to which an exact fraction such as `7/12` is better than a rounded decimal."""
_MARKS = ("Mn", "Me", "Mc")
_EMOJI_MODIFIERS = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)


def visible(text: str) -> str:
    """Return a text in which every character can be seen, and that XML can hold.

    >>> visible("a b\\n"), visible(""), visible("\\u202e")
    ('a␣b␊', '""', 'U+202E')
    """
    if not text:
        return '""'
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return "".join(_visible_cluster(cluster) for cluster in clusters(text))


def _visible_cluster(cluster: str) -> str:
    if len(cluster) == 1:
        return _visible_character(cluster)
    first = _visible_character(cluster[0])
    return first + "".join(
        character if _extends(character) else _visible_character(character)
        for character in cluster[1:]
    )


def _visible_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if character == " ":
        return OPEN_BOX
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    category = unicodedata.category(character)
    if category == "Cs" or code & 0xFFFE == 0xFFFE:
        return REPLACEMENT
    if category in ("Cc", "Cf", "Zs", "Zl", "Zp"):
        return f"U+{code:04X}"
    if category in _MARKS:
        return DOTTED_CIRCLE + character
    return character


def clusters(text: str) -> list[str]:
    """Split a text where a person sees a new letter: marks and joined emoji stay together.

    >>> [len(cluster) for cluster in clusters("e\\u0301a")]
    [2, 1]
    """
    if text.isascii():
        return list(text)
    letters: list[str] = []
    for character in text:
        if letters and (_extends(character) or _joins(letters[-1], character)):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in _MARKS
        or character == JOINER
        or code in _EMOJI_MODIFIERS
        or code in _TAGS
    )


def _joins(before: str, character: str) -> bool:
    if before.endswith(JOINER) and len(before) > 1:
        return ord(character) >= 0x2190
    both_flags = ord(character) in _FLAG_LETTERS and ord(before[0]) in _FLAG_LETTERS
    return both_flags and len(before) == 1


def columns(text: str) -> int:
    """Return how many columns a visible text takes.

    >>> columns("abc"), columns("日本"), columns("e\\u0301")
    (3, 4, 1)
    """
    return sum(_cluster_columns(cluster) for cluster in clusters(text))


def _cluster_columns(cluster: str) -> int:
    if cluster == LEFT_TO_RIGHT:
        return 0
    is_emoji = "\N{VARIATION SELECTOR-16}" in cluster or ord(cluster[0]) in _FLAG_LETTERS
    wide = unicodedata.east_asian_width(cluster[0]) in ("W", "F")
    return 2 if wide or is_emoji else 1


def cut(text: str, room: int) -> str:
    """Return the text, or as much of it as fits before an ellipsis.

    >>> cut("opp_index", 6)
    'opp_i…'
    """
    if len(text) <= room and text.isascii():
        return text
    kept: list[str] = []
    taken = 0
    for piece in clusters(text[: 20 * room + 20]):
        taken += _cluster_columns(piece)
        kept.append(piece)
        if taken > room:
            while kept and taken > room - 1:
                taken -= _cluster_columns(kept.pop())
            return "".join(kept) + ELLIPSIS
    return text


def in_cell(atom: Atom, room: int = 12) -> str:
    """Write an atom for a cell with room for so many columns.

    Strings have no quotes, bools as in the paper's figures, and floats exactly where a
    short decimal or fraction does it.

    >>> in_cell("a"), in_cell(True), in_cell(Fraction(1, 3)), in_cell(Fraction(5, 2))
    ('a', 'T', '1/3', '2.5')
    """
    match atom:
        case bool():
            return "T" if atom else "F"
        case str():
            return cut(visible(atom[: 20 * room + 20]), room)
        case Fraction():
            return _float_in_cell(atom, room)
    return cut(_digits(atom), room)


def in_cells(atoms: Sequence[Atom], room: int = 12) -> list[str]:
    """Write a sequence for cells of one size, with all its broken numbers in one style.

    Decimals where all are short decimals, else fractions where all are short fractions, else
    decimals rounded to the same number of places. Whole numbers are written as ints.

    >>> in_cells([Fraction(1, 3), Fraction(1, 2), 1])
    ['1/3', '1/2', '1']
    >>> in_cells([Fraction(1, 2), Fraction(15, 134)])
    ['0.500', '0.112']
    """
    broken = [atom for atom in atoms if isinstance(atom, Fraction) and atom.denominator != 1]
    write = _common_style(broken, room) if len(set(broken)) > 1 else None
    styled = {number: write(number) for number in broken} if write else {}
    return [
        (styled.get(atom) if isinstance(atom, Fraction) else None) or in_cell(atom, room)
        for atom in atoms
    ]


def _common_style(numbers: Sequence[Fraction], room: int) -> Callable[[Fraction], str] | None:
    """Choose how to write numbers that are not whole; None where no one style fits them all."""
    if any(abs(number) >= 10**9 or number.denominator > 10**9 for number in numbers):
        return None
    fits = min(room, SHORT_FRACTION)
    if all(_short_decimal(number, fits + 1) for number in numbers):
        return lambda number: f"{float(number):.4g}"
    if all(len(f"{number.numerator}/{number.denominator}") <= fits for number in numbers):
        return lambda number: f"{number.numerator}/{number.denominator}"
    for places in (3, 2, 1):
        written = [f"{float(number):.{places}f}" for number in numbers]
        if all(len(text) <= room and Fraction(text) != 0 for text in written):
            return lambda number: f"{float(number):.{places}f}"
    return None


def _short_decimal(number: Fraction, room: int) -> bool:
    text = f"{float(number):.4g}"
    return len(text) <= room and Fraction(text) == number


def _digits(number: int) -> str:
    if number.bit_length() > 3000:
        return f"{_about_digits(number)}-digit number"
    return str(number)


def _about_digits(number: int) -> int:
    """Return about how many digits a large number has."""
    return number.bit_length() * 30103 // 100000 + 1


def _float_in_cell(number: Fraction, room: int) -> str:
    if number.denominator == 1:
        return cut(_digits(number.numerator), room)
    if abs(number) >= 10**15 or number.denominator.bit_length() > 1000:
        return cut(display(number), room)
    if float(number) == 0.0:
        return cut("≈0", room)
    decimal = f"{float(number):.4g}"
    fraction = f"{number.numerator}/{number.denominator}"
    if Fraction(decimal) != number and len(fraction) <= min(room, SHORT_FRACTION):
        return fraction
    for digits in (4, 3, 2, 1):
        text = f"{float(number):.{digits}g}"
        if len(text) > room:
            text = text.removeprefix("0") if number > 0 else text.replace("-0.", "-.")
        if len(text) <= room:
            return text
    return cut(decimal, room)


def in_title(atom: Atom) -> str:
    """Write an atom in full, as far as that is sensible, for a tooltip.

    >>> in_title(Fraction(1, 3)), in_title("a b")
    ('0.3333333333333333 = 1/3', '"a␣b"')
    """
    if isinstance(atom, str):
        return cut(f'"{visible(atom[: 2 * LONGEST_TITLE])}"' if atom else '""', LONGEST_TITLE)
    if isinstance(atom, Fraction):
        exact = f"{atom.numerator}/{atom.denominator}" if atom.denominator < 10**9 else ""
        is_decimal = 10**15 % atom.denominator == 0
        return cut(display(atom), 40) + ("" if is_decimal or not exact else f" = {cut(exact, 40)}")
    return cut("True" if atom is True else "False" if atom is False else _digits(atom), 80)


def printable(text: str) -> str:
    """Return running text (a title, an expression) with blanks kept and the rest made visible.

    >>> printable("a == \\x00")
    'a == ␀'
    """
    return " ".join(visible(word) if word else "" for word in text.split(" "))


def kept_in_place(text: str) -> str:
    """Mark the end of a right-to-left text, so that what follows it stays to its right.

    >>> kept_in_place("abc"), len(kept_in_place("\u05d0"))
    ('abc', 2)
    """
    turns = any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)
    return text + LEFT_TO_RIGHT if turns else text
