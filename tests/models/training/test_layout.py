"""Batches: every example once an epoch, all lengths in each batch, next to no padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rasp.base.errors import RaspValueError
from rasp.models.training.batch_shapes import SlotLayout, deal, lay_out

pytestmark = pytest.mark.slow


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 1000))
def test_an_epoch_takes_every_example_once_and_every_example_fits_its_slot(
    batch: int, batches: int, seed: int
) -> None:
    lengths = np.sort(np.random.default_rng(seed).integers(1, 40, batch * batches))
    layout, order = lay_out([lengths], batch), deal((seed, 1), batch, batches)
    assert sorted(order.ravel()) == list(range(batch * batches))
    assert order.shape == (batches, batch)
    assert (lengths[order] <= np.array(layout.slots)).all()


def test_mixed_lengths_leave_next_to_no_padding() -> None:
    lengths = np.sort(np.random.default_rng(0).integers(1, 101, 50_000))
    layout = lay_out([lengths], 50)
    assert layout.size < 1.03 * 50 * lengths.mean()
    assert max(layout.slots) == 100 and min(layout.slots) <= 3


def test_the_order_changes_from_epoch_to_epoch_and_with_the_seed_only() -> None:
    first = deal((0, 1), 10, 20)
    assert (first == deal((0, 1), 10, 20)).all()
    assert (first != deal((0, 2), 10, 20)).any()
    assert (first != deal((1, 1), 10, 20)).any()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_cells_lie_slot_by_slot_and_row_by_row(slots: list[int]) -> None:
    layout = SlotLayout(tuple(slots))
    queries, keys = layout.cell_tokens
    assert len(queries) == layout.cells == sum(each**2 for each in slots)
    assert (layout.slot_of[queries] == layout.slot_of[keys]).all()
    for slot, length in enumerate(slots):
        start = layout.cell_starts[slot]
        at = start + 0 * length + (length - 1)  # the first row's last cell
        assert layout.position_of[queries[at]] == 0 and layout.position_of[keys[at]] == length - 1


def test_examples_that_no_batch_divides_are_refused() -> None:
    with pytest.raises(RaspValueError, match="cannot be dealt out"):
        lay_out([np.arange(1, 8)], 3)
