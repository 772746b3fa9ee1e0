"""Chooses whose request is next: turns are fair by the time that each client has used.

Some workers are reserved for clients that have nothing under way and whose requests were short
lately, so one client's endless programs delay nobody else's short one. What was used long ago is
forgotten.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

HALF_LIFE = 5.0
"""Seconds after which half of what a client has used is forgotten."""
SHORT = 0.25
"""Seconds of a request that count as short; what it takes beyond is remembered longer."""
LONG_HALF_LIFE = 60.0
"""Seconds after which half of what long requests took is forgotten."""
HEAVY = 0.5
"""Seconds beyond short requests from which a client leaves the reserved workers to the others."""
MOST_CLIENTS = 1_000
"""Clients whose use is remembered before those who used least are forgotten."""

Item = TypeVar("Item")


@dataclass
class _Client(Generic[Item]):
    waiting: deque[Item] = field(default_factory=deque)
    began: list[float] = field(default_factory=list)
    """When each request of this client that is being worked on began."""
    used: float = 0.0
    excess: float = 0.0
    """Seconds that requests took beyond what is short."""
    since: float = 0.0

    def use(self, now: float) -> float:
        """Seconds of work lately, what is under way included."""
        kept: float = self.used * 0.5 ** ((now - self.since) / HALF_LIFE)
        return kept + sum(now - began for began in self.began)

    def kept_excess(self, now: float) -> float:
        """What long requests took lately."""
        kept: float = self.excess * 0.5 ** ((now - self.since) / LONG_HALF_LIFE)
        return kept

    def is_light(self, now: float) -> bool:
        """Tell whether the reserved workers are for this client, too."""
        return not self.began and self.kept_excess(now) <= HEAVY


class Turns(Generic[Item]):
    """The requests that wait, by client, and what each client has used.

    >>> turns = Turns(most_waiting=10, most_of_one=5)
    >>> [turns.add("one tab", request, 0.0) for request in "abc"], turns.add("another", "x", 0.0)
    ([True, True, True], True)
    >>> turns.take(0.0), turns.take(0.1)
    (('another', 'x'), ('one tab', 'a'))
    """

    def __init__(self, most_waiting: int, most_of_one: int) -> None:
        self.most_waiting = most_waiting
        self.most_of_one = most_of_one
        self._clients: dict[str, _Client[Item]] = {}

    def __len__(self) -> int:
        return sum(len(client.waiting) for client in self._clients.values())

    @property
    def running(self) -> int:
        return sum(len(client.began) for client in self._clients.values())

    def add(self, name: str, item: Item, now: float) -> bool:
        """Let a request wait; False where too many do."""
        client = self._clients.get(name)
        if len(self) >= self.most_waiting or (
            client is not None and len(client.waiting) >= self.most_of_one
        ):
            return False
        if client is None:
            self._forget(now)
            client = self._clients[name] = _Client(since=now)
        client.waiting.append(item)
        return True

    def take(self, now: float, light: bool = True, heavy: bool = True) -> tuple[str, Item] | None:
        """Take the next request, of a light client or of a heavy one, and say who sent it.

        None where there is no such request.
        """
        ready = [
            (client.use(now), name) for name, client in self._clients.items()
            if client.waiting and (light if client.is_light(now) else heavy)
        ]  # fmt: skip
        if not ready:
            return None
        _, name = min(ready)
        client = self._clients[name]
        client.began.append(now)
        return name, client.waiting.popleft()

    def finish(self, name: str, began: float, now: float) -> None:
        """Count what a request has used, begun at the time it was taken."""
        client = self._clients[name]
        client.began.remove(began)
        client.used = client.use(now) - sum(now - other for other in client.began) + now - began
        client.excess = client.kept_excess(now) + max(0.0, now - began - SHORT)
        client.since = now

    def remove(self, name: str, item: Item) -> bool:
        """Give up a request that waits; False where it does not wait any more."""
        client = self._clients.get(name)
        if client is None or item not in client.waiting:
            return False
        client.waiting.remove(item)
        return True

    def drain(self) -> list[Item]:
        """Take everything that waits, in no order."""
        items = [item for client in self._clients.values() for item in client.waiting]
        for client in self._clients.values():
            client.waiting.clear()
        return items

    def _forget(self, now: float) -> None:
        idle = sorted(
            (client.use(now) + client.kept_excess(now), name)
            for name, client in self._clients.items() if not client.waiting and not client.began
        )  # fmt: skip
        for use, name in idle:
            if use < HEAVY / 100 or len(self._clients) >= MOST_CLIENTS:
                del self._clients[name]
