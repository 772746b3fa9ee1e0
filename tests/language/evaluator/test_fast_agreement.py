"""The plain evaluator is the oracle: the fast one gives the same atoms and the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from random_graphs import disagreement, fast_results, plain_results, strained

import rasp.teaching.gallery
from rasp.base.atoms import read_input
from rasp.base.errors import RaspError
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.namespace import run
from rasp.language.graph import Node
from rasp.teaching.gallery.gallery_check import random_inputs

GOLDEN = Path(__file__).resolve().parents[4] / "shared" / "golden"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 301, 20))
def test_random_programs_agree(first: int) -> None:
    found = [disagreement(seed) for seed in range(first, first + 20)]
    assert not any(found), next(filter(None, found))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1001, 1301, 20))
def test_random_programs_agree_on_the_ways_of_long_inputs(first: int) -> None:
    with strained():
        found = [disagreement(seed) for seed in range(first, first + 20)]
    assert not any(found), next(filter(None, found))


@pytest.mark.slow
@pytest.mark.parametrize("name", rasp.programs.names())
def test_the_gallery_agrees_as_one_ragged_batch(name: str) -> None:
    node = rasp.programs.load(name).node
    drawn = random_inputs(rasp.programs.entry(name), count=12, longest=40)
    inputs = [read_input(tokens) for tokens in drawn]
    assert fast_results([node], inputs) == plain_results([node], inputs)


@pytest.mark.slow
@pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="the reference's answers are not beside this checkout"
)
@pytest.mark.parametrize("file", ["eval_values.json", "eval_errors.json"])
def test_the_golden_programs_agree(file: str) -> None:
    compared = 0
    for case in json.loads((GOLDEN / file).read_text())["cases"]:
        node = golden_node(case)
        if node is None:
            continue
        try:
            inputs = [read_input(case["input"]), read_input(case["input"])]
        except RaspError:
            continue
        assert fast_results([node], inputs) == plain_results([node], inputs), case
        compared += 1
    assert compared > 20


def golden_node(case: dict[str, Any]) -> Node | None:
    """The node that a case applies; None where it is refused earlier, or is not a node."""
    try:
        value = run(case["program"])[case["expr"]]
    except (RaspError, KeyError):
        return None
    return value.node if isinstance(value, Handle) else None
