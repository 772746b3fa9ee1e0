"""Corrupted snapshots, records and weights: `rasp train` says so in a line, with an exit code."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

pytestmark = pytest.mark.slow
if not hasattr(os, "mkfifo"):
    pytest.skip("pipes and devices with names", allow_module_level=True)

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from rasp.apps.cli import main  # noqa: E402
from rasp.models.training.data import make_data  # noqa: E402
from rasp.models.training.engine import Engine  # noqa: E402
from rasp.models.training.own import own_config, own_task  # noqa: E402
from rasp.models.training.run_store import Store  # noqa: E402
from rasp.models.training.stack import Stack  # noqa: E402
from rasp.models.training.sweep import SweepSettings, save, sweep, train_epoch  # noqa: E402

PROGRAM = "first = aggregate(select(indices, 0, ==), tokens);"
SIZES = {"width": 8, "feed_forward": 8, "epochs": 2, "batch": 10, "train": 20, "validation": 10,
         "test": 10}  # fmt: skip
TASK = own_task(PROGRAM, "first", ("a", "b"), (1, 4))
CONFIG = own_config(TASK, **SIZES)
Corruption = Callable[[Path], None]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: `half` has a snapshot after one epoch, `whole` a record and weights."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "first.rasp").write_text(PROGRAM)
    stack = Stack([CONFIG], [make_data(TASK, 0, CONFIG.sizes)], "cpu")
    train_epoch(stack, Engine(stack))
    store = Store(folder / "half")
    store.make_folders()
    save(stack, store)
    assert sweep([CONFIG], Store(folder / "whole"), SweepSettings("cpu"))
    return folder


def train(kept: Path, results: Path, *more: str) -> int:
    sizes = [word for name, number in SIZES.items()
             for word in (f"--{name.replace('_', '-')}", str(number))]  # fmt: skip
    return main(["train", str(kept / "first.rasp"), "first", "--alphabet", "ab",
                 "--max-length", "4",
                 "--device", "cpu", *sizes, "--results", str(results), *more])  # fmt: skip


# -- what can happen to any file --------------------------------------------------------------


def instead(make: Corruption) -> Corruption:
    def corrupt(path: Path) -> None:
        path.unlink()
        make(path)

    return corrupt


def overwrite(path: Path, at: int, raw: bytes) -> None:
    whole = path.read_bytes()
    at %= len(whole)
    path.write_bytes(whole[:at] + raw + whole[at + len(raw) :])


ANY_FILE: dict[str, Corruption] = {
    "a pipe": instead(os.mkfifo),
    "a link to an endless device": instead(lambda path: path.symlink_to("/dev/zero")),
    "a folder": instead(lambda path: path.mkdir()),
    "a link to itself": instead(lambda path: path.symlink_to(path)),
    "larger than any disk": lambda path: os.truncate(path, 1 << 42),
}

# -- what can happen to tensors ----------------------------------------------------------------


def rewrite(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Corruption:
    """Change what a snapshot says of its run, or holds."""

    def corrupt(path: Path) -> None:
        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            about = json.loads(file.metadata()["about"])
        change(about.get("history", {}), tensors)
        save_file(tensors, path, {"about": json.dumps(about)})

    return corrupt


TENSORS: dict[str, Corruption] = ANY_FILE | {
    "empty": lambda path: path.write_bytes(b"") and None,
    "cut short in its header": lambda path: os.truncate(path, 100),
    "cut short in its numbers": lambda path: os.truncate(path, path.stat().st_size - 10),
    "a header without end": lambda path: overwrite(path, 0, b"\xff" * 7),
    "numbers missing": rewrite(lambda _, tensors: tensors.pop(min(tensors))),
}
SNAPSHOTS = TENSORS | {
    "numbers of another size": rewrite(
        lambda _, tensors: tensors.update(rows=tensors["rows"][:-1].clone())
    ),
    "an epoch after the last": rewrite(
        lambda history, _: history.update(loss=[0.5] * 9, validation=[0.5] * 9)
    ),
    "no losses": rewrite(lambda history, _: history.update(loss=[])),
    "losses that are words": rewrite(lambda history, _: history.update(loss=["low"])),
    "a best epoch that is not one": rewrite(lambda history, _: history.update(best_epoch=7)),
}


@pytest.mark.parametrize("corruption", SNAPSHOTS)
def test_a_corrupted_snapshot_is_named_in_a_line(
    corruption: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = shutil.copytree(kept / "half", tmp_path / "runs")
    [path] = (results / "snapshots").iterdir()
    SNAPSHOTS[corruption](path)
    assert train(kept, results) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and str(path) in said[0] and said[1].startswith("hint: ")


@pytest.mark.parametrize("corruption", TENSORS)
def test_corrupted_weights_are_named_in_a_line(
    corruption: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = shutil.copytree(kept / "whole", tmp_path / "runs")
    [path] = (results / "weights").iterdir()
    TENSORS[corruption](path)
    assert train(kept, results, "--heads-on", "ab") == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and said[1].startswith("hint: ")


def change_record(change: Callable[[dict[str, Any]], None]) -> Corruption:
    """Change a record, as somebody would who writes one by hand."""

    def corrupt(path: Path) -> None:
        record = json.loads(path.read_text())
        change(record)
        path.write_text(json.dumps(record) + "\n")

    return corrupt


RECORDS: dict[str, Corruption] = {
    **{name: ANY_FILE[name] for name in ANY_FILE if name != "a link to itself"},
    "no test": change_record(lambda record: record.pop("test")),
    "accuracies that are words": change_record(lambda record: record["test"].update(tokens="all")),
    "curves of nothing": change_record(lambda record: record.update(curves=None)),
    "a match without rows": change_record(lambda record: record.update(match={"selectors": [3]})),
}


@pytest.mark.parametrize("corruption", RECORDS)
def test_a_corrupted_record_is_named_in_a_line(
    corruption: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = shutil.copytree(kept / "whole", tmp_path / "runs")
    RECORDS[corruption](results / "records.jsonl")
    assert train(kept, results) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and str(results) in said[0] and said[1].startswith("hint: ")


def test_a_line_that_is_no_json_does_not_count(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(b'{"id": "cut sh\n\0\xff\n')
    assert train(kept, tmp_path) == 0
    assert list(Store(tmp_path).records()) == [CONFIG.id]


def test_a_diverged_run_is_recorded_as_such(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "curves.svg"
    assert train(kept, tmp_path, "--rate", "1e30", "--curves", str(picture)) == 1
    assert "diverged: from epoch" in capsys.readouterr().out
    text = (tmp_path / "records.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text
    [record] = Store(tmp_path).records().values()
    assert record.diverged in (1, 2) and None in record.curves.loss
    assert picture.read_text().startswith("<svg")
    weights = Store(tmp_path).load_weights(record.id)
    assert weights is not None and all(each.isfinite().all() for each in weights.values())
