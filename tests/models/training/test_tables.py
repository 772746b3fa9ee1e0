"""Tables: the runs the paper's tables are made of, and what their lines say."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.base.errors import RaspNameError
from rasp.models.training.paper_tables import (
    cells_of,
    configs_of,
    render,
    summarise,
    table_lines,
)
from rasp.models.training.paper_tasks import ROWS, TASKS
from rasp.models.training.records import Match, Shares

from .small_runs import record_called

pytestmark = pytest.mark.slow


def test_table_1_is_four_runs_of_each_task_by_the_papers_recipe() -> None:
    cells = cells_of("table1")
    assert [cell.task for cell in cells] == list(TASKS)
    for cell in cells:
        recipes = {(config.rate, config.decay) for config in cell.configs}
        assert recipes == {(3e-4, 0.98), (3e-4, 0.99), (1e-4, 0.98), (1e-4, 0.99)}
        config = cell.configs[0]
        assert (config.width, config.feed_forward, config.epochs, config.batch) == (
            256,
            512,
            100,
            50,
        )
        assert (config.train, config.validation, config.test) == (50_000, 1_000, 1_000)


def test_table_2_takes_layers_and_heads_away_and_doubles_the_width_with_the_heads() -> None:
    cells = {(cell.task, cell.column): cell for cell in cells_of("table2")}
    assert len(cells) == sum(mean is not None for row in ROWS.values() for mean in row.means)
    wide = cells["double_hist", "L−1, 2H"].configs[0]
    assert (wide.layers, wide.heads, wide.width) == (1, 4, 512)
    narrow = cells["most_freq", "L, H−1"].configs[0]
    assert (narrow.layers, narrow.heads, narrow.width) == (3, 1, 256)
    first = {config.id for config in configs_of(cells_of("table1"))}
    shared = [config for config in configs_of(cells.values()) if config.id in first]
    assert len(shared) == 7 * 4  # all but the histogram with BOS


def test_the_supervised_three_are_the_papers() -> None:
    cells = {cell.task: cell.configs[0] for cell in cells_of("supervised")}
    assert set(cells) == {"double_hist", "sort", "most_freq"}
    assert all(config.epochs == 250 and config.attention == 100 for config in cells.values())
    assert len(cells["sort"].task.alphabet) == 52 and len(cells["most_freq"].task.alphabet) == 26
    assert all((config.rate, config.decay) == (3e-4, 0.98) for config in cells.values())


def test_runs_have_names_and_ids_of_their_own() -> None:
    every = [
        config
        for name in ("table1", "table2", "supervised")
        for config in configs_of(cells_of(name))
    ]
    by_id = {config.id: config.name for config in every}
    assert len(set(by_id.values())) == len(by_id) == 32 + 60 + 3 + 1  # sort twice


def test_a_line_gives_mean_spread_and_best_beside_the_papers() -> None:
    (cell,) = cells_of("table1", ["reverse"])
    shares = (0.9, 0.8, 1.0)
    records = {
        config.id: replace(
            record_called("x", match=Match(9, share, share, 0.25, [])),
            test=Shares(share, share / 2),
        )
        for config, share in zip(cell.configs, shares, strict=False)
    }
    found = summarise(cell, records)
    assert found is not None
    assert (found.runs, found.best, found.sequences, found.agreement) == (3, 100, 50, 1.0)
    assert found.mean == pytest.approx(90) and found.spread == pytest.approx(8.16497, abs=1e-4)
    head, line = table_lines([cell], records)
    assert dict(zip(head, line, strict=True))["paper best"] == "99.99"
    assert summarise(cell, {}) is None and "0/4" in table_lines([cell], {})[1]
    assert render([head, line], markdown=True).count("\n") == 2


def test_a_task_that_is_not_there_is_refused() -> None:
    with pytest.raises(RaspNameError, match="not a task of supervised"):
        cells_of("supervised", ["reverse"])
