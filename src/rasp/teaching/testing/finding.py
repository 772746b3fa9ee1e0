"""Paths in, the files to test out: those of a folder are the ones with `#>` lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from rasp.base.errors import RaspError
from rasp.base.file_reading import read_file
from rasp.teaching.testing.expectation_lines import MARK
from rasp.teaching.testing.pages import blocks_of

SUFFIXES = (".rasp", ".md")
LARGEST_PAGE = 10_000_000
SKIPPED = ("node_modules", "__pycache__")


def find_files(paths: Iterable[str]) -> list[str]:
    """List the files to test: each path that is a file, and what the folders hold.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/a.rasp", "w") as file:
    ...         _ = file.write("1 + 1; #> 2")
    ...     [os.path.basename(path) for path in find_files([folder])]
    ['a.rasp']
    """
    files: dict[str, None] = {}
    for path in paths:
        files.update(dict.fromkeys(_in_folder(path) if os.path.isdir(path) else [path]))
    return list(files)


def find_programs(paths: Iterable[str]) -> list[str]:
    """List program files: each path that is no folder, and every `.rasp` file that folders hold.

    >>> find_programs(["gallery:reverse", "-"])
    ['gallery:reverse', '-']
    """
    files: dict[str, None] = {}
    for path in paths:
        files.update(dict.fromkeys(_walk(path, ".rasp") if os.path.isdir(path) else [path]))
    return list(files)


def _in_folder(folder: str) -> Iterator[str]:
    return (path for path in _walk(folder, SUFFIXES) if _has_lines(path))


def _walk(folder: str, suffixes: str | tuple[str, ...]) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        for name in sorted(files):
            path = os.path.join(here, name)
            if name.endswith(suffixes) and os.path.isfile(path):
                yield path


def _has_lines(path: str) -> bool:
    try:
        text = read_file(path, LARGEST_PAGE).decode(errors="replace")
    except (OSError, RaspError):  # whoever runs it says why it cannot be read
        return True
    if path.endswith(".md"):
        return any(MARK in block.text for block in blocks_of(text) if block.language == "rasp")
    return MARK in text
