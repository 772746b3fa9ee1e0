"""`python interrupted_command.py COMMAND…`: Ctrl-C at many moments of a command, and how it ended.

Python tells its audit hooks of imports, files and more; there a KeyboardInterrupt is raised, at
one moment after the other, each in a process forked off here. One line of JSON comes out: for
each moment, the exit status and what was printed as an error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Sequence

from rasp.apps.cli import main

EVENTS = {"import", "open", "compile", "exec", "os.rename", "os.listdir", "tempfile.mkstemp"}
MOMENTS = 6


def run(words: Sequence[str], moment: int) -> tuple[int, int, str]:
    """Run a command in a child that is interrupted at a moment (never, if below 0).

    Gives the exit status, how many moments there were, and what was printed as an error.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(errors.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os._exit(_count_and_run(words, moment, writing))
        os.close(writing)
        with os.fdopen(reading) as counted:
            count = int(counted.read() or 0)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        return os.waitstatus_to_exitcode(status), count, errors.read().decode()


def _count_and_run(words: Sequence[str], moment: int, writing: int) -> int:
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in EVENTS and threading.current_thread() is threading.main_thread():
            seen += 1
            if seen == moment:
                raise KeyboardInterrupt

    sys.addaudithook(hook)
    status = main(words)
    moment = -1
    sys.stdout.flush()
    os.write(writing, str(seen).encode())
    return status


if __name__ == "__main__":
    words = sys.argv[1:]
    status, count, _ = run(words, -1)
    moments = sorted({1 + count * step // MOMENTS for step in range(MOMENTS)})
    ended = [(each, *run(words, each)[::2]) for each in moments if each <= count]
    sys.stdout.write(json.dumps({"undisturbed": status, "interrupted": ended}))
