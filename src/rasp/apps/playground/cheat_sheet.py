"""The language on one page, beside the editor: each line runs, and is put into the program."""

from __future__ import annotations

from typing import Any

SHEET: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("Input", "language.html", "One value for each position.", (
        ("t = tokens;", "the input"),
        ("i = indices;", "0, 1, 2, …"),
        ("n = length;", "how many, at every position"),
        ("digits = tokens_int;", "tokens as numbers"),
    )),
    ("Select", "language.html", "Who looks at whom: keys, queries, a comparison.", (
        ("same = select(tokens, tokens, ==);", "equal tokens"),
        ("left = select(indices, indices - 1, ==);", "the one before"),
        ("past = select(indices, indices, <=);", "all so far"),
        ("both = past and not left;", "combined"),
        ("largest = select_best(select_all, score(tokens_int, 1));", "the best score"),
    )),
    ("Aggregate", "language.html", "What a position makes of what it looks at.", (
        ("hist = selector_width(select(tokens, tokens, ==));", "how many"),
        ("prev = aggregate(select(indices, indices - 1, ==), tokens, \"-\");", "or a default"),
        ("share = aggregate(select_all, indicator(tokens == \"a\"));", "the mean of numbers"),
        ("total = selected_sum(select_all, indices);", "the sum"),
    )),
    ("At each position", "language.html", "No attention needed.", (
        ("next_one = indices + 1;", "+ - * / % ^"),
        ("is_a = tokens == \"a\";", "== != < <= > >="),
        ("some = tokens in [\"a\", \"b\"];", "one of a list"),
        ("either = \"x\" if indices > 1 else tokens;", "a choice"),
    )),
    ("Functions and lists", "language.html", "Expanded when the program is read.", (
        ("def before(x) { return aggregate(select(indices, indices - 1, ==), x); }", "a function"),
        ("powers = [2 ^ k for k in range(4)];", "a list"),
    )),
    ("Try it", "start.html", "A bare expression shows its value.", (
        ("(indices + 1)(\"abc\");", "on an input of its own"),
        ("tokens(\"abc\")[0];", "one position"),
    )),
)  # fmt: skip
"""Heading, page of the docs, what it is about, and lines with what they are."""


def cheat_sheet(request: dict[str, Any]) -> dict[str, Any]:
    """Return the sheet, section by section."""
    return {
        "sections": [
            {
                "heading": heading,
                "page": page,
                "about": about,
                "lines": [{"code": code, "says": says} for code, says in lines],
            }
            for heading, page, about, lines in SHEET
        ]
    }
