"""A trained stack is tested with its best weights, its attention measured, and both recorded."""

from __future__ import annotations

import math

from rasp.models.training.devices import describe_machine, describe_versions
from rasp.models.training.engine import Engine
from rasp.models.training.matching import find_match
from rasp.models.training.parameters import views
from rasp.models.training.records import Curves, Match, Record, Shares
from rasp.models.training.run_store import Store
from rasp.models.training.stack import SplitScores, Stack


def finish(stack: Stack, engine: Engine, store: Store, keep_weights: bool) -> None:
    """Test every model of a stack with its best weights, and write its record."""
    scores = {split: engine.evaluate(stack.best, split) for split in ("test", "longer")}
    for model, config in enumerate(stack.configs):
        row, shape = stack.own_row(stack.best, model)[None], stack.own_shapes[model]
        match = find_match(row.to(stack.device), shape, stack.data[model])
        if keep_weights:
            named = {name: tensor[0].clone() for name, tensor in views(row, shape).items()}
            store.save_weights(config.id, named)
        store.add_record(record_of(stack, model, scores, match))


def record_of(
    stack: Stack, model: int, scores: dict[str, SplitScores], match: Match | None = None
) -> Record:
    """Return everything about a finished run; one that diverged says from which epoch on."""
    config, history = stack.configs[model], stack.histories[model]
    losses = [float(f"{loss:.5g}") if math.isfinite(loss) else None for loss in history.loss]
    return Record(
        config.id,
        config.name,
        config.content,
        history.best_epoch,
        _shares(scores["test"], model),
        _shares(scores["longer"], model),
        Curves(losses, [round(share, 6) for share in history.validation]),
        round(history.seconds, 3),
        describe_versions(),
        describe_machine(stack.device),
        match,
        history.diverged,
    )


def _shares(scores: SplitScores, model: int) -> Shares:
    return Shares(round(float(scores.tokens[model]), 6), round(float(scores.sequences[model]), 6))
