"""The text of a B-RASP program and words in, the truth of each of its lines at each position out.

Written from the published definition alone: it reads text, and shares nothing with the code that
writes B-RASP. All words of a batch have one length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rasp.atoms import Atom
from rasp.dialect.run_c_rasp import run_lines, token_codes
from rasp.evaluator.fast.columns import Array

ATTEND = re.compile(r"(leftmost|rightmost) j \[j ([<>]) i, (\w+)\(j\)\] (\w+)\(j\) : (\w+)\(i\)")


def run_b_rasp(text: str, words: Sequence[Sequence[Atom]]) -> dict[str, Array]:
    """Run a program in B-RASP on words of one length.

    >>> text = 'A(i) := "a"(i)\\nT(i) := true\\nF(i) := false\\n'
    >>> text += "P(i) := rightmost j [j < i, T(j)] A(j) : F(i)"
    >>> run_b_rasp(text, ["aba"])["P"].tolist()
    [[False, True, False]]
    """
    return run_lines(text, *token_codes(words), _attention)


def _attention(body: str, lines: dict[str, Array]) -> Array | None:
    matched = ATTEND.fullmatch(body)
    if matched is None:
        return None
    side, mask, *names = matched.groups()
    return _attended(side, mask, *(lines[name] for name in names))


def _attended(side: str, mask: str, where: Array, value: Array, default: Array) -> Array:
    """For each query, the value at the first or last position on one side that has a truth."""
    length = where.shape[1]
    found = default.copy()
    for query in range(length):
        keys = range(query) if mask == "<" else range(query + 1, length)
        for key in keys if side == "rightmost" else reversed(keys):  # the last one seen stays
            found[:, query] = np.where(where[:, key], value[:, key], found[:, query])
    return found
