"""Layers and heads as the paper counts them, and as the reference of 2021 does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rasp
from rasp.insight.schedule import schedule

from .paper_programs import OWN_LIBRARY, PAPER_PROGRAMS

GOLDEN = Path(__file__).parents[4] / "shared" / "golden" / "arch.json"


@pytest.mark.parametrize("method", ["auto", "greedy", "earliest"])
@pytest.mark.parametrize("library", ["", OWN_LIBRARY], ids=["library", "listing"])
@pytest.mark.parametrize("task", PAPER_PROGRAMS)
def test_the_table_of_the_paper_holds(task: str, library: str, method: str):
    program = PAPER_PROGRAMS[task]
    found = schedule(rasp.run(library + program.text)[program.name], method)
    assert found.heads_per_layer == program.heads
    assert found.exact


def test_layers_equal_the_reference_s_and_heads_are_never_more():
    if not GOLDEN.exists():
        pytest.skip("the reference's answers are not beside this checkout")
    cases = json.loads(GOLDEN.read_text())["cases"]
    assert cases
    for case in cases:
        handle = rasp.run(case["program"])[case["expr"]]
        early, best = schedule(handle, "earliest"), schedule(handle)
        theirs = case["heads_per_layer"]
        assert early.layers == best.layers == case["layers"], case["id"]
        # the reference places everything as early as it can be, as the paper does
        assert all(ours <= count for ours, count in zip(early.heads_per_layer, theirs, strict=True))
        # the narrowest schedule moves heads between layers, but never makes more of them here
        assert best.width <= max(theirs, default=0), case["id"]
        assert best.heads <= sum(theirs), case["id"]
