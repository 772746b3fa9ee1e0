"""A file's new content in, the file replaced in one step: a crash leaves the old one whole.

The content is written beside the file, brought to the disk, and then moved into its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile

from rasp.errors import RaspError, RaspLimitError, RaspValueError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put new content in place of a file, or of none; a link stays a link."""
    real = os.path.realpath(path)
    try:
        folder, name = os.path.split(real)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, _mode(real))
            os.replace(temporary, real)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str | os.PathLike[str], error: OSError) -> RaspError:
    """Say why a file could not be written, in the user's words."""
    kind = RaspLimitError if error.errno in FULL else RaspValueError
    why = (error.strerror or "unknown reason").lower()
    return kind(
        f"`{os.fspath(path)}` cannot be written: {why}",
        hint="check the folder's permissions and the free space; the file is unchanged",
    )


def _mode(path: str) -> int:
    """The permissions of the file that is there, or those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
