"""The store: nothing half-written, nothing lost, nothing mistaken for something else."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

import rasp.models.training.run_store as store_module  # noqa: E402
from rasp.base.errors import RaspLimitError, RaspValueError  # noqa: E402
from rasp.models.training.run_store import Store  # noqa: E402
from rasp.models.training.sweep import SweepSettings, save, sweep  # noqa: E402

from .small_runs import make_stack, record_called, small_run, train_epochs  # noqa: E402

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[3] / "results" / "records.jsonl"


def test_a_stack_goes_on_from_its_snapshots_as_if_nothing_had_happened(tmp_path: Path) -> None:
    configs = [small_run("hist", seed=0), small_run("dyck_1", seed=1)]
    straight, broken, resumed = (make_stack(configs) for _ in range(3))
    train_epochs(straight, 3)
    train_epochs(broken, 1)
    store = Store(tmp_path)
    store.make_folders()
    save(broken, store)
    snapshots = [store.snapshot(config) for config in configs]
    resumed.restore([snapshot for snapshot in snapshots if snapshot])
    train_epochs(resumed, 2)
    assert torch.equal(straight.state.rows, resumed.state.rows)
    assert torch.equal(straight.best, resumed.best)
    assert [history.validation for history in straight.histories] == [
        history.validation for history in resumed.histories
    ]


def test_a_finished_run_is_never_repeated(tmp_path: Path) -> None:
    config, store = small_run("hist", epochs=1), Store(tmp_path)
    shares: list[float] = []
    settings = SweepSettings(device="cpu", progress=lambda share, _: shares.append(share))
    assert sweep([config], store, settings)
    assert shares[0] == 0 and shares == sorted(shares)
    shares.clear()
    assert sweep([config], store, settings) and not shares
    assert not list((tmp_path / "snapshots").iterdir())
    assert store.records()[config.id].run == config
    assert set(store.load_weights(config.id) or {}) >= {"embedding", "0.attend", "classify"}


def test_a_budget_ends_between_epochs_and_the_sweep_goes_on_later(tmp_path: Path) -> None:
    config = small_run("hist", epochs=3)
    done = [sweep([config], Store(tmp_path), SweepSettings("cpu", budget=1e-9)),
            sweep([config], Store(tmp_path), SweepSettings("cpu"))]  # fmt: skip
    assert done == [False, True]


def test_an_unfinished_run_does_not_get_into_the_way_of_others(tmp_path: Path) -> None:
    """A snapshot of another run, even one that cannot be read, is nobody else's business."""
    store, other, mine = Store(tmp_path), small_run("hist", seed=1), small_run("hist", epochs=1)
    store.make_folders()
    stack = make_stack([other])
    train_epochs(stack, 1)
    save(stack, store)
    (tmp_path / "snapshots" / "strange.safetensors").write_bytes(b"?")
    assert sweep([mine], store, SweepSettings("cpu"))
    left = store.snapshot(other)
    assert left is not None and left.epoch == 1
    (tmp_path / "snapshots" / f"{other.id}.safetensors").write_bytes(b"?")
    with pytest.raises(RaspValueError, match="not a snapshot") as refused:
        sweep([other], store, SweepSettings("cpu"))
    assert "this run then begins again, and no other is touched" in (refused.value.hint or "")


def add_twenty(folder: str) -> None:
    for number in range(20):
        Store(folder).add_record(record_called(f"run {number}"))


def test_two_trainings_into_one_folder_write_each_record_once(tmp_path: Path) -> None:
    Store(tmp_path).make_folders()
    with ThreadPoolExecutor(2) as pool:  # each opens the file, as processes would
        list(pool.map(add_twenty, [str(tmp_path)] * 2))
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == 20


def test_a_record_cut_short_by_a_kill_does_not_count_and_spoils_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.make_folders()
    store.add_record(record_called("first"))
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"id": "b", "na')
    store.add_record(record_called("third"))
    assert list(store.records()) == ["first", "third"]


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
    config = small_run("hist")
    stack, store = make_stack([config]), Store(tmp_path)
    store.make_folders()
    train_epochs(stack, 1)
    save(stack, store)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store_module, "replacing", full)
    train_epochs(stack, 1)
    with pytest.raises(RaspLimitError, match="the disk is full"):
        save(stack, store)
    left = store.snapshot(config)
    assert left is not None and left.epoch == 1


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RaspValueError, match="cannot be written"):
        Store(tmp_path / "file" / "results").make_folders()


def test_the_published_records_are_of_the_runs_they_say() -> None:
    records = Store(RESULTS.parent).records()
    assert records
    for record in records.values():
        config, validation = record.run, record.curves.validation
        assert config.id == record.id
        assert len(validation) == config.epochs
        assert validation[record.best_epoch - 1] == max(validation)
