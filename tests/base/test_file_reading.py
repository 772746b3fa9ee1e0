"""One reader for files from strangers: regular files of a bounded size, and JSON that is JSON."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.file_reading import file_size, parse_json, read_file, read_json, read_part

SOURCES = sorted((Path(__file__).parents[2] / "src" / "rasp").rglob("*.py"))


def test_a_file_is_read_whole_or_in_part(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"0123456789")
    assert read_file(path, 10) == b"0123456789" and file_size(path) == 10
    assert read_part(path, 3, 4) == b"3456" and read_part(path, 8, 4) == b"89"
    with pytest.raises(RaspLimitError, match="at most 9 bytes"):
        read_file(path, 9)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name, why in {
            "pipe": "is a pipe", "endless": "is a device", ".": "is a directory",
            "loop": "too many levels", "socket": "cannot be read", "zero\0byte": "no such name",
        }.items():  # fmt: skip
            for read in (lambda path: read_file(path, 100), file_size, read_nothing):
                with pytest.raises(RaspValueError, match=why) as caught:
                    read(f"{tmp_path}/{name}")
                assert caught.value.hint


def read_nothing(path: str) -> bytes:
    return read_part(path, 0, 1)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no files without a size here")
def test_a_file_that_says_it_is_empty_is_read_no_further_than_allowed() -> None:
    with pytest.raises(RaspLimitError):
        read_file("/proc/self/maps", 100)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no files without a size here")
def test_no_more_memory_is_taken_than_the_file_needs(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"hello")
    assert read_file(tmp_path / "it", 1 << 60) == b"hello"
    assert read_file("/proc/self/maps", 1 << 60).count(b"\n") > 5


def test_a_missing_file_is_the_callers_business(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "it"):
        with pytest.raises(FileNotFoundError):
            read_file(path, 10)


@pytest.mark.parametrize(
    "text", ["NaN", "[1, -Infinity]", '{"a": Infinity}', "[" * 99_999, "", "{"]
)
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_json(text)
    (tmp_path / "it").write_text(text)
    with pytest.raises(RaspError, match="no JSON"):
        read_json(tmp_path / "it", 1_000_000)


# Who opens files without the reader, and why that is fine.
OPENERS = {
    "base/file_reading.py": "the reader",
    "base/file_writing.py": "writes",
    "models/training/run_store.py": "appends records, after the reader has looked at the file",
    "language/meaning/loader.py": "reads programs, from pipes too, as far as `text_length` goes",
    "language/meaning/library.py": "reads the library, which is ours",
    "teaching/gallery": "reads the gallery and its records, which are ours",
    "insight/drawing/html.py": "reads a script, which is ours",
    "apps/playground/server.py": "reads the page, which is ours",
    "apps/cli/standard.py": "opens nothing but the null device",
    "base/installing.py": "reads the package's own record of where it was installed from",
    "models/export": "writes, and reads its own files where they were exported to",
}


def test_everything_else_reads_through_it() -> None:
    words = (".read_bytes(", ".read_text(", " open(", ".open(", "safe_open(", "np.load(")
    mine = (
        "webbrowser.open(",
        "os.open(os.devnull",
        "server.open(",
        "def open(",
        "conversation.open(",
    )
    found = set()
    for path in SOURCES:
        for line in path.read_text(encoding="utf-8").splitlines():
            is_example = line.lstrip().startswith((">>>", "..."))
            if (
                not is_example
                and any(word in line for word in words)
                and not any(word in line for word in mine)
            ):
                found.add(path.relative_to(SOURCES[0].parents[0]).as_posix())
    strangers = {path for path in found if not any(path.startswith(known) for known in OPENERS)}
    assert "base/file_writing.py" in found, "the rule sees nothing"
    assert not strangers, "use rasp.base.file_reading"
