"""Where `load "file";` may look, and the text it finds there.

`load` is the only way from a program to the file system. It reads inside the folder of the
program that was started, and in folders that the caller allows; a front door can replace that
folder, or switch `load` off. What lies elsewhere is refused without a look at it, so that a
message tells nothing of other files on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rasp.base.errors import RaspError, RaspLimitError, RaspUnsupportedError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source

LoadFrom = bool | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""What a caller may say of `load`: whether at all, or which other folders it may read."""


@dataclass(frozen=True)
class Loader:
    """Reads program files inside some folders; a symbolic link leads nowhere else."""

    root: str | None = None
    """The folder instead of that of the program that was started."""
    enabled: bool = True
    also: tuple[str, ...] = ()
    """Further folders that may be read."""
    elsewhere: Callable[[str], Source | None] | None = None
    """Gives the text of a program that is not a file, such as one that comes with rasp."""
    compared_with: str | None = None
    """A file that is not read: a program is not compared with itself."""

    def read(
        self,
        path: str,
        beside: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        started: str | None = None,
    ) -> Source:
        """Read a file, looked for beside the file that loads it and then in the folders.

        `started` is the name of the program that was started, if not the one that loads.
        """
        if not self.enabled:
            raise RaspUnsupportedError(
                "`load` is switched off here", hint="put the definitions in this program instead"
            )
        if self.elsewhere is not None and (source := self.elsewhere(path)) is not None:
            return source
        own = os.path.dirname(started or beside or "") if self.root is None else self.root
        allowed = [own, *self.also]
        candidates = _candidates(path, [os.path.dirname(beside or ""), *allowed, ""])
        inside = [candidate for candidate in candidates if _is_inside(candidate, allowed)]
        for candidate in inside:
            if os.path.isfile(candidate):
                self._refuse_the_other(candidate)
                return read_source(candidate, limits)
        if candidates and not inside:
            raise RaspValueError(
                f"`{path}` is outside the program's folder, and `load` reads nothing there",
                hint="move the file, or allow its folder: `--load-from DIR`, in Python "
                '`rasp.run(…, load="DIR")`',
            )
        raise RaspValueError(
            f"there is no file `{path}`",
            hint="the name is looked for beside this file and in the current folder, "
            "with or without `.rasp`",
        )

    def _refuse_the_other(self, path: str) -> None:
        other = self.compared_with
        if other and os.path.realpath(path) == os.path.realpath(other):
            raise RaspValueError(
                f"`{path}` is the program that this one is compared with: it cannot be loaded",
                hint="define in each program what it is about",
            )


def loader_of(load: LoadFrom) -> Loader:
    """Return the loader that a caller asks for.

    >>> loader_of(False).enabled, loader_of("shared").also, loader_of(["a", "b"]).also
    (False, ('shared',), ('a', 'b'))
    """
    if isinstance(load, bool):
        return Loader(enabled=load)
    if isinstance(load, (str, os.PathLike)):
        load = [load]
    return Loader(also=tuple(os.fspath(folder) for folder in load))


def _candidates(path: str, folders: list[str]) -> list[str]:
    if "\0" in path:
        return []
    every = (os.path.join(folder, name) for folder in folders for name in (path, path + ".rasp"))
    return list(dict.fromkeys(every))


def _is_inside(path: str, folders: list[str]) -> bool:
    real = os.path.realpath(path)
    roots = [os.path.realpath(folder or os.curdir) for folder in folders]
    return any(real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


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
    except IsADirectoryError:
        raise _unreadable(path, "it is a folder", "name a program in it") from None
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
