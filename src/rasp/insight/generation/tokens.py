"""What a program gives in, the token that is appended out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rasp.base.atoms import Atom, show


def text_of(value: Atom) -> str:
    """Write a value as the token that people expect: whole numbers without a fraction part.

    >>> text_of(4), text_of(Fraction(4)), text_of(Fraction(1, 2)), text_of(True), text_of("x")
    ('4', '4', '0.5', 'True', 'x')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Fraction) and value.denominator == 1:
        return str(value.numerator)
    return show(value)


def token_after(tokens: Sequence[Atom], value: Atom) -> Atom:
    """Return the token that a value becomes: text, unless the input's own tokens are numbers.

    >>> token_after(("a", "|"), 4), token_after((3, 1), 4)
    ('4', 4)
    """
    return text_of(value) if any(isinstance(token, str) for token in tokens) else value
