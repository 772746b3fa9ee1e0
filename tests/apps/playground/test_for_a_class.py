"""The server in a room with others: who is let in, who waits for whom, and how little it says."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import time

import pytest

pytest.importorskip("starlette", reason="the extra `play` is not installed")
pytest.importorskip("hypercorn", reason="the extra `play` is not installed")

from rasp.apps.cli import main
from rasp.apps.playground.guard import access_for

from .conftest import Playground, playing

pytestmark = pytest.mark.slow

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = (
    b"POST /ask/run HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: rasp-play-PORT=TOKEN\r\n"
    b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
)
ENDLESS = "x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }"


def lines_of_complaint(served: Playground) -> list[str]:
    served.errors.seek(0)
    lines = served.errors.read().splitlines()
    return [line for line in lines if not line.startswith("note: ")]


# -- the token --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/start", "/main.js", "/?token=guess", "/start?token="])
def test_another_user_of_the_machine_is_told_nothing(playground: Playground, path: str) -> None:
    for cookie in ("", f"rasp-play-{playground.port}=guess", f"other={playground.token}"):
        status, _, content = playground.request("GET", path, cookie=cookie)
        assert status == 403 and b"rasp play" in content
        body = json.dumps({"program": "x = 1;", "example": "a"}).encode()
        kind = "application/json"
        status, _, _ = playground.request(
            "POST", "/ask/run", body, content_type=kind, cookie=cookie
        )
        assert status == 403


def test_the_address_that_was_printed_gives_a_cookie_and_forgets_the_token(
    playground: Playground,
) -> None:
    status, headers, _ = playground.request("GET", f"/?token={playground.token}", cookie="")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie
    given = headers["set-cookie"].partition(";")[0]
    assert playground.request("GET", "/start", cookie=given)[0] == 200


def test_a_ticket_opens_the_page_once() -> None:
    access = access_for("127.0.0.1", 1, (), "the-token")
    ticket = access.ticket()
    assert access.opens(ticket) and not access.opens(ticket)
    assert access.opens("the-token") and access.opens("the-token")
    assert not access.opens("") and not access.opens("the-token" * 100)


def test_for_others_the_address_is_right_and_a_warning_is_plain() -> None:
    for served in playing("--host", "0.0.0.0"):
        with contextlib.closing(socket.create_connection((served.host, served.port))) as reached:
            host = f"{served.host}:{served.port}"
            asked = f"GET /?token={served.token} HTTP/1.1\r\nHost: {host}\r\n\r\n"
            reached.sendall(asked.encode())
            assert reached.recv(100).startswith(b"HTTP/1.1 303")
        assert served.request("GET", "/start", host="any.name:80")[0] == 200
        assert served.request("GET", "/start", origin="http://evil.example")[0] == 403
        assert served.request("GET", "/start", cookie="")[0] == 403
        [line] = lines_of_complaint(served)
        assert line.startswith("warning: everybody who has the address below can run programs")


def test_without_a_token_only_known_names_are_answered() -> None:
    for served in playing("--no-token"):
        assert served.token == ""
        assert served.request("GET", "/start", cookie="")[0] == 200
        assert served.request("GET", "/start", host="evil.example")[0] == 403
        served.errors.seek(0)
        assert "every user of this machine" in served.errors.read()


def test_a_token_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--no-browser", "--token", "a b"]) == 2
    assert "not a token" in capsys.readouterr().err


# -- connections ------------------------------------------------------------------------------


def open_halves(opened: contextlib.ExitStack, port: int, count: int, half: bytes) -> None:
    """Open connections whose requests never end."""
    for number in range(count):
        address = (f"127.0.{number % 9}.1", 0)
        other = socket.create_connection(("127.0.0.1", port), source_address=address)
        opened.enter_context(other)
        with contextlib.suppress(OSError):
            other.sendall(half)


@pytest.mark.parametrize("half", [HALF, HALF_A_BODY])
def test_1300_half_sent_requests_leave_others_answered(half: bytes) -> None:
    for served in playing():
        with contextlib.ExitStack() as opened:
            own = half.replace(b"PORT", str(served.port).encode())
            own = own.replace(b"TOKEN", served.token.encode())
            open_halves(opened, served.port, 1300, own)
            told = served.ask("run", program="x = indices;", example="ab", tab="a student")
            assert told["errors"] == []
        assert lines_of_complaint(served) == []


def test_who_leaves_in_the_middle_of_a_body_is_not_logged() -> None:
    for served in playing():
        half = HALF_A_BODY.replace(b"PORT", str(served.port).encode())
        half = half.replace(b"TOKEN", served.token.encode())
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", served.port)) as other:
                other.sendall(half)
                time.sleep(0.2)  # so that the body is being read
        assert served.ask("run", program="x = indices;", example="ab", tab="b")["errors"] == []
        assert lines_of_complaint(served) == []


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))


def test_where_the_system_gives_few_files_others_wait_for_seconds() -> None:
    for served in playing(preexec_fn=few_files):
        with contextlib.ExitStack() as opened:
            open_halves(opened, served.port, 300, HALF)
            told = served.ask("run", program="x = indices;", example="ab", tab="a student")
            assert told["errors"] == []
        assert lines_of_complaint(served) == []


@pytest.mark.parametrize("half", [b"", HALF, HALF_A_BODY])
def test_a_request_that_does_not_arrive_is_given_up(playground: Playground, half: bytes) -> None:
    own = half.replace(b"PORT", str(playground.port).encode())
    own = own.replace(b"TOKEN", playground.token.encode())
    with socket.create_connection(("127.0.0.1", playground.port), timeout=30) as other:
        other.sendall(own)
        while other.recv(1000):
            pass


def test_what_is_no_http_is_not_logged() -> None:
    for served in playing():
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", served.port)) as other:
                other.sendall(b"\x16\x03\x01 hello\r\n\r\n")
                other.recv(100)
        assert lines_of_complaint(served) == []


def test_half_a_character_in_a_program_is_answered(playground: Playground) -> None:
    told = playground.ask("run", program='x = "\ud800";', example="a\udfff")
    assert "rows" in told


def test_tabs_that_an_address_makes_up_do_not_keep_others_waiting() -> None:
    """One address floods from many tabs; another one is answered before the flood is over."""
    for served in playing("--host", "0.0.0.0"):
        body = json.dumps({"program": ENDLESS, "example": "ab"})
        with contextlib.ExitStack() as opened:
            flood = []
            for number in range(60):
                asked = body[:-1] + f', "tab": "tab {number}"}}'
                flood.append(opened.enter_context(ask_from("127.0.0.9", served, asked)))
            time.sleep(0.5)
            calm = json.dumps({"program": "x = indices;", "example": "ab"})
            with ask_from("127.0.0.10", served, calm) as other:
                assert other.recv(100).startswith(b"HTTP/1.1 200")
            for each in flood:
                each.setblocking(False)
            assert sum(is_silent(each) for each in flood) > 30


def ask_from(address: str, served: Playground, body: str) -> socket.socket:
    """Send a request from an address of this machine, and do not wait for the answer."""
    other = socket.create_connection(
        ("127.0.0.1", served.port), timeout=60, source_address=(address, 0)
    )
    head = (
        f"POST /ask/run HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        f"Cookie: rasp-play-{served.port}={served.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    other.sendall((head + body).encode())
    return other


def is_silent(other: socket.socket) -> bool:
    try:
        other.recv(1)
    except BlockingIOError:
        return True
    return False
