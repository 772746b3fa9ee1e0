"""A playground that runs for the tests, as `rasp play` starts it, and how to ask it things."""

import http.client
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import pytest

from browsing import started_browser

from .pages import open_tab

ADDRESS = r"http://([^:/]+):(\d+)/(?:\?token=([\w-]+))?"


@dataclass(frozen=True)
class Playground:
    """A server at an address."""

    port: int
    token: str
    errors: IO[str]
    """What the server complains of."""
    host: str = "127.0.0.1"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request as a browser that was let in; return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        cookie = {"cookie": f"rasp-play-{self.port}={self.token}"}
        named = cookie | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        content = response.read()
        connection.close()
        return response.status, found, content

    def ask(self, kind: str, **asked: Any) -> dict[str, Any]:
        """Ask as the page does."""
        body = json.dumps(asked).encode()
        status, _, content = self.request(
            "POST", f"/ask/{kind}", body, content_type="application/json"
        )
        assert status == 200, content
        answer: dict[str, Any] = json.loads(content)
        return answer


@pytest.fixture(scope="session")
def playground() -> Iterator[Playground]:
    pytest.importorskip("starlette", reason="the extra `play` is not installed")
    pytest.importorskip("hypercorn", reason="the extra `play` is not installed")
    yield from playing()


def playing(*words: str, **more: Any) -> Iterator[Playground]:
    """Run `rasp play` for a while."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "rasp", "play", "--no-browser", *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            **more,
        )
        assert process.stdout is not None
        try:
            told = re.search(ADDRESS, process.stdout.readline())
            assert told is not None
            yield Playground(int(told.group(2)), told.group(3) or "", errors, told.group(1))
        finally:
            process.terminate()
            process.wait(10)
            process.stdout.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def tab(browser: Any, playground: Playground) -> Iterator[Any]:
    """A fresh page; it may ask nobody but its own server, and must log nothing."""
    yield from open_tab(browser, playground.address, {"width": 1300, "height": 850})


@pytest.fixture
def phone(browser: Any, playground: Playground) -> Iterator[Any]:
    yield from open_tab(browser, playground.address, {"width": 390, "height": 800})
