"""A playground that runs for the tests, as `rasp play` starts it, and how to ask it things."""

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Playground:
    """A server at an address."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request as it is; return the status, the headers and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
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
    pytest.importorskip("uvicorn", reason="the extra `play` is not installed")
    yield from playing()


def playing(*words: str) -> Iterator[Playground]:
    """Run `rasp play` for a while."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rasp", "play", "--no-browser", *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        told = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert told is not None
        yield Playground(int(told.group(1)))
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()
