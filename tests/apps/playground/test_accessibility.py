"""Every tab, light and dark, wide and narrow: axe-core finds nothing wrong."""

from typing import Any

import pytest

from browsing import needs_chromium
from repository import ROOT

from .conftest import Playground
from .pages import HIST, needs_bundle_with, open_tab, settled, values_of, write

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.slow,
    needs_chromium,
    needs_bundle_with("cm-explained"),
    pytest.mark.skipif(not AXE.is_file(), reason="scripts/build_web.py has not fetched axe-core"),
]
TABS = ("values", "flow", "architecture", "weights", "learn", "gallery")
ASK = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .map((rule) => [rule.id, rule.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3)])"""


def is_clean(page: Any, what: str) -> None:
    found = page.evaluate(ASK)
    assert found == [], f"{what}: {found}"


def opened(page: Any, name: str) -> None:
    settled(page, lambda: page.click(f"#tab-{name}"))
    if name == "flow":
        page.wait_for_selector("#flow svg")
        page.locator("summary", has_text="Generate").click()
    if name == "weights":
        pytest.importorskip("numpy", reason="weights need numpy")
        page.locator("summary", has_text="Options").click()
        page.locator("#weights button[type=submit]").click()
        page.wait_for_selector("#weights svg.heat")
        page.locator("summary", has_text="Every matrix").click()
        page.wait_for_selector("#matrix table")
    if name == "learn":
        page.locator("summary", has_text="exercise of your own").click()


@pytest.mark.parametrize(("theme", "width"), [("light", 1300), ("dark", 390)])
def test_axe_finds_nothing_on_any_tab(
    browser: Any, playground: Playground, theme: str, width: int
) -> None:
    for page in open_tab(browser, playground.address, {"width": width, "height": 850}):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        check_every_tab(page, f"{theme}, {width} wide")


def check_every_tab(page: Any, how: str) -> None:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    write(page, f"bad = 1 / indices;\nextra = tokns;\n{HIST}", "hello")
    settled(page, values_of(page, "hist").nth(2).click)
    page.locator("#examples summary").click()
    settled(page, lambda: page.click("#keep-example"))
    settled(page, lambda: page.click("#help"))
    for name in TABS:
        opened(page, name)
        is_clean(page, f"{name}, {how}")


def test_axe_finds_nothing_in_a_frame(browser: Any, playground: Playground) -> None:
    for page in open_tab(browser, playground.address, {"width": 700, "height": 460}):
        page.goto(f"http://127.0.0.1:{playground.port}/?embed=1")
        page.wait_for_selector("html.embedded[data-shown]")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        is_clean(page, "in a frame")
