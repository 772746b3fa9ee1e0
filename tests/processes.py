"""Processes that tests start and end, as Linux lists them."""

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

PATIENCE = 60.0


def children(pid: int) -> set[int]:
    """The processes that any thread of a process has started, and those that they started."""
    found: set[int] = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread may have ended
            found |= {int(child) for child in thread.joinpath("children").read_text().split()}
    return found.union(*map(children, found))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # one that nobody has asked after; it does nothing


def wait_until_gone(processes: Iterable[int]) -> None:
    """Wait until none of some processes runs any more."""
    deadline = time.monotonic() + PATIENCE
    while left := {pid for pid in processes if is_running(pid)}:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.05)
