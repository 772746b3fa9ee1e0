"""The static edition: the folder is whole, and programs run inside the tab."""

import importlib.util
import shutil
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from .test_in_browser import CHROMIUM, FLAGS, open_tab, row, sync_api, write

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
    pytest.mark.skipif(
        not (ROOT / "web" / "node_modules" / "pyodide").is_dir(),
        reason="scripts/build_web.py has not fetched Pyodide",
    ),
]


def script(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("static")
    script("build_web")
    script("build_static").build(place)
    yield place
    shutil.rmtree(place)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_folder_holds_the_core_and_nothing_of_the_server(folder: Path) -> None:
    names = zipfile.ZipFile(folder / "rasp.zip").namelist()
    assert "rasp/frontend/library.rasp" in names and "rasp/programs/reverse.rasp" in names
    assert not [name for name in names if "compiler" in name or "server" in name]
    assert "Content-Security-Policy" in (folder / "index.html").read_text()


def test_programs_run_inside_the_tab(address: str) -> None:
    with sync_api.sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for tab in open_tab(browser, address, {"width": 1300, "height": 850}, patience=60_000):
            write(tab, "hist = selector_width(select(tokens, tokens, ==));", "aab")
            tab.wait_for_selector("table.values tr:has-text('hist') td:has-text('2')")
            assert row(tab, "hist") == ["2", "2", "1"]
            tab.click("#tab-weights")
            assert "rasp play" in tab.locator("#weights").inner_text()
            tab.click("#tab-learn")
            tab.locator(".exercises button").first.click()
            tab.click("#check")
            tab.wait_for_selector("#lesson .verdict.no")
        browser.close()
