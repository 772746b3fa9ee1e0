"""A folder in, the submissions in it out: each `.rasp` file is one, and each folder is one.

A file may load nothing, since its neighbours are other people's. A folder may load what it holds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file, too_large
from rasp.base.limits import Limits
from rasp.base.source import Source

SUFFIX = ".rasp"
MAIN = "main.rasp"
PROGRAM = "a RASP program"


@dataclass(frozen=True)
class Submission:
    """One person's program: a file, or a folder with several.

    >>> Submission("ada", "work/ada.rasp").folder is None
    True
    """

    name: str
    path: str
    folder: str | None = None
    """Where it may load files from; nowhere, if None."""

    def read(self, limits: Limits, file: str | None = None) -> Source:
        """Read its main file, or say why it cannot be graded.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(os.path.join(folder, "main.rasp"), "w") as file:
        ...         _ = file.write("x = 1;")
        ...     Submission("ada", folder, folder).read(Limits()).text
        'x = 1;'
        """
        if self.folder is None and os.path.isdir(self.path):
            raise RaspValueError(
                f"`{os.path.basename(self.path)}` is a link to a folder",
                hint="hand in the folder itself",
            )
        path = self.path if self.folder is None else _main_file(self.folder, file)
        top = os.path.realpath(self.folder or os.path.dirname(self.path) or os.curdir)
        if os.path.commonpath([top, os.path.realpath(path)]) != top:
            raise RaspValueError(
                f"`{os.path.basename(path)}` leads out of the submission", hint="hand in a file"
            )
        try:
            raw = read_file(path, 4 * limits.text_length, PROGRAM)
        except ABSENT:
            raise RaspValueError(
                f"`{os.path.basename(path)}` is not there", hint="hand in a file"
            ) from None
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise RaspValueError(
                f"`{os.path.basename(path)}` is not UTF-8 text", hint="save it as UTF-8"
            ) from None
        if len(text) > limits.text_length:
            raise too_large(path, limits.text_length, PROGRAM)
        return Source(os.path.basename(path), text)


def find_submissions(path: str, is_one: bool = False) -> list[Submission]:
    """List the submissions in a folder, or the one that a path is; `is_one`: the folder is one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("ada.rasp", "bob.rasp", "notes.txt"):
    ...         open(os.path.join(folder, name), "w").close()
    ...     [each.name for each in find_submissions(folder)]
    ['ada', 'bob']
    """
    if not os.path.isdir(path):
        if not os.path.lexists(path):
            raise RaspValueError(f"there is no `{path}`", hint="name a folder of submissions")
        return [Submission(_name(path), path)]
    if is_one:
        return [Submission(os.path.basename(os.path.abspath(path)), path, path)]
    names = sorted(name for name in os.listdir(path) if _is_submission(path, name))
    if not names:
        raise RaspValueError(
            f"there is no submission in `{path}`",
            hint="a submission is a `.rasp` file, or a folder with one",
        )
    return [_listed(path, name, names) for name in names]


def _is_submission(path: str, name: str) -> bool:
    is_folder = os.path.isdir(os.path.join(path, name))
    return not name.startswith(".") and (is_folder or name.endswith(SUFFIX))


def _listed(path: str, name: str, names: list[str]) -> Submission:
    """A link to a folder is listed without the folder, because what it leads to is not read."""
    inner = os.path.join(path, name)
    if os.path.isdir(inner):
        return Submission(name, inner, None if os.path.islink(inner) else inner)
    short = _name(name)
    return Submission(name if short in names else short, inner)  # `ada.rasp` beside `ada/`


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(SUFFIX)


def _main_file(folder: str, file: str | None) -> str:
    names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    for wanted in (file, MAIN):
        if wanted in names:
            return os.path.join(folder, str(wanted))
    if len(names) == 1 and file is None:
        return os.path.join(folder, names[0])
    raise _which(names, file)


def _which(names: list[str], file: str | None) -> RaspError:
    if file is not None:
        return RaspValueError(f"there is no `{file}`", hint=f"call the program `{file}`")
    if not names:
        return RaspValueError("there is no program", hint=f"hand in a file called `{MAIN}`")
    return RaspValueError(
        f"which of {', '.join(names[:5])} is the program?", hint=f"call it `{MAIN}`"
    )
