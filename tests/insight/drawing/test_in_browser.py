"""In a real browser: pages give Python's reasons, clicking lights up what feeds, texts fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rasp
from browsing import complaints, needs_chromium, started_browser
from picks import why
from rasp.insight.drawing import Drawing, draw
from rasp.insight.drawing.picture_plan import Flow
from repository import script
from strategies.graphs import named_program

from .flow_heads import heads_of

pytestmark = [pytest.mark.slow, needs_chromium]

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
def browser() -> Iterator[Any]:
    with started_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(drawing: Drawing, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = drawing.save(Path(tmp_path_factory.mktemp("page")) / "flow.html")
    tab = browser.new_page(viewport={"width": 1400, "height": 2400})
    wrong = complaints(tab)
    tab.on(
        "request",
        lambda request: wrong.append(request.url) if "flow.html" not in request.url else None,
    )
    tab.goto(path.as_uri())
    yield tab
    assert wrong == []


def test_the_page_gives_the_same_reasons_as_python(drawing: Drawing, page: Any) -> None:
    plan = drawing.plan
    assert isinstance(plan, Flow)
    length = range(len(plan.tokens))
    for head in heads_of(plan).values():
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


MISPLACED = """() => {
  const svg = document.querySelector("svg");
  const box = (element) => element.getBoundingClientRect();
  const shared = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  const overlap = (a, b) => shared(a, b)[0] > 1 && shared(a, b)[1] > 4;
  const words = (text) => [...text.childNodes].filter((node) => node.nodeName !== "title")
    .map((node) => node.textContent).join("");
  const texts = [...svg.querySelectorAll("text")];
  const frames = [...svg.querySelectorAll("rect.box, rect.inner")].map(box);
  const grids = [...svg.querySelectorAll("rect.cell, rect.grid")].map(box);
  const found = [];
  texts.forEach((text, at) => {
    const here = box(text);
    const around = frames.filter((frame) => overlap(frame, here));
    const inside = (frame) => here.left >= frame.left && here.right <= frame.right - 2;
    if (!inside(box(svg)) || !around.every(inside)) found.push(`${words(text)} leaves its box`);
    for (const other of texts.slice(at + 1))
      if (overlap(here, box(other))) found.push(`${words(text)} lies on ${words(other)}`);
    if (!text.closest(".strip") && grids.some((grid) => overlap(here, grid)))
      found.push(`${words(text)} lies on a grid`);
  });
  return found;
}"""


def pictures() -> Iterator[tuple[str, Drawing]]:
    """The paper's figures, inputs of one token, and random programs."""
    for name, (text, sop, given) in script("make_figures").PICTURES.items():
        yield name, draw(rasp.run(text)[sop], given)
        yield f"{name} of one token", draw(rasp.run(text)[sop], given[0])
    for seed in range(30):
        outputs, program, numbers = named_program(seed)
        yield f"random {seed}", draw(outputs, numbers, program)


@pytest.mark.slow
def test_every_text_stays_in_its_box_and_off_the_others(browser: Any) -> None:
    tab = browser.new_page(viewport={"width": 1600, "height": 900})
    for name, picture in pictures():
        tab.set_content(f'<body style="margin: 0">{picture.svg()}</body>')
        assert tab.locator("svg text").count() > 3
        assert not tab.evaluate(MISPLACED), name
