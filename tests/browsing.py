"""A browser for tests, and a folder served to it from this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")


@contextmanager
def started_browser() -> Iterator[Any]:
    """Start Chromium, and end it; skip the test where playwright is not installed."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def complaints(page: Any) -> list[str]:
    """The errors and warnings of a page, as they come.

    What the browser itself remarks for information is left out: whether it says that a field
    in the search box did not take the focus depends on how fast the page loads.
    """
    said: list[str] = []
    page.on(
        "console",
        lambda message: None if message.type == "info" else said.append(message.text),
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and give the address it is at."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
