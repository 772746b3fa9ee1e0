"""Help beside the editor, hints that a click applies, and panes of another width, in a browser."""

from typing import Any

import pytest

from browsing import needs_chromium

from .pages import HIST, needs_bundle_with, row, settled, write

pytestmark = [pytest.mark.slow, needs_chromium, needs_bundle_with("cm-explained")]


def test_a_hint_is_applied_by_a_click(tab: Any) -> None:
    write(tab, "up = indicse + 1;", "abc")
    settled(tab, lambda: tab.get_by_text("did you mean").click())
    assert row(tab, "up") == ["1", "2", "3"]
    assert "no mistakes" in tab.locator("#problems").inner_text()


def test_the_cheat_sheet_puts_a_line_into_the_program(tab: Any) -> None:
    write(tab, "up = indices + 1;", "abc")
    tab.click("#help")
    tab.wait_for_selector("#cheat li")
    settled(tab, lambda: tab.locator("#cheat li button", has_text="hist =").click())
    assert row(tab, "hist") == ["1", "1", "1"] and row(tab, "up") == ["1", "2", "3"]
    tab.click("#help")
    assert tab.locator("#cheat").is_hidden()


def test_hovering_a_name_says_what_it_is_and_holds(tab: Any) -> None:
    write(tab, HIST, "hello")
    word = tab.locator(".cm-line", has_text="hist =").locator("span", has_text="selector_width")
    word.hover()
    tab.wait_for_selector(".cm-explained")
    assert "selector_width(" in tab.locator(".cm-explained").inner_text()
    tab.mouse.move(900, 700)
    line = tab.locator(".cm-line", has_text="many =").bounding_box()
    tab.mouse.move(line["x"] + 75, line["y"] + 10)
    tab.wait_for_selector(".cm-explained:has-text('1 1 2 2 1')")


def test_panes_are_resized_with_pointer_and_keys_and_kept(tab: Any) -> None:
    before = tab.locator("#writing").bounding_box()["width"]
    tab.locator("#divider").focus()
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    wider = tab.locator("#writing").bounding_box()["width"]
    assert wider > before + 80
    box = tab.locator("#divider").bounding_box()
    tab.mouse.move(box["x"] + 3, 400)
    tab.mouse.down()
    tab.mouse.move(420, 400)
    tab.mouse.up()
    assert abs(tab.locator("#writing").bounding_box()["width"] - 420) < 15
    tab.reload()
    tab.wait_for_selector("html[data-shown]")
    assert abs(tab.locator("#writing").bounding_box()["width"] - 420) < 15


def test_a_phone_shows_values_first(phone: Any) -> None:
    write(phone, HIST, "hello")
    tops = [
        phone.locator(one).bounding_box()["y"] for one in ("table.values", "#example", "#editor")
    ]
    assert tops == sorted(tops) and tops[0] < 300
