"""What a notebook shows is what the evaluator says, and is safe to put into a page."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

import rasp
from rasp import indices, score, select, tokens
from rasp.apps.notebook import show
from rasp.apps.notebook.display import (
    explanation_html,
    function_html,
    html_of,
    schedule_html,
)

pytestmark = pytest.mark.slow

same = select(tokens, tokens, "==").named("same")


def cells(html: str) -> list[list[str]]:
    """Read the table in a piece of HTML back."""
    page = ElementTree.fromstring(html.replace("<br>", "<br/>"))
    return [[cell.text or "" for cell in row.iter("td")] for row in page.iter("tr")]


def test_an_s_op_is_a_strip_of_its_values() -> None:
    assert cells(html_of((indices * 2).named("double"), tuple("hey"))) == [
        ["input", "h", "e", "y"], ["double", "0", "2", "4"],
    ]  # fmt: skip


def test_a_selector_is_a_grid_of_its_picks() -> None:
    rows = cells(html_of(same, tuple("aba")))
    assert rows[0] == ["", "a", "b", "a"]
    picks = [[cell == "■" for cell in row[1:]] for row in rows[1:]]
    assert picks == same("aba")
    assert [row[0] for row in rows[1:]] == ["a", "b", "a"]


def test_a_scorer_is_a_grid_of_numbers() -> None:
    rows = cells(html_of(score(indices, indices + 1), tuple("ab")))
    assert [row[1:] for row in rows[1:]] == [["0", "1"], ["0", "2"]]


def test_what_does_not_fit_the_example_says_so() -> None:
    html = html_of(rasp.tokens_int, tuple("ab"))
    assert "does not fit the example &quot;ab&quot;" in html
    assert "hint:" in html
    assert not cells(html)


@pytest.mark.parametrize("nasty", ["<script>alert(1)</script>", "<b>", "\"&'", " ", "\n", ""])
@pytest.mark.parametrize("handle", [tokens + tokens, same], ids=["s-op", "selector"])
def test_tokens_cannot_become_markup(nasty: str, handle: Any) -> None:
    html = html_of(handle, (nasty, "x"))
    assert "<script" not in html
    assert len(cells(html)[0]) == 3


def test_a_long_input_is_cut_and_says_so() -> None:
    html = html_of(same, tuple("ab" * 60))
    assert "the first 40 of 120 positions" in html
    assert len(cells(html)) == 41


def test_library_code_is_shown_as_it_was_written() -> None:
    hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    assert "selector_width(select(tokens, tokens, ==))" in html_of(hist, tuple("hello"))


def test_schedules_explanations_and_functions_show_themselves() -> None:
    reverse = rasp.programs.load("reverse")
    schedule = rasp.schedule(reverse)
    assert len(cells(schedule_html(schedule))) == schedule.layers
    assert "2 layers" in schedule_html(schedule)
    assert "2 layers" in explanation_html(rasp.explain(reverse))
    move = rasp.run("# seq & more\ndef move(seq, steps=1) { return seq; }")["move"]
    assert "move(seq, steps=…)" in function_html(move)
    assert "seq &amp; more" in function_html(move)


def test_show_puts_a_handle_on_any_input() -> None:
    assert repr(show(indices + 1, "abc")) == 'indices + 1 on "abc" = [1, 2, 3]'
    assert "■" in show(same, "ab")._repr_html_()
    assert repr(show(same, "ab")).startswith('same on "ab"\n')
    assert "fails: " in repr(show(tokens + 1, "ab"))
