"""An act in, what it leaves behind out: killed, interrupted, without space or permission.

The act runs in a process of its own that is forked off here. Before each thing that it does to
the file system, Python tells its audit hooks; there it can be killed, at each of these moments
in turn, until it gets through.
"""

from __future__ import annotations

import errno
import mmap
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

Act = Callable[[], object]
EVENTS = {"open", "os.rename", "os.chmod", "os.remove", "os.mkdir", "tempfile.mkstemp"}
MOST_MOMENTS = 60
FINE, REFUSED, CRASHED = 0, 3, 4


def forked(act: Act, prepare: Act = lambda: None) -> int:
    """Run an act in a child, after it is prepared; say how it ended (a signal is below zero)."""
    from rasp.base.errors import RaspError

    child = os.fork()
    if child == 0:
        end = CRASHED
        try:
            prepare()
            act()
            end = FINE
        except RaspError:
            end = REFUSED
        except KeyboardInterrupt:
            end = 130
        finally:
            os._exit(end)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def killed_at_every_moment(act: Act, restore: Act) -> Iterator[int]:
    """Restore, run and kill at one moment after the other; gives each moment, then ends."""
    return _at_every_moment(act, restore, lambda: os.kill(os.getpid(), signal.SIGKILL))


def interrupted_at_every_moment(act: Act, restore: Act) -> Iterator[int]:
    """The same with Ctrl-C."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    return _at_every_moment(act, restore, interrupt)


def full_at_every_moment(act: Act, restore: Act) -> Iterator[int]:
    """The same with a disk that is full: first at each thing done, then after ever more bytes."""

    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    yield from _at_every_moment(act, restore, refuse, (REFUSED,), only_writing=True)
    for most in (0, 1, 7, 8, 9, 63, 64, 500, 4095, 4096, 8192):
        restore()
        assert without_space(act, most) in (FINE, REFUSED), f"{most} bytes"
        yield MOST_MOMENTS + most


def _at_every_moment(
    act: Act,
    restore: Act,
    strike: Act,
    ends: tuple[int, ...] = (-signal.SIGKILL, 130),
    only_writing: bool = False,
) -> Iterator[int]:
    struck = mmap.mmap(-1, 1)  # shared with the child

    def note_and_strike() -> None:
        struck[0] = 1
        strike()

    for moment in range(MOST_MOMENTS):
        restore()
        struck[0] = 0
        end = forked(act, lambda moment=moment: _strike_at(moment, note_and_strike, only_writing))
        assert end in (FINE, *ends), f"moment {moment}: ended with {end}"
        if not struck[0]:
            assert moment > 2, "nothing was struck: the act did nothing to the file system"
            return
        yield moment
    raise AssertionError("the act never got through")


def _strike_at(moment: int, strike: Act, only_writing: bool) -> None:
    left = moment
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def is_meant(event: str, arguments: tuple[object, ...]) -> bool:
        if event != "open":
            return event in EVENTS
        flags = arguments[2]
        reads = isinstance(flags, int) and not flags & writing
        return not (str(arguments[0]).endswith(".pyc") or (only_writing and reads))

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if is_meant(event, arguments):
            left -= 1
            if left == -1:
                strike()

    sys.addaudithook(hook)
    sync = os.fsync

    def audited_sync(descriptor: int) -> None:
        hook("os.chmod", (descriptor,))  # the system is asked for something here, too
        sync(descriptor)

    os.fsync = audited_sync


def without_space(act: Act, most: int = 16) -> int:
    """Run an act where no file may grow beyond a few bytes."""

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return forked(act, prepare)


def without_permission(act: Act, folder: str) -> int:
    """Run an act as somebody who may only read a folder."""

    def prepare() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    before = os.stat(folder).st_mode
    parents = []
    parent = os.path.dirname(folder)
    while parent != "/" and not os.stat(parent).st_mode & 0o001:
        parents.append((parent, os.stat(parent).st_mode))
        os.chmod(parent, os.stat(parent).st_mode | 0o055)
        parent = os.path.dirname(parent)
    os.chmod(folder, 0o555)
    try:
        return forked(act, prepare)
    finally:
        for path, mode in [(folder, before), *parents]:
            with suppress(FileNotFoundError):
                os.chmod(path, mode)
