"""What the paper's eight tasks mean, in plain Python, written without looking at the programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

BOS = "§"
Sequences = Callable[[Sequence[str]], list[object]]


def reverse(tokens: Sequence[str]) -> list[object]:
    return list(tokens[::-1])


def hist(tokens: Sequence[str]) -> list[object]:
    counts = Counter(tokens)
    return [min(10, counts[token]) for token in tokens]


def double_hist(tokens: Sequence[str]) -> list[object]:
    counts = Counter(tokens)
    alike = Counter(counts.values())
    return [alike[counts[token]] for token in tokens]


def most_freq(tokens: Sequence[str]) -> list[object]:
    counts = Counter(tokens)
    ranked = sorted(counts, key=lambda token: (-counts[token], tokens.index(token)))
    return [*ranked, *[BOS] * (len(tokens) - len(ranked))]


def dyck(tokens: Sequence[str]) -> list[object]:
    closer = {"(": ")", "{": "}"}
    expected: list[str] = []
    failed = False
    answers: list[object] = []
    for token in tokens:
        if token in closer:
            expected.append(closer[token])
        elif token in closer.values():
            failed = failed or not expected or expected.pop() != token
        answers.append("F" if failed else ("P" if expected else "T"))
    return answers


SPECIFICATIONS: dict[str, Sequences] = {
    "reverse": reverse,
    "hist_bos": hist,
    "hist": hist,
    "double_hist": double_hist,
    "sort": lambda tokens: sorted(tokens),
    "most_freq": most_freq,
    "dyck_1": dyck,
    "dyck_2": dyck,
}
