"""Where `load "file";` may look, and the text it finds there.

`load` is the only way from a program to the file system. A front door can confine it to a
folder, or switch it off.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rasp.errors import RaspError, RaspLimitError, RaspUnsupportedError, RaspValueError
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.source import Source


@dataclass(frozen=True)
class Loader:
    """Reads program files; with a `root`, nothing outside that folder."""

    root: str | None = None
    enabled: bool = True

    def read(self, path: str, beside: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Source:
        """Read a file, looked for beside the file that loads it and then in the current folder."""
        if not self.enabled:
            raise RaspUnsupportedError(
                "`load` is switched off here", hint="put the definitions in this program instead"
            )
        for candidate in self._candidates(path, beside):
            if os.path.isfile(candidate):
                return read_source(candidate, limits)
        where = f" in {self.root}" if self.root else ""
        raise RaspValueError(
            f"there is no file `{path}`{where}",
            hint="the name is looked for beside this file and in the current folder, "
            "with or without `.rasp`",
        )

    def _candidates(self, path: str, beside: str | None) -> list[str]:
        if "\0" in path:
            return []
        folders = [self.root] if self.root else [os.path.dirname(beside or ""), ""]
        found = [
            os.path.join(folder, name) for folder in folders for name in (path, path + ".rasp")
        ]
        if self.root is None:
            return found
        root = os.path.realpath(self.root)
        return [
            candidate
            for candidate in found
            if os.path.commonpath([root, os.path.realpath(candidate)]) == root
        ]


def read_source(path: str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a program file, or say why it cannot be read."""
    try:
        if os.path.getsize(path) > 4 * limits.text_length:
            raise _too_long(path, limits)
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(limits.text_length + 1)  # a device has no size, and no end
        if len(text) > limits.text_length:
            raise _too_long(path, limits)
        return Source(path, text)
    except UnicodeDecodeError:
        raise _unreadable(path, "it is not UTF-8 text", "save it as UTF-8") from None
    except OSError as error:
        hint = "check the path and the file's permissions"
        raise _unreadable(path, (error.strerror or "unknown reason").lower(), hint) from None


def _too_long(path: str, limits: Limits) -> RaspError:
    return RaspLimitError(
        f"`{path}` has more than {limits.text_length} characters, which is over the limit",
        hint="split it into files and `load` them",
    )


def _unreadable(path: str, why: str, hint: str) -> RaspError:
    return RaspValueError(f"`{path}` cannot be read: {why}", hint=hint)
