"""An alphabet's size and a range of lengths in, random inputs out, as arrays of token numbers.

Lengths are uniform, and tokens uniform unless a task says otherwise. Dyck languages need a bias
towards legal prefixes, since nearly every random sequence fails at once (the paper's appendix):
a third are balanced, a third are prefixes of balanced sequences, a third are random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from rasp.base.atoms import PythonAtom

Tokens: TypeAlias = np.ndarray  # (inputs, longest), numbers of tokens; past an input's end, 0
Lengths: TypeAlias = np.ndarray  # (inputs,)
Way: TypeAlias = Callable[[np.random.Generator, Lengths, int, Sequence[PythonAtom]], Tokens]

PAIRS = ("()", "{}", "[]")


def uniform(
    random: np.random.Generator, lengths: Lengths, longest: int, alphabet: Sequence[PythonAtom]
) -> Tokens:
    """Draw every token alike."""
    tokens = random.integers(0, len(alphabet), (len(lengths), longest))
    return np.where(np.arange(longest) < lengths[:, None], tokens, 0)


def dyck(
    random: np.random.Generator, lengths: Lengths, longest: int, alphabet: Sequence[PythonAtom]
) -> Tokens:
    """Draw balanced sequences, prefixes of balanced ones, and random ones, a third of each."""
    kind = random.integers(0, 3, len(lengths))
    legal = _legal(random, lengths, longest, alphabet, must_close=kind == 0)
    return np.where((kind == 2)[:, None], uniform(random, lengths, longest, alphabet), legal)


def _legal(
    random: np.random.Generator,
    lengths: Lengths,
    longest: int,
    alphabet: Sequence[PythonAtom],
    must_close: np.ndarray,
) -> Tokens:
    """Walk from token to token: every closer matches; some inputs must end with nothing open."""
    pairs = [pair for pair in PAIRS if pair[0] in alphabet and pair[1] in alphabet]
    openers = np.array([alphabet.index(pair[0]) for pair in pairs])
    closers = np.array([alphabet.index(pair[1]) for pair in pairs])
    neutral = np.array([n for n, token in enumerate(alphabet) if str(token) not in "".join(pairs)])
    count = len(lengths)
    every = np.arange(count)
    tokens = np.zeros((count, longest), np.int64)
    opened = np.zeros((count, longest + 1), np.int64)  # the kinds of pair now open
    depth = np.zeros(count, np.int64)
    for position in range(longest):
        left = lengths - position
        kind = random.integers(0, len(pairs), count)
        rest = random.random(count) * len(alphabet) < len(neutral)
        opens = (depth == 0) | (random.random(count) < 0.5)
        opens &= ~must_close | (depth + 1 <= left - 1)
        closes = ~opens & (depth > 0)
        rest &= ~must_close | (depth <= left - 1)
        rest |= ~opens & ~closes
        innermost = opened[every, np.maximum(depth - 1, 0)]
        token = np.where(opens, openers[kind], closers[innermost])
        token = np.where(rest, neutral[random.integers(0, len(neutral), count)], token)
        tokens[:, position] = np.where(left > 0, token, 0)
        opened[every, depth] = np.where(opens & ~rest, kind, opened[every, depth])
        depth += np.where(rest, 0, np.where(opens, 1, -1))
    return tokens


WAYS: dict[str, Way] = {"uniform": uniform, "dyck": dyck}
