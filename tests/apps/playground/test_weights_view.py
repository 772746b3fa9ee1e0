"""The weights in a real browser: made for what is on the page, and run on it."""

from typing import Any

import pytest

from browsing import needs_chromium

from .pages import HIST, settled, story, to_the_end, write

pytestmark = [pytest.mark.slow, needs_chromium]


def test_compiling_gives_a_model_and_what_it_attends_to(tab: Any) -> None:
    pytest.importorskip("numpy", reason="weights need numpy")
    write(tab, "flip = select(indices, length - 1 - indices, ==);\nr = aggregate(flip, tokens);")
    tab.click("#tab-weights")
    tab.locator("#weights button[type=submit]").click()
    tab.wait_for_selector("#weights svg.heat")
    assert tab.locator("#weights svg.heat").count() == 4
    assert "flip" in tab.locator("#weights-answer").inner_text()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Download the weights").click()
    assert waiting.value.suggested_filename == "r.zip"


def test_weights_are_gone_when_what_they_were_made_for_changes(tab: Any) -> None:
    pytest.importorskip("numpy", reason="weights need numpy")
    write(tab, "up = indices + 1;\nback = aggregate(select(indices, 0, ==), tokens);", "ab")
    tab.click("#tab-weights")

    def compiled() -> None:
        tab.locator("#weights button[type=submit]").click()
        tab.wait_for_selector("#weights .figures")

    changes = (
        lambda: tab.fill("[name=vocabulary]", "abc"),
        lambda: tab.fill("[name=max_length]", "5"),
        lambda: (
            tab.locator("#weights summary", has_text="Options").click()
            or tab.locator("#weights [name=heads]").select_option("split")
        ),
        lambda: tab.get_by_label("causal").check(),
        lambda: tab.locator("#weights form select").first.select_option("up"),
        lambda: (to_the_end(tab), tab.keyboard.type(" more = indices;")),
    )
    for change in changes:
        compiled()
        change()
        assert tab.locator("#weights .figures").count() == 0
        assert "compile again" in tab.locator("#weights-answer").inner_text()
    settled(tab, lambda: None)
    tab.locator("#weights form select").first.select_option("back")
    compiled()
    tab.wait_for_selector("#weights svg.heat")
    settled(tab, tab.locator("#weights svg.heat").first.click)
    assert "back position" in story(tab) and tab.locator("#weights figure.lit").count() > 0


def test_another_example_runs_through_the_same_model(tab: Any) -> None:
    pytest.importorskip("numpy", reason="weights need numpy")
    write(tab, HIST, "abca")
    tab.click("#tab-weights")
    tab.locator("#weights form select").first.select_option("hist")
    tab.locator("#weights button[type=submit]").click()
    tab.wait_for_selector("#model-run .compared")
    tab.fill("#example", "cabac")
    tab.wait_for_selector("#model-run .verdict:has-text('all 15 cells')")
    assert tab.locator(".compared tr", has_text="hist").first.inner_text().split()[2:] == list(
        "22122"
    )
    words = tab.locator("#model-run .matrix:not(.compared)").inner_text()
    assert "query of same (line 2)" in words and "hist" in words
    tab.fill("#example", "x")
    tab.wait_for_selector("#model-run .complaint:has-text('not in the vocabulary')")
    assert tab.locator("#model-run.stale .compared").count() == 1
    tab.locator("summary", has_text="Every matrix").click()
    tab.wait_for_selector("#matrix table.matrix th[scope=col]:has-text('same')")
    assert tab.locator("#weights .figures").count() == 1
