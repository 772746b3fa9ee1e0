"""A finished run in, pictures out: its curves, and its heads beside the program's selections."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from rasp.base.atoms import read_input, show, show_input, to_python
from rasp.base.errors import RaspValueError
from rasp.base.file_writing import replace_file
from rasp.insight.drawing import Drawing, heat_maps
from rasp.insight.drawing.flow import document, heading_block
from rasp.insight.drawing.svg import Fragment, below, element, label, number
from rasp.insight.drawing.theme import style_sheet
from rasp.language.evaluator import apply
from rasp.models.training.batch_shapes import SlotLayout
from rasp.models.training.config import RunConfig
from rasp.models.training.network import SlotTensors, StackBatch, forward
from rasp.models.training.parameters import Shape
from rasp.models.training.records import Curves, Record
from rasp.models.training.run_store import Store
from rasp.models.training.supervision import Supervised, plan_supervision

WIDTH, HEIGHT, LEFT, TOP, GAP = 420.0, 150.0, 56.0, 26.0, 18.0


def load_model(store: Store, record: Record) -> tuple[dict[str, torch.Tensor], Shape]:
    """Return a finished run's best weights, with a dimension of one model in front."""
    named = store.load_weights(record.id)
    if named is None:
        raise RaspValueError(
            f"the weights of `{record.name}` were not kept in {store.folder}",
            hint="train it again without `--no-weights`",
        )
    config = record.run
    tokens, classes = (
        len(config.task.vocabulary),
        named.get("classify_bias", torch.zeros(0)).numel(),
    )
    shape = Shape(config.layers, config.heads, config.width, config.feed_forward, tokens, classes,
                  config.task.causal)  # fmt: skip
    sizes = {name: size for name, (_, size) in shape.places.items()}
    if {name: tuple(tensor.shape) for name, tensor in named.items()} != sizes:
        raise RaspValueError(
            f"the weights of `{record.name}` in {store.folder} are those of another model",
            hint="train it again",
        )
    return {name: tensor[None] for name, tensor in named.items()}, shape


def attention_on(
    parameters: dict[str, torch.Tensor], shape: Shape, config: RunConfig, given: object
) -> dict[tuple[int, int], np.ndarray]:
    """Return each head's attention on an input, by (layer, head) from 0. (query, key) each"""
    tokens = read_input(given)
    places = {token: number for number, token in enumerate(config.task.vocabulary)}
    for token in tokens:
        if token not in places:
            raise RaspValueError(
                f"{show(token)} is not among the tokens this model was trained on",
                hint="its tokens are " + " ".join(str(to_python(token)) for token in places),
            )
    length = len(tokens)
    numbers = torch.tensor([[places[token] for token in tokens]])
    batch = StackBatch(numbers, torch.tensor([[length]]), torch.full_like(numbers, -1))
    plan = SlotTensors(SlotLayout((length,)), "cpu", shape.width)
    with torch.no_grad():
        _, attention = forward(parameters, shape, plan, batch)
    return {
        (layer, head): cells[0, head].reshape(length, length).numpy()
        for layer, cells in enumerate(attention)
        for head in range(shape.heads)
    }


def selection_on(supervised: Supervised, config: RunConfig, given: object) -> np.ndarray:
    """Return a selector's normalised selection on an input; empty rows turn to the BOS."""
    selection = np.array(apply(supervised.selector, given, config.task.handle.program), float)
    widths = selection.sum(axis=1, keepdims=True)
    if config.task.bos is not None:
        selection[widths[:, 0] == 0, 0] = 1.0
    normal: np.ndarray = selection / np.maximum(widths, 1)
    return normal


def attention_drawing(store: Store, record: Record, given: object) -> Drawing:
    """Draw each of the program's selections above the head that matches it best.

    Below the two is how much they differ. Heads that no selector was given come last.

    >>> import tempfile
    >>> from rasp.models.training.own import own_config, own_task
    >>> from rasp.models.training.sweep import sweep
    >>> task = own_task("first = aggregate(select(indices, 0, ==), tokens);", "first",
    ...                 ("a", "b"), (1, 4))
    >>> config = own_config(task, "first", width=8, feed_forward=8, epochs=1, batch=10,
    ...                     train=20, validation=10, test=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     finished = sweep([config], store := Store(folder))
    ...     attention_drawing(store, store.records()[config.id], "aba")
    <Drawing: first on "aba": what the program selects, and what was learned (print it ...)>
    """
    config = record.run
    columns = list(_columns(store, record, config, given))
    tokens = read_input(given)
    compared = "what the program selects, and what was learned"
    return heat_maps(
        [matrix for column in columns for _, matrix in column],
        [to_python(token) for token in tokens],
        [title for column in columns for title, _ in column],
        f"{config.task.output} on {show_input(tokens)}: {compared}",
        columns=list(map(len, columns)),
    )


def _columns(
    store: Store, record: Record, config: RunConfig, given: object
) -> Iterator[list[tuple[str, np.ndarray]]]:
    """Heat maps with their titles: a selection, its head and the difference; then other heads."""
    heads = attention_on(*load_model(store, record), config, given)
    names = config.task.handle.program.names
    for supervised, place in _pairs(record, config):
        target, learned = selection_on(supervised, config, given), heads.pop(place)
        difference = np.abs(target - learned)
        yield [
            (f"program: {names.get(supervised.selector, supervised.title)}", target),
            (f"learned: {_head_name(place)}", learned),
            (f"difference: at most {difference.max():.2f}", difference),
        ]
    for place, attention in heads.items():
        yield [(f"learned: {_head_name(place)}", attention)]


def _head_name(place: tuple[int, int]) -> str:
    return f"layer {place[0] + 1}, head {place[1] + 1}"


def _pairs(record: Record, config: RunConfig) -> list[tuple[Supervised, tuple[int, int]]]:
    if record.match is None:
        return []
    selectors = plan_supervision(config.task, config.layers, config.heads).heads
    places = [(selector.model[0] - 1, selector.model[1] - 1) for selector in record.match.selectors]
    return list(zip(selectors, places, strict=True))


def save_curves(what: str, curves: Curves, path: str) -> None:
    """Draw loss and validation accuracy by epoch into an SVG file.

    >>> import os, tempfile
    >>> curves = Curves([0.7, 0.2, 0.1], [0.5, 0.9, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_curves("first", curves, f"{folder}/curves.svg")
    ...     os.listdir(folder)
    ['curves.svg']
    """
    losses = [loss for loss in curves.loss if loss is not None]  # it may have diverged
    error = [100 * (1 - share) for share in curves.validation]
    title = f"training {what}"
    panels = [_panel("training loss", losses), _panel("wrong tokens in validation, %", error)]
    block = below([heading_block(title), *panels], GAP)
    replace_file(path, document(block, style_sheet("auto"), title).encode())


def describe_run(config: RunConfig) -> str:
    """Say what was trained: the task, and the size and rate of its model."""
    return (
        f"{config.task.name}: {config.layers} layer{'s' * (config.layers != 1)} of {config.heads} "
        f"head{'s' * (config.heads != 1)}, width {config.width}, learning rate {config.rate}"
    )


def _panel(title: str, values: list[float]) -> Fragment:
    """Draw one curve on a logarithmic scale, with its axes."""
    if not values:
        return Fragment(WIDTH, 20, label(0, 14, f"{title}: no epoch has one"))
    floor = 10 ** np.floor(
        np.log10(max(min((value for value in values if value > 0), default=1), 1e-6))
    )
    logs = np.log10(np.maximum(np.array(values, float), floor))
    low, high = float(np.log10(floor)), float(max(np.ceil(logs.max()), np.log10(floor) + 1))

    def across(epoch: int) -> float:
        return LEFT + WIDTH * (epoch - 1) / max(1, len(values) - 1)

    def down(level: float) -> float:
        return TOP + HEIGHT * (high - level) / (high - low)

    body = label(0, 12, title, "strong")
    for level in range(round(low), round(high) + 1):
        body += element("path", d=f"M{LEFT:g} {number(down(level))}h{WIDTH:g}", class_="rule")
        body += label(LEFT - 6, down(level) + 4, f"{10.0**level:g}", "end small soft")
    foot = TOP + HEIGHT
    for epoch in epoch_ticks(len(values)):
        body += element("path", d=f"M{number(across(epoch))} {foot:g}v4", class_="rule")
        body += label(across(epoch), foot + 16, str(epoch), "mid small soft")
    body += label(LEFT + WIDTH / 2, foot + 32, "epoch", "mid small soft")
    points = " ".join(
        f"{number(across(epoch))},{number(down(level))}" for epoch, level in enumerate(logs, 1)
    )
    body += element("polyline", points=points, fill="none", stroke="#6b2fa5", stroke_width=1.5)
    return Fragment(LEFT + WIDTH + 10, foot + 36, body)


def epoch_ticks(epochs: int) -> list[int]:
    """Choose at most seven epochs to mark: the first, and round numbers after it.

    >>> epoch_ticks(3), epoch_ticks(100)
    ([1, 2, 3], [1, 20, 40, 60, 80, 100])
    """
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5)
                if epochs / (size * 10**power) <= 6)  # fmt: skip
    return sorted({1, *range(step, epochs + 1, step)})
