"""A sweep on a Ray cluster: stacks go out to workers, records and weights come back, each once.

A stack is trained by one task, a pure function of its configurations; where a worker dies, Ray
starts the task again elsewhere, and a record that is there already is not written twice. Needs the
extra `cluster`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rasp.base.cluster import RETRIES, Cluster, connected, require_ray
from rasp.base.progress import ignore
from rasp.models.training.config import RunConfig, read_config
from rasp.models.training.records import Record
from rasp.models.training.run_store import Store
from rasp.models.training.sweep import SweepSettings, groups_of, sweep


def sweep_on_cluster(
    configs: Sequence[RunConfig], store: Store, settings: SweepSettings, cluster: Cluster
) -> bool:
    """Train what is missing on a cluster; return whether everything is finished."""
    require_ray()
    store.make_folders()
    store.check_names(configs)
    finished = store.finished(configs)
    missing = [config for config in configs if config.id not in finished]
    with connected(cluster) as ray:
        task = ray.remote(num_cpus=1, num_gpus=cluster.gpus, max_retries=RETRIES)
        quiet = replace(settings, progress=ignore, processes=1, budget=None)
        waiting = [
            task(train_unit).remote([(member.name, member.content) for member in unit], quiet)
            for unit in groups_of(missing, {}, cluster.together)
        ]
        limit = None if settings.budget is None else settings.budget * 60
        while waiting:
            ready, waiting = ray.wait(waiting, num_returns=1, timeout=limit)
            if not ready:
                return False
            for record, weights in ray.get(ready[0]):
                keep(store, record, weights)
    return True


def train_unit(
    runs: Sequence[tuple[str, dict[str, Any]]], settings: SweepSettings
) -> list[tuple[Record, dict[str, Any]]]:
    """Train a stack on a worker; return its records, with the weights as arrays."""
    configs = [read_config(name, content) for name, content in runs]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        sweep(configs, store, settings)
        return [
            (
                record,
                {name: array.numpy() for name, array in (store.load_weights(key) or {}).items()},
            )
            for key, record in store.records().items()
        ]


def keep(store: Store, record: Record, weights: dict[str, Any]) -> None:
    """Write a record that came back, unless it is there already."""
    import torch

    if weights:
        named = {name: torch.from_numpy(array.copy()) for name, array in weights.items()}
        store.save_weights(record.id, named)
    store.add_record(record)
