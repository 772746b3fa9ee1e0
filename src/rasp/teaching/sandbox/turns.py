"""Choose whose request is next: clients take turns, and nobody takes the last free worker twice."""

from __future__ import annotations

from collections import Counter, deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Turns(Generic[Item]):
    """The requests that wait, by client, and how many of each client are under way.

    >>> turns = Turns(workers=2, most_waiting=10, most_of_one=5)
    >>> [turns.add("one tab", request) for request in "abc"], turns.add("another", "x")
    ([True, True, True], True)
    >>> turns.take(), turns.take(), turns.take()
    (('one tab', 'a'), ('another', 'x'), ('one tab', 'b'))
    """

    def __init__(self, workers: int, most_waiting: int, most_of_one: int) -> None:
        self.workers, self.most_waiting, self.most_of_one = workers, most_waiting, most_of_one
        self.running: Counter[str] = Counter()
        self._waiting: dict[str, deque[Item]] = {}
        """Whoever has waited longest for a turn comes first."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, client: str, item: Item) -> bool:
        """Let a request wait; False where too many do."""
        if len(self) >= self.most_waiting:
            return False
        own = self._waiting.setdefault(client, deque())
        if len(own) < self.most_of_one:
            own.append(item)
            return True
        return False

    def take(self) -> tuple[str, Item] | None:
        """Take the next request, and say who sent it; None where nobody may have a worker now.

        Of several workers, the last free one is for clients with nothing under way.
        """
        is_last = self.workers - self.running.total() == 1 < self.workers
        ready = [client for client in self._waiting if not (is_last and self.running[client])]
        if not ready:
            return None
        client = min(ready, key=self.running.__getitem__)
        own = self._waiting.pop(client)
        item = own.popleft()
        if own:
            self._waiting[client] = own
        self.running[client] += 1
        return client, item

    def finish(self, client: str) -> None:
        """Take note that a request was answered."""
        self.running -= Counter([client])

    def remove(self, client: str, item: Item) -> bool:
        """Give up a request that waits; False where it does not wait any more."""
        own = self._waiting.get(client, deque())
        if item not in own:
            return False
        own.remove(item)
        if not own:
            del self._waiting[client]
        return True

    def drain(self) -> list[Item]:
        """Take everything that waits, in no order."""
        items = [item for own in self._waiting.values() for item in own]
        self._waiting.clear()
        return items
