"""The docs site: built offline without warnings, nothing fetched from elsewhere, no dead links."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsing import complaints, needs_chromium, served, started_browser
from rasp.apps.playground.page_answers import answer
from repository import ROOT, script

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of this process alone: another one may be building it, too."""
    pytest.importorskip("zensical", reason="needs the extra `docs`")
    builder, place = script("build_docs"), tmp_path_factory.mktemp("docs")
    builder.GATHERED, builder.SITE = place / "build" / "docs", place / "site"
    assert builder.main() == 0
    found: Path = builder.SITE
    return found


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://elsewhere.example/a.js"></script>',
        '<link rel="stylesheet" href="//elsewhere.example/a.css">',
        '<link rel="preconnect" href="https://elsewhere.example">',
        '<img src="https://elsewhere.example/a.png">',
        '<p style="background: url(https://elsewhere.example/a.png)">',
    ],
)
def test_a_page_that_fetches_from_elsewhere_is_found(tmp_path: Path, page: str) -> None:
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    (fault,) = script("build_docs").outside_requests(tmp_path)
    assert "a.html fetches" in fault and "elsewhere.example" in fault


def test_a_style_sheet_that_fetches_from_elsewhere_is_found(tmp_path: Path) -> None:
    style = '@import "https://elsewhere.example/fonts.css";'
    (tmp_path / "a.css").write_text(style, encoding="utf-8")
    assert len(script("build_docs").outside_requests(tmp_path)) == 1


def test_ordinary_links_to_elsewhere_are_no_fault_and_dead_ones_here_are(tmp_path: Path) -> None:
    builder = script("build_docs")
    (tmp_path / "b.html").write_text('<h2 id="there">b</h2>', encoding="utf-8")
    page = tmp_path / "a.html"
    good = (
        '<a href="https://elsewhere.example">x</a> <a href="b.html#there">y</a> <img src="c.png">'
    )
    page.write_text(good, encoding="utf-8")
    assert not builder.outside_requests(tmp_path) and not builder.dead_links(tmp_path)
    page.write_text('<a href="b.html#gone">x</a> <a href="c.html">y</a>', encoding="utf-8")
    assert len(builder.dead_links(tmp_path)) == 2


def test_the_site_has_every_page_of_the_docs(site: Path) -> None:
    gathered = site.parent / "build" / "docs"
    written = {path.relative_to(gathered) for path in gathered.rglob("*.md")}
    assert {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")} < written
    missing = [page for page in written if not (site / page.with_suffix(".html")).is_file()]
    assert not missing
    menu = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    unlisted = [page for page in written if f'"{page.as_posix()}"' not in menu]
    assert not unlisted, "give each page its place in zensical.toml"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


PAGE_FAULTS = """() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : []),
  ...(document.querySelector("h1") ? [] : ["no heading"]),
  ...[...document.images].filter((one) => !one.naturalWidth).map((one) => `broken: ${one.src}`),
]"""


@needs_chromium
def test_every_page_in_a_browser(site: Path, address: str) -> None:
    asked: list[str] = []
    with started_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        said = complaints(page)
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site).as_posix()
            page.goto(address + name)
            assert not page.evaluate(PAGE_FAULTS), name
        page.goto(address + "language.html")
        assert page.locator("pre .s2, pre .mi, pre .nb").count() > 50, "RASP is not coloured"
        page.locator(".md-search__button").click()
        page.locator("input:visible").fill("selector_width")
        page.get_by_text(re.compile(r"^\d+ results")).wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/language.html*#the-library")
    outside = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert not outside
    assert not said


def test_a_link_to_the_playground_holds_its_snippet() -> None:
    links = script("playground_links")
    page = 'One.\n\n```rasp\n# a.rasp\nx = indices;\n```\n\nTwo.\n\n```rasp\n(x + 1)("ab");\n```\n'
    assert links.opened(page) == [
        ("x = indices;\n", "hello"),
        ('x = indices;\n\n(x + 1)("ab");\n', "ab"),
    ]
    found = re.findall(r'href="up/index.html#1\.([\w-]+)"', links.with_links(page, "up/"))
    kept = [
        json.loads(zlib.decompress(base64.urlsafe_b64decode(each + "=="), -15)) for each in found
    ]
    assert [(each["program"], each["example"]) for each in kept] == links.opened(page)


def test_every_snippet_of_the_learning_pages_opens_without_mistakes() -> None:
    for name in ("index", "start", "tutorial", "language", "coming-from"):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        right = re.sub(r"```rasp\n# mistaken.*?\n```", "", text, flags=re.DOTALL)
        for program, example in script("playground_links").opened(right):
            told = answer({"kind": "run", "program": program, "example": example})
            assert not told["errors"], program


def test_a_missing_page_offers_what_is_like_it(site: Path) -> None:
    text = (site / "404.html").read_text(encoding="utf-8")
    assert '"tutorial.html"' in text and 'data-page="start.html"' in text
    assert not re.search(r'(?:href|src)="/', text), "an absolute address breaks below a sub-path"


def test_the_site_is_ready_for_any_host(site: Path) -> None:
    assert (site / ".nojekyll").is_file()
    for path in site.rglob("*.html"):
        absolute = re.findall(r'(?:href|src)="(/[^/"][^"]*)"', path.read_text(encoding="utf-8"))
        assert not absolute, path
