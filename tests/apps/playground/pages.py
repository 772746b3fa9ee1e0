"""The page as tests use it: opened, typed into, and read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rasp
from browsing import complaints


def open_tab(
    browser: Any, address: str, size: dict[str, int], patience: int = 30_000
) -> Iterator[Any]:
    context = browser.new_context(viewport=size, accept_downloads=True)
    page = context.new_page()
    wrong = complaints(page)
    own = (address.partition("#")[0].partition("?")[0], "blob:", "data:")
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(own) else wrong.append(asked.url),
    )
    page.goto(address)
    page.wait_for_selector("html[data-shown]", timeout=patience)
    yield page
    context.close()
    assert wrong == []


def write(page: Any, program: str, example: str | None = None) -> None:
    """Put a program in place of the one that is there, through the keyboard."""
    settled(page, lambda: _type(page, program))
    if example is not None:
        settled(page, lambda: page.fill("#example", example))


def _type(page: Any, program: str) -> None:
    page.locator("#editor .cm-content, #editor textarea").first.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    for number, line in enumerate(program.split("\n")):
        if number:
            page.keyboard.press("Enter")
        page.keyboard.type(line)
        page.keyboard.press("Escape")  # whatever would be completed


def to_the_end(page: Any) -> None:
    page.locator("#editor .cm-content, #editor textarea").first.click()
    page.keyboard.press("Control+End")


def settled(page: Any, act: Any) -> None:
    """Do something, and wait until what it started has been shown."""
    act()
    page.wait_for_timeout(150)
    page.wait_for_selector("#state:not(:text('running…'))", state="attached")
    page.wait_for_timeout(150)


def row(page: Any, name: str) -> list[str]:
    cells = page.locator(
        "table.values tr", has=page.locator("th[scope=row]", has_text=name)
    ).first.locator("td[data-at]")
    return [str(text) for text in cells.all_inner_texts()]


def in_grid(page: Any, query: int, key: int, count: int) -> tuple[float, float]:
    """Where a cell of the first grid is on the page; its keys are written above it."""
    box, keys = page.locator("svg.heat").first.bounding_box(), 16
    width, height = box["width"] / count, (box["height"] - keys) / count
    return box["x"] + (key + 0.5) * width, box["y"] + keys + (query + 0.5) * height


def columns_of(page: Any, css: str) -> list[tuple[float, float]]:
    boxes = page.evaluate(
        "(css) => [...document.querySelectorAll(css)].map((one) => one.getBoundingClientRect())"
        ".map((box) => [box.left, box.right])",
        css,
    )
    return [(left, right) for left, right in boxes]


def needs_bundle_with(words: str) -> pytest.MarkDecorator:
    """Skip a test where the bundled editor is older than what the test is about."""
    bundle = Path(rasp.__file__).parent / "playground" / "static" / "bundle" / "editor.js"
    is_there = bundle.exists() and words in bundle.read_text(encoding="utf-8")
    why = "the bundled editor is older than web/editor.js: run scripts/build_web.py"
    return pytest.mark.skipif(not is_there, reason=why)


HIST = "same = select(tokens, tokens, ==);\nhist = selector_width(same);\nmany = hist > 1;"


def story(page: Any) -> str:
    return str(page.locator("#cell-story").inner_text()).replace("\xa0", " ")


def values_of(page: Any, name: str) -> Any:
    return page.locator(f"table.values tr[data-row='{name}'] td[data-at]")
