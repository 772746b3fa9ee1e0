"""Training's records and weights: whole before, whole after, whatever happens between."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

if not sys.platform.startswith("linux"):
    pytest.skip("forks, signals and limits as Linux has them", allow_module_level=True)
torch = pytest.importorskip("torch", reason="training needs torch")

from training.small_runs import record_called  # noqa: E402

from rasp.models.training.own import own_config, own_task, write_data  # noqa: E402
from rasp.models.training.records import Curves, record_line  # noqa: E402
from rasp.models.training.run_pictures import save_curves  # noqa: E402
from rasp.models.training.run_store import Store  # noqa: E402
from rasp.models.training.stack import PARTS, History, RunSnapshot  # noqa: E402

from .moments import (  # noqa: E402
    REFUSED,
    full_at_every_moment,
    interrupted_at_every_moment,
    killed_at_every_moment,
    without_permission,
    without_space,
)

strikes = pytest.mark.parametrize(
    "strike", [killed_at_every_moment, interrupted_at_every_moment, full_at_every_moment]
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "runs")
    made.make_folders()
    return made


CONFIG = own_config(
    own_task("x = length;", "x", ("a", "b"), (1, 3)), small=True,
    train=50, validation=50, test=50,
)  # fmt: skip


def snapshot(epoch: int) -> RunSnapshot:
    history = History([0.5] * epoch, [0.5] * epoch, 0, 1.0)
    return RunSnapshot({part: torch.full((50,), float(epoch)) for part in PARTS}, history)


@strikes
def test_a_snapshot_is_the_last_one_or_the_new_one(strike, store: Store) -> None:
    epochs = set()
    for _ in strike(
        lambda: store.save_snapshot(CONFIG, snapshot(2)),
        lambda: store.save_snapshot(CONFIG, snapshot(1)),
    ):
        left = store.snapshot(CONFIG)
        epochs.add(left.epoch)
        assert left.tensors["rows"].tolist() == [float(left.epoch)] * 50
    assert 1 in epochs
    assert epochs <= {1, 2}


@strikes
def test_records_that_were_there_stay_and_more_can_be_added(strike, store: Store) -> None:
    path = store.folder / "records.jsonl"

    def restore() -> None:  # the last one was cut short by a kill
        path.write_bytes(record_line(record_called("old")) + b'{"id": "to')

    for _ in strike(lambda: store.add_record(record_called("new")), restore):
        assert "old" in store.records()
        store.add_record(record_called("later"))
        assert {"old", "later"} <= set(store.records()) <= {"old", "new", "later"}


def test_without_space_or_permission_what_was_there_stays(store: Store) -> None:
    store.save_snapshot(CONFIG, snapshot(1))
    store.add_record(record_called("old"))
    acts = [lambda: store.save_snapshot(CONFIG, snapshot(2)),
            lambda: store.add_record(record_called("new"))]  # fmt: skip
    for act, folder in zip(acts, [store.folder / "snapshots", store.folder], strict=True):
        assert without_space(act) == REFUSED
        (store.folder / "records.jsonl").chmod(0o444)
        assert without_permission(act, str(folder)) == REFUSED
    left = store.snapshot(CONFIG)
    assert left is not None and left.epoch == 1
    assert list(store.records()) == ["old"]


CURVES = Curves([1.0, 0.5], [0.5, 1.0])
PRODUCTS = {
    "curves": lambda path: save_curves("x", CURVES, str(path)),
    "data": lambda path: write_data(CONFIG.task, CONFIG, str(path)),
}


@strikes
@pytest.mark.parametrize("product", PRODUCTS)
def test_curves_and_data_are_the_old_file_or_the_new_one(
    strike, product: str, tmp_path: Path
) -> None:
    path, write = tmp_path / "it", PRODUCTS[product]
    write(path)
    new = path.read_bytes()
    assert new

    def restore() -> None:
        for each in tmp_path.iterdir():
            each.unlink()
        path.write_bytes(b"old")

    for moment in strike(lambda: write(path), restore):
        assert path.read_bytes() in (b"old", new), f"moment {moment}"
        if strike is not killed_at_every_moment:
            assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("product", PRODUCTS)
def test_without_space_or_permission_the_old_file_stays(product: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path, write = folder / "it", PRODUCTS[product]
    path.write_bytes(b"old")
    assert without_space(lambda: write(path)) == REFUSED
    assert without_permission(lambda: write(path), str(folder)) == REFUSED
    assert path.read_bytes() == b"old"
    assert list(folder.iterdir()) == [path]
