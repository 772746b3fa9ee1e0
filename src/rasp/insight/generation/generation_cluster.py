"""Inputs in, what a program generates out, spread over a Ray cluster: each answer once, in order.

A task is a pure function of a program, rules and some inputs, so a lost worker's share is simply
done again. An input that fails is generated again here, where the program's text is known and the
error can point at it. Needs the extra `cluster`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from rasp.base.cluster import RETRIES, Cluster, connected, require_ray
from rasp.base.errors import RaspError
from rasp.base.limits import Limits
from rasp.insight.generation.loop import Generation, outcomes_of
from rasp.insight.generation.question import Rules, question_of
from rasp.language.embedding.handles import Handle
from rasp.language.graph.portable import graph_from_json, graph_to_json

WAITING = 4
"""Tasks for each processor that are sent out before an answer is waited for."""


def outcomes_on_cluster(
    handle: Handle, inputs: Iterable[Any], rules: Rules, cluster: Cluster
) -> Iterator[Generation | RaspError]:
    """Generate for many inputs on a cluster; an input that fails gives its error."""
    require_ray()
    question_of(handle, rules)  # what cannot generate is refused before anything is sent
    graph = graph_to_json({"next": handle.node}, {})
    left = iter(inputs)
    with connected(cluster) as ray:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(generate_share)
        most = WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
        sent: deque[tuple[list[Any], Any]] = deque()
        while True:
            while len(sent) < most and (share := list(islice(left, cluster.together))):
                sent.append((share, task.remote(graph, handle.budgets, share, rules)))
            if not sent:
                return
            share, answer = sent.popleft()
            for given, generation in zip(share, ray.get(answer), strict=True):
                yield generation or next(outcomes_of(handle, [given], rules))


def generate_share(
    graph: dict[str, Any], limits: Limits, inputs: Sequence[Any], rules: Rules
) -> list[Generation | None]:
    """Generate for some inputs on a worker; None for one that fails."""
    handle = Handle(graph_from_json(graph)[0]["next"], limits=limits)
    return [
        None if isinstance(outcome, RaspError) else outcome
        for outcome in outcomes_of(handle, inputs, rules)
    ]
