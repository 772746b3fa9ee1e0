"""What a message says about installing an extra works where it is read."""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from rasp.base import installing
from rasp.base.installing import install_command, missing, require
from repository import ROOT


def asked_of_pip(command: str) -> str:
    """What an install command installs."""
    python, *words = shlex.split(command)
    assert os.path.realpath(python) == os.path.realpath(sys.executable)
    assert words[:3] == ["-m", "pip", "install"]
    return words[-1].partition("[")[0]


def test_from_a_clone_the_clone_is_installed() -> None:
    assert asked_of_pip(install_command("draw")) == str(ROOT)


class Distribution:
    """An installed package, with the record of where it came from."""

    def __init__(self, record: str | None) -> None:
        self.record = record

    def read_text(self, name: str) -> str | None:
        return self.record


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ('{"url": "file:///home/me/the%20clone", "dir_info": {}}', "/home/me/the clone"),
        (None, "rasp-lang"),
        ('{"url": "https://example.org/rasp.whl", "archive_info": {}}', "rasp-lang"),
        ('{"url": "file:///home/me/rasp.whl", "archive_info": {}}', "rasp-lang"),
    ],
)
def test_an_installed_rasp_knows_where_it_came_from(
    record: str | None, wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "rasp" / "base" / "installing.py"))
    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution(record))
    assert asked_of_pip(install_command("play")) == wanted


def test_without_a_record_the_name_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installing, "__file__", str(tmp_path / "rasp" / "base" / "installing.py"))
    monkeypatch.setattr(metadata, "distribution", absent)
    assert asked_of_pip(install_command("play")) == "rasp-lang"


def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(type(missing("a", "b", "c"))) as caught:
        require(("json", "no_such_package"), "draw", "a picture")
    assert caught.value.message == "a picture needs `no_such_package`, which is not installed"
    assert caught.value.hint == f"install it with: {install_command('draw')}"


PLACES = ("README.md", "docs", "src", "editors", "examples")
READ = {".md", ".py", ".js", ".html", ".ipynb"}


def test_nothing_that_people_read_says_what_works_only_after_a_release() -> None:
    """One function writes the command; pages say what works in a clone."""
    paths = [path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*")]]
    for path in paths:
        if path.suffix in READ and path.is_file() and not {"node_modules", "dist"} & {*path.parts}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"rasp-lang\[", text), path
