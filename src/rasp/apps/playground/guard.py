"""Who may ask: requests in, refusals out where they come from a foreign page or have no token.

A page on any site can make a browser send requests to a server on loopback. What it cannot
forge are the Host and Origin headers: both must be ours. Another user of the machine can forge
everything but the token: it is in the address that `rasp play` prints, and then in a cookie.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_HOST = ("0.0.0.0", "::", "")
NO_TOKEN = "refused: open the whole address that `rasp play` printed, with its token\n"
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


LONGEST_TOKEN = 200


@dataclass
class Access:
    """Who may ask: under which names, with which token. Without a token, anybody may.

    `hosts` are the names that a Host header may give; None where any will do, which is safe with
    a token alone: a page under another name has not got the cookie.
    """

    hosts: frozenset[str] | None
    port: int
    token: str = ""
    tickets: set[str] = field(default_factory=set)
    """Each opens the page once; a browser is started with one, since others see its words."""

    @property
    def cookie(self) -> str:
        return f"rasp-play-{self.port}"  # cookies know no ports: two servers need two names

    def ticket(self) -> str:
        """Make a word that opens the page once."""
        word = secrets.token_urlsafe(24)
        self.tickets.add(word)
        return word

    def opens(self, word: str) -> bool:
        """Tell whether a word in an address opens the page; a ticket does so once."""
        if word in self.tickets:
            self.tickets.discard(word)
            return True
        return bool(word) and self.is_token(word)

    def is_token(self, word: str) -> bool:
        return secrets.compare_digest(word[:LONGEST_TOKEN].encode(), self.token.encode())


def access_for(host: str, port: int, names: Iterable[str], token: str) -> Access:
    """Return who may ask a server that listens on a host, and is known by some names."""
    own = () if host in ANY_HOST else (written(host),)
    reached_by = [*LOOPBACK, *own, *names, *(own_addresses() if host in ANY_HOST else ())]
    hosts = {f"{name}:{port}".lower() for name in reached_by}
    hosts |= {name.lower() for name in (*own, *names)}  # a proxy before us may hide the port
    return Access(None if token and host in ANY_HOST else frozenset(hosts), port, token)


def written(host: str) -> str:
    """A host as an address has it."""
    return f"[{host}]" if ":" in host else host


def own_addresses() -> list[str]:
    """The names by which others on the network reach this machine, the best first."""
    addresses = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address for examples: nothing is sent
        addresses.append(str(probe.getsockname()[0]))
    name = socket.gethostname()
    outside = [address for address in addresses if not address.startswith(("127.", "0."))]
    return [*outside, name, f"{name}.local"]


class Guard:
    """Lets requests pass that name our host, come from our own page, and have the token."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        request = Request(scope)
        answer: ASGIApp = self.app
        if reason := self.foreign(request.headers):
            answer = PlainTextResponse(f"refused: {reason}\n", 403)
        elif self.access.token and not self._has_cookie(request):
            answer = self._at_the_door(request)
        await answer(scope, receive, send_guarded)

    def foreign(self, headers: Headers) -> str:
        """Say why a request is not for us, or not from our page; nothing where it is fine."""
        hosts, origin = headers.getlist("host"), headers.get("origin")
        own_hosts = self.access.hosts
        if len(hosts) != 1 or (own_hosts is not None and hosts[0].lower() not in own_hosts):
            return "this playground answers to its own address alone"
        ours = {f"{scheme}://{host}" for host in own_hosts or hosts for scheme in ("http", "https")}
        if origin is not None and origin.lower() not in {address.lower() for address in ours}:
            return "this request comes from a foreign page"
        is_link = headers.get("sec-fetch-mode") == "navigate" and origin is None
        if not is_link and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "this request comes from a foreign page"
        return ""

    def _has_cookie(self, request: Request) -> bool:
        return self.access.is_token(request.cookies.get(self.access.cookie, ""))

    def _at_the_door(self, request: Request) -> ASGIApp:
        """Answer somebody without a cookie: with one where the address holds the token."""
        if request.method == "GET" and self.access.opens(request.query_params.get("token", "")):
            opened = RedirectResponse(request.url.path or "/", 303)
            opened.set_cookie(self.access.cookie, self.access.token, httponly=True, samesite="lax")
            return opened
        return PlainTextResponse(NO_TOKEN, 403)
