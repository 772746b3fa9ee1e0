"""The server in a room with others: who is let in, who gives way, and how little it says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `play` is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra `play` is not installed")

from rasp.apps.cli import main  # noqa: E402
from rasp.apps.playground.connections import Doorkeeper, connection_class  # noqa: E402
from rasp.apps.playground.guard import access_for  # noqa: E402
from rasp.apps.playground.logs import Quiet  # noqa: E402
from rasp.apps.playground.server import client_of  # noqa: E402

from .conftest import Playground, playing  # noqa: E402

pytestmark = pytest.mark.slow

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


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
        served.errors.seek(0)
        [line] = served.errors.read().splitlines()
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


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))


def test_half_sent_headers_and_few_files_keep_nobody_out() -> None:
    for served in playing(preexec_fn=few_files):
        with contextlib.ExitStack() as opened:
            for _ in range(300):
                half = opened.enter_context(socket.create_connection(("127.0.0.1", served.port)))
                with contextlib.suppress(OSError):
                    half.sendall(HALF)
            told = served.ask("run", program="x = indices;", example="ab", tab="a student")
            assert told["errors"] == []
        served.errors.seek(0)
        assert len(served.errors.read().splitlines()) < 5


def test_what_is_no_http_is_logged_once(playground: Playground) -> None:
    for served in playing():
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", served.port)) as other:
                other.sendall(b"\x16\x03\x01 hello\r\n\r\n")
                other.recv(100)
        served.errors.seek(0)
        assert len(served.errors.read().splitlines()) <= 1


def test_half_a_character_in_a_program_is_answered(playground: Playground) -> None:
    told = playground.ask("run", program='x = "\ud800";', example="a\udfff")
    assert "rows" in told


async def _answer_slowly(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the whole request, and answers after a while."""
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


def with_server(keeper: Doorkeeper, act: Callable[[int], Awaitable[None]]) -> None:
    """Serve the slow application for the time of an act."""

    async def run() -> None:
        config = uvicorn.Config(
            _answer_slowly, log_config=None, lifespan="off", http=connection_class(keeper),
            ws="none",
        )  # fmt: skip
        server = uvicorn.Server(config)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            serving = asyncio.ensure_future(server.serve(sockets=[listening]))
            watching = asyncio.ensure_future(keeper.watch())
            while not server.started:
                await asyncio.sleep(0.01)
            await act(listening.getsockname()[1])
            server.should_exit = True
            await serving
            watching.cancel()

    asyncio.run(run())


@pytest.mark.parametrize(
    "sent", [b"", HALF, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"]
)
def test_a_request_that_does_not_arrive_is_given_up(sent: bytes) -> None:
    async def act(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await asyncio.wait_for(_all_of(reader), 20) == b""
        writer.close()

    with_server(Doorkeeper(request_seconds=0.2), act)


def test_an_answer_that_takes_longer_than_a_request_may_is_still_given() -> None:
    async def act(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert b"done" in await asyncio.wait_for(_all_of(reader), 20)
        writer.close()

    with_server(Doorkeeper(request_seconds=0.1), act)


def test_where_there_is_no_room_the_oldest_that_waits_gives_way() -> None:
    async def act(port: int) -> None:
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        await asyncio.sleep(0.1)
        assert [reader.at_eof() for reader, _ in pairs] == [True, False, False, False]
        for _, writer in pairs:
            writer.close()

    with_server(Doorkeeper(most=3), act)


async def _all_of(reader: asyncio.StreamReader) -> bytes:
    with contextlib.suppress(ConnectionResetError):
        return await reader.read()
    return b""


def test_a_complaint_is_printed_once_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, now = Quiet(), 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for _ in range(1000):
        handler.emit(logging.makeLogRecord({"msg": "bad request \x1b[31m"}))
    now = 61.0
    handler.emit(logging.makeLogRecord({"msg": "bad request \x1b[31m"}))
    first, second = capsys.readouterr().err.splitlines()
    assert "999 more" in second and "\x1b" not in first


def test_turns_are_taken_by_address_on_a_network_and_by_tab_at_home() -> None:
    from starlette.requests import Request

    def from_address(address: str) -> Any:
        return Request({"type": "http", "client": (address, 1), "headers": []})

    assert client_of(from_address("127.0.0.1"), "tab") == "tab"
    assert client_of(from_address("10.0.0.7"), "tab") == "10.0.0.7"
