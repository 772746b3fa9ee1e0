"""The server: who may ask, how much, and what a runaway program does to the others."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rasp.apps.cli import main

from .conftest import Playground, playing

pytestmark = pytest.mark.slow

HIST = "hist = selector_width(select(tokens, tokens, ==));"
ENDLESS = "def f(x) { return f(x + 1) + f(x + 2); }\ny = [f(n) for n in range(1000)];"
SLOW = (
    "a = range(2000);\nfor x in a { for y in a { z = [x, y, x * y]; } }",
    "x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }",
)
JSON = "application/json"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1:1"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_foreign_host_or_origin_is_refused(
    playground: Playground, headers: dict[str, str], method: str
) -> None:
    body = json.dumps({"program": HIST, "example": "ab"}).encode() if method == "POST" else None
    path = "/ask/run" if method == "POST" else "/"
    status, _, content = playground.request(method, path, body, content_type=JSON, **headers)
    assert status == 403 and b"refused" in content


def test_our_own_page_is_answered(playground: Playground) -> None:
    body = json.dumps({"program": HIST, "example": "ab"}).encode()
    for host in ("127.0.0.1", "localhost"):
        named = f"{host}:{playground.port}"
        status, _, _ = playground.request(
            "POST", "/ask/run", body, content_type=JSON, host=named, origin=f"http://{named}",
            sec_fetch_site="same-origin",
        )  # fmt: skip
        assert status == 200


def test_every_answer_carries_a_strict_policy(playground: Playground) -> None:
    for path in ("/", "/main.js", "/nothing-here", "/start"):
        _, headers, _ = playground.request("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/../server.py", "/%2e%2e/server.py", "/bundle/../../server.py", "//etc/passwd", "/.", "/.."],
)
def test_nothing_outside_the_page_is_served(playground: Playground, path: str) -> None:
    status, _, content = playground.request("GET", path)
    assert status == 404 and b"import" not in content


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{" + b" " * 1_100_000 + b"}", JSON, 413),
        (b"{}", "text/plain", 415),
        (b"{]", JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"[1]", JSON, 400),
    ],
)
def test_requests_that_are_none_are_refused(
    playground: Playground, body: bytes, kind: str, status: int
) -> None:
    found, _, _ = playground.request("POST", "/ask/run", body, content_type=kind)
    assert found == status
    assert playground.ask("run", program=HIST, example="ab")["errors"] == []


def errors_of(told: dict[str, Any]) -> list[dict[str, Any]]:
    one = told.get("error") or told.get("example_error")
    return [one] if one else told["errors"]


@pytest.mark.parametrize(
    ("program", "example"),
    [
        ("x = range(10 ^ 9);", "ab"),
        ("def f(x) { return f(x); }\ny = f(1);", "ab"),
        (ENDLESS, "ab"),
        (HIST, "a" * 100_000),
        ("x = " + "(" * 50_000 + "1" + ")" * 50_000 + ";", "ab"),
        *((program, "ab") for program in SLOW),
    ],
    ids=["range", "recursion", "branching", "example", "nesting", "loops", "numbers"],
)
def test_a_hostile_program_gets_a_friendly_message(
    playground: Playground, program: str, example: str
) -> None:
    told = playground.ask("run", program=program, example=example, tab="hostile")
    found = errors_of(told)
    assert found and all(error["message"] and error["hint"] for error in found)
    assert "Traceback" not in str(told) and "Error" not in str(found)


def test_a_runaway_program_does_not_block_another_tab(playground: Playground) -> None:
    begun = 0

    def run_away() -> None:
        nonlocal begun
        for _ in range(3):
            begun += 1
            playground.ask("run", program=SLOW[1], example="ab", tab="away")

    thread = threading.Thread(target=run_away)
    thread.start()
    answered_during_one = False
    while thread.is_alive():
        before = begun
        assert playground.ask("run", program=HIST, example="hello", tab="calm")["errors"] == []
        answered_during_one |= before == begun > 0 and thread.is_alive()
        time.sleep(0.01)
    assert answered_during_one


def test_typing_on_replaces_what_is_still_running(playground: Playground) -> None:
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(playground.ask, "run", program=SLOW[1], example="ab", tab="typing")
        time.sleep(0.3)
        second = playground.ask("run", program=HIST, example="ab", tab="typing")
        told = first.result()
    assert second["errors"] == []
    assert told == {"replaced": True} or errors_of(told)


def test_many_requests_at_once_are_all_answered(playground: Playground) -> None:
    def ask(number: int) -> bool:
        told = playground.ask("run", program=f"x = indices + {number};", example="abc")
        return bool(told["plan"]["strips"][told["rows"][0]["strip"]]["values"][0] == str(number))

    with ThreadPoolExecutor(200) as pool:
        assert all(pool.map(ask, range(200)))


def test_the_command_serves_a_file_to_begin_with(tmp_path: Path) -> None:
    path = tmp_path / "mine.rasp"
    path.write_text("mine = indices;")
    for served in playing(str(path)):
        _, _, content = served.request("GET", "/start")
        told = json.loads(content)
        assert (told["name"], told["program"]) == ("mine.rasp", "mine = indices;")


def test_a_port_that_is_taken_is_told_in_words(
    playground: Playground, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "--no-browser", "--port", str(playground.port)]) == 2
    assert "cannot listen" in capsys.readouterr().err


def test_a_port_that_cannot_be_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--no-browser", "--port", "99999"]) == 2
    assert "there is no port 99999\nhint: a port is a number up to 65535" in capsys.readouterr().err


def test_play_says_that_its_editor_was_not_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rasp.apps.playground.server.without_editor", lambda: "install node")
    monkeypatch.setattr("rasp.apps.playground.server.serve", lambda *given: None)
    assert main(["play", "--no-browser"]) == 0
    assert "note: install node" in capsys.readouterr().err
