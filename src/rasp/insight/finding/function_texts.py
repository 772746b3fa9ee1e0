"""A function of one s-op, as a table, in the ways that a program could write it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from rasp.base.atoms import Atom
from rasp.insight.finding.expression_bank import literal


def function_texts(table: dict[Atom, Atom], most: int) -> Iterator[tuple[str, int]]:
    """The ways to write a function of one s-op, and how large each is without the s-op."""
    values = list(dict.fromkeys(table.values()))
    if set(map(type, table)) == {bool} and len(table) == 2:
        yield from _answers("{}", 0, table[True], table[False])
        yield from _answers("(not {})", 1, table[False], table[True])
        return
    line = _line(table)
    if line is not None:
        yield line
    if len(values) == 2:
        yield from _two_answers(table, values, most)
    if len(table) <= most:
        rows = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in table.items())
        yield "{{" + rows + "}}[{}]", 1 + 2 * len(table)


def _two_answers(
    table: dict[Atom, Atom], values: list[Atom], most: int
) -> Iterator[tuple[str, int]]:
    """Membership in the shorter list, or a threshold, and what each side answers."""
    for yes in values:
        members = [key for key, value in table.items() if value == yes]
        others = [key for key in table if key not in members]
        no = next(value for value in values if value != yes)
        if len(members) <= most and (len(members) <= len(others) or yes is True):
            listed = ", ".join(map(literal, members))
            yield from _answers(f"({{}} in [{listed}])", 1 + len(members), yes, no)
        yes_at, no_at = _numbers(members), _numbers(others)
        if len(yes_at) + len(no_at) < len(table):
            continue
        if max(no_at) < min(yes_at):
            yield from _answers(f"({{}} >= {_between(max(no_at), min(yes_at))})", 2, yes, no)
        elif min(no_at) > max(yes_at):
            yield from _answers(f"({{}} < {_between(max(yes_at), min(no_at))})", 2, yes, no)


def _numbers(keys: list[Atom]) -> list[Fraction]:
    return [Fraction(key) for key in keys if not isinstance(key, (str, bool))]


def _between(low: Fraction, high: Fraction) -> str:
    """A threshold above `low`, at most `high`: a whole number in the middle, if there is one."""
    whole = ceil((low + high) / 2)
    return literal(whole if low < whole <= high else _whole(high))


def _answers(test: str, size: int, yes: Atom, no: Atom) -> Iterator[tuple[str, int]]:
    if yes is True:
        yield test, size
    elif yes is not False:
        shown = [literal(atom) for atom in (yes, no)]
        yield f"({shown[0]} if {test} else {shown[1]})", size + 3


def _line(table: dict[Atom, Atom]) -> tuple[str, int] | None:
    """`a * x + b`, where that is what a table of at least three numbers says."""
    if len(table) < 3 or any(
        isinstance(atom, (str, bool)) for pair in table.items() for atom in pair
    ):
        return None
    (x1, y1), (x2, y2), *_ = table.items()
    slope = Fraction(y2 - y1) / (x2 - x1)  # type: ignore[operator]
    start = y1 - slope * x1  # type: ignore[operator]
    if any(slope * key + start != value for key, value in table.items()):  # type: ignore[operator]
        return None
    factor = Fraction(slope)
    over = "" if factor.numerator == 1 else f"{factor.numerator} * "
    under = "" if factor.denominator == 1 else f" / {factor.denominator}"
    plus = "" if start == 0 else f" + {literal(_whole(Fraction(start)))}"
    return f"({over}{{}}{under}{plus})", 1 + 2 * bool(over) + 2 * bool(under) + bool(plus)


def _whole(number: Fraction) -> Atom:
    return number.numerator if number.denominator == 1 else number
