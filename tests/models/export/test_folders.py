"""An export appears whole or not at all, and takes nobody else's place."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from export_examples import compiled, needs

from command_line import call
from rasp.apps.cli import main
from rasp.base import file_writing
from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.models.compiler import verify
from rasp.models.export import TARGETS, export
from rasp.models.export.folders import writing
from repository import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def older_export(place: Path, content: str = "old") -> None:
    with writing(place) as work:
        (work / "model").write_text(content)
        (work / "rasp.json").write_text('{"made_by": "rasp", "files": ["model", "rasp.json"]}')


def failing_export(place: Path) -> None:
    with writing(place) as work:
        (work / "model").write_text("new")
        raise ZeroDivisionError


def test_what_goes_wrong_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        failing_export(tmp_path / "deep" / "new")
    assert not names(tmp_path / "deep")


def test_what_goes_wrong_leaves_the_older_export_as_it_was(tmp_path: Path) -> None:
    older_export(tmp_path / "place")
    with pytest.raises(ZeroDivisionError):
        failing_export(tmp_path / "place")
    assert (tmp_path / "place" / "model").read_text() == "old"
    assert names(tmp_path) == {"place"}


def test_an_older_export_is_replaced_whole(tmp_path: Path) -> None:
    older_export(tmp_path / "place")
    (tmp_path / "place" / "__pycache__").mkdir()  # Python leaves it when `model.py` is imported
    with writing(tmp_path / "place") as work:
        (work / "other").write_text("new")
    assert names(tmp_path / "place") == {"other"}
    assert names(tmp_path) == {"place"}


def test_an_older_export_goes_back_when_the_new_one_cannot_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older_export(tmp_path / "place")
    rename = os.rename

    def failing(source: str, target: str) -> None:
        if Path(source).name.startswith(".place.") and not str(source).endswith(".old"):
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(file_writing, "_exchange", lambda first, second: False)
    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(RaspLimitError, match="cannot be written: no space left"):
        older_export(tmp_path / "place", "new")
    assert (tmp_path / "place" / "model").read_text() == "old"
    assert names(tmp_path) == {"place"}


def test_other_peoples_files_are_left_alone(tmp_path: Path) -> None:
    older_export(tmp_path / "place")
    (tmp_path / "place" / "notes.txt").write_text("mine")
    with pytest.raises(RaspValueError, match=r"holds `notes\.txt`, which no export wrote"):
        older_export(tmp_path / "place")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RaspValueError, match="is a file, and an export is a folder"):
        older_export(tmp_path / "file")
    assert names(tmp_path) == {"place", "file"}


@pytest.mark.parametrize("card", ["[]", "{", '{"made_by": "someone"}', '"rasp"'])
def test_a_card_of_someone_else_is_no_permission(tmp_path: Path, card: str) -> None:
    (tmp_path / "rasp.json").write_text(card)
    with pytest.raises(RaspValueError, match="which no export wrote"):
        older_export(tmp_path)


def test_a_model_is_not_replaced_by_its_own_export(tmp_path: Path) -> None:
    needs("torch")
    compiled("hist", 6).save(tmp_path / "model")
    with pytest.raises(RaspValueError, match=r"holds `model\.json`"):
        export(tmp_path / "model", "torch", tmp_path / "model")
    assert verify(tmp_path / "model").exact


def test_files_have_the_permissions_of_new_files(tmp_path: Path) -> None:
    needs("torch")
    (tmp_path / "new").write_text("")
    export(compiled("hist", 6), "torch", tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "new").stat().st_mode)


def test_an_export_over_an_older_one_of_another_kind(tmp_path: Path) -> None:
    needs("torch", "onnx", "onnxruntime")
    export(compiled("hist", 6), "torch", tmp_path / "out")
    export(compiled("hist", 6), "onnx", tmp_path / "out")
    assert names(tmp_path / "out") == {"model.onnx", "rasp.json"}


def test_the_card_names_the_target_and_its_files(tmp_path: Path) -> None:
    needs("torch")
    compared = export(compiled("hist", 6), "torch", tmp_path / "out")
    card = json.loads((tmp_path / "out" / "rasp.json").read_text())
    assert card["target"] == "torch"
    assert set(card["files"]) == names(tmp_path / "out")
    assert str(compared) in card["checked"]


def test_the_command_line_exports_a_folder(tmp_path: Path, capsys: Any) -> None:
    needs("torch")
    compiled("hist", 6).save(tmp_path / "model")
    where = tmp_path / "torch"
    code, out, _ = call(capsys, "export", tmp_path / "model", "--to", "torch", "-o", where)
    assert code == 0
    assert out.startswith(f"written to {where}; loaded again, it agrees with the program on 1")


def test_the_command_line_says_what_is_wrong_with_a_folder(tmp_path: Path, capsys: Any) -> None:
    needs("torch")
    out = tmp_path / "out"
    code, _, told = call(capsys, "export", tmp_path / "none", "--to", "torch", "-o", out)
    assert code == 2
    assert "there is no compiled model" in told
    compiled("hist", 6).save(tmp_path / "model")
    weights = tmp_path / "model" / "weights.safetensors"
    raw = bytearray(weights.read_bytes())
    weights.write_bytes(raw[:-5])
    code, _, told = call(capsys, "export", tmp_path / "model", "--to", "torch", "-o", out)
    assert code == 2
    assert "cannot be read" in told
    raw[-3] ^= 0x40
    weights.write_bytes(raw)
    code, _, told = call(capsys, "export", tmp_path / "model", "--to", "torch", "-o", out)
    assert code == 2
    assert "the weights do not match their fingerprint" in told
    assert not out.exists()


def test_the_help_lists_every_target(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    told = capsys.readouterr().out
    assert all(name in told for name in TARGETS)


def test_the_guide_has_a_row_for_every_target() -> None:
    guide = (ROOT / "docs" / "compiling.md").read_text(encoding="utf-8").splitlines()
    rows = {name: line for name in TARGETS for line in guide if line.startswith(f"| `{name}` |")}
    assert list(rows) == list(TARGETS), (
        "describe it in the table of docs/compiling.md, in this order"
    )
    extras = {name: target.extra for name, target in TARGETS.items() if target.extra}
    assert all(f"`{extra}`" in rows[name] for name, extra in extras.items())
