"""Anyone's program as a task: sizes from its schedule, defaults for what was not said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rasp.base.atoms import to_python
from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.base.file_writing import replacing, unwritable
from rasp.base.input_text import read_alphabet
from rasp.insight.schedule import schedule
from rasp.models.training.config import RunConfig
from rasp.models.training.data import as_inputs, draw_inputs, targets_of
from rasp.models.training.records import Record
from rasp.models.training.tasks import TrainingTask

SMALL = {
    "width": 64,
    "feed_forward": 128,
    "epochs": 15,
    "train": 5_000,
    "validation": 500,
    "test": 500,
}
"""What a CPU can do in minutes."""
BOS_TARGET: Any = None
"""What written data has where nothing is learnt."""


def own_task(
    program: str, output: str, alphabet: object, lengths: tuple[int, int], **rest: Any
) -> TrainingTask:
    """Return a task for a program; its name tells programs apart that call their output alike.

    The alphabet is a list of tokens, or a text such as `abc`, `0..9` or `one,two`.

    >>> task = own_task("same = tokens;", "same", "a..c", (1, 4))
    >>> task.name, task.alphabet
    ('same-...', ('a', 'b', 'c'))
    """
    tokens = tuple(to_python(token) for token in read_alphabet(alphabet))
    mark = hashlib.sha256(program.encode()).hexdigest()[:6]
    return TrainingTask(f"{output}-{mark}", program, output, tokens, lengths, **rest)


def own_config(
    task: TrainingTask, name: str | None = None, small: bool = False, **given: Any
) -> RunConfig:
    """Return a run of a task; the schedule gives the size, and `small` suits a CPU.

    >>> task = own_task("flip = aggregate(select(indices, length - 1 - indices, ==), tokens);",
    ...                 "flip", ("a", "b"), (1, 8))
    >>> own_config(task).size
    '2×1'
    """
    placed = schedule(task.handle.node)
    if not placed.layers and "layers" not in given:
        raise RaspUnsupportedError(
            f"`{task.output}` needs no attention, so there is no size to train",
            hint="say `--layers` and `--heads` to train one all the same",
        )
    sizes: dict[str, Any] = {"layers": placed.layers, "heads": max(1, placed.width)} | (
        SMALL if small else {}
    )
    sizes |= given
    if "width" not in given and sizes["heads"] > 0:
        share = 2 * sizes["heads"]
        sizes["width"] = -(-sizes.get("width", 256) // share) * share
    config = RunConfig(name or "", task, **sizes)
    if config.attention and (config.layers < placed.layers or config.heads < placed.width):
        raise RaspUnsupportedError(
            f"the program needs {placed.layers} layers of {placed.width} heads for its attention, "
            f"and the model has {config.size}",
            hint="leave out `--layers` and `--heads`, or the supervision",
        )
    return config if name else replace(config, name=f"{task.name}/{config.id}")


def read_lengths(text: str) -> tuple[int, int]:
    """Read a range of lengths.

    >>> read_lengths("1-40"), read_lengths("12")
    ((1, 40), (1, 12))
    """
    low, dash, high = text.partition("-")
    if not all(part.isdigit() for part in ((low, high) if dash else (low,))):
        raise RaspValueError(
            f"`{text}` is not a range of lengths",
            hint="write one such as 1-40, or the longest alone",
        )
    return (int(low), int(high)) if dash else (1, int(low))


def write_data(task: TrainingTask, config: RunConfig, path: str) -> int:
    """Write a task's examples as lines of JSON; return how many.

    >>> import tempfile
    >>> task = own_task("last = length - 1;", "last", ("a", "b"), (1, 4))
    >>> config = own_config(task, batch=10, train=20, validation=10, test=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(task, config, f"{folder}/examples.jsonl")
    50
    """
    count = 0
    try:
        with replacing(path) as file:
            for line in _examples(task, config):
                text = json.dumps(line, ensure_ascii=False) + "\n"
                file.write(text.encode(errors="backslashreplace"))  # half a character
                count += 1
    except OSError as error:
        raise unwritable(path, error) from None
    return count


def _examples(task: TrainingTask, config: RunConfig) -> Iterator[dict[str, Any]]:
    for split, size in config.sizes.items():
        tokens, lengths = draw_inputs(task, config.data_seed, split, size)
        inputs, targets = as_inputs(task, tokens, lengths), targets_of(task, tokens, lengths)
        for given, wanted in zip(inputs, targets, strict=True):
            plain = [to_python(atom) for atom in wanted]
            if task.bos is not None:
                plain[0] = BOS_TARGET
            yield {"split": split, "input": [to_python(token) for token in given], "target": plain}


def describe_record(record: Record) -> str:
    """Say in a few lines how a run ended.

    >>> record = {"name": "reverse/2x1", "best_epoch": 90,
    ...           "config": {"task": {"lengths": [1, 20]}},
    ...           "test": {"tokens": 0.9991, "sequences": 0.985}, "longer": {"tokens": 0.31}}
    >>> print(describe_record(record))
    reverse/2x1: 99.91 % of tokens and 98.5 % of whole inputs right (best epoch 90)
    on inputs of 21 to 40 tokens: 31.00 % of tokens
    """
    test, longer = record["test"], record["longer"]
    lengths = record["config"]["task"]["lengths"]
    lines = [
        f"{record['name']}: {100 * test['tokens']:.2f} % of tokens and "
        f"{100 * test['sequences']:.1f} % of whole inputs right "
        f"(best epoch {record['best_epoch']})",
        f"on inputs of {lengths[1] + 1} to {2 * lengths[1]} tokens: "
        f"{100 * longer['tokens']:.2f} % of tokens",
    ]
    if "diverged" in record:
        since = f"from epoch {record['diverged']} on its loss is not a number"
        lines.insert(0, f"{record['name']} diverged: {since}; try a smaller `--rate`")
    for selector in record.get("match", {}).get("selectors", ()):
        lines.append(
            f"head {selector['model'][1]} of layer {selector['model'][0]} agrees to "
            f"{selector['agreement']:.2f} with `{selector['selector']}` (uniform attention: "
            f"{selector['uniform']:.2f}); with the selection in its place "
            f"{100 * selector['swapped']:.1f} % are right"
        )
    return "\n".join(lines)
