"""The store: nothing half-written, nothing lost, nothing mistaken for something else."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

import rasp.models.training.tensors as tensors_module  # noqa: E402
from rasp.base.errors import RaspLimitError, RaspValueError  # noqa: E402
from rasp.models.training.config import read_config  # noqa: E402
from rasp.models.training.run_store import Store, restore, snapshot_of  # noqa: E402
from rasp.models.training.sweep import SweepSettings, sweep  # noqa: E402

from .small_runs import make_stack, small_run, train_epochs  # noqa: E402

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[3] / "results" / "records.jsonl"


def test_a_stack_goes_on_from_its_snapshot_as_if_nothing_had_happened(tmp_path: Path) -> None:
    configs = [small_run("hist", seed=0), small_run("dyck_1", seed=1)]
    straight, broken = make_stack(configs), make_stack(configs)
    train_epochs(straight, 3)
    train_epochs(broken, 1)
    store = Store(tmp_path)
    store.save_snapshot(snapshot_of(broken))
    places = store.unfinished()
    resumed = make_stack(configs)
    restore(resumed, store, [places[config.id] for config in configs])
    train_epochs(resumed, 2)
    assert torch.equal(straight.rows, resumed.rows) and torch.equal(straight.best, resumed.best)
    assert [each.validation for each in straight.progress] == [
        each.validation for each in resumed.progress
    ]


def test_a_finished_run_is_never_repeated(tmp_path: Path) -> None:
    config, store = small_run("hist", epochs=1), Store(tmp_path)
    reports: list[int] = []
    settings = SweepSettings(device="cpu", report=lambda *_: reports.append(1))
    assert sweep([config], store, settings) and sweep([config], store, settings)
    assert reports == [1] and len(store.records()) == 1
    assert not list((tmp_path / "snapshots").iterdir())
    record = store.records()[config.id]
    assert read_config(record["name"], record["config"]) == config
    assert set(store.load_weights(config.id) or {}) >= {"embedding", "0.attend", "classify"}


def test_a_budget_ends_between_epochs_and_the_sweep_goes_on_later(tmp_path: Path) -> None:
    config = small_run("hist", epochs=3)
    done = [sweep([config], Store(tmp_path), SweepSettings("cpu", budget=1e-9)),
            sweep([config], Store(tmp_path), SweepSettings("cpu"))]  # fmt: skip
    assert done == [False, True]


def test_a_record_cut_short_by_a_kill_does_not_count_and_spoils_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add_record({"id": "a", "name": "first", "config": {}})
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"id": "b", "na')
    store.add_record({"id": "c", "name": "third", "config": {}})
    assert list(store.records()) == ["a", "c"]


def test_another_configuration_under_the_same_name_is_refused(tmp_path: Path) -> None:
    config, store = small_run("hist", epochs=1), Store(tmp_path)
    sweep([config], store, SweepSettings("cpu"))
    changed = replace(config, rate=0.5)
    with pytest.raises(RaspValueError, match=r"another one: rate was 0\.0003 and is now 0\.5"):
        sweep([changed], store, SweepSettings("cpu"))
    assert list(store.records()) == [config.id]


def test_a_full_disk_is_said_and_the_last_snapshot_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, store = make_stack([small_run("hist")]), Store(tmp_path)
    train_epochs(stack, 1)
    path = store.save_snapshot(snapshot_of(stack))
    kept = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tensors_module, "save_file", full)
    train_epochs(stack, 1)
    with pytest.raises(RaspLimitError, match="the disk is full"):
        store.save_snapshot(snapshot_of(stack))
    assert path.read_bytes() == kept
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RaspValueError, match="cannot be written"):
        Store(tmp_path / "file" / "results").make_folders()


def test_the_published_records_are_of_the_runs_they_say() -> None:
    records = Store(RESULTS.parent).records()
    assert records
    for record in records.values():
        config = read_config(record["name"], record["config"])
        assert config.id == record["id"]
        assert len(record["curves"]["validation"]) == config.epochs
        best = max(record["curves"]["validation"])
        assert record["curves"]["validation"][record["best_epoch"] - 1] == best
