"""The match: the best assignment, and numbers that say what they should at both ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.training.matching import agreement, assign, find_match, hold_out  # noqa: E402

from .small_runs import make_stack, small_run  # noqa: E402

pytestmark = pytest.mark.slow


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 10_000))
def test_the_assignment_is_the_best_there_is(rows: int, more: int, seed: int) -> None:
    from itertools import permutations

    table = np.random.default_rng(seed).random((rows, rows + more))
    found = assign(table)
    best = max(
        sum(table[row, column] for row, column in enumerate(columns))
        for columns in permutations(range(rows + more), rows)
    )
    assert len(set(found)) == rows
    assert sum(table[row, column] for row, column in enumerate(found)) == pytest.approx(best)


def test_a_selection_agrees_with_itself_and_uniform_attention_as_far_as_it_is_wide() -> None:
    stack = make_stack([small_run("reverse")])
    held = hold_out(stack.data[0], stack.own_shapes[0], 20, "cpu")
    everything, flip = held.targets
    lengths = held.batch.lengths[:, held.plan.slot_of[held.plan.cell_queries]].float()
    assert agreement(flip[0], *flip, held.plan) == pytest.approx(1)
    assert agreement(1 / lengths, *everything, held.plan) == pytest.approx(1)
    rows = held.batch.lengths[0].float()
    assert agreement(1 / lengths, *flip, held.plan) == pytest.approx(
        float(len(rows) / rows.sum()), rel=1e-4
    )


def test_an_untrained_model_has_a_match_with_every_selector_and_a_small_one_has_none() -> None:
    stack = make_stack([small_run("reverse")])
    found = find_match(
        stack.own_row(stack.state.rows, 0)[None], stack.own_shapes[0], stack.data[0], 20
    )
    assert found is not None and len(found.selectors) == 2
    places = [each.model for each in found.selectors]
    assert len(set(places)) == 2
    shallow = make_stack([small_run("reverse", layers=1)])
    row = shallow.own_row(shallow.state.rows, 0)[None]
    assert find_match(row, shallow.own_shapes[0], shallow.data[0]) is None
