"""Six tasks on which length generalisation has been published, as next-token programs.

The figures beside ours are those of Huang and others (2024, arXiv:2410.02140) at lengths 101 to
150, best of their settings; trained on 1 to 50.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rasp.models.training.next_token.tasks import NextToken

WORDS = tuple(f"{number:03}" for number in range(150))
PUBLISHED = {
    "majority": 100.0, "sort": 99.4, "unique_copy": 98.7, "repeat_copy": 0.0, "addition": 0.0,
    "parity": 62.0,
}  # fmt: skip

BAR = """
back = select(indices, indices, <=);
bar = aggregate(select(tokens, "|", ==) and back, indices);  # where the prompt ends
made = indices - bar;  # how much has been appended so far
"""
COPY = (
    BAR
    + """
copy = aggregate(select(indices, made, ==) and back, tokens, "|") if made < bar else "";
"""
)
SORT = (
    BAR
    + f"""
value = {{{", ".join(f'"{word}": {int(word)}' for word in WORDS)}, "|": -1}}[tokens];
in_prompt = select(tokens, "|", !=) and select(indices, bar, <) and back;
above = in_prompt and select(value, value, >);
next = aggregate(select_best(above, score(value, -1)), tokens, "");
sort = next;
"""
)
COUNTS = """
back = select(indices, indices, <=);
is_prompt = not (aggregate(select(tokens, "|", ==) and back, 1) == 1);
ones = num_prevs(is_prompt and tokens == "1");
zeros = num_prevs(is_prompt and tokens == "0");
asked = tokens == "|";
"""
MAJORITY = (
    COUNTS
    + """
majority = ("1" if ones > zeros else "0") if asked else "";
"""
)
PARITY = (
    COUNTS
    + """
parity = ("1" if ones % 2 == 1 else "0") if asked else "";
"""
)
ADDITION = """
back = select(indices, indices, <=);
plus = aggregate(select(tokens, "+", ==) and back, indices);
equals = aggregate(select(tokens, "=", ==) and back, indices);
digit = {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "+": 0,
         "=": 0}[tokens];
shifted = digit / 10 ^ indices;  # the first digit of a number weighs most
first = select(indices, plus, <) and back;
second = select(indices, plus, >) and select(indices, equals, <) and back;
left = selector_width(first) * aggregate(first, shifted) * 10 ^ (plus - 1);
right = selector_width(second) * aggregate(second, shifted) * 10 ^ (equals - 1);
total = round(left + right);
made = indices - equals;
size = max(plus, equals - plus - 1);  # digits of the longer number
places = size + 1 if total >= 10 ^ size else size;
unit = 10 ^ (places - 1 - made if made < places else 0);
said = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"][(total // unit) % 10];
addition = said if made < places else "";
"""


def _letters(letters: Sequence[str], distinct: bool) -> Callable[[np.random.Generator, int], Any]:
    def draw(random: np.random.Generator, length: int) -> list[Any]:
        chosen = random.choice(len(letters), length, replace=not distinct)
        return [*(letters[number] for number in chosen), "|"]

    return draw


def _sum(random: np.random.Generator, length: int) -> list[Any]:
    """Two numbers without leading zeros that take `length` digits together."""
    length = max(length, 2)
    first = int(random.integers(1, length))
    digits = [str(digit) for digit in random.integers(0, 10, length)]
    for place in (0, first):
        digits[place] = str(random.integers(1, 10))
    return [*digits[:first], "+", *digits[first:], "="]


def _added(prompt: Sequence[Any]) -> list[Any]:
    left, right = "".join(prompt).removesuffix("=").split("+")
    return list(str(int(left) + int(right)))


TASKS = {
    task.name: task
    for task in (
        NextToken("majority", MAJORITY, "majority", ("0", "1", "|"), _letters("01", False), True,
                  lambda prompt: ["1" if prompt.count("1") > prompt.count("0") else "0"]),
        NextToken("sort", SORT, "sort", (*WORDS, "|"), _letters(WORDS, True), True,
                  lambda prompt: sorted(prompt[:-1])),
        NextToken("unique_copy", COPY, "copy", (*WORDS, "|"), _letters(WORDS, True), True,
                  lambda prompt: list(prompt[:-1])),
        NextToken("repeat_copy", COPY, "copy", ("a", "b", "|"), _letters("ab", False), True,
                  lambda prompt: list(prompt[:-1])),
        NextToken("addition", ADDITION, "addition", (*"0123456789+=",), _sum, True, _added),
        NextToken("parity", PARITY, "parity", ("0", "1", "|"), _letters("01", False), True,
                  lambda prompt: [str(prompt.count("1") % 2)]),
    )
}  # fmt: skip
