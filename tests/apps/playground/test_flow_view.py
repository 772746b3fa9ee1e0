"""The flow in a real browser: traced, stepped through, zoomed, generated."""

from pathlib import Path
from typing import Any

import pytest

from browsing import needs_chromium

from .pages import HIST, settled, to_the_end, write

pytestmark = [pytest.mark.slow, needs_chromium]


def test_the_flow_is_stepped_through(tab: Any) -> None:
    write(tab, "same = select(tokens, tokens, ==);\nhist = selector_width(same);", "hello")
    tab.click("#tab-flow")
    tab.wait_for_selector("#flow svg")
    assert tab.locator("#flow .later").count() == 0
    tab.get_by_label("First step").click()
    shown = [tab.locator("#flow .later").count()]
    while "Done" not in tab.locator("#step-text").inner_text():
        tab.click("#step-on")
        shown.append(tab.locator("#flow .later").count())
    assert len(shown) > 3 and shown == sorted(shown, reverse=True) and shown[-1] == 0
    with tab.expect_download() as waiting:
        tab.get_by_label("Download the picture as PNG").click()
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")
    with tab.expect_download() as waiting:
        tab.get_by_label("Download the picture as SVG").click()
    assert waiting.value.suggested_filename == "hist.svg"


def test_the_flow_speaks_the_programs_words_and_traces_what_is_clicked(tab: Any) -> None:
    write(tab, HIST, "hello")
    tab.click("#tab-flow")
    tab.wait_for_selector("#flow svg")
    words = tab.locator("#flow svg").text_content()
    assert "hist₁" in words and "r1" not in words
    made = tab.locator("#flow .result[data-strip]").first.bounding_box()
    settled(tab, lambda: tab.mouse.click(made["x"] + 6, made["y"] + made["height"] / 2))
    assert tab.locator("#flow .thread").count() > 1 and tab.locator("#flow .dimmed").count() > 0
    asked = tab.locator("#flow [data-head]:not(.dimmed) .queries .lit-cell")
    assert asked.count() == 1  # of the queries, only the one that is chosen
    settled(tab, lambda: tab.mouse.click(made["x"] + 6, made["y"] + made["height"] / 2))
    assert tab.locator("#flow .thread, #flow .dimmed").count() == 0


def test_values_travel_and_the_picture_is_zoomed_and_moved(tab: Any) -> None:
    write(tab, HIST, "hello")
    tab.click("#tab-flow")
    tab.wait_for_selector("#flow svg")
    tab.get_by_label("First step").click()
    while "mixes" not in tab.locator("#step-text").inner_text():
        tab.click("#step-on")
    assert tab.locator("#flow .chip").count() > 5
    for _ in range(4):
        tab.get_by_label("Larger").click()
    frame = "document.querySelector('#flow .picture')"
    tab.evaluate(f"{frame}.scrollLeft = 1000")
    assert tab.evaluate(f"{frame}.scrollWidth > {frame}.clientWidth")
    tab.wait_for_timeout(100)
    shown = tab.locator("#flow text.stuck").first.bounding_box()
    assert shown["x"] > tab.locator("#flow .picture").bounding_box()["x"] - 20  # its halo
    tab.get_by_label("Fit the picture").click()
    assert not tab.evaluate(f"{frame}.scrollWidth > {frame}.clientWidth")
    tab.locator(".where button", has_text="output").click()
    tab.wait_for_selector(".where button[aria-current]:text('output')")


def test_a_program_generates_token_by_token(tab: Any) -> None:
    write(tab, 'next = "" if length > 4 else tokens;', "ab")
    tab.click("#tab-flow")
    tab.locator("summary", has_text="Generate").click()
    tab.click("#generate-step")
    tab.wait_for_selector("#cell-story:has-text('position 2')")
    assert tab.input_value("#example") == "abb"
    settled(tab, lambda: tab.click("#generate-back"))
    assert tab.input_value("#example") == "ab"
    tab.click("#generate-run")
    tab.wait_for_selector("#generated:text('ends')", timeout=15_000)
    assert tab.input_value("#example") == "abbbb"


def test_a_typo_fades_the_flow_and_keeps_it(tab: Any) -> None:
    write(tab, "one = indices + 1;\nback = aggregate(select(indices, 0, ==), tokens);", "abc")
    settled(tab, lambda: tab.click("#tab-flow"))
    tab.wait_for_selector("#flow svg")
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.press("Backspace"))
    assert tab.locator("#flow .picture.stale svg").count() == 1
    assert tab.locator("#flow select").input_value() == "back"
    settled(tab, lambda: tab.keyboard.type(";"))
    tab.wait_for_selector("#flow .picture:not(.stale) svg")
    assert tab.locator("#flow .complaint").count() == 0
