"""A file from a stranger in, its bytes or its JSON out, or a refusal in words.

Whatever was not written by this very process is read here: programs, models, records. Only a
regular file is read, never a device, a FIFO or a socket; never more than the caller says; and JSON
is JSON, without `NaN`. A caller that also knows a checksum compares it with `fingerprint`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from typing import IO, Any, NoReturn, TypeVar

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError

PathLike = str | os.PathLike[str]
T = TypeVar("T")
CHUNK = 1 << 16
ABSENT = (FileNotFoundError, NotADirectoryError)
"""What the functions below let through: only the caller knows what a missing file means."""


def read_file(path: PathLike, most: int, expected: str = "the right file") -> bytes:
    """Read a regular file of at most so many bytes; say what was expected where it has more.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"hello"), file.flush()
    ...     read_file(file.name, 10)
    b'hello'
    """
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise too_large(path, most, expected)
        raw = file.read(size + 1)  # not `most`: Python allocates what is asked for
        while size < len(raw) <= most:  # it grows, or is one of the system's, which tell no size
            part = file.read(CHUNK)
            raw += part
            if not part:
                return raw
    if len(raw) > most:
        raise too_large(path, most, expected)
    return raw


def read_of_one_folder(folder: PathLike, read: Callable[[], T]) -> T:
    """Read files that belong together, again where another folder took their place meanwhile.

    >>> read_of_one_folder(os.curdir, lambda: "all of them")
    'all of them'
    """
    while True:
        before = _identity(folder)
        try:
            found = read()
        except (OSError, RaspError):
            if _identity(folder) == before:
                raise
        else:
            if _identity(folder) == before:
                return found


def _identity(folder: PathLike) -> tuple[int, int, int] | None:
    """What tells a folder from another of the same name; None where there is none."""
    with suppress(OSError):
        there = os.stat(folder)
        return there.st_dev, there.st_ino, there.st_mtime_ns
    return None


def read_part(path: PathLike, start: int, length: int) -> bytes:
    """Read so many bytes of a regular file, fewer where it ends before."""
    with _opened(path) as file:
        file.seek(start)
        return file.read(length)


def file_size(path: PathLike) -> int:
    """Return the size of a regular file; refuse anything else."""
    with _opened(path) as file:
        return os.fstat(file.fileno()).st_size


@contextmanager
def _opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a regular file. `O_NONBLOCK`: to open a pipe would wait for somebody who writes."""
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise RaspValueError(
                    f"`{os.fspath(path)}` is {_kind(mode)}, not a file", hint="give a regular file"
                )
            yield file
    except ABSENT:
        raise
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise unreadable(path, error) from None


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def read_json(path: PathLike, most: int) -> Any:
    """Read a JSON file; a file that holds none is refused."""
    raw = read_file(path, most)
    try:
        return parse_json(raw)
    except ValueError:
        raise RaspValueError(
            f"`{os.fspath(path)}` holds no JSON that can be read",
            hint="was it cut short or changed? write it again",
        ) from None


def parse_json(raw: bytes | str) -> Any:
    """Return what a JSON text holds, or raise `ValueError`.

    `NaN`, a number that no float holds, endless nesting, and a key that is there twice (which
    readers take differently) raise it.

    >>> parse_json('{"loss": null}')
    {'loss': None}
    >>> parse_json("[NaN]")
    Traceback (most recent call last):
    ValueError: NaN is not JSON
    """
    try:
        return json.loads(raw, parse_float=_finite, parse_constant=_no_constant,
                          object_pairs_hook=_no_key_twice)  # fmt: skip
    except RecursionError:
        raise ValueError("JSON that is nested without end") from None


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (inf, -inf):
        raise ValueError(f"{digits} is too large for JSON")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("JSON with one key twice")
    return record


def fingerprint(*parts: bytes | str) -> str:
    """Return the SHA-256 checksum of some parts, in hexadecimal.

    >>> fingerprint("hello")[:16]
    '2cf24dba5fb0a30e'
    """
    return fingerprint_of(parts)


def fingerprint_of(parts: Iterable[bytes | bytearray | memoryview | str]) -> str:
    """Return the checksum of parts that need not be in memory all at once."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def too_large(path: PathLike, most: int, expected: str) -> RaspError:
    return RaspLimitError(
        f"`{os.fspath(path)}` is too large: such a file has at most {most:,} bytes",
        hint=f"is this {expected}?",
    )


def unreadable(path: PathLike, error: Exception) -> RaspError:
    """Say why a file cannot be read, in the user's words."""
    number = getattr(error, "errno", None)
    why = os.strerror(number).lower() if number else "there is no such name"
    hint = "name a file, not a folder" if number == errno.EISDIR else (
        "check the path and the file's permissions"
    )  # fmt: skip
    return RaspValueError(f"`{os.fspath(path)}` cannot be read: {why}", hint=hint)
