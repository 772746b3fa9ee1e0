"""A file is replaced in one step or not at all, and whoever asked is told why not."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from rasp.base import file_writing as replacing_module
from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.base.file_writing import replace_file, replace_folder, replacing, unwritable


def test_new_content_takes_the_place_of_old_or_none(tmp_path: Path) -> None:
    path = tmp_path / "it"
    replace_file(path, b"one")
    assert path.read_bytes() == b"one"
    path.chmod(0o640)
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["it"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, RaspLimitError),
        (errno.EDQUOT, RaspLimitError),
        (errno.EACCES, RaspValueError),
    ],
)
def test_what_goes_wrong_leaves_the_old_file_alone(
    number: int, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(kind, match=os.strerror(number).lower()):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["it"]


def test_a_writer_that_gives_up_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with replacing(tmp_path / "it") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RaspValueError, match="nowhere"):
        replace_file(tmp_path / "nowhere" / "it", b"new")


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_folder_takes_the_place_of_another(
    in_one_step: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_one_step:
        monkeypatch.setattr(replacing_module, "_exchange", lambda first, second: False)
    new, place = tmp_path / "new", tmp_path / "place"
    for number in ("1", "2"):
        new.mkdir(exist_ok=True)
        (new / "it").write_text(number)
        replace_folder(new, place)
        assert (place / "it").read_text() == number
    assert (new / "it").read_text() == "1"
    assert sorted(os.listdir(tmp_path)) == ["new", "place"]


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing_module, "_exchange", lambda first, second: False)
    (tmp_path / "place").mkdir()
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "missing", tmp_path / "place")
    assert os.listdir(tmp_path) == ["place"]


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "make room"),
        (errno.ENOENT, "a folder that exists"),
        (errno.EEXIST, "give another name"),
        (errno.EACCES, "check the permissions"),
    ],
)
def test_each_reason_has_its_own_way_out(number: int, hint: str) -> None:
    error = unwritable("it", OSError(number, os.strerror(number)))
    assert os.strerror(number).lower() in error.message
    assert hint in (error.hint or "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_device_that_is_full_says_so(tmp_path: Path) -> None:
    (tmp_path / "it").symlink_to("/dev/full")
    with pytest.raises(RaspLimitError, match="no space left"):
        replace_file(tmp_path / "it", b"new")
    assert (tmp_path / "it").is_char_device()
