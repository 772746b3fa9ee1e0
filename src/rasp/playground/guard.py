"""Who may ask: requests in, refusals out where they come from a foreign page or are too large.

A page on any site can make a browser send requests to a server on loopback. What it cannot
forge are the Host and Origin headers: both must be ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Lets requests pass that name one of our hosts and come from our own page."""

    def __init__(self, app: ASGIApp, names: Iterable[str], port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}".lower() for name in (*LOOPBACK, *names)}
        self.hosts |= {name.lower() for name in names}  # a proxy before us may hide the port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        reason = self.refusal(Headers(scope=scope))
        if reason:
            await PlainTextResponse(reason + "\n", 403)(scope, receive, send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def refusal(self, headers: Headers) -> str:
        """Say why a request is refused; nothing where it is not."""
        if headers.getlist("host") not in ([host] for host in self.hosts):
            return "refused: this playground answers to its own address alone"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins():
            return "refused: this request comes from a foreign page"
        is_link = headers.get("sec-fetch-mode") == "navigate" and origin is None
        if not is_link and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "refused: this request comes from a foreign page"
        return ""

    def _origins(self) -> set[str]:
        return {f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https")}
