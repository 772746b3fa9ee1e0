"""Connections in, those that are being served out: how many, for how long, and who gives way.

A server that waits for ever for the rest of a request is a server that anybody can fill. Here a
request must arrive whole within seconds, and where all places are taken, whoever holds most of
them loses the one that has waited longest. What is being answered is never given up for others.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0
"""How long a request may take to arrive, from its connection or its first byte on."""
UNREAD_SECONDS = 30.0
"""How long an answer may wait to be read by whoever asked."""
MOST_CONNECTIONS = 1_000
OWN_FILES = 48
"""Files that the server itself keeps open: its workers' pipes, the listener, the loop."""
BACKLOG = 64
"""Connections that are accepted in one go."""


@dataclass
class Doorkeeper:
    """The connections there are; `most` at a time."""

    most: int = MOST_CONNECTIONS
    request_seconds: float = REQUEST_SECONDS
    open: dict[Connection, None] = field(default_factory=dict)
    """In the order in which they came."""

    def admit(self, newcomer: Connection) -> None:
        """Let a connection in; where there is no room, somebody gives way."""
        self.open[newcomer] = None
        if len(self.open) > self.most:
            self._gives_way(newcomer).leave()

    def _gives_way(self, newcomer: Connection) -> Connection:
        """The connection that waited longest, of those who hold most; else the newcomer."""
        waiting = [other for other in self.open if other.is_waiting and other is not newcomer]
        held = Counter(connection.address for connection in self.open)
        return max(waiting, key=lambda other: held[other.address], default=newcomer)

    async def watch(self) -> None:
        """End what takes too long, as long as the server runs."""
        while True:
            await asyncio.sleep(min(1.0, self.request_seconds / 4))
            now = time.monotonic()
            for connection in list(self.open):
                if connection.is_late(now, self.request_seconds):
                    connection.leave()


class Connection(H11Protocol):
    """One connection, as uvicorn serves it, that knows how long it has been waiting."""

    keeper: Doorkeeper

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.waits_since = time.monotonic()
        self.keeper.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.keeper.open.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_done:
            self.waits_since = time.monotonic()  # the first byte of another request
        super().data_received(data)

    @property
    def is_done(self) -> bool:
        """True where the last request was answered, and no other has begun."""
        return self.cycle is not None and self.cycle.response_complete

    @property
    def is_waiting(self) -> bool:
        """True where nothing is being answered: a request has not come, or not wholly."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def is_late(self, now: float, request_seconds: float) -> bool:
        """Tell whether this has taken too long; uvicorn itself ends what is idle after answers."""
        waited = now - self.waits_since
        if self.is_waiting:
            return not (self.is_done and self.timeout_keep_alive_task) and waited > request_seconds
        return self.flow.write_paused and waited > UNREAD_SECONDS

    def leave(self) -> None:
        """End this connection at once."""
        self.keeper.open.pop(self, None)
        self.transport.abort()


def connection_class(keeper: Doorkeeper) -> type[Connection]:
    """The class that uvicorn makes connections of, for one server."""
    return type("ServedConnection", (Connection,), {"keeper": keeper})


def places() -> tuple[int, int]:
    """How many connections the system lets us have open, and how many to accept in one go."""
    most, backlog = MOST_CONNECTIONS, BACKLOG
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_CONNECTIONS + OWN_FILES + 2 * BACKLOG
        if soft < wanted:
            allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
            soft = max(soft, allowed)
        backlog = max(1, min(BACKLOG, soft // 16))
        most = max(2, min(MOST_CONNECTIONS, soft - OWN_FILES - 2 * backlog))
    return most, backlog
