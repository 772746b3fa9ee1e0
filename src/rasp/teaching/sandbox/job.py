"""A request that is on its way, and how it is given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from rasp.teaching.sandbox.no_answer import Answer

WITHDRAWN: Answer = {"withdrawn": True}
"""The answer to a request that was withdrawn."""


class Job:
    """A request on its way. `result()` waits for its last answer; `withdraw()` gives it up.

    >>> from rasp.teaching.sandbox import Sandbox
    >>> with Sandbox(workers=1) as box:
    ...     job = box.submit({"text": "x = indices;", "given": "abc"})
    ...     job.result()["values"]
    {'x': [0, 1, 2]}
    """

    def __init__(
        self, request: bytes, seconds: float, tell: Callable[[Answer], None] | None
    ) -> None:
        self.request = request
        self.asked_at = time.monotonic()
        self.seconds = seconds
        self.tell = tell
        self.future: Future[Answer] = Future()
        """The answer to come; `asyncio.wrap_future` waits for it."""
        self._lock = threading.RLock()
        self._end: Callable[[], None] | None = None
        self._verdict: Answer | None = None
        self.leave_queue: Callable[[], None] = lambda: None

    def result(self, timeout: float | None = None) -> Answer:
        """Wait for the answer.

        >>> from rasp.teaching.sandbox import Sandbox
        >>> with Sandbox(workers=1) as box:
        ...     box.submit({"text": "x = 1;"}).result()
        {'values': {}, 'errors': []}
        """
        return self.future.result(timeout)

    def withdraw(self) -> None:
        """Give the request up: it is answered `WITHDRAWN`, and its worker is free at once.

        >>> from rasp.teaching.sandbox import Sandbox
        >>> with Sandbox(workers=1) as box:
        ...     job = box.submit({"text": "x = 1; for n in range(99999) { x = x * 3 % 7; }"})
        ...     job.withdraw()
        ...     job.result() is WITHDRAWN
        True
        """
        self.stop(WITHDRAWN)
        self.leave_queue()

    def begin(self, end: Callable[[], None]) -> bool:
        """Take note that work begins, and how to end it; False where nobody wants it any more."""
        with self._lock:
            self._end = end
            return self._verdict is None

    def stop(self, verdict: Answer) -> None:
        """End the work, with this for an answer; too late once it is done."""
        with self._lock:
            if self._verdict is None and not self.future.done():
                self._verdict = verdict
                if self._end is not None:
                    self._end()

    def is_stopped(self) -> bool:
        """Take note that work is over, so that nothing ends it any more; was it ended?"""
        with self._lock:
            self._end = None
            return self._verdict is not None

    def finish(self, answer: Answer) -> None:
        """Answer; what it was stopped for comes first."""
        with self._lock:
            if not self.future.done():
                self.future.set_result(self._verdict or answer)
