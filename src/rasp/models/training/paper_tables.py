"""The paper's tables as sweeps: which runs make one, and what its lines say beside the paper's.

Four runs make a line, as in the paper: learning rates 0.0003 and 0.0001, decays 0.98 and 0.99.
Table 2's first column is Table 1's runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from rasp.base.errors import RaspNameError
from rasp.insight.schedule import schedule
from rasp.models.training.config import RunConfig
from rasp.models.training.paper_tasks import ROWS, SUPERVISED, TASKS
from rasp.models.training.records import Record
from rasp.models.training.tasks import TrainingTask

GRID = tuple((rate, decay) for rate in (3e-4, 1e-4) for decay in (0.98, 0.99))
ATTENTION_WEIGHT = 100.0
SUPERVISED_EPOCHS = 250
SLOWER = ("sort",)
"""Supervised tasks that also run with the paper's slower decay: they still learn at the end."""


@dataclass(frozen=True)
class TableCell:
    """The runs of one size of one task, and what the paper says of them, in percent."""

    task: str
    title: str
    column: str
    configs: tuple[RunConfig, ...]
    paper_best: float | None = None
    paper_mean: float | None = None


def cells_of(experiment: str, tasks: Sequence[str] | None = None) -> list[TableCell]:
    """Return the cells of a table, for all tasks or some.

    >>> [(cell.title, cell.column, len(cell.configs)) for cell in cells_of("table1", ["sort"])]
    [('Sort', '2×1', 4)]
    """
    makers = {"table1": _table_1, "table2": _table_2, "supervised": _supervised}
    own_tasks = list(SUPERVISED if experiment == "supervised" else TASKS)
    for task in tasks or ():
        if task not in own_tasks:
            raise RaspNameError(
                f"`{task}` is not a task of {experiment}", hint="tasks are " + ", ".join(own_tasks)
            )
    return [cell for cell in makers[experiment]() if not tasks or cell.task in tasks]


def configs_of(cells: Iterable[TableCell]) -> list[RunConfig]:
    """Return the runs of several cells, each once.

    >>> cells = cells_of("table1", ["sort"]) + cells_of("table2", ["sort"])  # one size in common
    >>> len(cells), len(configs_of(cells))
    (4, 12)
    """
    return list({config.id: config for cell in cells for config in cell.configs}.values())


def grid(task: TrainingTask, layers: int, heads: int, width: int = 256) -> tuple[RunConfig, ...]:
    """Return the four runs of a size.

    >>> [(config.rate, config.decay) for config in grid(TASKS["sort"], 2, 1)]
    [(0.0003, 0.98), (0.0003, 0.99), (0.0001, 0.98), (0.0001, 0.99)]
    """
    return tuple(
        RunConfig(
            f"{task.name}/{layers}x{heads}/d{width}/lr{rate:g}-decay{decay:g}", task, layers, heads,
            width=width, rate=rate, decay=decay, seed=seed,
        )
        for seed, (rate, decay) in enumerate(GRID)
    )  # fmt: skip


def _table_1() -> list[TableCell]:
    cells = []
    for name, row in ROWS.items():
        size = schedule(TASKS[name].handle.node)
        configs = grid(TASKS[name], size.layers, size.width)
        column = f"{size.layers}×{size.width}"
        cells.append(TableCell(name, row.title, column, configs, row.best, row.means[0]))
    return cells


def _table_2() -> list[TableCell]:
    cells = []
    for name, row in ROWS.items():
        layers, heads = row.layers, row.heads
        sizes = ((layers, heads, 256), (layers, heads - 1, 256), (layers - 1, heads, 256),
                 (layers - 1, 2 * heads, 512))  # fmt: skip
        columns = ("L, H", "L, H−1", "L−1, H", "L−1, 2H")
        for column, size, mean in zip(columns, sizes, row.means, strict=True):
            if mean is not None:
                configs = grid(TASKS[name], *size)
                cells.append(TableCell(name, row.title, column, configs, paper_mean=mean))
    return cells


def _supervised() -> list[TableCell]:
    cells = []
    for name, (task, best) in SUPERVISED.items():
        row = ROWS[name]
        config = RunConfig(
            f"{name}/{row.layers}x{row.heads}/supervised", task, row.layers, row.heads,
            epochs=SUPERVISED_EPOCHS, attention=ATTENTION_WEIGHT,
        )  # fmt: skip
        slower = replace(config, name=f"{config.name}-decay0.99", decay=0.99)
        configs = (config, slower) if name in SLOWER else (config,)
        cells.append(TableCell(name, row.title, f"{row.layers}×{row.heads}", configs, best))
    return cells


@dataclass(frozen=True)
class Summary:
    """What the finished runs of a cell say, in percent."""

    runs: int
    diverged: int
    best: float
    mean: float
    spread: float
    """The standard deviation over the runs."""
    sequences: float
    """Wholly right inputs, of the run with the best tokens."""
    longer: float
    """Right tokens of that run on inputs up to twice as long as it was trained on."""
    agreement: float | None
    swapped: float | None


def summarise(cell: TableCell, records: Mapping[str, Record]) -> Summary | None:
    """Add up a cell's finished runs; None where there are none.

    >>> [cell] = cells_of("table1", ["sort"])
    >>> summarise(cell, {}) is None
    True
    """
    done = [records[config.id] for config in cell.configs if config.id in records]
    if not done:
        return None
    accuracies = [100 * record.test.tokens for record in done]
    best = max(done, key=lambda record: record.test.tokens)
    match = best.match
    return Summary(
        len(done), sum(bool(record.diverged) for record in done),
        max(accuracies), fmean(accuracies), pstdev(accuracies),
        100 * best.test.sequences, 100 * best.longer.tokens,
        match.agreement if match else None, match.swapped if match else None,
    )  # fmt: skip


def table_lines(cells: Sequence[TableCell], records: Mapping[str, Record]) -> list[list[str]]:
    """Return a table's head and lines, as text.

    >>> [head, line] = table_lines(cells_of("table1", ["sort"]), {})
    >>> line[:4]
    ['Sort', '2×1', '0/4', '-']
    """
    head = ["task", "size", "runs", "mean", "± sd", "best", "paper mean", "paper best",
            "whole inputs", "longer", "match", "swapped in"]  # fmt: skip
    lines = [head]
    for cell in cells:
        summary = summarise(cell, records)
        paper = [_percent(cell.paper_mean, 1), _percent(cell.paper_best, 2)]
        first = [cell.title, cell.column]
        if summary is None:
            lines.append([*first, f"0/{len(cell.configs)}", "-", "-", "-", *paper, *["-"] * 4])
            continue
        lines.append(
            [
                *first, _runs(cell, summary), _percent(summary.mean, 2),
                _percent(summary.spread, 2), _percent(summary.best, 2), *paper,
                _percent(summary.sequences, 1), _percent(summary.longer, 1),
                _percent(summary.agreement, 2), _percent(_times_100(summary.swapped), 1),
            ]
        )  # fmt: skip
    return lines


def _runs(cell: TableCell, summary: Summary) -> str:
    diverged = f", {summary.diverged} diverged" if summary.diverged else ""
    return f"{summary.runs}/{len(cell.configs)}{diverged}"


def _times_100(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _percent(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:.{digits}f}"


def render(lines: Sequence[Sequence[str]], markdown: bool = False) -> str:
    """Lay lines of cells out as a table for the terminal, or for Markdown.

    >>> print(render([["task", "size", "best"], ["Sort", "2×1", "99.96"]]))
    task  size   best
    Sort  2×1   99.96
    """
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [
        [text.ljust(width) if column < 2 else text.rjust(width)
         for column, (text, width) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    ]  # fmt: skip
    if markdown:
        rule = ["-" * width for width in widths]
        return "\n".join("| " + " | ".join(line) + " |" for line in [padded[0], rule, *padded[1:]])
    return "\n".join("  ".join(line).rstrip() for line in padded)
