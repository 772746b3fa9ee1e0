"""The plain evaluator is the oracle: the fast one gives the same atoms and the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from oracle import agree, exactly, fast_results, plain_results, strained

import rasp.teaching.gallery
from rasp.base.atoms import read_input
from rasp.base.errors import RaspError
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.namespace import run
from rasp.language.evaluator import apply, evaluate_batch
from rasp.language.graph import Node
from rasp.teaching.gallery.gallery_check import random_inputs
from strategies import examples
from strategies.graphs import GraphsAndInputs, graphs_and_inputs
from strategies.programs import LIMITS, Case, cases

GOLDEN = Path(__file__).resolve().parents[4] / "shared" / "golden"


@pytest.mark.slow
@given(graphs_and_inputs())
@examples(150)
def test_random_graphs_agree(case: GraphsAndInputs) -> None:
    outputs, inputs = case
    agree(outputs, *inputs)


@pytest.mark.slow
@given(graphs_and_inputs())
@examples(150)
def test_random_graphs_agree_on_the_ways_of_long_inputs(case: GraphsAndInputs) -> None:
    outputs, inputs = case
    with strained():
        agree(outputs, *inputs)


@pytest.mark.slow
@given(cases())
@examples(150)
def test_random_programs_agree(case: Case) -> None:
    outputs = list(case.outputs.values())
    assume(outputs)
    agree(outputs, *case.inputs)
    with strained():
        agree(outputs, *case.inputs, *case.inputs)


@pytest.mark.slow
@given(cases())
@examples(100)
def test_a_batch_gives_what_its_inputs_give_one_by_one(case: Case) -> None:
    outputs = list(case.outputs.values())
    assume(outputs)
    singly: list[object] = []
    for number, tokens in enumerate(case.inputs):
        try:
            singly.append([exactly(apply(node, tokens, limits=LIMITS)) for node in outputs])
        except RaspError as error:
            with pytest.raises(type(error)) as batch:
                evaluate_batch(outputs, case.inputs, limits=LIMITS)
            assert len(case.inputs) == 1 or f", in input {number} " in f"{batch.value.message} "
            return
    batched = evaluate_batch(outputs, case.inputs, limits=LIMITS)
    assert singly == [[exactly(values[node]) for node in outputs] for values in batched]


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
