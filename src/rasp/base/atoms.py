"""Atoms: the single values a sequence is made of, and how they print and cross the border.

An atom is a `bool`, an `int`, a float held exactly as a `Fraction`, or a `str`. Every
`Fraction` is a float to the user, even a whole one: `2.0` prints as `2.0`. Python floats
come in as the decimal they print as (0.1 is one tenth) and leave as floats again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from rasp.base.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits

Atom: TypeAlias = bool | int | Fraction | str
Number: TypeAlias = bool | int | Fraction
PythonAtom: TypeAlias = bool | int | float | str

KIND_NAMES = {bool: "bool", int: "int", Fraction: "float", str: "string"}
PLURALS = {"bool": "bools", "int": "ints", "float": "floats", "string": "strings"}


def kind_of(atom: Atom) -> str:
    """Return `"bool"`, `"int"`, `"float"` or `"string"`.

    >>> kind_of(Fraction(4, 2))
    'float'
    """
    return KIND_NAMES[type(atom)]


def is_atom(value: object) -> bool:
    """Tell whether a value is an atom.

    >>> is_atom(True), is_atom([1])
    (True, False)
    """
    return isinstance(value, (bool, int, Fraction, str))


def kind_name(value: Any) -> str:
    """Name the kind of a value of the language; what is not an atom, list or dict has a name.

    >>> kind_name("a"), kind_name([1]), kind_name(None)
    ('string', 'list', 'call that returns nothing')
    """
    if is_atom(value):
        return kind_of(value)
    if isinstance(value, (list, dict)):
        return type(value).__name__
    return "call that returns nothing" if value is None else str(value.kind_name)


def describe(value: Any) -> str:
    """Name a value of the language in an error.

    >>> describe(3), describe([1])
    ('the int 3', 'a list')
    """
    kind = kind_name(value)
    if is_atom(value) and len(shown := show(value)) < 40:
        return f"the {kind} {shown}"
    return f"an {kind}" if kind == "s-op" else f"a {kind}"


def kind_of_sequence(atoms: Iterable[Atom]) -> str:
    """Return the kind of a sequence: the widest of its atoms' kinds.

    >>> kind_of_sequence([True, 2, Fraction(1, 2)])
    'float'
    """
    kinds = {type(atom) for atom in atoms}
    if str in kinds:
        return "string"
    if Fraction in kinds:
        return "float"
    return "int" if int in kinds else "bool"


def checked(atom: Atom, limits: Limits = DEFAULT_LIMITS) -> Atom:
    """Return the atom, or raise where it is larger than the budget allows."""
    if isinstance(atom, str):
        if len(atom) > limits.string_length:
            raise RaspLimitError(
                f"a string of {len(atom)} characters is over the limit of {limits.string_length}",
                hint="keep strings short: a token is a word, not a text",
            )
        return atom
    bits = (
        max(atom.numerator.bit_length(), atom.denominator.bit_length())
        if isinstance(atom, Fraction)
        else atom.bit_length()
    )
    if bits > limits.number_bits:
        raise RaspLimitError(
            f"a number of more than {limits.number_digits} digits is over the limit",
            hint="work with smaller numbers, or round on the way",
        )
    return atom


def to_python(atom: Atom) -> PythonAtom:
    """Return the atom as plain Python: a `Fraction` becomes the nearest float.

    >>> to_python(Fraction(1, 3))
    0.3333333333333333
    """
    if isinstance(atom, Fraction):
        try:
            return float(atom)
        except OverflowError:
            raise RaspValueError(
                "a float is too large to be shown as one",
                hint="compare or scale it inside the program instead",
            ) from None
    return atom


def from_python(value: object) -> Atom:
    """Return a Python value as an atom; a float becomes the decimal that it prints as.

    >>> from_python(0.1)
    Fraction(1, 10)
    """
    if isinstance(value, (bool, str, Fraction)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RaspValueError(
                f"{value} is not a number that RASP has",
                hint="replace infinities and missing values before the program runs",
            )
        return Fraction(Decimal(repr(float(value))))  # three times faster than from the text
    item = getattr(value, "item", None)  # numpy's scalars
    if callable(item) and getattr(value, "shape", None) == ():
        return from_python(item())
    raise RaspTypeError(
        f"{describe_foreign(value)} is not a bool, number or string",
        hint="an input is a string, or a list of bools, numbers or strings",
    )


def describe_foreign(value: object) -> str:
    """Name a value that is not an atom, in words a user knows."""
    match value:
        case list() | tuple():
            return "a list"
        case dict():
            return "a dict"
        case None:
            return "nothing"
        case _:
            return f"a value of Python's type `{type(value).__name__}`"


def quote(text: str) -> str:
    """Write a string as RASP does.

    >>> quote('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'


def show(atom: Atom) -> str:
    """Write an atom as RASP does: the exact decimal where it is short, else the nearest float.

    >>> show(Fraction(5, 2)), show(True), show("a")
    ('2.5', 'True', '"a"')
    """
    if isinstance(atom, str):
        return quote(atom)
    if isinstance(atom, Fraction):
        try:
            return repr(float(atom))
        except OverflowError:
            return f"{len(str(abs(atom.numerator // atom.denominator)))}-digit float"
    return str(atom)


def show_first(atoms: Sequence[Atom], most: int) -> str:
    """Write the first of several atoms, and how many more there are.

    >>> show_first([1, 2, 3], 2), show_first("ab", 2)
    ('1, 2 and 1 more', '"a", "b"')
    """
    shown, more = ", ".join(map(show, atoms[:most])), len(atoms) - most
    return f"{shown} and {more} more" if more > 0 else shown


def display(atom: Atom) -> str:
    """Write an atom as one of the values people look at: a whole number without a fraction.

    Kinds cannot be told apart by it, so that `[0, 0.5, 1]` has one style; `show` tells them.

    >>> display(Fraction(4, 2)), display(Fraction(5, 2)), display(True)
    ('2', '2.5', 'True')
    """
    if isinstance(atom, Fraction) and atom.denominator == 1 and abs(atom) < 10**16:
        return str(atom.numerator)
    return show(atom)


def show_literal(atom: Atom) -> str:
    """Write an atom so that reading it back gives the same atom, exactly.

    >>> show_literal(Fraction(1, 3))
    '(1.0 / 3)'
    """
    if not isinstance(atom, Fraction):
        return show(atom)
    sign, size = ("-", -atom) if atom < 0 else ("", atom)
    denominator, shift = size.denominator, 0
    for factor in (10, 2, 5):
        while denominator % factor == 0:
            denominator, shift = denominator // factor, shift + 1
    if denominator != 1 or shift > 300:
        return f"({sign}{size.numerator}.0 / {size.denominator})"
    digits = str(size.numerator * 10**shift // size.denominator).rjust(shift + 1, "0")
    whole, part = (digits[:-shift], digits[-shift:].rstrip("0")) if shift else (digits, "")
    return f"{sign}{whole}.{part or '0'}"


def plain_lists(values: list[Any]) -> list[Any]:
    """Return an evaluator's values as plain Python: floats for exact rationals.

    >>> plain_lists([1, Fraction(1, 2)])
    [1, 0.5]
    """
    kinds = set(map(type, values))
    if list in kinds:
        return [plain_lists(item) for item in values]
    if Fraction not in kinds:
        return list(values)
    return [to_python(atom) if type(atom) is Fraction else atom for atom in values]


def read_input(value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[Atom, ...]:
    """Turn what a caller gives as an input into its tokens.

    >>> read_input("hey")
    ('h', 'e', 'y')
    """
    if isinstance(value, str):
        tokens: tuple[Atom, ...] = tuple(value)
    elif isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        items = value if isinstance(value, (list, tuple)) else value.tolist()
        is_ready = set(map(type, items)) <= {bool, int, str}
        tokens = tuple(items) if is_ready else tuple(from_python(item) for item in items)
    else:
        raise RaspTypeError(
            f"an input is a string or a list of atoms, but this is {describe_input(value)}",
            hint='write "hello", or a list such as ["ab", "c"] or [3, 1, 2]',
        )
    if not tokens:
        raise RaspValueError(
            "the input is empty", hint="give at least one token: RASP works on sequences"
        )
    if len(tokens) > limits.input_length:
        raise RaspLimitError(
            f"an input of {len(tokens)} tokens is over the limit of {limits.input_length}",
            hint="give a shorter input",
        )
    if not isinstance(value, str):
        _check_sizes(tokens, limits)
    return tokens


def _check_sizes(tokens: tuple[Atom, ...], limits: Limits) -> None:
    """Check every token; where all are of one kind, the largest tells for all."""
    kinds = set(map(type, tokens))
    if kinds == {str}:
        tokens = (max(tokens, key=len),)  # type: ignore[arg-type]
    elif kinds <= {bool, int}:
        tokens = (max(tokens), min(tokens))
    for token in tokens:
        checked(token, limits)


def describe_input(value: object) -> str:
    """Name a value offered as an input."""
    if isinstance(value, (bool, int, float, Fraction)):
        return f"the {kind_of(from_python(value))} {show(from_python(value))}"
    return describe_foreign(value)


def show_input(tokens: tuple[Atom, ...], most: int = 40) -> str:
    """Write an input as people type it: a string where every token is one character.

    >>> show_input(("h", "i")), show_input((1, 2))
    ('"hi"', '[1, 2]')
    """
    cut = len(tokens) > most
    shown = tokens[:most]
    if all(isinstance(token, str) and len(token) == 1 for token in tokens):
        return quote("".join(map(str, shown)) + ("…" if cut else ""))
    return "[" + ", ".join(show(token) for token in shown) + (", …" if cut else "") + "]"
