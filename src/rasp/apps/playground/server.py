"""The playground's server: one page, its files, and requests handed to worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import mimetypes
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from hypercorn.asyncio import serve as serve_with_hypercorn
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from rasp.apps.playground.budgets import LARGEST_REQUEST, LONG, QUICK, SLOW
from rasp.apps.playground.flow_pictures import style_sheet
from rasp.apps.playground.guard import ANY_HOST, Access, Guard, access_for, own_addresses, written
from rasp.apps.playground.lanes import Lanes
from rasp.base.installing import install_command
from rasp.insight.drawing import html

QUICK_WORKERS, SLOW_WORKERS = 4, 2
LONGEST_TAB = 64
QUEUE = 1024
"""Connections that the system keeps until they are accepted."""
MOST_FILES = 4096
"""Files, connections among them, that the server asks the system for."""
HEADER_SECONDS, BODY_SECONDS = 5, 10
"""How long the two parts of a request may take to arrive; an idle connection has as long."""
ANSWER_SECONDS = 90
"""How long a client may be silent: longer than any answer takes."""
RECORDS = Path("results", "records.jsonl")
"""Where trained models are recorded, seen from where the playground was started."""


@dataclass(frozen=True)
class Start:
    """What the page begins with: a file's name and text, if one was given."""

    name: str = ""
    program: str = ""


class _Answering:
    """Worker processes, and the requests that they are asked."""

    def __init__(self, start: Start, when_ready: Callable[[], None]) -> None:
        self.start, self.when_ready = start, when_ready
        self.quick, self.slow = Lanes(QUICK_WORKERS, QUICK), Lanes(SLOW_WORKERS, LONG)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        with self.quick.sandbox, self.slow.sandbox:
            self.quick.sandbox.start()
            self.slow.sandbox.start()
            self.when_ready()
            yield

    def give_up(self) -> None:
        """Answer whatever is under way with an error."""
        self.quick.sandbox.close()
        self.slow.sandbox.close()

    async def ask(self, request: Request) -> Response:
        asked = await _read(request)
        kind = request.path_params["kind"]
        tab = str(asked.pop("tab", ""))[:LONGEST_TAB]
        lanes = self.slow if kind in SLOW else self.quick
        address = request.client.host if request.client else ""
        own = {"kind": kind, "records": str(RECORDS.absolute())}
        return as_json(await lanes.ask(asked | own, address, f"{tab} {kind}" if tab else ""))

    async def begin(self, request: Request) -> Response:
        beginning = {"name": self.start.name, "program": self.start.program, "edition": "server"}
        return as_json(beginning | {"without_editor": without_editor()})


def make_app(
    access: Access, start: Start | None = None, when_ready: Callable[[], None] = lambda: None
) -> Starlette:
    """Make the application: who may use it, what it begins with, whom it tells that it works."""
    answering = _Answering(start or Start(), when_ready)
    app = Starlette(
        routes=[
            Route("/", _file),
            Route("/drawing.css", _drawing_style),
            Route("/drawing.js", _drawing_script),
            Route("/start", answering.begin),
            Route("/ask/{kind}", answering.ask, methods=["POST"]),
            Route("/{path:path}", _file),
        ],
        middleware=[Middleware(Guard, access=access)],
        lifespan=answering.lifespan,
    )
    app.state.give_up = answering.give_up
    return app


def as_json(answer: dict[str, Any]) -> Response:
    """Return an answer as ASCII: half a character, which a program may hold, is not UTF-8."""
    return Response(json.dumps(answer, separators=(",", ":")), media_type="application/json")


def without_editor() -> str:
    """Say what is missing, and how to get it, where CodeMirror was not bundled."""
    if files("rasp.apps.playground").joinpath("static", "bundle", "editor.js").is_file():
        return ""
    return (
        "rasp was installed without node and npm, so the page has a plain text area. For the "
        f"editor, install both (https://nodejs.org), and then rasp again: {install_command('play')}"
    )


async def _read(request: Request) -> dict[str, Any]:
    """Read a request's JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "a request is JSON")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = b"".join([part async for part in _small(request)])
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(408, "a request arrives within seconds") from None
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(asked, dict):
        raise HTTPException(400, "a request is a JSON object")
    return asked


async def _small(request: Request) -> AsyncIterator[bytes]:
    """Give the parts of a request, and refuse it early where it is too large."""
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_REQUEST:
            raise HTTPException(413, f"a request has at most {LARGEST_REQUEST:,} bytes")
        yield part


async def _file(request: Request) -> Response:
    """Give one file of the page; nothing outside its folder has a name here."""
    parts = (request.path_params.get("path") or "index.html").split("/")
    place = files("rasp.apps.playground").joinpath("static")
    for part in parts:
        if part not in {entry.name for entry in place.iterdir()} if place.is_dir() else ():
            raise HTTPException(404, "there is no such page")
        place = place.joinpath(part)
    if not place.is_file():
        raise HTTPException(404, "there is no such page")
    kind = mimetypes.guess_type(parts[-1])[0] or "application/octet-stream"
    return Response(place.read_bytes(), media_type=kind)


async def _drawing_style(request: Request) -> Response:
    return Response(style_sheet(), media_type="text/css")


async def _drawing_script(request: Request) -> Response:
    return Response(html.scripts(), media_type="text/javascript")


def serve(
    start: Start,
    host: str,
    port: int,
    names: tuple[str, ...],
    when_ready: Callable[[str, str], None],
    token: str = "",
) -> None:
    """Serve until interrupted. `when_ready` is told the address, and one that opens it once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=QUEUE) as listening:
        port = listening.getsockname()[1]
        access = access_for(host, port, names, token)
        reached = names[0] if names else own_addresses()[0] if host in ANY_HOST else written(host)
        address = f"http://{reached}:{port}/"
        told = [f"{address}?token={word}" if token else address
                for word in (token, access.ticket())]  # fmt: skip
        app = make_app(access, start, lambda: when_ready(*told))
        raise_file_limit()
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # an attack must not fill the log
        ended_by = asyncio.run(_serve_until_signal(app, settings(listening)))
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt


async def _serve_until_signal(app: Starlette, config: Config) -> int:
    """Serve until Ctrl-C or a request to end; what is still being answered is given up."""
    ended_by: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def signalled() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(RuntimeError):  # Windows: Ctrl-C cancels all of this
                asyncio.get_running_loop().add_signal_handler(number, end, number)
        await ended_by
        app.state.give_up()

    def end(number: int) -> None:
        if not ended_by.done():
            ended_by.set_result(number)

    await serve_with_hypercorn(app, config, shutdown_trigger=signalled)  # type: ignore[arg-type]
    return await ended_by


def settings(listening: socket.socket) -> Config:
    """What the server is to do with clients that are slow, silent or too many."""
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.backlog = QUEUE
    config.keep_alive_timeout, config.read_timeout = HEADER_SECONDS, ANSWER_SECONDS
    config.loglevel = "ERROR"
    config.include_server_header = False
    return config


def raise_file_limit() -> None:
    """Ask the system for as many open files as a class needs, where it lets us."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
