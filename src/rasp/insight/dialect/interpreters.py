"""A text in C-RASP or B-RASP and words in, the truth of its lines at each position out.

Written from the published definitions alone: it reads text, and shares nothing with the code that
writes it. All words of a batch have one length. Nothing in C-RASP looks ahead, so there the answers
at a position are those of the prefix that ends there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

import numpy as np

from rasp.base.atoms import Atom, show
from rasp.base.errors import RaspValueError
from rasp.language.evaluator.fast.columns import Array

LINE = re.compile(r"(\w+)\(i\) := (.+)")
COUNT = re.compile(r"#\[j <= i\] (\w+)\(j\)")
CHOICE = re.compile(r"if (\w+)\(i\) then (.+) else (.+)")
LETTER = re.compile(r"""("(?:[^"\\]|\\.)*"|True|False|-?[\d.]+)\(i\)""")
NAME = re.compile(r"(\w+)\(i\)")
ATTEND = re.compile(r"(leftmost|rightmost) j \[j ([<>]) i, (\w+)\(j\)\] (\w+)\(j\) : (\w+)\(i\)")


def run_c_rasp(text: str, words: Sequence[Sequence[Atom]]) -> dict[str, Array]:
    """Run a program in C-RASP on words of one length.

    >>> lines = run_c_rasp('A(i) := "a"(i)\\nC(i) := #[j <= i] A(j)\\nP(i) := C(i) <= 1', ["aba"])
    >>> lines["P"].tolist()
    [[True, True, False]]
    """
    return run_on_codes(text, *token_codes(words))


def run_on_codes(text: str, tokens: Array, codes: dict[str, int]) -> dict[str, Array]:
    """Run a program on words whose tokens are numbers; `codes` has that of each token.

    >>> run_on_codes('P(i) := "a"(i)', np.array([[1, 0]]), {'"a"': 0})["P"].tolist()
    [[False, True]]
    """
    return run_lines(text, tokens, codes, _number)


def run_b_rasp(text: str, words: Sequence[Sequence[Atom]]) -> dict[str, Array]:
    """Run a program in B-RASP on words of one length.

    >>> text = 'A(i) := "a"(i)\\nT(i) := true\\nF(i) := false\\n'
    >>> text += "P(i) := rightmost j [j < i, T(j)] A(j) : F(i)"
    >>> run_b_rasp(text, ["aba"])["P"].tolist()
    [[False, True, False]]
    """
    return run_lines(text, *token_codes(words), _attention)


def run_lines(
    text: str,
    tokens: Array,
    codes: dict[str, int],
    special: Callable[[str, dict[str, Array]], Array | None],
) -> dict[str, Array]:
    """Run line by line; `special` says what a line is that only its dialect has, else None."""
    lines: dict[str, Array] = {}
    for line in filter(str.strip, text.splitlines()):
        matched = LINE.fullmatch(line.strip())
        if matched is None:
            raise no_line(line)
        name, body = matched.groups()
        if letter := LETTER.fullmatch(body):
            value = tokens == codes.get(_letter(letter[1]), -1)
        elif body in ("true", "false"):
            value = np.asarray(body == "true")
        elif (value := special(body, lines)) is None:
            value = _truth(body, lines)
        lines[name] = np.broadcast_to(value, tokens.shape)
    return lines


def token_codes(words: Sequence[Sequence[Atom]]) -> tuple[Array, dict[str, int]]:
    """Words as numbers, and the number of each token."""
    codes: dict[str, int] = {}
    rows = [[codes.setdefault(show(token), len(codes)) for token in word] for word in words]
    return np.array(rows, dtype=np.int64).reshape(len(words), -1), codes  # (word, position)


def _number(body: str, lines: dict[str, Array]) -> Array | None:
    """A count, a choice between two sums, a comparison of two, or a sum."""
    if matched := COUNT.fullmatch(body):
        return np.asarray(np.cumsum(lines[matched[1]], axis=1, dtype=np.int64))
    if matched := CHOICE.fullmatch(body):
        return np.where(lines[matched[1]], _total(matched[2], lines), _total(matched[3], lines))
    if " <= " in body:
        left, right = body.split(" <= ")
        return np.asarray(_total(left, lines) <= _total(right, lines))
    if re.search(r"\d", body) and not re.search(r" and | or |^not |^\w+\(i\)$", body):
        return _total(body, lines)
    return None


def _attention(body: str, lines: dict[str, Array]) -> Array | None:
    matched = ATTEND.fullmatch(body)
    if matched is None:
        return None
    side, mask, *names = matched.groups()
    return _attended(side, mask, *(lines[name] for name in names))


def _attended(side: str, mask: str, where: Array, value: Array, default: Array) -> Array:
    """For each query, the value at the first or last position on one side that has a truth."""
    length = where.shape[1]
    attended = default.copy()
    for query in range(length):
        keys = range(query) if mask == "<" else range(query + 1, length)
        for key in keys if side == "rightmost" else reversed(keys):  # the last one seen stays
            attended[:, query] = np.where(where[:, key], value[:, key], attended[:, query])
    return attended


def _letter(word: str) -> str:
    """A token as `show` writes it, whatever quotes were used."""
    return show(ast.literal_eval(word)) if word.startswith(('"', "'")) else word


def _truth(body: str, lines: dict[str, Array]) -> Array:
    """`not`, `and` or `or` of earlier lines."""
    for word, join in ((" or ", np.logical_or), (" and ", np.logical_and)):
        if word in body:
            return np.asarray(join.reduce([_truth(part, lines) for part in body.split(word)]))
    if body.startswith("not "):
        return np.asarray(~_truth(body.removeprefix("not "), lines))
    matched = NAME.fullmatch(body)
    if matched is None or matched[1] not in lines:
        raise no_line(body)
    return lines[matched[1]]


def _total(body: str, lines: dict[str, Array]) -> Array:
    """A sum of counts with whole factors: `2 C1(i) + C2(i) - 3`."""
    total = np.zeros(1, dtype=np.int64)
    for sign, part in re.findall(r"(^|[+-] ?)\s*([^+-]+)", body.strip()):
        factor, _, name = part.strip().rpartition(" ")
        matched = NAME.fullmatch(name)
        value = lines[matched[1]] if matched else int(name)
        total = total + (-1 if sign.startswith("-") else 1) * int(factor or 1) * value
    return total


def no_line(line: str) -> RaspValueError:
    return RaspValueError(
        f"this is not a line of C-RASP: {line[:80]}",
        hint="a line is `P(i) := …`, a truth or a count of the lines above it",
    )
