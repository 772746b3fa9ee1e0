"""A text in C-RASP and an automaton, compared on all words up to a length."""

from __future__ import annotations

import numpy as np

from rasp.base.atoms import Atom, show
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.interpreters import run_on_codes

BATCH = 50_000
"""Words that are compared at once."""


def prefixes_accepted(automaton: Automaton, letters: np.ndarray) -> np.ndarray:
    """Which prefixes an automaton accepts, of words given as places of letters in its alphabet."""
    moves = np.array(automaton.moves)
    is_accepting = np.isin(np.arange(automaton.size), list(automaton.accepting))
    states = np.zeros(len(letters), dtype=np.int64)
    accepted = np.empty(letters.shape, dtype=bool)
    for place in range(letters.shape[1]):
        states = moves[states, letters[:, place]]
        accepted[:, place] = is_accepting[states]
    return accepted


def differing_word(automaton: Automaton, text: str, length: int) -> tuple[Atom, ...] | None:
    """A word on which a text and an automaton differ, of all words up to a length; None: none.

    Nothing in C-RASP looks ahead, so words of one length have all the shorter ones as prefixes.
    """
    size = len(automaton.alphabet)
    codes = {show(letter): place for place, letter in enumerate(automaton.alphabet)}
    powers = size ** np.arange(length)[::-1]
    for start in range(0, size**length, BATCH):
        numbers = np.arange(start, min(start + BATCH, size**length))
        letters = numbers[:, None] // powers % size  # (word, position)
        said = run_on_codes(text, letters, codes)["accept"]
        wrong = said != prefixes_accepted(automaton, letters)
        if wrong.any():
            word, place = map(int, np.argwhere(wrong)[0])
            return tuple(automaton.alphabet[letter] for letter in letters[word, : place + 1])
    return None
