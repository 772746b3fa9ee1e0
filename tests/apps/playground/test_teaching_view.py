"""Examples with expectations, exercises of one's own, and frames, in a real browser."""

import json
from typing import Any

import pytest

from browsing import needs_chromium

from .conftest import Playground
from .pages import HIST, open_tab, row, settled, to_the_end, write

pytestmark = [pytest.mark.slow, needs_chromium]
HOSTILE = '<img src=x onerror="document.title=1">'


def kept(page: Any) -> Any:
    return page.locator("#examples li")


def test_examples_hold_or_fail_and_say_what_they_give(tab: Any) -> None:
    write(tab, HIST, "hello")
    tab.locator("#examples summary").click()
    settled(tab, lambda: tab.click("#keep-example"))
    assert tab.input_value("[aria-label='Expected in example 1']").startswith("[False, False")
    assert "1 of 1 hold" in tab.locator("#example-count").inner_text()
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.type(" many = hist > 5;"))
    tab.wait_for_selector("#examples li.fails")
    assert "gives [False, False, False, False, False]" in kept(tab).inner_text()
    tab.fill("[aria-label='Expected in example 1']", "[False]")
    tab.fill("[aria-label='Input of example 1']", "h")
    tab.keyboard.press("Tab")
    tab.wait_for_selector("#examples .mark.yes")
    settled(tab, lambda: tab.get_by_label("Show example 1").click())
    assert tab.input_value("#example") == "h" and row(tab, "hist") == ["1"]


def test_examples_are_kept_in_the_browser_and_travel_with_the_link(
    browser: Any, playground: Playground, tab: Any
) -> None:
    write(tab, "up = indices + 1;", "abc")
    tab.locator("#examples summary").click()
    settled(tab, lambda: tab.click("#keep-example"))
    tab.click("#share")
    tab.wait_for_timeout(700)
    link = tab.url.partition("#")[2]
    tab.goto("about:blank")
    tab.route("**/ask/run", lambda route: None)  # values that were kept need no answer
    tab.goto(playground.address)
    tab.wait_for_selector("tr[data-row=up] td")
    assert row(tab, "up") == ["1", "2", "3"]
    tab.wait_for_selector("#examples .mark.yes")
    assert tab.input_value("[aria-label='Expected in example 1']") == "[1, 2, 3]"
    for other in open_tab(browser, f"{playground.address}#{link}", {"width": 1300, "height": 850}):
        other.wait_for_selector("#examples .mark.yes")
        assert other.input_value("[aria-label='Input of example 1']") == "abc"


def test_an_author_makes_a_link_and_a_student_gets_the_shortest_counterexample(
    browser: Any, playground: Playground, tab: Any
) -> None:
    secret = "rev = aggregate(select(indices, length - 1 - indices, ==), tokens);"
    write(tab, secret, "abc")
    tab.click("#tab-learn")
    tab.locator("summary", has_text="exercise of your own").click()
    tab.fill("[name=title]", HOSTILE)
    tab.fill("[name=story]", f"Turn the input round. {HOSTILE}")
    tab.fill(".form [name=layers]", "2")
    tab.fill("[name=shown]", "abc")
    tab.fill("[name=tests]", "confidential")
    tab.get_by_role("button", name="Make the link").click()
    tab.wait_for_selector("#made-exercise input")
    link = tab.input_value("#made-exercise input").partition("#")[2]
    address = f"{playground.address}#{link}"
    for student in open_tab(browser, address, {"width": 1300, "height": 850}):
        sees_the_task_alone(student, f"#{link}")
        is_told_what_is_wrong(student)
        write(student, secret.replace("length - 1", "length + 0 - 1"))
        student.click("#check")
        student.wait_for_selector("#lesson .verdict.yes")
        student.wait_for_timeout(600)
        student.reload()
        student.wait_for_selector("#check")


def sees_the_task_alone(student: Any, link: str) -> None:
    student.wait_for_selector("#lesson h2")
    assert student.locator("#lesson img").count() == 0
    assert HOSTILE in student.locator("#lesson h2").inner_text()
    assert 'abc gives\n["c", "b", "a"]' in student.locator("#lesson .compare").inner_text()
    assert "At most 2 layers" in student.locator("#lesson").inner_text()
    held = student.evaluate("async (link) => (await import('./share.js')).read(link)", link)
    assert "aggregate" not in json.dumps(held) and "confidential" not in json.dumps(held)


def is_told_what_is_wrong(student: Any) -> None:
    student.click("#check")
    student.wait_for_selector("#lesson .verdict.no")
    assert "On the input ab" in student.locator("#lesson .verdict").inner_text()
    assert "shortest" in student.locator("#lesson .verdict").inner_text()
    deep = "aggregate(f, aggregate(f, aggregate(f, tokens)))"
    write(student, f"f = select(indices, length - 1 - indices, ==);\nrev = {deep};")
    student.click("#check")
    student.wait_for_selector("#lesson .verdict.no:has-text('at most 2 are allowed')")


def test_a_frame_shows_the_program_and_the_way_to_the_whole_page(
    browser: Any, playground: Playground, tab: Any
) -> None:
    write(tab, "up = indices + 1;", "abc")
    tab.click("#share")
    tab.wait_for_timeout(700)
    tab.goto("about:blank")
    link = f"?embed=1&token={playground.token}"
    tab.goto(playground.address.partition("?")[0] + link)  # lets the browser in
    tab.goto(f"{playground.address.partition('?')[0]}?embed=1")
    tab.wait_for_selector("html.embedded[data-shown]")
    assert tab.locator("header .buttons").is_hidden() and tab.locator("#whole").is_visible()
    assert tab.locator("#editor").is_visible() and tab.locator("table.values").is_visible()
    assert row(tab, "hist") == ["1", "1", "2", "2", "1"]  # nothing that was kept leaks into a frame


@pytest.mark.parametrize("name", ["values", "flow", "weights"])
def test_hostile_tokens_and_names_stay_text_in_every_view(tab: Any, name: str) -> None:
    example = json.dumps([HOSTILE, "</script><b>", "&lt;"])
    write(tab, "same = select(tokens, tokens, ==);\nｘ = aggregate(same, tokens);", example)
    tab.locator("#examples summary").click()
    settled(tab, lambda: tab.click("#keep-example"))
    if name == "values":
        settled(tab, lambda: tab.locator("tr.tokens td[data-at='0']").dblclick())
        settled(tab, lambda: tab.keyboard.press("Escape"))
    settled(tab, lambda: tab.click(f"#tab-{name}"))
    if name == "flow":
        tab.wait_for_selector("#flow svg")
        tab.locator("summary", has_text="Generate").click()
        settled(tab, lambda: tab.click("#generate-step"))
        tab.get_by_label("First step").click()
        tab.click("#step-on")
        tab.click("#step-on")
    if name == "weights":
        pytest.importorskip("numpy", reason="weights need numpy")
        tab.locator("#weights button[type=submit]").click()
        tab.wait_for_selector("#model-run table")
        tab.locator("summary", has_text="Every matrix").click()
        tab.wait_for_selector("#matrix table")
    assert tab.locator("img, main script, main b").count() == 0
    assert tab.title() == "RASP playground"
