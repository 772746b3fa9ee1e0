"""The playground's server: one page, its files, and requests handed to worker processes."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rasp.apps.playground.budgets import LARGEST_REQUEST, LONG, QUICK, SLOW
from rasp.apps.playground.connections import Doorkeeper, connection_class, places
from rasp.apps.playground.flow_pictures import style_sheet
from rasp.apps.playground.guard import ANY_HOST, Access, Guard, access_for, own_addresses, written
from rasp.apps.playground.lanes import Lanes
from rasp.apps.playground.logs import be_quiet, tell_quietly
from rasp.insight.drawing import html

QUICK_WORKERS, RESERVED = 4, 2
"""Of those that answer while somebody types, some are kept for programs that are not runaways."""
SLOW_WORKERS = 2
LONGEST_TAB = 64
QUEUE = 1024
"""Connections that the system keeps until they are accepted."""
RECORDS = Path("results", "records.jsonl")
"""Where trained models are recorded, seen from where the playground was started."""


@dataclass(frozen=True)
class Start:
    """What the page begins with: a file's name and text, if one was given."""

    name: str = ""
    program: str = ""


class _Answering:
    """Worker processes, and the requests that they are asked."""

    def __init__(self, start: Start, keeper: Doorkeeper) -> None:
        self.start, self.keeper = start, keeper
        self.quick, self.slow = Lanes(QUICK_WORKERS, QUICK, RESERVED), Lanes(SLOW_WORKERS, LONG)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        with self.quick.sandbox, self.slow.sandbox:
            self.quick.sandbox.start()
            self.slow.sandbox.start()
            asyncio.get_running_loop().set_exception_handler(tell_quietly)
            watching = asyncio.ensure_future(self.keeper.watch())
            yield
            watching.cancel()

    async def ask(self, request: Request) -> Response:
        asked = await _read(request)
        kind = request.path_params["kind"]
        tab = str(asked.pop("tab", ""))[:LONGEST_TAB]
        lanes = self.slow if kind in SLOW else self.quick
        lane = f"{tab} {kind}" if tab else ""
        own = {"kind": kind, "records": str(RECORDS.absolute())}
        return as_json(await lanes.ask(asked | own, client_of(request, tab), lane))

    async def begin(self, request: Request) -> Response:
        beginning = {"name": self.start.name, "program": self.start.program, "edition": "server"}
        return as_json(beginning | {"has_editor": has_editor()})


def make_app(
    access: Access, start: Start | None = None, keeper: Doorkeeper | None = None
) -> Starlette:
    """Make the application: who may use it, what it begins with, who watches its connections."""
    answering = _Answering(start or Start(), keeper or Doorkeeper())
    return Starlette(
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


def client_of(request: Request, tab: str) -> str:
    """Who takes turns: an address on the network; on this machine alone, each tab for itself."""
    address = request.client.host if request.client else ""
    return tab if address in ("127.0.0.1", "::1", "") else address


def as_json(answer: dict[str, Any]) -> Response:
    """Return an answer as ASCII: half a character, which a program may hold, is not UTF-8."""
    return Response(json.dumps(answer, separators=(",", ":")), media_type="application/json")


def has_editor() -> bool:
    """Tell whether CodeMirror was bundled; the page has a plain text area without it."""
    return files("rasp.apps.playground").joinpath("static", "bundle", "editor.js").is_file()


async def _read(request: Request) -> dict[str, Any]:
    """Read a request's JSON, and refuse it early where it is too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "a request is JSON")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_REQUEST:
            raise HTTPException(413, f"a request has at most {LARGEST_REQUEST:,} bytes")
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(asked, dict):
        raise HTTPException(400, "a request is a JSON object")
    return asked


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


class _Server(uvicorn.Server):
    """Says when it serves, and not before: from then on Ctrl-C ends it in good order."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(QUEUE)  # asyncio takes few at a time; the others wait in the system
        if self.started:
            self.when_ready()


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
    with socket.create_server((host, port), family=family) as listening:
        port = listening.getsockname()[1]
        access = access_for(host, port, names, token)
        most, backlog = places()
        keeper = Doorkeeper(most)
        config = uvicorn.Config(
            make_app(access, start, keeper), lifespan="on", access_log=False, log_config=None,
            http=connection_class(keeper), ws="none", backlog=backlog, timeout_keep_alive=15,
        )  # fmt: skip
        be_quiet()
        reached = names[0] if names else own_addresses()[0] if host in ANY_HOST else written(host)
        address = f"http://{reached}:{port}/"
        told = [f"{address}?token={word}" if token else address
                for word in (token, access.ticket())]  # fmt: skip
        asyncio.run(_Server(config, lambda: when_ready(*told)).serve(sockets=[listening]))
