"""The text of a B-RASP program and words in, the truth of each of its lines at each position out.

Written from the published definition alone: it reads text, and shares nothing with the code that
writes B-RASP. All words of a batch have one length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rasp.atoms import Atom
from rasp.dialect.run_c_rasp import LETTER, LINE, letters_of, no_line, token_codes, truth_of_lines

Array = np.ndarray
ATTEND = re.compile(r"(leftmost|rightmost) j \[j ([<>]) i, (\w+)\(j\)\] (\w+)\(j\) : (\w+)\(i\)")


def run_b_rasp(text: str, words: Sequence[Sequence[Atom]]) -> dict[str, Array]:
    """Run a program in B-RASP on words of one length.

    >>> text = 'A(i) := "a"(i)\\nT(i) := true\\nF(i) := false\\n'
    >>> text += "P(i) := rightmost j [j < i, T(j)] A(j) : F(i)"
    >>> run_b_rasp(text, ["aba"])["P"].tolist()
    [[False, True, False]]
    """
    tokens, codes = token_codes(words)
    lines: dict[str, Array] = {}
    for line in text.splitlines():
        matched = LINE.fullmatch(line.strip())
        if matched is None:
            raise no_line(line)
        name, body = matched[1], matched[2]
        if attended := ATTEND.fullmatch(body):
            side, mask, where, value, default = attended.groups()
            lines[name] = _attended(side, mask, lines[where], lines[value], lines[default])
        elif body in ("true", "false"):
            lines[name] = np.full(tokens.shape, body == "true")
        elif LETTER.fullmatch(body):
            lines[name] = letters_of(body, tokens, codes)
        else:
            lines[name] = truth_of_lines(body, lines)
    return lines


def _attended(side: str, mask: str, where: Array, value: Array, default: Array) -> Array:
    """For each query, the value at the first or last position on one side that has a truth."""
    length = where.shape[1]
    found = default.copy()
    for query in range(length):
        keys = range(query) if mask == "<" else range(query + 1, length)
        for key in keys if side == "rightmost" else reversed(keys):  # the last one seen stays
            found[:, query] = np.where(where[:, key], value[:, key], found[:, query])
    return found
