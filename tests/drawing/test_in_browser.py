"""The page in a real browser: its reasons are Python's, and clicking lights up what feeds."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.drawing import Drawing, draw
from rasp.drawing.plan import Flow
from rasp.drawing.why import why

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

PROGRAM = """
opens = tokens == "(";
nearest = select_best(select(indices, indices, <) and select(opens, True, ==), score(indices, 1));
found = aggregate(nearest, tokens, "</script>");
unused = aggregate(select(indices, 0, ==), tokens);
same = found == tokens and unused == tokens;
"""


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    return draw(rasp.run(PROGRAM)["same"], ["(", "<", "(", "😀"])


@pytest.fixture(scope="module")
def page(drawing: Drawing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = drawing.save(Path(tmp_path_factory.mktemp("page")) / "flow.html")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page(viewport={"width": 1400, "height": 2400})
        tab.wrong = []
        tab.on("console", lambda message: tab.wrong.append(message.text))
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.on(
            "request",
            lambda request: (
                tab.wrong.append(request.url) if "flow.html" not in request.url else None
            ),
        )
        tab.goto(path.as_uri())
        yield tab
        assert tab.wrong == []
        browser.close()


def test_the_page_gives_the_same_reasons_as_python(drawing: Drawing, page: Any) -> None:
    plan = drawing.plan
    assert isinstance(plan, Flow)
    length = range(len(plan.tokens))
    for head in plan.heads.values():
        for query in length:
            for key in length:
                told = page.evaluate("([h, q, k]) => raspWhy(h, q, k)", [head.id, query, key])
                assert told == why(plan.strips, head, query, key)


def test_hovering_a_cell_tells_why(page: Any) -> None:
    box = page.locator(".selection").first.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] - 3)
    assert page.locator("#tip").inner_text().startswith("query 3, key 0")
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden()


def test_clicking_an_s_op_dims_what_does_not_feed_it(drawing: Drawing, page: Any) -> None:
    plan = drawing.plan
    found = next(strip for strip in plan.strips.values() if strip.label == "found")
    unused = next(strip for strip in plan.strips.values() if strip.label == "unused")
    page.locator(f'[data-made="{found.id}"] [data-strip]').click()
    assert "fed by" in page.locator("#card").inner_text()
    dimmed = "element => element.closest('.dimmed') !== null"
    assert not page.locator(f'[data-made="{found.id}"] [data-strip]').evaluate(dimmed)
    assert page.locator(f'[data-made="{unused.id}"] [data-strip]').evaluate(dimmed)
    page.keyboard.press("Escape")
    assert page.locator(".dimmed").count() == 0
