"""What runs inside a worker process: requests in on standard input, answers out, a line each.

The process may be killed at any time and holds nothing worth keeping. A task is a function of one
request, a dict, that returns an answer or yields several. After anything but a `RaspError` the
process ends: nobody knows what state it is in.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from rasp.base.errors import RaspError
from rasp.base.limits import limit_memory, too_deep, too_much_memory
from rasp.teaching.sandbox.no_answer import Answer, our_own, refusal

DIE_WITH_PARENT = 1
"""Linux's PR_SET_PDEATHSIG."""

Request = dict[str, Any]
Task = Callable[[Request], Any]


def main(settings_text: str) -> None:
    """Answer requests until there are no more; whatever prints goes nowhere."""
    settings = json.loads(settings_text)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    _die_with(settings["parent"])
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    limit_memory(settings["memory"])
    task = find_task(settings["task"])
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, waiting), daemon=True).start()
    if settings["warm"] is not None:
        list(_answers(task, settings["warm"]))
    answers.write(b"ready\n")
    answers.flush()
    work(task, waiting, answers)


def work(task: Task, waiting: queue.SimpleQueue[bytes], answers: BinaryIO) -> None:
    """Answer requests, until one leaves this process in doubt."""
    is_sound = True
    while is_sound:
        request = json.loads(waiting.get())
        try:
            for answer in _answers(task, request):
                _write(answers, answer)
        except RaspError as error:
            _write(answers, refusal(error))
        except BaseException as error:
            is_sound = False
            _write(answers, _told(error))
        answers.write(b"done\n" if is_sound else b"leaving\n")
        answers.flush()


def find_task(name: str) -> Task:
    """Find a function by its module and its name.

    >>> find_task("rasp.teaching.sandbox.program_answers:run_program").__name__
    'run_program'
    """
    module, _, function = name.partition(":")
    task: Task = getattr(importlib.import_module(module), function)
    return task


def _answers(task: Task, request: Request) -> Iterator[Any]:
    answer = task(request)
    if isinstance(answer, Iterator):
        yield from answer
    else:
        yield answer


def _write(answers: BinaryIO, answer: Any) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _told(error: BaseException) -> Answer:
    if isinstance(error, MemoryError):
        return refusal(too_much_memory())
    return refusal(too_deep()) if isinstance(error, RecursionError) else our_own(error)


def _read(requests: BinaryIO, waiting: queue.SimpleQueue[bytes]) -> None:
    """Read ahead, to notice when whoever started us has gone."""
    for line in requests:
        waiting.put(line)
    os._exit(0)


def _die_with(parent: int) -> None:
    """Have the system kill us with our parent, where it knows how to."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    except (OSError, AttributeError):  # the end of standard input has to do
        return
    if os.getppid() != parent:  # it has gone while we started
        os._exit(0)
