"""Replace a file or a folder in one step, so that a crash leaves the old one whole.

What is new is written beside it under a name that nobody else uses, brought to the disk, and then
moved into its place. Two processes that write the same file or folder do not disturb each other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from typing import IO

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write into, which then takes the place of another, or of none.

    A link stays a link, and a device or a pipe stays one: it is written to, not replaced. Where
    anything goes wrong with a file, nothing has happened.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with open(path, "wb") as device:
            yield device
        return
    real = os.path.realpath(path)
    folder, name = os.path.split(real)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        os.close(descriptor)
        with open(temporary, "wb") as file:  # by name: some writers want one
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_owner(real, temporary)
        os.chmod(temporary, _mode(real))
        os.replace(temporary, real)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def replacing_folder(path: str | os.PathLike[str], outdated: Collection[str] = ()) -> Iterator[str]:
    """Give an empty folder to write into, which then takes the place of another, or of none.

    Of what was there, the names in `outdated` go, and everything else moves to the new folder.
    Each writer fills a folder of its own, so of several at once the last one wins.
    """
    place = os.path.realpath(path)
    if os.path.isdir(place) and os.path.samefile(place, os.curdir):
        raise RaspValueError(
            f"`{os.fspath(path)}` is the current folder, which cannot be replaced",
            hint="give another folder, or change to the one above it first",
        )
    if os.path.lexists(place) and not os.path.isdir(place):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
    parent, name = os.path.split(place)
    os.makedirs(parent, exist_ok=True)
    work = tempfile.mkdtemp(dir=parent, prefix=f".{name}.")
    try:
        yield work
        _settle(work)
        with _only_writer(parent):
            replace_folder(work, place)
            _move_the_rest(work, place, outdated)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _settle(work: str) -> None:
    """Bring every file to the disk, with the permissions that new files get."""
    for folder, _, names in os.walk(work):
        os.chmod(folder, 0o777 & ~_umask())
        for name in names:
            file = os.path.join(folder, name)
            os.chmod(file, 0o666 & ~_umask())
            with open(file, "rb+") as written:
                os.fsync(written.fileno())


@contextlib.contextmanager
def _only_writer(parent: str) -> Iterator[None]:
    """Wait for other processes that replace a folder in here, where the system has such locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            descriptor = os.open(parent, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _move_the_rest(old: str, place: str, outdated: Collection[str]) -> None:
    """Move what a replaced folder holds besides the outdated files into the new one."""
    for name in os.listdir(old) if os.path.isdir(old) else ():
        new = os.path.join(place, name)
        if name not in outdated and not os.path.lexists(new):
            os.rename(os.path.join(old, name), new)


def replace_folder(new: str | os.PathLike[str], place: str | os.PathLike[str]) -> None:
    """Put a folder in place of another, or of none; what was there is then where the new one was.

    Linux changes the two in one step. Elsewhere a kill between two steps leaves the older folder
    whole, but beside its place.
    """
    if not os.path.lexists(place):
        os.rename(new, place)
    elif not _exchange(os.fspath(new), os.fspath(place)):
        aside = f"{os.fspath(new)}.old"
        os.rename(place, aside)
        try:
            os.rename(new, place)
        except BaseException:
            os.rename(aside, place)
            raise
        os.rename(aside, new)


def _exchange(first: str, second: str) -> bool:
    """Let two paths change places in one step, where the system and its disks can."""
    import ctypes

    sys.audit("os.rename", first, second, -1, -1)
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    done: int = rename(here, os.fsencode(first), here, os.fsencode(second), exchange)
    return done == 0


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put new content in place of a file, or of none."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str | os.PathLike[str], error: OSError) -> RaspError:
    """Say why a file could not be written, in the user's words."""
    kind = RaspLimitError if error.errno in FULL else RaspValueError
    why = (error.strerror or "unknown reason").lower()
    if error.errno in FULL:
        hint = "make room and try again; what was there before is unchanged"
    elif error.errno in (errno.ENOENT, errno.ENOTDIR):
        hint = "give a file in a folder that exists"
    elif error.errno == errno.EEXIST:
        hint = "there is a file where a folder should be: give another name"
    else:
        hint = "check the permissions of the folder and the file; what was there is unchanged"
    return kind(f"`{os.fspath(path)}` cannot be written: {why}", hint=hint)


def _keep_owner(path: str, new: str) -> None:
    """Give a new file to the owner and group of the one that is there, as far as we may."""
    with contextlib.suppress(FileNotFoundError):
        there, here = os.stat(path), os.stat(new)
        for user, group in ((there.st_uid, -1), (-1, there.st_gid)):
            is_kept = user in (-1, here.st_uid) and group in (-1, here.st_gid)
            if not is_kept and hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):
                    os.chown(new, user, group)


def _mode(path: str) -> int:
    """The permissions of the file that is there, or those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(path).st_mode)
    return 0o666 & ~_umask()


def _umask() -> int:
    """The permissions that new files and folders do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
