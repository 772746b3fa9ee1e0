"""Where to find a Ray cluster, and how to connect to it and leave it as it was.

Whatever is spread over a cluster is a pure function of its arguments: where a worker dies, Ray
starts the task again elsewhere. Needs the extra `cluster`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rasp.base.installing import require

RETRIES = 5
"""How often a task is started again whose worker was lost."""


@dataclass(frozen=True)
class Cluster:
    """Where to find the cluster, and what a task takes of it."""

    address: str | None = None
    """None starts Ray on this machine alone."""
    gpus: float = 0.0
    together: int = 16
    """The most models in one stack, or inputs in one task."""


def require_ray() -> None:
    """Refuse where Ray is not installed."""
    require(("ray",), "cluster", "`--engine ray`")


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """Connect to a cluster, and leave it as it was."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report home
    import ray

    was_there = ray.is_initialized()
    if not was_there:
        ray.init(address=cluster.address, include_dashboard=False, log_to_driver=False)
    try:
        yield ray
    finally:
        if not was_there:
            ray.shutdown()
