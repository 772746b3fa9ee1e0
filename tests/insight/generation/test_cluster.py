"""Generating on a real two-node Ray cluster, with a node that dies in the middle of it."""

from __future__ import annotations

import importlib.util
import threading
import time
from typing import Any

import pytest

import rasp
from rasp.base.cluster import Cluster
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.insight.generation import Rules, outcomes_of
from rasp.insight.generation.generation_cluster import generate_share, outcomes_on_cluster
from rasp.language.graph.portable import graph_from_json, graph_to_json

TEXT = """
bar = aggregate(select(tokens, "|", ==), indices);
made = length - 1 - bar;
copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
fails = "x" if 1 / (length - 6) < 1 else "y";
"""
RULES = Rules(most=30)


def told(outcomes: Any) -> list[Any]:
    return [str(each) if isinstance(each, RaspError) else each for each in outcomes]


def test_a_worker_gives_what_this_process_gives() -> None:
    copy = rasp.run(TEXT)["copy"]
    inputs = ["abc|", "", "hello|", "|"]
    packed = graph_to_json({"next": copy.node}, {})
    here = list(outcomes_of(copy, inputs, RULES))
    there = generate_share(packed, copy.budgets, inputs, RULES)
    assert there == [None if isinstance(each, RaspError) else each for each in here]
    assert generate_share(packed, copy.budgets, inputs, RULES) == there


@pytest.mark.parametrize("name", ["dyck3_pure", "associative_recall", "sort_tokens"])
def test_a_graph_is_the_same_after_the_journey(name: str) -> None:
    node = rasp.programs.load(name).node
    assert graph_from_json(graph_to_json({"next": node}, {}))[0]["next"] is node


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    copy = rasp.run(TEXT)["copy"]
    with pytest.raises(RaspUnsupportedError, match="needs `ray`"):
        list(outcomes_on_cluster(copy, ["a|"], RULES, Cluster()))


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra `cluster` is not here"
)
@pytest.mark.filterwarnings("ignore")
def test_a_node_dies_and_every_input_is_answered_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster as LocalCluster

    local = LocalCluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    second = local.add_node(num_cpus=1)
    fails = rasp.run(TEXT)["fails"]
    inputs = ["ab" * (1 + number % 9) for number in range(600)]
    expected = told(outcomes_of(fails, inputs, RULES))
    try:
        ray.init(address=local.address, log_to_driver=False)
        outcomes = outcomes_on_cluster(fails, inputs, RULES, Cluster(together=20))
        found = [next(outcomes)]
        killer = threading.Thread(target=_remove, args=(local, second))
        killer.start()
        found += list(outcomes)
        killer.join()
        until = time.monotonic() + 60  # the cluster takes a while to notice
        while time.monotonic() < until and sum(node["Alive"] for node in ray.nodes()) > 1:
            time.sleep(0.2)
        assert sum(node["Alive"] for node in ray.nodes()) == 1
    finally:
        ray.shutdown()
        local.shutdown()
    assert told(found) == expected


def _remove(local: Any, node: Any) -> None:
    """Take a node away, without a word to it, while its worker is at work."""
    local.remove_node(node, allow_graceful=False)
