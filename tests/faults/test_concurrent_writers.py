"""Several processes write the same file or folder: each succeeds, and what is there is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("forks, and changes two folders in one step", allow_module_level=True)
pytest.importorskip("numpy", reason="compiling needs numpy")

from rasp.base.file_writing import replace_file, replacing_folder
from rasp.models.compiler import verify
from rasp.models.compiler.model import store
from rasp.models.export.folders import writing

from .two_models import NEW, OLD

pytestmark = pytest.mark.slow
ROUNDS = 60
CONTENTS = ("old", "new")


def at_once(acts: Sequence[Callable[[], object]], rounds: int = ROUNDS) -> None:
    """Do each act many times, each in a process of its own; all must succeed."""
    children = []
    for act in acts:
        child = os.fork()
        if child == 0:
            done = 0
            try:
                for _ in range(rounds):
                    act()
                    done += 1
            finally:
                os._exit(done)
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ends == [rounds] * len(acts), "a process stopped at its first error"


def test_files_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"old" * 1000)

    def read() -> None:
        assert path.read_bytes() in (b"old" * 1000, b"new" * 1000)

    writers = [lambda word=word: replace_file(path, word.encode() * 1000) for word in CONTENTS]
    at_once([*writers, read])
    assert os.listdir(tmp_path) == ["it"]


@pytest.mark.parametrize("is_new", [True, False])
def test_models_are_whole_and_readable(is_new: bool, tmp_path: Path) -> None:
    place = tmp_path / "model"
    if not is_new:
        store.save(OLD, place)
    answers = (OLD("aab"), NEW("aab"))

    def save_and_load() -> None:
        store.save(NEW, place)
        assert store.load(place)("aab") in answers

    def save() -> None:
        store.save(OLD, place)
        store.check_free(place)

    at_once([save_and_load, save, save])
    assert verify(place).exact
    assert os.listdir(tmp_path) == ["model"]


def test_exports_are_whole(tmp_path: Path) -> None:
    place = tmp_path / "export"

    def export(word: str) -> None:
        with writing(place) as work:
            (work / "model").write_text(word)
            (work / "rasp.json").write_text('{"made_by": "rasp", "files": ["model", "rasp.json"]}')

    at_once([lambda word=word: export(word) for word in CONTENTS])
    assert (place / "model").read_text() in CONTENTS
    assert os.listdir(tmp_path) == ["export"]


def test_files_of_others_move_to_the_new_folder(tmp_path: Path) -> None:
    place = tmp_path / "model"
    place.mkdir()
    (place / "notes").write_text("mine")

    def write() -> None:
        with replacing_folder(place, outdated=["model"]) as work:
            Path(work, "model").write_text("new")

    at_once([write, write])
    assert (place / "notes").read_text() == "mine"
    assert os.listdir(tmp_path) == ["model"]


def test_the_current_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(store.RaspValueError, match="the current folder"):
        store.save(OLD, ".")
    assert os.listdir(tmp_path) == []
