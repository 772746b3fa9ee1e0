"""The static edition: the folder is whole, and programs run inside the tab."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsing import needs_chromium, served, started_browser
from rasp.apps.playground.page_answers import answer
from repository import ROOT, script

from .pages import open_tab, row, write

pytestmark = [
    pytest.mark.slow,
    needs_chromium,
    pytest.mark.skipif(
        not (ROOT / "web" / "node_modules" / "pyodide").is_dir(),
        reason="scripts/build_web.py has not fetched Pyodide",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("static")
    script("build_web")
    script("build_static").build(place)
    yield place
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as found:
        yield found


def test_the_folder_holds_the_core_and_nothing_of_the_server(folder: Path) -> None:
    names = zipfile.ZipFile(folder / "rasp.zip").namelist()
    assert (
        "rasp/language/meaning/library.rasp" in names
        and "rasp/teaching/gallery/reverse.rasp" in names
    )
    assert not [name for name in names if "compiler" in name or "server" in name]
    assert "Content-Security-Policy" in (folder / "index.html").read_text()


def test_programs_run_inside_the_tab(address: str) -> None:
    with started_browser() as browser:
        for tab in open_tab(browser, address, {"width": 1300, "height": 850}, patience=60_000):
            write(tab, "hist = selector_width(select(tokens, tokens, ==));", "aab")
            tab.wait_for_selector("#example-note:text-is('3 tokens')", timeout=60_000)
            assert row(tab, "hist") == ["2", "2", "1"]
            tab.click("#tab-weights")
            assert "rasp play" in tab.locator("#weights").inner_text()
            tab.click("#tab-learn")
            tab.locator(".exercises button").first.click()
            tab.click("#check")
            tab.wait_for_selector("#lesson .verdict.no")
            tab.click("#tab-flow")
            tab.locator("summary", has_text="Generate").click()
            tab.click("#generate-step")
            tab.wait_for_selector("#generated:has-text('appended')", timeout=60_000)
            assert tab.locator("#embed").is_visible()


def test_first_values_do_not_wait_for_python(address: str) -> None:
    with started_browser() as browser:
        page = browser.new_page()
        page.route("**/*.wasm", lambda route: None)  # Python never arrives
        page.goto(address)
        page.wait_for_selector("table.values tr:has-text('hist') td:has-text('2')")
        assert row(page, "hist") == ["1", "1", "2", "2", "1"]
        assert page.locator("#loading").get_attribute("aria-label") == "Python is loading"
        page.locator("table.values tr:has-text('hist') td").nth(2).click()
        page.wait_for_selector("#cell-story:has-text('looks at 2 and 3')")
        page.close()


def test_the_second_visit_needs_no_network(folder: Path) -> None:
    with started_browser() as browser:
        context = browser.new_context()
        page = context.new_page()
        with served(folder) as address:
            page.goto(address)
            page.wait_for_selector("#loading", state="detached", timeout=60_000)
            kept = """async () => {
              const late = new Promise((_, fail) => setTimeout(fail, 60_000, "no worker"));
              const { active } = await Promise.race([navigator.serviceWorker.ready, late]);
              const later = (done) => setTimeout(done, 50);
              while (active.state !== "activated") await new Promise(later);
            }"""
            page.evaluate(kept)
        page.goto(address)  # nobody serves it any more
        write(page, "hist = selector_width(select(tokens, tokens, ==));", "aab")
        page.wait_for_selector("#example-note:text-is('3 tokens')", timeout=60_000)
        assert row(page, "hist") == ["2", "2", "1"]
        context.close()


def test_the_last_run_is_there_at_once_on_the_next_visit(address: str) -> None:
    with started_browser() as browser:
        context = browser.new_context(service_workers="block")
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-shown]")
        write(page, "hist = selector_width(select(tokens, tokens, ==));", "aab")
        page.wait_for_selector("#example-note:text-is('3 tokens')", timeout=60_000)
        page.wait_for_timeout(600)  # the address takes the program over
        again = context.new_page()
        again.route("**/*.wasm", lambda route: None)  # Python never arrives
        again.goto(page.url)
        again.wait_for_selector("#example-note:text-is('3 tokens')")
        assert row(again, "hist") == ["2", "2", "1"]
        context.close()


def test_an_early_answer_is_what_python_answers(folder: Path) -> None:
    early = script("early_answers")
    for path in sorted((folder / "early").glob("*.json"))[:12]:
        kept = json.loads(path.read_text())
        if path.name == "index.json":
            continue
        kind, *fields = json.loads(kept["key"])
        assert path.stem == early.file_of(kept["key"])
        assert kept["answer"] == json.loads(json.dumps(answer({"kind": kind, **dict(fields)})))
