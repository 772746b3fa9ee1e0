"""Anyone's program as a task: sizes from its schedule, defaults for what was not said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rasp.base.atoms import to_python
from rasp.base.errors import RaspUnsupportedError
from rasp.base.file_writing import replace_file
from rasp.base.input_text import read_alphabet
from rasp.insight.schedule import schedule
from rasp.models.training.config import RunConfig
from rasp.models.training.data import draw_examples
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


def write_data(task: TrainingTask, config: RunConfig, path: str) -> int:
    """Write a task's examples as lines of JSON; return how many.

    >>> import tempfile
    >>> task = own_task("last = length - 1;", "last", ("a", "b"), (1, 4))
    >>> config = own_config(task, batch=10, train=20, validation=10, test=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(task, config, f"{folder}/examples.jsonl")
    50
    """
    lines = list(_examples(task, config))
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    replace_file(path, content.encode(errors="backslashreplace"))  # half a character
    return len(lines)


def _examples(task: TrainingTask, config: RunConfig) -> Iterator[dict[str, Any]]:
    for split, size in config.sizes.items():
        drawn = draw_examples(task, config.data_seed, split, size)
        for given, wanted in zip(drawn.inputs, drawn.wanted, strict=True):
            plain = [None if atom is None else to_python(atom) for atom in wanted]
            yield {"split": split, "input": [to_python(token) for token in given], "target": plain}


def describe_record(record: Record) -> str:
    """Say in a few lines how a run ended.

    >>> from rasp.models.training.records import Curves, Record, Shares
    >>> config = own_config(own_task("x = has_prev(tokens);", "x", "ab", (1, 20)))
    >>> shares = Shares(0.9991, 0.985), Shares(0.31, 0.1)
    >>> record = Record(config.id, "again", config.content, 90, *shares, Curves([], []))
    >>> print(describe_record(record))
    again: 99.91 % of tokens and 98.5 % of whole inputs right (best epoch 90)
    on inputs of 21 to 40 tokens: 31.00 % of tokens and 10.0 % of whole inputs
    """
    test, longer, most = record.test, record.longer, record.run.task.lengths[1]
    lines = [
        f"{record.name}: {100 * test.tokens:.2f} % of tokens and "
        f"{100 * test.sequences:.1f} % of whole inputs right (best epoch {record.best_epoch})",
        f"on inputs of {most + 1} to {2 * most} tokens: {100 * longer.tokens:.2f} % of tokens "
        f"and {100 * longer.sequences:.1f} % of whole inputs",
    ]
    if record.diverged:
        since = f"from epoch {record.diverged} on its loss is not a number"
        lines.insert(0, f"{record.name} diverged: {since}; try a smaller `--rate`")
    for selector in record.match.selectors if record.match else ():
        lines.append(
            f"head {selector.model[1]} of layer {selector.model[0]} agrees to "
            f"{selector.agreement:.2f} with `{selector.selector}` (uniform attention: "
            f"{selector.uniform:.2f}); with the selection in its place "
            f"{100 * selector.swapped:.1f} % are right"
        )
    return "\n".join(lines)
