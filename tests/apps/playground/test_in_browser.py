"""The page in a real browser, as a person uses it: with keys and pointer, alone and in two tabs."""

import base64
import json
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import rasp
from browsing import needs_chromium
from picks import why
from rasp.insight.drawing import plan_selection

from .conftest import Playground
from .pages import (
    HIST,
    columns_of,
    in_grid,
    needs_bundle_with,
    open_tab,
    row,
    settled,
    story,
    to_the_end,
    values_of,
    write,
)

pytestmark = [pytest.mark.slow, needs_chromium]


def test_typing_shows_values_and_the_example_moves_them(tab: Any) -> None:
    write(tab, "double = indices * 2;", "abcd")
    assert row(tab, "double") == ["0", "2", "4", "6"]
    settled(tab, lambda: tab.fill("#example", "[7, 8]"))
    assert row(tab, "tokens") == ["7", "8"] and row(tab, "double") == ["0", "2"]


def test_a_mistake_is_told_with_its_hint_and_what_was_there_stays(tab: Any) -> None:
    write(tab, "one = indices + 1;", "abc")
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.press("Backspace"))
    problems = tab.locator("#problems")
    assert "expected `;`".replace("`", "") in problems.inner_text().replace("`", "")
    assert "every statement ends in one" in problems.inner_text()
    assert row(tab, "one") == ["1", "2", "3"]
    assert tab.locator("tr.ghost").count() == 1
    settled(tab, lambda: tab.keyboard.type(";"))
    assert "no mistakes" in problems.inner_text()


def test_the_page_does_not_jump_while_typing(tab: Any) -> None:
    places = "() => ['#editor', '#example', '#problems', 'table.values'].map((one) => {"
    places += " const box = document.querySelector(one).getBoundingClientRect();"
    places += " return [box.x, box.y, one === '#editor' ? box.height : 0]; })"
    write(tab, "one = indices + 1;", "abc")
    before = tab.evaluate(places)
    to_the_end(tab)
    for letter in " two = one":
        settled(tab, lambda letter=letter: tab.keyboard.type(letter))
        assert tab.evaluate(places) == before


@pytest.mark.parametrize("count", [1, 5, 40, 90, 200])
def test_grids_are_below_the_token_columns_and_labels_never_overlap(tab: Any, count: int) -> None:
    example = ("the quick brown fox " * 10)[:count]
    write(tab, "n = selector_width(select(tokens, tokens, ==)) + length;", json.dumps(example))
    tab.wait_for_selector(f"tr.tokens td[data-at='{count - 1}']", state="attached")
    tokens = columns_of(tab, "table.values tr.tokens td[data-at]")
    assert len(tokens) == count
    for keys in (columns_of(tab, f"figure:nth-child({n}) svg text.keys") for n in (1, 2)):
        assert len(keys) == count
        for (left, right), (key_left, key_right) in zip(tokens, keys, strict=True):
            assert left - 1 <= key_left <= key_right <= right + 1
    rows = tab.evaluate(
        "() => [...document.querySelector('.queries').children]"
        ".map((one) => [one.getBoundingClientRect().top, one.getBoundingClientRect().bottom])"
    )
    assert len(rows) == min(count, 40)
    assert all(one[1] <= other[0] + 0.1 for one, other in pairwise(rows))
    if count > 60:
        settled(tab, lambda: tab.locator("figure").first.get_by_text("later").click())
        assert tab.locator(".queries").first.inner_text().startswith("40")


def test_tokens_are_edited_in_place(tab: Any) -> None:
    write(tab, "double = indices * 2;", "abc")
    tab.locator("tr.tokens td[data-at='1']").dblclick()
    tab.keyboard.type("xy")
    settled(tab, lambda: tab.keyboard.press("Enter"))
    assert tab.input_value("#example") == '["a", "xy", "c"]' and row(tab, "tokens")[1] == "xy"
    tab.locator("tr.tokens td[data-at='1']").focus()
    tab.keyboard.press("F2")
    tab.keyboard.press("Delete")
    settled(tab, lambda: tab.keyboard.press("Enter"))
    assert tab.input_value("#example") == "ac" and row(tab, "double") == ["0", "2"]


def test_hovering_a_selection_gives_the_languages_own_reasons(tab: Any) -> None:
    write(tab, "left = select(indices, indices - 1, ==);", "abc")
    tab.mouse.move(*in_grid(tab, 1, 0, 3))
    program = rasp.run("left = select(indices, indices - 1, ==);")["left"]
    plan = plan_selection(program.node, "abc", program.program)
    assert tab.locator("#tip").inner_text().split("\n") == why(plan.strips, plan.head, 1, 0)
    tab.mouse.move(2, 2)
    assert tab.locator("#tip").is_hidden()


def test_a_chosen_cell_lights_up_what_it_came_from(tab: Any) -> None:
    write(tab, 'back = aggregate(select(indices, indices - 1, ==), tokens, "-");', "abcd")
    settled(tab, values_of(tab, "back").nth(2).click)
    lit = tab.locator("table.values tr.input", has_text="tokens").locator("td.lit")
    assert lit.all_inner_texts() == ["b"]
    assert "position 2 ('c') looks at 1 ('b'), so 'b'" in story(tab)
    assert tab.locator("thead th.looked").all_inner_texts() == ["1"]
    settled(tab, values_of(tab, "back").nth(0).click)
    assert "looks at no position, so the default '-'" in story(tab)


def test_a_row_that_is_renamed_is_explained_by_its_new_name(tab: Any) -> None:
    write(tab, "one = indices + 1;", "abc")
    to_the_end(tab)
    tab.keyboard.press("Control+Home")
    settled(tab, lambda: tab.keyboard.type("x"))
    assert row(tab, "xone") == ["1", "2", "3"]
    settled(tab, values_of(tab, "xone").nth(1).click)
    assert story(tab).startswith("xone position 1")


def test_one_selection_is_linked_in_values_grids_flow_and_editor(tab: Any) -> None:
    write(tab, HIST, "hello")
    settled(tab, values_of(tab, "hist").nth(2).click)
    assert story(tab) == "hist position 2 ('l') looks at 2 and 3: two picked, so 2"
    assert tab.locator(".selection-card.lit figcaption strong").all_inner_texts() == ["same"]
    settled(tab, lambda: tab.click("#tab-flow"))
    tab.wait_for_selector("#flow .lit-cell.row")
    assert "two picked, so 2" in story(tab)
    strip = tab.locator("#flow [data-strip]").first.bounding_box()
    settled(tab, lambda: tab.mouse.click(strip["x"] + 5, strip["y"] + 5))
    assert "'h'" in story(tab)
    settled(tab, lambda: tab.click("#tab-values"))
    assert tab.locator("table.values td.lit").all_inner_texts() == ["h"]
    settled(tab, lambda: tab.mouse.click(*in_grid(tab, 1, 0, 5)))
    assert "same position 1 ('e') looks at 1: the keys where tokens == 'e'" in story(tab)


@needs_bundle_with("cm-lit")
def test_a_chosen_cell_lights_its_line_in_the_editor(tab: Any) -> None:
    write(tab, HIST, "hello")
    settled(tab, values_of(tab, "many").nth(2).click)
    assert tab.locator(".cm-lit").all_inner_texts() == ["many = hist > 1;"]
    settled(tab, values_of(tab, "many").nth(2).click)
    assert tab.locator(".cm-lit").count() == 0


def test_values_can_be_walked_with_the_keyboard_alone(tab: Any) -> None:
    write(tab, "double = indices * 2;", "abc")
    tab.locator("table.values td[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_selector("#cell-story strong")
    assert "indices is 1, so indices * 2 is 2" in story(tab)
    tab.locator("#tab-values").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#flow").is_visible()


def test_fit_gives_a_counterexample_that_becomes_the_example(tab: Any) -> None:
    write(tab, "hist = selector_width(select(tokens, tokens, ==));", "hello")
    tab.click("#tab-architecture")
    tab.wait_for_selector(".head-box")
    assert tab.locator(".head-box").count() == 2
    tab.wait_for_selector(".badge")
    assert "not causal" in tab.locator("#dialect-badges").inner_text()
    tab.fill("[name=attention]", "causal")
    tab.get_by_role("button", name="Ask").click()
    tab.get_by_role("button", name="Use this input as the example").click()
    assert tab.input_value("#example") == "aa"


def test_a_name_without_a_value_keeps_its_row_with_the_reason(tab: Any) -> None:
    write(tab, "one = indices + 1;\nbad = tokens + 1;\ntwo = one + 1;", "ab")
    reason = tab.locator("table.values tr.failed", has_text="bad").locator("td.reason")
    assert "+" in reason.inner_text()
    assert row(tab, "two") == ["2", "3"]
    settled(tab, lambda: tab.fill("#example", "[1, 2]"))
    assert row(tab, "bad") == ["2", "3"] and tab.locator("tr.failed").count() == 0


def test_a_typo_fades_the_architecture_and_keeps_it(tab: Any) -> None:
    write(tab, "back = aggregate(select(indices, 0, ==), tokens);", "abc")
    settled(tab, lambda: tab.click("#tab-architecture"))
    tab.wait_for_selector(".head-box")
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.press("Backspace"))
    tab.wait_for_selector("#architecture-drawn.stale .head-box")
    settled(tab, lambda: tab.keyboard.type(";"))
    tab.wait_for_selector("#architecture-drawn:not(.stale) .head-box")


def test_nothing_of_one_program_is_left_beside_another(tab: Any) -> None:
    write(tab, "mine = indices + 1;", "abc")
    settled(tab, values_of(tab, "mine").nth(1).click)
    tab.click("#tab-gallery")
    tab.fill("#gallery-search", "reverse the input")
    settled(tab, lambda: tab.locator(".programs button:visible").first.click())
    assert "mine" not in story(tab) and tab.locator(".lit, .chosen").count() == 0
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.type(" broken"))
    assert tab.locator("table.values th", has_text="mine").count() == 0


def test_a_shared_link_opens_the_same_page(browser: Any, playground: Playground, tab: Any) -> None:
    write(tab, 'x = tokens == "é😀";', "aé")
    tab.click("#tab-architecture")
    tab.click("#share")
    tab.wait_for_timeout(100)
    assert "#1." in tab.url and playground.token not in tab.url
    address = f"{playground.address}#{tab.url.partition('#')[2]}"
    for other in open_tab(browser, address, {"width": 1300, "height": 850}):
        assert row(other, "x") == [] and other.locator("#architecture").is_visible()
        other.click("#tab-values")
        assert row(other, "x") == ["False", "False"]
        assert other.input_value("#example") == "aé"


COUNTED = """async (link) => {
  const Original = DecompressionStream;
  let inflated = 0;
  window.DecompressionStream = function (format) {
    const counted = new TransformStream({
      transform(part, to) { inflated += part.length; to.enqueue(part); },
    });
    const original = new Original(format);
    return { writable: original.writable, readable: original.readable.pipeThrough(counted) };
  };
  const { read } = await import("./share.js");
  return [await read(link), inflated];
}"""


def test_a_link_that_inflates_without_end_is_refused_early(tab: Any) -> None:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(squeeze.compress(b" " * 1_000_000) for _ in range(605)) + squeeze.flush()
    link = "#1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")
    page, inflated = tab.evaluate(COUNTED, link)
    assert page is None and inflated < 4_000_000


def test_the_gallery_opens_a_program_and_back_returns(tab: Any) -> None:
    write(tab, "mine = indices;", "ab")
    tab.wait_for_timeout(500)
    tab.click("#tab-gallery")
    tab.fill("#gallery-search", "reverse the input")
    settled(tab, lambda: tab.locator(".programs button:visible").first.click())
    tab.wait_for_selector("tr[data-row=reverse]")
    assert row(tab, "reverse") == list("abc")[::-1]
    tab.wait_for_timeout(500)
    settled(tab, tab.go_back)
    tab.click("#tab-values")
    tab.wait_for_selector("tr[data-row=mine]")
    assert row(tab, "mine") == ["0", "1"]


def test_a_newcomer_solves_the_first_exercise(tab: Any) -> None:
    tab.get_by_role("button", name="Start with exercise 1").click()
    settled(tab, lambda: tab.click("#check"))
    tab.wait_for_selector("#lesson .verdict.no")
    assert "[0, 2]" in tab.locator("#lesson .verdict").inner_text()
    tab.get_by_role("button", name="Hint", exact=True).click()
    assert "every position at once" in tab.locator("#lesson .hints").inner_text()
    write(tab, "double = indices + indices;")
    tab.click("#check")
    tab.wait_for_selector("#lesson .verdict.yes")
    settled(tab, lambda: tab.get_by_role("button", name="Next:").click())
    assert "Ask something of each token" in tab.locator("#lesson h2").inner_text()
    tab.click("#tab-learn")
    assert tab.locator(".exercises .mark", has_text="✓").count() == 1


def test_a_gallery_program_can_be_written_by_oneself(tab: Any) -> None:
    tab.click("#tab-gallery")
    tab.wait_for_selector(".programs")
    settled(tab, lambda: tab.get_by_label("Write reverse yourself").click())
    assert "Write reverse yourself" in tab.locator("#lesson h2").inner_text()
    tab.click("#check")
    tab.wait_for_selector("#lesson .verdict.no")
    write(tab, "reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);")
    tab.click("#check")
    tab.wait_for_selector("#lesson .verdict.yes")


def test_formatting_and_downloading_the_program(tab: Any) -> None:
    write(tab, "x=indices+1 ;")
    settled(tab, lambda: tab.click("#format"))
    with tab.expect_download() as waiting:
        tab.click("#download")
    assert Path(waiting.value.path()).read_text() == "x = indices + 1;\n"
    assert waiting.value.suggested_filename == "program.rasp"


def test_a_runaway_program_is_told_and_typing_goes_on(tab: Any) -> None:
    write(tab, "def f(x) { return f(x + 1) + f(x + 2); }", "ab")
    to_the_end(tab)
    settled(tab, lambda: tab.keyboard.type(" y = [f(n) for n in range(1000)];"))
    tab.wait_for_selector("#problems .error .hint", timeout=10_000)
    write(tab, "z = indices;")
    assert row(tab, "z") == ["0", "1"]


def test_a_phone_has_everything_and_does_not_scroll_sideways(phone: Any) -> None:
    write(phone, "same = select(tokens, tokens, ==);", "hello")
    for name in ("values", "flow", "architecture", "weights", "learn", "gallery"):
        phone.click(f"#tab-{name}")
        phone.wait_for_timeout(250)
        assert phone.locator(f"#{name}").is_visible()
        width = phone.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 390, f"{name} is {width} wide"


def test_dark_and_light_have_enough_contrast(tab: Any) -> None:
    script = Path(__file__).with_name("contrast.js").read_text()
    for _ in range(3):
        tab.click("#theme")
        found = tab.evaluate(script)
        assert found["checked"] > 20 and found["poor"] == []


def test_every_control_has_a_name_for_screen_readers(tab: Any) -> None:
    for name in ("values", "flow", "architecture", "weights", "learn", "gallery"):
        tab.click(f"#tab-{name}")
        tab.wait_for_timeout(200)
        nameless = tab.evaluate(
            "() => [...document.querySelectorAll('button, input, select, [role=img]')]"
            ".filter((one) => one.checkVisibility()).filter((one) => !(one.innerText || '').trim()"
            " && !one.ariaLabel && !(one.labels && one.labels.length))"
            ".map((one) => one.outerHTML.slice(0, 80))"
        )
        assert nameless == []


def test_without_the_bundle_a_plain_text_area_does(browser: Any, playground: Playground) -> None:
    context = browser.new_context()
    page = context.new_page()
    start = {"name": "", "program": "x = indices;", "edition": "server"}
    start["without_editor"] = "install node"
    page.route("**/start", lambda route: route.fulfill(body=json.dumps(start)))
    page.goto(playground.address)
    page.wait_for_selector("html[data-shown]")
    assert page.locator("#editor textarea").count() == 1
    assert "install node" in page.locator("#without-editor").inner_text()
    write(page, "y = indices + 1;", "ab")
    assert row(page, "y") == ["1", "2"]
    context.close()
