"""A task's program in, what attention should be out: which head imitates which selection.

The schedule says which layer each selector belongs to; its heads take the first places. A head's
target is its selection with every row divided by how much it picks. A row that picks nothing is
turned to the BOS, where there is one, and is otherwise left free; so are the BOS's own row and all
padding. Selections are made on the device, batch by batch, by comparing codes: the leaves of a
selector are s-ops, whose values the evaluator gives once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from rasp.base.atoms import Atom
from rasp.base.errors import RaspUnsupportedError
from rasp.insight.schedule import schedule
from rasp.language.graph import (
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SOp,
    expression,
    in_order,
    score_terms,
)
from rasp.language.graph.formulas import fold
from rasp.language.operators.comparisons import COMPARE, WITH_OUTCOMES
from rasp.models.training.config import RunConfig
from rasp.models.training.data import Data, as_inputs, atom_order, values_of
from rasp.models.training.network import SlotTensors
from rasp.models.training.tasks import TrainingTask


@dataclass(frozen=True)
class Supervised:
    """One head, and the selector it should imitate."""

    layer: int
    head: int
    selector: Selector
    title: str


@dataclass(frozen=True)
class Supervision:
    """The heads to supervise, and the names under which the selectors' leaves are held."""

    heads: tuple[Supervised, ...]
    leaves: Mapping[Node, str]
    scores: Mapping[Node, str]
    """Leaves of scorers, which are multiplied and not only compared."""
    bos: bool

    def targets(
        self,
        selector: Selector,
        values: Mapping[str, torch.Tensor],
        plan: SlotTensors,
        lengths: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a selector's normalised selection, and where it counts. (models, cells) each

        `values` holds each leaf's codes. (models, size)
        """
        inside = plan.position_of < lengths[:, plan.slot_of]  # (models, size)
        present = inside[:, plan.cell_queries] & inside[:, plan.cell_keys]
        selection = fold([selector], _Selections(self, values, plan, present))[selector]
        picked = (selection & present).float()
        widths = _row_sums(picked, plan)[:, plan.cell_queries]
        target = picked / widths.clamp(min=1)
        counts = present
        if self.bos:
            to_bos = (plan.position_of[plan.cell_keys] == 0) & (widths == 0)
            target = torch.where(to_bos, 1.0, target)
            counts = present & (plan.position_of[plan.cell_queries] > 0)
        else:
            counts = present & (widths > 0)
        return target, counts


@dataclass(frozen=True)
class _Selections:
    """The algebra of selections on a device: a bool for each cell. (models, cells)"""

    supervision: Supervision
    values: Mapping[str, torch.Tensor]
    plan: SlotTensors
    present: torch.Tensor

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> torch.Tensor:
        leaves = self.supervision.leaves
        picked: torch.Tensor = COMPARE[WITH_OUTCOMES[outcomes]](
            self.values[leaves[keys]][:, self.plan.cell_keys],
            self.values[leaves[queries]][:, self.plan.cell_queries],
        )
        return picked

    def both(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left & right

    def either(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left | right

    def best(
        self, node: SelectBest, wanted: bool, picks: torch.Tensor, others: torch.Tensor
    ) -> torch.Tensor:
        picked, scores = picks & self.present, self.supervision.scores
        score = sum(
            (self.values[scores[term.keys]][:, self.plan.cell_keys]
             * self.values[scores[term.queries]][:, self.plan.cell_queries]
             for term in score_terms(node.scorer)),
            self.values[next(iter(scores.values()))].new_zeros(()),
        )  # fmt: skip
        kept = picked & (score == _row_maxima(score, picked, self.plan))
        return kept if wanted else ~kept


def _row_sums(cells: torch.Tensor, plan: SlotTensors) -> torch.Tensor:
    """Add up each query's cells. (models, size)"""
    return cells.new_zeros(len(cells), plan.layout.size).index_add_(1, plan.cell_queries, cells)


def _row_maxima(score: torch.Tensor, picked: torch.Tensor, plan: SlotTensors) -> torch.Tensor:
    """Each cell's row's highest score among what is picked. (models, cells)"""
    lowest = score.new_full((len(score), plan.layout.size), float("-inf"))
    places = plan.cell_queries.expand(len(score), -1)
    kept = torch.where(picked, score, float("-inf"))
    return lowest.scatter_reduce(1, places, kept, "amax")[:, plan.cell_queries]


def plan_supervision(task: TrainingTask, layers: int, heads: int) -> Supervision:
    """Say which head of a model should imitate which selector of a task's program."""
    size = schedule(task.handle.node)
    if size.layers > layers or size.width > heads:
        raise RaspUnsupportedError(
            f"the program needs {size.layers} layers of {size.width} heads, and the model has "
            f"{layers} of {heads}: its attention has no place there",
            hint="train a model of at least the program's size, or without supervision",
        )
    names = task.handle.program.names
    supervised = [
        Supervised(layer, number, head.selector, expression(head.selector, names, depth=3))
        for layer, placed in enumerate(size.layer_list)
        for number, head in enumerate(placed.heads)
    ]
    compared: list[Node] = []
    scored: list[Node] = []
    for node in in_order([head.selector for head in supervised]):
        if isinstance(node, (Select, Score)):
            (compared if isinstance(node, Select) else scored).extend(node.needs)
    return Supervision(
        tuple(supervised),
        {node: f"leaf {number}" for number, node in enumerate(dict.fromkeys(compared))},
        {node: f"score {number}" for number, node in enumerate(dict.fromkeys(scored))},
        task.bos is not None,
    )


def supervise(data: Data, config: RunConfig) -> tuple[Supervision, dict[str, np.ndarray]]:
    """Plan a run's supervision, and compute what it compares on every training example."""
    supervision = plan_supervision(data.task, config.layers, config.heads)
    return supervision, leaf_values(supervision, data, "train")


def leaf_values(supervision: Supervision, data: Data, split: str) -> dict[str, np.ndarray]:
    """Compute the leaves of selectors on a split: codes that compare as the atoms do."""
    examples = data.splits[split]
    nodes = [*supervision.leaves, *supervision.scores]
    inputs = as_inputs(data.task, examples.tokens, examples.lengths)
    values = values_of(data.task, nodes, inputs)
    atoms: set[Atom] = set()
    for node in supervision.leaves:
        atoms.update(*values[node])
    code = {atom: place for place, atom in enumerate(sorted(atoms, key=atom_order))}
    inside = np.arange(examples.tokens.shape[1]) < examples.lengths[:, None]

    def as_array(node: Node, kind: type, read: Mapping[Atom, int] | None) -> np.ndarray:
        codes: np.ndarray = np.zeros(inside.shape, kind)
        flat = (atom for row in values[node] for atom in row)
        codes[inside] = [float(atom) if read is None else read[atom] for atom in flat]
        return codes

    arrays = {name: as_array(node, np.int32, code) for node, name in supervision.leaves.items()}
    return arrays | {
        name: as_array(node, np.float64, None) for node, name in supervision.scores.items()
    }
