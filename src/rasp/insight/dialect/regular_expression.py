"""A regular expression in, its minimal automaton out.

The notation: letters, `|`, `*`, `+`, `?` and brackets; `.` is any letter of the alphabet. The
automaton is made by Brzozowski's derivatives: the state after a letter is the expression of
what may follow it, and expressions that are equal up to simple rules are one state.
"""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.insight.dialect.automaton import Automaton

MOST_STATES = 5_000
SPECIAL = "|*+?()."


@dataclass(frozen=True)
class Regex:
    """A regular expression: its kind, and what it is made of."""

    kind: str
    letter: str = ""
    parts: tuple[Regex, ...] = ()


NOTHING = Regex("nothing")
EMPTY = Regex("empty")


def automaton_of(text: str, alphabet: str = "") -> Automaton:
    """The minimal automaton of a regular expression.

    Without an alphabet, the letters are those of the expression.

    >>> pairs = automaton_of("(ab)*")
    >>> pairs.size, pairs.accepts("abab"), pairs.accepts("aba")
    (3, True, False)
    """
    used = sorted(set(text) - set(SPECIAL) - {" "})
    letters = tuple(dict.fromkeys(alphabet)) or tuple(used)
    strangers = [letter for letter in used if letter not in letters]
    if strangers or not letters:
        what = f"`{strangers[0]}` is not in the alphabet" if strangers else "there is no letter"
        raise RaspValueError(
            f"{what} of the regular expression `{text}`", hint="give an alphabet that has them all"
        )
    states = [_Reader(text.replace(" ", ""), letters).read()]
    numbers = {states[0]: 0}
    moves: list[tuple[int, ...]] = []
    for state in states:  # grows while it is read
        row = [_derivative(state, letter) for letter in letters]
        for after in row:
            if after not in numbers:
                numbers[after] = len(states)
                states.append(after)
        if len(states) > MOST_STATES:
            raise RaspLimitError(
                f"the automaton of `{text}` has more than {MOST_STATES} states",
                hint="take a simpler expression",
            )
        moves.append(tuple(numbers[after] for after in row))
    accepting = frozenset(number for state, number in numbers.items() if _has_empty(state))
    return Automaton(letters, tuple(moves), accepting).minimal()


class _Reader:
    """Reads an expression by recursive descent: `|` is loosest, then sequence, then `*`."""

    def __init__(self, text: str, letters: tuple[str, ...]) -> None:
        self.text = text
        self.letters = letters
        self.place = 0

    def read(self) -> Regex:
        regex = self._choice()
        if self.place < len(self.text):
            raise self._error("this `)` closes nothing")
        return regex

    def _choice(self) -> Regex:
        parts = [self._sequence()]
        while self._next("|"):
            parts.append(self._sequence())
        return _choice(parts)

    def _sequence(self) -> Regex:
        sequence = EMPTY
        while self.place < len(self.text) and self.text[self.place] not in "|)":
            sequence = _sequence(sequence, self._repetition())
        return sequence

    def _repetition(self) -> Regex:
        repeated = self._single()
        while self.place < len(self.text) and self.text[self.place] in "*+?":
            sign = self.text[self.place]
            self.place += 1
            if sign == "?":
                repeated = _choice([repeated, EMPTY])
            else:
                repeated = _star(repeated) if sign == "*" else _sequence(repeated, _star(repeated))
        return repeated

    def _single(self) -> Regex:
        if self._next("("):
            inner = self._choice()
            if not self._next(")"):
                raise self._error("a `(` is never closed")
            return inner
        letter = self.text[self.place]
        if letter in "*+?":
            raise self._error(f"there is nothing before this `{letter}` to repeat")
        self.place += 1
        if letter == ".":
            return _choice([Regex("letter", letter) for letter in self.letters])
        return Regex("letter", letter)

    def _next(self, sign: str) -> bool:
        is_there = self.text[self.place : self.place + 1] == sign
        self.place += is_there
        return is_there

    def _error(self, message: str) -> RaspValueError:
        return RaspValueError(
            f"in the regular expression `{self.text}`, character {self.place + 1}: {message}",
            hint="write letters, `|`, `*`, `+`, `?`, `.` and brackets, as in `(ab)*|c+`",
        )


def _choice(parts: list[Regex]) -> Regex:
    flat = [inner for part in parts for inner in (part.parts if part.kind == "|" else (part,))]
    kept = sorted({part for part in flat if part != NOTHING}, key=repr)
    if not kept:
        return NOTHING
    return kept[0] if len(kept) == 1 else Regex("|", parts=tuple(kept))


def _sequence(first: Regex, second: Regex) -> Regex:
    if NOTHING in (first, second):
        return NOTHING
    if first == EMPTY or second == EMPTY:
        return second if first == EMPTY else first
    if first.kind == "sequence":  # nested to the right, so that equal ones are equal
        return _sequence(first.parts[0], _sequence(first.parts[1], second))
    return Regex("sequence", parts=(first, second))


def _star(inner: Regex) -> Regex:
    if inner in (NOTHING, EMPTY):
        return EMPTY
    return inner if inner.kind == "*" else Regex("*", parts=(inner,))


def _has_empty(expression: Regex) -> bool:
    match expression.kind:
        case "empty" | "*":
            return True
        case "|":
            return any(map(_has_empty, expression.parts))
        case "sequence":
            return all(map(_has_empty, expression.parts))
    return False


def _derivative(expression: Regex, letter: str) -> Regex:
    """What may follow a letter."""
    match expression.kind:
        case "letter":
            return EMPTY if expression.letter == letter else NOTHING
        case "|":
            return _choice([_derivative(part, letter) for part in expression.parts])
        case "*":
            return _sequence(_derivative(expression.parts[0], letter), expression)
        case "sequence":
            first, second = expression.parts
            after = _sequence(_derivative(first, letter), second)
            if _has_empty(first):
                after = _choice([after, _derivative(second, letter)])
            return after
    return NOTHING
