"""A sweep on a real two-node Ray cluster, with a node that dies in the middle of it."""

from __future__ import annotations

import importlib.util
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.base.cluster import Cluster
from rasp.base.errors import RaspUnsupportedError
from rasp.models.training.run_store import Store
from rasp.models.training.sweep import SweepSettings, groups_of, sweep
from rasp.models.training.sweep_cluster import keep, sweep_on_cluster, train_unit

from .small_runs import small_run

pytestmark = pytest.mark.slow

CONFIGS = [small_run(task, seed, epochs=2) for task in ("hist", "dyck_1") for seed in range(2)]


def test_a_worker_gives_the_same_numbers_as_this_process_and_results_arrive_once(
    tmp_path: Path,
) -> None:
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    sweep(CONFIGS, here, SweepSettings("cpu"))
    units = groups_of(CONFIGS, {}, together=4)
    assert [len(unit) for unit in units] == [4]
    for unit in units * 2:  # a task that was started again returns the same once more
        for record, weights in train_unit(
            [(each.name, each.content) for each in unit], SweepSettings("cpu")
        ):
            keep(there, record, weights)
    mine, theirs = here.records(), there.records()
    assert list(mine) == list(theirs)
    assert len((tmp_path / "there" / "records.jsonl").read_text().splitlines()) == len(CONFIGS)
    for key in mine:
        assert mine[key].test == theirs[key].test and mine[key].curves == theirs[key].curves
        assert there.load_weights(key)


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RaspUnsupportedError, match="needs `ray`") as caught:
        sweep_on_cluster(CONFIGS, Store(tmp_path), SweepSettings("cpu"), Cluster())
    assert "[cluster]" in (caught.value.hint or "")


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra `cluster` is not here"
)
@pytest.mark.filterwarnings("ignore")
def test_a_node_dies_and_every_run_is_finished_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster as LocalCluster

    local = LocalCluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    second = local.add_node(num_cpus=1)
    store = Store(tmp_path)
    try:
        ray.init(address=local.address, log_to_driver=False)
        killer = threading.Thread(target=_remove_when_busy, args=(local, second))
        killer.start()
        assert sweep_on_cluster(CONFIGS, store, SweepSettings("cpu"), Cluster(together=1))
        killer.join()
        until = time.monotonic() + 60  # the cluster takes a while to notice
        while time.monotonic() < until and sum(node["Alive"] for node in ray.nodes()) > 1:
            time.sleep(0.2)
        assert sum(node["Alive"] for node in ray.nodes()) == 1
    finally:
        ray.shutdown()
        local.shutdown()
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert len(lines) == len(CONFIGS) == len(store.records())


def _remove_when_busy(local: object, node: object) -> None:
    """Take a node away, without a word to it, once its worker is at work."""
    import ray

    until = time.monotonic() + 30
    while time.monotonic() < until and ray.available_resources().get("CPU", 0) > 0:
        time.sleep(0.05)
    time.sleep(0.5)
    local.remove_node(node, allow_graceful=False)  # type: ignore[attr-defined]
