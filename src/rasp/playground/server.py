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
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rasp.drawing.html import why_script
from rasp.playground.budgets import BUDGETS, LARGEST_REQUEST, LONG, QUICK
from rasp.playground.guard import Guard
from rasp.playground.lanes import Lanes
from rasp.playground.pictures import style_sheet

QUICK_WORKERS = 3
SLOW_WORKERS = 2
LONGEST_TAB = 64
RECORDS = Path("results", "records.jsonl")
"""Where trained models are recorded, seen from where the playground was started."""


@dataclass(frozen=True)
class Start:
    """What the page begins with: a file's name and text, if one was given."""

    name: str = ""
    program: str = ""


def make_app(port: int, start: Start | None = None, names: tuple[str, ...] = ()) -> Starlette:
    """Make the application for one address."""
    quick, slow = Lanes(QUICK_WORKERS, QUICK), Lanes(SLOW_WORKERS, LONG)
    known = start or Start()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with quick.sandbox, slow.sandbox:
            quick.sandbox.start()
            slow.sandbox.start()
            yield

    async def ask(request: Request) -> Response:
        asked = await _read(request)
        kind = request.path_params["kind"]
        if kind not in BUDGETS:
            raise HTTPException(404, "there is no such request")
        tab = str(asked.pop("tab", ""))[:LONGEST_TAB]
        lanes = slow if BUDGETS[kind].is_slow else quick
        lane = f"{tab} {kind}" if tab else ""
        own = {"kind": kind, "records": str(RECORDS.absolute())}
        return JSONResponse(await lanes.ask(asked | own, tab, lane))

    async def begin(request: Request) -> Response:
        beginning = {"name": known.name, "program": known.program, "edition": "server"}
        return JSONResponse(beginning | {"has_editor": has_editor()})

    return Starlette(
        routes=[
            Route("/", _file),
            Route("/drawing.css", _drawing_style),
            Route("/drawing.js", _drawing_script),
            Route("/start", begin),
            Route("/ask/{kind}", ask, methods=["POST"]),
            Route("/{path:path}", _file),
        ],
        middleware=[Middleware(Guard, names=names, port=port)],
        lifespan=lifespan,
    )


def has_editor() -> bool:
    """Tell whether CodeMirror was bundled; the page has a plain text area without it."""
    return files("rasp.playground").joinpath("static", "bundle", "editor.js").is_file()


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
    place = files("rasp.playground").joinpath("static")
    for part in parts:
        if part not in {each.name for each in place.iterdir()} if place.is_dir() else ():
            raise HTTPException(404, "there is no such page")
        place = place.joinpath(part)
    if not place.is_file():
        raise HTTPException(404, "there is no such page")
    kind = mimetypes.guess_type(parts[-1])[0] or "application/octet-stream"
    return Response(place.read_bytes(), media_type=kind)


async def _drawing_style(request: Request) -> Response:
    return Response(style_sheet(), media_type="text/css")


async def _drawing_script(request: Request) -> Response:
    return Response(why_script(), media_type="text/javascript")


class _Server(uvicorn.Server):
    """Says when it serves, and not before: from then on Ctrl-C ends it in good order."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.when_ready()


def serve(
    start: Start,
    host: str,
    port: int,
    names: tuple[str, ...],
    when_ready: Callable[[str], None],
) -> None:
    """Serve until interrupted; `when_ready` is told the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        port = listening.getsockname()[1]
        written = f"[{host}]" if ":" in host else host
        own = () if host in ("0.0.0.0", "::") else (written,)
        app = make_app(port, start, (*own, *names))
        config = uvicorn.Config(app, log_level="warning", lifespan="on", access_log=False)
        address = f"http://{written}:{port}/"
        asyncio.run(_Server(config, lambda: when_ready(address)).serve(sockets=[listening]))
