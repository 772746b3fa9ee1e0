"""Small programs of every construct, whose nodes are swapped for others."""

from __future__ import annotations

import rasp
from models import Kind

DIGITS = [0, 1, 2]
A = 'tokens == "a"'
UNTIL = "select(indices, indices, <=)"


def _promised(text: str, where: str) -> dict[str, object]:
    return {"where": rasp.run(f"{text} promise = {where};")["promise"]}


PROGRAMS = (
    Kind(f'out = aggregate({UNTIL}, indicator({A})) > 0.5;', "ab", 4, {"causal": True}),
    Kind('out = count(tokens, "a") * count(tokens, "b");', "ab", 3),
    Kind('out = count(tokens, "a") / (1 + count(tokens, "b"));', "ab", 3),
    Kind("out = aggregate(select(tokens, tokens, ==), indices);", "ab", 4),
    Kind("out = aggregate(full_s, aggregate(select(indices, indices, <=), tokens));", DIGITS, 3),
    Kind("out = aggregate(select(tokens, 1, >=), tokens, -1);", DIGITS, 3),
    Kind("out = aggregate(select(tokens, tokens, <), tokens, 0.5) + tokens;", DIGITS, 3),
    Kind('out = ("x" if indices == 0 else "y") + tokens;', "ab", 3),
    Kind('out = tokens if (indices % 2 == 0 or tokens == "a") else "z";', "abc", 3),
    Kind("out = tokens == 1 and indices < 2;", DIGITS, 3),
    Kind("out = selector_width(select(tokens, tokens, <)) + 0.5;", DIGITS, 3),
    Kind("out = sort(tokens, tokens);", DIGITS, 3),
    Kind("out = sort(tokens, -tokens);", DIGITS, 3, {"heads": "split"}),
    Kind('out = aggregate(select_best(select(tokens, tokens, ==), score(indices, -1)), indices);'),
    Kind('out = aggregate(select_best(full_s, score(tokens, 1)), tokens);', DIGITS, 3),
    Kind("out = aggregate(select_best(full_s, closest_scores), tokens);"
         .replace("closest_scores", "score(2 * indices, indices) + score(-indices * indices, 1)"),
         "ab", 4),
    Kind('out = (tokens == "a") and (indices == 0) and (length > 1);', "ab", 3),
    Kind('out = num_prevs(tokens == "a") >= num_prevs(tokens == "b");', "ab", 4, {"causal": True}),
    Kind("out = length % 2 == 0;", "ab", 4),
    Kind("out = round(length / 2) - indices;", "ab", 4),
    Kind("out = aggregate(select(indices, indices - 1, ==), indicator(tokens == \"a\"), 7);"),
    Kind('out = aggregate(select(indices, length - 1 - indices, ==), tokens) == tokens;'),
    Kind('out = aggregate(select(tokens, "a", ==) and select(indices, indices, <), indices, -1);'),
    Kind('out = aggregate(select(tokens, "a", ==) or select(indices, indices, ==), indices);'),
    Kind('out = aggregate(not select(tokens, tokens, ==), indices, 9);'),
    Kind('out = "a" in tokens; also = indices + 1;', "ab", 3),
    Kind('out = length; also = aggregate(select(indices, 0, ==), tokens);', "ab", 3, {"bos": "§"}),
    Kind("out = selector_width(select(tokens, tokens, ==), assume_bos=True) - 1;", "ab", 4,
         {"bos": "§"}),
    Kind('out = has_prev(tokens);', "abc", 3),
    Kind('out = histf(tokens) == 2;', "abc", 3),
    Kind("out = aggregate(select(indices, 0, ==), tokens);", "ab", 4, {"sink": False}),
    Kind("out = length;", "ab", 4, {"sink": False}),
    Kind('out = histf(tokens) > 1 or tokens == "a";', "ab", 3, {"sink": False}),
    Kind("out = (0 if tokens == 0 else 1) if indices < 2 else (2 if tokens == 1 else 3);",
         DIGITS, 4),
    Kind("out = tokens / 2 + indices;", DIGITS, 3),
    Kind("out = tokens and True;", [True, False], 3),
    Kind("out = aggregate(select(indices, 0, ==), tokens);", [True, False], 3),
    Kind("out = aggregate(select(tokens, True, ==), indicator(tokens), 0.5);", [True, False], 3),
    Kind("out = (length - 1) * indicator(tokens == \"a\") + indices;", "ab", 3),
    Kind("out = selector_width(select(tokens, tokens, ==)) * aggregate(select(tokens, tokens, ==), "
         "tokens);", DIGITS, 3),
    Kind("out = length * aggregate(full_s, tokens);", DIGITS, 3),
    Kind("out = (indices + 1) * aggregate(select(indices, indices, <=), tokens);", DIGITS, 3),
    Kind(f"s = {UNTIL}; out = aggregate(s, tokens) / aggregate(s, indices + 1);", DIGITS, 3),
    Kind(f"s = {UNTIL}; out = aggregate(s, tokens) < aggregate(s, indices);", DIGITS, 3),
    Kind(f"out = aggregate({UNTIL}, tokens) > 1;", DIGITS, 4),
    Kind(f"out = aggregate({UNTIL}, tokens) == 0;", DIGITS, 4),
    Kind("out = aggregate(select(indices, aggregate(full_s, indices), ==), tokens, \"?\");"),
    Kind("x = length; y = x - 1; out = aggregate(select(indices, y, ==), tokens);", "abc", 3),
    Kind("a = count(tokens, 0); out = aggregate(select(indices, a, ==), tokens, -1);", DIGITS, 3),
    Kind("out = aggregate(select(tokens, indices, ==), indices, -1);", DIGITS, 3),
    Kind("out = aggregate(select(tokens, indices, <), tokens, 0);", DIGITS, 3),
    Kind('out = {"a": 1, "b": 2, "c": 3}[tokens] + indices;', "abc", 3),
    Kind('out = [5, 6, 7][indices];', "ab", 3),
    Kind("out = 1 / (1 + tokens);", DIGITS, 3),
    Kind("out = 6 // (1 + tokens) - indices % 2;", DIGITS, 3),
    Kind("out = aggregate(select(tokens, tokens, ==), 1 / (1 + indices));", DIGITS, 3),
    Kind('out = aggregate(select(tokens, "a", ==), 1, 0) == 1 and tokens == "b";', "ab", 3),
    Kind('out = 1 if aggregate(select(tokens, "a", ==), 1) > 0 else 2;', "ab", 3),
    Kind('out = aggregate(select(tokens, "b", ==), tokens, "-");', "ab", 3),
    Kind('out = count(tokens, "a") + 0 * indices > length / 2;', "ab", 4),
    Kind('out = aggregate(select(indices, indices, <), tokens, "#") if length < 3 else tokens;',
         "ab", 2),
    Kind("out = aggregate(select(indices, tokens, ==), tokens);", [0, 1], 3,
         _promised("", "tokens < length")),
    Kind("out = aggregate(select(tokens, 1, ==), indices);", [0, 1], 3,
         _promised("", "count(tokens, 1) == 1")),
    Kind("out = aggregate(select(tokens, 1, ==), indices, -1);", [0, 1], 3,
         _promised("", "count(tokens, 1) <= 1")),
    Kind("out = aggregate(select(tokens, tokens, ==), indices);", [0, 1, 2], 3,
         _promised("", "selector_width(select(tokens, tokens, ==)) == 1")),
    Kind("out = 1 / tokens;", DIGITS, 3, _promised("", "tokens > 0")),
    Kind("out = 6 / (tokens + indices);", DIGITS, 3, _promised("", "tokens + indices != 0")),
    Kind("out = tokens - indices;", DIGITS, 3, _promised("", "tokens >= indices")),
)  # fmt: skip
