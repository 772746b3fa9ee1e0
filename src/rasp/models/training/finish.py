"""A trained stack in, records out: tests with the best weights, and what its attention does."""

from __future__ import annotations

from rasp.models.training.devices import describe_machine, describe_versions
from rasp.models.training.matching import find_match
from rasp.models.training.parameters import views
from rasp.models.training.records import Record
from rasp.models.training.run_store import Store
from rasp.models.training.stack import Engine, SplitScores, Stack


def finish(stack: Stack, engine: Engine, store: Store, keep_weights: bool) -> None:
    """Test every model of a stack with its best weights, and write its record."""
    scores = {split: engine.evaluate(stack.best, split) for split in ("test", "longer")}
    for model, config in enumerate(stack.configs):
        row, shape = stack.own_row(stack.best, model)[None], stack.own_shapes[model]
        record = record_of(stack, model, scores)
        match = find_match(row.to(stack.device), shape, stack.data[model])
        if match is not None:
            record["match"] = match
        if keep_weights:
            named = {name: tensor[0].clone() for name, tensor in views(row, shape).items()}
            store.save_weights(config, named)
        store.add_record(record)


def record_of(stack: Stack, model: int, scores: dict[str, SplitScores]) -> Record:
    """Return everything about a finished run; one that diverged says from which epoch on."""
    config, progress = stack.configs[model], stack.progress[model]
    diverged = {"diverged": progress.diverged} if progress.diverged else {}
    return diverged | {
        "id": config.id,
        "name": config.name,
        "config": config.content,
        "versions": describe_versions(),
        "machine": describe_machine(stack.device),
        "seconds": round(progress.seconds, 3),
        "best_epoch": progress.best_epoch,
        "test": _shares(scores["test"], model),
        "longer": _shares(scores["longer"], model),
        "curves": {
            "loss": [float(f"{value:.5g}") for value in progress.loss],
            "validation": [round(value, 6) for value in progress.validation],
        },
    }


def _shares(scores: SplitScores, model: int) -> dict[str, float]:
    return {
        "tokens": round(float(scores.tokens[model]), 6),
        "sequences": round(float(scores.sequences[model]), 6),
    }
