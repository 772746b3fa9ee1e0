"""A yes-or-no program in, the smallest automaton that answers alike out, if there is a small one.

Angluin's L*: states are told apart by what may follow them. A guess is tested on every input up to
a length and on random longer ones; an input that it gets wrong splits a state. A program is not an
automaton, so trying is all that can be done in general: `Learned.tested` says how far it went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import TypeAlias

from rasp.base.atoms import Atom
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.equivalence.answering import Input
from rasp.insight.equivalence.suitable_inputs import draw_tokens
from rasp.insight.equivalence.tried_inputs import InputsToTry

Members: TypeAlias = Callable[[list[Input]], list[bool]]
"""Says of each of several non-empty inputs whether it belongs to a language."""

MOST_STATES = 24
MOST_TRIED = 6_000
"""Inputs tested without leaving one out, at most."""
LONGEST_TRIED = 12
AT_RANDOM = 400
RANDOM_LENGTH = 30


@dataclass(frozen=True)
class Learned:
    """An automaton, and how far it was compared with what it was learned from."""

    automaton: Automaton | None
    """None: none of at most `MOST_STATES` states fits."""
    longest: int
    """Every input up to this length was tested."""

    @property
    def tested(self) -> str:
        """How it was compared, in words."""
        return (
            f"tested on every input up to length {self.longest}, {AT_RANDOM} random ones up to "
            f"length {RANDOM_LENGTH}, and long repetitions"
        )


def learn(alphabet: Sequence[Atom], members: Members) -> Learned:
    """Learn the minimal automaton of a language of non-empty inputs.

    What it says of the empty input, on which no program runs, is whatever makes it smallest.

    >>> even = lambda words: [word.count("b") % 2 == 0 for word in words]
    >>> learn("ab", even).automaton.size
    2
    """
    letters = tuple(dict.fromkeys(alphabet))
    quick = InputsToTry(letters).longest(None, MOST_TRIED, MOST_TRIED)
    longest = max(1, min(quick, LONGEST_TRIED))
    random = Random(0)
    tested = [word for n in range(1, longest + 1) for word in product(letters, repeat=n)]
    drawn = [
        tuple(draw_tokens(random, letters, random.randint(longest + 1, RANDOM_LENGTH)))
        for _ in range(AT_RANDOM)
    ]
    trials: list[Input] = [*tested, *drawn, *_repetitions(letters)]
    language = _Language(members)
    language.ask(trials)
    guesses = [_learn(letters, language, empty, trials) for empty in (False, True)]
    fitting = [guess for guess in guesses if guess is not None]
    smallest = min(fitting, key=lambda guess: guess.size, default=None)
    return Learned(smallest, longest)


def _repetitions(letters: tuple[Atom, ...]) -> list[Input]:
    """One word many times, then another: where something is counted, no small automaton keeps up.

    An automaton of n states cannot tell apart more than n numbers of repetitions.
    """
    words = [(letter,) for letter in letters[:4]] + [
        tuple(pair) for pair in product(letters[:2], repeat=2)
    ]
    times = (1, 2, 3, 5, 8, 13, 21, MOST_STATES + 2)
    return [
        first * number + second * more
        for first, second in product(words, repeat=2)
        if first != second
        for number in times
        for more in (number - 1, number, number + 1)
    ]


class _Language:
    """What the language says of inputs, asked in batches and remembered."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._answers: dict[Input, bool] = {}

    def ask(self, words: list[Input]) -> None:
        missing = [word for word in dict.fromkeys(words) if word and word not in self._answers]
        if missing:
            self._answers.update(zip(missing, self._members(missing), strict=True))

    def __call__(self, word: Input, empty: bool) -> bool:
        return self._answers[word] if word else empty


def _learn(
    letters: tuple[Atom, ...], language: _Language, empty: bool, trials: list[Input]
) -> Automaton | None:
    """Guess, try, and tell more states apart until a guess survives."""
    endings: list[Input] = [(), *((letter,) for letter in letters)]
    while True:
        guess = _guess(letters, language, empty, endings)
        if guess is None:
            return None
        wrong = next(
            (word for word in trials if guess.accepts(word) != language(word, empty)), None
        )
        if wrong is None:
            return guess.minimal()
        endings += [wrong[place:] for place in range(len(wrong)) if wrong[place:] not in endings]


def _guess(
    letters: tuple[Atom, ...], language: _Language, empty: bool, endings: list[Input]
) -> Automaton | None:
    """An automaton whose states differ in what some ending makes of them."""

    def row(word: Input) -> tuple[bool, ...]:
        return tuple(language(word + ending, empty) for ending in endings)

    language.ask(endings)
    states: list[Input] = [()]
    numbers = {row(()): 0}
    moves: list[tuple[int, ...]] = []
    while len(moves) < len(states):
        waiting = states[len(moves) :]  # asked together: a large batch costs little more than one
        asked = product(waiting, letters, endings)
        language.ask([(*state, letter, *ending) for state, letter, ending in asked])
        for state in waiting:
            for letter in letters:
                seen = row((*state, letter))
                if seen not in numbers:
                    numbers[seen] = len(states)
                    states.append((*state, letter))
            moves.append(tuple(numbers[row((*state, letter))] for letter in letters))
        if len(states) > MOST_STATES:
            return None
    accepting = frozenset(number for seen, number in numbers.items() if seen[0])
    return Automaton(letters, tuple(moves), accepting)
